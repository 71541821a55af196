/* sonde reparse REC -o NEW: today's collectors over the raw bytes of a recording. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/recording.h"

static const char help[] =
	"usage: sonde reparse [OPTION]... FILE -o NEW\n\n"
	"Reads the raw text that `sonde record --capture` kept in a recording again, with today's\n"
	"collectors, and writes what they make of it into a new recording, at the same times.\n\n"
	"  -o, --output NEW   where to; - is stdout\n"
	"  -h, --help         print this\n\n"
	"example:\n"
	"  sonde record --capture -d 10 -o old.sonde && sonde reparse old.sonde -o new.sonde\n";

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

int verb_reparse(int argc, char **argv)
{
	static const struct reading raw = { .reparse = true };
	const char *output = NULL;
	struct config config = { 0 };
	int status;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		switch (c) {
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
	if (optind + 1 != argc)
		return cli_misuse("one recording is wanted");
	if (!output)
		return cli_misuse("where to? -o NEW");
	status = cli_output(output);
	if (status == EXIT_DONE)
		status = recording_collectors(argv[optind], &config);
	if (status == EXIT_DONE) {
		cli_recording(&config, output);
		status = recording_run(argv[optind], &config, &raw);
	}
	config_free(&config);
	return status;
}
