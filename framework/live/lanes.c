/* Which collector is sampled in which lane. */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "host/log.h"
#include "host/must.h"
#include "host/pipeline_parts.h"

/* The main one, the one that is named, or one of its own. */
static const char *lane_name(const struct instance *instance)
{
	bool slow = instance->plugin->descriptor.flags & (SONDE_MAY_BLOCK | SONDE_COSTLY);

	/* A worker answers one call after the other. */
	if (strchr(instance->keys.isolation, ':'))
		return instance->keys.isolation;
	if (instance->keys.lane[0])
		return instance->keys.lane;
	if (slow || instance->isolated)
		return instance->self.name;
	return "main";
}

static void lane_happened(void *context, struct lane *lane)
{
	struct pipeline *pipeline = context;

	(void)lane;
	atomic_fetch_add(&pipeline->sampled, 1);
	pipeline_poke(pipeline);
}

static struct lane *find_lane(struct pipeline *pipeline, const char *name, uint64_t origin)
{
	struct lane *lane;

	for (size_t i = 0; i < pipeline->nlanes; i++)
		if (strcmp(pipeline->lanes[i]->name, name) == 0)
			return pipeline->lanes[i];
	lane = must(lane_new(name, &pipeline->stream));
	lane->origin = origin;
	lane->happened = lane_happened;
	lane->context = pipeline;
	pipeline->lanes = must_grow(pipeline->lanes, pipeline->nlanes, sizeof(void *));
	pipeline->lanes[pipeline->nlanes++] = lane;
	return lane;
}

static bool has_lane(const struct pipeline *pipeline, const struct instance *instance)
{
	for (size_t i = 0; i < pipeline->nlanes; i++)
		for (size_t j = 0; j < pipeline->lanes[i]->nmembers; j++)
			if (pipeline->lanes[i]->members[j] == instance)
				return true;
	return false;
}

int lanes_fill(struct pipeline *pipeline, uint64_t origin)
{
	for (size_t i = 0; i < pipeline->parts.count; i++) {
		struct instance *instance = pipeline->parts.instances[i];
		int err = 0;

		if (instance_kind(instance) == SONDE_KIND_COLLECTOR &&
		    !has_lane(pipeline, instance))
			err = lane_add(find_lane(pipeline, lane_name(instance), origin), instance);
		if (err)
			return err;
	}
	/* Instants are counted in the main lane, or in the first where there is none. */
	for (size_t i = 1; i < pipeline->nlanes; i++) {
		struct lane *lane = pipeline->lanes[i];

		if (strcmp(lane->name, "main") == 0) {
			pipeline->lanes[i] = pipeline->lanes[0];
			pipeline->lanes[0] = lane;
		}
	}
	if (pipeline->nlanes)
		pipeline->lanes[0]->max_instants = pipeline->options.max_instants;
	return 0;
}

int lanes_start(struct pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->nlanes; i++) {
		struct lane *lane = pipeline->lanes[i];
		int err = 0;

		if (lane->running && lane->stopping)
			err = lane_resume(lane);
		else if (!lane->running && lane->nmembers)
			err = lane_start(lane);
		if (err)
			return err;
	}
	return 0;
}

bool lanes_stop(struct pipeline *pipeline, enum last_sample last_sample, uint64_t deadline)
{
	const struct instance *culprit;
	bool stopped = true;

	for (size_t i = 0; i < pipeline->nlanes; i++)
		lane_ask_stop(pipeline->lanes[i], last_sample);
	for (size_t i = 0; i < pipeline->nlanes; i++) {
		if (lane_join(pipeline->lanes[i], deadline) == 0)
			continue;
		culprit = atomic_load(&pipeline->lanes[i]->sampling);
		log_line(SONDE_ERROR, culprit ? culprit->self.name : pipeline->lanes[i]->name,
			 "it hangs in a sample");
		stopped = false;
	}
	return stopped;
}
