/* framework/window: stretches that hold, gaps, long recordings, hosts that are mixed, and findings while they live. Expected
 * values are worked out by hand from the inputs beside them. */
#include <malloc.h>

#include "watcher.h"

const char suite[] = "analysis";

/* ---- stretches that hold ---- */

/* One process for 20 s at 1 Hz, waiting for two thirds of what it could run from second `from` to `to` of the 20; what was
 * held. */
static struct sonde_held half(uint64_t from, uint64_t to)
{
	uint64_t run = 0, wait = 0;
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	for (uint64_t t = 0; t <= 20; t++) {
		if (t > from && t <= to) {
			run += SECOND / 3;
			wait += SECOND * 2 / 3;
		} else if (t) {
			run += SECOND / 10;
		}
		process_row(&stage, 9, 1, "spin", 0, run, wait);
		stage_tick(&stage, (1000 + t) * SECOND);
	}
	judged(&stage);
	stage_close(&stage);
	return seen.series[P_WAIT][0].held;
}

static void held_in_one_half(void)
{
	struct sonde_held held = half(10, 15);

	CU_ASSERT_EQUAL(held.begin, 1010 * SECOND);
	CU_ASSERT_EQUAL(held.end, 1015 * SECOND);
	CU_ASSERT_EQUAL(held.time, 5 * SECOND);
	CU_ASSERT_EQUAL(held.stretches, 1);
	NEAR(held.numerator / held.denominator, 2.0 / 3);
	held = half(18, 20);
	CU_ASSERT_EQUAL(held.begin, 1018 * SECOND);
	CU_ASSERT_EQUAL(held.time, 2 * SECOND);
}

/* One second is less than `hold`. */
static void one_second_is_noise(void)
{
	CU_ASSERT_EQUAL(half(10, 11).time, 0);
}

/* A starved process, sampled five times a second: its wait is counted when it is over, and in two instants of each five nothing is,
 * wherever the seconds of the window begin. It waited throughout. */
static void counted_when_it_is_over(void)
{
	for (uint64_t since = 0; since < 5; since++) {
		struct stage stage;

		stage_open(&stage);
		stage_table(&stage, &process_table);
		analyzer(&stage, process_streams, 3);
		for (uint64_t t = since; t <= 30; t++) {
			uint64_t waits = t / 5 * 3 + (t % 5 < 3 ? t % 5 : 3);

			process_row(&stage, 9, 1, "starved", 0, waits * SECOND / 50,
				    waits * SECOND / 4);
			stage_tick(&stage, 1000 * SECOND + t * SECOND / 5);
		}
		judged(&stage);
		CU_ASSERT(seen.series[P_WAIT][0].held.time > 0);
		CU_ASSERT_EQUAL(seen.series[P_WAIT][0].held.stretches, 1);
		stage_close(&stage);
	}
}

/* Sampled at 1 Hz, a process that counts `wait` of waiting and 20 ms of running in a second, then nothing in `silent` of them. */
static struct sonde_held counts_now_and_then(uint64_t wait, uint64_t silent)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	for (uint64_t t = 0; t <= 24; t++) {
		uint64_t turns = (t + silent) / (1 + silent);

		process_row(&stage, 9, 1, "starved", 0, turns * SECOND / 50, turns * wait);
		stage_tick(&stage, (1000 + t) * SECOND);
	}
	judged(&stage);
	stage_close(&stage);
	return seen.series[P_WAIT][0].held;
}

/* Who waits for seconds on end counts nothing meanwhile, and all of it then. Who counts less than the time that passed did
 * something else in between, and what counts all of it after longer than the stream takes to hold may be many threads. */
static void starved_for_seconds(void)
{
	struct sonde_held held = counts_now_and_then(SECOND * 198 / 100, 1);

	CU_ASSERT_EQUAL(held.stretches, 1);
	CU_ASSERT_EQUAL(held.begin, 1000 * SECOND);
	CU_ASSERT_EQUAL(held.end, 1023 * SECOND);
	NEAR(held.numerator / held.denominator, 0.99);
	CU_ASSERT_EQUAL(counts_now_and_then(SECOND * 298 / 100, 2).stretches, 1);
	CU_ASSERT_EQUAL(counts_now_and_then(SECOND * 9 / 10, 1).time, 0);
	CU_ASSERT_EQUAL(counts_now_and_then(SECOND * 40, 3).time, 0);
}

/* All of it waiting, but 0.3 ms in a second: below the floor. */
static void below_the_floor(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	for (uint64_t t = 0; t <= 10; t++) {
		process_row(&stage, 9, 1, "idle", 0, 0, t * 300000);
		stage_tick(&stage, (1000 + t) * SECOND);
	}
	judged(&stage);
	CU_ASSERT_EQUAL(seen.count[P_WAIT], 1);
	NEAR(mean(P_WAIT, 0), 1);
	CU_ASSERT_EQUAL(seen.series[P_WAIT][0].held.time, 0);
	stage_close(&stage);
}

/* ---- gaps ---- */

/* [148] A host that slept for 7,200 s: nothing is counted across, and the window was not observed then. A tick that was only
 * missed makes a longer interval: 30 ticks of user in 3 s. */
static void gaps(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	process_row(&stage, 9, 1, "x", 0, 0, 0);
	stage_tick(&stage, 100 * SECOND);
	process_row(&stage, 9, 1, "x", 10, 0, 0);
	stage_tick(&stage, 101 * SECOND);
	stage_gap(&stage, "suspended", 101 * SECOND, 7302 * SECOND);
	process_row(&stage, 9, 1, "x", 500, 0, 0);
	stage_tick(&stage, 7302 * SECOND);
	stage_gap(&stage, "missed", 7302 * SECOND, 7305 * SECOND);
	process_row(&stage, 9, 1, "x", 530, 0, 0);
	stage_tick(&stage, 7305 * SECOND);
	judged(&stage);
	NEAR(seen.sum[P_SUM], 40 * 1e7);
	CU_ASSERT_EQUAL(seen.series[P_SUM][0].total.observed, 4 * SECOND);
	CU_ASSERT_EQUAL(seen.window.observed, 4 * SECOND);
	CU_ASSERT_EQUAL(seen.window.begin, 100 * SECOND);
	CU_ASSERT_EQUAL(seen.window.end, 7305 * SECOND);
	stage_close(&stage);
}

/* Two lanes: the slow one's instants come before those of the fast one and begin 5 ms later. Each moment is observed once. */
static void two_lanes(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	for (uint64_t t = 0; t <= 10; t++) {
		process_row(&stage, 9, 1, "x", t, 0, 0);
		if (t % 5 == 0)
			stage_tick(&stage, (100 + t) * SECOND + 5000000);
		stage_tick(&stage, (100 + t) * SECOND);
	}
	judged(&stage);
	CU_ASSERT_EQUAL(seen.window.begin, 100 * SECOND);
	CU_ASSERT_EQUAL(seen.window.end, 110 * SECOND + 5000000);
	CU_ASSERT_EQUAL(seen.window.observed, 10 * SECOND + 5000000);
	stage_close(&stage);
}

/* ---- long recordings ---- */

/* A day at 1 Hz, in which a new process of ten seconds begins every second: 86,400 of them. One of five seconds waits in the
 * afternoon. It fits into 32 MiB, and the wait is told to the second. */
static void a_day(void)
{
	const uint64_t day = 86400, waiter = 50000;
	size_t after_day;
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	for (uint64_t t = 0; t <= day; t++) {
		for (uint64_t age = 0; age < 10 && age <= t; age++) {
			uint64_t born = t - age;

			process_row(&stage, 1000 + born, (100000 + born) * 100, "cc1", age * 50,
				    age * SECOND / 2, 0);
		}
		if (t >= waiter && t <= waiter + 5)
			process_row(&stage, 77, (100000 + waiter) * 100, "victim", 0,
				    (t - waiter) * SECOND / 4, (t - waiter) * SECOND * 3 / 4);
		stage_tick(&stage, (100000 + t) * SECOND);
	}
	after_day = mallinfo2().uordblks;
	judged(&stage);
	CU_ASSERT(after_day < (size_t)32 << 20);
	CU_ASSERT(seen.nslices[P_SUM] <= 512);
	/* 86,400 processes, each 50 ticks a second for nine seconds: the last nine have less. */
	CU_ASSERT_DOUBLE_EQUAL(seen.sum[P_SUM], seen.sum[P_CPU], seen.sum[P_SUM] * 1e-5);
	for (uint32_t i = 0; i < seen.count[P_WAIT] && i < SERIES_MOST; i++) {
		if (strcmp(seen.labels[P_WAIT][i], "victim") != 0)
			continue;
		CU_ASSERT_EQUAL(seen.series[P_WAIT][i].held.begin, (100000 + waiter) * SECOND);
		CU_ASSERT_EQUAL(seen.series[P_WAIT][i].held.end, (100005 + waiter) * SECOND);
		CU_ASSERT_DOUBLE_EQUAL((double)seen.series[P_WAIT][i].held.time, 5e9, 1e3);
	}
	CU_ASSERT_STRING_EQUAL(seen.labels[P_WAIT][0], "victim");
	stage_close(&stage);
}

/* The notes that go with a judgement. */
static uint32_t count_notes(struct stage *stage)
{
	struct sonde_frame records;
	uint32_t n;

	CU_ASSERT_EQUAL_FATAL(records_make(&records), 0);
	CU_ASSERT_EQUAL(analysis_judge(stage->analysis, &records), 0);
	n = records.tables[RECORD_NOTE].nrows;
	frame_free(&records);
	return n;
}

/* Two hosts in one stream: the first is judged, and that the other is not is said. 3 ticks of the first in 3 s, whatever the
 * second does. */
static void another_host(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	for (uint64_t t = 0; t <= 3; t++) {
		stage.header.machine_id = "machine";
		process_row(&stage, 9, 1, "x", t, 0, 0);
		stage_tick(&stage, (100 + t) * SECOND);
		stage.header.machine_id = "another";
		process_row(&stage, 9, 1, "x", t * 1000, 0, 0);
		stage_tick(&stage, (100 + t) * SECOND + 1);
	}
	CU_ASSERT_EQUAL(count_notes(&stage), 1);
	NEAR(seen.sum[P_SUM], 3 * 1e7);
	stage_close(&stage);
}

/* 300 processes a second: 255 and "other" are kept of each second but the one being filled, nothing is lost from the sum, and
 * it is said. */
static void many_keys(void)
{
	struct stage stage;
	double all = 0;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	for (uint64_t t = 0; t <= 3; t++) {
		for (uint64_t pid = 1; pid <= 300; pid++)
			process_row(&stage, pid, 1, "x", t * pid, 0, 0);
		stage_tick(&stage, (100 + t) * SECOND);
	}
	CU_ASSERT_EQUAL(count_notes(&stage), 1);
	CU_ASSERT_EQUAL(seen.count[P_CPU], 301);
	CU_ASSERT_EQUAL(seen.series[P_CPU][0].nslices, 3);
	CU_ASSERT_STRING_EQUAL(seen.keys[P_CPU][0], "300 1");
	/* 3 s of 1 + 2 + ... + 300 ticks */
	all = 3 * 45150 * 1e7;
	CU_ASSERT_DOUBLE_EQUAL(seen.sum[P_CPU], all, all * 1e-9);
	NEAR(seen.sum[P_SUM], all);
	stage_close(&stage);
}

/* ---- live ---- */

static enum sonde_severity severity = SONDE_SEVERITY_WARNING;
static const char *unknown; /* why it is not judged */

static int judge_wait(struct sonde_instance *self)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, P_WAIT, &count);
	struct sonde_finding finding = {
		.id = "test.wait", .severity = severity, .about = "process 9", .title = "it waits"
	};

	if (unknown)
		sonde_not_judged(self, "test.wait", unknown);
	if (!count || !series->held.time || unknown)
		return 0;
	finding.begin = series->held.begin;
	finding.end = series->held.end;
	finding.held = series->held.time;
	sonde_finding(self, &finding);
	return 0;
}

/* What the judgement at this time says of the finding: "" where it says nothing. */
static const char *live_state(struct stage *stage, uint64_t now, uint64_t *begin)
{
	static char state[16];
	struct sonde_frame records;
	struct sonde_view views[RECORD_TABLES] = { 0 };
	const struct sonde_view *view = &views[RECORD_FINDING];
	uint32_t length;
	const char *bytes;

	CU_ASSERT_EQUAL_FATAL(records_make(&records), 0);
	CU_ASSERT_EQUAL(analysis_live(stage->analysis, now, &records), 0);
	frame_views(&records, views);
	state[0] = '\0';
	if (view->nrows) {
		bytes = sonde_view_bytes(view, sonde_view_slots(view, 0)[FINDING_STATE], &length);
		snprintf(state, sizeof state, "%.*s", (int)length, bytes);
		*begin = sonde_view_slots(view, 0)[FINDING_BEGIN];
	}
	frame_free(&records);
	return state;
}

/* Judged every 10 s; a process waits from 25 s to 65 s of 120. It opens when it has held for 10 s: at 40 s, since 25 s; is
 * told again after 20 s: at 60 s; and closes 20 s after it was found last, at 70 s: at 90 s. */
static void live(void)
{
	static const char *const expected[] = { "", "", "",       "opened", "", "holding",
						"", "", "closed", "",       "", "" };
	uint64_t run = 0, wait = 0, begin = 0;
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	ops.judge = judge_wait;
	analysis_hysteresis(stage.analysis, &instance, 10 * SECOND, 20 * SECOND, 20 * SECOND);
	for (uint64_t t = 0; t <= 120; t++) {
		run += SECOND / 10;
		if (t > 25 && t <= 65)
			wait += SECOND / 2;
		process_row(&stage, 9, 1, "spin", 0, run, wait);
		stage_tick(&stage, (1000 + t) * SECOND);
		if (t && t % 10 == 0)
			CU_ASSERT_STRING_EQUAL(live_state(&stage, (1000 + t) * SECOND, &begin),
					       expected[t / 10 - 1]);
		if (t == 40 || t == 90)
			CU_ASSERT_EQUAL(begin, 1025 * SECOND);
	}
	stage_close(&stage);
}

/* A process waits all the time, from 10 s on; judged every 10 s. From 50 s on it is worse, which is told at once; from 70 to 110 s
 * it can't be judged, and that closes nothing; from 150 s on it is not found, and 30 s later it closes. */
static void live_changes(void)
{
	static const char *const expected[] = { "", "opened", "", "", "holding", "",
						"", "",       "", "", "",        "",
						"", "",       "", "", "",        "closed" };
	static const struct sonde_catalogue line[] = { { "test.wait", "it waits",
							 "process.sched_wait", NULL } };
	uint64_t run = 0, wait = 0, begin = 0;
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer_of(&stage, process_streams, 3, (struct sonde_array) { line, 1, sizeof *line });
	ops.judge = judge_wait;
	analysis_hysteresis(stage.analysis, &instance, 0, 30 * SECOND, 1000 * SECOND);
	for (uint64_t t = 0; t <= 180; t++) {
		run += SECOND / 10;
		wait += t > 10 && t <= 150 ? SECOND / 2 : 0;
		process_row(&stage, 9, 1, "spin", 0, run, wait);
		stage_tick(&stage, (1000 + t) * SECOND);
		severity = t >= 50 ? SONDE_SEVERITY_CRITICAL : SONDE_SEVERITY_WARNING;
		unknown = t >= 70 && t <= 110 ? "nobody knows" : NULL;
		if (t && t % 10 == 0)
			CU_ASSERT_STRING_EQUAL(live_state(&stage, (1000 + t) * SECOND, &begin),
					       expected[t / 10 - 1]);
	}
	severity = SONDE_SEVERITY_WARNING;
	stage_close(&stage);
}

CU_TestInfo tests[] = {
	{ "a load in one half holds there", held_in_one_half },
	{ "one second does not hold", one_second_is_noise },
	{ "counted when it is over", counted_when_it_is_over },
	{ "starved for seconds", starved_for_seconds },
	{ "below the floor nothing holds", below_the_floor },
	{ "case 148: gaps", gaps },
	{ "two lanes", two_lanes },
	{ "a day of short-lived processes", a_day },
	{ "another host in the stream", another_host },
	{ "more keys than are kept", many_keys },
	{ "live: opens, holds, closes", live },
	{ "live: becomes worse, can't be judged", live_changes },
	CU_TEST_INFO_NULL,
};
