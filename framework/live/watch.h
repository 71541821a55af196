/* Waiting for the end of a process: by pidfd_open(2), or where there is none by looking at its start time. */
#ifndef HOST_WATCH_H
#define HOST_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct watch {
	pid_t pid; /* 0: nothing is watched */
	int fd;    /* readable when it has ended; -1: watch_ended() is to be asked, each WATCH_MS */
	uint64_t start; /* without fd: its start time */
};

enum { WATCH_MS = 100 };

/* 0; -ESRCH where there is no such process. */
int watch_open(struct watch *watch, pid_t pid);
bool watch_ended(const struct watch *watch);
void watch_close(struct watch *watch);

#endif
