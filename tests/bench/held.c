/* What a read of /proc/PID/FILE costs the process that is read: how long its page faults and its mmap() calls take meanwhile.
 * Usage: held MIB SECONDS [FILE]; one line: a read's median, ms, then of page faults and of mmap() median, 99.9th percentile, longest, us. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 20, PAGES = 256, PAGE = 4096 };

struct times {
	double us[MOST];
	size_t count;
};

static struct times faults, mmaps;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return memory;
}

/* Once `go` is closed on the other side: a read after the other, whole; how long one takes goes into the pipe. */
static void read_again_and_again(pid_t pid, const char *name, int go, int out)
{
	static char buffer[64 << 10];
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	while (read(go, buffer, 1) > 0)
		;
	for (;;) {
		double begin = now(), ms;
		int fd = open(path, O_RDONLY);

		while (read(fd, buffer, sizeof buffer) > 0)
			;
		close(fd);
		ms = (now() - begin) / 1e3;
		if (write(out, &ms, sizeof ms) != sizeof ms)
			_exit(1);
	}
}

static void measure(char *pages, double until)
{
	for (double begin = now(); begin < until && faults.count < MOST - PAGES;) {
		madvise(pages, PAGES * PAGE, MADV_DONTNEED);
		for (int i = 0; i < PAGES; i++) {
			begin = now();
			((volatile char *)pages)[i * PAGE] = 1;
			faults.us[faults.count++] = now() - begin;
		}
		begin = now();
		munmap(map(PAGE), PAGE);
		mmaps.us[mmaps.count++] = now() - begin;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(struct times *times)
{
	qsort(times->us, times->count, sizeof times->us[0], by_value);
	printf(" %.2f %.1f %.1f", times->us[times->count / 2], times->us[times->count * 999 / 1000],
	       times->us[times->count - 1]);
}

/* A process of its own that reads this one, forked before there is memory that both would have. */
static pid_t start_reader(const char *name, int *go, int *results)
{
	pid_t self = getpid(), child;
	int begin[2], ends[2];

	if (pipe(begin) || pipe2(ends, O_NONBLOCK))
		exit(1);
	child = fork();
	if (!child) {
		close(begin[1]);
		read_again_and_again(self, name, begin[0], ends[1]);
	}
	*go = begin[1];
	*results = ends[0];
	return child;
}

int main(int argc, char **argv)
{
	double reads[64] = { 0 }, ms;
	int go = -1, results = -1, n = 0;
	pid_t child = 0;
	size_t size;
	char *memory, *pages;

	if (argc < 3)
		return 2;
	if (argc > 3)
		child = start_reader(argv[3], &go, &results);
	size = (size_t)atol(argv[1]) << 20;
	memory = map(size);
	madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	pages = map(PAGES * PAGE);
	madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	close(go);
	measure(pages, now() + atof(argv[2]) * 1e6);
	while (child && n < 64 && read(results, &ms, sizeof ms) == sizeof ms)
		reads[n++] = ms;
	if (child) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	qsort(reads, (size_t)n, sizeof reads[0], by_value);
	printf("%.2f", n ? reads[n / 2] : 0);
	print(&faults);
	print(&mmaps);
	printf("\n");
	return 0;
}
