/* A function in a child process, with or without privileges: capset(2), prctl(2), setrlimit(2). */
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/confined.h"
#include "host/refuse.h"

enum { SECONDS = 30, CPU_SECONDS = 10 };

static void drop_privileges(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct nothing[2] = { { 0 } };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_capset, &header, nothing);
}

/* Nothing of this can fail in a way that would leave more rights than before. */
static void confine(bool privileges)
{
	const struct rlimit no_core = { 0, 0 }, cpu = { CPU_SECONDS, CPU_SECONDS };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!privileges)
		drop_privileges();
	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_CPU, &cpu);
	signal(SIGALRM, SIG_DFL);
	alarm(SECONDS);
}

static int run_child(int (*run)(void *context), void *context, bool privileges, char *why,
		     size_t size)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return refuse(why, size, "no process for it: %s", strerror(errno));
	if (child == 0) {
		confine(privileges);
		status = run(context);
		fflush(NULL);
		_exit(status);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return refuse(why, size, "its process is lost: %s", strerror(errno));
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WTERMSIG(status) == SIGPIPE) /* whoever read its output has seen enough */
		return 0;
	if (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU)
		return refuse(why, size, "it did not come back and was ended");
	return refuse(why, size, "it crashed while it was %s (%s)", privileges ? "tried" : "loaded",
		      strsignal(WTERMSIG(status)));
}

int confined_run(int (*run)(void *context), void *context, char *why, size_t size)
{
	return run_child(run, context, false, why, size);
}

int apart_run(int (*run)(void *context), void *context, char *why, size_t size)
{
	return run_child(run, context, true, why, size);
}
