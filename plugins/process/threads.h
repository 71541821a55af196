/* The threads of processes (threads = yes): a row each, and their scheduling values summed, since /proc/PID/schedstat tells
 * of the leader alone. */
#ifndef THREADS_H
#define THREADS_H

#include "bpf.h"

/* What a thread had at the sample before: the sum of a process must not fall when one ends. */
struct thread {
	struct process_sched sched;
	struct record_told told;
	uint64_t start; /* ticks after boot: the number may be another's by now */
	uint32_t tid, reserved;
};

struct threads {
	struct thread *now, *before; /* by process, then by tid */
	uint32_t count;              /* of `now` */
	uint32_t missed;             /* found no room in this sample */
	uint32_t capacity, asked;    /* as in struct tasks */
	bool delays;                 /* as in struct state */
};

/* Room for `count` threads and some to come. 0, or -ENOMEM from start(). */
int threads_reserve(struct sonde_instance *self, struct threads *threads, uint32_t count);

/* At the start of each sample. */
void threads_begin(struct threads *threads);

/* Reads the threads of a process into rows and adds what they did to task->threads. `leader` is /proc/PID/schedstat, or
 * NULL where it gave nothing. False where the sum is not known in this sample. */
bool threads_take(struct sonde_instance *self, struct sonde_frame *frame, struct threads *threads,
		  struct task *task, uint32_t sample, uint64_t num_threads,
		  const struct process_sched *leader);

/* The same from the records of the process, of which `leader` is the first. */
bool threads_take_records(struct sonde_instance *self, struct sonde_frame *frame,
			  struct threads *threads, const struct bpf *bpf, struct task *task,
			  uint32_t sample, struct record leader);

#endif
