/* From instants to calls of a sink. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/records.h"
#include "host/intake.h"
#include "wire/datagram.h"
#include "wire/writer.h"

/* Pauses before the same is offered again. */
enum { PAUSE_FIRST_NS = 10000000, PAUSE_MOST_NS = 1000000000 };

/* ---- Calls */

static bool pause_for(struct intake *in, uint64_t ns)
{
	uint64_t until = clock_now(CLOCK_MONOTONIC) + ns;

	if (atomic_load(&in->stopping) && until > atomic_load(&in->give_up))
		return false;
	if (in->ring) {
		ring_pause(in->ring, until);
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

static inline int call_sink(struct intake *in, const struct call *call)
{
	struct sonde_instance *self = &in->instance->self;

	if (call->view)
		return in->ops->view(self, call->view);
	if (call->bytes)
		return in->ops->bytes(self, call->bytes, call->length, call->flags);
	return in->ops->flush(self);
}

/* A disk has room again some time, which an agent waits for and a command does not. */
static inline bool will_be_ready(const struct intake *in, int err)
{
	return err == -EAGAIN || (err == -ENOSPC && in->ring);
}

/* The call again and again, until it is taken, or is an error. */
static int wait_for(struct intake *in, const struct call *call)
{
	uint64_t pause = PAUSE_FIRST_NS;
	int err;

	do {
		atomic_fetch_add(&in->retries, 1);
		if (pause == PAUSE_MOST_NS)
			instance_log(in->instance, SONDE_WARNING,
				     "it is not ready; the newest instants are kept for it");
		if (!pause_for(in, pause))
			return -ECANCELED;
		pause = pause * 2 < PAUSE_MOST_NS ? pause * 2 : PAUSE_MOST_NS;
		err = call_sink(in, call);
	} while (will_be_ready(in, err));
	return err;
}

static inline int insist(struct intake *in, const struct call *call)
{
	int err = call_sink(in, call);

	return will_be_ready(in, err) ? wait_for(in, call) : err;
}

/* The writers' emit. An error is kept for the call that caused it: a writer that failed half-way would be of no use. */
static int emit(void *context, const void *bytes, size_t length, uint32_t flags)
{
	struct intake *in = context;
	int err;

	if (in->skipping && !(flags & SONDE_FIRST)) {
		in->skipping = !(flags & SONDE_LAST);
		return 0;
	}
	in->skipping = false;
	err = insist(in, &(struct call) { .bytes = bytes, .length = length, .flags = flags });
	in->broken = err != 0;
	if (!err) {
		atomic_fetch_add(&in->bytes, length);
		return 0;
	}
	if (!in->error)
		in->error = err;
	in->skipping = in->writer && !(flags & SONDE_LAST);
	return 0;
}

static int take_error(struct intake *in, int err)
{
	if (in->error)
		err = in->error;
	in->error = 0;
	/* A stream goes on in a segment of its own behind bytes that were lost. */
	if (err && in->writer && !in->restart) {
		writer_end_segment(in->writer);
		in->error = 0;
	}
	return err;
}

/* What the sink goes on from ends as a stream that `next` does not belong to. Where its last bytes were not taken, no more are
 * offered. */
static int end_stream(struct intake *in, const struct instant *next)
{
	struct sonde_view views[RECORD_TABLES];
	struct instant end = *next;
	struct sonde_frame records;
	int err;

	if (in->broken)
		return 0;
	err = records_make(&records);
	if (err)
		return err;
	records_end(&records, "rotation", next->sequence - 1);
	end.nviews = record_views(&records, views);
	end.views = views;
	end.changes = NULL;
	instant_stamp(&end, views);
	err = writer_instant(in->writer, &end);
	frame_free(&records);
	return err;
}

int intake_instant(struct intake *in, const struct instant *instant)
{
	int err = 0;

	switch (in->takes) {
	case SONDE_TAKES_STREAM:
		if (in->restart) {
			in->restart = false;
			err = end_stream(in, instant);
			if (!err)
				err = writer_restart(in->writer);
		}
		if (!err)
			err = writer_instant(in->writer, instant);
		return take_error(in, err);
	case SONDE_TAKES_DATAGRAMS:
		err = datagram_instant(in->datagrams, instant);
		return take_error(in, err);
	default:
		for (uint32_t i = 0; !err && i < instant->nviews; i++)
			err = insist(in, &(struct call) { .view = &instant->views[i] });
		return err;
	}
}

int intake_flush(struct intake *in)
{
	int err = 0;

	if (in->writer)
		err = take_error(in, writer_flush(in->writer));
	if (!err && in->ops->flush)
		err = insist(in, &(struct call) { 0 });
	return err;
}

/* ---- Life */

static int make_writer(struct intake *in, char *why, size_t size)
{
	struct sonde_instance *self = &in->instance->self;
	struct writer_options stream = { .emit = emit, .context = in };
	struct datagram_options datagrams = { .emit = emit, .context = in };

	if (in->takes == SONDE_TAKES_VIEWS ? !in->ops->view : !in->ops->bytes) {
		snprintf(why, size, "the plugin lacks the function for its intake");
		return -EINVAL;
	}
	if (in->takes == SONDE_TAKES_STREAM) {
		if (getentropy(stream.id, sizeof stream.id))
			return -errno;
		in->writer = writer_new(&stream);
		return in->writer ? 0 : -ENOMEM;
	}
	if (in->takes == SONDE_TAKES_DATAGRAMS) {
		if (in->ops->datagram_size)
			datagrams.size = in->ops->datagram_size(self);
		in->datagrams = datagram_writer_new(&datagrams);
		return in->datagrams ? 0 : -ENOMEM;
	}
	return 0;
}

int intake_open(struct intake *in, struct instance *instance, char *why, size_t size)
{
	in->instance = instance;
	in->ops = &instance->plugin->ops.sink;
	in->takes =
		in->ops->choose_intake ? in->ops->choose_intake(&instance->self) : in->ops->intake;
	return make_writer(in, why, size);
}

void intake_close(struct intake *in)
{
	if (atomic_load(&in->done))
		in->skipping = true;
	if (in->writer)
		writer_close(in->writer);
	if (in->datagrams)
		datagram_writer_free(in->datagrams);
	in->writer = NULL;
	in->datagrams = NULL;
	in->error = 0;
}
