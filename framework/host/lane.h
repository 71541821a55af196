/* A lane: a thread that samples collectors back to back, at absolute CLOCK_MONOTONIC deadlines. */
#ifndef HOST_LANE_H
#define HOST_LANE_H

#include <pthread.h>

#include "host/instance.h"
#include "host/thread.h"

enum last_sample {
	LAST_NONE,
	LAST_IF_OLD, /* where the newest is not of just now */
	LAST_ALWAYS, /* what was watched has ended: its totals are those of now, however short it was */
};

struct lane {
	char name[64];
	_Atomic(struct instance *) sampling; /* the one that is sampled now; NULL: none */
	struct stream *stream;
	struct instance **members;
	size_t nmembers;
	struct sonde_view *views;
	uint64_t origin;       /* of the grid, CLOCK_MONOTONIC ns; 0: its first wake-up */
	uint64_t max_instants; /* 0: no bound */
	/* Called in its thread, after its first instant and after its last one of max_instants. */
	void (*happened)(void *context, struct lane *lane);
	void *context;

	struct thread thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool running, stopping, sampled_once;
	enum last_sample last_sample;
	uint64_t ticked; /* newest tick, CLOCK_MONOTONIC ns */
	atomic_ullong instants, wakeups;
};

struct lane *lane_new(const char *name, struct stream *stream);
/* Only while it does not run. An instance that has been sampled before keeps its grid. 0 or -ENOMEM. */
int lane_add(struct lane *lane, struct instance *instance);
void lane_remove(struct lane *lane, const struct instance *instance);

/* 0 or a negative errno. */
int lane_start(struct lane *lane);

/* Asks it to stop after the sample that it is taking, or after a last one, so that what happened until the end is seen. lane_join() waits for that until `deadline` (CLOCK_MONOTONIC ns):
 * 0, or -ETIMEDOUT where a collector hangs; then neither lane nor members may be freed. */
void lane_ask_stop(struct lane *lane, enum last_sample last_sample);
int lane_join(struct lane *lane, uint64_t deadline);
/* Takes back lane_ask_stop() of a lane that could not be joined. 0 or negative errno. */
int lane_resume(struct lane *lane);
void lane_free(struct lane *lane);

#endif
