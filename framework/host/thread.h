/* Threads of the host: small stacks, signals for the main thread alone, joined by a deadline. */
#ifndef HOST_THREAD_H
#define HOST_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct thread {
	pthread_t id;
	pthread_mutex_t lock;
	pthread_cond_t end;
	bool ended;
	void *(*run)(void *context);
	void *context;
};

/* 0 or a negative errno. The name is cut to 15 bytes, as the kernel would (pthread_setname_np(3)). */
int thread_start(struct thread *thread, const char *name, void *(*run)(void *), void *context);

/* Waits until `deadline` (CLOCK_MONOTONIC ns): 0, or -ETIMEDOUT, and then it may be tried again. Once for each start. */
int thread_join(struct thread *thread, uint64_t deadline);

/* One that hangs is left to itself, until the process ends. */
void thread_leave(struct thread *thread);

#endif
