/* What instances do in a live pipeline: started, asked to stop, freed, each by its kind. */
#include <errno.h>

#include "host/capture.h"
#include "host/pipeline_parts.h"

static void sink_finished(void *context)
{
	pipeline_poke(context);
}

static int start_sink(struct pipeline *pipeline, struct instance *instance, char *why, size_t size)
{
	int err;
	struct delivery *delivery;

	instance->of_command = pipeline->options.whole;
	delivery = delivery_new(instance, true, &err, why, size);
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

	part_trying(pipeline, instance->section);
	if (instance_kind(instance) == SONDE_KIND_COLLECTOR && instance->keys.capture &&
	    !instance->isolated)
		err = capture_begin(instance);
	if (!err)
		err = instance_start(instance, instance->stream->header);
	if (err)
		return part_left_out(config, instance, err) ? 1 : err;
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
