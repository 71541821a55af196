/* fluent: rows to Fluentd or Fluent Bit over TCP (Fluentd's Forward Protocol Specification v1). All
 * messages of a batch are sent at once, and each is acknowledged by its id; one that is not is sent
 * again under the same id, so that the peer can tell it from a new one. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sonde/address.h>

#include "fluent.h"

/* How long a call may take: of an agent that ends, three of them fit into its last fifth of a
 * second. */
#define PATIENCE_NS UINT64_C(30000000)

/* The pauses after a failure. */
#define PAUSE_FIRST_NS UINT64_C(1000000000)
#define PAUSE_MOST_NS  UINT64_C(30000000000)

struct conf {
	const char *address, *tag;
	uint64_t timeout;
	uint32_t ack, time, entries;
};

enum { TIME_NANOSECONDS, TIME_SECONDS };
enum { ENTRIES_BIN, ENTRIES_STR };

struct state {
	struct batch batch;
	size_t sent;       /* bytes of the batch that this connection was given */
	int socket;        /* descriptor + 1, so that zeroed is none */
	bool connecting;   /* the socket is not connected yet */
	bool proven;       /* this connection has delivered something */
	bool away;         /* nothing is delivered: that was said */
	unsigned turn;     /* which of the name's addresses is next */
	uint64_t deadline; /* CLOCK_MONOTONIC ns: by then the peer shall have moved; 0: idle */
	uint64_t retry_at; /* no attempt before */
	uint64_t pause;    /* after the next failure */
	char answer[ANSWER_MOST];
	size_t answered;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void moved(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	state->deadline = now() + conf->timeout;
}

/* What was not done is sent anew over the next connection. */
static void disconnect(struct state *state)
{
	if (state->socket)
		close(state->socket - 1);
	state->socket = 0;
	state->sent = state->answered = 0;
	state->deadline = 0;
	state->connecting = state->proven = false;
	batch_compact(&state->batch);
}

/* Said once, until something is delivered again. */
static int failed(struct sonde_instance *self, const char *why)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	if (!state->away)
		sonde_log(self, SONDE_WARNING,
			  "%s: %s; trying again, and the newest instants are kept for it",
			  conf->address, why);
	state->away = true;
	state->turn += state->connecting;
	disconnect(state);
	state->retry_at = now() + state->pause;
	state->pause = state->pause * 2 < PAUSE_MOST_NS ? state->pause * 2 : PAUSE_MOST_NS;
	return -EAGAIN;
}

/* ---- Connecting */

static int connect_to(struct state *state, const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	/* Not waiting for more to send: a batch is sent whole. */
	sonde_socket_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	state->connecting = connect(fd, address->ai_addr, address->ai_addrlen) != 0;
	if (state->connecting && errno != EINPROGRESS) {
		err = -errno;
		state->connecting = false;
		close(fd);
		return err;
	}
	state->socket = fd + 1;
	return 0;
}

/* The name is looked up at each attempt: it may stand for another address by now. */
static int open_socket(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct addrinfo *list;
	unsigned count = 0;
	int err = -EADDRNOTAVAIL;
	char why[256];

	if (sonde_address_find(conf->address, SOCK_STREAM, false, &list, why, sizeof why))
		return failed(self, why);
	for (const struct addrinfo *each = list; each; each = each->ai_next)
		count++;
	for (unsigned i = 0; err && i < count; i++) {
		const struct addrinfo *each = list;

		for (unsigned n = (state->turn + i) % count; n; n--)
			each = each->ai_next;
		err = connect_to(state, each);
	}
	freeaddrinfo(list);
	if (err)
		return failed(self, strerror(-err));
	moved(self);
	return 0;
}

static int connected(struct sonde_instance *self)
{
	struct state *state = self->state;
	socklen_t length = sizeof(int);
	int err = 0;

	if (getsockopt(state->socket - 1, SOL_SOCKET, SO_ERROR, &err, &length))
		err = errno;
	if (err)
		return failed(self, strerror(err));
	state->connecting = false;
	moved(self);
	return 0;
}

/* ---- Sending, and what is answered */

static int closed(struct sonde_instance *self, int err)
{
	struct state *state = self->state;

	/* It had nothing of this batch: a connection that was idle, or a peer that began anew. */
	if (state->proven && !state->sent) {
		disconnect(state);
		return 0;
	}
	return failed(self, err ? strerror(err) : "it closed the connection");
}

static int take_acks(struct sonde_instance *self)
{
	struct state *state = self->state;
	const char *id = NULL;
	size_t length = 0, at = 0;
	int n;

	while ((n = ack_parse(state->answer + at, state->answered - at, &id, &length)) > 0) {
		if (!batch_acknowledge(&state->batch, id, length))
			return failed(self, "it acknowledged what it was not sent");
		state->proven = true;
		moved(self);
		at += (size_t)n;
	}
	if (n < 0)
		return failed(self, "what it answers is no acknowledgement");
	memmove(state->answer, state->answer + at, state->answered - at);
	state->answered -= at;
	return 0;
}

/* An acknowledgement that is not whole is shorter than the room for it, so there always is some. */
static int receive(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	ssize_t n = recv(state->socket - 1, state->answer + state->answered,
			 sizeof state->answer - state->answered, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : closed(self, errno);
	if (n == 0)
		return closed(self, 0);
	if (!conf->ack)
		return 0;
	state->answered += (size_t)n;
	return take_acks(self);
}

static int send_more(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	const struct buffer *buffer = &state->batch.buffer;
	ssize_t n = send(state->socket - 1, buffer->bytes + state->sent, buffer->used - state->sent,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : closed(self, errno);
	state->sent += (size_t)n;
	moved(self);
	if (conf->ack)
		return 0;
	state->proven = true;
	batch_handed(&state->batch, state->sent);
	return 0;
}

static bool wants_to_send(const struct state *state)
{
	return state->connecting || state->sent < state->batch.buffer.used;
}

/* What the peer says comes first: that it closed the connection, for one. */
static int move(struct sonde_instance *self, short events)
{
	struct state *state = self->state;
	int err = 0;

	if (state->connecting)
		return events ? connected(self) : 0;
	if (events & (POLLIN | POLLERR | POLLHUP))
		err = receive(self);
	return !err && state->socket && events & POLLOUT ? send_more(self) : err;
}

/* Waits until `until` for the peer to move, and moves with it. */
static int step(struct sonde_instance *self, uint64_t until)
{
	struct state *state = self->state;
	struct pollfd pollfd = { .fd = state->socket - 1,
				 .events = wants_to_send(state) ? POLLIN | POLLOUT : POLLIN };
	uint64_t at = now();
	int err = 0;

	if (poll(&pollfd, 1, until > at ? (int)((until - at + 999999) / 1000000) : 0) > 0)
		err = move(self, pollfd.revents);
	if (!err && state->socket && state->batch.waiting && now() >= state->deadline)
		return failed(self, state->connecting ? "no connection within `timeout`"
						      : "it did not answer within `timeout`");
	return err;
}

/* 0 when all of the batch is done; else -EAGAIN, after PATIENCE_NS at most. */
static int push(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	uint64_t until = now() + PATIENCE_NS;
	int err = 0;

	if (!state->batch.waiting)
		return 0;
	if (!state->deadline)
		moved(self);
	while (!err && state->batch.waiting) {
		if (state->socket)
			err = step(self, until);
		else
			err = now() < state->retry_at ? -EAGAIN : open_socket(self);
		if (!err && state->batch.waiting && now() >= until)
			err = -EAGAIN;
	}
	if (err)
		return err;
	batch_compact(&state->batch);
	state->sent = 0;
	state->deadline = 0;
	state->pause = PAUSE_FIRST_NS;
	if (state->away)
		sonde_log(self, SONDE_NOTICE, "%s: delivering again", conf->address);
	state->away = false;
	return 0;
}

/* ---- The sink */

static int view(struct sonde_instance *self, const struct sonde_view *view)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct packing packing = { .tag = conf->tag,
				   .entries_as_text = conf->entries == ENTRIES_STR,
				   .seconds = conf->time == TIME_SECONDS,
				   .ack = conf->ack };
	int err = state->batch.buffer.used < BATCH_BYTES ? 0 : push(self);

	return err ? err : batch_view(&state->batch, &packing, view);
}

/* SIGHUP: at once, whatever pause there is. */
static int reopen(struct sonde_instance *self)
{
	struct state *state = self->state;

	disconnect(state);
	state->retry_at = 0;
	state->pause = PAUSE_FIRST_NS;
	return 0;
}

static uint32_t choose_assertion(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	return conf->ack ? SONDE_PEER : SONDE_HANDED;
}

/* A name that no server knows is refused; one that can't be looked up yet may be some time. */
static int check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct addrinfo *list;
	char why[256];
	int err = sonde_address_find(conf->address, SOCK_STREAM, false, &list, why, sizeof why);

	if (!err)
		freeaddrinfo(list);
	if (!err || err == EAI_AGAIN)
		return 0;
	sonde_log(self, SONDE_ERROR, "address = %s: %s", conf->address, why);
	return -EINVAL;
}

/* Connects when there is something to send. */
static int start(struct sonde_instance *self)
{
	struct state *state = self->state;

	state->pause = PAUSE_FIRST_NS;
	return 0;
}

static void stop(struct sonde_instance *self)
{
	struct state *state = self->state;

	disconnect(state);
	batch_free(&state->batch);
}

/* clang-format off */
static const struct sonde_option options[] = {
	{ "address", SONDE_OPT_STRING, offsetof(struct conf, address), NULL,
	  .help = "HOST:PORT or [IPV6]:PORT of a forward input; its usual port is 24224" },
	{ "tag", SONDE_OPT_STRING, offsetof(struct conf, tag), "sonde",
	  .help = "tag of the records; the table's name stands behind it: sonde.psi" },
	{ "ack", SONDE_OPT_BOOL, offsetof(struct conf, ack), "yes",
	  .help = "delivered is what the peer acknowledged; no: what the kernel took" },
	{ "time", SONDE_OPT_CHOICE, offsetof(struct conf, time), "nanoseconds",
	  .choices = "nanoseconds|seconds",
	  .help = "form of a record's time: EventTime, or an integer for peers before v1" },
	{ "entries", SONDE_OPT_CHOICE, offsetof(struct conf, entries), "bin", .choices = "bin|str",
	  .help = "msgpack type of the packed records; str for peers that do not know bin" },
	{ "timeout", SONDE_OPT_DURATION, offsetof(struct conf, timeout), "30s",
	  .min = 1e8, .max = 3600e9,
	  .help = "how long a peer may neither take nor acknowledge before it is connected to anew" },
};
/* clang-format on */

static const struct sonde_sink_ops ops = {
	.intake = SONDE_TAKES_VIEWS,
	.assertion = SONDE_PEER,
	.view = view,
	.flush = push,
	.reopen = reopen,
	.choose_assertion = choose_assertion,
};

SONDE_SINK(fluent, "rows to Fluentd or Fluent Bit, by their forward protocol", ops,
	   .options = SONDE_OPTIONS(options), .conf_size = sizeof(struct conf),
	   .state_size = sizeof(struct state), .check = check, .start = start, .stop = stop);
