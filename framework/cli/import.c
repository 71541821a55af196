/* sonde import TOOL FILE: another tool's text --> a recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/text_file.h"
#include "core/memory_file.h"
#include "import/import.h"

static const char help[] =
	"usage: sonde import [OPTION]... TOOL FILE\n\n"
	"Turns what another tool printed into a recording, so that sonde report says what it shows. FILE may be - for stdin.\n"
	"TOOL is one of\n\n"
	"  perf-stat    CSV with any separator (-x), in intervals (-I), by CPU or socket (-A, --per-socket), or the text for\n"
	"                 people in any locale\n"
	"  vmstat       rows over time: with -w, -t, -a, -n; not -d, -D, -p, -m, -s\n"
	"  numastat     counts (without an option, -n), memory by node (-m), of processes (-p); printed several times, over time\n\n"
	"  -o, --output NEW     the recording; - is stdout\n"
	"      --interval TIME  from one row of vmstat, or print of numastat, to the next, where the text has no times\n"
	"  -S, --unit UNIT      of vmstat's memory, as its own -S was: k, K, m or M; else K\n"
	"      --cpus N         how many CPUs the machine of vmstat had: r is judged against them\n"
	"  -y, --no-first       as vmstat's own -y: its first row is an interval, not all time since boot\n"
	"  -h, --help           print this\n\n"
	"examples:\n"
	"  perf stat -x\\; -I 1000 -o counts.csv -e cycles,instructions,LLC-loads,LLC-load-misses -- make\n"
	"  sonde import perf-stat counts.csv -o counts.sonde && sonde report counts.sonde\n"
	"  vmstat -wt 5 60 | sonde import vmstat - -o memory.sonde\n"
	"  for i in 1 2 3; do numastat -m; numastat; sleep 5; done >nodes.txt\n"
	"  sonde import numastat --interval 5s nodes.txt -o nodes.sonde\n";

enum { OPT_INTERVAL = 256, OPT_CPUS };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "unit", required_argument, NULL, 'S' },
	{ "no-first", no_argument, NULL, 'y' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* And which of the options say something of its text. */
static const struct tool {
	const char *name;
	import_text *import;
	bool interval, rows; /* it has --interval; it has -S, -y and --cpus */
} tools[] = {
	{ "perf-stat", import_perf_stat, false, false },
	{ "vmstat", import_vmstat, true, true },
	{ "numastat", import_numastat, true, false },
};

enum { TOOLS = sizeof tools / sizeof *tools };

struct request {
	const char *output;
	const struct tool *tool;
	struct import_options options;
};

/* Through the pipeline of any recording, so that the file is written as they all are. */
static int hand_on(int fd, const char *output)
{
	static const struct reading reading = { 0 };
	struct config config = { 0 };
	int status;

	cli_recording(&config, output);
	status = recording_run_fd(fd, &config, &reading);
	config_free(&config);
	return status;
}

static int import(const struct request *request, const char *path)
{
	size_t length;
	char why[256] = "", *text = text_file(path, &length);
	int fd = text ? memory_file("sonde import") : -1;
	int err, status = EXIT_FAILED;

	if (!text)
		return status;
	err = fd < 0 ? fd
		     : request->tool->import(text, length, &request->options, fd, why, sizeof why);
	if (err)
		cli_error(status, "%s: %s", path, err == -EBADMSG ? why : strerror(-err));
	else
		status = hand_on(fd, request->output);
	if (fd >= 0)
		close(fd);
	free(text);
	return status;
}

static int find_tool(struct request *request, const char *name)
{
	const char *names[TOOLS], *near;

	for (size_t i = 0; i < TOOLS; i++) {
		names[i] = tools[i].name;
		if (strcmp(name, tools[i].name) == 0)
			request->tool = &tools[i];
	}
	if (request->tool)
		return EXIT_DONE;
	near = nearest(name, names, TOOLS);
	return near ? cli_misuse("no text of \"%s\" can be imported; did you mean \"%s\"?", name,
				 near)
		    : cli_misuse("no text of \"%s\" can be imported: perf-stat, vmstat or numastat",
				 name);
}

static int check(struct request *request, int operands, char **operand)
{
	const struct import_options *given = &request->options;
	int status;

	if (!operands)
		return cli_misuse(
			"of which tool, and which file? perf-stat, vmstat or numastat FILE");
	status = find_tool(request, operand[0]);
	if (status != EXIT_DONE)
		return status;
	if (operands != 2)
		return cli_misuse("one file is wanted, or -");
	if (!request->output)
		return cli_misuse("where to? -o NEW");
	if ((given->interval > 0 && !request->tool->interval) ||
	    ((given->unit || given->no_first || given->cpus) && !request->tool->rows))
		return cli_misuse(
			"-S, -y and --cpus belong to vmstat, --interval to vmstat and numastat");
	return cli_output(request->output);
}

static int take_option(struct request *request, char **argv, int c)
{
	uint64_t ns;
	char why[256], *end;

	switch (c) {
	case 'o':
		request->output = optarg;
		return EXIT_DONE;
	case OPT_INTERVAL:
		if (!cli_is_duration(optarg, &ns, why, sizeof why) || !ns)
			return cli_misuse("--interval %s: a time above 0 is wanted, as 5s", optarg);
		request->options.interval = (double)ns / 1e9;
		return EXIT_DONE;
	case OPT_CPUS:
		request->options.cpus = (unsigned)strtoul(optarg, &end, 10);
		if (*optarg < '1' || *optarg > '9' || *end || strlen(optarg) > 4)
			return cli_misuse("--cpus %s: a number from 1 to 9999 is wanted", optarg);
		return EXIT_DONE;
	case 'S':
		if (strlen(optarg) != 1 || !strchr("kKmM", *optarg))
			return cli_misuse("-S %s: k, K, m or M is wanted, as vmstat had it",
					  optarg);
		request->options.unit = *optarg;
		return EXIT_DONE;
	case 'y':
		request->options.no_first = true;
		return EXIT_DONE;
	default:
		return cli_bad_option(argv, c);
	}
}

int verb_import(int argc, char **argv)
{
	struct request request = { 0 };
	int c, status = EXIT_DONE;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:S:yh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_DONE;
		}
		status = take_option(&request, argv, c);
		if (status != EXIT_DONE)
			return status;
	}
	status = check(&request, argc - optind, argv + optind);
	return request.tool && status == EXIT_DONE ? import(&request, argv[optind + 1]) : status;
}
