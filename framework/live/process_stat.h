/* /proc/PID/stat of a process that the host looks after (proc_pid_stat(5)). */
#ifndef HOST_PROCESS_STAT_H
#define HOST_PROCESS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_stat {
	char state;            /* Z: it has ended, and nobody has waited for it */
	uint64_t utime, stime; /* ticks of USER_HZ */
	uint64_t start;        /* ticks since boot: with the pid, which process it is */
};

/* 0 or a negative errno: -ENOENT or -ESRCH where there is no such process. Allocates nothing. */
int process_stat(pid_t pid, struct process_stat *stat);

/* The text of the file. False where it is not one. */
bool process_stat_parse(const char *text, size_t length, struct process_stat *stat);

#endif
