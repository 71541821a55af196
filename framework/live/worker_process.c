/* Workers as processes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "host/must.h"
#include "live/process_stat.h"
#include "host/worker.h"
#include "live/worker_process.h"

/* To see a worker go. */
static const uint64_t reap_ns = NS_PER_S / 2;
/* How often a wait looks whether the pipeline stops. */
enum { LOOK_MS = 50 };

/* ---- All of them */

struct workers *workers_new(struct foreign *foreign)
{
	struct workers *workers = must(calloc(1, sizeof *workers));

	workers->foreign = foreign;
	pthread_mutex_init(&workers->lock, NULL);
	return workers;
}

bool workers_any(const struct workers *workers)
{
	return workers && workers->first;
}

void workers_give_up(struct workers *workers, uint64_t deadline)
{
	atomic_store(&workers->give_up, deadline);
}

void workers_free(struct workers *workers)
{
	if (!workers)
		return;
	while (workers->first) {
		struct worker_process *process = workers->first;

		workers->first = process->next;
		pthread_mutex_destroy(&process->busy);
		free(process->group);
		free(process->tenants);
		free(process);
	}
	pthread_mutex_destroy(&workers->lock);
	free(workers);
}

struct worker_process *worker_process_get(struct workers *workers, const char *group)
{
	struct worker_process *process;
	pthread_mutexattr_t twice;

	for (process = workers->first; group && process; process = process->next)
		if (process->group && strcmp(process->group, group) == 0)
			return process;
	process = must(calloc(1, sizeof *process));
	*process = (struct worker_process) { .workers = workers,
					     .next = workers->first,
					     .group = group ? must_copy(group) : NULL,
					     .fd = -1 };
	pthread_mutexattr_init(&twice);
	pthread_mutexattr_settype(&twice, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&process->busy, &twice);
	pthread_mutexattr_destroy(&twice);
	pthread_mutex_lock(&workers->lock);
	workers->first = process;
	pthread_mutex_unlock(&workers->lock);
	return process;
}

/* Those that live are asked by their ticks, which are less than what is counted at their end. */
struct worker_cpu workers_cpu(struct workers *workers)
{
	uint64_t us = 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	struct process_stat stat;
	struct worker_cpu cpu;

	pthread_mutex_lock(&workers->lock);
	cpu = workers->ended;
	for (const struct worker_process *p = workers->first; p; p = p->next) {
		pid_t pid = p->pid ? p->pid : p->stuck;

		if (!pid || process_stat(pid, &stat))
			continue;
		cpu.user_us += stat.utime * us;
		cpu.system_us += stat.stime * us;
	}
	pthread_mutex_unlock(&workers->lock);
	return cpu;
}

/* ---- Start and end */

int worker_process_spawn(struct worker_process *process)
{
	char *arguments[] = { (char *)"sonde", (char *)WORKER_ARGUMENT, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int ends[2];
	int err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], WORKER_FD);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	pthread_mutex_lock(&process->workers->lock);
	err = posix_spawn(&process->pid, "/proc/self/exe", &actions, &attributes, arguments,
			  environ);
	if (err)
		process->pid = 0;
	pthread_mutex_unlock(&process->workers->lock);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (err) {
		close(ends[0]);
		return -err;
	}
	process->fd = ends[0];
	process->born = clock_now(CLOCK_MONOTONIC);
	return 0;
}

static uint64_t microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

/* Waits for at most so long. Whether it was there to be waited for. */
static bool reap(struct worker_process *process, pid_t pid, int *status, uint64_t within)
{
	struct workers *workers = process->workers;
	uint64_t until = clock_now(CLOCK_MONOTONIC) + within;

	for (;;) {
		struct timespec pause = clock_timespec(1000000);
		struct rusage usage;
		pid_t got;

		pthread_mutex_lock(&workers->lock);
		got = wait4(pid, status, WNOHANG, &usage);
		if (got == pid) {
			workers->ended.user_us += microseconds(&usage.ru_utime);
			workers->ended.system_us += microseconds(&usage.ru_stime);
		}
		if (got)
			process->pid = process->stuck = 0;
		pthread_mutex_unlock(&workers->lock);
		if (got)
			return true;
		if (clock_now(CLOCK_MONOTONIC) >= until)
			return false;
		nanosleep(&pause, NULL);
	}
}

void worker_process_end(struct worker_process *process, bool kill_it)
{
	char *text = process->text;
	const size_t size = sizeof process->text;
	pid_t pid = process->pid;
	int status = 0;
	bool gone;

	close(process->fd);
	process->fd = -1;
	if (kill_it)
		kill(pid, SIGKILL);
	gone = reap(process, pid, &status, reap_ns);
	if (!gone && !kill_it) {
		kill(pid, SIGKILL);
		gone = reap(process, pid, &status, reap_ns);
	}
	if (!gone) {
		pthread_mutex_lock(&process->workers->lock);
		process->stuck = pid;
		process->pid = 0;
		pthread_mutex_unlock(&process->workers->lock);
		snprintf(text, size, "its worker %d does not die: it hangs in the kernel",
			 (int)pid);
	} else if (!kill_it && WIFSIGNALED(status)) {
		snprintf(text, size, "its worker was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	} else if (!kill_it) {
		snprintf(text, size, "its worker ended with status %d", WEXITSTATUS(status));
	}
}

bool worker_process_stuck(struct worker_process *process)
{
	int status;

	return process->stuck && !reap(process, process->stuck, &status, 0);
}

/* ---- Its socket */

static int wait_for(struct worker_process *process, short events, uint64_t deadline)
{
	struct pollfd pollfd = { .fd = process->fd, .events = events };

	for (;;) {
		uint64_t give_up = atomic_load(&process->workers->give_up);
		uint64_t now = clock_now(CLOCK_MONOTONIC);
		int n;

		if (now >= deadline || (give_up && now >= give_up))
			return -ETIMEDOUT;
		n = poll(&pollfd, 1, LOOK_MS);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

int worker_process_send(struct worker_process *process, const void *bytes, size_t length,
			uint64_t deadline)
{
	const char *at = bytes;

	while (length) {
		ssize_t n = send(process->fd, at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		int err = 0;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			err = wait_for(process, POLLOUT, deadline);
		else if (n < 0)
			err = -EPIPE;
		if (err)
			return err;
		at += n > 0 ? n : 0;
		length -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int worker_process_receive(struct worker_process *process, void *bytes, size_t length,
			   uint64_t deadline)
{
	char *at = bytes;

	while (length) {
		ssize_t n = recv(process->fd, at, length, MSG_DONTWAIT);
		int err = 0;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			err = wait_for(process, POLLIN, deadline);
		else if (n <= 0)
			err = -EPIPE;
		if (err)
			return err;
		at += n > 0 ? n : 0;
		length -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}
