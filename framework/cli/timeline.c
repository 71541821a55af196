/* sonde timeline FILE: recording --> sink tree, processes over time. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/recording.h"

static const char help[] =
	"usage: sonde timeline [OPTION]... FILE\n\n"
	"Writes what each process of a recording did over time: when it ran, waited for a CPU, was blocked on disk or slept, below\n"
	"its parent, and charts of CPU, run queue, memory, faults and I/O on the same axis.\n"
	"FILE is a recording, a folder of rotated recordings, or - for stdin.\n\n"
	"  -o, --output FILE         a page for a browser, in one file, which asks for nothing; needs the pages of `make web`\n"
	"      --json[=FILE]         the viewer's document, see docs/timeline.schema.json\n"
	"      --perfetto[=FILE]     a trace that ui.perfetto.dev opens\n"
	"      --speedscope[=FILE]   CPU time, waiting, and the chain of processes that set the time, for speedscope.app\n"
	"  -h, --help                print this\n\n"
	"examples:\n"
	"  sonde timeline -o build.html build.sonde\n"
	"  sonde timeline --perfetto=build.trace.json build.sonde\n"
	"  sonde timeline --speedscope=build.speedscope.json build.sonde\n"
	"  sonde timeline --json build.sonde | jq '.processes[] | select(.critical) | [.start, .life, .command]'\n";

enum { HTML, JSON, PERFETTO, SPEEDSCOPE, DOCUMENTS };
static const char *const keys[DOCUMENTS] = { "timeline", "timeline_json", "perfetto",
					     "speedscope" };

/* Of getopt_long(3): behind all characters. */
enum { OPT_DOCUMENT = 256 };
static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "json", optional_argument, NULL, OPT_DOCUMENT + JSON },
	{ "perfetto", optional_argument, NULL, OPT_DOCUMENT + PERFETTO },
	{ "speedscope", optional_argument, NULL, OPT_DOCUMENT + SPEEDSCOPE },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int check(const char *const paths[DOCUMENTS])
{
	unsigned asked = 0, on_stdout = 0;

	for (int i = 0; i < DOCUMENTS; i++) {
		if (paths[i] && !*paths[i])
			return cli_misuse("the name of the file to write is empty");
		asked += paths[i] != NULL;
		on_stdout += paths[i] && strcmp(paths[i], "-") == 0;
	}
	if (!asked)
		return cli_misuse(
			"in which form? give -o FILE.html, --json, --perfetto or --speedscope");
	if (on_stdout > 1)
		return cli_misuse("two documents for stdout: give one a file, --json=FILE");
	return EXIT_DONE;
}

/* Whether there are processes: of a recording without them a timeline is of charts at most. */
struct watch {
	struct outlet outlet;
	bool processes;
};

static int look(struct outlet *outlet, const struct instant *instant)
{
	struct watch *watch = (struct watch *)((char *)outlet - offsetof(struct watch, outlet));

	for (uint32_t i = 0; i < instant->nviews && !watch->processes; i++)
		watch->processes = instant->views[i].nrows &&
				   strcmp(instant->views[i].schema->name, "process") == 0;
	return 0;
}

int verb_timeline(int argc, char **argv)
{
	const char *paths[DOCUMENTS] = { NULL };
	struct config config = { 0 };
	struct watch watch = { .outlet = { .instant = look } };
	struct reading reading = { .outlet = &watch.outlet };
	int c, status;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			exit(cli_flush(EXIT_DONE));
		}
		if (c != 'o' && c < OPT_DOCUMENT)
			return cli_bad_option(argv, c);
		paths[c == 'o' ? HTML : c - OPT_DOCUMENT] = optarg ? optarg : "-";
	}
	status = check(paths);
	if (status != EXIT_DONE)
		return status;
	if (optind + 1 != argc)
		return cli_misuse("give one recording: a file, a folder or -");
	config_add(&config, "sink:tree");
	for (int i = 0; i < DOCUMENTS; i++)
		if (paths[i])
			config_set(&config, keys[i], paths[i]);
	status = recording_run(argv[optind], &config, &reading);
	config_free(&config);
	if (status == EXIT_DONE && !watch.processes)
		cli_error(
			EXIT_DONE,
			"%s: no processes are in it: sonde record and sonde profile have them, an "
			"agent with [process]",
			argv[optind]);
	return status;
}
