/* The bare minimum of sampling, to compare with: one pread(2) a file, descriptors kept, one warm buffer, nothing parsed.
 * Usage: bare LIST COUNT [PERIOD_US]: LIST has a path a line, read in this order, COUNT times (0: until it is ended); one behind "+"
 * is that of the line before, and its read goes on where that one ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 65536, BUFFER = 1 << 18 };

static int files[MOST_FILES]; /* descriptors; -1: the one before, going on */
static char buffer[BUFFER];

static int open_files(const char *list)
{
	char path[4096];
	FILE *in = fopen(list, "re");
	int count = 0;

	if (!in)
		return -errno;
	while (count < MOST_FILES && fgets(path, sizeof path, in)) {
		path[strcspn(path, "\n")] = 0;
		if (path[0] == '+') {
			files[count++] = -1;
			continue;
		}
		files[count] = open(path, O_RDONLY | O_CLOEXEC);
		if (files[count] >= 0)
			count++;
	}
	fclose(in);
	return count;
}

static void add_us(struct timespec *time, long us)
{
	time->tv_nsec += us % 1000000 * 1000;
	time->tv_sec += us / 1000000 + time->tv_nsec / 1000000000;
	time->tv_nsec %= 1000000000;
}

/* To the next point of a grid that began at `due`; those that have passed are left out, as sonde does. */
static void wait_for(struct timespec *due, long period_us)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	do {
		add_us(due, period_us);
	} while (due->tv_sec < now.tv_sec ||
		 (due->tv_sec == now.tv_sec && due->tv_nsec < now.tv_nsec));
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL) == EINTR)
		;
}

/* All files once. Returns bytes. */
static long read_all(int count)
{
	long bytes = 0;
	off_t at = 0;
	int fd = -1;

	for (int f = 0; f < count; f++) {
		ssize_t n;

		if (files[f] >= 0) {
			fd = files[f];
			at = 0;
		}
		n = pread(fd, buffer, sizeof buffer, at);
		at += n > 0 ? n : 0;
		bytes += n > 0 ? n : 0;
	}
	return bytes;
}

int main(int argc, char **argv)
{
	struct timespec due;
	long period_us;
	long rounds;
	long bytes = 0;
	int count;

	if (argc < 3)
		return 2;
	rounds = strtol(argv[2], NULL, 10);
	period_us = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	count = open_files(argv[1]);
	if (count < 0) {
		fprintf(stderr, "bare: %s: %s\n", argv[1], strerror(-count));
		return 1;
	}
	memset(buffer, 1, sizeof buffer);
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (long i = 0; !rounds || i < rounds; i++) {
		if (i && period_us)
			wait_for(&due, period_us);
		bytes += read_all(count);
	}
	printf("%d files, %ld bytes\n", count, bytes);
	return 0;
}
