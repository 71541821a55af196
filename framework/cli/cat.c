/* sonde cat FILE: recording --> stdout, as text, JSON lines or CSV. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/when.h"
#include "core/records.h"

static const char help[] =
	"usage: sonde cat [OPTION]... FILE\n\n"
	"Prints the rows of a recording: a file, a folder of rotated recordings, or - for stdin.\n\n"
	"      --json[=FILE]     a JSON object a row (sinks/stdout/stdout.md has its form)\n"
	"      --csv[=FILE]      CSV, a header line for each table\n"
	"      --format NAME     any format of the stdout sink: msgpack, logfmt, influx, table, sonde\n"
	"  -t, --table NAME      only this table, or table.column; may be repeated, * is a wildcard\n"
	"      --since TIME      from this time: 10s (of the recording's start), -10s (of its end),\n"
	"      --until TIME        2026-11-30T09:30:15Z, 09:30:15 (of the recorded day, your time zone)\n"
	"  -f, --follow          go on as the file grows, until its end record or Ctrl-C\n"
	"  -h, --help            print this\n\n"
	"examples:\n"
	"  sonde cat slow.sonde | less -S\n"
	"  sonde cat --json -t psi slow.sonde | jq 'select(.keys.resource==\"cpu\")'\n"
	"  sonde cat --csv=vmstat.csv -t vmstat.pgfault slow.sonde\n";

enum { OPT_JSON = 256, OPT_CSV, OPT_FORMAT, OPT_SINCE, OPT_UNTIL };

static const struct option options[] = {
	{ "json", optional_argument, NULL, OPT_JSON },
	{ "csv", optional_argument, NULL, OPT_CSV },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "table", required_argument, NULL, 't' },
	{ "since", required_argument, NULL, OPT_SINCE },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ "follow", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct cat {
	const char *path, *format, *output, *since, *until;
	struct text tables; /* keys of the sink's filter */
	bool follow;
};

/* The host's own tables are chosen as kinds, so that no sink loses its gaps by naming tables; here the choice is all. */
static void choose_table(struct cat *cat, const char *name)
{
	const char *dot = strchr(name, '.');

	if (record_is(name)) {
		text_key(&cat->tables, "kinds", name);
		return;
	}
	text_add(&cat->tables, "kinds = data\ntables = %.*s\n",
		 dot ? (int)(dot - name) : (int)strlen(name), name);
	if (dot)
		text_key(&cat->tables, "columns", name);
}

static int parse(struct cat *cat, int argc, char **argv)
{
	int c;

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
		case 't':
			choose_table(cat, optarg);
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
			exit(EXIT_DONE);
		default:
			return cli_bad_option(argv, c);
		}
	}
	if (optind + 1 != argc)
		return cli_misuse("give one recording: a file, a folder or -");
	cat->path = argv[optind];
	return EXIT_DONE;
}

static void compose(struct text *text, const struct cat *cat)
{
	text_add(text, "[sink:stdout]\n");
	text_key(text, "format", cat->format);
	if (cat->output) {
		text_key(text, "path", cat->output);
		text_add(text, "replace = yes\n");
	}
	if (cat->tables.bytes)
		text_add(text, "%s", cat->tables.bytes);
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
	struct text text = { 0 };
	struct reading reading = { 0 };
	int status = parse(&cat, argc, argv);

	if (status == EXIT_DONE)
		status = when_range(cat.path, cat.since, cat.until, &reading.since, &reading.until);
	if (status == EXIT_DONE) {
		compose(&text, &cat);
		if (cat.follow)
			catch_interrupt();
		reading.follow = cat.follow;
		status = recording_run(cat.path, text.bytes, &reading);
	}
	free(text.bytes);
	free(cat.tables.bytes);
	return status;
}
