/* sonde record: collectors --> file, for a time, a process or a command. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static const char help[] =
	"usage: sonde record [OPTION]... [-- COMMAND [ARGUMENT]...]\n\n"
	"Records what the kernel counts, of the whole machine and of its processes, into a file.\n"
	"Ctrl-C ends a recording as well as its time does.\n\n"
	"  -d, --duration TIME    how long: 10, 500ms, 5min; default: until Ctrl-C, or COMMAND's end\n"
	"  -i, --interval TIME    between two samples; default: 100ms with COMMAND, else 1s\n"
	"  -p, --pid PID          of all processes only this one, until it ends\n"
	"  -o, --output FILE      where to; - is stdout; default: a new file with the date in its name\n"
	"      --profile NAME     collectors of a profile: quiet, sched, numa, memory or ci\n"
	"      --network          network interfaces too\n"
	"      --max-frames N     stop after N samples\n"
	"      --label TEXT       a name for this recording, kept in it\n"
	"      --root DIR         read /proc and /sys under DIR: another machine's captured tree\n"
	"      --capture          keep the raw text as well, for sonde reparse\n"
	"  -q, --quiet            no progress, no last line\n"
	"  -h, --help             print this\n\n"
	"examples:\n"
	"  sonde record -d 60 -o slow.sonde && sonde report slow.sonde\n"
	"  sonde record -i 100ms -p $(pidof postgres | cut -d' ' -f1) -d 30\n"
	"  sonde record -o build.sonde -- make -j8\n"
	"  sonde record -d 5 -o - | ssh host sonde report -\n";

enum { OPT_PROFILE = 256, OPT_NETWORK, OPT_MAX_FRAMES, OPT_LABEL, OPT_ROOT, OPT_CAPTURE };

static const struct option options[] = {
	{ "duration", required_argument, NULL, 'd' },
	{ "interval", required_argument, NULL, 'i' },
	{ "pid", required_argument, NULL, 'p' },
	{ "output", required_argument, NULL, 'o' },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "network", no_argument, NULL, OPT_NETWORK },
	{ "max-frames", required_argument, NULL, OPT_MAX_FRAMES },
	{ "label", required_argument, NULL, OPT_LABEL },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "capture", no_argument, NULL, OPT_CAPTURE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* What a recording holds where no profile says otherwise. A kernel without one of them yields a note. */
static const char *const collectors[] = { "cpu",  "schedstat", "psi",  "meminfo",   "vmstat", "thp",
					  "numa", "loadavg",   "disk", "buddyinfo", "self" };

struct record {
	struct pipeline_options run;
	const char *output, *profile;
	char *root;
	char **command;
	uint64_t interval;
	uint64_t pid;
	bool network, capture, quiet;
	char path[4096]; /* of the file, "" for stdout */
	char profile_path[4096];
	pid_t child;
	int release[2]; /* a byte lets the child exec, an end lets it go */
	int failed[2];  /* close-on-exec: the child's errno comes here where exec failed */
};

static int parse(struct record *r, int argc, char **argv)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:d:i:p:o:qh", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			if (!cli_duration("--duration", optarg, &r->run.duration))
				return EXIT_MISUSE;
			break;
		case 'i':
			if (!cli_duration("--interval", optarg, &r->interval))
				return EXIT_MISUSE;
			if (!r->interval)
				return cli_misuse("--interval %s: give a time above 0", optarg);
			break;
		case 'p':
			if (!cli_number("--pid", optarg, 1, INT32_MAX, &r->pid))
				return EXIT_MISUSE;
			break;
		case 'o':
			r->output = optarg;
			break;
		case OPT_PROFILE:
			r->profile = optarg;
			break;
		case OPT_NETWORK:
			r->network = true;
			break;
		case OPT_MAX_FRAMES:
			if (!cli_number("--max-frames", optarg, 1, UINT64_MAX,
					&r->run.max_instants))
				return EXIT_MISUSE;
			break;
		case OPT_LABEL:
			r->run.label = optarg;
			break;
		case OPT_ROOT:
			r->root = realpath(optarg, NULL);
			if (!r->root)
				return cli_error(EXIT_FAILED, "--root %s: %s", optarg,
						 strerror(errno));
			break;
		case OPT_CAPTURE:
			r->capture = true;
			break;
		case 'q':
			r->quiet = true;
			break;
		case 'h':
			fputs(help, stdout);
			exit(EXIT_DONE);
		default:
			return cli_bad_option(argv, c);
		}
	}
	if (r->profile && !cli_profile_path(r->profile, r->profile_path, sizeof r->profile_path))
		return cli_misuse("there is no profile \"%s\"", r->profile);
	r->command = optind < argc ? argv + optind : NULL;
	if (r->command && strcmp(argv[optind - 1], "--") != 0)
		return cli_misuse("what is \"%s\"? a command to record stands behind --",
				  argv[optind]);
	if (r->command && r->pid)
		return cli_misuse("--pid or a command, not both");
	if (r->pid && kill((pid_t)r->pid, 0) && errno == ESRCH)
		return cli_error(EXIT_FAILED, "--pid %llu: %s", (unsigned long long)r->pid,
				 strerror(ESRCH));
	return EXIT_DONE;
}

/* "sonde-HOST-20261130-093015.sonde" in this folder: a name of its own each second. */
static void dated_path(char *path, size_t size)
{
	char host[64] = "host";
	char date[32];
	time_t now = time(NULL);
	struct tm tm;

	gethostname(host, sizeof host - 1);
	host[strcspn(host, "/ ")] = 0;
	localtime_r(&now, &tm);
	strftime(date, sizeof date, "%Y%m%d-%H%M%S", &tm);
	snprintf(path, size, "sonde-%s-%s.sonde", host, date);
}

/* "" is stdout. */
static int choose_path(struct record *r)
{
	if (r->output && strcmp(r->output, "-") == 0)
		return cli_output(r->output);
	if (r->output)
		snprintf(r->path, sizeof r->path, "%s", r->output);
	else
		dated_path(r->path, sizeof r->path);
	return cli_output(r->path);
}

static void add_collectors(struct text *text, const struct record *r)
{
	if (r->profile)
		return; /* its own sections */
	for (size_t i = 0; i < sizeof collectors / sizeof collectors[0]; i++)
		text_add(text, "[%s]\noptional = yes\n", collectors[i]);
}

static void add_process(struct text *text, const struct record *r)
{
	if (r->profile && !r->pid && !r->child)
		return;
	text_add(text, "[process]\noptional = yes\n");
	if (r->child)
		text_add(text, "subtree = %d\ncmdline = full\n", (int)getpid());
	else if (r->pid)
		text_add(text, "pids = %llu\n", (unsigned long long)r->pid);
}

static void compose(struct text *text, const struct record *r)
{
	uint64_t interval = r->interval ? r->interval : r->command ? 100000000 : 1000000000;

	text_add(text, "[agent]\ninterval = %lluns\n", (unsigned long long)interval);
	if (r->root)
		text_key(text, "root", r->root);
	if (r->capture)
		text_add(text, "capture = raw\n");
	add_collectors(text, r);
	add_process(text, r);
	if (r->network)
		text_add(text, "[net]\noptional = yes\n");
	text_recording(text, r->path[0] ? r->path : "-");
}

/* The profile's sections; those that the command line gives take the place of the profile's. */
static void read_profile(struct config *config, const struct record *r, const char *text)
{
	struct config own = { 0 };

	if (r->profile) {
		config_read(config, r->profile_path);
		config_read_text(&own, "record", text);
		for (size_t i = 0; i < own.nsections; i++)
			config_remove(config, own.sections[i].name);
		config_free(&own);
	}
	config_read_text(config, "record", text);
}

/* Forked before the host has threads; waits for the first samples, so that its first instruction is in them. */
static int fork_command(struct record *r)
{
	char go;

	/* A daemon of the command's becomes a child of ours, and so stays in the tree that is recorded. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || pipe2(r->release, O_CLOEXEC) ||
	    pipe2(r->failed, O_CLOEXEC))
		return -errno;
	r->child = fork();
	if (r->child < 0)
		return -errno;
	if (r->child == 0) {
		close(r->release[1]);
		if (read(r->release[0], &go, 1) == 1) {
			execvp(r->command[0], r->command);
			if (write(r->failed[1], &errno, sizeof errno) < 0)
				_exit(127);
		}
		_exit(127);
	}
	close(r->release[0]);
	close(r->failed[1]);
	return 0;
}

static void started(void *context)
{
	struct record *r = context;

	if (r->child && write(r->release[1], "", 1) < 0)
		cli_error(EXIT_FAILED, "%s: %s", r->command[0], strerror(errno));
}

static void progress(void *context, uint64_t elapsed, uint64_t instants, uint64_t bytes)
{
	const struct record *r = context;

	fprintf(stderr, "\r%.0f s", (double)elapsed / 1e9);
	if (r->run.duration)
		fprintf(stderr, " of %.0f", (double)r->run.duration / 1e9);
	fprintf(stderr, ", %llu samples, %llu KiB; Ctrl-C ends it\033[K",
		(unsigned long long)instants, (unsigned long long)bytes / 1024);
}

/* The command's end; a command that never ran is a failure of the recording. */
static int reap_command(struct record *r)
{
	int exec_error = 0;
	int wait_status;

	close(r->release[1]);
	if (read(r->failed[0], &exec_error, sizeof exec_error) < 0)
		exec_error = errno;
	close(r->failed[0]);
	/* Ctrl-C and a time limit end the recording, not the command: it is waited for only where it has ended. */
	waitpid(r->child, &wait_status, WNOHANG);
	if (exec_error)
		return cli_error(exec_error == ENOENT ? 127 : 126, "%s: %s", r->command[0],
				 strerror(exec_error));
	return EXIT_DONE;
}

/* A recording of a command that never ran is in the way of the next try. */
static void forget_file(const struct record *r)
{
	struct stat st;

	if (r->path[0] && lstat(r->path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(r->path);
}

static void last_line(const struct record *r)
{
	struct stat st;

	if (r->quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K");
	if (r->path[0] && stat(r->path, &st) == 0)
		fprintf(stderr, "%s: %lld KiB; sonde report %s\n", r->path,
			(long long)st.st_size / 1024, r->path);
}

static int record(struct record *r)
{
	struct config config = { 0 };
	struct text text = { 0 };
	int status;
	int err = r->command ? fork_command(r) : 0;

	if (err)
		return cli_error(EXIT_FAILED, "%s: %s", r->command[0], strerror(-err));
	compose(&text, r);
	read_profile(&config, r, text.bytes);
	r->run.watch_pid = r->child ? r->child : (int64_t)r->pid;
	r->run.adopts = r->child != 0;
	r->run.whole = true;
	r->run.started = started;
	r->run.context = r;
	if (!r->quiet && isatty(STDERR_FILENO))
		r->run.progress = progress;
	status = cli_run(&config, &r->run, r->path[0] ? r->path : "stdout");
	if (r->command) {
		int of_command = reap_command(r);

		if (of_command)
			forget_file(r);
		status = of_command ? of_command : status;
	}
	if (status == EXIT_DONE)
		last_line(r);
	free(text.bytes);
	return status;
}

int verb_record(int argc, char **argv)
{
	struct record r = { 0 };
	int status = parse(&r, argc, argv);

	if (status == EXIT_DONE)
		status = choose_path(&r);
	if (status == EXIT_DONE)
		status = record(&r);
	return status;
}
