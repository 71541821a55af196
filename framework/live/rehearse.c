/* What only a start can tell: for sonde check, before anything is sampled; and which patterns of sinks match nothing. */
#include <stdlib.h>

#include "host/log.h"
#include "host/must.h"
#include "host/pipeline_parts.h"

/* ---- Patterns */

struct schemas {
	const struct sonde_schema **items;
	size_t count;
};

static void add_frame(struct schemas *schemas, const struct sonde_frame *frame)
{
	for (uint32_t i = 0; i < frame->ntables; i++) {
		schemas->items = must_grow(schemas->items, schemas->count, sizeof(void *));
		schemas->items[schemas->count++] = frame->tables[i].schema;
	}
}

struct telling {
	struct pipeline *pipeline;
	const struct config_section *section;
	bool mistake;
};

static void tell(void *context, const struct config_key *key, const char *pattern, const char *near)
{
	const struct telling *telling = context;
	struct pipeline *pipeline = telling->pipeline;
	const char *section = telling->section->name;
	char text[256];

	snprintf(text, sizeof text, "%s: nothing that is collected here is named `%s`%s%s%s",
		 key->name, pattern, near ? "; did you mean `" : "", near ? near : "",
		 near ? "`?" : "");
	if (telling->mistake) {
		config_error(pipeline->config, key->file, key->line, "[%s]: %s", section, text);
		return;
	}
	log_line(SONDE_WARNING, section, "%s", text);
	stream_note(&pipeline->stream, SONDE_WARNING, section, "", text);
}

void pipeline_tell_unmatched(struct pipeline *pipeline, bool mistakes)
{
	struct telling telling = { pipeline, NULL, mistakes && !pipeline->left_out };
	struct schemas schemas = { 0 };

	/* What a source brings is known when it comes. */
	if (parts_have(&pipeline->parts, SONDE_KIND_SOURCE))
		return;
	for (size_t i = 0; i < pipeline->parts.count; i++) {
		add_frame(&schemas, &pipeline->parts.instances[i]->frame);
		add_frame(&schemas, &pipeline->parts.instances[i]->raw);
	}
	for (size_t i = 0; i < pipeline->parts.count; i++) {
		telling.section = pipeline->parts.instances[i]->section;
		if (instance_kind(pipeline->parts.instances[i]) == SONDE_KIND_SINK)
			filter_each_unmatched(telling.section, schemas.items, schemas.count, tell,
					      &telling);
	}
	free(schemas.items);
}

/* ---- sonde check */

void pipeline_rehearse(struct pipeline *pipeline)
{
	struct config *config = pipeline->config;
	struct judge *judge = NULL;

	pipeline_start_kind(pipeline, SONDE_KIND_ANALYZER);
	pipeline_start_kind(pipeline, SONDE_KIND_COLLECTOR);
	/* What follows from other mistakes is none of its own. */
	if (!config->nerrors)
		judge_make(pipeline, config, &pipeline->parts, &judge);
	if (!config->nerrors)
		parts_check_readers(pipeline->config, &pipeline->parts);
	if (!config->nerrors)
		pipeline_tell_unmatched(pipeline, true);
	judge_free(judge);
	for (size_t i = 0; i < pipeline->parts.count; i++)
		instance_stop(pipeline->parts.instances[i]);
}
