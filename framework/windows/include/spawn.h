/* posix_spawn(3), with at most one descriptor put in place of another. */
#ifndef WINDOWS_SPAWN_H
#define WINDOWS_SPAWN_H

#include <sys/types.h>

typedef struct {
	int from, to; /* both 0: none */
} posix_spawn_file_actions_t;

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int from, int to);
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const void *attributes, char *const *arguments, char *const *environment);

#endif
