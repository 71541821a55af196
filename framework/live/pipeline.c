/* source --> instants --> [analyzers] --> sinks: opened, run until something ends it, closed. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "host/folders.h"
#include "host/header.h"
#include "host/log.h"
#include "host/pipeline_parts.h"

/* After a signal everything is flushed within a second: most of it for the lanes' last samples, then for the sinks. */
enum { WORKERS_STOP_NS = 100000000, LANES_STOP_NS = 400000000, SINKS_STOP_NS = 300000000 };

/* What ends by itself has time: on a machine that is so busy that a sample takes long it is wanted most. */
enum { UNHURRIED = 12 };

/* ---- Open */

static int make_stream(struct pipeline *pipeline)
{
	struct agent_keys *agent = &pipeline->agent;
	struct sonde_stream_header *header;
	struct files files;
	int err = files_open(&files, agent->root);

	if (err && agent->root[0]) {
		refuse_root(pipeline->config, agent, strerror(-err));
		err = files_open(&files, "");
	}
	if (err)
		return err;
	header = header_make(&files, agent->host, agent->tags, pipeline->options.label);
	err = header ? stream_init(&pipeline->stream, header) : -ENOMEM;
	files_close(&files);
	return err;
}

bool parts_have(const struct parts *parts, uint32_t kind)
{
	for (size_t i = 0; i < parts->count; i++)
		if (instance_kind(parts->instances[i]) == kind)
			return true;
	return false;
}

/* A mistake of the configuration as a whole. */
static int whole_error(struct config *config, const char *sentence)
{
	config_error(config, config->nfiles ? config->files[0] : "", 0, "%s", sentence);
	return -EINVAL;
}

int parts_check_sinks(struct config *config, const struct parts *parts)
{
	if (parts_have(parts, SONDE_KIND_SINK))
		return 0;
	return whole_error(config, "there is no sink: add [sink:file]");
}

int parts_check_readers(struct config *config, const struct parts *parts)
{
	if (parts_have(parts, SONDE_KIND_COLLECTOR) || parts_have(parts, SONDE_KIND_SOURCE))
		return 0;
	return whole_error(config, "there is nothing to read: no collector is left, and no source");
}

/* What a start would say under another root means nothing. */
static bool root_refused(const struct pipeline *pipeline)
{
	const struct config_section *section = config_section(pipeline->config, "agent");
	const struct config_key *key = section ? config_key(section, "root") : NULL;

	return key && strcmp(key->value, pipeline->agent.root) != 0;
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
	/* Said once, not by each section. */
	if (!err && !*pipeline->plugin_path)
		err = whole_error(config, folders_nowhere);
	if (!err)
		assemble(pipeline, config, &pipeline->agent, pipeline->plugin_path, NULL,
			 &pipeline->parts);
	if (!err && !config->nerrors && !options->outlet)
		parts_check_sinks(config, &pipeline->parts);
	if (!err && options->rehearse && !root_refused(pipeline))
		pipeline_rehearse(pipeline);
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

void pipeline_each_source(struct pipeline *pipeline,
			  void (*each)(void *context, const struct instance *instance,
				       const struct receiver_counts *counts),
			  void *context)
{
	struct receiver_counts counts;

	for (size_t i = 0; i < pipeline->parts.count; i++) {
		const struct instance *instance = pipeline->parts.instances[i];

		if (instance_kind(instance) != SONDE_KIND_SOURCE || !instance->role)
			continue;
		receiver_counts(instance->role, &counts);
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

int pipeline_start_kind(struct pipeline *pipeline, uint32_t kind)
{
	int first = 0;

	for (size_t i = 0; i < pipeline->parts.count; i++) {
		struct instance *instance = pipeline->parts.instances[i];
		int err = 0;

		if (instance_kind(instance) == kind)
			err = part_start(pipeline, pipeline->config, instance);
		if (err < 0 && !first)
			first = err;
		if (err <= 0)
			continue;
		part_free(instance);
		pipeline->left_out++;
		pipeline->parts.count--;
		memmove(pipeline->parts.instances + i, pipeline->parts.instances + i + 1,
			(pipeline->parts.count - i) * sizeof(void *));
		i--;
	}
	return first;
}

/* Sinks first, so that nothing is lost. */
int pipeline_start_all(struct pipeline *pipeline, uint64_t *origin)
{
	static const uint32_t order[] = { SONDE_KIND_SINK, SONDE_KIND_ANALYZER, SONDE_KIND_SOURCE,
					  SONDE_KIND_COLLECTOR };
	int err = 0;

	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		int of_kind = pipeline_start_kind(pipeline, order[i]);

		err = err ? err : of_kind;
	}
	if (!err)
		err = parts_check_readers(pipeline->config, &pipeline->parts);
	if (!err)
		pipeline_tell_unmatched(pipeline, false);
	if (!err)
		err = judge_make(pipeline, pipeline->config, &pipeline->parts, &pipeline->judge);
	if (!err && pipeline->judge)
		err = judge_start(pipeline->judge);
	*origin = clock_now(CLOCK_MONOTONIC);
	if (!err)
		err = lanes_fill(pipeline, *origin);
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

uint64_t pipeline_main_instants(const struct pipeline *pipeline)
{
	return pipeline->nlanes ? atomic_load(&pipeline->lanes[0]->instants) : 0;
}

void pipeline_stop_all(struct pipeline *pipeline, const char *reason, enum last_sample last_sample)
{
	uint64_t times = reason && strcmp(reason, "signal") != 0 ? UNHURRIED : 1;
	uint64_t deadline = clock_now(CLOCK_MONOTONIC) + times * LANES_STOP_NS;
	bool hung = false;

	workers_give_up(pipeline->workers, deadline - WORKERS_STOP_NS);
	/* The sources first, and a sample however new the last one is: [self] has all that they received. */
	if (last_sample == LAST_IF_OLD && parts_have(&pipeline->parts, SONDE_KIND_SOURCE))
		last_sample = LAST_ALWAYS;
	hung |= !stop_kind(pipeline, SONDE_KIND_SOURCE, deadline - WORKERS_STOP_NS);
	hung |= !lanes_stop(pipeline, last_sample, deadline);
	if (pipeline->judge)
		hung |= judge_stop(pipeline->judge, deadline) != 0;
	/* Where nothing has begun, nothing ends. */
	if (reason) {
		stream_end(&pipeline->stream, reason, pipeline_main_instants(pipeline));
		stream_speak(&pipeline->stream);
	}
	hung |= !stop_kind(pipeline, SONDE_KIND_SINK,
			   clock_now(CLOCK_MONOTONIC) + times * SINKS_STOP_NS);
	if (!hung) {
		stop_kind(pipeline, SONDE_KIND_COLLECTOR, 0);
		stop_kind(pipeline, SONDE_KIND_ANALYZER, 0);
	}
	pipeline->hung |= hung;
}

/* ---- Close */

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
