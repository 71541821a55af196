/* sonde report FILE...: recording --> analyzers --> report. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/recording.h"

static const char help[] =
	"usage: sonde report [OPTION]... FILE...\n\n"
	"Says what a recording shows: what is wrong, when, from which kernel fields, and what to do.\n"
	"FILE is a recording, a folder of rotated recordings, or - for stdin.\n\n"
	"  -c, --config FILE   take thresholds from the [analyzer:NAME] sections of this file\n"
	"  -o, --output FILE   write the report there instead of stdout\n"
	"  -h, --help          print this\n\n"
	"examples:\n"
	"  sonde report slow.sonde\n"
	"  sonde report /var/log/sonde/\n"
	"  sonde record -d 5 -o - | sonde report -\n";

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Only what concerns the analysis is taken from a configuration that was written for an agent. */
static bool for_report(const struct config_section *section)
{
	return strcmp(section->type, "analyzer") == 0;
}

static void add_section(struct text *text, const struct config_section *section)
{
	text_add(text, "[%s]\n", section->name);
	for (size_t i = 0; i < section->nkeys; i++)
		text_key(text, section->keys[i].name, section->keys[i].value);
}

static int compose(struct text *text, const char *config_path, const char *output)
{
	struct config given = { 0 };
	bool any = false;

	if (config_path && config_read(&given, config_path)) {
		cli_config_errors(&given);
		config_free(&given);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < given.nsections; i++) {
		if (!for_report(&given.sections[i]))
			continue;
		add_section(text, &given.sections[i]);
		any = true;
	}
	if (!any)
		text_add(text, "[analyzer:cpu]\n[analyzer:memory]\n");
	text_add(text, "[sink:report]\n");
	text_key(text, "path", output ? output : "-");
	config_free(&given);
	return EXIT_DONE;
}

int verb_report(int argc, char **argv)
{
	static const struct reading all = { 0 };
	const char *config = NULL;
	const char *output = NULL;
	struct text text = { 0 };
	int status;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":c:o:h", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			config = optarg;
			break;
		case 'o':
			output = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return cli_bad_option(argv, c);
		}
	}
	if (optind == argc)
		return cli_misuse("which recording? give a file, a folder or -");
	if (output && optind + 1 < argc)
		return cli_misuse("--output takes the report of one recording");
	status = compose(&text, config, output);
	for (int i = optind; status == EXIT_DONE && i < argc; i++)
		status = recording_run(argv[i], text.bytes, &all);
	free(text.bytes);
	return status;
}
