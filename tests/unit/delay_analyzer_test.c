/* analyzers/delay: each finding and each part from rows made by hand; expected values are worked out from them beside each test.
 * The names of columns are those of the collectors taskstats and process. */
#include "analyzers/delay/delay.c"
#include "analyzers/delay/findings.c"

#include "made.h"
#include "test.h"

const char suite[] = "analyzer delay";

enum { TASKSTATS, PROCESS, TABLES };
static const struct sonde_column taskstats_columns[] = {
	KEY("pid"),
	KEY("start_time"),
	TEXT("comm"),
	NANOSECONDS("cpu_run_virtual_total"),
	NANOSECONDS("cpu_delay_total"),
	NANOSECONDS("blkio_delay_total"),
	NANOSECONDS("swapin_delay_total"),
	NANOSECONDS("freepages_delay_total"),
	NANOSECONDS("thrashing_delay_total"),
	NANOSECONDS("compact_delay_total"),
};
static const struct sonde_column process_columns[] = {
	KEY("pid"),
	KEY("start_time"),
	TEXT("comm"),
	MADE("num_threads", SONDE_U64, SONDE_GAUGE, SONDE_BASE_COUNT, 1, "threads"),
	EVENTS("majflt"),
	NANOSECONDS("sched_run"),
	NANOSECONDS("sched_wait"),
	MADE("delayacct_blkio_ticks", SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 10000000, NULL),
};
static const struct sonde_table tables[TABLES] = {
	[TASKSTATS] = { .name = "taskstats", .columns = SONDE_COLUMNS(taskstats_columns) },
	[PROCESS] = { .name = "process", .columns = SONDE_COLUMNS(process_columns) },
};

#include "judging.h"

/* Of process 4711 with four threads, ms in each second; taskstats is recorded, or process alone is. */
struct life {
	uint64_t run, wait, io, swapin, reclaim, thrashing, compaction, major;
	bool process_alone, no_delays;
};

static void live(const struct life *life, uint64_t seconds)
{
	open_stage();
	for (uint64_t t = 0; t <= seconds; t++) {
		uint64_t ns = t * 1000000, none = life->no_delays;

		if (!life->process_alone)
			ROW(TASKSTATS, NUMBER(4711), NUMBER(9), WORD("db"), NUMBER(life->run * ns),
			    NUMBER(life->wait * ns), { life->io * ns, NULL, none },
			    { life->swapin * ns, NULL, none }, { life->reclaim * ns, NULL, none },
			    { life->thrashing * ns, NULL, none },
			    { life->compaction * ns, NULL, none });
		ROW(PROCESS, NUMBER(4711), NUMBER(9), WORD("db"), NUMBER(4),
		    NUMBER(life->major * t), NUMBER(life->run * ns), NUMBER(life->wait * ns),
		    { life->io * t / 10, NULL, none });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* Four threads: 0.4 on CPUs, 0.1 in the queue, 1.5 at the disk, of which 0.3 for pages that had just been evicted: (1.5 - 0.3) of
 * 2.0 s is 60 %; two sleep. */
static void block_io_dominates(void)
{
	live(&(struct life) { .run = 400, .wait = 100, .io = 1500, .thrashing = 300 }, 10);
	CU_ASSERT_EQUAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "delay.block_io");
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "process 4711 (db)");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "info");
	CU_ASSERT_STRING_EQUAL(
		judged.found[0].title,
		"Process 4711 (db) waited for block I/O 60.0 % of the time in which it "
		"ran or wanted to");
	CU_ASSERT_EQUAL(judged.found[0].held, 10 * SECOND);
	NEAR(judged_number(&judged, "delay.block_io", "delay.block_io_share"), 0.6);
	NEAR(judged_number(&judged, "delay.block_io", "delay.cpu"), 0.4);
	NEAR(judged_number(&judged, "delay.block_io", "delay.block_io"), 1.5);
	NEAR(judged_number(&judged, "", "delay.cpu"), 0.4);
	NEAR(judged_number(&judged, "", "delay.run_queue"), 0.1);
	NEAR(judged_number(&judged, "", "delay.block_io"), 1.5);
	NEAR(judged_number(&judged, "", "delay.thrashing"), 0.3);
	NEAR(judged_number(&judged, "", "delay.reclaim"), -1); /* it had none */
	NEAR(judged_number(&judged, "", "delay.blocked"), 2);
	CU_ASSERT(judged_in(judged.clear, "delay.memory"));
}

/* 0.9 s on CPUs, of which 0.5 in reclaim; 0.1 s compacting, 0.2 s at the disk for evicted pages: 0.8 of 0.9 + 0.2 + 0.5 + 0.1. */
static void memory_dominates(void)
{
	live(&(struct life) { .run = 900,
			      .io = 200,
			      .reclaim = 500,
			      .thrashing = 200,
			      .compaction = 100 },
	     10);
	CU_ASSERT_EQUAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "delay.memory");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "warning");
	NEAR(judged_number(&judged, "delay.memory", "delay.memory_share"), 0.8 / 1.7);
	NEAR(judged_number(&judged, "delay.memory", "delay.reclaim"), 0.5);
	NEAR(judged_number(&judged, "delay.memory", "delay.compaction"), 0.1);
	CU_ASSERT(judged_in(judged.clear, "delay.block_io"));
}

/* What computes, what hardly does anything, what waits for a second, and what mem.major_faults tells of. */
static void silent(void)
{
	static const struct life lives[] = {
		{ .run = 900, .wait = 50, .io = 40, .reclaim = 5 },
		{ .run = 5, .io = 90 },
		{ .run = 400, .io = 1500, .thrashing = 1500, .major = 300 },
	};

	for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) {
		live(&lives[i], 10);
		CU_ASSERT_EQUAL(judged.nfound, 0);
		CU_ASSERT(judged_in(judged.clear, "delay.block_io"));
		CU_ASSERT(judged_in(judged.clear, "delay.memory"));
	}
	live(&(struct life) { .run = 100, .io = 900 }, 1);
	CU_ASSERT_EQUAL(judged.nfound, 0);
}

/* kernel.task_delayacct=0: CPU and run queue are known, what remains is not. */
static void delays_are_not_counted(void)
{
	live(&(struct life) { .run = 400, .wait = 100, .no_delays = true }, 10);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT(judged_in(judged.not_judged, "delay.block_io"));
	CU_ASSERT(judged_in(judged.not_judged, "delay.memory"));
	NEAR(judged_number(&judged, "", "delay.cpu"), 0.4);
	NEAR(judged_number(&judged, "", "delay.block_io"), -1);
	NEAR(judged_number(&judged, "", "delay.blocked"), -1);
}

/* Of its leader thread /proc tells as much: 700 ms of 200 + 100 + 700. */
static void without_taskstats(void)
{
	live(&(struct life) { .run = 200, .wait = 100, .io = 700, .process_alone = true }, 10);
	CU_ASSERT_EQUAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "delay.block_io");
	NEAR(judged_number(&judged, "delay.block_io", "delay.block_io_share"), 0.7);
	CU_ASSERT(judged_in(judged.not_judged, "delay.memory"));
}

CU_TestInfo tests[] = {
	{ "block I/O dominates", block_io_dominates },
	{ "memory dominates", memory_dominates },
	{ "silent", silent },
	{ "delays are not counted", delays_are_not_counted },
	{ "without taskstats", without_taskstats },
	CU_TEST_INFO_NULL,
};
