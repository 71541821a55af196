/* sonde: one program, a file for each verb. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "host/config.h"
#include "host/worker.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#ifndef SONDE_VERSION
#define SONDE_VERSION "0.1.0"
#endif

static int verb_help(int argc, char **argv);
static int verb_version(int argc, char **argv);

/* Verbs of machines that are sampled: a build that only reads (READER_ONLY=1) does without. */
#ifdef SONDE_READER_ONLY
#define LIVE(verb) NULL
#else
#define LIVE(verb) verb
#endif

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} verbs[] = {
	{ "record", LIVE(verb_record), "record this machine, a process or a command into a file" },
	{ "profile", LIVE(verb_profile),
	  "run a command, and say what its processes and the machine did" },
	{ "report", verb_report, "say what a recording shows: findings, evidence, what to do" },
	{ "summary", verb_summary, "say what the processes of a recording used, by program" },
	{ "tree", verb_tree, "print the processes of a recording, each below its parent" },
	{ "timeline", verb_timeline,
	  "write what each process of a recording did over time, for a browser or a viewer" },
	{ "compare", verb_external, "say which metrics differ between recordings, beyond chance" },
	{ "ab", LIVE(verb_ab), "run two commands in turn, record them, and compare" },
	{ "cat", verb_cat, "print a recording as text, JSON lines or CSV" },
	{ "agent", LIVE(verb_agent),
	  "run collectors, analyzers and sinks of a configuration until stopped" },
	{ "receive", LIVE(verb_receive), "take frames from other hosts" },
	{ "check", LIVE(verb_check), "check a configuration up to the first sample" },
	{ "plugins", LIVE(verb_plugins),
	  "list the plugins, or say what one does and which keys it has" },
	{ "explain", LIVE(verb_explain),
	  "say what a table, a column, a metric or a finding means and where it comes from" },
	{ "inspect", LIVE(verb_inspect),
	  "say what this machine is, how it is set up, and what of that costs" },
	{ "import", verb_import,
	  "turn what perf stat, vmstat or numastat printed into a recording" },
	{ "export", verb_export, "turn a recording into a JSON timeline" },
	{ "replay", verb_external, "turn a JSON timeline into a recording" },
	{ "demo", LIVE(verb_demo), "show what sonde says of a machine with a known fault" },
	{ "reparse", LIVE(verb_reparse), "run today's parsers over the raw bytes of a recording" },
	{ "version", verb_version, "print the version" },
	{ "help", verb_help, "print this, or `sonde help VERB`" },
};
enum { NVERBS = sizeof verbs / sizeof verbs[0] };

static const struct verb *find_verb(const char *name)
{
	for (int i = 0; i < NVERBS; i++)
		if (verbs[i].run && strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static void usage(FILE *out)
{
	fputs("sonde explains why a Linux workload is slow, with evidence from kernel counters.\n\n"
	      "usage: sonde VERB [OPTION]... [ARGUMENT]...\n\n",
	      out);
	for (int i = 0; i < NVERBS; i++)
		if (verbs[i].run)
			fprintf(out, "  %-9s %s\n", verbs[i].name, verbs[i].summary);
	fputs("\nexamples:\n", out);
	if (find_verb("record"))
		fputs("  sonde record -d 10 -o slow.sonde     ten seconds of this machine\n", out);
	fputs("  sonde report slow.sonde              what was wrong in them\n"
	      "  sonde cat --json slow.sonde | jq .   every number\n"
	      "  sonde VERB --help                    options and examples of a verb\n",
	      out);
}

static int verb_help(int argc, char **argv)
{
	char help[] = "--help";
	const struct verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;
	char *args[] = { argc > 1 ? argv[1] : NULL, help, NULL };

	if (argc > 1 && !verb)
		return cli_misuse("there is no verb \"%s\"", argv[1]);
	if (!verb || verb->run == verb_help || verb->run == verb_version) {
		usage(stdout);
		return EXIT_DONE;
	}
	cli_verb = verb->name;
	return verb->run(2, args);
}

static int verb_version(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		usage(stdout);
		return EXIT_DONE;
	}
	printf("sonde %s, plugin ABI %d.%d\n", SONDE_VERSION, SONDE_ABI_MAJOR, SONDE_ABI_MINOR);
	return EXIT_DONE;
}

static int unknown_verb(const char *name)
{
	const char *names[NVERBS];
	const char *near;
	size_t count = 0;

	for (int i = 0; i < NVERBS; i++) {
		if (verbs[i].run)
			names[count++] = verbs[i].name;
		else if (strcmp(verbs[i].name, name) == 0)
			return cli_error(EXIT_MISUSE,
					 "this build only reads recordings: it has no \"%s\"",
					 name);
	}
	near = nearest(name, names, count);
	if (near)
		return cli_misuse("there is no verb \"%s\"; did you mean \"%s\"?", name, near);
	return cli_misuse("there is no verb \"%s\"", name);
}

/* A descriptor 0, 1 or 2 that the caller closed would become that of the next file opened, and messages would be written
 * into a recording. Opened the wrong way round: who uses it gets EBADF, as without. */
static void fill_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Room for rows to come is address space until it is used, where each large block is a mapping of its own. glibc gives that
 * up for good at the first large block that is freed, unless told, and has them in what it keeps at its heap's top
 * (mallopt(3)). */
static void keep_mappings(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 16 << 10);
	mallopt(M_TOP_PAD, 8 << 10);
#endif
}

static int run(int argc, char **argv)
{
	const struct verb *verb;

	if (argc < 2) {
		usage(stderr);
		return EXIT_MISUSE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		usage(stdout);
		return EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0)
		return verb_version(1, argv);
	verb = find_verb(argv[1]);
	if (!verb)
		return unknown_verb(argv[1]);
	cli_verb = verb->name;
	return verb->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	fill_standard();
	keep_mappings();
	cli_argv0 = argv[0];
#ifndef SONDE_READER_ONLY
	if (worker_is(argc, argv))
		return worker_main(argc, argv);
#endif
	return cli_flush(run(argc, argv));
}
