/* The filter before a sink: what it lets through, and rates where counters went back, wrapped, vanished or slept. Cases of
 * ../shared/cases.md by number; expected rates are arithmetic by hand. USER_HZ is 100 throughout, so a tick is 10 ms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/records.h"
#include "core/schema.h"
#include "host/filter.h"
#include "host/siphash.h"
#include "test.h"

const char suite[] = "filter";

enum { SECOND = 1000000000 };

/* ---- allocations, counted where no sanitizer does so itself ---- */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

static unsigned long allocations;

#ifndef SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	allocations++;
	return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	allocations++;
	return __libc_realloc(block, size);
}
#endif

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

static int set_up(void)
{
	char why[256];

	return schema_make(&cpu_table, &schema, why, sizeof why) ||
	       frame_add_table(&frame, schema, 8, 8) || records_make(&records);
}

static void begin(void)
{
	frame_begin(&frame);
	frame_begin(&records);
}

/* A row of ticks; UINT64_MAX leaves a value out. */
static void cpu(uint64_t id, uint64_t user, uint64_t idle, uint64_t iowait, uint64_t steal)
{
	const uint64_t values[] = { id, user, idle, iowait, steal };
	struct sonde_row row;

	CU_ASSERT_TRUE_FATAL(frame_row(&frame, 0, &row));
	for (uint32_t i = 0; i < 5; i++)
		if (values[i] != UINT64_MAX)
			sonde_set_u64(&row, i, values[i]);
}

static const uint64_t none = UINT64_MAX;

static const struct instant *pass(struct filter *filter, uint64_t at, uint32_t flags)
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

static struct filter *make(const struct filter_options *options)
{
	struct filter *filter = NULL;
	char why[256] = "";

	CU_ASSERT_EQUAL_FATAL(filter_new(options, &filter, why, sizeof why), 0);
	return filter;
}

static struct filter *rates(void)
{
	return make(&(struct filter_options) { .values = FILTER_RATE });
}

static const struct sonde_view *view_of(const struct instant *instant, const char *table)
{
	for (uint32_t i = 0; instant && i < instant->nviews; i++)
		if (strcmp(instant->views[i].schema->name, table) == 0)
			return &instant->views[i];
	return NULL;
}

/* A rate of the row at this place; -1 where it is absent. */
static double rate(const struct instant *instant, uint32_t row, const char *column)
{
	const struct sonde_view *view = view_of(instant, "cpu");
	int index;

	CU_ASSERT_PTR_NOT_NULL_FATAL(view);
	index = schema_column(view->schema, column);
	CU_ASSERT_TRUE_FATAL(index >= 0);
	if (!sonde_view_has(view, row, view->schema->slot[index]))
		return -1;
	return sonde_slot_f64(sonde_view_slots(view, row)[view->schema->slot[index]]);
}

#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 1e-9)

/* ---- rates ---- */

static void test_plain_rates(void)
{
	struct filter *filter = rates();
	const struct instant *out;
	const struct sonde_view *view;
	struct sonde_row row;

	for (int i = 0; i < 2; i++) {
		begin();
		CU_ASSERT_TRUE_FATAL(frame_row(&frame, 0, &row));
		sonde_set_u64(&row, CPU, 3);
		sonde_set_u64(&row, USER, 1000 + (uint64_t)i * 25);
		sonde_set_u64(&row, IO_TICKS, 500 + (uint64_t)i * 100);
		sonde_set_f64(&row, JOULES, 10.5 + i * 30);
		sonde_set_u64(&row, LOAD, 4);
		out = pass(filter, (uint64_t)(10 + i * 2) * SECOND, 0);
		if (!i) {
			NEAR(rate(out, 0, "user_rate"), -1); /* nothing to compare with yet */
			continue;
		}
		NEAR(rate(out, 0, "user_rate"), 0.125);    /* 250 ms of 2 s */
		NEAR(rate(out, 0, "io_ticks_rate"), 0.05); /* 100 ms of 2 s */
		NEAR(rate(out, 0, "energy_rate"), 15);     /* 30 J in 2 s */
		NEAR(rate(out, 0, "idle_rate"), -1);
	}
	view = view_of(out, "cpu");
	CU_ASSERT_EQUAL(view->schema->ncolumns, NCOLUMNS);
	CU_ASSERT_EQUAL(view->schema->columns[USER].unit, SONDE_BASE_RATIO);
	CU_ASSERT_EQUAL(view->schema->columns[USER].type, SONDE_F64);
	CU_ASSERT_EQUAL(view->schema->columns[USER].semantics, SONDE_GAUGE);
	CU_ASSERT_EQUAL(view->schema->columns[JOULES].unit, SONDE_BASE_WATT);
	CU_ASSERT_EQUAL(view->schema->columns[LOAD].type, SONDE_U64); /* a gauge stays */
	CU_ASSERT_EQUAL(sonde_view_slots(view, 0)[LOAD], 4);
	CU_ASSERT_NOT_EQUAL(view->schema->hash, schema->hash);
	filter_free(filter);
}

/* 24: iowait one back, idle 101 on: nothing waited, and the CPU was idle. 25: idle 3 ticks back, then on. 26: never
 * below nothing. */
static void test_small_steps_back(void)
{
	struct filter *filter = rates();
	const struct instant *out;

	begin();
	cpu(0, 500, 9000, 4000, 0);
	pass(filter, 1 * (uint64_t)SECOND, 0);
	begin();
	cpu(0, 500, 9101, 3999, 0);
	out = pass(filter, 2 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "iowait_rate"), 0);
	NEAR(rate(out, 0, "idle_rate"), 1.01);
	NEAR(rate(out, 0, "user_rate"), 0);
	begin();
	cpu(0, 500, 9098, 4000, 0);
	out = pass(filter, 3 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "idle_rate"), 0);
	NEAR(rate(out, 0, "iowait_rate"), 0); /* back at 4000, where it was counted already */
	begin();
	cpu(0, 505, 9158, 3960, 0);
	out = pass(filter, 4 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "user_rate"), 0.05);
	NEAR(rate(out, 0, "iowait_rate"), 0);
	NEAR(rate(out, 0, "idle_rate"), 0.57); /* 9158 - 9101 */
	filter_free(filter);
}

/* 31: a guest's steal goes back by 8e8 ticks a second: no rate of it, the others keep theirs. */
static void test_steal_goes_back(void)
{
	struct filter *filter = rates();
	const struct instant *out = NULL;

	for (uint64_t i = 0; i < 3; i++) {
		begin();
		cpu(2, 100, 1000 + 95 * i, 0, 9100000000 - 800000000 * i);
		out = pass(filter, (1 + i) * SECOND, 0);
		if (!i)
			continue;
		NEAR(rate(out, 0, "steal_rate"), -1);
		NEAR(rate(out, 0, "idle_rate"), 0.95);
	}
	filter_free(filter);
}

/* 28: one of the counters wraps at 32 bits, and only that one. A re-created device (29) is no wrap: 900 to 2 would be
 * half of the range or more. */
static void test_wraps_one_by_one(void)
{
	static const uint64_t ticks[] = { 4294967200, 104, 204, 2 };
	static const double expected[] = { -1, 0.2, 0.1, -1 }; /* 200 ms, 100 ms of 1 s */
	struct filter *filter = rates();

	for (uint64_t i = 0; i < 4; i++) {
		const struct instant *out;
		struct sonde_row row;

		begin();
		CU_ASSERT_TRUE_FATAL(frame_row(&frame, 0, &row));
		sonde_set_u64(&row, CPU, 0);
		sonde_set_u64(&row, USER, 100 + i * 10);
		sonde_set_u64(&row, IO_TICKS, ticks[i]);
		out = pass(filter, (1 + i) * SECOND, 0);
		NEAR(rate(out, 0, "io_ticks_rate"), expected[i]);
		NEAR(rate(out, 0, "user_rate"), i ? 0.1 : -1);
	}
	filter_free(filter);
}

/* 29 and 16 between two samples: most counters begin anew, so the row is another thing; the one that happens to be larger
 * says nothing. */
static void test_another_under_the_same_name(void)
{
	struct filter *filter = rates();
	const struct instant *out;

	begin();
	cpu(3, 90000, 118089, 70000, 5);
	pass(filter, 1 * (uint64_t)SECOND, 0);
	begin();
	cpu(3, 2, 140, 3, 7);
	out = pass(filter, 2 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "user_rate"), -1);
	NEAR(rate(out, 0, "idle_rate"), -1);
	NEAR(rate(out, 0, "steal_rate"), -1);
	begin();
	cpu(3, 12, 230, 3, 7);
	out = pass(filter, 3 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "user_rate"), 0.1);
	NEAR(rate(out, 0, "idle_rate"), 0.9);
	NEAR(rate(out, 0, "steal_rate"), 0);
	filter_free(filter);
}

/* 15: a CPU that goes offline is gone at once. 16: it comes back near 0 and has no rate for the time in between. */
static void test_rows_vanish_and_come_back(void)
{
	struct filter *filter = rates();
	const struct instant *out;

	begin();
	cpu(0, 100, 1000, 0, 0);
	cpu(5, 200, 118089, 0, 0);
	pass(filter, 1 * (uint64_t)SECOND, 0);
	begin();
	cpu(0, 110, 1090, 0, 0);
	out = pass(filter, 2 * (uint64_t)SECOND, 0);
	CU_ASSERT_EQUAL(view_of(out, "cpu")->nrows, 1);
	NEAR(rate(out, 0, "idle_rate"), 0.9);
	begin();
	cpu(0, 120, 1180, 0, 0);
	cpu(5, 300, 118189, 0, 0); /* larger than before, and still unknown */
	out = pass(filter, 3 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "idle_rate"), 0.9);
	NEAR(rate(out, 1, "idle_rate"), -1);
	begin();
	cpu(5, 310, 118239, 0, 0); /* in another place now */
	cpu(0, 130, 1270, 0, 0);
	out = pass(filter, 4 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "user_rate"), 0.1);
	NEAR(rate(out, 0, "idle_rate"), 0.5);
	NEAR(rate(out, 1, "idle_rate"), 0.9);
	filter_free(filter);
}

/* Rows that a partial sample lacks have not ended: over both seconds 90 ticks. */
static void test_partial_samples(void)
{
	struct filter *filter = rates();
	const struct instant *out;

	begin();
	cpu(0, 100, 1000, 0, 0);
	cpu(1, 100, 2000, 0, 0);
	pass(filter, 1 * (uint64_t)SECOND, 0);
	begin();
	cpu(0, 100, 1100, 0, 0);
	pass(filter, 2 * (uint64_t)SECOND, SONDE_PARTIAL);
	begin();
	cpu(0, 100, 1200, 0, 0);
	cpu(1, 100, 2090, 0, 0);
	out = pass(filter, 3 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "idle_rate"), 1);
	NEAR(rate(out, 1, "idle_rate"), 0.45);
	filter_free(filter);
}

/* 148: two hours asleep: no rate across them. */
static void test_suspend(void)
{
	struct filter *filter = rates();
	const struct instant *out;
	struct sonde_row row;

	begin();
	cpu(0, 100, 1000, 0, 0);
	pass(filter, 1 * (uint64_t)SECOND, 0);
	begin();
	cpu(0, 110, 1090, 0, 0);
	CU_ASSERT_EQUAL_FATAL(records_row(&records, RECORD_GAP, &row), 0);
	records_str(&records, &row, GAP_REASON, "suspended");
	out = pass(filter, 7202 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "idle_rate"), -1);
	CU_ASSERT_PTR_NOT_NULL(view_of(out, "gap"));
	begin();
	cpu(0, 120, 1180, 0, 0);
	out = pass(filter, 7203 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "idle_rate"), 0.9);
	filter_free(filter);
}

/* A value that is absent once gives no rate then, nor at the next instant. A row twice in one view gives none at all. */
static void test_absent_and_double(void)
{
	struct filter *filter = rates();
	const struct instant *out;

	begin();
	cpu(0, 100, 1000, 0, 0);
	pass(filter, 1 * (uint64_t)SECOND, 0);
	begin();
	cpu(0, 110, none, 0, 0);
	out = pass(filter, 2 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "user_rate"), 0.1);
	NEAR(rate(out, 0, "idle_rate"), -1);
	begin();
	cpu(0, 120, 1180, 0, 0);
	cpu(0, 5, 7, 0, 0);
	out = pass(filter, 3 * (uint64_t)SECOND, 0);
	NEAR(rate(out, 0, "user_rate"), 0.1);
	NEAR(rate(out, 0, "idle_rate"), -1);
	NEAR(rate(out, 1, "user_rate"), -1);
	begin();
	cpu(0, 130, 1270, 0, 0);
	out = pass(filter, 4 * (uint64_t)SECOND, 0);
	CU_ASSERT_TRUE(rate(out, 0, "user_rate") <=
		       1.25); /* 125 ticks of a CPU at most, never 10^7 */
	filter_free(filter);
}

/* 41: the same pid with another start time is another row. */
static void test_pid_reused(void)
{
	static const struct sonde_column process_columns[] = {
		{ "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "" },
		{ "start_time", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "" },
		{ "utime", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	};
	static const struct sonde_table table = { "process", SONDE_COLUMNS(process_columns),
						  .rows = 4 };
	static const uint64_t samples[][2] = { { 1000, 500 }, { 1000, 550 }, { 9000, 603 } };
	static const double expected[] = { -1, 0.5, -1 };
	struct sonde_schema *process;
	struct sonde_frame arena = { 0 };
	struct filter *filter = rates();
	char why[256];

	CU_ASSERT_EQUAL_FATAL(schema_make(&table, &process, why, sizeof why), 0);
	CU_ASSERT_EQUAL_FATAL(frame_add_table(&arena, process, 4, 4), 0);
	for (uint64_t i = 0; i < 3; i++) {
		struct sonde_view view = { 0 };
		struct instant in = { .header = &header, .views = &view, .nviews = 1 };
		const struct instant *out;
		struct sonde_row row;

		frame_begin(&arena);
		CU_ASSERT_TRUE_FATAL(frame_row(&arena, 0, &row));
		sonde_set_u64(&row, 0, 700);
		sonde_set_u64(&row, 1, samples[i][0]);
		sonde_set_u64(&row, 2, samples[i][1]);
		frame_views(&arena, &view);
		view.header = &header;
		view.instance = "process";
		view.begin = (1 + i) * SECOND;
		CU_ASSERT_EQUAL(filter_instant(filter, &in, &out), 0);
		NEAR(sonde_view_has(out->views, 0, 2)
			     ? sonde_slot_f64(sonde_view_slots(out->views, 0)[2])
			     : -1,
		     expected[i]);
	}
	filter_free(filter);
	frame_free(&arena);
	schema_free(process);
}

/* ---- what passes ---- */

static struct sonde_list list(const char *const *items, uint32_t count)
{
	return (struct sonde_list) { items, count, 0 };
}

static void test_nothing_to_do(void)
{
	struct filter *filter = make(&(struct filter_options) { 0 });
	struct instant in = { 0 };
	const struct instant *out;

	CU_ASSERT_EQUAL(filter_instant(filter, &in, &out), 0);
	CU_ASSERT_PTR_EQUAL(out, &in);
	filter_free(filter);
}

static void one_of_each(void)
{
	struct sonde_row row;

	begin();
	cpu(1, 2, 3, 4, 5);
	CU_ASSERT_EQUAL_FATAL(records_row(&records, RECORD_NOTE, &row), 0);
	CU_ASSERT_EQUAL_FATAL(records_row(&records, RECORD_GAP, &row), 0);
	CU_ASSERT_EQUAL_FATAL(records_row(&records, RECORD_FINDING, &row), 0);
}

static void passes(const struct filter_options *options, const char *tables)
{
	struct filter *filter = make(options);
	const struct instant *out;
	char got[256] = "";

	one_of_each();
	out = pass(filter, SECOND, 0);
	for (uint32_t i = 0; out && i < out->nviews; i++) {
		strcat(got, out->views[i].schema->name);
		strcat(got, " ");
	}
	CU_ASSERT_STRING_EQUAL(got, tables);
	filter_free(filter);
}

static void test_tables_and_kinds(void)
{
	static const char *const findings[] = { "findings, gaps" }, *const data[] = { "data" },
				 *const cpu_only[] = { "c*" }, *const not_cpu[] = { "!cpu" },
				 *const other[] = { "disk" };

	passes(&(struct filter_options) { .kinds = list(findings, 1) }, "gap finding ");
	passes(&(struct filter_options) { .kinds = list(data, 1) }, "cpu ");
	passes(&(struct filter_options) { .tables = list(cpu_only, 1) }, "cpu note gap finding ");
	passes(&(struct filter_options) { .tables = list(not_cpu, 1) }, "note gap finding ");
	passes(&(struct filter_options) { .tables = list(other, 1), .kinds = list(data, 1) }, "");
}

static void test_columns(void)
{
	static const char *const some[] = { "cpu.i*", "load" }, *const without[] = { "!cpu.steal" },
				 *const others[] = { "disk.reads" };
	struct filter *filter = make(&(struct filter_options) { .columns = list(some, 2) });
	const struct sonde_view *view;

	begin();
	cpu(9, 2, 3, none, 5);
	view = view_of(pass(filter, SECOND, 0), "cpu");
	CU_ASSERT_PTR_NOT_NULL_FATAL(view);
	CU_ASSERT_EQUAL(view->schema->ncolumns, 5); /* the key, idle, iowait, io_ticks, load */
	CU_ASSERT_STRING_EQUAL(view->schema->columns[0].name, "cpu");
	CU_ASSERT_STRING_EQUAL(view->schema->columns[2].name, "iowait");
	CU_ASSERT_EQUAL(sonde_view_slots(view, 0)[0], 9);
	CU_ASSERT_EQUAL(sonde_view_slots(view, 0)[1], 3);
	CU_ASSERT_FALSE(sonde_view_has(view, 0, 2));
	filter_free(filter);

	filter = make(&(struct filter_options) { .columns = list(without, 1) });
	view = view_of(pass(filter, SECOND, 0), "cpu");
	CU_ASSERT_EQUAL(view->schema->ncolumns, NCOLUMNS - 1);
	filter_free(filter);
	passes(&(struct filter_options) { .columns = list(others, 1) }, "note gap finding ");
}

/* Every 10 s out of one a second, and out of one in 9.5 s: a tick a little early counts, the pace is kept. */
static void test_every(void)
{
	struct filter *filter = make(&(struct filter_options) { .every = 10 * (uint64_t)SECOND });
	unsigned passed = 0;

	for (uint64_t i = 0; i < 60; i++) {
		uint64_t jitter = i % 3 * 1000000;
		const struct instant *out;

		begin();
		cpu(0, i, i, i, i);
		out = pass(filter, 5 * (uint64_t)SECOND + i * SECOND - jitter, 0);
		if (!out)
			continue;
		passed++;
		CU_ASSERT_EQUAL(i % 10, 0);
		CU_ASSERT_EQUAL(sonde_view_slots(view_of(out, "cpu"), 0)[USER], i); /* the newest */
	}
	CU_ASSERT_EQUAL(passed, 6);
	one_of_each();
	CU_ASSERT_PTR_NOT_NULL(
		view_of(pass(filter, 66 * (uint64_t)SECOND, 0), "note")); /* at once */
	filter_free(filter);
}

static void test_words(void)
{
	static const char *const bad_kind[] = { "findigs" }, *const bad_privacy[] = { "args" },
				 *const bad_action[] = { "path=hide" }, *const bang[] = { "!" };
	struct filter *filter = NULL;
	char why[256];

	CU_ASSERT_EQUAL(filter_new(&(struct filter_options) { .kinds = list(bad_kind, 1) }, &filter,
				   why, sizeof why),
			-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "did you mean `findings`?"));
	CU_ASSERT_EQUAL(filter_new(&(struct filter_options) { .privacy = list(bad_privacy, 1) },
				   &filter, why, sizeof why),
			-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "\"args\" is none of name, path, argument, address"));
	CU_ASSERT_EQUAL(filter_new(&(struct filter_options) { .privacy = list(bad_action, 1) },
				   &filter, why, sizeof why),
			-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "\"hide\" is neither redact nor drop"));
	CU_ASSERT_EQUAL(filter_new(&(struct filter_options) { .tables = list(bang, 1) }, &filter,
				   why, sizeof why),
			-EINVAL);
}

/* The same with the line on which it stands, before anything runs. */
static void test_words_have_lines(void)
{
	struct config config = { 0 };

	config_read_text(&config, "a.ini",
			 "[sink:x]\ntables = cpu\nkinds = data\nkinds = nots\nother = nots\n");
	filter_check(&config, &config.sections[0]);
	CU_ASSERT_EQUAL_FATAL(config.nerrors, 1);
	CU_ASSERT_STRING_EQUAL(
		config.errors[0],
		"a.ini:4: kinds: \"nots\" is none of data, notes, gaps, findings, metrics, "
		"marks; did you mean `notes`?");
	config_free(&config);
}

static void test_unmatched(void)
{
	static const char *const tables[] = { "cpu, dsik" };
	struct filter *filter = make(&(struct filter_options) { .tables = list(tables, 1) });

	begin();
	cpu(0, 1, 1, 1, 1);
	pass(filter, SECOND, 0);
	CU_ASSERT_STRING_EQUAL(filter_unmatched(filter), "dsik");
	filter_free(filter);
}

/* ---- privacy ---- */

enum { DEVICE, CMDLINE, COMM, BYTES };

static void get_text(const struct sonde_view *view, uint32_t row, uint32_t slot, char *text)
{
	uint32_t length = 0;
	const char *bytes = "";

	if (sonde_view_has(view, row, slot))
		bytes = sonde_view_bytes(view, sonde_view_slots(view, row)[slot], &length);
	memcpy(text, bytes, length);
	text[length] = '\0';
}

static void test_privacy(void)
{
	static const struct sonde_column private_columns[] = {
		[DEVICE] = { "path", SONDE_STR, SONDE_KEY, SONDE_NONE, .sensitivity = SONDE_PATH },
		[CMDLINE] = { "cmdline", SONDE_STR, SONDE_INFO, SONDE_NONE,
			      .sensitivity = SONDE_ARGUMENT },
		[COMM] = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .sensitivity = SONDE_NAME },
		[BYTES] = { "bytes", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .help = "" },
	};
	static const struct sonde_table table = { "mapped", SONDE_COLUMNS(private_columns),
						  .rows = 4 };
	static const char *const words[] = { "path=drop, argument=drop", "name" };
	struct filter *filter = make(&(struct filter_options) { .privacy = list(words, 2) });
	struct sonde_schema *private_schema;
	struct sonde_frame arena = { 0 };
	struct sonde_view view = { 0 };
	struct instant in = { .header = &header, .views = &view, .nviews = 1 };
	const struct instant *out;
	char text[4][64], why[256];

	CU_ASSERT_EQUAL_FATAL(schema_make(&table, &private_schema, why, sizeof why), 0);
	CU_ASSERT_EQUAL_FATAL(frame_add_table(&arena, private_schema, 4, 4), 0);
	for (int i = 0; i < 2; i++) {
		struct sonde_row row;

		CU_ASSERT_TRUE_FATAL(frame_row(&arena, 0, &row));
		sonde_set_str(&row, DEVICE, i ? "/home/b" : "/home/a");
		sonde_set_str(&row, CMDLINE, "mysql -psecret");
		sonde_set_str(&row, COMM, "mysql");
		sonde_set_u64(&row, BYTES, 42);
	}
	frame_views(&arena, &view);
	view.header = &header;
	view.instance = "mapped";
	CU_ASSERT_EQUAL(filter_instant(filter, &in, &out), 0);
	CU_ASSERT_EQUAL_FATAL(out->nviews, 1);
	get_text(out->views, 0, DEVICE, text[0]);
	get_text(out->views, 1, DEVICE, text[1]);
	get_text(out->views, 0, COMM, text[2]);
	get_text(out->views, 1, COMM, text[3]);
	/* A key is redacted, never dropped: the rows stay two. The same text gives the same. */
	CU_ASSERT_EQUAL(text[0][0], '~');
	CU_ASSERT_EQUAL(strlen(text[0]), 17);
	CU_ASSERT_STRING_NOT_EQUAL(text[0], text[1]);
	CU_ASSERT_EQUAL(text[2][0], '~');
	CU_ASSERT_STRING_EQUAL(text[2], text[3]);
	CU_ASSERT_FALSE(sonde_view_has(out->views, 0, CMDLINE));
	CU_ASSERT_EQUAL(sonde_view_slots(out->views, 1)[BYTES], 42);
	CU_ASSERT_EQUAL(out->views[0].schema->hash, private_schema->hash); /* still that table */
	filter_free(filter);
	frame_free(&arena);
	schema_free(private_schema);
}

/* CPUs that come and go, after each number of them was seen. */
static void test_no_allocation_after_warm_up(void)
{
	static const char *const some[] = { "!cpu.steal" };
	struct filter *filter =
		make(&(struct filter_options) { .columns = list(some, 1), .values = FILTER_RATE });
	unsigned long before = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		begin();
		for (uint64_t id = i % 3; id < 8; id++)
			cpu(id, i, 2 * i, i / 2, 0);
		if (i == 10)
			before = allocations;
		pass(filter, (1 + i) * SECOND, 0);
	}
#ifndef SANITIZED
	CU_ASSERT_TRUE(before > 0);
#endif
	CU_ASSERT_EQUAL(allocations - before, 0);
	filter_free(filter);
}

/* Appendix A of the SipHash paper. */
static void test_siphash(void)
{
	const uint64_t key[2] = { 0x0706050403020100u, 0x0f0e0d0c0b0a0908u };
	unsigned char input[15];

	for (unsigned i = 0; i < sizeof input; i++)
		input[i] = (unsigned char)i;
	CU_ASSERT_EQUAL(siphash(key, input, sizeof input), 0xa129ca6149be45e5u);
}

static void test_set_up(void)
{
	CU_ASSERT_EQUAL_FATAL(set_up(), 0);
}

static void test_tear_down(void)
{
	frame_free(&frame);
	frame_free(&records);
	schema_free(schema);
}

CU_TestInfo tests[] = {
	{ "set up", test_set_up },
	{ "plain rates and their units", test_plain_rates },
	{ "small steps back", test_small_steps_back },
	{ "steal that goes back", test_steal_goes_back },
	{ "wraps one by one", test_wraps_one_by_one },
	{ "another thing under the same name", test_another_under_the_same_name },
	{ "rows vanish and come back", test_rows_vanish_and_come_back },
	{ "partial samples", test_partial_samples },
	{ "suspend", test_suspend },
	{ "absent values and double rows", test_absent_and_double },
	{ "a pid reused", test_pid_reused },
	{ "nothing to do", test_nothing_to_do },
	{ "tables and kinds", test_tables_and_kinds },
	{ "columns", test_columns },
	{ "every", test_every },
	{ "words", test_words },
	{ "words have lines", test_words_have_lines },
	{ "patterns without a match", test_unmatched },
	{ "privacy", test_privacy },
	{ "no allocation after warm-up", test_no_allocation_after_warm_up },
	{ "siphash", test_siphash },
	{ "tear down", test_tear_down },
	CU_TEST_INFO_NULL,
};
