/* framework/window: counters that go back, CPUs that go away, gaps, stretches that hold, and memory that does not grow.
 * Numbers in brackets name the cases, taken from public bug reports, that a test answers. Expected values are worked out
 * by hand from the inputs beside them. */
#include <malloc.h>
#include <math.h>

#include "stage.h"
#include "test.h"
#include "window/delta.h"

const char suite[] = "window";

/* ---- an analyzer of the test's own, which keeps what its streams came to ---- */

enum { STREAMS_MOST = 6, SERIES_MOST = 8 };

struct conf {
	uint64_t unused;
	double threshold;
	uint64_t hold;
	double floor;
};

static struct {
	uint32_t count[STREAMS_MOST];
	struct sonde_series series[STREAMS_MOST][SERIES_MOST];
	char keys[STREAMS_MOST][SERIES_MOST][32], labels[STREAMS_MOST][SERIES_MOST][32];
	struct sonde_slice slices[STREAMS_MOST][512]; /* of the first series */
	uint32_t nslices[STREAMS_MOST];
	double sum[STREAMS_MOST];
	struct sonde_slice window;
} seen;

static uint32_t nstreams;

static int judge(struct sonde_instance *self)
{
	memset(&seen, 0, sizeof seen);
	seen.window = *sonde_window(self);
	for (uint32_t s = 0; s < nstreams; s++) {
		const struct sonde_series *series = sonde_series(self, s, &seen.count[s]);
		const struct sonde_slice *slices;

		for (uint32_t i = 0; i < seen.count[s]; i++) {
			seen.sum[s] += series[i].total.numerator;
			if (i >= SERIES_MOST)
				continue;
			seen.series[s][i] = series[i];
			snprintf(seen.keys[s][i], 32, "%s", series[i].key);
			snprintf(seen.labels[s][i], 32, "%s", series[i].label);
		}
		slices = sonde_slices(self, s, 0, &seen.nslices[s]);
		if (seen.nslices[s])
			memcpy(seen.slices[s], slices, seen.nslices[s] * sizeof *slices);
	}
	return 0;
}

static const struct sonde_host host = { .size = sizeof host, .analysis = &analysis_services };
static struct conf conf;
static struct sonde_instance instance = { .host = &host, .conf = &conf, .name = "analyzer:test" };
static struct sonde_analyzer_ops ops;

static void analyzer(struct stage *stage, const struct sonde_stream *streams, uint32_t count)
{
	char why[128] = "";

	conf = (struct conf) { .threshold = 0.5, .hold = 2 * SECOND, .floor = 0.02 };
	ops = (struct sonde_analyzer_ops) { .streams = { streams, count, sizeof *streams },
					    .judge = judge };
	nstreams = count;
	CU_ASSERT_EQUAL_FATAL(analysis_add(stage->analysis, &instance, &ops, why, sizeof why), 0);
}

static void judged(struct stage *stage)
{
	struct sonde_frame records;

	CU_ASSERT_EQUAL_FATAL(records_make(&records), 0);
	CU_ASSERT_EQUAL(analysis_judge(stage->analysis, &records), 0);
	frame_free(&records);
}

/* ---- tables ---- */

enum { CPU, USER, NICE, SYSTEM, IDLE, IOWAIT, STEAL, GUEST };
static const struct sonde_column cpu_columns[] = {
	[CPU] = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "" },
	[USER] = { "user", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[NICE] = { "nice", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[SYSTEM] = { "system", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[IDLE] = { "idle", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[IOWAIT] = { "iowait", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[STEAL] = { "steal", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[GUEST] = { "guest", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
};
static const struct sonde_table cpu_table = { .name = "cpu",
					      .columns = SONDE_COLUMNS(cpu_columns) };

#define TOTAL "user nice system idle iowait steal"

enum { S_BUSY, S_IDLE, S_IOWAIT, S_STEAL, S_ALL };
static const struct sonde_stream cpu_streams[] = {
	[S_BUSY] = { "busy", "cpu", .plus = "user nice system", .over = TOTAL },
	[S_IDLE] = { "idle", "cpu", .plus = "idle", .over = TOTAL },
	[S_IOWAIT] = { "iowait", "cpu", .plus = "iowait", .over = TOTAL },
	[S_STEAL] = { "steal", "cpu", .plus = "steal", .over = TOTAL,
		      .threshold = offsetof(struct conf, threshold) },
	[S_ALL] = { "all", "cpu", .plus = "user", .over = TOTAL, .reduce = SONDE_SUM },
};

static void cpu_row(struct stage *stage, uint64_t cpu, uint64_t user, uint64_t idle,
		    uint64_t iowait, uint64_t steal)
{
	struct sonde_row row = stage_row(stage, 0);
	const uint64_t values[] = { cpu, user, 0, 0, idle, iowait, steal, 0 };

	for (uint32_t i = 0; i < 8; i++)
		sonde_set_u64(&row, i, values[i]);
}

/* Two instants of one CPU, a second apart, judged. */
static void two(const uint64_t before[4], const uint64_t after[4])
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &cpu_table);
	analyzer(&stage, cpu_streams, 5);
	cpu_row(&stage, 0, before[0], before[1], before[2], before[3]);
	CU_ASSERT_EQUAL(stage_tick(&stage, 10 * SECOND), 0);
	cpu_row(&stage, 0, after[0], after[1], after[2], after[3]);
	CU_ASSERT_EQUAL(stage_tick(&stage, 11 * SECOND), 0);
	judged(&stage);
	stage_close(&stage);
}

#define NEAR(actual, expected) CU_ASSERT_DOUBLE_EQUAL(actual, expected, 1e-6)

static double mean(uint32_t stream, uint32_t series)
{
	const struct sonde_slice *total = &seen.series[stream][series].total;

	return total->denominator > 0 ? total->numerator / total->denominator : -1;
}

/* ---- counters that go back ---- */

/* [24] idle +101, iowait -1: iowait 0 %, idle 100 %. */
static void iowait_back_one(void)
{
	two((uint64_t[]) { 500, 8000, 300, 0 }, (uint64_t[]) { 500, 8101, 299, 0 });
	NEAR(mean(S_IDLE, 0), 1);
	NEAR(mean(S_IOWAIT, 0), 0);
}

/* [25] idle 8831.12 s to 8831.09 s: clamped, no reset, and the other shares stand: 100 of 100 ticks are user's. */
static void idle_back_a_little(void)
{
	two((uint64_t[]) { 500, 883112, 300, 0 }, (uint64_t[]) { 600, 883109, 300, 0 });
	NEAR(mean(S_IDLE, 0), 0);
	NEAR(mean(S_BUSY, 0), 1);
	CU_ASSERT_EQUAL(seen.series[S_BUSY][0].resets, 0);
}

/* [26] iowait -40, idle +60, busy +5: 5 of 65 ticks, never negative, never above 1. */
static void iowait_back_forty(void)
{
	two((uint64_t[]) { 500, 8000, 300, 0 }, (uint64_t[]) { 505, 8060, 260, 0 });
	NEAR(mean(S_BUSY, 0), 5.0 / 65);
	NEAR(mean(S_IOWAIT, 0), 0);
	NEAR(mean(S_IDLE, 0), 60.0 / 65);
}

/* What was clamped is not counted again on the way up: iowait 300, 290, 300, 310 is 10 ticks in all. */
static void clamped_once(void)
{
	static const uint64_t iowait[] = { 300, 290, 300, 310 };
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &cpu_table);
	analyzer(&stage, cpu_streams, 5);
	for (uint32_t i = 0; i < 4; i++) {
		cpu_row(&stage, 0, 500, 8000 + i * 90, iowait[i], 0);
		stage_tick(&stage, (10 + i) * SECOND);
	}
	judged(&stage);
	NEAR(seen.series[S_IOWAIT][0].total.numerator, 10 * 1e7);
	stage_close(&stage);
}

/* [31] steal 9.1e9 to 8.3e9, idle +95: that CPU's steal is not known, its idle time is; nothing holds. */
static void steal_back(void)
{
	two((uint64_t[]) { 500, 8000, 300, 9100000000 },
	    (uint64_t[]) { 505, 8095, 300, 8300000000 });
	CU_ASSERT_EQUAL(seen.count[S_STEAL], 0);
	NEAR(mean(S_IDLE, 0), 0.95);
	NEAR(mean(S_BUSY, 0), 0.05);
}

/* [16] idle and user fall to what they are after a boot: that CPU's interval is not known, and the sum over all is the
 * other CPU's alone: 50 of 100 ticks. */
static void cpu_restarted_unseen(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &cpu_table);
	analyzer(&stage, cpu_streams, 5);
	cpu_row(&stage, 0, 500, 8000, 0, 0);
	cpu_row(&stage, 3, 70000, 118089, 0, 0);
	stage_tick(&stage, 10 * SECOND);
	cpu_row(&stage, 0, 550, 8050, 0, 0);
	cpu_row(&stage, 3, 20, 140, 0, 0);
	stage_tick(&stage, 11 * SECOND);
	judged(&stage);
	CU_ASSERT_EQUAL(seen.count[S_BUSY], 1);
	CU_ASSERT_STRING_EQUAL(seen.keys[S_BUSY][0], "0");
	NEAR(mean(S_ALL, 0), 0.5);
	stage_close(&stage);
}

/* [15, 16] cpu3 118089, row gone, 140, 240: only the last interval is known, 100 ticks of idle. */
static void cpu_away_and_back(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &cpu_table);
	analyzer(&stage, cpu_streams, 5);
	for (uint64_t i = 0; i < 4; i++) {
		cpu_row(&stage, 0, 500 + i * 100, 8000, 0, 0);
		if (i != 1)
			cpu_row(&stage, 3, 5, i == 0 ? 118089 : i == 2 ? 140 : 240, 0, 0);
		stage_tick(&stage, (10 + i) * SECOND);
	}
	judged(&stage);
	CU_ASSERT_EQUAL(seen.count[S_IDLE], 2);
	for (uint32_t i = 0; i < 2; i++) {
		if (strcmp(seen.keys[S_IDLE][i], "3") != 0)
			continue;
		NEAR(seen.series[S_IDLE][i].total.numerator, 100 * 1e7);
		CU_ASSERT_EQUAL(seen.series[S_IDLE][i].total.observed, SECOND);
		CU_ASSERT_EQUAL(seen.series[S_IDLE][i].total.begin, 12 * SECOND);
	}
	stage_close(&stage);
}

/* [33, 34] cpu 1000 50 200 5000 10 0 5 20 800 40: the total is the first eight, 6285, and guest is in user. */
static void guest_in_user(void)
{
	static const struct sonde_stream streams[] = {
		{ "user_only", "cpu", .plus = "user", .minus = "guest", .over = "user idle" },
		{ "guest", "cpu", .plus = "guest", .over = "user idle" },
	};
	struct stage stage;
	struct sonde_row row;

	stage_open(&stage);
	stage_table(&stage, &cpu_table);
	analyzer(&stage, streams, 2);
	for (uint64_t i = 0; i < 2; i++) {
		/* user +900, guest +800, idle +100 */
		cpu_row(&stage, 0, 100 + 900 * i, 100 + 100 * i, 0, 0);
		row.have = stage.frame.tables[0].words;
		row.slots = row.have + 1;
		sonde_set_u64(&row, GUEST, 50 + 800 * i);
		stage_tick(&stage, (10 + i) * SECOND);
	}
	judged(&stage);
	NEAR(mean(0, 0), 0.1);
	NEAR(mean(1, 0), 0.8);
	stage_close(&stage);
}

/* ---- deltas alone ---- */

static void delta(uint64_t before, uint64_t after, uint32_t wrap, uint64_t tolerance,
		  enum delta kind, uint64_t grown, uint64_t base)
{
	uint64_t at = before, by;

	CU_ASSERT_EQUAL(counter_delta(&at, after, wrap, tolerance, &by), kind);
	CU_ASSERT_EQUAL(by, grown);
	CU_ASSERT_EQUAL(at, base);
}

static void deltas(void)
{
	delta(5, 12, 0, 0, DELTA_OK, 7, 12);
	delta(5, 5, 0, 0, DELTA_OK, 0, 5);
	delta(12, 5, 0, 0, DELTA_RESET, 0, 5);
	delta(12, 5, 0, 8, DELTA_KEPT, 0, 12);
	delta(12, 4, 0, 8, DELTA_RESET, 0, 4);
	/* 2^32 - 6 to 4 is 10; a fall that would be more than half of the range is a reset. */
	delta(4294967290, 4, 32, 0, DELTA_OK, 10, 4);
	delta(2000000000, 4, 32, 0, DELTA_RESET, 0, 4);
	delta(UINT64_MAX - 5, 4, 64, 0, DELTA_OK, 10, 4);
	delta(1000, 4, 64, 0, DELTA_RESET, 0, 4);
}

/* ---- devices ---- */

enum { DEVICE, READS, WRITES, IO_TICKS, WEIGHTED };
static const struct sonde_column disk_columns[] = {
	[DEVICE] = { "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .help = "" },
	[READS] = { "reads", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("reads"), .help = "" },
	[WRITES] = { "writes", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("writes"), .help = "" },
	[IO_TICKS] = { "io_ticks", SONDE_U64, SONDE_COUNTER, SONDE_MS, .wrap = 32, .help = "" },
	[WEIGHTED] = { "weighted", SONDE_U64, SONDE_COUNTER, SONDE_MS, .wrap = 32, .help = "" },
};
static const struct sonde_table disk_table = { .name = "disk",
					       .columns = SONDE_COLUMNS(disk_columns) };
static const struct sonde_stream disk_streams[] = {
	{ "reads", "disk", .plus = "reads", .over = "time" },
	{ "writes", "disk", .plus = "writes", .over = "time" },
	{ "busy", "disk", .plus = "io_ticks", .over = "time" },
	{ "queue", "disk", .plus = "weighted", .over = "time" },
};

static void disk_row(struct stage *stage, const char *name, uint64_t reads, uint64_t writes,
		     uint64_t ticks, uint64_t weighted)
{
	struct sonde_row row = stage_row(stage, 0);

	sonde_set_str(&row, DEVICE, name);
	sonde_set_u64(&row, READS, reads);
	sonde_set_u64(&row, WRITES, writes);
	sonde_set_u64(&row, IO_TICKS, ticks);
	sonde_set_u64(&row, WEIGHTED, weighted);
}

/* [28] Only io_ticks wrapped: 2^32 - 100 ms to 150 ms is 250 ms of a second; the others count as ever. */
static void wraps_one_by_one(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &disk_table);
	analyzer(&stage, disk_streams, 4);
	disk_row(&stage, "dasda", 100, 200, 4294967196, 5000);
	stage_tick(&stage, 10 * SECOND);
	disk_row(&stage, "dasda", 110, 260, 150, 5400);
	stage_tick(&stage, 11 * SECOND);
	judged(&stage);
	NEAR(mean(0, 0), 10);
	NEAR(mean(1, 0), 60);
	NEAR(mean(2, 0), 0.25);
	NEAR(mean(3, 0), 0.4);
	stage_close(&stage);
}

/* [29] dm-3 was made anew under its old name: writes 900 to 2, reads 50 to 7. No rate, none of 1.8e19; then 5 a second. */
static void device_made_anew(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &disk_table);
	analyzer(&stage, disk_streams, 4);
	disk_row(&stage, "dm-3", 50, 900, 1000, 0);
	stage_tick(&stage, 10 * SECOND);
	disk_row(&stage, "dm-3", 7, 2, 1, 0);
	stage_tick(&stage, 11 * SECOND);
	disk_row(&stage, "dm-3", 7, 7, 2, 0);
	stage_tick(&stage, 12 * SECOND);
	judged(&stage);
	NEAR(mean(1, 0), 5);
	CU_ASSERT_EQUAL(seen.series[1][0].total.observed, SECOND);
	stage_close(&stage);
}

/* ---- processes ---- */

enum { PID, START, COMM, UTIME, RUN, WAIT };
static const struct sonde_column process_columns[] = {
	[PID] = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "" },
	[START] = { "start_time", SONDE_U64, SONDE_KEY, SONDE_TICKS, .help = "" },
	[COMM] = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .help = "" },
	[UTIME] = { "utime", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[RUN] = { "sched_run", SONDE_U64, SONDE_COUNTER, SONDE_NS, .help = "" },
	[WAIT] = { "sched_wait", SONDE_U64, SONDE_COUNTER, SONDE_NS, .help = "" },
};
static const struct sonde_table process_table = { .name = "process",
						  .columns = SONDE_COLUMNS(process_columns) };

enum { P_CPU, P_WAIT, P_SUM };
static const struct sonde_stream process_streams[] = {
	[P_CPU] = { "cpu", "process", .plus = "utime", .over = "time" },
	[P_WAIT] = { "wait", "process", .plus = "sched_wait", .over = "sched_wait sched_run",
		     .threshold = offsetof(struct conf, threshold),
		     .hold = offsetof(struct conf, hold), .floor = offsetof(struct conf, floor) },
	[P_SUM] = { "sum", "process", .plus = "utime", .over = "time", .reduce = SONDE_SUM },
};

static void process_row(struct stage *stage, uint64_t pid, uint64_t start, const char *comm,
			uint64_t utime, uint64_t run, uint64_t wait)
{
	struct sonde_row row = stage_row(stage, 0);

	sonde_set_u64(&row, PID, pid);
	sonde_set_u64(&row, START, start);
	sonde_set_str(&row, COMM, comm);
	sonde_set_u64(&row, UTIME, utime);
	sonde_set_u64(&row, RUN, run);
	sonde_set_u64(&row, WAIT, wait);
}

/* [41] pid 700 of start time 1000 with utime 500 becomes one of start time 9000 with utime 3: the new one used 3 ticks,
 * nothing is negative. It began at 90 s, between the samples at 80 s and 91 s. [44] What a process used between its birth
 * and its first sample counts: 80 ticks of pid 701, born at 85 s. */
static void pids_reused_and_born(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	process_row(&stage, 700, 1000, "old", 500, 0, 0);
	stage_tick(&stage, 80 * SECOND);
	process_row(&stage, 700, 9000, "new", 3, 0, 0);
	process_row(&stage, 701, 8500, "worker", 80, 0, 0);
	stage_tick(&stage, 91 * SECOND);
	judged(&stage);
	CU_ASSERT_EQUAL(seen.count[P_CPU], 2);
	CU_ASSERT_STRING_EQUAL(seen.keys[P_CPU][0], "701 8500");
	CU_ASSERT_STRING_EQUAL(seen.labels[P_CPU][0], "worker");
	NEAR(seen.series[P_CPU][0].total.numerator, 80 * 1e7);
	CU_ASSERT_STRING_EQUAL(seen.keys[P_CPU][1], "700 9000");
	NEAR(seen.series[P_CPU][1].total.numerator, 3 * 1e7);
	NEAR(seen.sum[P_SUM], 83 * 1e7);
	stage_close(&stage);
}

/* A process that was there all along but comes into view only now (a budget of rows) has a past that is not of this
 * interval. */
static void old_process_first_seen(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	process_row(&stage, 1, 1, "init", 500, 0, 0);
	stage_tick(&stage, 80 * SECOND);
	process_row(&stage, 1, 1, "init", 500, 0, 0);
	process_row(&stage, 55, 100, "old", 4000, 0, 0);
	stage_tick(&stage, 81 * SECOND);
	process_row(&stage, 1, 1, "init", 500, 0, 0);
	process_row(&stage, 55, 100, "old", 4007, 0, 0);
	stage_tick(&stage, 82 * SECOND);
	judged(&stage);
	NEAR(seen.sum[P_SUM], 7 * 1e7);
	stage_close(&stage);
}

/* Rows that move (the last takes the place of one that ended) and rows that are not in `changed` keep their bases: pid 3
 * moves from place 2 to place 0, pid 2 does not change for two instants and then has used 5 ticks in one second. */
static void rows_that_move(void)
{
	static const uint32_t none[] = { 0 }, first[] = { 0 }, both[] = { 0, 1 };
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, process_streams, 3);
	process_row(&stage, 1, 1, "a", 10, 0, 0);
	process_row(&stage, 2, 2, "b", 20, 0, 0);
	process_row(&stage, 3, 3, "c", 30, 0, 0);
	stage_tick(&stage, 10 * SECOND);
	/* pid 1 ended, pid 3 took its place, and used 4 */
	stage.changed = first;
	stage.nchanged = 1;
	process_row(&stage, 3, 3, "c", 34, 0, 0);
	process_row(&stage, 2, 2, "b", 20, 0, 0);
	stage_tick(&stage, 11 * SECOND);
	stage.changed = none;
	stage.nchanged = 0;
	process_row(&stage, 3, 3, "c", 34, 0, 0);
	process_row(&stage, 2, 2, "b", 20, 0, 0);
	stage_tick(&stage, 12 * SECOND);
	stage.changed = both;
	stage.nchanged = 2;
	process_row(&stage, 3, 3, "c", 35, 0, 0);
	process_row(&stage, 2, 2, "b", 25, 0, 0);
	stage_tick(&stage, 13 * SECOND);
	judged(&stage);
	CU_ASSERT_EQUAL(seen.count[P_CPU], 2);
	CU_ASSERT_STRING_EQUAL(seen.keys[P_CPU][0], "2 2");
	NEAR(seen.series[P_CPU][0].total.numerator, 5 * 1e7);
	CU_ASSERT_EQUAL(seen.series[P_CPU][0].total.begin, 12 * SECOND);
	CU_ASSERT_EQUAL(seen.series[P_CPU][0].total.end, 13 * SECOND);
	CU_ASSERT_STRING_EQUAL(seen.keys[P_CPU][1], "3 3");
	NEAR(seen.series[P_CPU][1].total.numerator, 5 * 1e7);
	/* The sum has every second, also that in which nothing was used: 10 ticks in 3 s. */
	CU_ASSERT_EQUAL(seen.series[P_SUM][0].total.observed, 3 * SECOND);
	NEAR(mean(P_SUM, 0), 0.1 / 3);
	stage_close(&stage);
}

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

static int judge_wait(struct sonde_instance *self)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, P_WAIT, &count);
	struct sonde_finding finding = { .id = "test.wait",
					 .severity = SONDE_SEVERITY_WARNING,
					 .about = "process 9",
					 .title = "it waits" };

	if (!count || !series->held.time)
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

CU_TestInfo tests[] = {
	{ "deltas, wraps and resets", deltas },
	{ "iowait goes back by one tick [24]", iowait_back_one },
	{ "idle goes back a little [25]", idle_back_a_little },
	{ "iowait goes back by forty ticks [26]", iowait_back_forty },
	{ "what is clamped is not counted twice", clamped_once },
	{ "steal goes back [31]", steal_back },
	{ "a CPU restarts between two samples [16]", cpu_restarted_unseen },
	{ "a CPU goes away and comes back [15, 16]", cpu_away_and_back },
	{ "guest time is in user time [33, 34]", guest_in_user },
	{ "counters wrap one by one [28]", wraps_one_by_one },
	{ "a device is made anew [29]", device_made_anew },
	{ "pids are reused, processes are born [41, 44]", pids_reused_and_born },
	{ "an old process seen for the first time", old_process_first_seen },
	{ "rows that move or do not change", rows_that_move },
	{ "a load in one half holds there", held_in_one_half },
	{ "one second does not hold", one_second_is_noise },
	{ "below the floor nothing holds", below_the_floor },
	{ "gaps [148]", gaps },
	{ "a day of short-lived processes", a_day },
	{ "another host in the stream", another_host },
	{ "more keys than are kept", many_keys },
	{ "live: opens, holds, closes", live },
	CU_TEST_INFO_NULL,
};
