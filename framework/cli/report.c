/* sonde report FILE...: recording --> analyzers --> documents. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/documents.h"
#include "cli/gate.h"
#include "cli/recording.h"
#include "cli/text_file.h"
#include "cli/when.h"
#include "cli/worst.h"
#include "host/join.h"
#include "core/memory_file.h"
#include "import/import.h"

static const char help[] =
	"usage: sonde report [OPTION]... FILE...\n\n"
	"Says what a recording shows: what is wrong, when, from which kernel fields, and what to do.\n"
	"FILE is a recording, a folder of rotated recordings, or - for stdin.\n\n"
	"  -o, --output FILE     the report as text into this file; without it or a document, on stdout\n"
	"      --brief[=FILE]    what was found alone, and in a line each what is only worth knowing\n"
	"      --md[=FILE]       as Markdown\n"
	"      --json[=FILE]     as JSON, see docs/report.schema.json\n"
	"      --html[=FILE]     as a page of one file, with charts to zoom, that opens offline\n"
	"      --since TIME      from this time: 10s (of the recording's start), -10s (of its end),\n"
	"      --until TIME        2026-11-30T09:30:15Z, 09:30:15 (of the recorded day and time zone)\n"
	"      --window TIME     only the worst stretch of this length, that with the most severe findings\n"
	"      --perf-stat FILE  with the counters that perf stat printed into FILE (CSV or text) meanwhile: put where it says\n"
	"                          that it began, else at the recording's start; of a run without times, over all of it\n"
	"  -c, --config FILE     thresholds from the [analyzer:NAME] sections of this file\n"
	"      --fail-on LEVEL   exit 3 where a finding is info, warning or critical, or more severe;\n"
	"                          exit 1 where data is missing or a finding could not be judged\n"
	"      --require ID,...  only these findings have to be judged\n"
	"      --allow-gaps      missing data and findings that were not judged are no failure\n"
	"  -h, --help            print this\n\n"
	"examples:\n"
	"  sonde report slow.sonde\n"
	"  sonde report --since 30s --until 1min slow.sonde\n"
	"  sonde report --html=slow.html slow.sonde\n"
	"  sonde report --window 1min day.sonde\n"
	"  sonde report --json=slow.json --md=slow.md slow.sonde\n"
	"  sonde report --fail-on warning --require cpu.saturation,mem.pressure build.sonde\n"
	"  sonde report --perf-stat counts.csv slow.sonde\n"
	"  sonde record -d 5 -o - | sonde report -\n";

enum {
	OPT_SINCE = 256,
	OPT_UNTIL,
	OPT_WINDOW,
	OPT_PERF_STAT,
	OPT_FAIL_ON,
	OPT_REQUIRE,
	OPT_ALLOW_GAPS
};

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "brief", optional_argument, NULL, OPT_DOCUMENT + DOCUMENT_BRIEF },
	DOCUMENT_OPTIONS,
	{ "since", required_argument, NULL, OPT_SINCE },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ "window", required_argument, NULL, OPT_WINDOW },
	{ "perf-stat", required_argument, NULL, OPT_PERF_STAT },
	{ "config", required_argument, NULL, 'c' },
	{ "fail-on", required_argument, NULL, OPT_FAIL_ON },
	{ "require", required_argument, NULL, OPT_REQUIRE },
	{ "allow-gaps", no_argument, NULL, OPT_ALLOW_GAPS },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct report {
	const char *config, *since, *until, *perf_stat;
	uint64_t window; /* ns; 0: all */
	struct documents documents;
	struct gate gate;
};

static int parse(struct report *report, int argc, char **argv)
{
	char why[256];
	int c;

	opterr = 0;
	optind = 0; /* profile calls it too */
	while ((c = getopt_long(argc, argv, ":o:c:h", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			report->documents.path[DOCUMENT_TEXT] = optarg;
			break;
		case OPT_SINCE:
			report->since = optarg;
			break;
		case OPT_UNTIL:
			report->until = optarg;
			break;
		case OPT_WINDOW:
			if (!cli_is_duration(optarg, &report->window, why, sizeof why) ||
			    report->window < 1000000000)
				return cli_misuse(
					"--window %s: a time of 1s or more is wanted, as 1min",
					optarg);
			break;
		case OPT_PERF_STAT:
			report->perf_stat = optarg;
			break;
		case 'c':
			report->config = optarg;
			break;
		case OPT_FAIL_ON:
			report->gate.fail_on = optarg;
			break;
		case OPT_REQUIRE:
			report->gate.require = optarg;
			break;
		case OPT_ALLOW_GAPS:
			report->gate.allow_gaps = true;
			break;
		case 'h':
			fputs(help, stdout);
			exit(EXIT_DONE);
		default:
			if (!documents_take(&report->documents, c, optarg))
				return cli_bad_option(argv, c);
		}
	}
	return EXIT_DONE;
}

static int check(struct report *report, int recordings)
{
	unsigned in_files = 0;
	int status = documents_check(&report->documents, &in_files);

	if (status != EXIT_DONE)
		return status;
	if (!recordings)
		return cli_misuse("which recording? give a file, a folder or -");
	if (report->perf_stat && recordings > 1)
		return cli_misuse("--perf-stat is of one recording");
	if (in_files && recordings > 1)
		return cli_misuse("a file takes the report of one recording");
	if (!report->gate.fail_on && (report->gate.require || report->gate.allow_gaps))
		return cli_misuse("--require and --allow-gaps belong to --fail-on");
	return report->gate.fail_on && !gate_open(&report->gate) ? EXIT_MISUSE : EXIT_DONE;
}

/* What perf stat printed, as a recording that only this process has; *fd is -1 where there is none. */
static int counters_of(const char *path, int *fd, struct join **join)
{
	static const struct import_options nothing = { 0 };
	size_t length;
	char why[256] = "", *text = text_file(path, &length);
	int err;

	if (!text)
		return EXIT_FAILED;
	*fd = memory_file("sonde perf-stat");
	err = *fd < 0 ? *fd : import_perf_stat(text, length, &nothing, *fd, why, sizeof why);
	free(text);
	if (!err)
		err = join_new(*fd, join);
	return err ? cli_error(EXIT_FAILED, "%s: %s", path, *why ? why : strerror(-err))
		   : EXIT_DONE;
}

static int run(struct report *report, const char *path, struct config *config)
{
	struct reading reading = { .standing = true,
				   .outlet = report->gate.fail_on ? &report->gate.outlet : NULL };
	int fd = -1;
	int status = when_range(path, report->since, report->until, &reading.since, &reading.until);

	if (status == EXIT_DONE && report->window)
		status = worst_stretch(path, report->config, report->window, &reading);
	if (status == EXIT_DONE && report->perf_stat)
		status = counters_of(report->perf_stat, &fd, &reading.join);
	if (status == EXIT_DONE)
		status = recording_run(path, config, &reading);
	join_free(reading.join);
	if (fd >= 0)
		close(fd);
	if (status == EXIT_DONE && report->gate.fail_on)
		status = gate_status(&report->gate, path);
	return status;
}

int report_check(int argc, char **argv)
{
	struct report report = { 0 };
	int status = parse(&report, argc, argv);

	return status == EXIT_DONE ? check(&report, argc - optind) : status;
}

int verb_report(int argc, char **argv)
{
	struct report report = { 0 };
	struct config config = { 0 };
	int status = parse(&report, argc, argv);

	if (status == EXIT_DONE)
		status = check(&report, argc - optind);
	if (status == EXIT_DONE) {
		cli_analyzers(&config, report.config);
		documents_compose(&report.documents, &config);
	}
	for (int i = optind; i < argc && (status == EXIT_DONE || status == EXIT_GATE); i++) {
		int of_this = run(&report, argv[i], &config);

		/* A gate that one recording closed stays so. */
		if (status == EXIT_DONE)
			status = of_this;
	}
	config_free(&config);
	return status;
}
