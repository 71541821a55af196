/* For tests of the filter: a table like the kernel's, rows of it, and instants passed through a filter. */
#ifndef FILTERED_H
#define FILTERED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/records.h"
#include "core/schema.h"
#include "host/filter.h"
#include "test.h"

enum { SECOND = 1000000000 };

static const struct sonde_stream_header header = { .start_id = 7, .user_hz = 100 };

/* ---- a table that looks like /proc/stat, /proc/diskstats and a process in one ---- */

enum { CPU, USER, IDLE, IOWAIT, STEAL, IO_TICKS, JOULES, LOAD, NCOLUMNS };

static const struct sonde_column columns[NCOLUMNS] = {
	[CPU] = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "" },
	[USER] = { "user", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[IDLE] = { "idle", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[IOWAIT] = { "iowait", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[STEAL] = { "steal", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[IO_TICKS] = { "io_ticks", SONDE_U64, SONDE_COUNTER, SONDE_MS, .wrap = 32 },
	[JOULES] = { "energy", SONDE_F64, SONDE_COUNTER, SONDE_BASE_JOULE, 1, 1, NULL, .help = "" },
	[LOAD] = { "load", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("tasks"), .help = "" },
};
static const struct sonde_table cpu_table = { "cpu", SONDE_COLUMNS(columns), .rows = 8 };

static struct sonde_schema *schema;
static struct sonde_frame frame;
static struct sonde_frame records;

static inline int set_up(void)
{
	char why[256];

	return schema_make(&cpu_table, &schema, why, sizeof why) ||
	       frame_add_table(&frame, schema, 8, 8) || records_make(&records);
}

static inline void begin(void)
{
	frame_begin(&frame);
	frame_begin(&records);
}

/* A row of ticks; UINT64_MAX leaves a value out. */
static inline void cpu(uint64_t id, uint64_t user, uint64_t idle, uint64_t iowait, uint64_t steal)
{
	const uint64_t values[] = { id, user, idle, iowait, steal };
	struct sonde_row row;

	CU_ASSERT_TRUE_FATAL(frame_row(&frame, 0, &row));
	for (uint32_t i = 0; i < 5; i++)
		if (values[i] != UINT64_MAX)
			sonde_set_u64(&row, i, values[i]);
}

static const uint64_t none = UINT64_MAX;

static inline const struct instant *pass(struct filter *filter, uint64_t at, uint32_t flags)
{
	static struct sonde_view views[1 + RECORD_TABLES];
	static struct instant in;
	const struct instant *out = NULL;
	uint32_t n = 1;

	memset(views, 0, sizeof views);
	frame_views(&frame, views);
	views[0].flags |= flags;
	for (uint32_t i = 0; i < records.ntables; i++) {
		struct sonde_view all[RECORD_TABLES];

		memset(all, 0, sizeof all);
		frame_views(&records, all);
		if (all[i].nrows)
			views[n++] = all[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		views[i].header = &header;
		views[i].instance = i ? "" : "cpu";
		views[i].begin = at;
		views[i].end = at + 1000;
	}
	in = (struct instant) { .header = &header, .views = views, .nviews = n, .begin = at };
	CU_ASSERT_EQUAL(filter_instant(filter, &in, &out), 0);
	return out;
}

static inline struct filter *make(const struct filter_options *options)
{
	struct filter *filter = NULL;
	char why[256] = "";

	CU_ASSERT_EQUAL_FATAL(filter_new(options, &filter, why, sizeof why), 0);
	return filter;
}

static inline const struct sonde_view *view_of(const struct instant *instant, const char *table)
{
	for (uint32_t i = 0; instant && i < instant->nviews; i++)
		if (strcmp(instant->views[i].schema->name, table) == 0)
			return &instant->views[i];
	return NULL;
}

static inline void test_set_up(void)
{
	CU_ASSERT_EQUAL_FATAL(set_up(), 0);
}

static inline void test_tear_down(void)
{
	frame_free(&frame);
	frame_free(&records);
	schema_free(schema);
}

#endif
