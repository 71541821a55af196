/* Rates where counters went back, wrapped, vanished or slept. Cases of ../shared/cases.md by number; expected rates are
 * arithmetic by hand. USER_HZ is 100 throughout, so a tick is 10 ms. */
#include "filtered.h"

const char suite[] = "filter_rates";

static struct filter *rates(void)
{
	return make(&(struct filter_options) { .values = FILTER_RATE });
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

/* Case 24: iowait one back, idle 101 on: nothing waited, and the CPU was idle. Case 25: idle 3 ticks back, then on. Case 26: never
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

/* Case 31: a guest's steal goes back by 8e8 ticks a second: no rate of it, the others keep theirs. */
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

/* Case 28: one of the counters wraps at 32 bits, and only that one. A re-created device (case 29) is no wrap: 900 to 2 would be
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

/* Case 15: a CPU that goes offline is gone at once. Case 16: it comes back near 0 and has no rate for the time in between. */
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

/* Case 148: two hours asleep: no rate across them. */
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

/* Case 41: the same pid with another start time is another row. */
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

/* As many counters as /proc/vmstat has, in two rows; one of them is absent once. */
static void test_many_counters(void)
{
	enum { COUNTERS = 200, GONE = 130 };
	static struct sonde_column many[1 + COUNTERS];
	static char names[1 + COUNTERS][16];
	struct sonde_table table = { "many", SONDE_COLUMNS(many), .rows = 2 };
	struct filter *filter = rates();
	struct sonde_frame arena = { 0 };
	struct sonde_schema *wide;
	char why[256];

	for (int i = 0; i <= COUNTERS; i++) {
		snprintf(names[i], sizeof names[i], "c%d", i);
		many[i] =
			(struct sonde_column) { names[i], SONDE_U64, i ? SONDE_COUNTER : SONDE_KEY,
						SONDE_NONE, .help = "" };
	}
	CU_ASSERT_EQUAL_FATAL(schema_make(&table, &wide, why, sizeof why), 0);
	CU_ASSERT_EQUAL_FATAL(frame_add_table(&arena, wide, 2, 0), 0);
	for (uint64_t at = 0; at < 4; at++) {
		struct sonde_view view = { 0 };
		struct instant in = { .header = &header, .views = &view, .nviews = 1 };
		const struct instant *out;

		frame_begin(&arena);
		for (uint64_t n = 0; n < 2; n++) {
			struct sonde_row row;

			CU_ASSERT_TRUE_FATAL(frame_row(&arena, 0, &row));
			sonde_set_u64(&row, 0, n);
			for (uint32_t i = 1; i <= COUNTERS; i++)
				if (at != 1 || n || i != GONE)
					sonde_set_u64(&row, i, 1000 + at * (n + 1) * i);
		}
		frame_views(&arena, &view);
		view.header = &header;
		view.instance = "many";
		view.begin = (1 + at) * SECOND;
		CU_ASSERT_EQUAL_FATAL(filter_instant(filter, &in, &out), 0);
		for (uint32_t n = 0; n < 2; n++)
			for (uint32_t i = 1; i <= COUNTERS; i++) {
				bool known = at > 2 || (at && (n || i != GONE));

				CU_ASSERT_EQUAL(sonde_view_has(out->views, n, i), known);
				if (known)
					NEAR(sonde_slot_f64(sonde_view_slots(out->views, n)[i]),
					     (n + 1) * i);
			}
	}
	filter_free(filter);
	frame_free(&arena);
	schema_free(wide);
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
	{ "many counters", test_many_counters },
	{ "tear down", test_tear_down },
	CU_TEST_INFO_NULL,
};
