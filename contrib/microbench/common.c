/* Memory, CPUs and processes of the benchmarks (mmap(2), madvise(2), mbind(2), sched_setaffinity(2)). */
#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "microbench.h"

int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("microbench: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return -1;
}

static unsigned asked, matched;

bool wanted(const struct settings *settings, const char *name)
{
	bool is = !settings->only || strncmp(name, settings->only, strlen(settings->only)) == 0;

	asked++;
	matched += is;
	return is;
}

bool none_wanted(void)
{
	return asked && !matched;
}

void tell(const struct settings *settings, const char *benchmark, const char *name, double value,
	  const char *unit)
{
	const char *quote = strchr(name, ',') ? "\"" : ""; /* RFC 4180 */

	if (settings->csv)
		printf("%s,%s%s%s,%.6g,%s\n", benchmark, quote, name, quote, value, unit);
	else
		printf("%-32s %14.6g %s\n", name, value, unit);
	fflush(stdout);
}

uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof set, &set)
		       ? fail("CPU %d: %s; --cpus names others", cpu, strerror(errno))
		       : 0;
}

/* Nodes up to 1023, as the kernel has them. */
static int bind_to(char *memory, uint64_t size, int node)
{
	unsigned long mask[1024 / (8 * sizeof(unsigned long))] = { 0 };
	const size_t bits = 8 * sizeof *mask;

	mask[(size_t)node / bits] = 1ul << ((size_t)node % bits);
	if (!syscall(SYS_mbind, memory, size, MPOL_BIND, mask, sizeof mask * 8, 0))
		return 0;
	return fail("memory on node %d: %s", node, strerror(errno));
}

/* More than asked for is mapped, and what is not aligned given back. */
char *memory_map(uint64_t size, enum pages pages, int node)
{
	char *all, *memory;
	uint64_t before;

	size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	all = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	if (all == MAP_FAILED) {
		fail("%llu MiB of memory: %s", (unsigned long long)size >> 20, strerror(errno));
		return NULL;
	}
	before = (HUGE_PAGE - (uintptr_t)all % HUGE_PAGE) % HUGE_PAGE;
	memory = all + before;
	if (before)
		munmap(all, before);
	if (before < HUGE_PAGE)
		munmap(memory + size, HUGE_PAGE - before);
	/* A kernel without transparent huge pages has base pages alone. */
	if (pages != PAGES_ANY)
		madvise(memory, size, pages == PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (node >= 0 && bind_to(memory, size, node)) {
		munmap(memory, size);
		return NULL;
	}
	return memory;
}

void memory_unmap(char *memory, uint64_t size)
{
	munmap(memory, (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
}

void memory_touch(char *memory, uint64_t size)
{
	for (uint64_t at = 0; at < size; at += PAGE)
		((volatile char *)memory)[at] = 1;
}

uint64_t meminfo(const char *line)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char text[128];

	while (file && fgets(text, sizeof text, file))
		if (strncmp(text, line, strlen(line)) == 0) {
			kib = strtoull(text + strlen(line), NULL, 10);
			break;
		}
	if (file)
		fclose(file);
	return kib * 1024;
}

void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		fail("%zu bytes of shared memory: %s", size, strerror(errno));
		return NULL;
	}
	return memory;
}

/* None outlives this one. */
static pid_t start(int (*work)(void *context, uint32_t index), void *context, uint32_t index)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() == parent && work(context, index) == 0 ? 0 : 1);
	}
	return pid;
}

bool in_processes(uint32_t count, int (*work)(void *context, uint32_t index), void *context)
{
	bool good = true;
	uint32_t started = 0;
	int status;

	fflush(stdout);
	for (; started < count; started++)
		if (start(work, context, started) < 0) {
			fail("process %u: %s", started, strerror(errno));
			good = false;
			break;
		}
	for (uint32_t i = 0; i < started; i++)
		good &= wait(&status) > 0 && status == 0;
	return good;
}
