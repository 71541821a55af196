/* A kernel that fails for a while, to be preloaded: reads of /proc and /sys give the errno that stands in the file which FAULTY names,
 * while that is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ssize_t real_read(int fd, void *buffer, size_t size)
{
	ssize_t (*call)(int, void *, size_t);

	*(void **)&call = dlsym(RTLD_NEXT, "read");
	return call(fd, buffer, size);
}

static ssize_t real_pread(int fd, void *buffer, size_t size, off_t offset)
{
	ssize_t (*call)(int, void *, size_t, off_t);

	*(void **)&call = dlsym(RTLD_NEXT, "pread64");
	return call(fd, buffer, size, offset);
}

/* Sets errno where a read of it has to fail. */
static int fails(int fd)
{
	const char *name = getenv("FAULTY");
	int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1, error = 0;
	char link[64], path[16] = "", text[16] = "";

	if (file < 0)
		return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof path - 1) > 0 &&
	    (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0) &&
	    real_read(file, text, sizeof text - 1) > 0)
		error = atoi(text);
	close(file);
	if (error)
		errno = error;
	return error;
}

ssize_t read(int fd, void *buffer, size_t size)
{
	return fails(fd) ? -1 : real_read(fd, buffer, size);
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
	return fails(fd) ? -1 : real_pread(fd, buffer, size, offset);
}

ssize_t pread64(int fd, void *buffer, size_t size, off_t offset)
{
	return fails(fd) ? -1 : real_pread(fd, buffer, size, offset);
}
