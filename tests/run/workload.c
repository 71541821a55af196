/* The workload of `make run`: a program that spins, or one that faults memory in and drops it (madvise(2), proc(5)). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { PAGE = 4096, PAGES_A_ROUND = 1000, ROUNDS_A_SECOND = 20 };

static void spin(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

/* 20,000 faults a second, as far as it gets the CPU for them: a round that is late is not made up for. */
static int fault(void)
{
	const long period = 1000000000 / ROUNDS_A_SECOND;
	size_t size = (size_t)PAGE * PAGES_A_ROUND;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec due;

	if (memory == MAP_FAILED || madvise(memory, size, MADV_NOHUGEPAGE))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (;;) {
		for (size_t at = 0; at < size; at += PAGE)
			memory[at] = 1;
		if (madvise(memory, size, MADV_DONTNEED))
			return 1;
		due.tv_nsec += period;
		if (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
}

/* Dies with who started it: an interrupted script leaves no spinner behind. */
int main(int argc, char **argv)
{
	const char *role = argc == 2 ? argv[1] : "";

	if (prctl(PR_SET_PDEATHSIG, 9) || prctl(PR_SET_NAME, role))
		return 1;
	if (strcmp(role, "spinner") == 0)
		spin();
	if (strcmp(role, "faulter") == 0)
		return fault();
	fprintf(stderr, "usage: workload spinner|faulter\n");
	return 2;
}
