/* What the guests of test_machines.py need of a program.
 *     memory MIB NODE CPU [huge]  runs on CPU, has MIB bound to NODE (-1: no policy), of the pool of huge pages or not; prints its
 *                                 pid when all of it is there, and waits
 *     memory huge MIB             runs anywhere, has a byte of each huge page that there is room for in MIB; prints its pid, and waits
 *     memory wander MIB FROM TO   has MIB first touched on CPU FROM, then touches it on CPU TO for ever, prints its pid before that
 *     memory as UID COMMAND...    COMMAND as another user, without capabilities */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int run_as(uid_t uid, char **command)
{
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		return 1;
	execvp(command[0], command);
	return 127;
}

static int on_cpu(long cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof cpus, &cpus);
}

static char *map(size_t size, int flags)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
			    -1, 0);

	if (memory == MAP_FAILED) {
		perror("memory");
		exit(1);
	}
	return memory;
}

static void there(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
}

static int touch_huge(size_t size)
{
	const size_t huge = 2 << 20;
	char *memory = map(size + huge, 0);

	memory += huge - (size_t)memory % huge;
	madvise(memory, size, MADV_HUGEPAGE);
	for (size_t at = 0; at < size; at += huge)
		memory[at] = 1;
	there();
	for (;;)
		pause();
}

static int wander(size_t size, long from, long to)
{
	char *memory = map(size, 0);

	madvise(memory, size, MADV_NOHUGEPAGE);
	on_cpu(from);
	memset(memory, 1, size);
	on_cpu(to);
	there();
	for (;;)
		for (size_t at = 0; at < size; at += 4096)
			memory[at]++;
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? (size_t)atol(argv[1]) << 20 : 0;
	long node = argc > 2 ? atol(argv[2]) : -1;
	int pool = argc > 4 ? MAP_HUGETLB : 0;
	unsigned long mask = 1ul << (node < 0 ? 0 : node);
	char *memory;

	if (argc > 3 && strcmp(argv[1], "as") == 0)
		return run_as((uid_t)atol(argv[2]), argv + 3);
	if (argc > 2 && strcmp(argv[1], "huge") == 0)
		return touch_huge((size_t)node << 20);
	if (argc > 4 && strcmp(argv[1], "wander") == 0)
		return wander((size_t)node << 20, atol(argv[3]), atol(argv[4]));
	if (argc < 4)
		return 2;
	memory = map(size, pool);
	if (on_cpu(atol(argv[3])) ||
	    (node >= 0 && syscall(SYS_mbind, memory, size, MPOL_BIND, &mask, sizeof mask * 8, 0))) {
		perror("memory");
		return 1;
	}
	if (!pool)
		madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	there();
	for (;;)
		pause();
}
