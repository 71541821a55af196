/* Scheduling values summed over the threads of a process (threads = yes): /proc/PID/schedstat tells of its leader alone. */
#ifndef THREADS_H
#define THREADS_H

#include "tasks.h"

/* What a thread had at the sample before: the sum of a process must not fall when one ends. */
struct thread {
	struct process_sched sched;
	uint32_t tid, reserved;
};

struct threads {
	struct thread *now, *before; /* by process, then by tid */
	uint32_t count;              /* of `now` */
	uint32_t missed;             /* found no room in this sample */
	uint32_t capacity, asked;    /* as in struct tasks */
};

/* Room for `count` threads and some to come. 0, or -ENOMEM from start(). */
int threads_reserve(struct sonde_instance *self, struct threads *threads, uint32_t count);

/* At the start of each sample. */
void threads_begin(struct threads *threads);

/* Reads the threads of a process and adds what they did to task->threads. `leader` is /proc/PID/schedstat, or NULL where it
 * gave nothing. False where the sum is not known in this sample. */
bool threads_sum(struct sonde_instance *self, struct threads *threads, struct task *task,
		 uint32_t sample, uint64_t num_threads, const struct process_sched *leader);

#endif
