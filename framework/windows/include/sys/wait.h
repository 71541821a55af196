/* waitpid(2) of what posix_spawn(3) started; a status is what the program returned. */
#ifndef WINDOWS_WAIT_H
#define WINDOWS_WAIT_H

#include <sys/types.h>

pid_t waitpid(pid_t pid, int *status, int options);

#endif
