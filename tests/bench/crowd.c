/* Processes to watch. Usage: crowd COUNT ACTIVE: COUNT children that sleep, ACTIVE of them waking up every 100 ms for about
 * 50 us; says "ready" when all are there, and ends them when its input ends. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void work(void)
{
	struct timespec wait = { .tv_nsec = 100000000 };
	volatile unsigned sum = 0;

	for (;;) {
		for (unsigned i = 0; i < 25000; i++)
			sum += i;
		nanosleep(&wait, NULL);
	}
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[1]) : 0, active = argc == 3 ? atoi(argv[2]) : 0;
	pid_t parent = getpid();

	if (count <= 0 || setpgid(0, 0))
		return 2;
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		if (i < active)
			work();
		for (;;)
			pause();
	}
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
