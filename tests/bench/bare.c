/* The bare minimum of sampling, to compare with: one pread(2) a file, descriptors kept, one warm buffer, nothing parsed.
 * Usage: bare LIST COUNT [PERIOD_US]: LIST has a path a line, read in this order, COUNT times (0: until it is ended). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 65536, BUFFER = 1 << 18 };

static int files[MOST_FILES];
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
		files[count] = open(path, O_RDONLY | O_CLOEXEC);
		if (files[count] >= 0)
			count++;
	}
	fclose(in);
	return count;
}

/* To the next point of a grid that began at `due`. */
static void wait_for(struct timespec *due, long period_us)
{
	due->tv_nsec += period_us % 1000000 * 1000;
	due->tv_sec += period_us / 1000000 + due->tv_nsec / 1000000000;
	due->tv_nsec %= 1000000000;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL) == EINTR)
		;
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
		for (int f = 0; f < count; f++) {
			ssize_t n = pread(files[f], buffer, sizeof buffer, 0);

			bytes += n > 0 ? n : 0;
		}
	}
	printf("%d files, %ld bytes\n", count, bytes);
	return 0;
}
