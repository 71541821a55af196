/* analyzers/cpu on processors with cores of two kinds, or too hot: cpu.slow_cores and cpu.thermal from rows made by hand; expected values are worked out from them
 * beside each test. */
#include "analyzers/cpu/cpu.c"
#include "analyzers/cpu/findings.c"
#include "analyzers/cpu/imbalance.c"
#include "analyzers/cpu/metrics.c"
#include "analyzers/cpu/slow_cores.c"
#include "analyzers/cpu/streams.c"
#include "analyzers/cpu/throttles.c"
#include "analyzers/cpu/waits.c"

#include "made.h"
#include "test.h"

const char suite[] = "CPUs that are slow";

#define MILLISECONDS(name_) MADE(name_, SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 1000000, NULL)

enum { ON_CPU, ON_TOPOLOGY, ON_THREAD, ON_PROCESS, TABLES };
static const struct sonde_column cpu_columns[] = {
	KEY("cpu"),           MILLISECONDS("user"), MILLISECONDS("nice"), MILLISECONDS("system"),
	MILLISECONDS("idle"),
};
static const struct sonde_column topology_columns[] = {
	KEY("cpu"),
	STATE("online"),
	MADE("kind", SONDE_STR, SONDE_INFO, SONDE_BASE_NONE, 1, NULL),
	MADE("capacity", SONDE_U64, SONDE_INFO, SONDE_BASE_NONE, 1, NULL),
	EVENTS("core_throttle_count"),
	EVENTS("package_throttle_count"),
};
static const struct sonde_column thread_columns[] = {
	KEY("pid"), KEY("tid"), TEXT("comm"), STATE("processor"), NANOSECONDS("sched_run"),
};
static const struct sonde_column process_columns[] = {
	KEY("pid"),
	TEXT("comm"),
	STATE("processor"),
	NANOSECONDS("sched_run"),
};
static const struct sonde_table tables[TABLES] = {
	[ON_CPU] = { .name = "cpu", .columns = SONDE_COLUMNS(cpu_columns) },
	[ON_TOPOLOGY] = { .name = "topology_cpu", .columns = SONDE_COLUMNS(topology_columns) },
	[ON_THREAD] = { .name = "thread", .columns = SONDE_COLUMNS(thread_columns) },
	[ON_PROCESS] = { .name = "process", .columns = SONDE_COLUMNS(process_columns) },
};

#include "judging.h"

/* Two fast CPUs, 0 and 1, and two slow ones, as this kernel tells of them. */
enum told { BY_KIND, BY_CAPACITY, ALIKE };

struct work {
	enum told told;
	uint64_t fast_busy;    /* ms a second of each fast CPU */
	uint64_t run;          /* ms a second, of thread 12 of process 10 */
	uint64_t slow_seconds; /* of ten: on CPU 3, then on CPU 0 */
	bool process_alone;
};

static void topology_rows(enum told told)
{
	for (uint64_t cpu = 0; cpu < 4; cpu++) {
		struct cell kind = WORD(cpu < 2 ? "core" : "atom");
		struct cell capacity = NUMBER(cpu < 2 ? 1024 : 446);
		struct cell none = NOTHING;

		ROW(ON_TOPOLOGY, NUMBER(cpu), NUMBER(1), told == BY_KIND ? kind : none,
		    told == BY_CAPACITY ? capacity : none);
	}
}

static void judge_work(const struct work *work)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		uint64_t cpu = t <= work->slow_seconds ? 3 : 0;

		if (!t)
			topology_rows(work->told);
		else
			stage.omit[ON_TOPOLOGY] = true;
		for (uint64_t c = 0; c < 4; c++) {
			uint64_t busy = c < 2 ? work->fast_busy : 900;

			ROW(ON_CPU, NUMBER(c), NUMBER(busy * t), NUMBER(0), NUMBER(0),
			    NUMBER((1000 - busy) * t));
		}
		if (!work->process_alone)
			ROW(ON_THREAD, NUMBER(10), NUMBER(12), WORD("render"), NUMBER(cpu),
			    NUMBER(work->run * 1000000 * t));
		ROW(ON_PROCESS, NUMBER(10), WORD("game"), NUMBER(cpu),
		    NUMBER(work->run * 1000000 * t));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* Eight of ten seconds on CPU 3, running for 950 ms of each; the fast CPUs were busy for a tenth. */
static void stuck(void)
{
	for (enum told told = BY_KIND; told <= BY_CAPACITY; told++) {
		judge_work(&(struct work) { told, 100, 950, 8, false });
		CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
		CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cpu.slow_cores");
		CU_ASSERT_STRING_EQUAL(judged.found[0].about, "thread 12 (render)");
		CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "warning");
		CU_ASSERT_STRING_EQUAL(
			judged.found[0].title,
			"Thread 12 (render) ran 80 % of its time on slow cores, while fast "
			"ones were idle for 90 %");
		NEAR(judged_number(&judged, "cpu.slow_cores", "cpu.slow_share"), 0.8);
		NEAR(judged_number(&judged, "cpu.slow_cores", "cpu.thread_run"), 0.95);
		NEAR(judged_number(&judged, "cpu.slow_cores", "cpu.fast_idle"), 0.9);
	}
}

static void without_threads(void)
{
	judge_work(&(struct work) { BY_KIND, 100, 950, 8, true });
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "process 10 (game)");
	NEAR(judged_number(&judged, "cpu.slow_cores", "cpu.slow_share"), 0.8);
}

/* CPUs that are alike; fast ones that have no time; a thread that sleeps for half of it; one that was there for less than half. */
static void silent(void)
{
	static const struct work each[] = {
		{ ALIKE, 100, 950, 8, false },
		{ BY_KIND, 600, 950, 8, false },
		{ BY_KIND, 100, 500, 10, false },
		{ BY_KIND, 100, 950, 4, false },
	};

	for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
		judge_work(&each[i]);
		CU_ASSERT_PTR_NULL(judged_find(&judged, "cpu.slow_cores"));
		CU_ASSERT(judged_in(judged.clear, "cpu.slow_cores"));
	}
}

/* In sixty seconds CPU 1 was throttled 200 times and its package 40 times, CPU 0 nine times; since boot far more. */
static void heat(uint64_t core, uint64_t package)
{
	open_stage();
	for (uint64_t t = 0; t <= 6; t++) {
		stage.omit[ON_TOPOLOGY] = true;
		for (uint64_t cpu = 0; cpu < 2; cpu++)
			ROW(ON_TOPOLOGY, NUMBER(cpu), NUMBER(1), NOTHING, NOTHING,
			    NUMBER(5000 + (cpu ? core : 9) * t / 6),
			    NUMBER(700 + (cpu ? package : 0) * t / 6));
		stage_tick(&stage, AT(10 * t));
	}
	judge_and_close();
}

static void thermal_throttling(void)
{
	heat(200, 40);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cpu.thermal");
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "cpu 1");
	CU_ASSERT_STRING_EQUAL(judged.found[0].title,
			       "1 CPU slowed itself down for heat, CPU 1 240 times");
	NEAR(judged_number(&judged, "cpu.thermal", "cpu.throttles"), 240);
	heat(10, 0);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT(judged_in(judged.clear, "cpu.thermal"));
}

CU_TestInfo tests[] = {
	{ "stuck", stuck },   { "without threads", without_threads },
	{ "silent", silent }, { "thermal throttling", thermal_throttling },
	CU_TEST_INFO_NULL,
};
