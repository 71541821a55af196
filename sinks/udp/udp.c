/* udp: each instant as datagrams of docs/format.md, none larger than the path takes whole (udp(7),
 * ip(7) on IP_MTU_DISCOVER). Nothing is sent twice: what the kernel can't take at once is dropped
 * and counted. */
#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#include <sonde/address.h>
#include <sonde/plugin.h>

/* RFC 791 and RFC 8200 headers, and UDP's eight bytes. */
enum { HEADERS_V4 = 28, HEADERS_V6 = 48 };

struct conf {
	const char *address, *interface;
	uint64_t size, ttl;
};

/* What has been said once is not said again until it was over. */
enum saying { SAID_NOTHING, SAID_UNRESOLVED, SAID_UNREACHABLE, SAID_TOO_LONG, SAID_FULL, SAYINGS };

struct state {
	int socket; /* descriptor + 1, so that zeroed is none */
	int family;
	bool said[SAYINGS];
	bool refused; /* nobody listened: that was said */
};

static int say(struct sonde_instance *self, enum saying saying, int err, const char *what)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	if (!state->said[saying])
		sonde_log(self, SONDE_WARNING, "%s: %s", conf->address, what);
	state->said[saying] = true;
	return -err;
}

/* Never fragmented on the way: a lost piece would lose the whole (IP_PMTUDISC_DO). */
static int prepare(const struct conf *conf, int fd, int family)
{
	bool v6 = family == AF_INET6;
	int err = v6 ? sonde_socket_set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO)
		     : sonde_socket_set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);

	if (!err)
		err = v6 ? sonde_socket_set(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, (int)conf->ttl)
			 : sonde_socket_set(fd, IPPROTO_IP, IP_MULTICAST_TTL, (int)conf->ttl);
	if (!err && *conf->interface &&
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, conf->interface,
		       (socklen_t)strlen(conf->interface) + 1))
		err = -errno;
	return err;
}

/* A connected socket: the kernel then tells of ECONNREFUSED, and of the path's MTU. */
static int connect_to(const struct conf *conf, const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	err = prepare(conf, fd, address->ai_family);
	if (!err && connect(fd, address->ai_addr, address->ai_addrlen))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* The first of its addresses that can be reached. 0; -EAGAIN where a later attempt may do better;
 * else another negative errno, and a sentence in `why`. */
static int open_socket(struct sonde_instance *self, char *why, size_t size)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct addrinfo *list;
	int fd = -EADDRNOTAVAIL;
	int err = sonde_address_find(conf->address, SOCK_DGRAM, false, &list, why, size);

	if (err)
		return err == EAI_AGAIN ? -EAGAIN : -EINVAL;
	for (const struct addrinfo *each = list; each && fd < 0; each = each->ai_next) {
		fd = connect_to(conf, each);
		state->family = each->ai_family;
	}
	freeaddrinfo(list);
	if (fd >= 0) {
		state->socket = fd + 1;
		return 0;
	}
	snprintf(why, size, "%s", strerror(-fd));
	return fd == -ENETUNREACH || fd == -EHOSTUNREACH || fd == -ENETDOWN ? -EAGAIN : fd;
}

static int start(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	char why[256];
	int err = open_socket(self, why, sizeof why);

	if (err == -EAGAIN) {
		say(self, SAID_UNRESOLVED, 0, why);
		return 0;
	}
	if (err)
		sonde_log(self, SONDE_ERROR, "address = %s%s%s: %s", conf->address,
			  *conf->interface ? ", interface = " : "", conf->interface, why);
	return err;
}

static void stop(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (state->socket)
		close(state->socket - 1);
	state->socket = 0;
}

/* Nothing is sent by a start. */
static int check(struct sonde_instance *self)
{
	int err = start(self);

	stop(self);
	return err;
}

/* A refusal is the answer to the datagram before: the one at hand was not sent yet. */
static ssize_t send_once_more(struct sonde_instance *self, const void *data, uint64_t length)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	ssize_t n = send(state->socket - 1, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n >= 0 || (errno != ECONNREFUSED && errno != EINTR))
		return n;
	if (errno == ECONNREFUSED && !state->refused) {
		sonde_log(self, SONDE_NOTICE, "%s: nobody listens there; sending on",
			  conf->address);
		state->refused = true;
	}
	return send(state->socket - 1, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int send_failed(struct sonde_instance *self, int err)
{
	switch (err) {
	case ECONNREFUSED:
		return -err; /* twice in a row; said before */
	case EAGAIN:
	case ENOBUFS:
		/* Not -EAGAIN: by the time there is room, newer values are worth more. */
		return say(self, SAID_FULL, ENOBUFS,
			   "the network takes less than is sent: dropping");
	case EMSGSIZE:
		return say(self, SAID_TOO_LONG, err,
			   "the path takes smaller datagrams only: dropping; lower `size`");
	default:
		return say(self, SAID_UNREACHABLE, err, strerror(err));
	}
}

static int bytes(struct sonde_instance *self, const void *data, uint64_t length, uint32_t flags)
{
	struct state *state = self->state;
	char why[256];
	int err = 0;

	(void)flags;
	if (!state->socket)
		err = open_socket(self, why, sizeof why);
	if (err) {
		say(self, SAID_UNRESOLVED, 0, why);
		return -EAGAIN;
	}
	if (send_once_more(self, data, length) < 0)
		return send_failed(self, errno);
	memset(state->said, 0, sizeof state->said);
	return 0;
}

/* SIGHUP: the name may stand for another address by now. The old one stays where the new can't be
 * had. */
static int reopen(struct sonde_instance *self)
{
	struct state *state = self->state;
	int before = state->socket;
	char why[256];
	int err;

	memset(state->said, 0, sizeof state->said);
	state->refused = false;
	err = open_socket(self, why, sizeof why);
	if (err)
		return say(self, SAID_UNRESOLVED, -err, why);
	if (before)
		close(before - 1);
	return 0;
}

/* What is configured, or what the path's first step takes, where that is less. */
static uint64_t datagram_size(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	bool v6 = state->family == AF_INET6;
	uint64_t headers = v6 ? HEADERS_V6 : HEADERS_V4;
	socklen_t length = sizeof(int);
	int mtu = 0;

	if (!state->socket || getsockopt(state->socket - 1, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
					 v6 ? IPV6_MTU : IP_MTU, &mtu, &length))
		return conf->size;
	return mtu > 0 && (uint64_t)mtu - headers < conf->size ? (uint64_t)mtu - headers
							       : conf->size;
}

/* clang-format off */
static const struct sonde_option options[] = {
	{ "address", SONDE_OPT_STRING, offsetof(struct conf, address), NULL,
	  .help = "HOST:PORT or [IPV6]:PORT to send to; may be a multicast group" },
	{ "size", SONDE_OPT_SIZE, offsetof(struct conf, size), "1400", .min = 512, .max = 65507,
	  .help = "bytes of a datagram at most; less where the interface's MTU is less" },
	{ "interface", SONDE_OPT_STRING, offsetof(struct conf, interface), "",
	  .help = "network interface to send by; empty: as the routes say" },
	{ "ttl", SONDE_OPT_U64, offsetof(struct conf, ttl), "1", .min = 0, .max = 255,
	  .help = "routers that a multicast datagram may pass, and one" },
};
/* clang-format on */

static const struct sonde_sink_ops ops = {
	.intake = SONDE_TAKES_DATAGRAMS,
	.assertion = SONDE_HANDED,
	.bytes = bytes,
	.reopen = reopen,
	.datagram_size = datagram_size,
};

SONDE_SINK(udp, "datagrams to another host's sonde receive", ops, .options = SONDE_OPTIONS(options),
	   .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .check = check,
	   .start = start, .stop = stop);
