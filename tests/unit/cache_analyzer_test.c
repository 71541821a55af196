/* analyzers/cache: each finding from rows made by hand; the expected values are worked out from them beside each test. The names of
 * columns are those of plugins/perf_event/perf_event.md. */
#include "analyzers/cache/cache.c"
#include "analyzers/cache/findings.c"
#include "analyzers/cache/streams.c"

#include "made.h"
#include "test.h"

const char suite[] = "analyzer cache";

enum {
	CORE,
	LLC_TABLE,
	TLB_TABLE,
	BRANCH,
	CORE_PROCESS,
	LLC_PROCESS,
	AMD_CORE,
	SLOTS_TABLE,
	AMD_SLOTS,
	EVENT,
	TABLES
};
#define ON_CPU KEY_TEXT("pmu"), KEY("cpu"), NANOSECONDS("time_enabled"), NANOSECONDS("time_running")
#define OF_PROCESS                                                                                 \
	KEY_TEXT("pmu"), KEY("pid"), KEY("start_time"), NANOSECONDS("time_enabled"),               \
		NANOSECONDS("time_running"), TEXT("comm")
static const struct sonde_column core_columns[] = {
	ON_CPU,
	EVENTS("cycles"),
	EVENTS("instructions"),
};
static const struct sonde_column llc_columns[] = {
	ON_CPU,
	EVENTS("llc_references"),
	EVENTS("llc_misses"),
	EVENTS("instructions"),
};
static const struct sonde_column tlb_columns[] = {
	ON_CPU,
	EVENTS("dtlb_loads"),
	EVENTS("dtlb_load_misses"),
};
static const struct sonde_column branch_columns[] = {
	ON_CPU,
	EVENTS("branches"),
	EVENTS("branch_misses"),
};
static const struct sonde_column core_process_columns[] = {
	OF_PROCESS,
	EVENTS("cycles"),
	EVENTS("instructions"),
};
static const struct sonde_column llc_process_columns[] = {
	OF_PROCESS,
	EVENTS("llc_misses"),
	EVENTS("instructions"),
};
static const struct sonde_column amd_columns[] = {
	ON_CPU,
	EVENTS("cycles"),
	EVENTS("instructions"),
	EVENTS("stalled_cycles_frontend"),
	EVENTS("stalled_cycles_backend"),
};
static const struct sonde_column slots_columns[] = {
	ON_CPU,
	EVENTS("slots"),
	EVENTS("slots_retiring"),
	EVENTS("slots_bad_speculation"),
	EVENTS("slots_frontend_bound"),
	EVENTS("slots_backend_bound"),
};
static const struct sonde_column amd_slots_columns[] = {
	ON_CPU,
	EVENTS("slots"),
	EVENTS("slots_frontend_bound"),
	EVENTS("slots_backend_bound"),
	EVENTS("ops_dispatched"),
	EVENTS("ops_retired"),
};
static const struct sonde_column event_columns[] = {
	KEY_TEXT("group"),
	KEY_TEXT("event"),
	GAUGE_COUNT("failed"),
	TEXT("reason"),
};
static const struct sonde_table tables[TABLES] = {
	[CORE] = { .name = "perf_event_core", .columns = SONDE_COLUMNS(core_columns) },
	[LLC_TABLE] = { .name = "perf_event_llc", .columns = SONDE_COLUMNS(llc_columns) },
	[TLB_TABLE] = { .name = "perf_event_tlb", .columns = SONDE_COLUMNS(tlb_columns) },
	[BRANCH] = { .name = "perf_event_branch", .columns = SONDE_COLUMNS(branch_columns) },
	[CORE_PROCESS] = { .name = "perf_event_core_process",
			   .columns = SONDE_COLUMNS(core_process_columns) },
	[LLC_PROCESS] = { .name = "perf_event_llc_process",
			  .columns = SONDE_COLUMNS(llc_process_columns) },
	[AMD_CORE] = { .name = "perf_event_core", .columns = SONDE_COLUMNS(amd_columns) },
	[SLOTS_TABLE] = { .name = "perf_event_topdown", .columns = SONDE_COLUMNS(slots_columns) },
	[AMD_SLOTS] = { .name = "perf_event_topdown", .columns = SONDE_COLUMNS(amd_slots_columns) },
	[EVENT] = { .name = "perf_event", .columns = SONDE_COLUMNS(event_columns) },
};

#include "judging.h"

/* Millions a second of each of two CPUs, and of a second in which counters were to run, the ms in which they did. */
struct counts {
	uint64_t cycles, instructions, references, misses, loads, walks, branches, wrong, running;
};

#define TIMES(t, running) NUMBER((t)*SECOND), NUMBER((t) * (running)*1000000)
#define MILLIONS(t, n)    NUMBER((t) * (n)*1000000)

static void judge_counts(const struct counts *c)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		for (uint64_t cpu = 0; cpu < 2; cpu++) {
			ROW(CORE, WORD("cpu"), NUMBER(cpu), TIMES(t, c->running),
			    MILLIONS(t, c->cycles), MILLIONS(t, c->instructions));
			ROW(LLC_TABLE, WORD("cpu"), NUMBER(cpu), TIMES(t, 1000),
			    MILLIONS(t, c->references), MILLIONS(t, c->misses),
			    MILLIONS(t, c->instructions));
			ROW(TLB_TABLE, WORD("cpu"), NUMBER(cpu), TIMES(t, 1000),
			    MILLIONS(t, c->loads), MILLIONS(t, c->walks));
			ROW(BRANCH, WORD("cpu"), NUMBER(cpu), TIMES(t, 1000),
			    MILLIONS(t, c->branches), MILLIONS(t, c->wrong));
		}
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* 1,800 of 3,000: IPC 0.60. 1,790 misses for 100,000 million instructions, as 17.9 to 1,000. 30 of 1,000 loads: 3 %. */
static const struct counts demo = {
	.cycles = 300000,
	.instructions = 180000,
	.references = 8055,
	.misses = 3222,
	.loads = 60000,
	.walks = 1800,
	.branches = 30000,
	.wrong = 300,
	.running = 1000,
};

static void bound_by_memory(void)
{
	const struct found *found;

	judge_counts(&demo);
	CU_ASSERT_EQUAL(judged.nfound, 2);
	found = judged_find(&judged, "cache.memory_bound");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_STRING_EQUAL(found->severity, "warning");
	CU_ASSERT_STRING_EQUAL(found->about, "host");
	CU_ASSERT_STRING_EQUAL(found->title,
			       "17.9 misses of the last-level cache for 1,000 instructions");
	CU_ASSERT_EQUAL(found->held, 10 * SECOND);
	NEAR(judged_number(&judged, found->id, "cache.ipc"), 0.6);
	NEAR(judged_number(&judged, found->id, "cache.llc_misses_per_1000"), 17.9);
	NEAR(judged_number(&judged, found->id, "cache.llc_miss_share"), 0.4);
	found = judged_find(&judged, "cache.tlb_pressure");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	NEAR(judged_number(&judged, found->id, "cache.dtlb_misses"), 0.03);
	NEAR(judged_number(&judged, "", "cache.branch_misses"), 0.01);
	NEAR(judged_number(&judged, "", "cache.running_share"), 1);
	CU_ASSERT_STRING_EQUAL(judged.not_judged, " cache.frontend_bound cache.backend_bound ");
	CU_ASSERT_TRUE(judged_in(judged.clear, "cache.no_counters"));
}

/* As many misses, with more done beside them (IPC 1.5): their latency is hidden. */
static void misses_that_are_hidden(void)
{
	struct counts c = demo;

	c.cycles = 120000;
	c.walks = 0;
	judge_counts(&c);
	CU_ASSERT_EQUAL(judged.nfound, 0);
}

/* 3 % of branches wrong, IPC 2.5: information. */
static void wrong_branches_and_an_efficient_cpu(void)
{
	const struct counts c = { 2000, 5000, 100, 5, 1000, 1, 1000, 30, 1000 };

	judge_counts(&c);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 2);
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "info");
	CU_ASSERT_STRING_EQUAL(judged.found[1].severity, "info");
	NEAR(judged_number(&judged, "cache.bad_speculation", "cache.branch_misses"), 0.03);
	NEAR(judged_number(&judged, "cache.efficient", "cache.ipc"), 2.5);
}

/* An idle machine: the ratios are those of the demo, of 100 million cycles a second of each CPU: 0.1 GHz. */
static void idle(void)
{
	const struct counts c = { 100, 60, 3, 2, 20, 1, 10, 1, 1000 };

	judge_counts(&c);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	NEAR(judged_number(&judged, "", "cache.ipc"), 0.6);
	NEAR(judged_number(&judged, "", "cache.clock") / 1e9, 0.1);
}

/* On the PMU for 800 of 1,000 ms. */
static void took_turns(void)
{
	struct counts c = demo;

	c.running = 800;
	judge_counts(&c);
	CU_ASSERT_PTR_NOT_NULL_FATAL(judged_find(&judged, "cache.multiplexed"));
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "cache.multiplexed")->about, "group core");
	NEAR(judged_number(&judged, "cache.multiplexed", "cache.running_share"), 0.8);
	NEAR(judged_number(&judged, "", "cache.running_share"), 0.8);
}

/* Of AMD: 50 % of cycles wait for data, no last-level column. */
static void backend_stalls(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		ROW(AMD_CORE, WORD("cpu"), NUMBER(0), TIMES(t, 1000), MILLIONS(t, 3000),
		    MILLIONS(t, 4500), MILLIONS(t, 300), MILLIONS(t, 1500));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cache.memory_bound");
	CU_ASSERT_STRING_EQUAL(judged.found[0].title, "50.0 % of cycles waited for data");
	NEAR(judged_number(&judged, "cache.memory_bound", "cache.ipc"), 1.5);
	NEAR(judged_number(&judged, "", "cache.frontend_stalls"), 0.1);
	CU_ASSERT_STRING_EQUAL(
		judged.not_judged,
		" cache.tlb_pressure cache.bad_speculation cache.frontend_bound cache.backend_bound ");
}

/* Two processes: one misses 20 of 1,000 at IPC 0.5, on two PMUs of a hybrid CPU; the other is fine. */
static void by_process(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		for (uint64_t pmu = 0; pmu < 2; pmu++) {
			const char *name = pmu ? "cpu_atom" : "cpu_core";

			ROW(CORE_PROCESS, WORD(name), NUMBER(7), NUMBER(1), TIMES(t, 1000),
			    WORD("chase"), MILLIONS(t, 2000), MILLIONS(t, 1000));
			ROW(LLC_PROCESS, WORD(name), NUMBER(7), NUMBER(1), TIMES(t, 1000),
			    WORD("chase"), MILLIONS(t, 20), MILLIONS(t, 1000));
		}
		ROW(CORE_PROCESS, WORD("cpu_core"), NUMBER(8), NUMBER(1), TIMES(t, 1000),
		    WORD("fine"), MILLIONS(t, 2000), MILLIONS(t, 3000));
		ROW(LLC_PROCESS, WORD("cpu_core"), NUMBER(8), NUMBER(1), TIMES(t, 1000),
		    WORD("fine"), MILLIONS(t, 1), MILLIONS(t, 3000));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "process 7 (chase)");
	NEAR(judged_number(&judged, "cache.memory_bound", "cache.llc_misses_per_1000"), 20);
	NEAR(judged_number(&judged, "cache.memory_bound", "cache.ipc"), 0.5);
}

/* No counters: the reason is the collector's, of itself or of its events; without the collector nothing is known. */
static void no_counters(void)
{
	for (int how = 0; how < 3; how++) {
		open_stage();
		for (uint64_t t = 0; t <= 3; t++) {
			if (how == 0)
				stage_note(&stage, "perf_event cache", "this CPU has no PMU");
			if (how == 1)
				ROW(EVENT, WORD("core"), WORD("cycles"), NUMBER(1),
				    WORD("this CPU has no PMU"));
			ROW(BRANCH, WORD("cpu"), NUMBER(0), TIMES(t, 1000), NUMBER(0), NUMBER(0));
			stage_tick(&stage, AT(t));
		}
		judge_and_close();
		CU_ASSERT_EQUAL(judged.nfound, how < 2);
		CU_ASSERT_EQUAL(judged_in(judged.not_judged, "cache.no_counters"), how == 2);
		if (judged.nfound)
			CU_ASSERT_STRING_EQUAL(judged.found[0].title,
					       "No hardware counters: this CPU has no PMU");
	}
}

/* Of 15,000 million slots a second these are empty for want of instructions, and of data or units; 1,000 million are thrown away. Misses
 * of the last-level cache for 1,000 instructions at IPC 0.6. */
static void judge_slots(uint64_t frontend, uint64_t backend, uint64_t misses, bool working)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		ROW(CORE, WORD("cpu"), NUMBER(0), TIMES(t, 1000), MILLIONS(t, working ? 3000 : 100),
		    MILLIONS(t, 1800));
		ROW(LLC_TABLE, WORD("cpu"), NUMBER(0), TIMES(t, 1000), MILLIONS(t, 100),
		    MILLIONS(t, misses), MILLIONS(t, 1000));
		ROW(SLOTS_TABLE, WORD("cpu"), NUMBER(0), TIMES(t, 1000), MILLIONS(t, 15000),
		    MILLIONS(t, 15000 - 1000 - frontend - backend), MILLIONS(t, 1000),
		    MILLIONS(t, frontend), MILLIONS(t, backend));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* Thresholds are 0.30 and 0.50, and hold above them only: 4,500 and 7,500 of 15,000 are exactly that. */
static void empty_slots(void)
{
	judge_slots(4500, 7500, 1, true);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_TRUE(judged_in(judged.clear, "cache.frontend_bound"));
	CU_ASSERT_TRUE(judged_in(judged.clear, "cache.backend_bound"));
	judge_slots(4501, 3000, 1, true);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cache.frontend_bound");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "info");
	CU_ASSERT_STRING_EQUAL(judged.found[0].title,
			       "30.0 % of slots were empty for want of instructions");
	NEAR(judged_number(&judged, "cache.frontend_bound", "cache.retiring"), 6499.0 / 15000);
	NEAR(judged_number(&judged, "cache.frontend_bound", "cache.bad_speculation"), 1. / 15);
	judge_slots(1000, 7501, 1, true);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cache.backend_bound");
	NEAR(judged_number(&judged, "", "cache.backend_bound"), 7501.0 / 15000);
	judge_slots(9000, 2000, 1, false);
	CU_ASSERT_EQUAL(judged.nfound, 0);
}

/* Ten misses for 1,000 instructions: memory is the reason, and the slots are its evidence. */
static void slots_that_wait_for_memory(void)
{
	judge_slots(1000, 9000, 10, true);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cache.memory_bound");
	NEAR(judged_number(&judged, "cache.memory_bound", "cache.backend_bound"), 0.6);
}

/* AMD has no slots that retired: six a cycle of 3,000 million; 7,000 million operations dispatched, 6,300 retired. */
static void slots_of_dispatch(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		ROW(CORE, WORD("cpu"), NUMBER(0), TIMES(t, 1000), MILLIONS(t, 3000),
		    MILLIONS(t, 4000));
		ROW(AMD_SLOTS, WORD("cpu"), NUMBER(0), TIMES(t, 1000), MILLIONS(t, 18000),
		    MILLIONS(t, 7200), MILLIONS(t, 3600), MILLIONS(t, 7000), MILLIONS(t, 6300));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cache.frontend_bound");
	NEAR(judged_number(&judged, "", "cache.frontend_bound"), 0.4);
	NEAR(judged_number(&judged, "", "cache.backend_bound"), 0.2);
	NEAR(judged_number(&judged, "", "cache.bad_speculation"), 700.0 / 18000);
	NEAR(judged_number(&judged, "", "cache.retiring"), 0.35);
}

CU_TestInfo tests[] = {
	{ "bound by memory", bound_by_memory },
	{ "misses that are hidden", misses_that_are_hidden },
	{ "wrong branches and an efficient CPU", wrong_branches_and_an_efficient_cpu },
	{ "an idle machine", idle },
	{ "counters took turns", took_turns },
	{ "back-end stalls", backend_stalls },
	{ "empty slots of the pipeline", empty_slots },
	{ "slots that wait for memory", slots_that_wait_for_memory },
	{ "slots of dispatch", slots_of_dispatch },
	{ "by process", by_process },
	{ "no counters", no_counters },
	CU_TEST_INFO_NULL,
};
