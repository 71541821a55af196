/* source --> instants --> [analyzers] --> sinks: opened, run until something ends it, closed. */
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "host/header.h"
#include "host/log.h"
#include "host/pipeline_parts.h"
#include "host/signals.h"

/* Everything is flushed within a second: most of it for the lanes' last samples, then for the sinks. */
enum {
	WORKERS_STOP_NS = 100000000,
	LANES_STOP_NS = 400000000,
	SINKS_STOP_NS = 300000000,
	FIRST_SAMPLES_NS = 2000000000
};

/* ---- Open */

static int make_stream(struct pipeline *pipeline)
{
	const struct agent_keys *agent = &pipeline->agent;
	struct sonde_stream_header *header;
	struct files files;
	int err = files_open(&files, agent->root);

	if (err) {
		config_error(pipeline->config, "", 0, "[agent]: root = %s: %s", agent->root,
			     strerror(-err));
		return err;
	}
	header = header_make(&files, agent->host, agent->tags, pipeline->options.label);
	err = header ? stream_init(&pipeline->stream, header) : -ENOMEM;
	files_close(&files);
	return err;
}

static bool has_kind(const struct pipeline *pipeline, uint32_t kind)
{
	for (size_t i = 0; i < pipeline->parts.count; i++)
		if (instance_kind(pipeline->parts.instances[i]) == kind)
			return true;
	return false;
}

int pipeline_open(struct config *config, const struct pipeline_options *options,
		  struct pipeline **out)
{
	struct pipeline *pipeline = calloc(1, sizeof *pipeline);
	int err = -ENOMEM;

	*out = NULL;
	if (!pipeline)
		return err;
	mallopt(M_ARENA_MAX, 1);
	pipeline->config = config;
	pipeline->options = *options;
	pipeline->poke = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pipeline->foreign = foreign_new();
	if (pipeline->foreign && !options->reparse)
		pipeline->workers = workers_new(pipeline->foreign);
	assemble_agent(config, &pipeline->agent, &pipeline->agent_memory);
	if (!config->nerrors || pipeline->agent.root) {
		log_level(pipeline->agent.log);
		files_budget(pipeline->agent.keep);
		pipeline->plugin_path = plugin_path(
			pipeline->agent.plugin_path[0] ? pipeline->agent.plugin_path : NULL);
		err = pipeline->foreign ? make_stream(pipeline) : -ENOMEM;
	}
	if (!err)
		assemble(pipeline, config, &pipeline->agent, pipeline->plugin_path, NULL,
			 &pipeline->parts);
	if (!err && !config->nerrors && !has_kind(pipeline, SONDE_KIND_SINK))
		config_error(config, config->nfiles ? config->files[0] : "", 0,
			     "there is no sink: add [sink:file]");
	if (!err && config->nerrors)
		err = -EINVAL;
	if (err) {
		pipeline_close(pipeline);
		return err;
	}
	*out = pipeline;
	return 0;
}

/* ---- What [self] asks */

void pipeline_each_collector(struct pipeline *pipeline,
			     void (*each)(void *context, const struct instance *instance),
			     void *context)
{
	for (size_t i = 0; i < pipeline->parts.count; i++)
		if (instance_kind(pipeline->parts.instances[i]) == SONDE_KIND_COLLECTOR)
			each(context, pipeline->parts.instances[i]);
}

void pipeline_each_sink(struct pipeline *pipeline,
			void (*each)(void *context, const struct instance *instance,
				     const struct delivery_counts *counts),
			void *context)
{
	struct delivery_counts counts;

	for (size_t i = 0; i < pipeline->parts.count; i++) {
		const struct instance *instance = pipeline->parts.instances[i];

		if (instance_kind(instance) != SONDE_KIND_SINK || !instance->role)
			continue;
		delivery_counts(instance->role, &counts);
		each(context, instance, &counts);
	}
}

/* ---- Start and stop */

void pipeline_poke(struct pipeline *pipeline)
{
	uint64_t one = 1;

	/* Full means that it is awake anyway. */
	if (write(pipeline->poke, &one, sizeof one) < 0)
		return;
}

void pipeline_ask_stop(struct pipeline *pipeline)
{
	atomic_store(&pipeline->stop_asked, true);
	pipeline_poke(pipeline);
}

/* Sinks first, so that nothing is lost; a part that is left out is gone. */
static int start_kind(struct pipeline *pipeline, uint32_t kind)
{
	for (size_t i = 0; i < pipeline->parts.count; i++) {
		struct instance *instance = pipeline->parts.instances[i];
		int err = 0;

		if (instance_kind(instance) == kind)
			err = part_start(pipeline, pipeline->config, instance);
		if (err < 0)
			return err;
		if (err == 0)
			continue;
		part_free(instance);
		pipeline->parts.count--;
		memmove(pipeline->parts.instances + i, pipeline->parts.instances + i + 1,
			(pipeline->parts.count - i) * sizeof(void *));
		i--;
	}
	return 0;
}

static int start_all(struct pipeline *pipeline, uint64_t *origin)
{
	static const uint32_t order[] = { SONDE_KIND_SINK, SONDE_KIND_ANALYZER, SONDE_KIND_SOURCE,
					  SONDE_KIND_COLLECTOR };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof order / sizeof order[0]; i++)
		err = start_kind(pipeline, order[i]);
	if (!err)
		err = judge_make(pipeline, pipeline->config, &pipeline->parts, &pipeline->judge);
	if (!err && pipeline->judge)
		err = judge_start(pipeline->judge);
	*origin = clock_now(CLOCK_MONOTONIC);
	if (!err)
		err = lanes_fill(pipeline, *origin);
	if (!err && !pipeline->nlanes && !has_kind(pipeline, SONDE_KIND_SOURCE)) {
		config_error(pipeline->config,
			     pipeline->config->nfiles ? pipeline->config->files[0] : "", 0,
			     "there is nothing to read: no collector is left, and no source");
		err = -EINVAL;
	}
	return err ? err : lanes_start(pipeline);
}

/* All of a kind at once: each has the whole time. */
static bool stop_kind(struct pipeline *pipeline, uint32_t kind, uint64_t deadline)
{
	bool stopped = true;

	for (size_t i = 0; i < pipeline->parts.count; i++)
		if (instance_kind(pipeline->parts.instances[i]) == kind)
			part_ask_stop(pipeline->parts.instances[i], deadline);
	for (size_t i = 0; i < pipeline->parts.count; i++)
		if (instance_kind(pipeline->parts.instances[i]) == kind &&
		    !part_stopped(pipeline->parts.instances[i], deadline))
			stopped = false;
	return stopped;
}

static uint64_t main_instants(const struct pipeline *pipeline)
{
	return pipeline->nlanes ? atomic_load(&pipeline->lanes[0]->instants) : 0;
}

static void stop_all(struct pipeline *pipeline, const char *reason, bool last_sample)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	bool hung = false;

	workers_give_up(pipeline->workers, now + LANES_STOP_NS - WORKERS_STOP_NS);
	hung |= !lanes_stop(pipeline, last_sample, now + LANES_STOP_NS);
	hung |= !stop_kind(pipeline, SONDE_KIND_SOURCE, now + LANES_STOP_NS);
	if (pipeline->judge)
		hung |= judge_stop(pipeline->judge, now + LANES_STOP_NS) != 0;
	stream_end(&pipeline->stream, reason, main_instants(pipeline));
	stream_speak(&pipeline->stream);
	hung |= !stop_kind(pipeline, SONDE_KIND_SINK, clock_now(CLOCK_MONOTONIC) + SINKS_STOP_NS);
	if (!hung) {
		stop_kind(pipeline, SONDE_KIND_COLLECTOR, 0);
		stop_kind(pipeline, SONDE_KIND_ANALYZER, 0);
	}
	pipeline->hung |= hung;
}

/* ---- Run */

struct run {
	int signals, pid;
	uint64_t origin, next_progress;
	bool started; /* the caller was told */
	const char *reason;
	bool last_sample;
};

static void end_with(struct run *run, const char *reason, bool last_sample)
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

static void take_signals(struct pipeline *pipeline, struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGHUP)
			pipeline_reload(pipeline);
		else if (info.ssi_signo == SIGCHLD)
			reap_orphans(pipeline);
		else
			end_with(run, "signal", true);
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
		end_with(run, "signal", true);
	if (options->max_instants && main_instants(pipeline) >= options->max_instants)
		end_with(run, "frames", false);
	if (options->duration && now - run->origin >= options->duration)
		end_with(run, "duration", true);
	if (sinks_finished(pipeline))
		end_with(run, "error", false);
	if (options->progress && now >= run->next_progress) {
		run->next_progress = now + NS_PER_S;
		options->progress(options->context, now - run->origin, main_instants(pipeline),
				  delivered_bytes(pipeline));
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
					{ run->pid, POLLIN, 0 } };

		poll(fds, 3, patience(pipeline, run));
		if (fds[0].revents)
			take_signals(pipeline, run);
		if (fds[1].revents && read(pipeline->poke, &count, sizeof count) < 0)
			continue;
		look(pipeline, run);
		if (fds[2].revents)
			end_with(run, ours ? "command" : "pid", true);
	}
}

static int open_events(struct pipeline *pipeline, struct run *run)
{
	sigset_t set;

	run->pid = -1;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (pipeline->options.adopts)
		sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signals < 0)
		return -errno;
	if (pipeline->options.watch_pid) {
		run->pid = pidfd_open((pid_t)pipeline->options.watch_pid, 0);
		if (run->pid < 0)
			return -errno;
	}
	return 0;
}

/* A reader that had enough got all that it wanted. */
static bool all_delivered(struct pipeline *pipeline)
{
	struct delivery_counts counts;
	bool all = true;

	for (size_t i = 0; i < pipeline->parts.count; i++) {
		struct instance *instance = pipeline->parts.instances[i];

		if (instance_kind(instance) != SONDE_KIND_SINK || !instance->role ||
		    delivery_finished(instance->role))
			continue;
		delivery_counts(instance->role, &counts);
		all = all && !counts.ring.settled[RING_DROPPED] && !counts.ring.queued;
	}
	return all;
}

int pipeline_run(struct pipeline *pipeline)
{
	struct run run = { .pid = -1, .signals = -1 };
	struct signals actions;
	sigset_t before;
	int err;

	signals_ignore(&actions);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	err = open_events(pipeline, &run);
	if (!err)
		err = start_all(pipeline, &run.origin);
	if (!err)
		loop(pipeline, &run);
	stop_all(pipeline, err ? "error" : run.reason, run.last_sample);
	if (run.signals >= 0)
		close(run.signals);
	if (run.pid >= 0)
		close(run.pid);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* A sink that hangs may write yet. */
	if (!pipeline->hung)
		signals_restore(&actions);
	if (!err && (pipeline->hung || (pipeline->options.whole && !all_delivered(pipeline))))
		err = -EIO;
	return err;
}

void pipeline_close(struct pipeline *pipeline)
{
	/* A thread that hangs may use any of it until the process ends. */
	if (!pipeline || pipeline->hung)
		return;
	for (size_t i = 0; i < pipeline->nlanes; i++)
		lane_free(pipeline->lanes[i]);
	judge_free(pipeline->judge);
	for (size_t i = 0; i < pipeline->parts.count; i++)
		part_free(pipeline->parts.instances[i]);
	for (size_t i = 0; i < pipeline->retired.count; i++)
		part_free(pipeline->retired.instances[i]);
	for (size_t i = 0; i < pipeline->nconfigs; i++) {
		config_free(pipeline->configs[i]);
		free(pipeline->configs[i]);
	}
	for (size_t i = 0; i < pipeline->nmemories; i++)
		options_free(pipeline->memories[i]);
	free(pipeline->memories);
	stream_free(&pipeline->stream);
	workers_free(pipeline->workers);
	foreign_free(pipeline->foreign);
	options_free(pipeline->agent_memory);
	if (pipeline->poke >= 0)
		close(pipeline->poke);
	free(pipeline->parts.instances);
	free(pipeline->retired.instances);
	free(pipeline->configs);
	free(pipeline->lanes);
	free(pipeline->plugin_path);
	free(pipeline);
}
