/* Another machine's /proc and /sys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/root.h"

static bool holds(const char *folder, const char *name)
{
	char *path;
	bool there = asprintf(&path, "%s/%s", folder, name) >= 0 && access(path, F_OK) == 0;

	free(path);
	return there;
}

char *root_folder(const char *path)
{
	char *folder = realpath(path, NULL);

	if (folder && (holds(folder, "proc") || holds(folder, "sys")))
		return folder;
	cli_error(EXIT_FAILED, "--root %s: %s", path,
		  folder ? "neither proc nor sys is in it" : strerror(errno));
	free(folder);
	return NULL;
}
