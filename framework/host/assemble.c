/* From sections to instances: the start path minus the last step. Every mistake is told in one pass. */
#include <errno.h>

#include "host/capture.h"
#include "host/header.h"
#include "host/log.h"
#include "host/must.h"
#include "host/pipeline_parts.h"

void assemble_agent(struct config *config, struct agent_keys *keys, struct options_memory **memory)
{
	static const struct config_section none = { .name = (char *)"agent", .file = "" };
	const struct config_section *section = config_section(config, "agent");
	const struct options_target target = { agent_options, agent_noptions, keys };
	char why[200];

	if (!section)
		section = &none;
	options_fill(config, section, &target, 1, memory);
	if (keys->tags && !tags_valid(keys->tags, why, sizeof why))
		config_error(config, section->file, section->line, "[agent]: %s", why);
	if (keys->root && keys->root[0] && keys->root[0] != '/')
		config_error(config, section->file, section->line,
			     "[agent]: root = %s is not an absolute path", keys->root);
}

/* ---- Sections that have not changed keep their instance */

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_section(const struct config_section *a, const struct config_section *b)
{
	if (!same_text(a->name, b->name) || a->nkeys != b->nkeys)
		return false;
	for (size_t i = 0; i < a->nkeys; i++)
		if (!same_text(a->keys[i].name, b->keys[i].name) ||
		    !same_text(a->keys[i].value, b->keys[i].value))
			return false;
	return true;
}

static struct instance *take_known(const struct config_section *section, struct parts *known)
{
	for (size_t i = 0; known && i < known->count; i++) {
		struct instance *instance = known->instances[i];

		if (instance && same_section(instance->section, section)) {
			known->instances[i] = NULL;
			return instance;
		}
	}
	return NULL;
}

/* ---- Checks */

static void refuse_second(struct config *config, const struct parts *parts)
{
	struct instance *const *instances = parts->instances;

	for (size_t i = 0; i < parts->count; i++) {
		const struct plugin *plugin = instances[i]->plugin;

		for (size_t j = 0; j < i; j++)
			if (instances[j]->plugin == plugin &&
			    (plugin->descriptor.flags & SONDE_SINGLE))
				config_error(
					config, instances[i]->section->file,
					instances[i]->section->line,
					"[%s]: there can be only one, and [%s] in line %u is it",
					instances[i]->self.name, instances[j]->self.name,
					instances[j]->section->line);
	}
}

/* What check() or start() found out. True: it is left out, with a note. */
static bool leave_out(struct config *config, struct instance *instance, int err)
{
	const struct config_section *section = instance->section;

	if (err == -ENODEV && instance->keys.optional) {
		log_line(SONDE_DEBUG, instance->self.name, "left out: %s", instance->reason);
		stream_note(instance->stream, SONDE_NOTICE, instance->self.name,
			    instance->reason[0] ? instance->reason : "not available here");
		return true;
	}
	if (err == -ENODEV)
		config_error(config, section->file, section->line,
			     "[%s]: %s; with `optional = yes` this is a note", section->name,
			     instance->reason[0] ? instance->reason : "not available here");
	else
		config_error(config, section->file, section->line, "[%s]: it can't start: %s",
			     section->name,
			     instance->reason[0] ? instance->reason : strerror(-err));
	return false;
}

static void add(struct parts *parts, struct instance *instance)
{
	parts->instances = must_grow(parts->instances, parts->count, sizeof(void *));
	parts->instances[parts->count++] = instance;
}

/* A new instance, checked; NULL where there is none to be, or a mistake. */
static struct instance *make(const struct surroundings *around,
			     const struct config_section *section)
{
	uint32_t kind = section_kind(around->config, section);
	struct instance *instance = NULL;
	bool left_out;
	int err = 0;

	if (kind)
		instance = instance_new(around, section, kind, &left_out);
	if (instance && !(around->pipeline->options.reparse && kind == SONDE_KIND_COLLECTOR))
		err = instance_check(instance);
	if (err && leave_out(around->config, instance, err)) {
		instance_free(instance);
		instance = NULL;
	}
	return instance;
}

size_t assemble(struct pipeline *pipeline, struct config *config, const struct agent_keys *agent,
		const char *path, struct parts *known, struct parts *parts)
{
	const struct surroundings around = {
		config, agent, path, &pipeline->stream, pipeline, pipeline->workers,
	};

	for (size_t i = 0; i < config->nsections; i++) {
		const struct config_section *section = &config->sections[i];
		struct instance *instance;

		if (strcmp(section->type, "agent") == 0)
			continue;
		instance = take_known(section, known);
		if (!instance)
			instance = make(&around, section);
		if (instance)
			add(parts, instance);
	}
	refuse_second(config, parts);
	return config->nerrors;
}

/* ---- Roles */

static void sink_finished(void *context)
{
	pipeline_poke(context);
}

static int start_sink(struct pipeline *pipeline, struct instance *instance, char *why, size_t size)
{
	int err;
	struct delivery *delivery = delivery_new(instance, true, &err, why, size);

	if (!delivery)
		return err;
	return delivery_start(delivery, sink_finished, pipeline);
}

static int start_role(struct pipeline *pipeline, struct instance *instance, char *why, size_t size)
{
	struct receiver *receiver;

	switch (instance_kind(instance)) {
	case SONDE_KIND_SINK:
		return start_sink(pipeline, instance, why, size);
	case SONDE_KIND_SOURCE:
		receiver = receiver_new(instance, pipeline->foreign);
		return receiver ? receiver_start(receiver) : -ENOMEM;
	default:
		return 0; /* lanes_fill(), judge_make() */
	}
}

int part_start(struct pipeline *pipeline, struct config *config, struct instance *instance)
{
	char why[512] = "";
	int err = 0;

	if (instance_kind(instance) == SONDE_KIND_COLLECTOR && instance->keys.capture &&
	    !instance->isolated)
		err = capture_begin(instance);
	if (!err)
		err = instance_start(instance);
	if (err)
		return leave_out(config, instance, err) ? 1 : err;
	err = start_role(pipeline, instance, why, sizeof why);
	if (err)
		config_error(config, instance->section->file, instance->section->line, "[%s]: %s",
			     instance->self.name, why[0] ? why : strerror(-err));
	return err;
}

int judge_make(struct pipeline *pipeline, struct config *config, const struct parts *parts,
	       struct judge **judge)
{
	const struct pipeline_options *run = &pipeline->options;
	uint64_t length = run->watch_pid || run->max_instants ? UINT64_MAX : run->duration;
	char why[512] = "";
	int err = 0;

	*judge = NULL;
	for (size_t i = 0; !err && i < parts->count; i++) {
		struct instance *instance = parts->instances[i];

		if (instance_kind(instance) != SONDE_KIND_ANALYZER)
			continue;
		if (!*judge)
			*judge = judge_new(&pipeline->stream, length);
		err = *judge ? judge_add(*judge, instance, why, sizeof why) : -ENOMEM;
		if (err)
			config_error(config, instance->section->file, instance->section->line,
				     "[%s]: %s", instance->self.name,
				     why[0] ? why : strerror(-err));
	}
	if (err) {
		judge_free(*judge);
		*judge = NULL;
	}
	return err;
}

void part_ask_stop(struct instance *instance, uint64_t deadline)
{
	if (!instance->role)
		return;
	if (instance_kind(instance) == SONDE_KIND_SINK)
		delivery_ask_stop(instance->role, deadline);
	else if (instance_kind(instance) == SONDE_KIND_SOURCE)
		receiver_ask_stop(instance->role);
}

bool part_stopped(struct instance *instance, uint64_t deadline)
{
	int err = 0;

	if (instance->role && instance_kind(instance) == SONDE_KIND_SINK)
		err = delivery_join(instance->role);
	else if (instance->role && instance_kind(instance) == SONDE_KIND_SOURCE)
		err = receiver_join(instance->role, deadline);
	if (!err)
		instance_stop(instance);
	return !err;
}

void part_free(struct instance *instance)
{
	if (instance->role && instance_kind(instance) == SONDE_KIND_SINK)
		delivery_free(instance->role);
	else if (instance->role && instance_kind(instance) == SONDE_KIND_SOURCE)
		receiver_free(instance->role);
	instance_free(instance);
}
