/* Waiting for the end of a process. */
#include <errno.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "live/process_stat.h"
#include "live/watch.h"

int watch_open(struct watch *watch, pid_t pid)
{
	struct process_stat stat;
	int err;

	*watch = (struct watch) { .pid = pid, .fd = pidfd_open(pid, 0) };
	if (watch->fd >= 0)
		return 0;
	/* Kernels before 5.3, emulators, and filters of system calls that do not know it. */
	if (errno != ENOSYS && errno != EPERM)
		return -errno;
	err = process_stat(pid, &stat);
	watch->start = err ? 0 : stat.start;
	return err == -ENOENT ? -ESRCH : err;
}

bool watch_ended(const struct watch *watch)
{
	struct pollfd pollfd = { watch->fd, POLLIN, 0 };
	struct process_stat stat;

	if (!watch->pid)
		return false;
	if (watch->fd >= 0)
		return poll(&pollfd, 1, 0) > 0;
	return process_stat(watch->pid, &stat) || stat.start != watch->start || stat.state == 'Z' ||
	       stat.state == 'X';
}

void watch_close(struct watch *watch)
{
	if (watch->pid && watch->fd >= 0)
		close(watch->fd);
	watch->pid = 0;
}
