/* sonde cat FILE: recording --> stdout, as text, JSON lines or CSV. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/when.h"
#include "core/records.h"
#include "host/must.h"

static const char help[] =
	"usage: sonde cat [OPTION]... FILE\n\n"
	"Prints the rows of a recording: a file, a folder of rotated recordings, or - for stdin.\n\n"
	"      --json[=FILE]     a JSON object a row (sinks/stdout/stdout.md has its form)\n"
	"      --csv[=FILE]      CSV, a header line for each table\n"
	"      --format NAME     any format of the stdout sink: msgpack, logfmt, influx, table, sonde\n"
	"  -t, --table NAME      only this table, or table.column; may be repeated, * is a wildcard\n"
	"      --scaled          values in base units (bytes, ns, Hz, ratio), not in the kernel's\n"
	"      --rate            counters per second, in base units, as NAME_rate\n"
	"      --since TIME      from this time: 10s (of the recording's start), -10s (of its end),\n"
	"      --until TIME        2026-11-30T09:30:15Z, 09:30:15 (of the recorded day and time zone)\n"
	"  -f, --follow          go on as the file grows, until its end record or Ctrl-C\n"
	"  -h, --help            print this\n\n"
	"examples:\n"
	"  sonde cat slow.sonde | less -S\n"
	"  sonde cat --rate -t disk slow.sonde\n"
	"  sonde cat --json -t psi slow.sonde | jq 'select(.keys.resource==\"cpu\")'\n"
	"  sonde cat --csv=vmstat.csv -t vmstat.pgfault slow.sonde\n";

enum { OPT_JSON = 256, OPT_CSV, OPT_FORMAT, OPT_SCALED, OPT_RATE, OPT_SINCE, OPT_UNTIL };

static const struct option options[] = {
	{ "json", optional_argument, NULL, OPT_JSON },
	{ "csv", optional_argument, NULL, OPT_CSV },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "scaled", no_argument, NULL, OPT_SCALED },
	{ "rate", no_argument, NULL, OPT_RATE },
	{ "table", required_argument, NULL, 't' },
	{ "since", required_argument, NULL, OPT_SINCE },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ "follow", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct cat {
	const char *path, *format, *output, *since, *until;
	const char **tables; /* as -t has them; NULL behind the last */
	uint32_t ntables;
	struct config config;
	bool follow, scaled, rate;
};

/* The host's own tables are chosen as kinds, so that no sink loses its gaps by naming tables; here the choice is all. Where one
 * name is a column's, those of whole tables stand for all of theirs. */
static void choose_tables(struct config *config, const char *const *names)
{
	bool columns = false;

	for (const char *const *name = names; *name; name++)
		columns = columns || strchr(*name, '.');
	for (const char *const *name = names; *name; name++) {
		size_t length = strcspn(*name, ".");
		char *text;

		if (record_is(*name)) {
			config_set(config, "kinds", *name);
			continue;
		}
		text = must(malloc(length + sizeof ".*"));
		memcpy(text, *name, length);
		memcpy(text + length, ".*", sizeof ".*");
		config_set(config, "kinds", "data");
		if (columns)
			config_set(config, "columns", (*name)[length] ? *name : text);
		text[length] = '\0';
		config_set(config, "tables", text);
		free(text);
	}
}

static int parse(struct cat *cat, int argc, char **argv)
{
	int c;

	config_add(&cat->config, "sink:stdout");
	cat->tables = must(calloc((size_t)argc + 1, sizeof *cat->tables));
	cat->format = "table";
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":t:fh", options, NULL)) != -1) {
		switch (c) {
		case OPT_JSON:
		case OPT_CSV:
			cat->format = c == OPT_JSON ? "json" : "csv";
			cat->output = optarg;
			break;
		case OPT_FORMAT:
			cat->format = optarg;
			break;
		case OPT_SCALED:
			cat->scaled = true;
			break;
		case OPT_RATE:
			cat->rate = true;
			break;
		case 't':
			cat->tables[cat->ntables++] = optarg;
			break;
		case OPT_SINCE:
			cat->since = optarg;
			break;
		case OPT_UNTIL:
			cat->until = optarg;
			break;
		case 'f':
			cat->follow = true;
			break;
		case 'h':
			fputs(help, stdout);
			exit(cli_flush(EXIT_DONE));
		default:
			return cli_bad_option(argv, c);
		}
	}
	if (optind + 1 != argc)
		return cli_misuse("give one recording: a file, a folder or -");
	cat->path = argv[optind];
	choose_tables(&cat->config, cat->tables);
	config_set(&cat->config, "format", cat->format);
	config_set(&cat->config, "values", cat->rate ? "rate" : "raw");
	config_set(&cat->config, "scaled", cat->scaled || cat->rate ? "yes" : "no");
	if (cat->output) {
		config_set(&cat->config, "path", cat->output);
		config_set(&cat->config, "replace", "yes");
	}
	return EXIT_DONE;
}

static void interrupted(int signal)
{
	(void)signal;
}

/* Ctrl-C while following ends the waiting, and what came so far is printed to its end. */
static void catch_interrupt(void)
{
	struct sigaction action = { .sa_handler = interrupted };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int verb_cat(int argc, char **argv)
{
	struct cat cat = { 0 };
	struct reading reading = { 0 };
	int status = parse(&cat, argc, argv);

	if (status == EXIT_DONE)
		status = when_range(cat.path, cat.since, cat.until, &reading.since, &reading.until);
	if (status == EXIT_DONE) {
		if (cat.follow)
			catch_interrupt();
		reading.follow = cat.follow;
		status = recording_run(cat.path, &cat.config, &reading);
	}
	free(cat.tables);
	config_free(&cat.config);
	return status;
}
