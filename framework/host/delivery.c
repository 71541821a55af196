/* Delivery: ring -> gaps -> filter -> the sink's intake. */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "host/delivery.h"
#include "host/header.h"
#include "host/intake.h"
#include "host/log.h"
#include "host/thread.h"

/* How long after the deadline a thread may take to end; and a batch, where there is no flush interval. */
enum { GRACE_NS = 200000000, BATCH_NS = 1000000000 };

struct delivery {
	struct instance *instance;
	const struct sonde_sink_ops *ops;
	uint32_t assertion;
	struct ring *ring; /* NULL: replayed */
	struct filter *filter;
	struct intake intake;

	struct sonde_frame records; /* for the gap of what the ring dropped */
	struct sonde_view *views;   /* an instant with that gap, or with the sink's own tags */
	uint32_t room;
	struct sonde_stream_header *tagged;
	const struct sonde_stream_header *untagged; /* what `tagged` was made from */
	uint64_t begin;                             /* of the newest instant that was handed on */

	bool later; /* what was taken is delivered when the sink says so */

	struct thread thread;
	bool running;
	void (*finished)(void *context);
	void *context;
	atomic_bool reopen;
	atomic_ullong failures;
};

/* ---- What a sink gets of an instant */

static bool make_room(struct delivery *d, uint32_t nviews)
{
	struct sonde_view *views;

	if (nviews <= d->room)
		return true;
	views = realloc(d->views, nviews * sizeof *views);
	if (!views)
		return false;
	d->views = views;
	d->room = nviews;
	return true;
}

/* The gap before it, as a row of the instant that comes after. */
static void add_gap(struct delivery *d, struct instant *instant, uint64_t lost)
{
	struct gap gap = { "",       "dropped",      "this sink did not keep up",
			   d->begin, instant->begin, lost };

	frame_begin(&d->records);
	if (gap_row(&d->records, &gap) || !make_room(d, instant->nviews + RECORD_TABLES))
		return;
	memcpy(d->views + 1, instant->views, instant->nviews * sizeof *d->views);
	record_views(&d->records, d->views);
	instant->views = d->views;
	instant->nviews++;
	instant_stamp(instant, d->views);
}

/* Tags of its own, of this host's instants alone. */
static void add_tags(struct delivery *d, struct instant *instant)
{
	const struct sonde_stream_header *header = instant->header;

	if (!d->instance->keys.tags[0] ||
	    header->start_id != d->instance->stream->headers[0]->start_id)
		return;
	if (d->untagged != header) {
		struct sonde_stream_header *tagged =
			header_with_tags(header, d->instance->keys.tags);

		if (!tagged)
			return;
		/* The old one is not needed: the writers copy what they keep. */
		free(d->tagged);
		d->tagged = tagged;
		d->untagged = header;
	}
	if (instant->views != d->views) {
		if (!make_room(d, instant->nviews))
			return;
		memcpy(d->views, instant->views, instant->nviews * sizeof *d->views);
		instant->views = d->views;
	}
	instant->header = d->tagged;
	instant_stamp(instant, d->views);
}

static int deliver(struct delivery *d, const struct instant *given, uint64_t lost)
{
	struct instant instant = *given;
	const struct instant *out = &instant;
	int err;

	if (lost)
		add_gap(d, &instant, lost);
	add_tags(d, &instant);
	err = filter_instant(d->filter, &instant, &out);
	if (!err && out)
		err = intake_instant(&d->intake, out);
	d->begin = given->begin;
	return err;
}

/* ---- The thread */

/* Of a stream, the bytes that were lost may be those of all instants since the flush before. -EPIPE of a sink that does not
 * ask to begin anew: whoever reads has enough. */
static void failed(struct delivery *d, int err, uint64_t instants)
{
	atomic_fetch_add(&d->failures, 1);
	ring_settle(d->ring, RING_DROPPED, instants);
	if (err == -EPIPE && !d->intake.restart && !d->intake.done) {
		d->intake.done = true;
		if (d->finished)
			d->finished(d->context);
	} else if (err != -ECANCELED && !d->intake.done) {
		instance_log(d->instance, SONDE_WARNING, "an instant was dropped: %s",
			     strerror(-err));
	}
}

/* What was taken and not yet settled is delivered: by flush(), or by each call where there is none. */
static void settle(struct delivery *d)
{
	if (d->assertion != SONDE_REPLACED && !d->later)
		ring_settle(d->ring, RING_DELIVERED, UINT64_MAX);
}

static bool too_late(const struct delivery *d)
{
	return atomic_load(&d->intake.stopping) &&
	       clock_now(CLOCK_MONOTONIC) >= atomic_load(&d->intake.give_up);
}

/* What is in the ring, for no longer than a flush interval; when stopping, until it is time to end. */
static void drain(struct delivery *d, uint64_t until)
{
	const struct instant *instant;
	uint64_t lost;

	while (!too_late(d) && (instant = ring_peek(d->ring, &lost))) {
		int err = d->intake.done ? -EPIPE : deliver(d, instant, lost);

		if (!err && d->assertion == SONDE_REPLACED)
			ring_settle(d->ring, RING_REPLACED, ring_in_flight(d->ring));
		ring_take(d->ring);
		if (err)
			failed(d, err, d->intake.writer ? UINT64_MAX : 1);
		else if (!d->ops->flush && !d->intake.writer)
			settle(d);
		if (!atomic_load(&d->intake.stopping) && clock_now(CLOCK_MONOTONIC) >= until)
			return;
	}
}

static void deliver_batch(struct delivery *d, uint64_t until)
{
	int err;

	if (atomic_exchange(&d->reopen, false) && d->ops->reopen)
		d->ops->reopen(&d->instance->self);
	drain(d, until);
	if (d->intake.done)
		return;
	err = intake_flush(&d->intake);
	d->later = err == -EINPROGRESS;
	if (err && !d->later)
		failed(d, err, UINT64_MAX);
	else
		settle(d);
}

static void *run(void *context)
{
	struct delivery *d = context;
	uint64_t interval = d->instance->keys.flush;
	uint64_t deadline = clock_now(CLOCK_MONOTONIC) + interval;
	struct ring_counts counts;

	while (!atomic_load(&d->intake.stopping)) {
		uint64_t now;

		ring_wait(d->ring, interval ? deadline : 0);
		now = clock_now(CLOCK_MONOTONIC);
		if (interval && deadline <= now)
			deadline += (now - deadline) / interval * interval + interval;
		deliver_batch(d, now + (interval ? interval : BATCH_NS));
	}
	deliver_batch(d, 0);
	intake_close(&d->intake);
	if (d->ops->flush && !d->intake.done)
		d->ops->flush(&d->instance->self);
	ring_counts(d->ring, &counts);
	if (counts.queued)
		instance_log(d->instance, SONDE_WARNING,
			     "%llu instants at the end were not delivered",
			     (unsigned long long)counts.queued);
	ring_abandon(d->ring);
	return NULL;
}

/* ---- Life */

struct delivery *delivery_new(struct instance *instance, bool live, int *err, char *why,
			      size_t size)
{
	struct delivery *d = calloc(1, sizeof *d);
	struct sonde_instance *self = &instance->self;

	why[0] = '\0';
	*err = -ENOMEM;
	if (!d)
		return NULL;
	d->instance = instance;
	d->ops = &instance->plugin->ops.sink;
	d->assertion =
		d->ops->choose_assertion ? d->ops->choose_assertion(self) : d->ops->assertion;
	*err = filter_new(&instance->filter, &d->filter, why, size);
	if (!*err)
		*err = records_make(&d->records);
	if (!*err)
		*err = intake_open(&d->intake, instance, why, size);
	if (!*err && live) {
		d->ring = d->intake.ring = ring_new(instance->keys.ring, instance->keys.flush == 0);
		*err = d->ring ? 0 : -ENOMEM;
	}
	if (*err) {
		delivery_free(d);
		return NULL;
	}
	instance->role = d;
	return d;
}

struct instance *delivery_instance_of(const struct delivery *d)
{
	return d->instance;
}

const char *delivery_unmatched(const struct delivery *d)
{
	return filter_unmatched(d->filter);
}

void delivery_free(struct delivery *d)
{
	if (!d)
		return;
	if (d->instance->role == d)
		d->instance->role = NULL;
	intake_close(&d->intake);
	filter_free(d->filter);
	frame_free(&d->records);
	ring_free(d->ring);
	free(d->tagged);
	free(d->views);
	free(d);
}

int delivery_start(struct delivery *d, void (*finished)(void *context), void *context)
{
	int err = stream_attach(d->instance->stream, d->ring);

	d->finished = finished;
	d->context = context;
	if (!err)
		err = thread_start(&d->thread, d->instance->self.name, run, d);
	d->running = !err;
	return err;
}

bool delivery_finished(struct delivery *d)
{
	return atomic_load(&d->intake.done);
}

void delivery_end(struct delivery *d, const char *reason)
{
	stream_end_one(d->instance->stream, d->ring, reason);
}

void delivery_ask_stop(struct delivery *d, uint64_t deadline)
{
	stream_detach(d->instance->stream, d->ring);
	atomic_store(&d->intake.give_up, deadline);
	atomic_store(&d->intake.stopping, true);
	ring_wake(d->ring);
}

int delivery_join(struct delivery *d)
{
	int err = 0;

	if (d->running)
		err = thread_join(&d->thread, atomic_load(&d->intake.give_up) + GRACE_NS);
	d->running = false;
	if (err) {
		log_line(SONDE_ERROR, d->instance->self.name,
			 "it hangs; what waits for it is lost");
		thread_leave(&d->thread);
	}
	return err;
}

void delivery_reopen(struct delivery *d)
{
	atomic_store(&d->reopen, true);
	ring_wake(d->ring);
}

int delivery_instant(struct delivery *d, const struct instant *instant)
{
	int err = deliver(d, instant, 0);

	d->intake.done = err != 0;
	return err;
}

int delivery_finish(struct delivery *d)
{
	int err = d->intake.done ? 0 : intake_flush(&d->intake);

	if (err && err != -EINPROGRESS)
		d->intake.done = true;
	intake_close(&d->intake);
	if (!d->intake.done && d->ops->flush)
		err = d->ops->flush(&d->instance->self);
	return err == -EINPROGRESS ? 0 : err;
}

void delivery_counts(struct delivery *d, struct delivery_counts *counts)
{
	ring_counts(d->ring, &counts->ring);
	counts->bytes = atomic_load(&d->intake.bytes);
	counts->retries = atomic_load(&d->intake.retries);
	counts->failures = atomic_load(&d->failures);
}

int delivery_restart(struct instance *instance)
{
	struct delivery *d = instance->role;

	if (!d || d->intake.takes != SONDE_TAKES_STREAM)
		return -EINVAL;
	d->intake.restart = true;
	return 0;
}

void delivery_acknowledge(struct instance *instance, uint64_t instants)
{
	struct delivery *d = instance->role;

	if (d && d->ring)
		ring_settle(d->ring, RING_DELIVERED, instants);
}
