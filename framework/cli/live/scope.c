/* systemd-run registers its own process as the scope and then executes the command: the pid stays. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/scope.h"

static bool is_executable(const char *program)
{
	const char *path = getenv("PATH");
	char full[4096];

	while (path && *path) {
		int length = (int)strcspn(path, ":");

		snprintf(full, sizeof full, "%.*s/%s", length, path, program);
		if (access(full, X_OK) == 0)
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

/* What is missing; NULL: nothing (sd_booted(3), and the user's own systemd). */
static const char *missing(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char bus[4096];

	if (access("/run/systemd/system", F_OK))
		return "systemd does not run here";
	if (!is_executable("systemd-run"))
		return "systemd-run is not installed";
	if (!geteuid())
		return NULL;
	snprintf(bus, sizeof bus, "%s/systemd/private", runtime ? runtime : "");
	return runtime && access(bus, F_OK) == 0 ? NULL
						 : "this user has no systemd (XDG_RUNTIME_DIR)";
}

bool scope_make(struct scope *scope, char **command)
{
	static char run[] = "systemd-run", of_scope[] = "--scope", quiet[] = "--quiet",
		    collect[] = "--collect", end[] = "--", user[] = "--user";
	const char *why = missing();
	size_t n = 0, count = 0;

	snprintf(scope->unit, sizeof scope->unit, "sonde-%ld.scope", (long)getpid());
	snprintf(scope->option, sizeof scope->option, "--unit=%s", scope->unit);
	char *const before[] = { run,     of_scope,      quiet,
				 collect, scope->option, geteuid() ? user : quiet,
				 end };

	while (command[count])
		count++;
	scope->words =
		why ? NULL : calloc(count + 1 + sizeof before / sizeof before[0], sizeof(char *));
	if (!scope->words) {
		cli_error(EXIT_DONE, "no scope, the command runs without: %s",
			  why ? why : strerror(ENOMEM));
		return false;
	}
	for (; n < sizeof before / sizeof before[0]; n++)
		scope->words[n] = before[n];
	memcpy(scope->words + n, command, count * sizeof *command);
	return true;
}
