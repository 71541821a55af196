/* The analysis while it lives. */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "host/judge.h"
#include "host/log.h"
#include "host/thread.h"
#include "window/analysis.h"

/* Instants are folded in batches, so that the thread wakes seldom; what waits at most. */
enum { RING_BYTES = 8 << 20 };
static const uint64_t fold_every = 5ull * NS_PER_S;

struct judge {
	struct stream *stream;
	struct ring *ring;
	struct analysis *analysis;
	struct sonde_frame records;
	uint64_t every; /* shortest of the analyzers' */
	uint64_t length;
	struct thread thread;
	bool running;
	atomic_bool stopping;
};

struct judge *judge_new(struct stream *stream, uint64_t length)
{
	struct judge *judge = calloc(1, sizeof *judge);

	if (!judge)
		return NULL;
	judge->stream = stream;
	judge->length = length;
	judge->every = UINT64_MAX;
	judge->ring = ring_new(RING_BYTES, false);
	judge->analysis = analysis_new();
	if (judge->ring && judge->analysis && records_make(&judge->records) == 0)
		return judge;
	judge_free(judge);
	return NULL;
}

void judge_free(struct judge *judge)
{
	if (!judge)
		return;
	analysis_free(judge->analysis);
	frame_free(&judge->records);
	ring_free(judge->ring);
	free(judge);
}

int judge_teach(struct analysis *analysis, struct instance *instance, char *why, size_t size)
{
	int err =
		analysis_add(analysis, &instance->self, &instance->plugin->ops.analyzer, why, size);

	if (err)
		return err;
	analysis_options(analysis, &instance->self, instance->plugin->options,
			 instance->plugin->noptions);
	return analysis_ignore(analysis, &instance->self, &instance->keys.ignore);
}

int judge_add(struct judge *judge, struct instance *instance, char *why, size_t size)
{
	const struct section_keys *keys = &instance->keys;
	int err;

	if (keys->every < judge->every)
		judge->every = keys->every;
	err = judge_teach(judge->analysis, instance, why, size);
	if (err)
		return err;
	analysis_hysteresis(judge->analysis, &instance->self, keys->hold, keys->clear,
			    keys->repeat);
	return 0;
}

static void fold(struct judge *judge)
{
	const struct instant *instant;
	uint64_t lost;

	while ((instant = ring_peek(judge->ring, &lost))) {
		if (analysis_instant(judge->analysis, instant))
			log_line(SONDE_ERROR, NULL, "no memory to analyse an instant");
		ring_take(judge->ring);
		ring_settle(judge->ring, RING_DELIVERED, 1);
	}
}

/* A run that ends within one judgement, or with what it watches, is judged as a whole. */
static bool judges_whole(const struct judge *judge)
{
	return judge->length && (judge->length == UINT64_MAX || judge->length <= judge->every);
}

static void pronounce(struct judge *judge)
{
	int err;

	frame_begin(&judge->records);
	if (judges_whole(judge))
		err = analysis_judge(judge->analysis, &judge->records);
	else
		err = analysis_live(judge->analysis, clock_now(CLOCK_BOOTTIME), &judge->records);
	if (err)
		log_line(SONDE_ERROR, NULL, "the analysis failed: %s", strerror(-err));
	else
		stream_publish_records(judge->stream, &judge->records);
}

static void *run(void *context)
{
	struct judge *judge = context;
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	uint64_t folded = now, judged = now;

	while (!atomic_load(&judge->stopping)) {
		uint64_t next = folded + fold_every;

		ring_wait(judge->ring, next < judged + judge->every ? next : judged + judge->every);
		now = clock_now(CLOCK_MONOTONIC);
		folded = now;
		fold(judge);
		if (!judges_whole(judge) && now - judged >= judge->every) {
			pronounce(judge);
			judged = now;
		}
	}
	fold(judge);
	pronounce(judge);
	return NULL;
}

void judge_inherit(struct judge *judge, struct judge *from)
{
	analysis_inherit(judge->analysis, from->analysis);
}

int judge_start(struct judge *judge)
{
	int err = stream_attach(judge->stream, judge->ring);

	if (!err)
		err = thread_start(&judge->thread, "analysis", run, judge);
	judge->running = !err;
	return err;
}

int judge_stop(struct judge *judge, uint64_t deadline)
{
	int err = 0;

	stream_detach(judge->stream, judge->ring);
	atomic_store(&judge->stopping, true);
	ring_wake(judge->ring);
	if (judge->running)
		err = thread_join(&judge->thread, deadline);
	if (err)
		log_line(SONDE_ERROR, NULL, "an analyzer hangs");
	else
		judge->running = false;
	return err;
}
