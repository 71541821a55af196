/* sonde export FILE: recording --> sink fixture. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/when.h"

static const char help[] =
	"usage: sonde export --fixture[=NEW] [OPTION]... FILE\n\n"
	"Writes a recording as a JSON timeline: what its host is, each process and every other row with its counters as they\n"
	"changed. Edit it, keep it beside a test, and make a recording of it again on any machine: sonde replay.\n"
	"FILE is a recording, or - for stdin.\n\n"
	"      --fixture[=NEW]   the timeline into this file, else on stdout; see docs/fixture.schema.json\n"
	"  -t, --table NAME      only this table, and what the host says of itself; may be repeated, * is a wildcard\n"
	"      --since TIME      from this time, as in sonde cat\n"
	"      --until TIME      up to this time\n"
	"  -h, --help            print this\n\n"
	"examples:\n"
	"  sonde export --fixture=build.json build.sonde\n"
	"  sonde export --fixture -t process -t processes -t task_exit build.sonde | jq '.tables[].rows | length'\n"
	"  sonde export --fixture build.sonde | sonde replay -o again.sonde -\n";

enum { OPT_FIXTURE = 256, OPT_SINCE, OPT_UNTIL };

static const struct option options[] = {
	{ "fixture", optional_argument, NULL, OPT_FIXTURE },
	{ "table", required_argument, NULL, 't' },
	{ "since", required_argument, NULL, OPT_SINCE },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct export
{
	struct config config;
	const char *output, *since, *until;
};

static int parse(struct export *export, int argc, char **argv)
{
	int c;

	config_add(&export->config, "sink:fixture");
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":t:h", options, NULL)) != -1) {
		switch (c) {
		case OPT_FIXTURE:
			export->output = optarg ? optarg : "-";
			break;
		case 't':
			config_set(&export->config, "tables", optarg);
			break;
		case OPT_SINCE:
			export->since = optarg;
			break;
		case OPT_UNTIL:
			export->until = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			exit(cli_flush(EXIT_DONE));
		default:
			return cli_bad_option(argv, c);
		}
	}
	if (!export->output)
		return cli_misuse("as what? --fixture");
	if (!*export->output)
		return cli_misuse("the name of the file to write is empty");
	if (optind + 1 != argc)
		return cli_misuse("give one recording: a file, or -");
	config_set(&export->config, "path", export->output);
	return EXIT_DONE;
}

int verb_export(int argc, char **argv)
{
	struct export export = { 0 };
	struct reading reading = { 0 };
	int status = parse(&export, argc, argv);

	if (status == EXIT_DONE)
		status = when_range(argv[optind], export.since, export.until, &reading.since,
				    &reading.until);
	if (status == EXIT_DONE)
		status = recording_run(argv[optind], &export.config, &reading);
	config_free(&export.config);
	return status;
}
