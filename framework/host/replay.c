/* A recording through analyzers and sinks, one instant after the other in the caller's thread. */
#include <errno.h>
#include <stdlib.h>

#include "host/join.h"
#include "host/judge.h"
#include "host/pipeline_parts.h"
#include "host/reparse.h"
#include "host/signals.h"
#include "window/analysis.h"

struct replay {
	struct pipeline *pipeline;
	struct reparse *reparse;   /* NULL: rows as they were recorded */
	struct analysis *analysis; /* NULL: no analyzers */
	struct delivery **sinks;
	size_t nsinks;
	uint64_t judged;                    /* boot time of the newest judgement; 0: none yet */
	struct instant newest;              /* its times; views are gone, the header is: */
	struct sonde_stream_header *header; /* a copy, since the reader's ends with its segment */
};

int part_failed(struct pipeline *pipeline, const struct instance *instance, const char *why,
		int err)
{
	if (!why || !why[0])
		why = instance->reason[0] ? instance->reason : strerror(-err);
	config_error(pipeline->config, instance->self.name, 0, "%s", why);
	return err;
}

/* The first failure is told: what follows from it is none of its own. Whoever reads and has enough is none, nor is what a
 * sink got over. */
static int sink_answer(struct pipeline *pipeline, const struct delivery *sink, int err)
{
	struct instance *instance = delivery_instance_of(sink);

	if (!err)
		instance->reason[0] = '\0';
	if (!err || err == -EPIPE || pipeline->config->nerrors)
		return err;
	return part_failed(pipeline, instance, NULL, err);
}

int part_replay(struct pipeline *pipeline, struct delivery *sink, const struct instant *instant)
{
	return sink_answer(pipeline, sink, delivery_instant(sink, instant));
}

int part_finish(struct pipeline *pipeline, struct delivery *sink)
{
	return sink_answer(pipeline, sink, delivery_finish(sink));
}

int parts_stop(struct pipeline *pipeline, int err)
{
	for (size_t i = 0; i < pipeline->parts.count; i++) {
		struct instance *instance = pipeline->parts.instances[i];

		instance_stop(instance);
		if (!err && instance->of_command && instance->reason[0])
			err = part_failed(pipeline, instance, NULL, -EIO);
	}
	return err;
}

static int start_one(struct replay *replay, struct instance *instance)
{
	struct pipeline *pipeline = replay->pipeline;
	char why[512] = "";
	int err;

	if (instance_kind(instance) == SONDE_KIND_COLLECTOR)
		return 0; /* at the first bytes that it read */
	err = instance_start(instance, instance->stream->header);
	if (err)
		return part_failed(pipeline, instance, NULL, err);
	if (instance_kind(instance) == SONDE_KIND_SINK) {
		struct delivery *delivery;

		instance->of_command = true;
		delivery = delivery_new(instance, false, &err, why, sizeof why);
		if (!delivery)
			return part_failed(pipeline, instance, why, err);
		replay->sinks[replay->nsinks++] = delivery;
	} else if (instance_kind(instance) == SONDE_KIND_ANALYZER) {
		err = judge_teach(replay->analysis, instance, why, sizeof why);
		if (err)
			return part_failed(pipeline, instance, why, err);
	}
	return 0;
}

static int start(struct replay *replay)
{
	struct pipeline *pipeline = replay->pipeline;
	int err = 0;

	if (pipeline->options.reparse)
		replay->reparse = reparse_new(pipeline);
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

	struct outlet *outlet = replay->pipeline->options.outlet;

	for (size_t i = 0; !err && i < replay->nsinks; i++)
		err = part_replay(replay->pipeline, replay->sinks[i], instant);
	if (!err && outlet)
		err = outlet->instant(outlet, instant);
	return err;
}

/* What the analyzers say, as an instant that follows the newest one. */
static int judge(struct replay *replay)
{
	struct sonde_view views[RECORD_TABLES];
	struct sonde_frame records;
	struct instant instant = replay->newest;
	int err;

	/* Of nothing that was read there is nothing to say, least of all by the name of the host that runs this. */
	if (!replay->analysis || !replay->header)
		return 0;
	err = records_make(&records);
	if (err)
		return err;
	err = replay->pipeline->options.judge_every
		      ? analysis_live(replay->analysis, replay->newest.begin, &records)
		      : analysis_judge(replay->analysis, &records);
	instant.header = replay->header;
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

	if (!instant->nviews)
		return 0; /* nothing was read at it */
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

/* Where each stretch of so much time is judged by itself. */
static int judge_stretch(struct replay *replay)
{
	uint64_t every = replay->pipeline->options.judge_every, now = replay->newest.begin;

	if (!every)
		return 0;
	if (!replay->judged)
		replay->judged = now;
	if (now < replay->judged + every)
		return 0;
	replay->judged = now;
	return judge(replay);
}

static int read_next(struct replay *replay, struct reader *reader, const struct instant **instant)
{
	struct join *join = replay->pipeline->options.join;

	if (replay->reparse)
		return reparse_next(replay->reparse, reader, instant);
	return join ? join_next(join, reader, instant) : reader_next(reader, instant);
}

static int read_all(struct replay *replay, struct reader *reader)
{
	const struct instant *instant;
	int err;

	while ((err = read_next(replay, reader, &instant)) > 0) {
		err = replay->analysis ? analysis_instant(replay->analysis, instant) : 0;
		if (!err)
			err = hand_on(replay, instant);
		if (!err)
			err = remember(replay, instant);
		if (!err)
			err = judge_stretch(replay);
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

static int finish(struct replay *replay, int err)
{
	for (size_t i = 0; i < replay->nsinks; i++) {
		int finished;

		if (replay->header && !err)
			tell_unmatched(replay, i);
		finished = part_finish(replay->pipeline, replay->sinks[i]);
		err = err ? err : finished;
	}
	return err;
}

int pipeline_replay(struct pipeline *pipeline, struct reader *reader)
{
	struct replay replay = { .pipeline = pipeline };
	struct signals actions;
	int err;

	signals_ignore(&actions);
	err = start(&replay);
	if (!err)
		err = read_all(&replay, reader);
	if (!err)
		err = judge(&replay);
	err = parts_stop(pipeline, finish(&replay, err));
	signals_restore(&actions);
	reparse_free(replay.reparse);
	analysis_free(replay.analysis);
	free(replay.header);
	free(replay.sinks);
	/* Whoever reads has enough. */
	return err == -EPIPE ? 0 : err;
}
