/* Threads of the host: small stacks, signals for the main thread alone. */
#ifndef HOST_THREAD_H
#define HOST_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* 0 or a negative errno. The name is cut to 15 bytes, as the kernel would (pthread_setname_np(3)). */
int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *context);

/* Waits until `deadline` (CLOCK_MONOTONIC ns): 0 or -ETIMEDOUT, and then it is left to itself. */
int thread_join(pthread_t thread, uint64_t deadline);

#endif
