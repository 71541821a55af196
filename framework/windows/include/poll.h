/* poll(2): files are always ready. */
#ifndef WINDOWS_POLL_H
#define WINDOWS_POLL_H

struct pollfd {
	int fd;
	short events, revents;
};
enum { POLLIN = 1, POLLOUT = 4 };

static inline int poll(struct pollfd *fds, unsigned long count, int timeout)
{
	(void)timeout;
	for (unsigned long i = 0; i < count; i++)
		fds[i].revents = fds[i].events;
	return (int)count;
}

#endif
