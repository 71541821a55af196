/* A stage for tests of the analysis: tables and rows made by hand, fed instant by instant to an analysis. */
#ifndef STAGE_H
#define STAGE_H

#include <stdio.h>
#include <stdlib.h>

#include "core/records.h"
#include "core/schema.h"
#include "window/analysis.h"

#define SECOND 1000000000ull

enum { STAGE_TABLES = 16 };

struct stage {
	struct analysis *analysis;
	struct sonde_frame frame;
	struct sonde_frame records; /* gaps and notes that go in */
	struct sonde_stream_header header;
	struct sonde_schema *schemas[STAGE_TABLES];
	uint32_t nschemas;
	uint64_t sequence;
	bool omit[STAGE_TABLES]; /* tables that are not in the instants */
	const uint32_t *changed; /* of the first table, for the next instant; NULL: not known */
	uint32_t nchanged;
	uint32_t flags;
};

static inline void stage_open(struct stage *stage)
{
	*stage = (struct stage) { .analysis = analysis_new() };
	stage->header = (struct sonde_stream_header) { .start_id = 1,
						       .host = "host",
						       .machine_id = "machine",
						       .boot_id = "boot",
						       .user_hz = 100,
						       .page_size = 4096,
						       .ncpus = 2 };
	if (records_make(&stage->records))
		abort();
}

static inline void stage_close(struct stage *stage)
{
	analysis_free(stage->analysis);
	frame_free(&stage->frame);
	frame_free(&stage->records);
	for (uint32_t i = 0; i < stage->nschemas; i++)
		schema_free(stage->schemas[i]);
}

/* Its index for stage_row(). */
static inline uint32_t stage_table(struct stage *stage, const struct sonde_table *table)
{
	char why[256];

	if (schema_make(table, &stage->schemas[stage->nschemas], why, sizeof why)) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	if (frame_add_table(&stage->frame, stage->schemas[stage->nschemas], 4096, 0))
		abort();
	return stage->nschemas++;
}

static inline struct sonde_row stage_row(struct stage *stage, uint32_t table)
{
	struct sonde_row row;

	if (!frame_row(&stage->frame, table, &row))
		abort();
	return row;
}

/* A gap between two times, in the next instant. */
static inline void stage_gap(struct stage *stage, const char *reason, uint64_t begin, uint64_t end)
{
	struct sonde_row row;

	if (records_row(&stage->records, RECORD_GAP, &row))
		abort();
	records_str(&stage->records, &row, GAP_INSTANCE, "");
	records_str(&stage->records, &row, GAP_REASON, reason);
	sonde_set_u64(&row, GAP_BEGIN, begin);
	sonde_set_u64(&row, GAP_END, end);
}

static inline void stage_note(struct stage *stage, const char *instance, const char *text)
{
	struct sonde_row row;

	if (records_row(&stage->records, RECORD_NOTE, &row))
		abort();
	records_str(&stage->records, &row, NOTE_INSTANCE, instance);
	records_str(&stage->records, &row, NOTE_LEVEL, "notice");
	records_str(&stage->records, &row, NOTE_TEXT, text);
}

/* The rows since the last one are an instant at this time; the stage is empty again. */
static inline int stage_tick(struct stage *stage, uint64_t time)
{
	struct sonde_view views[STAGE_TABLES + RECORD_TABLES] = { 0 };
	struct instant instant = { .header = &stage->header,
				   .views = views,
				   .sequence = stage->sequence++,
				   .begin = time,
				   .end = time };
	struct sonde_view data[STAGE_TABLES] = { 0 };
	int err;

	frame_views(&stage->records, views);
	for (uint32_t i = 0; i < RECORD_TABLES; i++)
		if (views[i].nrows)
			views[instant.nviews++] = views[i];
	frame_views(&stage->frame, data);
	for (uint32_t i = 0; i < stage->nschemas; i++) {
		if (stage->omit[i])
			continue;
		if (!i && stage->changed) {
			data[i].changed = stage->changed;
			data[i].nchanged = stage->nchanged;
		}
		data[i].flags |= stage->flags;
		views[instant.nviews++] = data[i];
	}
	for (uint32_t i = 0; i < instant.nviews; i++) {
		views[i].header = &stage->header;
		views[i].instance = "";
		views[i].begin = views[i].end = time;
	}
	err = analysis_instant(stage->analysis, &instant);
	frame_begin(&stage->frame);
	frame_begin(&stage->records);
	return err;
}

#endif
