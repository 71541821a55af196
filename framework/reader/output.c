/* Where a build that only reads writes a recording: into one file, which is never followed by another. */
#include "cli/cli.h"

void cli_recording(struct config *config, const char *path)
{
	config_add(config, "sink:stdout");
	config_set(config, "format", "sonde");
	config_set(config, "path", path);
}
