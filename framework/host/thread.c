/* Threads of the host. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "core/clock.h"
#include "host/thread.h"

/* Address space; what is not touched costs nothing. Resolvers and msgpack are the deepest callees. */
enum { STACK = 256 << 10 };

static void *run_thread(void *context)
{
	struct thread *thread = context;

	thread->run(thread->context);
	pthread_mutex_lock(&thread->lock);
	thread->ended = true;
	pthread_cond_signal(&thread->end);
	pthread_mutex_unlock(&thread->lock);
	return NULL;
}

static void init(struct thread *thread, void *(*run)(void *), void *context)
{
	pthread_condattr_t monotonic;

	*thread = (struct thread) { .run = run, .context = context };
	pthread_mutex_init(&thread->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&thread->end, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

int thread_start(struct thread *thread, const char *name, void *(*run)(void *), void *context)
{
	pthread_attr_t attributes;
	char shown[16];
	sigset_t all, before;
	int err;

	init(thread, run, context);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread->id, &attributes, run_thread, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (err)
		return -err;
	snprintf(shown, sizeof shown, "%s", name);
	pthread_setname_np(thread->id, shown);
	return 0;
}

int thread_join(struct thread *thread, uint64_t deadline)
{
	struct timespec until = clock_timespec(deadline);
	bool ended;

	pthread_mutex_lock(&thread->lock);
	while (!thread->ended &&
	       pthread_cond_timedwait(&thread->end, &thread->lock, &until) != ETIMEDOUT)
		;
	ended = thread->ended;
	pthread_mutex_unlock(&thread->lock);
	if (!ended)
		return -ETIMEDOUT;
	pthread_join(thread->id, NULL);
	pthread_cond_destroy(&thread->end);
	pthread_mutex_destroy(&thread->lock);
	return 0;
}

void thread_leave(struct thread *thread)
{
	pthread_detach(thread->id);
}
