/* Sockets of generic netlink, and the messages of the family TASKSTATS (netlink(7), Documentation/accounting/taskstats.rst). */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "genl.h"
#include "link.h"

/* Room for some ten thousand records. */
enum { RECEIVE_BUFFER = 16 << 20 };

struct call {
	int *socket;
	const void *request; /* NULL: nothing is asked */
	size_t length;
	bool listens;
};

void link_init(struct link *link)
{
	link->ask = link->listen = -1;
}

void link_close(struct link *link)
{
	if (link->ask >= 0)
		close(link->ask);
	if (link->listen >= 0)
		close(link->listen);
	link_init(link);
}

static int open_socket(bool listens)
{
	const struct timeval second = { .tv_sec = 1 };
	const int size = RECEIVE_BUFFER;
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (s < 0)
		return -errno;
	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
	if (listens && setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size))
		setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
	return s;
}

/* Sends the request and waits for the answer; a listener's is only an error, if there is one. */
static int64_t talk(void *context, void *buffer, uint64_t size)
{
	const struct call *call = context;
	ssize_t n;

	if (*call->socket < 0) {
		int s = open_socket(call->listens);

		if (s < 0)
			return s;
		*call->socket = s;
	}
	if (call->request && send(*call->socket, call->request, call->length, 0) < 0)
		return -errno;
	do
		n = recv(*call->socket, buffer, size, call->listens ? MSG_DONTWAIT : 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int64_t exchange(struct sonde_instance *self, struct link *link, const char *name,
			struct call *call)
{
	return sonde_obtain(self, name, talk, call, link->reply, sizeof link->reply);
}

int link_family(struct sonde_instance *self, struct link *link)
{
	char request[GENL_REQUEST_MOST];
	struct call call = { &link->ask, request, 0, false };
	struct genl_message message;
	struct genl_attribute id;
	const char *at = link->reply;
	int64_t n;

	call.length = genl_request(request, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
				   TASKSTATS_GENL_NAME, sizeof TASKSTATS_GENL_NAME);
	n = exchange(self, link, "taskstats family", &call);
	if (n < 0)
		return (int)n;
	if (!genl_next(&at, at + n, &message))
		return -EBADMSG;
	if (message.error)
		return message.error;
	if (!genl_find(message.at, message.length, CTRL_ATTR_FAMILY_ID, &id) ||
	    id.length < sizeof link->family)
		return -EBADMSG;
	memcpy(&link->family, id.at, sizeof link->family);
	return 0;
}

/* AGGR_PID or AGGR_TGID: a number and a record. */
static bool take_record(const struct genl_attribute *aggregate, struct stats *stats)
{
	struct genl_attribute id, record;

	stats->group = aggregate->type == TASKSTATS_TYPE_AGGR_TGID;
	if (!genl_find(aggregate->at, aggregate->length,
		       stats->group ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID, &id) ||
	    id.length < sizeof stats->id ||
	    !genl_find(aggregate->at, aggregate->length, TASKSTATS_TYPE_STATS, &record))
		return false;
	memcpy(&stats->id, id.at, sizeof stats->id);
	stats->at = record.at;
	stats->length = record.length;
	return true;
}

int link_parse(const char *reply, size_t length, uint16_t family, struct stats *stats, int most)
{
	const char *at = reply, *end = reply + length;
	struct genl_message message;
	struct genl_attribute attribute;
	int n = 0;

	while (genl_next(&at, end, &message)) {
		const char *in = message.at, *last = message.at + message.length;

		if (message.error)
			return message.error;
		if (message.type != family)
			continue;
		while (n < most && genl_next_attribute(&in, last, &attribute))
			if (attribute.type == TASKSTATS_TYPE_AGGR_PID ||
			    attribute.type == TASKSTATS_TYPE_AGGR_TGID)
				n += take_record(&attribute, &stats[n]);
	}
	return n;
}

int link_ask(struct sonde_instance *self, struct link *link, const char *name, uint16_t attribute,
	     uint32_t id, struct stats *stats)
{
	char request[GENL_REQUEST_MOST];
	struct call call = { &link->ask, request, 0, false };
	int64_t n;

	call.length =
		genl_request(request, link->family, TASKSTATS_CMD_GET, attribute, &id, sizeof id);
	n = exchange(self, link, name, &call);
	if (n >= 0)
		n = link_parse(link->reply, (size_t)n, link->family, stats, 1);
	return n < 0 ? (int)n : n == 1 ? 0 : -EBADMSG;
}

int link_listen(struct sonde_instance *self, struct link *link)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/sys/devices/system/cpu/possible");
	char request[GENL_REQUEST_MOST];
	struct call call = { &link->listen, request, 0, true };
	struct stats none;
	const char *text = "0\n";
	int64_t n = file ? sonde_read(self, file, &text) : 2;

	sonde_close(self, file);
	if (n < 1)
		return -ENODATA;
	/* The list's line feed becomes the NUL that the kernel wants. */
	snprintf(link->reply, sizeof link->reply, "%.*s", (int)n - 1, text);
	call.length = genl_request(request, link->family, TASKSTATS_CMD_GET,
				   TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, link->reply, (size_t)n);
	if (!call.length)
		return -E2BIG;
	n = exchange(self, link, "taskstats listen", &call);
	if (n >= 0)
		n = link_parse(link->reply, (size_t)n, link->family, &none, 1);
	return n < 0 && n != -EAGAIN ? (int)n : 0;
}

int link_receive(struct sonde_instance *self, struct link *link, struct stats *stats)
{
	struct call call = { &link->listen, NULL, 0, true };
	int64_t n = exchange(self, link, "taskstats exit", &call);

	return n < 0 ? (int)n
		     : link_parse(link->reply, (size_t)n, link->family, stats, LINK_RECORDS);
}
