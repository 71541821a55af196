/* Verbs that need a library which sonde does without: programs of their own, which sonde becomes. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "host/folders.h"

/* From the program's own folder: build/ and build/asan/ of a tree, PREFIX/bin of what is installed. */
static const char *const folders[] = { "libexec", "../libexec/sonde" };

int verb_external(int argc, char **argv)
{
	char exe[PATH_MAX], path[2 * PATH_MAX];
	const char *slash;

	(void)argc;
	if (!cli_program(exe, sizeof exe))
		return cli_error(EXIT_FAILED, "%s", folders_nowhere);
	slash = strrchr(exe, '/');
	for (size_t i = 0; slash && i < sizeof folders / sizeof folders[0]; i++) {
		snprintf(path, sizeof path, "%.*s/%s/sonde-%s", (int)(slash - exe), exe, folders[i],
			 cli_verb);
		/* By its argv[0] the program finds this one. */
		argv[0] = exe;
		execv(path, argv);
		if (errno != ENOENT)
			return cli_error(EXIT_FAILED, "%s: %s", path, strerror(errno));
	}
	return cli_error(
		EXIT_FAILED,
		"this verb was left out when sonde was built: install the library that `make` "
		"names, and make again");
}
