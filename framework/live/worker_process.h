/* Workers as processes: started, talked to, ended, waited for; and what they cost. */
#ifndef HOST_WORKER_PROCESS_H
#define HOST_WORKER_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/isolated.h"

struct worker_process {
	struct workers *workers;
	struct worker_process *next;
	char *group; /* NULL: of one instance */
	pid_t pid;   /* 0: none */
	int fd;
	pid_t stuck; /* SIGKILL did not end it: in uninterruptible sleep. Not replaced before it is gone. */
	uint64_t pause, retry; /* before the next start; when it may be, CLOCK_MONOTONIC ns */
	uint64_t born;         /* CLOCK_MONOTONIC ns */
	char text[200];        /* what became of it last */
	/* Held for a whole exchange, by the lane that samples its tenants or by a reload that adds one; may be taken twice. */
	pthread_mutex_t busy;
	struct isolated **tenants;
	size_t ntenants;
};

struct workers {
	struct worker_process *first;
	struct foreign *foreign;
	atomic_ullong give_up; /* CLOCK_MONOTONIC ns: no call lasts longer; 0: not yet known */
	pthread_mutex_t lock;  /* of the list, of pids, and of: */
	struct worker_cpu ended;
};

/* That of a group, or a new one, which does not run yet. */
struct worker_process *worker_process_get(struct workers *workers, const char *group);

/* 0 or a negative errno. */
int worker_process_spawn(struct worker_process *process);

/* It is gone, or with `kill_it` is made to go: not waited for longer than two half seconds. What became of it is its text,
 * where that is not said yet. */
void worker_process_end(struct worker_process *process, bool kill_it);

/* Whether one that was stuck still is. */
bool worker_process_stuck(struct worker_process *process);

/* All of the bytes, until the deadline or until the pipeline gives up: -ETIMEDOUT. -EPIPE: it is gone. */
int worker_process_send(struct worker_process *process, const void *bytes, size_t length,
			uint64_t deadline);
int worker_process_receive(struct worker_process *process, void *bytes, size_t length,
			   uint64_t deadline);

#endif
