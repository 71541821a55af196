/* framework/window: counters that go back, CPUs that go away, devices that are made anew, processes that come and go.
 * Numbers in brackets name the cases, taken from public bug reports, that a test answers. Expected values are worked out
 * by hand from the inputs beside them. */
#include "watcher.h"
#include "window/delta.h"

const char suite[] = "window";

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
	CU_ASSERT_STRING_EQUAL(first_note, "");
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
	CU_ASSERT_STRING_EQUAL(first_note,
			       "cpu: counters began anew (2 in all); what they counted in "
			       "that interval is left out");
	judged(&stage);
	CU_ASSERT_STRING_EQUAL(first_note, "");
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
	/* Of two that used as much, the one that used some first. */
	CU_ASSERT_STRING_EQUAL(seen.keys[P_CPU][0], "3 3");
	NEAR(seen.series[P_CPU][0].total.numerator, 5 * 1e7);
	CU_ASSERT_STRING_EQUAL(seen.keys[P_CPU][1], "2 2");
	NEAR(seen.series[P_CPU][1].total.numerator, 5 * 1e7);
	CU_ASSERT_EQUAL(seen.series[P_CPU][1].total.begin, 12 * SECOND);
	CU_ASSERT_EQUAL(seen.series[P_CPU][1].total.end, 13 * SECOND);
	/* The sum has every second, also that in which nothing was used: 10 ticks in 3 s. */
	CU_ASSERT_EQUAL(seen.series[P_SUM][0].total.observed, 3 * SECOND);
	NEAR(mean(P_SUM, 0), 0.1 / 3);
	stage_close(&stage);
}

/* ---- settings, and names that change ---- */

enum { K_COMM, K_SETTING };
static const struct sonde_stream named_streams[] = {
	[K_COMM] = { "by comm", "process", .plus = "utime", .over = "time", .key = "pid comm" },
	[K_SETTING] = { "start", "process", .plus = "start_time", .key = "comm",
			.reduce = SONDE_SETTING },
};

/* One instant: no rate can be told, a setting can. */
static void lone_instant(void)
{
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, named_streams, 2);
	process_row(&stage, 9, 700, "always", 5, 0, 0);
	stage_tick(&stage, 100 * SECOND);
	judged(&stage);
	CU_ASSERT_EQUAL(seen.count[K_COMM], 0);
	CU_ASSERT_EQUAL_FATAL(seen.count[K_SETTING], 1);
	CU_ASSERT_STRING_EQUAL(seen.keys[K_SETTING][0], "always");
	NEAR(seen.series[K_SETTING][0].total.last, 7e9);
	stage_close(&stage);
}

/* Process 9 is "a" for 2 s, in which it uses 10 and 20 ticks, then "b" for 1 s of 5; process 8 stays "c": what a row counted
 * is of the name that it bears afterwards, and nothing is lost. */
static void name_that_changes(void)
{
	static const uint64_t ticks[] = { 100, 110, 130, 135 };
	struct stage stage;

	stage_open(&stage);
	stage_table(&stage, &process_table);
	analyzer(&stage, named_streams, 2);
	for (uint64_t t = 0; t < 4; t++) {
		process_row(&stage, 9, 1, t < 3 ? "a" : "b", ticks[t], 0, 0);
		process_row(&stage, 8, 1, "c", t, 0, 0);
		stage_tick(&stage, (100 + t) * SECOND);
	}
	judged(&stage);
	CU_ASSERT_EQUAL_FATAL(seen.count[K_COMM], 3);
	CU_ASSERT_STRING_EQUAL(seen.keys[K_COMM][0], "9 a");
	NEAR(seen.series[K_COMM][0].total.numerator, 30 * 1e7);
	CU_ASSERT_STRING_EQUAL(seen.keys[K_COMM][1], "9 b");
	NEAR(seen.series[K_COMM][1].total.numerator, 5 * 1e7);
	NEAR(seen.series[K_COMM][2].total.numerator, 3 * 1e7);
	stage_close(&stage);
}

CU_TestInfo tests[] = {
	{ "an instant that stands alone", lone_instant },
	{ "a name that changes", name_that_changes },
	{ "deltas, wraps and resets", deltas },
	{ "case 24: iowait goes back by one tick", iowait_back_one },
	{ "case 25: idle goes back a little", idle_back_a_little },
	{ "case 26: iowait goes back by forty ticks", iowait_back_forty },
	{ "what is clamped is not counted twice", clamped_once },
	{ "case 31: steal goes back", steal_back },
	{ "case 16: a CPU restarts between two samples", cpu_restarted_unseen },
	{ "cases 15, 16: a CPU goes away and comes back", cpu_away_and_back },
	{ "cases 33, 34: guest time is in user time", guest_in_user },
	{ "case 28: counters wrap one by one", wraps_one_by_one },
	{ "case 29: a device is made anew", device_made_anew },
	{ "cases 41, 44: pids are reused, processes are born", pids_reused_and_born },
	{ "an old process seen for the first time", old_process_first_seen },
	{ "rows that move or do not change", rows_that_move },
	CU_TEST_INFO_NULL,
};
