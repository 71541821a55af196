/* A recording through analyzers and sinks, one instant after the other in the caller's thread. */
#include <errno.h>
#include <stdlib.h>

#include "host/pipeline_parts.h"
#include "host/signals.h"
#include "window/analysis.h"
#include "wire/reader.h"

struct replay {
	struct pipeline *pipeline;
	struct analysis *analysis; /* NULL: no analyzers */
	struct delivery **sinks;
	size_t nsinks;
	struct instant newest;              /* its times; views are gone, the header is: */
	struct sonde_stream_header *header; /* a copy, since the reader's ends with its segment */
};

static int fail(struct pipeline *pipeline, const struct instance *instance, const char *why,
		int err)
{
	config_error(pipeline->config, instance->section->file, instance->section->line, "[%s]: %s",
		     instance->self.name, why[0] ? why : strerror(-err));
	return err;
}

static int start_one(struct replay *replay, struct instance *instance)
{
	struct pipeline *pipeline = replay->pipeline;
	char why[512] = "";
	int err = instance_start(instance);

	if (err)
		return fail(pipeline, instance, instance->reason, err);
	if (instance_kind(instance) == SONDE_KIND_SINK) {
		struct delivery *delivery = delivery_new(instance, false, &err, why, sizeof why);

		if (!delivery)
			return fail(pipeline, instance, why, err);
		replay->sinks[replay->nsinks++] = delivery;
	} else if (instance_kind(instance) == SONDE_KIND_ANALYZER) {
		err = analysis_add(replay->analysis, &instance->self,
				   &instance->plugin->ops.analyzer, why, sizeof why);
		if (err)
			return fail(pipeline, instance, why, err);
	}
	return 0;
}

static int start(struct replay *replay)
{
	struct pipeline *pipeline = replay->pipeline;
	int err = 0;

	replay->sinks = calloc(pipeline->parts.count, sizeof(void *));
	for (size_t i = 0; i < pipeline->parts.count; i++)
		if (instance_kind(pipeline->parts.instances[i]) == SONDE_KIND_ANALYZER &&
		    !replay->analysis) {
			replay->analysis = analysis_new();
			err = replay->analysis ? err : -ENOMEM;
		}
	if (!replay->sinks)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < pipeline->parts.count; i++)
		err = start_one(replay, pipeline->parts.instances[i]);
	return err;
}

static int hand_on(struct replay *replay, const struct instant *instant)
{
	int err = 0;

	for (size_t i = 0; !err && i < replay->nsinks; i++)
		err = delivery_instant(replay->sinks[i], instant);
	return err;
}

/* What the analyzers say, as an instant that follows the newest one. */
static int judge(struct replay *replay)
{
	struct sonde_view views[RECORD_TABLES];
	struct sonde_frame records;
	struct instant instant = replay->newest;
	int err;

	if (!replay->analysis)
		return 0;
	err = records_make(&records);
	if (err)
		return err;
	err = analysis_judge(replay->analysis, &records);
	instant.header = replay->header ? replay->header : replay->pipeline->stream.header;
	instant.sequence++;
	instant.views = views;
	instant.nviews = record_views(&records, views);
	instant_stamp(&instant, views);
	if (!err && instant.nviews)
		err = hand_on(replay, &instant);
	frame_free(&records);
	return err;
}

static int remember(struct replay *replay, const struct instant *instant)
{
	const struct sonde_stream_header *header = instant->header;

	if (!replay->header || replay->newest.header != header ||
	    replay->header->start_id != header->start_id) {
		free(replay->header);
		replay->header = header_copy(header);
		if (!replay->header)
			return -ENOMEM;
	}
	replay->newest = *instant;
	replay->newest.views = NULL;
	replay->newest.nviews = 0;
	return 0;
}

static int read_all(struct replay *replay, struct reader *reader)
{
	const struct instant *instant;
	int err;

	while ((err = reader_next(reader, &instant)) > 0) {
		err = replay->analysis ? analysis_instant(replay->analysis, instant) : 0;
		if (!err)
			err = hand_on(replay, instant);
		if (!err)
			err = remember(replay, instant);
		if (err)
			return err;
	}
	return err;
}

/* A name that nothing in the whole recording had is a mistake in the configuration. */
static void tell_unmatched(struct replay *replay, size_t sink)
{
	const char *pattern = delivery_unmatched(replay->sinks[sink]);

	for (size_t i = 0, n = 0; pattern && i < replay->pipeline->parts.count; i++) {
		const struct instance *instance = replay->pipeline->parts.instances[i];

		if (instance_kind(instance) == SONDE_KIND_SINK && n++ == sink)
			config_error(replay->pipeline->config, instance->section->file,
				     instance->section->line,
				     "[%s]: nothing in the recording is named `%s`",
				     instance->self.name, pattern);
	}
}

static int finish(struct replay *replay)
{
	int first = 0;

	for (size_t i = 0; i < replay->nsinks; i++) {
		int err;

		if (replay->header)
			tell_unmatched(replay, i);
		err = delivery_finish(replay->sinks[i]);

		if (!first)
			first = err;
	}
	return first;
}

int pipeline_replay(struct pipeline *pipeline, struct reader *reader)
{
	struct replay replay = { .pipeline = pipeline };
	struct signals actions;
	int err, finished;

	signals_ignore(&actions);
	err = start(&replay);
	if (!err)
		err = read_all(&replay, reader);
	if (!err)
		err = judge(&replay);
	finished = finish(&replay);
	if (!err)
		err = finished;
	for (size_t i = 0; i < pipeline->parts.count; i++)
		instance_stop(pipeline->parts.instances[i]);
	signals_restore(&actions);
	analysis_free(replay.analysis);
	free(replay.header);
	free(replay.sinks);
	/* Whoever reads has enough. */
	return err == -EPIPE ? 0 : err;
}
