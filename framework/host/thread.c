/* Threads of the host. */
#include <signal.h>
#include <stdio.h>

#include "core/clock.h"
#include "host/thread.h"

/* Address space; what is not touched costs nothing. Resolvers and msgpack are the deepest callees. */
enum { STACK = 256 << 10 };

int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *context)
{
	pthread_attr_t attributes;
	char shown[16];
	sigset_t all, before;
	int err;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, &attributes, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (err)
		return -err;
	snprintf(shown, sizeof shown, "%s", name);
	pthread_setname_np(*thread, shown);
	return 0;
}

int thread_join(pthread_t thread, uint64_t deadline)
{
	struct timespec until = clock_timespec(deadline);

	return -pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until);
}
