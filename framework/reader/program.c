/* The program's own file, of a build that only reads: found as a shell finds it (execvp(3)), since not every system has /proc. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* PATH's first folder that has it. */
static bool search(const char *name, char *path, size_t size)
{
	const char *folders = getenv("PATH");

	while (folders && *folders) {
		size_t n = strcspn(folders, ":");

		snprintf(path, size, "%.*s/%s", (int)n, folders, name);
		if (access(path, X_OK) == 0)
			return true;
		folders += n + (folders[n] == ':');
	}
	return false;
}

bool cli_program(char *path, size_t size)
{
	char found[PATH_MAX], *real;

	if (strchr(cli_argv0, '/'))
		snprintf(found, sizeof found, "%s", cli_argv0);
	else if (!search(cli_argv0, found, sizeof found))
		return false;
	real = realpath(found, NULL);
	if (real)
		snprintf(path, size, "%s", real);
	free(real);
	return real != NULL;
}
