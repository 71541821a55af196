/* Paths under a root (openat2(2), proc(5)). */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/paths.h"

/* What the kernel answers for the process that asks is, under a root, what PID 1 of that tree would be answered. */
static const struct {
	const char *asked, *of_init;
} of_asker[] = {
	{ "/proc/net/", "/proc/1/net/" },
	{ "/proc/self/", "/proc/1/" },
	{ "/proc/mounts", "/proc/1/mounts" },
};

static int open_in_root(int root, const char *path, uint64_t resolve, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT | resolve };
	long fd = syscall(SYS_openat2, root, path, &how, sizeof how);

	/* Older than 5.6, or refused by a container's filter. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(root, path + strspn(path, "/"), flags);
	return (int)fd;
}

int path_open(int root, const char *path, int flags)
{
	char of_init[4096];
	int fd;

	flags |= O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	if (root < 0)
		return open(path, flags);
	for (size_t i = 0; i < sizeof of_asker / sizeof of_asker[0]; i++) {
		size_t length = strlen(of_asker[i].asked);

		if (strncmp(path, of_asker[i].asked, length) != 0)
			continue;
		snprintf(of_init, sizeof of_init, "%s%s", of_asker[i].of_init, path + length);
		fd = open_in_root(root, of_init, 0, flags);
		/* A captured tree may have the file itself; in a live one it is a link to the asker's. */
		return fd >= 0 ? fd : open_in_root(root, path, RESOLVE_NO_SYMLINKS, flags);
	}
	return open_in_root(root, path, 0, flags);
}
