/* sonde: one program, a file for each verb. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "host/config.h"
#include "host/worker.h"

#ifndef SONDE_VERSION
#define SONDE_VERSION "0.1.0"
#endif

static int verb_help(int argc, char **argv);
static int verb_version(int argc, char **argv);

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} verbs[] = {
	{ "record", verb_record, "record this machine, a process or a command into a file" },
	{ "report", verb_report, "say what a recording shows: findings, evidence, what to do" },
	{ "cat", verb_cat, "print a recording as text, JSON lines or CSV" },
	{ "agent", verb_agent,
	  "run collectors, analyzers and sinks of a configuration until stopped" },
	{ "receive", verb_receive, "take frames from other hosts" },
	{ "check", verb_check, "check a configuration without starting it" },
	{ "plugins", verb_plugins, "list the plugins, or say what one does and which keys it has" },
	{ "explain", verb_explain, "say what a table or a column means and where it comes from" },
	{ "reparse", verb_reparse, "run today's parsers over the raw bytes of a recording" },
	{ "version", verb_version, "print the version" },
	{ "help", verb_help, "print this, or `sonde help VERB`" },
};
enum { NVERBS = sizeof verbs / sizeof verbs[0] };

static const struct verb *find_verb(const char *name)
{
	for (int i = 0; i < NVERBS; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static void usage(FILE *out)
{
	fputs("sonde explains why a Linux workload is slow, with evidence from kernel counters.\n\n"
	      "usage: sonde VERB [OPTION]... [ARGUMENT]...\n\n",
	      out);
	for (int i = 0; i < NVERBS; i++)
		fprintf(out, "  %-9s %s\n", verbs[i].name, verbs[i].summary);
	fputs("\nexamples:\n"
	      "  sonde record -d 10 -o slow.sonde     ten seconds of this machine\n"
	      "  sonde report slow.sonde              what was wrong in them\n"
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
	(void)argc;
	(void)argv;
	printf("sonde %s, plugin ABI %d.%d\n", SONDE_VERSION, SONDE_ABI_MAJOR, SONDE_ABI_MINOR);
	return EXIT_DONE;
}

static int unknown_verb(const char *name)
{
	const char *names[NVERBS];
	const char *near;

	for (int i = 0; i < NVERBS; i++)
		names[i] = verbs[i].name;
	near = nearest(name, names, NVERBS);
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
	int status;

	fill_standard();
	if (worker_is(argc, argv))
		return worker_main(argc, argv);
	status = run(argc, argv);
	/* What a full disk took from stdout is an error too; a reader that went away is not. */
	if (fflush(stdout) && errno != EPIPE && status == EXIT_DONE)
		return cli_error(EXIT_FAILED, "stdout: %s", strerror(errno));
	return status;
}
