/* The udp sink over the loopback: addresses by hand after RFC 3986, errors after udp(7) and
 * ip(7). */
#include <arpa/inet.h>
#include <time.h>

#include "sink_host.h"

#include "sinks/udp/udp.c"

const char suite[] = "udp sink";

static struct conf set;
static struct state held;
static char address[64];

static struct sonde_instance made(const char *to)
{
	struct sonde_instance self = told_instance(&set, sizeof set, &held, sizeof held);

	set.address = to;
	set.interface = "";
	set.size = 1400;
	set.ttl = 1;
	return self;
}

/* A socket that listens on a port of the loopback; `address` then names it. */
static int listener(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof at;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	CU_ASSERT_EQUAL_FATAL(getsockname(fd, (struct sockaddr *)&at, &length), 0);
	snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(at.sin_port));
	return fd;
}

static void addresses(void)
{
	static const struct {
		const char *text, *host, *port;
	} cases[] = {
		{ "192.0.2.7:8125", "192.0.2.7", "8125" },
		{ "collector.example:sonde", "collector.example", "sonde" },
		{ "[2001:db8::7]:8125", "2001:db8::7", "8125" },
		{ "[fe80::1%eth0]:1", "fe80::1%eth0", "1" },
		{ "*:8125", "*", "8125" },
		{ "192.0.2.7", NULL, NULL },
		{ "192.0.2.7:", NULL, NULL },
		{ ":8125", NULL, NULL },
		{ "2001:db8::7:8125", NULL, NULL }, /* which colon? */
		{ "[]:8125", NULL, NULL },
		{ "", NULL, NULL },
	};
	char host[256], port[32];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CU_ASSERT_EQUAL(sonde_address_split(cases[i].text, host, port),
				cases[i].host != NULL);
		if (!cases[i].host)
			continue;
		CU_ASSERT_STRING_EQUAL(host, cases[i].host);
		CU_ASSERT_STRING_EQUAL(port, cases[i].port);
	}
}

static void refused_addresses(void)
{
	struct sonde_instance self = made("127.0.0.1");

	CU_ASSERT_EQUAL(start(&self), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "address = 127.0.0.1: it is not HOST:PORT"));
	stop(&self);
	self = made("127.0.0.1:8125");
	set.interface = "nosuch0";
	CU_ASSERT_EQUAL(start(&self), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "interface = nosuch0: No such device"));
	stop(&self);
}

static void sends(void)
{
	int fd = listener();
	struct sonde_instance self = made(address);
	char got[64];

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(bytes(&self, "one", 3, 0), 0);
	CU_ASSERT_EQUAL(bytes(&self, "second", 6, 0), 0);
	CU_ASSERT_EQUAL(recv(fd, got, sizeof got, 0), 3);
	CU_ASSERT_EQUAL(recv(fd, got, sizeof got, 0), 6);
	CU_ASSERT_NSTRING_EQUAL(got, "second", 6);
	stop(&self);
	close(fd);
}

/* Cases 154 to 156 of the corpus. 65,507 bytes are the most that UDP over IPv4 carries; one more is
 * EMSGSIZE, dropped whole, said once, not tried again; the next one of a size that fits goes
 * through. */
static void too_long(void)
{
	static char bytes_of[70000];
	int fd = listener();
	struct sonde_instance self = made(address);
	char got[64];

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(bytes(&self, bytes_of, sizeof bytes_of, 0), -EMSGSIZE);
	CU_ASSERT_EQUAL(bytes(&self, bytes_of, 65508, 0), -EMSGSIZE);
	CU_ASSERT_EQUAL(told.messages, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "lower `size`"));
	CU_ASSERT_EQUAL(recv(fd, got, sizeof got, 0), -1);
	CU_ASSERT_EQUAL(bytes(&self, "x", 1, 0), 0);
	CU_ASSERT_EQUAL(recv(fd, got, sizeof got, 0), 1);
	stop(&self);
	close(fd);
}

/* Not fragmented, whatever the path: ip(7), IP_PMTUDISC_DO. The size is the configured one, or what
 * the first step's MTU leaves for data: of the loopback's 65,536 bytes 28 are headers. */
static void path_mtu(void)
{
	int fd = listener();
	struct sonde_instance self = made(address);
	socklen_t length = sizeof(int);
	int discover = -1, mtu = 0;

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	CU_ASSERT_EQUAL(datagram_size(&self), 1400);
	CU_ASSERT_EQUAL(
		getsockopt(held.socket - 1, IPPROTO_IP, IP_MTU_DISCOVER, &discover, &length), 0);
	CU_ASSERT_EQUAL(discover, IP_PMTUDISC_DO);
	CU_ASSERT_EQUAL(getsockopt(held.socket - 1, IPPROTO_IP, IP_MTU, &mtu, &length), 0);
	set.size = (uint64_t)mtu;
	CU_ASSERT_EQUAL(datagram_size(&self), (uint64_t)mtu - 28);
	stop(&self);
	close(fd);
}

/* udp(7): ECONNREFUSED tells of the datagram before. Said once, none of it fatal; when somebody
 * listens, they arrive. */
static void nobody_listens(void)
{
	int fd = listener();
	struct sonde_instance self = made(address);
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	char got[64];

	close(fd);
	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	for (int i = 0; i < 10; i++) {
		int err = bytes(&self, "lost", 4, 0);

		CU_ASSERT(err == 0 || err == -ECONNREFUSED);
	}
	CU_ASSERT_EQUAL(told.messages, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "nobody listens there; sending on"));
	at.sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	CU_ASSERT_EQUAL(bytes(&self, "found", 5, 0), 0);
	CU_ASSERT_EQUAL(recv(fd, got, sizeof got, 0), 5);
	stop(&self);
	close(fd);
}

/* A send buffer that is full (case 162: never waited for): dropped, counted by the host, said once.
 * On the loopback the receiver's full buffer drops without a word, so the sender's own is made too
 * small for two: socket(7), SO_SNDBUF. */
static void never_waits(void)
{
	static char big[60000];
	int fd = listener();
	struct sonde_instance self = made(address);
	struct timespec before, after;
	int ends[2];

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	/* A stream socket whose peer does not read stands in for a network that takes nothing. */
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	dup2(ends[0], held.socket - 1);
	clock_gettime(CLOCK_MONOTONIC, &before);
	while (bytes(&self, big, sizeof big, 0) == 0)
		;
	for (int i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(bytes(&self, big, sizeof big, 0), -ENOBUFS);
	clock_gettime(CLOCK_MONOTONIC, &after);
	CU_ASSERT(after.tv_sec - before.tv_sec <= 1);
	CU_ASSERT_EQUAL(told.messages, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.log, "dropping"));
	stop(&self);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* SIGHUP: another socket to the same place; the old one is not leaked. */
static void reopening(void)
{
	int fd = listener();
	struct sonde_instance self = made(address);
	int before, spare;

	CU_ASSERT_EQUAL_FATAL(start(&self), 0);
	before = held.socket - 1;
	CU_ASSERT_EQUAL(reopen(&self), 0);
	CU_ASSERT_NOT_EQUAL(held.socket - 1, before);
	spare = dup(fd);
	CU_ASSERT_EQUAL(spare, before);
	CU_ASSERT_EQUAL(bytes(&self, "x", 1, 0), 0);
	stop(&self);
	close(spare);
	close(fd);
}

CU_TestInfo tests[] = {
	{ "addresses", addresses },
	{ "refused addresses", refused_addresses },
	{ "sends", sends },
	{ "too long", too_long },
	{ "path MTU", path_mtu },
	{ "nobody listens", nobody_listens },
	{ "never waits", never_waits },
	{ "reopening", reopening },
	CU_TEST_INFO_NULL,
};
