/* sonde summary FILE, sonde tree FILE: recording --> sink tree. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/recording.h"

static const char summary_help[] =
	"usage: sonde summary [OPTION]... FILE\n\n"
	"Says what the processes of a recording used: by program, at which times nothing ran in parallel, in all.\n"
	"FILE is a recording, a folder of rotated recordings, or - for stdin.\n\n"
	"      --json[=FILE]   as JSON, see sinks/tree/tree.md\n"
	"  -h, --help          print this\n\n"
	"examples:\n"
	"  sonde summary build.sonde\n"
	"  sonde summary --json build.sonde | jq .cpu\n";

static const char tree_help[] =
	"usage: sonde tree [OPTION]... FILE\n\n"
	"Prints the processes of a recording, each below its parent, with what it used and how it ended. Marked with * is the\n"
	"chain that set the time that all took: at each moment, what was waited for.\n"
	"FILE is a recording, a folder of rotated recordings, or - for stdin.\n\n"
	"      --json[=FILE]   as JSON, see sinks/tree/tree.md\n"
	"  -h, --help          print this\n\n"
	"examples:\n"
	"  sonde tree build.sonde | less -S\n"
	"  sonde tree build.sonde | grep '^\\*'\n"
	"  sonde tree --json build.sonde | jq '.processes[] | select(.exit_status > 0)'\n";

enum { OPT_JSON = 256 };

static const struct option options[] = {
	{ "json", optional_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Prints a document of the sink, as text or as JSON: the keys of either. */
static int print(int argc, char **argv, const char *help, const char *text, const char *json)
{
	struct config config = { 0 };
	struct reading reading = { 0 };
	const char *key = text, *path = "-";
	int c, status;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case OPT_JSON:
			key = json;
			path = optarg ? optarg : "-";
			break;
		case 'h':
			fputs(help, stdout);
			exit(cli_flush(EXIT_DONE));
		default:
			return cli_bad_option(argv, c);
		}
	}
	if (!*path)
		return cli_misuse("the name of the file to write is empty");
	if (optind + 1 != argc)
		return cli_misuse("give one recording: a file, a folder or -");
	config_add(&config, "sink:tree");
	config_set(&config, key, path);
	status = recording_run(argv[optind], &config, &reading);
	config_free(&config);
	return status;
}

int tree_brief(const char *path)
{
	struct config config = { 0 };
	struct reading reading = { 0 };
	int status;

	config_add(&config, "sink:tree");
	config_set(&config, "brief", "-");
	status = recording_run(path, &config, &reading);
	config_free(&config);
	return status;
}

int verb_summary(int argc, char **argv)
{
	return print(argc, argv, summary_help, "summary", "summary_json");
}

int verb_tree(int argc, char **argv)
{
	return print(argc, argv, tree_help, "tree", "tree_json");
}
