/* SIGHUP: everything is read and checked again; what has changed is replaced, what has not keeps running. Any mistake, and
 * everything stays as it is. */
#include <errno.h>

#include "core/clock.h"
#include "host/header.h"
#include "host/log.h"
#include "host/must.h"
#include "host/pipeline_parts.h"

enum { STOP_NS = 500000000 };

struct reload {
	struct config *config;
	struct agent_keys agent;
	struct options_memory *memory;
	char *path;
	struct parts known; /* that may be kept */
	struct parts gone;  /* those that are to go */
	struct parts parts; /* those that are to run */
	struct judge *judge;
	bool renamed; /* host or tags of [agent] have changed */
	size_t fresh; /* instances that did not run before */
};

/* ---- What is to change */

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Keys of [agent] that every instance was made with. */
static bool same_ground(const struct agent_keys *a, const struct agent_keys *b)
{
	return same_text(a->root, b->root) && same_text(a->plugin_path, b->plugin_path) &&
	       a->interval == b->interval && a->capture == b->capture;
}

static bool is_among(const struct parts *parts, const struct instance *instance)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->instances[i] == instance)
			return true;
	return false;
}

static void add(struct parts *parts, struct instance *instance)
{
	parts->instances = must_grow(parts->instances, parts->count, sizeof(void *));
	parts->instances[parts->count++] = instance;
}

/* What it could not go on with: there is nowhere to write to, or nothing to read. */
static int check_parts(const struct reload *reload)
{
	int err = parts_check_sinks(reload->config, &reload->parts);

	return err ? err : parts_check_readers(reload->config, &reload->parts);
}

static int read_config(struct pipeline *pipeline, struct reload *reload)
{
	const struct agent_keys *old = &pipeline->agent;
	struct config *config = must(calloc(1, sizeof *config));

	reload->config = config;
	config_read_file(config, pipeline->options.reloads);
	assemble_agent(config, &reload->agent, &reload->memory);
	reload->path = plugin_path(reload->agent.plugin_path[0] ? reload->agent.plugin_path : NULL);
	reload->renamed = !same_text(old->host, reload->agent.host) ||
			  !same_text(old->tags, reload->agent.tags);
	reload->known.count = same_ground(old, &reload->agent) ? pipeline->parts.count : 0;
	reload->known.instances = must(malloc((reload->known.count + 1) * sizeof(void *)));
	memcpy(reload->known.instances, pipeline->parts.instances,
	       reload->known.count * sizeof(void *));
	if (assemble(pipeline, config, &reload->agent, reload->path, &reload->known,
		     &reload->parts))
		return -EINVAL;
	return check_parts(reload);
}

/* ---- The change */

/* A source of the same name has to go first: both want the same place. */
static bool has_to_wait(const struct reload *reload, const struct instance *instance)
{
	for (size_t i = 0; i < reload->gone.count; i++)
		if (instance_kind(instance) == SONDE_KIND_SOURCE &&
		    same_text(reload->gone.instances[i]->self.name, instance->self.name))
			return true;
	return false;
}

/* New ones start while the old ones run, those that have to wait after them. */
static int start_new(struct pipeline *pipeline, const struct reload *reload, struct parts *parts,
		     bool waiting)
{
	for (size_t i = 0; i < parts->count; i++) {
		struct instance *instance = parts->instances[i];
		int err;

		if (instance->started || (!waiting && has_to_wait(reload, instance)))
			continue;
		err = part_start(pipeline, reload->config, instance);
		if (err < 0)
			return err;
		if (err == 0)
			continue;
		part_free(instance);
		parts->count--;
		memmove(parts->instances + i, parts->instances + i + 1,
			(parts->count - i) * sizeof(void *));
		i--;
	}
	return 0;
}

static bool has_analyzer(const struct parts *parts, const struct parts *but)
{
	for (size_t i = 0; i < parts->count; i++)
		if (instance_kind(parts->instances[i]) == SONDE_KIND_ANALYZER &&
		    !is_among(but, parts->instances[i]))
			return true;
	return false;
}

/* Collectors are kept: instants in rings point to their tables and names. */
static void stop_old(struct pipeline *pipeline, const struct reload *reload, uint32_t kind)
{
	uint64_t deadline = clock_now(CLOCK_MONOTONIC) + STOP_NS;

	for (size_t i = 0; i < reload->gone.count; i++) {
		struct instance *instance = reload->gone.instances[i];

		if (!instance || instance_kind(instance) != kind)
			continue;
		reload->gone.instances[i] = NULL;
		if (kind == SONDE_KIND_SINK)
			delivery_end(instance->role, "reload");
		part_ask_stop(instance, deadline);
		if (!part_stopped(instance, deadline))
			pipeline->hung = true;
		else if (kind != SONDE_KIND_COLLECTOR)
			part_free(instance);
		else
			add(&pipeline->retired, instance);
	}
}

static void rename_host(struct pipeline *pipeline, const struct agent_keys *agent)
{
	struct sonde_stream_header *header = NULL;
	struct files files;

	if (files_open(&files, agent->root) == 0)
		header = header_make(&files, agent->host, agent->tags, pipeline->options.label);
	files_close(&files);
	if (!header)
		return;
	/* Still the same start of the same sender. */
	header->start_id = pipeline->stream.headers[0]->start_id;
	stream_set_header(&pipeline->stream, header);
}

/* Sections that stay are those of the new text. */
static void point_to_sections(const struct reload *reload)
{
	const struct parts *parts = &reload->parts;

	for (size_t i = 0; i < parts->count; i++)
		for (size_t j = 0; j < reload->config->nsections; j++)
			if (same_text(parts->instances[i]->self.name,
				      reload->config->sections[j].name))
				parts->instances[i]->section = &reload->config->sections[j];
}

/* Lanes stand still from before this until after it. */
static void change_parts(struct pipeline *pipeline, const struct reload *reload)
{
	for (size_t i = 0; i < pipeline->nlanes; i++)
		for (size_t j = 0; j < reload->gone.count; j++)
			lane_remove(pipeline->lanes[i], reload->gone.instances[j]);
	point_to_sections(reload);
	free(pipeline->parts.instances);
	pipeline->parts = reload->parts;
}

static void change_judge(struct pipeline *pipeline, struct judge *judge)
{
	if (pipeline->judge &&
	    judge_stop(pipeline->judge, clock_now(CLOCK_MONOTONIC) + STOP_NS) == 0) {
		if (judge)
			judge_inherit(judge, pipeline->judge);
		judge_free(pipeline->judge);
	}
	pipeline->judge = judge;
	if (judge && judge_start(judge))
		log_line(SONDE_ERROR, NULL, "no thread for the analysis after a reload");
}

static void keep(struct pipeline *pipeline, struct reload *reload)
{
	pipeline->configs = must_grow(pipeline->configs, pipeline->nconfigs, sizeof(void *));
	pipeline->configs[pipeline->nconfigs++] = reload->config;
	pipeline->memories = must_grow(pipeline->memories, pipeline->nmemories, sizeof(void *));
	pipeline->memories[pipeline->nmemories++] = reload->memory;
	free(pipeline->plugin_path);
	pipeline->plugin_path = reload->path;
	pipeline->config = reload->config;
	pipeline->agent = reload->agent;
	log_level(pipeline->agent.log);
	files_budget(pipeline->agent.keep);
}

static void find_gone(const struct pipeline *pipeline, struct reload *reload)
{
	const struct parts *parts = &pipeline->parts;

	for (size_t i = 0; i < parts->count; i++)
		if (!is_among(&reload->parts, parts->instances[i]))
			add(&reload->gone, parts->instances[i]);
	for (size_t i = 0; i < reload->parts.count; i++)
		reload->fresh += !is_among(parts, reload->parts.instances[i]);
}

static void tell_mistakes(const struct reload *reload)
{
	for (size_t i = 0; i < reload->config->nerrors; i++)
		log_line(SONDE_ERROR, NULL, "%s", reload->config->errors[i]);
}

/* What can fail comes first. */
static int change(struct pipeline *pipeline, struct reload *reload)
{
	uint64_t origin = pipeline->nlanes ? pipeline->lanes[0]->origin : 0;
	bool judged = has_analyzer(&pipeline->parts, &reload->parts) ||
		      has_analyzer(&reload->parts, &pipeline->parts);
	int err;

	find_gone(pipeline, reload);
	err = start_new(pipeline, reload, &reload->parts, false);
	/* Without those that were left out. */
	if (!err)
		err = check_parts(reload);
	if (!err && judged)
		err = judge_make(pipeline, reload->config, &reload->parts, &reload->judge);
	if (!err && !lanes_stop(pipeline, LAST_NONE, clock_now(CLOCK_MONOTONIC) + STOP_NS))
		err = -ETIMEDOUT;
	if (err) {
		judge_free(reload->judge);
		lanes_start(pipeline);
		return err;
	}
	if (reload->renamed)
		rename_host(pipeline, &reload->agent);
	change_parts(pipeline, reload);
	stop_old(pipeline, reload, SONDE_KIND_SOURCE);
	if (start_new(pipeline, reload, &pipeline->parts, true))
		tell_mistakes(reload);
	if (lanes_fill(pipeline, origin) || lanes_start(pipeline))
		log_line(SONDE_ERROR, NULL, "no memory to go on sampling after a reload");
	stop_old(pipeline, reload, SONDE_KIND_COLLECTOR);
	stop_old(pipeline, reload, SONDE_KIND_SINK);
	if (judged)
		change_judge(pipeline, reload->judge);
	stop_old(pipeline, reload, SONDE_KIND_ANALYZER);
	return 0;
}

/* ---- Either way */

static void tell(struct pipeline *pipeline, const struct reload *reload)
{
	char text[128];

	snprintf(text, sizeof text, "reloaded: %zu sections, %zu of them new or changed",
		 pipeline->parts.count, reload->fresh);
	log_line(SONDE_NOTICE, NULL, "%s", text);
	stream_config(&pipeline->stream, text);
}

static void give_up(struct pipeline *pipeline, struct reload *reload)
{
	tell_mistakes(reload);
	log_line(SONDE_ERROR, NULL, "reload: the configuration has mistakes; going on as before");
	stream_note(&pipeline->stream, SONDE_ERROR, "", "",
		    "a reload was refused: the configuration has mistakes");
	for (size_t i = 0; i < reload->parts.count; i++) {
		struct instance *instance = reload->parts.instances[i];
		uint64_t deadline = clock_now(CLOCK_MONOTONIC) + STOP_NS;

		if (is_among(&pipeline->parts, instance))
			continue;
		part_ask_stop(instance, deadline);
		if (part_stopped(instance, deadline))
			part_free(instance);
	}
	free(reload->parts.instances);
	free(reload->path);
	options_free(reload->memory);
	config_free(reload->config);
	free(reload->config);
}

/* A file that was renamed is to be left, whether the configuration has changed or not. */
static void reopen_sinks(struct pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->parts.count; i++)
		if (instance_kind(pipeline->parts.instances[i]) == SONDE_KIND_SINK)
			delivery_reopen(pipeline->parts.instances[i]->role);
}

void pipeline_reload(struct pipeline *pipeline)
{
	struct reload reload = { 0 };
	int err = read_config(pipeline, &reload);

	if (!err)
		err = change(pipeline, &reload);
	if (err) {
		give_up(pipeline, &reload);
	} else {
		tell(pipeline, &reload);
		keep(pipeline, &reload);
		pipeline_tell_unmatched(pipeline, false);
	}
	free(reload.known.instances);
	free(reload.gone.instances);
	reopen_sinks(pipeline);
}
