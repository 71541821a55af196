/* The udp source over the loopback: prefixes by hand after RFC 4632 and RFC 4291, the kernel's
 * drops after socket(7). */
#include "sink_host.h"

#include "sinks/udp/source.c"

const char suite[] = "udp source";

static struct conf set;
static struct state held;

static struct sonde_instance made(const char *listen_at)
{
	struct sonde_instance self = told_instance(&set, sizeof set, &held, sizeof held);

	set.listen = listen_at;
	set.interface = "";
	set.buffer = 1 << 20;
	return self;
}

static void ended(struct sonde_instance *self)
{
	stop(self);
	free(held.buffers);
}

/* A socket of the loopback that sends to the source. */
static int sender(int family)
{
	struct sockaddr_storage at;
	socklen_t length = sizeof at;
	int fd = socket(family, SOCK_DGRAM, 0);

	CU_ASSERT_EQUAL_FATAL(getsockname(held.socket - 1, (struct sockaddr *)&at, &length), 0);
	if (family == AF_INET && at.ss_family == AF_INET6) {
		in_port_t port = ((struct sockaddr_in6 *)&at)->sin6_port;
		struct sockaddr_in v4 = { .sin_family = AF_INET,
					  .sin_addr = { htonl(INADDR_LOOPBACK) },
					  .sin_port = port };

		memcpy(&at, &v4, length = sizeof v4);
	}
	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&at, length), 0);
	return fd;
}

static void prefixes(void)
{
	static const struct {
		const char *prefix, *address;
		bool in;
	} cases[] = {
		{ "192.0.2.0/24", "192.0.2.255", true },
		{ "192.0.2.0/24", "192.0.3.0", false },
		{ "192.0.2.128/25", "192.0.2.127", false },
		{ "192.0.2.128/25", "192.0.2.128", true },
		{ "192.0.2.7", "192.0.2.7", true },
		{ "192.0.2.7", "192.0.2.6", false },
		{ "0.0.0.0/0", "203.0.113.9", true },
		{ "0.0.0.0/0", "2001:db8::1", false },
		{ "2001:db8::/32", "2001:db8:ffff::1", true },
		{ "2001:db8::/32", "2001:db9::1", false },
		{ "::1", "::1", true },
		{ "::/0", "192.0.2.7", true }, /* as ::ffff:192.0.2.7 */
		{ "::ffff:192.0.2.0/120", "192.0.2.7", true },
	};
	static const char *const bad[] = {
		"",       "192.0.2.0/33", "192.0.2.0/", "192.0.2.0/-1", "192.0.2.0/8x",
		"::/129", "host",         "192.0.2"
	};
	struct prefix prefix, address;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CU_ASSERT(parse_prefix(cases[i].prefix, &prefix));
		CU_ASSERT(parse_prefix(cases[i].address, &address));
		CU_ASSERT_EQUAL(matches(&prefix, address.bytes), cases[i].in);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CU_ASSERT_FALSE(parse_prefix(bad[i], &prefix));
}

/* On every address, IPv4 and IPv6 arrive at one socket; a peer is its address, not its port. */
static void receives(void)
{
	struct sonde_instance self = made("*:0");
	uint64_t peer;
	int one, two;

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	one = sender(AF_INET);
	two = sender(AF_INET);
	CU_ASSERT_EQUAL(send(one, "hello", 5, 0), 5);
	CU_ASSERT_EQUAL(wait_and_receive(&self, 5000), 0);
	CU_ASSERT_EQUAL(told.received, 1);
	CU_ASSERT_EQUAL(told.length, 5);
	CU_ASSERT_NSTRING_EQUAL(told.bytes, "hello", 5);
	peer = told.peer;
	CU_ASSERT_EQUAL(send(two, "", 0, 0), 0);
	CU_ASSERT_EQUAL(wait_and_receive(&self, 5000), 0);
	CU_ASSERT_EQUAL(told.received, 2);
	CU_ASSERT_EQUAL(told.length, 0);
	CU_ASSERT_EQUAL(told.peer, peer);
	close(one);
	close(two);
	ended(&self);
}

static void times_out(void)
{
	struct sonde_instance self = made("127.0.0.1:0");

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(wait_and_receive(&self, 0), 0);
	CU_ASSERT_EQUAL(told.received, 0);
	ended(&self);
}

/* A datagram of the most that UDP over IPv4 carries comes whole. */
static void longest(void)
{
	static char bytes[65507];
	struct sonde_instance self = made("127.0.0.1:0");
	int fd;

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	fd = sender(AF_INET);
	bytes[sizeof bytes - 1] = 'z';
	CU_ASSERT_EQUAL(send(fd, bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
	CU_ASSERT_EQUAL(wait_and_receive(&self, 5000), 0);
	CU_ASSERT_EQUAL(told.length, sizeof bytes);
	CU_ASSERT_EQUAL(told.bytes[sizeof bytes - 1], 'z');
	close(fd);
	ended(&self);
}

static void allowed(void)
{
	static const char *const items[] = { "192.0.2.0/24" };
	static const char *const both[] = { "192.0.2.0/24", "127.0.0.0/8" };
	static const char *const bad[] = { "192.0.2.0/99" };
	struct sonde_instance self = made("127.0.0.1:0");
	int fd;

	set.allow = (struct sonde_list) { items, 1, 0 };
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	fd = sender(AF_INET);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(send(fd, "x", 1, 0), 1);
		CU_ASSERT_EQUAL(wait_and_receive(&self, 5000), 0);
	}
	CU_ASSERT_EQUAL(told.received, 0);
	CU_ASSERT_EQUAL(held.refused, 3);
	CU_ASSERT_EQUAL(told.messages, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "1 from addresses outside of `allow`"));
	close(fd);
	ended(&self);

	self = made("127.0.0.1:0");
	set.allow = (struct sonde_list) { both, 2, 0 };
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	fd = sender(AF_INET);
	CU_ASSERT_EQUAL(send(fd, "x", 1, 0), 1);
	CU_ASSERT_EQUAL(wait_and_receive(&self, 5000), 0);
	CU_ASSERT_EQUAL(told.received, 1);
	close(fd);
	ended(&self);

	self = made("127.0.0.1:0");
	set.allow = (struct sonde_list) { bad, 1, 0 };
	CU_ASSERT_EQUAL(start(&self), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "allow = 192.0.2.0/99"));
	ended(&self);
}

/* socket(7), SO_RXQ_OVFL: what a full buffer drops is counted, exactly (case 161 of the corpus:
 * true numbers). The count rides on the next datagram that arrives. */
static void overflow(void)
{
	static char bytes[1000];
	struct sonde_instance self = made("127.0.0.1:0");
	unsigned arrived;
	int fd;

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	/* The least that the kernel gives; start() asks for more. */
	setsockopt(held.socket - 1, SOL_SOCKET, SO_RCVBUF, &(int) { 0 }, sizeof(int));
	fd = sender(AF_INET);
	for (int i = 0; i < 200; i++)
		CU_ASSERT_EQUAL(send(fd, bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
	do {
		arrived = told.received;
		CU_ASSERT_EQUAL(wait_and_receive(&self, 0), 0);
	} while (told.received > arrived);
	CU_ASSERT(arrived < 200);
	CU_ASSERT_EQUAL(send(fd, bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
	CU_ASSERT_EQUAL(wait_and_receive(&self, 5000), 0);
	CU_ASSERT_EQUAL(held.dropped, 200 - arrived);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "dropped by the kernel for want of room"));
	close(fd);
	ended(&self);
}

/* The count of the kernel has 32 bits. */
static void overflow_wraps(void)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(uint32_t))] = { 0 };
	struct msghdr message = { .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	struct state state = { .overflow = UINT32_MAX - 1 };
	uint32_t total = 3;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SO_RXQ_OVFL;
	c->cmsg_len = CMSG_LEN(sizeof total);
	memcpy(CMSG_DATA(c), &total, sizeof total);
	count_overflow(&state, &message);
	CU_ASSERT_EQUAL(state.dropped, 5);
}

static void taken_port(void)
{
	struct sonde_instance self = made("127.0.0.1:0"), other;
	struct state first;
	struct sockaddr_in at;
	socklen_t length = sizeof at;
	char listen_at[64];

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(getsockname(held.socket - 1, (struct sockaddr *)&at, &length), 0);
	snprintf(listen_at, sizeof listen_at, "127.0.0.1:%u", ntohs(at.sin_port));
	first = held;
	other = made(listen_at);
	CU_ASSERT_EQUAL(start(&other), -EADDRINUSE);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, listen_at));
	ended(&other);
	held = first;
	ended(&self);
}

CU_TestInfo tests[] = {
	{ "prefixes", prefixes },
	{ "receives", receives },
	{ "times out", times_out },
	{ "longest", longest },
	{ "allowed", allowed },
	{ "overflow", overflow },
	{ "overflow wraps", overflow_wraps },
	{ "taken port", taken_port },
	CU_TEST_INFO_NULL,
};
