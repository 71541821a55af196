/* sonde demo SCENARIO: a recording of a machine that is not there --> collectors, analyzers --> report, or a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/documents.h"
#include "cli/recording.h"
#include "demo/demo.h"

static const char help[] =
	"usage: sonde demo [OPTION]... SCENARIO\n"
	"       sonde demo --list\n\n"
	"Shows what sonde says of a machine with a known fault: a minute of one with two sockets, 32 CPUs and 128 GiB that is not\n"
	"there. The texts of its files are made up; whatever is read in them, and said of it, is as with a real machine.\n\n"
	"  -l, --list           the scenarios\n"
	"  -o, --output FILE    the recording into this file, and no report unless a document is asked for; - is stdout\n"
	"      --md[=FILE]      the report as Markdown, instead of as text on stdout\n"
	"      --json[=FILE]    as JSON, see docs/report.schema.json\n"
	"      --html[=FILE]    as a page of one file, with charts to zoom, that opens offline\n"
	"  -h, --help           print this\n\n"
	"examples:\n"
	"  sonde demo cpu_saturated\n"
	"  sonde demo numa_misplaced --html=numa.html\n"
	"  sonde demo memory_pressure -o demo.sonde && sonde cat --json demo.sonde | head\n";

static const struct option options[] = {
	{ "list", no_argument, NULL, 'l' },
	{ "output", required_argument, NULL, 'o' },
	DOCUMENT_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct demo {
	const struct scenario *scenario;
	struct documents documents;
	const char *output; /* NULL: no recording is wanted */
	bool list;
};

static int parse(struct demo *demo, int argc, char **argv)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":lo:h", options, NULL)) != -1) {
		switch (c) {
		case 'l':
			demo->list = true;
			break;
		case 'o':
			demo->output = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			exit(EXIT_DONE);
		default:
			if (!documents_take(&demo->documents, c, optarg))
				return cli_bad_option(argv, c);
		}
	}
	return EXIT_DONE;
}

static int find(struct demo *demo, const char *name)
{
	const char *names[64];
	size_t count = 0;
	const char *near;

	for (; demo_scenario(count) && count < sizeof names / sizeof *names; count++) {
		names[count] = demo_name(demo_scenario(count));
		if (strcmp(names[count], name) == 0)
			demo->scenario = demo_scenario(count);
	}
	if (demo->scenario)
		return EXIT_DONE;
	near = nearest(name, names, count);
	if (near)
		return cli_misuse("there is no scenario \"%s\"; did you mean \"%s\"?", name, near);
	return cli_misuse("there is no scenario \"%s\"; sonde demo --list names them", name);
}

static int check(struct demo *demo, int operands, char **operand)
{
	unsigned in_files = 0;
	int status = documents_check(&demo->documents, &in_files);

	if (status != EXIT_DONE)
		return status;
	if (demo->list)
		return operands ? cli_misuse("--list takes no scenario") : EXIT_DONE;
	if (operands != 1)
		return cli_misuse("one scenario is wanted; sonde demo --list names them");
	for (int i = 0; demo->output && strcmp(demo->output, "-") == 0 && i < DOCUMENTS; i++)
		if (demo->documents.path[i] && strcmp(demo->documents.path[i], "-") == 0)
			return cli_misuse("the recording is on stdout: give the document a file");
	status = find(demo, operand[0]);
	return status == EXIT_DONE && demo->output ? cli_output(demo->output) : status;
}

static int list(void)
{
	const struct scenario *scenario;

	for (size_t i = 0; (scenario = demo_scenario(i)); i++)
		printf("%-16s %s\n", demo_name(scenario), demo_title(scenario));
	return EXIT_DONE;
}

/* What its collectors read goes through them, and into a recording or a report. */
static int run(const struct demo *demo, const char *path, bool report)
{
	static const struct reading raw = { .reparse = true };
	struct config config = { 0 };
	int status;

	if (report) {
		cli_analyzers(&config, NULL); /* first: it keeps nothing else */
		documents_compose(&demo->documents, &config);
	} else {
		cli_recording(&config, demo->output);
	}
	status = recording_collectors(path, &config);
	if (status == EXIT_DONE)
		status = recording_run(path, &config, &raw);
	config_free(&config);
	return status;
}

static int record_and_run(const struct demo *demo)
{
	bool report = !demo->output;
	int status = EXIT_DONE;
	char path[64];
	int fd = memfd_create("sonde demo", MFD_CLOEXEC);
	int err = fd < 0 ? -errno : demo_record(demo->scenario, fd);

	for (int i = 0; i < DOCUMENTS; i++)
		report |= demo->documents.path[i] != NULL;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (err)
		status = cli_error(EXIT_FAILED, "%s", strerror(-err));
	else if (demo->output)
		status = run(demo, path, false);
	if (status == EXIT_DONE && report)
		status = run(demo, path, true);
	if (fd >= 0)
		close(fd);
	return status;
}

int verb_demo(int argc, char **argv)
{
	struct demo demo = { 0 };
	int status = parse(&demo, argc, argv);

	if (status == EXIT_DONE)
		status = check(&demo, argc - optind, argv + optind);
	if (status != EXIT_DONE)
		return status;
	return demo.list ? list() : record_and_run(&demo);
}
