/* The collectors of a recording that was made with --capture. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/recording.h"

int recording_collectors(const char *path, struct config *config)
{
	struct recording *recording = recording_open(path);
	struct reader *reader = recording ? recording_reader(recording, NULL) : NULL;
	char *sections = reader ? pipeline_reparse_sections(reader) : NULL;
	int status = EXIT_FAILED;

	if (sections && *sections) {
		config_read_text(config, path, sections);
		status = EXIT_DONE;
	} else if (reader) {
		cli_error(EXIT_FAILED,
			  sections ? "%s: no raw text is in it: record with --capture"
				   : "%s: not a recording of sonde",
			  path);
	}
	free(sections);
	reader_free(reader);
	recording_close(recording);
	return status;
}
