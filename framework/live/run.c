/* A live pipeline from its start until something ends it: a signal, its time, its instants, the process that it watches. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "host/log.h"
#include "host/pipeline_parts.h"
#include "host/signals.h"
#include "live/watch.h"

/* A command that waits for the first samples waits no longer. */
enum { FIRST_SAMPLES_NS = 2000000000 };

struct run {
	int signals;
	struct watch watch;
	uint64_t origin, next_progress;
	bool started; /* the caller was told */
	const char *reason;
	enum last_sample last_sample;
};

static void end_with(struct run *run, const char *reason, enum last_sample last_sample)
{
	if (run->reason)
		return;
	run->reason = reason;
	run->last_sample = last_sample;
}

/* Orphans that ended; who else is waited for, by whom, is not taken: the watched process, and workers. */
static void reap_orphans(const struct pipeline *pipeline)
{
	siginfo_t info = { 0 };

	while (!workers_any(pipeline->workers) &&
	       waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
	       info.si_pid != pipeline->options.watch_pid)
		waitpid(info.si_pid, NULL, WNOHANG);
}

/* What the terminal sends reaches the whole process group by itself; so does what the command sends to its group. */
static void hand_on(const struct pipeline *pipeline, const struct signalfd_siginfo *info)
{
	pid_t command = (pid_t)pipeline->options.watch_pid;

	if (info->ssi_code <= 0 && info->ssi_pid != (uint32_t)command)
		kill(command, (int)info->ssi_signo);
}

static void take_signals(struct pipeline *pipeline, struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGHUP && pipeline->options.reloads)
			pipeline_reload(pipeline);
		else if (info.ssi_signo == SIGCHLD)
			reap_orphans(pipeline);
		else if (pipeline->options.escorts)
			hand_on(pipeline, &info);
		else
			end_with(run, "signal", LAST_IF_OLD);
	}
}

static uint64_t delivered_bytes(struct pipeline *pipeline)
{
	struct delivery_counts counts;
	uint64_t bytes = 0;

	for (size_t i = 0; i < pipeline->parts.count; i++) {
		if (instance_kind(pipeline->parts.instances[i]) != SONDE_KIND_SINK)
			continue;
		delivery_counts(pipeline->parts.instances[i]->role, &counts);
		bytes += counts.bytes;
	}
	return bytes;
}

/* Whoever reads what the sinks write has enough. */
static bool sinks_finished(const struct pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->parts.count; i++)
		if (instance_kind(pipeline->parts.instances[i]) == SONDE_KIND_SINK &&
		    !delivery_finished(pipeline->parts.instances[i]->role))
			return false;
	return true;
}

/* What has come about by itself. */
static void look(struct pipeline *pipeline, struct run *run)
{
	const struct pipeline_options *options = &pipeline->options;
	uint64_t now = clock_now(CLOCK_MONOTONIC);

	if (!run->started && (atomic_load(&pipeline->sampled) >= pipeline->nlanes ||
			      now - run->origin > FIRST_SAMPLES_NS)) {
		run->started = true;
		if (options->started)
			options->started(options->context);
	}
	if (atomic_load(&pipeline->stop_asked))
		end_with(run, "signal", LAST_IF_OLD);
	if (options->max_instants && pipeline_main_instants(pipeline) >= options->max_instants)
		end_with(run, "frames", LAST_NONE);
	if (options->duration && now - run->origin >= options->duration)
		end_with(run, "duration", LAST_IF_OLD);
	if (sinks_finished(pipeline))
		end_with(run, "error", LAST_NONE);
	if (options->progress && now >= run->next_progress) {
		run->next_progress = now + NS_PER_S;
		options->progress(options->context, now - run->origin,
				  pipeline_main_instants(pipeline), delivered_bytes(pipeline));
	}
	if (!pipeline->nlanes)
		stream_speak(&pipeline->stream);
}

/* Milliseconds until look() has something to do by the clock; -1: nothing. */
static int patience(const struct pipeline *pipeline, const struct run *run)
{
	const struct pipeline_options *options = &pipeline->options;
	uint64_t now = clock_now(CLOCK_MONOTONIC), until = UINT64_MAX;

	if (options->duration)
		until = run->origin + options->duration;
	if (options->progress && run->next_progress < until)
		until = run->next_progress;
	if (run->watch.pid && run->watch.fd < 0 && now + WATCH_MS * 1000000ull < until)
		until = now + WATCH_MS * 1000000ull;
	if (!run->started && run->origin + FIRST_SAMPLES_NS < until)
		until = run->origin + FIRST_SAMPLES_NS + 1;
	if (!pipeline->nlanes && now + NS_PER_S < until)
		until = now + NS_PER_S;
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 : (int)((until - now + 999999) / 1000000);
}

static void loop(struct pipeline *pipeline, struct run *run)
{
	siginfo_t child = { 0 };
	bool ours = pipeline->options.watch_pid && waitid(P_PID, (id_t)pipeline->options.watch_pid,
							  &child, WEXITED | WNOHANG | WNOWAIT) == 0;
	uint64_t count;

	while (!run->reason) {
		struct pollfd fds[] = { { run->signals, POLLIN, 0 },
					{ pipeline->poke, POLLIN, 0 },
					{ run->watch.pid ? run->watch.fd : -1, POLLIN, 0 } };

		poll(fds, 3, patience(pipeline, run));
		if (fds[0].revents)
			take_signals(pipeline, run);
		if (fds[1].revents && read(pipeline->poke, &count, sizeof count) < 0)
			continue;
		look(pipeline, run);
		if (!watch_ended(&run->watch))
			continue;
		if (pipeline->options.ended)
			pipeline->options.ended(pipeline->options.context);
		end_with(run, ours ? "command" : "pid", LAST_ALWAYS);
	}
}

static int open_events(struct pipeline *pipeline, struct run *run)
{
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	/* nohup(1): a blocked signal would come all the same. */
	sigaction(SIGHUP, NULL, &hangup);
	if (pipeline->options.reloads || hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	if (pipeline->options.adopts)
		sigaddset(&set, SIGCHLD);
	if (pipeline->options.escorts)
		sigaddset(&set, SIGQUIT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signals < 0)
		return -errno;
	return pipeline->options.watch_pid
		       ? watch_open(&run->watch, (pid_t)pipeline->options.watch_pid)
		       : 0;
}

/* 0, or -ENOBUFS: a sink did not get every instant. A reader that had enough got all that it wanted. */
static int all_delivered(struct pipeline *pipeline)
{
	struct delivery_counts counts;
	int err = 0;

	for (size_t i = 0; i < pipeline->parts.count; i++) {
		struct instance *instance = pipeline->parts.instances[i];

		if (instance_kind(instance) != SONDE_KIND_SINK || !instance->role ||
		    delivery_finished(instance->role))
			continue;
		delivery_counts(instance->role, &counts);
		if (!counts.ring.settled[RING_DROPPED] && !counts.ring.queued)
			continue;
		err = -ENOBUFS;
		if (instance->reason[0])
			config_error(pipeline->config, instance->self.name, 0,
				     "%s; not every sample is in it", instance->reason);
	}
	return err;
}

int pipeline_run(struct pipeline *pipeline)
{
	struct run run = { .signals = -1 };
	struct signals actions;
	sigset_t before;
	int err;

	signals_ignore(&actions);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	err = open_events(pipeline, &run);
	if (!err)
		err = pipeline_start_all(pipeline, &run.origin);
	if (!err)
		loop(pipeline, &run);
	pipeline_stop_all(pipeline, run.reason, run.last_sample);
	if (run.signals >= 0)
		close(run.signals);
	watch_close(&run.watch);
	/* It has ended: what came since it was asked to, or comes yet, asks for nothing more. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (pipeline->options.escorts)
		signal(SIGQUIT, SIG_IGN);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* A sink that hangs may write yet. */
	if (!pipeline->hung)
		signals_restore(&actions);
	if (!err && pipeline->hung) {
		err = -EIO;
		config_error(pipeline->config, "", 0,
			     "ended without waiting for what hangs, as told above");
	}
	if (!err && pipeline->options.whole)
		err = all_delivered(pipeline);
	return err;
}
