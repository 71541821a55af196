/* udp, the source: datagrams of other hosts' [sink:udp] (udp(7), recvmmsg(2), socket(7) on
 * SO_RXQ_OVFL). */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sonde/address.h>
#include <sonde/plugin.h>

enum {
	BATCH = 16,
	DATAGRAM_SIZE = 65536, /* none is longer */
	ALLOWED = 64,
	SAY_EVERY_S = 10,
};

struct conf {
	const char *listen, *interface;
	uint64_t buffer;
	struct sonde_list allow;
};

/* Every address as IPv6; IPv4 is ::ffff:a.b.c.d there (RFC 4291, 2.5.5.2). */
struct prefix {
	uint8_t bytes[16];
	unsigned bits;
};

struct state {
	int socket; /* descriptor + 1, so that zeroed is none */
	unsigned nallowed;
	struct prefix allowed[ALLOWED];
	uint8_t *buffers;          /* BATCH datagrams */
	uint32_t overflow;         /* the kernel's count, which wraps */
	uint64_t dropped, refused; /* by the kernel for want of room; by `allow` */
	uint64_t told;             /* both, when the log was told last */
	time_t told_at;
};

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

static void from_v4(uint8_t to[16], const void *v4)
{
	memcpy(to, mapped, sizeof mapped);
	memcpy(to + sizeof mapped, v4, 4);
}

static bool from_sockaddr(uint8_t to[16], const struct sockaddr_storage *from)
{
	if (from->ss_family == AF_INET)
		from_v4(to, &((const struct sockaddr_in *)from)->sin_addr);
	else if (from->ss_family == AF_INET6)
		memcpy(to, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
	else
		return false;
	return true;
}

/* "192.0.2.0/24", "2001:db8::/32", or an address alone. */
static bool parse_prefix(const char *text, struct prefix *prefix)
{
	const char *slash = strchr(text, '/');
	size_t length = slash ? (size_t)(slash - text) : strlen(text);
	char address[INET6_ADDRSTRLEN], *end = NULL;
	uint8_t v4[4];
	unsigned long bits;
	unsigned most;

	if (length >= sizeof address)
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	most = inet_pton(AF_INET, address, v4) == 1 ? 32 : 128;
	if (most == 32)
		from_v4(prefix->bytes, v4);
	else if (inet_pton(AF_INET6, address, prefix->bytes) != 1)
		return false;
	bits = slash ? strtoul(slash + 1, &end, 10) : most;
	if (slash && (slash[1] < '0' || slash[1] > '9' || *end))
		return false;
	prefix->bits = (unsigned)bits + 128 - most;
	return bits <= most;
}

static bool matches(const struct prefix *prefix, const uint8_t address[16])
{
	unsigned bytes = prefix->bits / 8, rest = prefix->bits % 8;

	if (memcmp(prefix->bytes, address, bytes) != 0)
		return false;
	return !rest || (prefix->bytes[bytes] ^ address[bytes]) >> (8 - rest) == 0;
}

static bool is_allowed(const struct state *state, const uint8_t address[16])
{
	for (unsigned i = 0; i < state->nallowed; i++)
		if (matches(&state->allowed[i], address))
			return true;
	return !state->nallowed;
}

/* FNV-1a. Of the address alone: a sender that opens its socket anew is still the same. */
static uint64_t peer_of(const uint8_t address[16])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < 16; i++)
		hash = (hash ^ address[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static int parse_allow(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	if (conf->allow.count > ALLOWED) {
		sonde_log(self, SONDE_ERROR, "allow: more than %d prefixes", ALLOWED);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < conf->allow.count; i++) {
		if (!parse_prefix(conf->allow.items[i], &state->allowed[i])) {
			sonde_log(self, SONDE_ERROR,
				  "allow = %s: it is no address and no prefix such as 192.0.2.0/24",
				  conf->allow.items[i]);
			return -EINVAL;
		}
	}
	state->nallowed = conf->allow.count;
	return 0;
}

/* A multicast group is joined, on the interface named. */
static int join(const struct conf *conf, int fd, const struct sockaddr *address)
{
	unsigned index = *conf->interface ? if_nametoindex(conf->interface) : 0;

	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
		struct ip_mreqn request = { .imr_multiaddr = v4->sin_addr,
					    .imr_ifindex = (int)index };

		if (IN_MULTICAST(ntohl(v4->sin_addr.s_addr)) &&
		    setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request))
			return -errno;
	} else if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
		struct ipv6_mreq request = { .ipv6mr_multiaddr = v6->sin6_addr,
					     .ipv6mr_interface = index };

		if (IN6_IS_ADDR_MULTICAST(&v6->sin6_addr) &&
		    setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request))
			return -errno;
	}
	return 0;
}

/* The buffer is a wish: without CAP_NET_ADMIN net.core.rmem_max is the most. */
static int listen_on(const struct conf *conf, const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	if (address->ai_family == AF_INET6)
		sonde_socket_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	if (sonde_socket_set(fd, SOL_SOCKET, SO_RCVBUFFORCE, (int)conf->buffer))
		sonde_socket_set(fd, SOL_SOCKET, SO_RCVBUF, (int)conf->buffer);
	err = sonde_socket_set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
	if (!err && bind(fd, address->ai_addr, address->ai_addrlen))
		err = -errno;
	if (!err)
		err = join(conf, fd, address->ai_addr);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int open_socket(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct addrinfo *list;
	int fd = -EADDRNOTAVAIL;
	char why[256];

	if (sonde_address_find(conf->listen, SOCK_DGRAM, true, &list, why, sizeof why)) {
		sonde_log(self, SONDE_ERROR, "listen = %s: %s", conf->listen, why);
		return -EINVAL;
	}
	/* Of every address, IPv6 is the one that takes IPv4 as well; it comes second. */
	for (int family = AF_INET6; fd < 0 && family; family = family == AF_INET6 ? AF_INET : 0)
		for (const struct addrinfo *each = list; each && fd < 0; each = each->ai_next)
			if (each->ai_family == family)
				fd = listen_on(conf, each);
	freeaddrinfo(list);
	if (fd < 0) {
		sonde_log(self, SONDE_ERROR, "listen = %s: %s", conf->listen, strerror(-fd));
		return fd;
	}
	state->socket = fd + 1;
	return 0;
}

static int look_at_conf(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	int err = parse_allow(self);

	if (!err && *conf->interface && !if_nametoindex(conf->interface)) {
		sonde_log(self, SONDE_ERROR, "interface = %s: there is none", conf->interface);
		err = -ENODEV;
	}
	return err;
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;
	int err = look_at_conf(self);

	if (!err)
		err = sonde_grow(self, &state->buffers, BATCH * DATAGRAM_SIZE);
	return err ? err : open_socket(self);
}

static void stop(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (state->socket)
		close(state->socket - 1);
	state->socket = 0;
}

/* An agent that runs has the address, while its new configuration is checked. */
static int check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	int err = look_at_conf(self);

	if (!err)
		err = open_socket(self);
	stop(self);
	if (err != -EADDRINUSE)
		return err;
	sonde_log(self, SONDE_NOTICE, "listen = %s: the address is in use, by an agent that runs?",
		  conf->listen);
	return 0;
}

/* SO_RXQ_OVFL: how many the socket has dropped so far, as 32 bits. */
static void count_overflow(struct state *state, struct msghdr *message)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		uint32_t total;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_RXQ_OVFL)
			continue;
		memcpy(&total, CMSG_DATA(c), sizeof total);
		state->dropped += (uint32_t)(total - state->overflow);
		state->overflow = total;
	}
}

static void tell(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct timespec now;

	if (state->dropped + state->refused == state->told)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (state->told && now.tv_sec - state->told_at < SAY_EVERY_S)
		return;
	state->told = state->dropped + state->refused;
	state->told_at = now.tv_sec;
	sonde_log(self, SONDE_WARNING,
		  "%s: %llu datagrams dropped by the kernel for want of room (raise `buffer` and "
		  "net.core.rmem_max), %llu from addresses outside of `allow`",
		  conf->listen, (unsigned long long)state->dropped,
		  (unsigned long long)state->refused);
}

/* What is not sonde's is counted by the host: a stranger's datagram is no failure of the source. */
static void hand_on(struct sonde_instance *self, const struct sockaddr_storage *from,
		    const uint8_t *bytes, size_t length)
{
	struct state *state = self->state;
	uint8_t address[16];

	if (!from_sockaddr(address, from))
		return;
	if (is_allowed(state, address))
		sonde_receive(self, SONDE_CARRY_DATAGRAM, peer_of(address), bytes, length);
	else
		state->refused++;
}

static int receive_batch(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct sockaddr_storage from[BATCH];
	struct mmsghdr messages[BATCH];
	struct iovec pieces[BATCH];
	_Alignas(struct cmsghdr) char control[BATCH][CMSG_SPACE(sizeof(uint32_t))];
	int n;

	for (int i = 0; i < BATCH; i++) {
		pieces[i] = (struct iovec) { state->buffers + i * DATAGRAM_SIZE, DATAGRAM_SIZE };
		messages[i] =
			(struct mmsghdr) { .msg_hdr = { .msg_name = &from[i],
							.msg_namelen = sizeof from[i],
							.msg_iov = &pieces[i],
							.msg_iovlen = 1,
							.msg_control = control[i],
							.msg_controllen = sizeof control[i] } };
	}
	n = recvmmsg(state->socket - 1, messages, BATCH, MSG_DONTWAIT, NULL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		count_overflow(state, &messages[i].msg_hdr);
		hand_on(self, &from[i], pieces[i].iov_base, messages[i].msg_len);
	}
	return n;
}

/* One batch: the host, which may want to stop, calls again. */
static int wait_and_receive(struct sonde_instance *self, int32_t timeout_ms)
{
	struct state *state = self->state;
	struct pollfd pollfd = { .fd = state->socket - 1, .events = POLLIN };
	int n = poll(&pollfd, 1, timeout_ms);

	if (n > 0)
		n = receive_batch(self);
	else if (n < 0)
		n = errno == EINTR ? 0 : -errno;
	tell(self);
	return n < 0 ? n : 0;
}

/* clang-format off */
static const struct sonde_option options[] = {
	{ "listen", SONDE_OPT_STRING, offsetof(struct conf, listen), "127.0.0.1:8125",
	  .help = "ADDRESS:PORT, [IPV6]:PORT or *:PORT to listen on; a multicast group is joined" },
	{ "allow", SONDE_OPT_LIST, offsetof(struct conf, allow), "",
	  .help = "address or prefix that may send (192.0.2.0/24); may be repeated; none: all" },
	{ "interface", SONDE_OPT_STRING, offsetof(struct conf, interface), "",
	  .help = "network interface on which a multicast group is joined" },
	{ "buffer", SONDE_OPT_SIZE, offsetof(struct conf, buffer), "4MiB",
	  .min = 4096, .max = 1 << 30, .help = "socket buffer, for bursts (SO_RCVBUF)" },
};
/* clang-format on */

static const struct sonde_source_ops ops = { .poll = wait_and_receive };

SONDE_SOURCE(udp, "datagrams of other hosts' sink udp", ops, .options = SONDE_OPTIONS(options),
	     .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .check = check,
	     .start = start, .stop = stop);
