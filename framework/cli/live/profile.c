/* sonde profile -- CMD: record, while the command has the terminal to itself; then sonde report. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sonde/escape.h>
#include <sonde/page.h>

#include "cli/live/recorder.h"
#include "cli/live/scope.h"

static const char help[] =
	"usage: sonde profile [OPTION]... [--] COMMAND [ARGUMENT]...\n\n"
	"Runs COMMAND as if sonde were not there, records its processes and the machine from its first instruction to its end,\n"
	"and then says on stderr how long it took, what it used and what was found. Its streams, the terminal and signals are\n"
	"COMMAND's alone.\n\n"
	"  -i, --interval TIME    between two samples; default 100ms. What lives shorter is counted all the same, with what is\n"
	"                         permitted: the report's data quality says how, and what a better way needs\n"
	"  -o, --output FILE      the recording; default: a new file with the date in its name\n"
	"      --label TEXT       a name for this recording, kept in it\n"
	"      --events EVENT     counted besides, as in [perf_event]; may be repeated\n"
	"      --network          network interfaces too\n"
	"      --also WHAT        processes that work for COMMAND without descending from it, as if they did: a pid, a name\n"
	"                         (dockerd, 'java*') or a control group (/system.slice/docker.service); may be repeated\n"
	"      --scope            COMMAND in a systemd scope of its own: what leaves the tree stays in the scope\n"
	"      --md[=FILE]        the report as Markdown into this file, and not as text on stderr\n"
	"      --json[=FILE]      as JSON, see docs/report.schema.json\n"
	"      --html[=FILE]      as a page of one file, with charts to zoom, that opens offline\n"
	"      --fail-on LEVEL, --require ID,..., --allow-gaps: a gate, as in sonde report\n"
	"  -q, --quiet            no report on stderr\n"
	"  -h, --help             print this\n\n"
	"Exit status: COMMAND's own, 128+n where signal n ended it; 126 it can't be executed, 127 it is not there, 125 sonde\n"
	"failed before. Where COMMAND returned 0: 3 by the gate, 1 where the recording or its report failed.\n\n"
	"examples:\n"
	"  sonde profile -- make -j8\n"
	"  sonde profile --also dockerd --also containerd -- docker build .\n"
	"  sonde profile -q -o before.sonde --label before -- pytest -x\n"
	"  sonde profile --json=report.json --fail-on critical --require cpu.saturation,mem.pressure -- ./benchmark\n";

enum { EXIT_BEFORE = 125, WORDS_MOST = 8 };

/* Those behind OPT_REPORT are handed on. */
enum { OPT_LABEL = 256, OPT_EVENTS, OPT_NETWORK, OPT_ALSO, OPT_SCOPE, OPT_REPORT, OPT_DOCUMENT };

static const struct option options[] = {
	{ "interval", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "label", required_argument, NULL, OPT_LABEL },
	{ "events", required_argument, NULL, OPT_EVENTS },
	{ "network", no_argument, NULL, OPT_NETWORK },
	{ "also", required_argument, NULL, OPT_ALSO },
	{ "scope", no_argument, NULL, OPT_SCOPE },
	{ "md", optional_argument, NULL, OPT_DOCUMENT },
	{ "json", optional_argument, NULL, OPT_DOCUMENT },
	{ "html", optional_argument, NULL, OPT_DOCUMENT },
	{ "fail-on", required_argument, NULL, OPT_REPORT },
	{ "require", required_argument, NULL, OPT_REPORT },
	{ "allow-gaps", no_argument, NULL, OPT_REPORT },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct profile {
	struct recorder recorder;
	size_t nevents, nalso;
	struct scope scope;
	bool wants_scope;
	char *words[WORDS_MOST + 3]; /* sonde report's: its options, the recording */
	int nwords;
	bool documents, gate; /* asked for */
};

/* A word of the call of sonde report. */
__attribute__((format(printf, 2, 3))) static int add_word(struct profile *p, const char *format,
							  ...)
{
	va_list args;
	int n;

	if (p->nwords > WORDS_MOST)
		return cli_misuse("too many options of the report");
	va_start(args, format);
	n = vasprintf(&p->words[p->nwords], format, args);
	va_end(args);
	if (n < 0)
		return cli_error(EXIT_FAILED, "%s", strerror(ENOMEM));
	p->nwords++;
	return EXIT_DONE;
}

static int hand_on(struct profile *p, const char *name)
{
	return optarg ? add_word(p, "--%s=%s", name, optarg) : add_word(p, "--%s", name);
}

/* A number that is nobody's, or a group that is none, is a mistake; a name may be somebody's yet. */
static int take_also(struct profile *p)
{
	char path[PATH_MAX];
	uint64_t pid;

	if (p->nalso == ALSO_MOST)
		return cli_misuse("more than %d --also", ALSO_MOST);
	if (!*optarg)
		return cli_misuse("--also: a pid, a name or a control group is wanted");
	if (!optarg[strspn(optarg, "0123456789")]) {
		if (!cli_number("--also", optarg, 1, INT32_MAX, &pid))
			return EXIT_MISUSE;
		if (kill((pid_t)pid, 0) && errno == ESRCH)
			return cli_error(EXIT_FAILED, "--also %s: %s", optarg, strerror(ESRCH));
	}
	snprintf(path, sizeof path, "/sys/fs/cgroup%s", optarg);
	if (*optarg == '/' && access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0 &&
	    access(path, F_OK))
		return cli_error(EXIT_FAILED, "--also %s: no such control group: %s", optarg,
				 strerror(errno));
	p->recorder.also[p->nalso++] = optarg;
	return EXIT_DONE;
}

static int take(struct profile *p, int c, int index)
{
	struct recorder *r = &p->recorder;

	switch (c) {
	case 'i':
		return cli_interval("--interval", optarg, &r->interval) ? EXIT_DONE : EXIT_MISUSE;
	case 'o':
		r->output = optarg;
		return strcmp(optarg, "-") == 0
			       ? cli_misuse("stdout is the command's: give the recording a file")
			       : EXIT_DONE;
	case 'q':
		r->quiet = true;
		return EXIT_DONE;
	case OPT_LABEL:
		r->run.label = optarg;
		return EXIT_DONE;
	case OPT_EVENTS:
		if (p->nevents == EVENTS_MOST)
			return cli_misuse("more than %d --events", EVENTS_MOST);
		r->events[p->nevents++] = optarg;
		return EXIT_DONE;
	case OPT_NETWORK:
		r->network = true;
		return EXIT_DONE;
	case OPT_ALSO:
		return take_also(p);
	case OPT_SCOPE:
		p->wants_scope = true;
		return EXIT_DONE;
	case OPT_DOCUMENT:
		p->documents = true;
		return hand_on(p, options[index].name);
	case OPT_REPORT:
		p->gate = true;
		return hand_on(p, options[index].name);
	default:
		fputs(help, stdout);
		exit(cli_flush(EXIT_DONE));
	}
}

static int parse(struct profile *p, int argc, char **argv)
{
	char **command;
	int status = add_word(p, "report"), c, index = 0;

	opterr = 0;
	while (status == EXIT_DONE &&
	       (c = getopt_long(argc, argv, "+:i:o:qh", options, &index)) != -1)
		status = c == '?' || c == ':' ? cli_bad_option(argv, c) : take(p, c, index);
	if (status != EXIT_DONE)
		return status;
	command = argv + optind;
	if (!*command)
		return cli_misuse("which command? it stands behind --");
	p->recorder.command.words = command;
	if (p->wants_scope && scope_make(&p->scope, command)) {
		p->recorder.command.words = p->scope.words;
		p->recorder.scope = p->scope.unit;
	}
	return EXIT_DONE;
}

/* The rest of the report's call, which is then as good as it will be after the command. */
static int finish_words(struct profile *p)
{
	int status = EXIT_DONE;

	if (!p->documents)
		status = add_word(p, p->recorder.quiet ? "--output=/dev/null" : "--brief");
	if (status == EXIT_DONE)
		p->words[p->nwords++] = p->recorder.path;
	return status == EXIT_DONE ? report_check(p->nwords, p->words) : status;
}

static double ns_of(const struct timeval *time)
{
	return (double)time->tv_sec * 1e9 + (double)time->tv_usec * 1e3;
}

static void print_amount(const char *name, double value, const char *unit)
{
	char text[32];

	say_value(text, sizeof text, value, unit, "");
	fprintf(stderr, "  %-26s %s\n", name, text);
}

/* As time(1) does: how long it took, what it and those that it waited for used, how it ended. */
static int print_result(const struct profile *p)
{
	const struct command *command = &p->recorder.command;
	const struct rusage *used = &command->used;
	int ended = command->wait_status;
	int status;

	fputc('\n', stderr);
	print_amount("elapsed", (double)(command->ended - command->begun), "ns");
	print_amount("user", ns_of(&used->ru_utime), "ns");
	print_amount("system", ns_of(&used->ru_stime), "ns");
	print_amount("peak RSS", 1024.0 * (double)used->ru_maxrss, "bytes");
	status = tree_brief(p->recorder.path);
	fprintf(stderr, "  %-26s %d\n\n", WIFSIGNALED(ended) ? "ended by signal" : "exit status",
		WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended));
	return status;
}

static void print_end(const struct profile *p)
{
	char safe[2 * sizeof p->recorder.path];
	struct stat st;

	if (p->recorder.quiet || stat(p->recorder.path, &st))
		return;
	sonde_escape(p->recorder.path, strlen(p->recorder.path), safe, sizeof safe);
	fprintf(stderr, "\n%s: %lld KiB; more by sonde report, summary, tree and timeline\n", safe,
		(long long)st.st_size / 1024);
}

/* stdout was the command's, and who reads it gets nothing of sonde. What one looks for first comes first. */
static int tell(struct profile *p)
{
	int status = EXIT_DONE, reported = EXIT_DONE;

	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return cli_error(EXIT_FAILED, "stderr: %s", strerror(errno));
	if (!p->recorder.quiet)
		status = print_result(p);
	if (!p->recorder.quiet || p->documents || p->gate)
		reported = verb_report(p->nwords, p->words);
	print_end(p);
	return reported == EXIT_DONE ? status : reported;
}

static int profile(struct profile *p)
{
	struct recorder *r = &p->recorder;
	int recorded, told = EXIT_DONE, of_command;

	r->run.escorts = true;
	r->exits = r->outsiders = true;
	recorded = recorder_run(r);
	if (recorded > EXIT_GATE)
		return recorded; /* it can't be executed */
	if (!r->command.released)
		return EXIT_BEFORE;
	if (recorded == EXIT_DONE)
		told = tell(p);
	of_command = command_status(r->command.wait_status);
	return of_command ? of_command : recorded ? recorded : told;
}

int verb_profile(int argc, char **argv)
{
	struct profile p = { 0 };
	int status = parse(&p, argc, argv);

	if (status == EXIT_DONE)
		status = recorder_open(&p.recorder);
	if (status == EXIT_DONE)
		status = finish_words(&p);
	/* A status below that might be the command's. */
	status = status == EXIT_DONE ? profile(&p) : EXIT_BEFORE;
	while (p.nwords && p.words[p.nwords - 1] == p.recorder.path)
		p.nwords--;
	while (p.nwords)
		free(p.words[--p.nwords]);
	free(p.scope.words);
	return status;
}
