/* sonde record: collectors --> file, for a time, a process or a command. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live/recorder.h"
#include "cli/live/root.h"

#define PROFILES "quiet, sched, numa, memory, cache or ci"

static const char help[] =
	"usage: sonde record [OPTION]... [[--] COMMAND [ARGUMENT]...]\n\n"
	"Records what the kernel counts, of the whole machine and of its processes, into a file.\n"
	"Ctrl-C ends a recording as well as its time does.\n\n"
	"  -d, --duration TIME    how long: 10, 500ms, 5min; without it, until Ctrl-C or COMMAND's end\n"
	"  -i, --interval TIME    between two samples; default: 100ms with COMMAND, else 1s\n"
	"  -p, --pid PID          of all processes only this one, until it ends\n"
	"      --children         of --pid its descendants too, whoever becomes their parent\n"
	"      --cgroup PATH      of all processes only those of this control group and those below it\n"
	"  -o, --output FILE      where to; - is stdout; default: a new file with the date in its name\n"
	"      --profile NAME     collectors of a profile: " PROFILES "\n"
	"      --network          network interfaces too\n"
	"      --max-frames N     stop after N samples\n"
	"      --label TEXT       a name for this recording, kept in it\n"
	"      --root DIR         read /proc and /sys under DIR: another machine's captured tree\n"
	"      --capture          keep the raw text as well, for sonde reparse\n"
	"  -q, --quiet            no progress, no last line with the file's name\n"
	"  -h, --help             print this\n\n"
	"Exit status: 0 where it was recorded, whatever COMMAND returned (sonde profile hands that on); 1 where it was not;\n"
	"127 where COMMAND is not there, 126 where it can't be executed: then no file is left.\n\n"
	"examples:\n"
	"  sonde record -d 60 -o slow.sonde && sonde report slow.sonde\n"
	"  sonde record -i 100ms -p $(pidof postgres | cut -d' ' -f1) -d 30\n"
	"  sonde record -o build.sonde -- make -j8\n"
	"  sonde record -d 5 -o - | ssh host sonde report -\n";

enum {
	OPT_CHILDREN = 256,
	OPT_CGROUP,
	OPT_PROFILE,
	OPT_NETWORK,
	OPT_MAX_FRAMES,
	OPT_LABEL,
	OPT_ROOT,
	OPT_CAPTURE
};

static const struct option options[] = {
	{ "duration", required_argument, NULL, 'd' },
	{ "interval", required_argument, NULL, 'i' },
	{ "pid", required_argument, NULL, 'p' },
	{ "children", no_argument, NULL, OPT_CHILDREN },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
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

static int parse(struct recorder *r, int argc, char **argv)
{
	const char *profile = NULL;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:d:i:p:o:qh", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			if (!cli_time("--duration", optarg, &r->run.duration))
				return EXIT_MISUSE;
			break;
		case 'i':
			if (!cli_interval("--interval", optarg, &r->interval))
				return EXIT_MISUSE;
			break;
		case 'p':
			if (!cli_number("--pid", optarg, 1, INT32_MAX, &r->pid))
				return EXIT_MISUSE;
			break;
		case OPT_CHILDREN:
			r->children = true;
			break;
		case OPT_CGROUP:
			r->cgroup = optarg;
			break;
		case 'o':
			r->output = optarg;
			break;
		case OPT_PROFILE:
			profile = optarg;
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
			free(r->root);
			r->root = root_folder(optarg);
			if (!r->root)
				return EXIT_FAILED;
			break;
		case OPT_CAPTURE:
			r->capture = true;
			break;
		case 'q':
			r->quiet = true;
			break;
		case 'h':
			fputs(help, stdout);
			exit(cli_flush(EXIT_DONE));
		default:
			return cli_bad_option(argv, c);
		}
	}
	if (profile && !cli_profile_path(profile, r->profile_path, sizeof r->profile_path))
		return cli_misuse("there is no profile \"%s\": it is " PROFILES, profile);
	return EXIT_DONE;
}

/* Whose processes: all, or one of the ways to choose. */
static int choose(struct recorder *r, char **command)
{
	r->command.words = *command ? command : NULL;
	if ((r->pid != 0) + (r->cgroup != NULL) + (*command != NULL) > 1)
		return cli_misuse("--pid, --cgroup or a command: one of them");
	if (r->children && !r->pid)
		return cli_misuse("--children are those of --pid");
	if (r->cgroup && *r->cgroup != '/')
		return cli_misuse("--cgroup %s: a path from / is wanted, as in /proc/PID/cgroup",
				  r->cgroup);
	if (r->pid && kill((pid_t)r->pid, 0) && errno == ESRCH)
		return cli_error(EXIT_FAILED, "--pid %llu: %s", (unsigned long long)r->pid,
				 strerror(ESRCH));
	r->exits = r->children || r->cgroup || *command;
	return EXIT_DONE;
}

int verb_record(int argc, char **argv)
{
	struct recorder r = { 0 };
	int status = parse(&r, argc, argv);

	if (status == EXIT_DONE)
		status = choose(&r, argv + optind);
	if (status == EXIT_DONE)
		status = recorder_open(&r);
	if (status == EXIT_DONE)
		status = recorder_run(&r);
	free(r.root);
	return status;
}

int record_command(const char *path, uint64_t interval, char **command, int *wait_status)
{
	struct recorder r = { .output = path,
			      .interval = interval,
			      .command.words = command,
			      .quiet = true,
			      .exits = true };
	int status = recorder_open(&r);

	if (status == EXIT_DONE)
		status = recorder_run(&r);
	*wait_status = r.command.wait_status;
	return status;
}
