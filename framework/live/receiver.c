/* What a source hands on. */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "host/log.h"
#include "host/receiver.h"
#include "host/thread.h"
#include "wire/datagram.h"
#include "wire/reader.h"

/* How many streams are read at once, and how long a poll may wait: as long as a stop may take. */
enum { PEERS = 64, POLL_MS = 100, MOST_VIEWS = 4096, LAST_POLLS = 256 };

struct peer {
	struct reader *reader; /* NULL: free */
	uint64_t id;
	const char *bytes; /* what arrived and was not yet read */
	size_t length;
};

struct receiver {
	struct outlet outlet; /* of the datagram reader */
	struct instance *instance;
	struct foreign *foreign;
	struct datagram_reader *datagrams;
	pthread_mutex_t lock; /* of the datagram reader */
	struct peer peers[PEERS];
	struct sonde_view *views;
	uint32_t room;
	struct thread thread;
	bool running;
	atomic_bool stopping;
};

/* ---- Instants of others */

/* Schemas that stay take the place of the reader's. */
static int forward(struct receiver *receiver, const struct instant *instant)
{
	struct instant copy = *instant;

	if (instant->nviews > receiver->room) {
		struct sonde_view *views =
			instant->nviews <= MOST_VIEWS
				? realloc(receiver->views, instant->nviews * sizeof *views)
				: NULL;

		if (!views)
			return -ENOMEM;
		receiver->views = views;
		receiver->room = instant->nviews;
	}
	for (uint32_t i = 0; i < instant->nviews; i++) {
		receiver->views[i] = instant->views[i];
		receiver->views[i].schema =
			foreign_schema(receiver->foreign, instant->views[i].schema);
		if (!receiver->views[i].schema)
			return -ENOBUFS;
	}
	copy.views = receiver->views;
	stream_forward(receiver->instance->stream, &copy);
	return 0;
}

static int outlet_instant(struct outlet *outlet, const struct instant *instant)
{
	return forward((struct receiver *)outlet, instant);
}

/* ---- Streams */

static int64_t peer_read(void *context, void *buffer, size_t size)
{
	struct peer *peer = context;
	size_t n = peer->length < size ? peer->length : size;

	memcpy(buffer, peer->bytes, n);
	peer->bytes += n;
	peer->length -= n;
	return (int64_t)n;
}

static void end_peer(struct peer *peer)
{
	if (peer->reader)
		reader_free(peer->reader);
	*peer = (struct peer) { 0 };
}

static struct peer *find_peer(struct receiver *receiver, uint64_t id, bool make)
{
	struct peer *unused = NULL;

	for (int i = 0; i < PEERS; i++) {
		struct peer *peer = &receiver->peers[i];

		if (peer->reader && peer->id == id)
			return peer;
		if (!peer->reader && !unused)
			unused = peer;
	}
	if (!make || !unused)
		return NULL;
	*unused = (struct peer) { .id = id };
	unused->reader =
		reader_new(&(struct reader_options) { .read = peer_read, .context = unused });
	return unused->reader ? unused : NULL;
}

static int take_stream(struct receiver *receiver, uint64_t id, const void *bytes, size_t length)
{
	struct peer *peer = find_peer(receiver, id, length > 0);
	const struct instant *instant;
	int err;

	if (!peer)
		return length ? -EBUSY : 0;
	if (!length) {
		end_peer(peer);
		return 0;
	}
	peer->bytes = bytes;
	peer->length = length;
	while ((err = reader_next(peer->reader, &instant)) > 0) {
		err = forward(receiver, instant);
		if (err)
			break;
	}
	/* What is no stream of ours is not read on. */
	if (err < 0)
		end_peer(peer);
	return err;
}

static int take_datagram(struct receiver *receiver, uint64_t peer, const void *bytes, size_t length)
{
	int err;

	pthread_mutex_lock(&receiver->lock);
	err = datagram_receive(receiver->datagrams, peer, bytes, length);
	pthread_mutex_unlock(&receiver->lock);
	return err;
}

void receiver_counts(struct receiver *receiver, struct receiver_counts *counts)
{
	pthread_mutex_lock(&receiver->lock);
	counts->senders = datagram_total(receiver->datagrams, &counts->datagrams);
	pthread_mutex_unlock(&receiver->lock);
}

int receiver_take(struct instance *instance, uint32_t carriage, uint64_t peer, const void *bytes,
		  uint64_t length)
{
	struct receiver *receiver = instance->role;
	int err;

	if (!receiver || carriage > SONDE_CARRY_STREAM)
		return -EINVAL;
	if (carriage == SONDE_CARRY_STREAM)
		err = take_stream(receiver, peer, bytes, length);
	else
		err = take_datagram(receiver, peer, bytes, length);
	atomic_fetch_add(&instance->counts.samples, 1);
	if (err)
		atomic_fetch_add(&instance->counts.errors, 1);
	return err;
}

/* ---- Life */

struct receiver *receiver_new(struct instance *instance, struct foreign *foreign)
{
	struct receiver *receiver = calloc(1, sizeof *receiver);

	if (!receiver)
		return NULL;
	pthread_mutex_init(&receiver->lock, NULL);
	receiver->outlet.instant = outlet_instant;
	receiver->instance = instance;
	receiver->foreign = foreign;
	receiver->datagrams = datagram_reader_new(&receiver->outlet);
	if (!receiver->datagrams) {
		free(receiver);
		return NULL;
	}
	instance->role = receiver;
	return receiver;
}

void receiver_free(struct receiver *receiver)
{
	if (!receiver)
		return;
	receiver->instance->role = NULL;
	for (int i = 0; i < PEERS; i++)
		end_peer(&receiver->peers[i]);
	datagram_reader_free(receiver->datagrams);
	pthread_mutex_destroy(&receiver->lock);
	free(receiver->views);
	free(receiver);
}

/* What had arrived when it was asked to stop: not without end, since others may go on to send. */
static void drain(struct receiver *receiver)
{
	struct instance *instance = receiver->instance;
	uint64_t taken = UINT64_MAX, before;

	for (int i = 0; i < LAST_POLLS; i++) {
		before = taken;
		taken = atomic_load(&instance->counts.samples);
		if (taken == before || instance->plugin->ops.source.poll(&instance->self, 0) < 0)
			break;
	}
}

static void *run(void *context)
{
	struct receiver *receiver = context;
	struct sonde_instance *self = &receiver->instance->self;
	const struct sonde_source_ops *ops = &receiver->instance->plugin->ops.source;

	while (!atomic_load(&receiver->stopping)) {
		int err = ops->poll(self, POLL_MS);

		if (err < 0 && err != -EAGAIN && err != -EINTR) {
			struct timespec pause = clock_timespec((uint64_t)POLL_MS * 1000000);

			log_line(SONDE_WARNING, self->name, "receiving failed: %s", strerror(-err));
			nanosleep(&pause, NULL);
		}
	}
	drain(receiver);
	return NULL;
}

int receiver_start(struct receiver *receiver)
{
	int err = thread_start(&receiver->thread, receiver->instance->self.name, run, receiver);

	receiver->running = !err;
	return err;
}

void receiver_ask_stop(struct receiver *receiver)
{
	atomic_store(&receiver->stopping, true);
}

int receiver_join(struct receiver *receiver, uint64_t deadline)
{
	int err = receiver->running ? thread_join(&receiver->thread, deadline) : 0;

	if (!err)
		receiver->running = false;
	return err;
}
