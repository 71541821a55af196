/* sonde reparse REC -o NEW: today's collectors over the raw bytes of a recording. */
#include <stdlib.h>
#include <string.h>

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

/* The collectors as they were configured then, and where to. An exit status. */
static int compose(struct text *text, const char *path, const char *output)
{
	struct recording *recording = recording_open(path);
	struct reader *reader = recording ? recording_reader(recording, 0, 0) : NULL;
	char *sections = reader ? pipeline_reparse_sections(reader) : NULL;
	int status = EXIT_FAILED;

	if (!reader)
		goto out;
	if (!sections || !*sections) {
		cli_error(EXIT_FAILED,
			  sections ? "%s: no raw text is in it: record with --capture"
				   : "%s: not a recording of sonde",
			  path);
		goto out;
	}
	for (char *line = strtok(sections, "\n"); line; line = strtok(NULL, "\n"))
		text_add(text, "%s\n", line);
	text_recording(text, output);
	status = EXIT_DONE;
out:
	free(sections);
	reader_free(reader);
	recording_close(recording);
	return status;
}

int verb_reparse(int argc, char **argv)
{
	static const struct reading raw = { .reparse = true };
	const char *output = NULL;
	struct text text = { 0 };
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
		status = compose(&text, argv[optind], output);
	if (status == EXIT_DONE)
		status = recording_run(argv[optind], text.bytes, &raw);
	free(text.bytes);
	return status;
}
