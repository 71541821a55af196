/* The kernel's process connector (include/uapi/linux/cn_proc.h, Documentation/driver-api/connector.rst): births, execs and ends
 * of all tasks of the machine, told as they happen. For collectors; part of the plugin ABI, inline throughout. */
#ifndef SONDE_PROCEVENTS_H
#define SONDE_PROCEVENTS_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>

/* A message: two heads, and behind them an operation or an event, whose alignment that does not keep. */
enum {
	PROCEVENTS_HEADS = NLMSG_HDRLEN + sizeof(struct cn_msg),
	PROCEVENTS_BYTES = 256, /* of the longest message, and more */
	PROCEVENTS_BUFFER = 4 << 20,
	PROCEVENTS_ACK_MS = 200
};

/* Whether this program is in the machine's first pid namespace: the kernel's own numbers are those of /proc. */
static inline bool procevents_first_namespace(void)
{
	char name[64];
	ssize_t n = readlink("/proc/self/ns/pid", name, sizeof name - 1);

	if (n < 0)
		return false;
	name[n] = '\0';
	return strcmp(name, "pid:[4026531836]") == 0; /* PROC_PID_INIT_INO */
}

/* A message into an event; what an older kernel did not write is 0. False where it is none. */
static inline bool procevents_parse(const char *bytes, ssize_t length, struct proc_event *event)
{
	size_t least = offsetof(struct proc_event, event_data) + sizeof event->event_data.fork;

	if (length < (ssize_t)(PROCEVENTS_HEADS + least))
		return false;
	*event = (struct proc_event) { 0 };
	length -= PROCEVENTS_HEADS;
	memcpy(event, bytes + PROCEVENTS_HEADS,
	       (size_t)length < sizeof *event ? (size_t)length : sizeof *event);
	return true;
}

static inline int procevents_tell(int s, enum proc_cn_mcast_op op)
{
	const struct cn_msg connector = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof op };
	const struct nlmsghdr head = { .nlmsg_len = PROCEVENTS_HEADS + sizeof op,
				       .nlmsg_type = NLMSG_DONE };
	char bytes[PROCEVENTS_HEADS + sizeof op] = "";

	memcpy(bytes, &head, sizeof head);
	memcpy(bytes + NLMSG_HDRLEN, &connector, sizeof connector);
	memcpy(bytes + PROCEVENTS_HEADS, &op, sizeof op);
	return send(s, bytes, sizeof bytes, 0) < 0 ? -errno : 0;
}

static inline int procevents_subscribe(int s)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	struct pollfd wait = { .fd = s, .events = POLLIN };
	const int size = PROCEVENTS_BUFFER;
	char bytes[PROCEVENTS_BYTES];
	struct proc_event event;
	int err;

	if (setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size))
		setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
	if (bind(s, (const struct sockaddr *)&address, sizeof address))
		return -errno;
	err = procevents_tell(s, PROC_CN_MCAST_LISTEN);
	/* The acknowledgement has an error, or none; events may come before it. */
	while (!err && poll(&wait, 1, PROCEVENTS_ACK_MS) > 0) {
		ssize_t n = recv(s, bytes, sizeof bytes, MSG_DONTWAIT);

		if (n < 0)
			return -errno;
		if (procevents_parse(bytes, n, &event) && event.what == PROC_EVENT_NONE)
			return -(int)event.event_data.ack.err;
	}
	return err ? err : -ETIMEDOUT;
}

/* A socket that hears of every task; from Linux 6.6 on for any user, before with CAP_NET_ADMIN, in the machine's first pid
 * namespace alone (-ENOTUNIQ: its numbers would be others). Or a negative errno. */
static inline int procevents_open(void)
{
	int err, s = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);

	if (s < 0)
		return -errno;
	err = procevents_first_namespace() ? procevents_subscribe(s) : -ENOTUNIQ;
	if (err)
		close(s);
	return err ? err : s;
}

/* Kernels before 6.6 count listeners by what they say, not by their sockets. */
static inline void procevents_close(int s)
{
	procevents_tell(s, PROC_CN_MCAST_IGNORE);
	close(s);
}

/* The next event, which waits already. 0 where it is none; -EAGAIN: no more waits; -ENOBUFS: the kernel had to drop some; another
 * negative errno; else 1. */
static inline int procevents_next(int s, struct proc_event *event)
{
	char bytes[PROCEVENTS_BYTES];
	ssize_t n;

	do
		n = recv(s, bytes, sizeof bytes, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : procevents_parse(bytes, n, event);
}

#endif
