/* Delivery: ring -> gaps -> filter -> the sink's intake. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "core/clock.h"
#include "host/delivery.h"
#include "host/header.h"
#include "host/log.h"
#include "host/thread.h"
#include "wire/datagram.h"
#include "wire/writer.h"

/* Pauses before the same is offered again; and how long after the deadline a thread may take to end. */
enum { PAUSE_FIRST_NS = 10000000, PAUSE_MOST_NS = 1000000000, GRACE_NS = 200000000 };

struct delivery {
	struct instance *instance;
	const struct sonde_sink_ops *ops;
	uint32_t intake, assertion;
	struct ring *ring; /* NULL: replayed */
	struct filter *filter;
	struct writer *writer;
	struct datagram_writer *datagrams;

	struct sonde_frame records; /* for the gap of what the ring dropped */
	struct sonde_view *views;   /* an instant with that gap, or with the sink's own tags */
	uint32_t room;
	struct sonde_stream_header *tagged;
	const struct sonde_stream_header *untagged; /* what `tagged` was made from */
	uint64_t begin;                             /* of the newest instant that was handed on */

	bool restart;     /* asked for by the sink */
	bool skipping;    /* the rest of a segment of which bytes were lost */
	bool later;       /* what was taken is delivered when the sink says so */
	int error;        /* of an emit, for the call that caused it */
	atomic_bool done; /* the sink wants no more */

	struct thread thread;
	bool running;
	void (*finished)(void *context);
	void *context;
	atomic_bool stopping, reopen;
	atomic_ullong give_up; /* CLOCK_MONOTONIC ns; with `stopping` */
	atomic_ullong bytes, retries, failures;
};

/* ---- Calls to the sink */

static bool pause_for(struct delivery *d, uint64_t ns)
{
	uint64_t until = clock_now(CLOCK_MONOTONIC) + ns;

	if (atomic_load(&d->stopping) && until > atomic_load(&d->give_up))
		return false;
	if (d->ring) {
		ring_pause(d->ring, until);
	} else {
		struct timespec deadline = clock_timespec(until);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
	}
	return true;
}

/* One call of the sink, as often as it says -EAGAIN. -ECANCELED: it is time to end. */
struct call {
	const struct sonde_view *view; /* view(), or */
	const void *bytes;             /* bytes(), or flush() */
	uint64_t length;
	uint32_t flags;
};

static int call_sink(struct delivery *d, const struct call *call)
{
	struct sonde_instance *self = &d->instance->self;

	if (call->view)
		return d->ops->view(self, call->view);
	if (call->bytes)
		return d->ops->bytes(self, call->bytes, call->length, call->flags);
	return d->ops->flush(self);
}

static int insist(struct delivery *d, const struct call *call)
{
	uint64_t pause = PAUSE_FIRST_NS;
	int err;

	/* A disk has room again some time, which an agent waits for and a command does not. */
	while ((err = call_sink(d, call)) == -EAGAIN || (err == -ENOSPC && d->ring)) {
		atomic_fetch_add(&d->retries, 1);
		if (pause == PAUSE_MOST_NS)
			log_line(SONDE_WARNING, d->instance->self.name,
				 "it is not ready; the newest instants are kept for it");
		if (!pause_for(d, pause))
			return -ECANCELED;
		pause = pause * 2 < PAUSE_MOST_NS ? pause * 2 : PAUSE_MOST_NS;
	}
	return err;
}

/* The writers' emit. An error is kept for the call that caused it: a writer that failed half-way would be of no use. */
static int emit(void *context, const void *bytes, size_t length, uint32_t flags)
{
	struct delivery *d = context;
	int err;

	if (d->skipping && !(flags & SONDE_FIRST)) {
		d->skipping = !(flags & SONDE_LAST);
		return 0;
	}
	d->skipping = false;
	err = insist(d, &(struct call) { .bytes = bytes, .length = length, .flags = flags });
	if (!err) {
		atomic_fetch_add(&d->bytes, length);
		return 0;
	}
	if (!d->error)
		d->error = err;
	d->skipping = d->writer && !(flags & SONDE_LAST);
	return 0;
}

static int take_error(struct delivery *d, int err)
{
	if (d->error)
		err = d->error;
	d->error = 0;
	/* A stream goes on in a segment of its own behind bytes that were lost. */
	if (err && d->writer && !d->restart) {
		writer_end_segment(d->writer);
		d->error = 0;
	}
	return err;
}

static int hand_on(struct delivery *d, const struct instant *instant)
{
	int err = 0;

	switch (d->intake) {
	case SONDE_TAKES_STREAM:
		if (d->restart) {
			d->restart = false;
			err = writer_restart(d->writer);
		}
		if (!err)
			err = writer_instant(d->writer, instant);
		return take_error(d, err);
	case SONDE_TAKES_DATAGRAMS:
		err = datagram_instant(d->datagrams, instant);
		return take_error(d, err);
	default:
		for (uint32_t i = 0; !err && i < instant->nviews; i++)
			err = insist(d, &(struct call) { .view = &instant->views[i] });
		return err;
	}
}

static int flush(struct delivery *d)
{
	int err = 0;

	if (d->writer)
		err = take_error(d, writer_flush(d->writer));
	if (!err && d->ops->flush)
		err = insist(d, &(struct call) { 0 });
	return err;
}

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
		err = hand_on(d, out);
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
	if (err == -EPIPE && !d->restart && !d->done) {
		d->done = true;
		if (d->finished)
			d->finished(d->context);
	} else if (err != -ECANCELED && !d->done) {
		log_line(SONDE_WARNING, d->instance->self.name, "an instant was dropped: %s",
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
	return atomic_load(&d->stopping) && clock_now(CLOCK_MONOTONIC) >= atomic_load(&d->give_up);
}

/* What is in the ring, for no longer than a flush interval; when stopping, until it is time to end. */
static void drain(struct delivery *d, uint64_t until)
{
	const struct instant *instant;
	uint64_t lost;

	while (!too_late(d) && (instant = ring_peek(d->ring, &lost))) {
		int err = d->done ? -EPIPE : deliver(d, instant, lost);

		if (!err && d->assertion == SONDE_REPLACED)
			ring_settle(d->ring, RING_REPLACED, ring_in_flight(d->ring));
		ring_take(d->ring);
		if (err)
			failed(d, err, d->writer ? UINT64_MAX : 1);
		else if (!d->ops->flush && !d->writer)
			settle(d);
		if (!atomic_load(&d->stopping) && clock_now(CLOCK_MONOTONIC) >= until)
			return;
	}
}

static void deliver_batch(struct delivery *d, uint64_t until)
{
	int err;

	if (atomic_exchange(&d->reopen, false) && d->ops->reopen)
		d->ops->reopen(&d->instance->self);
	drain(d, until);
	if (d->done)
		return;
	err = flush(d);
	d->later = err == -EINPROGRESS;
	if (err && !d->later)
		failed(d, err, UINT64_MAX);
	else
		settle(d);
}

static void close_writer(struct delivery *d)
{
	struct writer *writer = d->writer;

	if (!writer)
		return;
	if (d->done)
		d->skipping = true;
	writer_close(writer);
	d->writer = NULL;
	d->error = 0;
}

static void *run(void *context)
{
	struct delivery *d = context;
	uint64_t interval = d->instance->keys.flush;
	uint64_t deadline = clock_now(CLOCK_MONOTONIC) + interval;
	struct ring_counts counts;

	while (!atomic_load(&d->stopping)) {
		uint64_t now;

		ring_wait(d->ring, interval ? deadline : 0);
		now = clock_now(CLOCK_MONOTONIC);
		if (interval && deadline <= now)
			deadline += (now - deadline) / interval * interval + interval;
		deliver_batch(d, now + (interval ? interval : PAUSE_MOST_NS));
	}
	deliver_batch(d, 0);
	close_writer(d);
	if (d->ops->flush && !d->done)
		d->ops->flush(&d->instance->self);
	ring_counts(d->ring, &counts);
	if (counts.queued)
		log_line(SONDE_WARNING, d->instance->self.name,
			 "%llu instants at the end were not delivered",
			 (unsigned long long)counts.queued);
	ring_abandon(d->ring);
	return NULL;
}

/* ---- Life */

static int make_writer(struct delivery *d, char *why, size_t size)
{
	struct sonde_instance *self = &d->instance->self;
	struct writer_options stream = { .emit = emit, .context = d };
	struct datagram_options datagrams = { .emit = emit, .context = d };

	if (d->intake == SONDE_TAKES_VIEWS ? !d->ops->view : !d->ops->bytes) {
		snprintf(why, size, "the plugin lacks the function for its intake");
		return -EINVAL;
	}
	if (d->intake == SONDE_TAKES_STREAM) {
		if (getrandom(stream.id, sizeof stream.id, 0) < 0)
			return -errno;
		d->writer = writer_new(&stream);
		return d->writer ? 0 : -ENOMEM;
	}
	if (d->intake == SONDE_TAKES_DATAGRAMS) {
		if (d->ops->datagram_size)
			datagrams.size = d->ops->datagram_size(self);
		d->datagrams = datagram_writer_new(&datagrams);
		return d->datagrams ? 0 : -ENOMEM;
	}
	return 0;
}

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
	d->intake = d->ops->choose_intake ? d->ops->choose_intake(self) : d->ops->intake;
	d->assertion =
		d->ops->choose_assertion ? d->ops->choose_assertion(self) : d->ops->assertion;
	*err = filter_new(&instance->filter, &d->filter, why, size);
	if (!*err)
		*err = records_make(&d->records);
	if (!*err)
		*err = make_writer(d, why, size);
	if (!*err && live) {
		d->ring = ring_new(instance->keys.ring, instance->keys.flush == 0);
		*err = d->ring ? 0 : -ENOMEM;
	}
	if (*err) {
		delivery_free(d);
		return NULL;
	}
	instance->role = d;
	return d;
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
	close_writer(d);
	if (d->datagrams)
		datagram_writer_free(d->datagrams);
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
	return atomic_load(&d->done);
}

void delivery_end(struct delivery *d, const char *reason)
{
	stream_end_one(d->instance->stream, d->ring, reason);
}

void delivery_ask_stop(struct delivery *d, uint64_t deadline)
{
	stream_detach(d->instance->stream, d->ring);
	atomic_store(&d->give_up, deadline);
	atomic_store(&d->stopping, true);
	ring_wake(d->ring);
}

int delivery_join(struct delivery *d)
{
	int err = 0;

	if (d->running)
		err = thread_join(&d->thread, atomic_load(&d->give_up) + GRACE_NS);
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
	return deliver(d, instant, 0);
}

int delivery_finish(struct delivery *d)
{
	int err = flush(d);

	d->done = err == -EPIPE;
	close_writer(d);
	if (!err && d->ops->flush)
		err = d->ops->flush(&d->instance->self);
	return err == -EINPROGRESS ? 0 : err;
}

void delivery_counts(struct delivery *d, struct delivery_counts *counts)
{
	ring_counts(d->ring, &counts->ring);
	counts->bytes = atomic_load(&d->bytes);
	counts->retries = atomic_load(&d->retries);
	counts->failures = atomic_load(&d->failures);
}

int delivery_restart(struct instance *instance)
{
	struct delivery *d = instance->role;

	if (!d || d->intake != SONDE_TAKES_STREAM)
		return -EINVAL;
	d->restart = true;
	return 0;
}

void delivery_acknowledge(struct instance *instance, uint64_t instants)
{
	struct delivery *d = instance->role;

	if (d && d->ring)
		ring_settle(d->ring, RING_DELIVERED, instants);
}
