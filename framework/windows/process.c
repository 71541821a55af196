/* Programs and signals as POSIX has them (include/posix.h, spawn.h), by what Windows has. */
#include <errno.h>
#include <limits.h>
#include <process.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include <windows.h>

#include "cli/cli.h"
#include "core/memory_file.h"

/* One word of a command line, as the program that gets it takes it apart again: quotes and what precedes them are escaped. */
static char *quoted(const char *word)
{
	char *made = malloc(2 * strlen(word) + 3), *to = made;
	size_t slashes = 0;

	if (!made)
		return NULL;
	*to++ = '"';
	for (; *word; word++) {
		if (*word == '"')
			for (slashes++; slashes; slashes--)
				*to++ = '\\';
		slashes = *word == '\\' ? slashes + 1 : 0;
		*to++ = *word;
	}
	for (; slashes; slashes--)
		*to++ = '\\';
	*to++ = '"';
	*to = '\0';
	return made;
}

static intptr_t run(int mode, const char *path, char *const *arguments)
{
	const char **words;
	size_t count = 0;
	intptr_t result;

	while (arguments[count])
		count++;
	words = calloc(count + 1, sizeof *words);
	for (size_t i = 0; words && i < count; i++)
		words[i] = quoted(arguments[i]);
	result = words ? _spawnv(mode, path, words) : -1;
	for (size_t i = 0; words && i < count; i++)
		free((char *)words[i]);
	free(words);
	return result;
}

int posix_execv(const char *path, char *const *arguments)
{
	intptr_t status = run(_P_WAIT, path, arguments);

	if (status < 0)
		return -1;
	exit((int)status);
}

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions)
{
	*actions = (posix_spawn_file_actions_t) { 0 };
	return 0;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions)
{
	(void)actions;
	return 0;
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int from, int to)
{
	*actions = (posix_spawn_file_actions_t) { from, to };
	return 0;
}

/* A child has its parent's descriptors: they are exchanged while it starts. */
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const void *attributes, char *const *arguments, char *const *environment)
{
	bool exchanged = actions && (actions->from || actions->to);
	int kept = exchanged ? dup(actions->to) : -1;
	intptr_t handle;

	(void)attributes, (void)environment;
	if (exchanged && (kept < 0 || dup2(actions->from, actions->to)))
		return errno;
	handle = run(_P_NOWAIT, path, arguments);
	if (exchanged) {
		dup2(kept, actions->to);
		close(kept);
	}
	*pid = handle;
	return handle < 0 ? errno : 0;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	(void)options;
	return _cwait(status, pid, 0) == -1 ? -1 : pid;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	void (*handler)(int) = signal(number, action->sa_handler);

	if (before)
		before->sa_handler = handler == SIG_ERR ? SIG_DFL : handler;
	return handler == SIG_ERR ? -1 : 0;
}

bool cli_program(char *path, size_t size)
{
	DWORD length = GetModuleFileNameA(NULL, path, (DWORD)size);

	for (char *at = path; length && *at; at++)
		if (*at == '\\')
			*at = '/';
	return length > 0 && length < size;
}

int memory_file(const char *name)
{
	char folder[MAX_PATH], path[MAX_PATH];

	(void)name;
	if (!GetTempPathA(sizeof folder, folder) || !GetTempFileNameA(folder, "snd", 0, path))
		return -EACCES;
	return open(path, O_RDWR | O_CREAT | _O_TEMPORARY | _O_BINARY, 0600);
}
