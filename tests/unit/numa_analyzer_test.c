/* analyzers/numa: each finding from rows made by hand, most of them of one machine: two nodes, 32 CPUs, distances 10 and 21. The
 * expected values are worked out from them beside each test. */
#include "analyzers/numa/numa.c"
#include "analyzers/numa/findings.c"
#include "analyzers/numa/mappings.c"
#include "analyzers/numa/misplaced.c"
#include "analyzers/numa/streams.c"

#include "made.h"
#include "test.h"

const char suite[] = "analyzer numa";

enum { NUMA, MEMINFO, DISTANCE, VMSTAT, SYSCTL, MAPS, POLICY, MAPPING, THREAD, PROCESS, TABLES };
static const struct sonde_column numa_columns[] = {
	KEY("node"),         TEXT("cpulist"),      EVENTS("numa_hit"),
	EVENTS("numa_miss"), EVENTS("local_node"), EVENTS("other_node"),
};
static const struct sonde_column meminfo_columns[] = {
	KEY("node"),
	KIBIBYTES("mem_total"),
	KIBIBYTES("mem_free"),
	KIBIBYTES("active_file"),
	KIBIBYTES("inactive_file"),
};
static const struct sonde_column distance_columns[] = { KEY("node"), KEY("to"), STATE("distance") };
static const struct sonde_column vmstat_columns[] = {
	EVENTS("numa_hint_faults"),
	EVENTS("numa_hint_faults_local"),
	EVENTS("numa_pages_migrated"),
};
static const struct sonde_column sysctl_columns[] = { KEY_TEXT("name"), STATE("number") };
static const struct sonde_column maps_columns[] = {
	KEY("pid"), KEY("start_time"), KEY("node"), TEXT("comm"), BYTES("bytes"),
};
static const struct sonde_column policy_columns[] = {
	KEY("pid"),
	KEY("start_time"),
	KEY_TEXT("policy"),
	BYTES("bytes"),
};
static const struct sonde_column mapping_columns[] = {
	KEY("pid"), KEY("start_time"), KEY("node"), KEY_TEXT("mapping"), BYTES("bytes"),
};
static const struct sonde_column thread_columns[] = {
	KEY("pid"), KEY("tid"), STATE("processor"), NANOSECONDS("utime"), NANOSECONDS("stime"),
};
static const struct sonde_column process_columns[] = {
	KEY("pid"),           KEY("start_time"),    STATE("processor"),
	NANOSECONDS("utime"), NANOSECONDS("stime"),
};
static const struct sonde_table tables[TABLES] = {
	[NUMA] = { .name = "numa", .columns = SONDE_COLUMNS(numa_columns) },
	[MEMINFO] = { .name = "numa_meminfo", .columns = SONDE_COLUMNS(meminfo_columns) },
	[DISTANCE] = { .name = "numa_distance", .columns = SONDE_COLUMNS(distance_columns) },
	[VMSTAT] = { .name = "vmstat", .columns = SONDE_COLUMNS(vmstat_columns) },
	[SYSCTL] = { .name = "sysctl", .columns = SONDE_COLUMNS(sysctl_columns) },
	[MAPS] = { .name = "numa_maps", .columns = SONDE_COLUMNS(maps_columns) },
	[POLICY] = { .name = "numa_maps_policy", .columns = SONDE_COLUMNS(policy_columns) },
	[MAPPING] = { .name = "numa_maps_mapping", .columns = SONDE_COLUMNS(mapping_columns) },
	[THREAD] = { .name = "thread", .columns = SONDE_COLUMNS(thread_columns) },
	[PROCESS] = { .name = "process", .columns = SONDE_COLUMNS(process_columns) },
};

#include "judging.h"

#define GIB ((uint64_t)1 << 30)

/* What differs between the machines of the tests. */
struct machine {
	uint64_t free[2];            /* MiB of 64 GiB */
	uint64_t cached[2];          /* likewise, page cache */
	uint64_t local, other, miss; /* pages a second */
	uint64_t hints, hints_local, migrated;
	uint64_t balancing;
	uint64_t memory[2]; /* bytes of process 4711 */
	uint64_t explicit_bytes;
	uint64_t ran[2]; /* ms a second on CPU 3 and CPU 19 */
	bool no_maps, no_threads;
	bool no_memory; /* node 0 has none */
	bool no_cpus;   /* nor node 1 any of these */
	uint64_t gpus;  /* nodes with neither */
};

/* Threads on node 0, 85 % of 48 GiB on node 1, of which 2 % is free. */
static const struct machine demo = {
	.free = { 50 * 1024, 1311 },
	.local = 65000,
	.other = 35000,
	.hints = 2000,
	.hints_local = 500,
	.migrated = 100,
	.balancing = 1,
	.memory = { 48 * GIB * 15 / 100, 48 * GIB * 85 / 100 },
	.ran = { 16000, 0 },
};

static void node_rows(const struct machine *m, uint64_t t)
{
	for (uint64_t node = 0; node < 2; node++) {
		ROW(NUMA, NUMBER(node),
		    WORD(node && m->no_cpus ? ""
			 : node             ? "16-31"
					    : "0-15"),
		    NUMBER(t * (m->local + m->other) / 2), NUMBER(t * m->miss),
		    NUMBER(t * m->local / 2), NUMBER(t * m->other / 2));
		ROW(MEMINFO, NUMBER(node),
		    NUMBER(m->no_memory && !node ? 0 : (uint64_t)64 * 1024 * 1024),
		    NUMBER(m->free[node] * 1024), NUMBER(m->cached[node] * 1024), NUMBER(0));
		for (uint64_t to = 0; to < 2; to++)
			ROW(DISTANCE, NUMBER(node), NUMBER(to), NUMBER(node == to ? 10 : 21));
		if (!m->no_maps)
			ROW(MAPS, NUMBER(4711), NUMBER(5), NUMBER(node), WORD("app"),
			    NUMBER(m->memory[node]));
	}
	for (uint64_t gpu = 2; gpu < 2 + m->gpus; gpu++) {
		ROW(NUMA, NUMBER(gpu), WORD(""), NUMBER(0), NUMBER(0), NUMBER(0), NUMBER(0));
		ROW(MEMINFO, NUMBER(gpu), NUMBER(0), NUMBER(0), NUMBER(0), NUMBER(0));
		for (uint64_t to = 0; to < 2 + m->gpus; to++)
			ROW(DISTANCE, NUMBER(gpu), NUMBER(to), NUMBER(gpu == to ? 10 : 80));
	}
}

static void judge_machine(const struct machine *m)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		node_rows(m, t);
		ROW(VMSTAT, NUMBER(t * m->hints), NUMBER(t * m->hints_local),
		    NUMBER(t * m->migrated));
		ROW(SYSCTL, WORD("kernel.numa_balancing"), NUMBER(m->balancing));
		ROW(POLICY, NUMBER(4711), NUMBER(5), WORD("default"),
		    NUMBER(m->memory[0] + m->memory[1] - m->explicit_bytes));
		if (m->explicit_bytes)
			ROW(POLICY, NUMBER(4711), NUMBER(5), WORD("bind:1"),
			    NUMBER(m->explicit_bytes));
		for (uint64_t tid = 0; tid < 2 && !m->no_threads; tid++)
			ROW(THREAD, NUMBER(4711), NUMBER(4711 + tid), NUMBER(tid ? 19 : 3),
			    NUMBER(t * m->ran[tid] * 1000000), NUMBER(0));
		/* Its leader is on node 0 throughout. */
		ROW(PROCESS, NUMBER(4711), NUMBER(5), NUMBER(3),
		    NUMBER(t * (m->ran[0] + m->ran[1]) * 1000000), NUMBER(0));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* Half the sum of |1 - 0.15| and |0 - 0.85| is 0.85; 0.15 x 10 + 0.85 x 21 = 19.35; 1 - 0.15 = 85 % of accesses are remote; 1,311 of
 * 65,536 MiB are 2 %. 40.8 GiB fit into the 50 that node 0 has free. */
static void misplaced_on_a_full_node(void)
{
	const struct found *found;

	judge_machine(&demo);
	CU_ASSERT_EQUAL(judged.nfound, 4);
	found = judged_find(&judged, "numa.process_misplaced");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_STRING_EQUAL(found->severity, "critical");
	CU_ASSERT_STRING_EQUAL(found->about, "process 4711 (app)");
	CU_ASSERT_STRING_EQUAL(
		found->title,
		"Process 4711 (app) ran 100 % on node 0, and 85 % of its 48.0 GiB lie on node 1");
	CU_ASSERT_EQUAL(found->begin, AT(0));
	CU_ASSERT_EQUAL(found->end, AT(10));
	CU_ASSERT_EQUAL(found->held, 10 * SECOND);
	CU_ASSERT_PTR_NOT_NULL(strstr(found->action, "migratepages 4711 1 0 (40.8 GiB to move, "
						     "50.0 GiB free on node 0)"));
	CU_ASSERT_PTR_NULL(strstr(found->action, "nodebind=1"));
	NEAR(judged_number(&judged, found->id, "numa.mismatch"), 0.85);
	NEAR(judged_number(&judged, found->id, "numa.expected_distance"), 19.35);
	NEAR(judged_number(&judged, found->id, "numa.remote_share"), 0.85);
	NEAR(judged_number(&judged, found->id, "ran on node 0"), 1);
	NEAR(judged_number(&judged, found->id, "memory on node 1"), 0.85);
	NEAR(judged_number(&judged, "", "numa.mismatch"), 0.85);
	CU_ASSERT_PTR_NOT_NULL(judged_find(&judged, "numa.remote_alloc"));
	NEAR(judged_number(&judged, "numa.remote_alloc", "numa.remote_allocations"), 0.35);
	CU_ASSERT_PTR_NOT_NULL(judged_find(&judged, "numa.access_locality"));
	NEAR(judged_number(&judged, "", "numa.hint_locality"), 0.25);
	found = judged_find(&judged, "numa.node_exhausted");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_STRING_EQUAL(found->about, "node 1");
	CU_ASSERT_STRING_EQUAL(found->title, "Node 1 has 2.0 % of its memory free");
	CU_ASSERT_TRUE(judged_in(judged.clear, "numa.migration_storm"));
	CU_ASSERT_TRUE(judged_in(judged.clear, "numa.balancing_off"));
	CU_ASSERT_STRING_EQUAL(judged.not_judged, " ");
}

/* It ran on node 0 alone: the mismatch is what lies on node 1 of a thousandth of 1,000 GiB each. Above 0.30 it is found, from 0.6 on
 * critical. */
static void levels(void)
{
	static const struct {
		uint64_t on_1;
		const char *severity;
	} cases[] = {
		{ 300, "" },
		{ 301, "warning" },
		{ 599, "warning" },
		{ 600, "critical" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct machine m = demo;
		const struct found *found;

		m.memory[0] = (1000 - cases[i].on_1) * GIB;
		m.memory[1] = cases[i].on_1 * GIB;
		judge_machine(&m);
		found = judged_find(&judged, "numa.process_misplaced");
		CU_ASSERT_STRING_EQUAL(found ? found->severity : "", cases[i].severity);
	}
}

/* Of 48 GiB 30 are of a file on node 1, 10 of the heap on node 1, 0.8 and 7.2 of anonymous memory; it runs on node 0, so that what lies
 * there is where it should be. 30 / 48, 10 / 48 and 0.8 / 48; another process's mapping is none of it, nor
 * one of 40 GiB that was given back halfway. */
static void by_mapping(void)
{
	static const struct {
		uint64_t pid, node, mib;
		const char *mapping;
	} parts[] = {
		{ 4711, 1, 800, "7f1000000000" },     { 4711, 1, 10240, "heap" },
		{ 4711, 0, 7200, "7f0000000000" },    { 4711, 1, 30720, "/srv/a 1 b" },
		{ 4711, 1, 500, "/usr/lib/libc.so" }, { 99, 1, 99999, "/other" },
	};
	const char *id = "numa.process_misplaced";

	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		node_rows(&demo, t);
		for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
			ROW(MAPPING, NUMBER(parts[i].pid), NUMBER(5), NUMBER(parts[i].node),
			    WORD(parts[i].mapping), NUMBER(parts[i].mib << 20));
		if (t < 5)
			ROW(MAPPING, NUMBER(4711), NUMBER(5), NUMBER(1), WORD("/gone"),
			    NUMBER(40 * GIB));
		ROW(PROCESS, NUMBER(4711), NUMBER(5), NUMBER(3), NUMBER(t * 16000 * 1000000),
		    NUMBER(0));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	NEAR(judged_number(&judged, id, "/srv/a 1 b on node 1"), 30.0 / 48);
	NEAR(judged_number(&judged, id, "heap on node 1"), 10.0 / 48);
	NEAR(judged_number(&judged, id, "anonymous memory at 7f1000000000 on node 1"),
	     800.0 / 1024 / 48);
	NEAR(judged_number(&judged, id, "/usr/lib/libc.so on node 1"), -1);
	NEAR(judged_number(&judged, id, "/gone on node 1"), -1);
	NEAR(judged_number(&judged, id, "anonymous memory at 7f0000000000 on node 0"), -1);
}

/* Nine hint faults of one, and a node with more free than all: neither has a share. By a hundredth they may differ, since one is
 * read after the other: all of them are local. */
static void more_than_there_are(void)
{
	struct machine m = demo;

	m.hints = 2000;
	m.hints_local = 18000;
	m.free[0] = m.free[1] = 80 * 1024;
	judge_machine(&m);
	NEAR(judged_number(&judged, "", "numa.hint_locality"), -1);
	CU_ASSERT_TRUE(judged_in(judged.not_judged, "numa.access_locality"));
	CU_ASSERT_TRUE(judged_in(judged.not_judged, "numa.node_exhausted"));
	m.hints_local = 2020;
	judge_machine(&m);
	NEAR(judged_number(&judged, "", "numa.hint_locality"), 1);
	CU_ASSERT_TRUE(judged_in(judged.clear, "numa.access_locality"));
}

/* Node 0 has 8 GiB, less than the 40.8 to move: its threads may go to node 1 where that has room, and nobody moves where it has
 * none. */
static void moves_that_do_not_fit(void)
{
	struct machine m = demo;

	m.free[0] = 8 * 1024;
	judge_machine(&m);
	CU_ASSERT_PTR_NOT_NULL(strstr(judged.found[0].action, "Neither move fits: 40.8 GiB"));
	CU_ASSERT_PTR_NULL(strstr(judged.found[0].action, "taskset"));
	m.free[1] = 9 * 1024;
	judge_machine(&m);
	CU_ASSERT_PTR_NOT_NULL(strstr(judged.found[0].action, "taskset -acp 16-31 4711"));
	CU_ASSERT_PTR_NULL(strstr(judged.found[0].action, "migratepages"));
}

/* By threads, a quarter ran on node 0: 0.25 against 0.15 is a mismatch of 0.10. The leader alone would say 0.85. */
static void residency_by_thread(void)
{
	struct machine m = demo;

	m.ran[0] = 4000;
	m.ran[1] = 12000;
	judge_machine(&m);
	CU_ASSERT_PTR_NULL(judged_find(&judged, "numa.process_misplaced"));
	NEAR(judged_number(&judged, "", "numa.mismatch"), 0.10);
	/* 0.25 x 0.85 + 0.75 x 0.15 */
	NEAR(judged_number(&judged, "", "numa.remote_share"), 0.325);
	m.no_threads = true;
	judge_machine(&m);
	NEAR(judged_number(&judged, "", "numa.mismatch"), 0.85);
}

/* 45 GiB of 48 by mbind(): no alarm, but its cost. */
static void chosen_policy(void)
{
	struct machine m = demo;
	const struct found *found;

	m.explicit_bytes = 45 * GIB;
	judge_machine(&m);
	found = judged_find(&judged, "numa.process_misplaced");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_STRING_EQUAL(found->severity, "info");
	CU_ASSERT_PTR_NOT_NULL(strstr(found->title, "by a policy that was chosen"));
	NEAR(judged_number(&judged, "numa.process_misplaced", "numa.expected_distance"), 19.35);
}

/* 200 MiB, or 40 ms of CPU time a second: too little of either. */
static void too_little_evidence(void)
{
	struct machine m = demo;

	m.memory[0] = 30 << 20;
	m.memory[1] = 170 << 20;
	judge_machine(&m);
	CU_ASSERT_PTR_NULL(judged_find(&judged, "numa.process_misplaced"));
	m = demo;
	m.ran[0] = 40;
	judge_machine(&m);
	CU_ASSERT_PTR_NULL(judged_find(&judged, "numa.process_misplaced"));
	CU_ASSERT_TRUE(judged_in(judged.clear, "numa.process_misplaced"));
}

/* Case 84: CPUs without memory. What runs there is far from all memory, and nobody placed it wrongly; what runs on the other node is
 * judged as ever. */
static void cpus_without_memory(void)
{
	struct machine m = demo;

	m.no_memory = true;
	m.free[0] = 0;
	m.memory[0] = 0;
	m.memory[1] = 48 * GIB;
	judge_machine(&m);
	CU_ASSERT_PTR_NULL(judged_find(&judged, "numa.process_misplaced"));
	CU_ASSERT_PTR_NULL(judged_find(&judged, "numa.remote_alloc"));
	CU_ASSERT_PTR_NULL(judged_find(&judged, "numa.access_locality"));
	CU_ASSERT_TRUE(judged_in(judged.not_judged, "numa.remote_alloc"));
	CU_ASSERT_STRING_EQUAL(judged.reason,
			       "node 0 has CPUs and no memory: theirs is remote by necessity");
	/* 0 of 0 is no share. */
	NEAR(judged_number(&judged, "numa.node_exhausted", "numa.free_share"), 0.02);
	for (uint32_t i = 0; i < judged.nfound; i++)
		CU_ASSERT_STRING_NOT_EQUAL(judged.found[i].about, "node 0");
}

/* Case 85: memory without CPUs is nobody's wrong place, and no place to move threads to. Case 86: what has neither is no node. */
static void memory_without_cpus(void)
{
	struct machine m = demo;

	m.no_cpus = true;
	judge_machine(&m);
	CU_ASSERT_PTR_NULL(judged_find(&judged, "numa.process_misplaced"));
	CU_ASSERT_PTR_NULL(judged_find(&judged, "numa.single_node"));
	m = demo;
	m.gpus = 8;
	judge_machine(&m);
	CU_ASSERT_EQUAL(judged.nfound, 4); /* as without them */
	NEAR(judged_number(&judged, "numa.process_misplaced", "numa.mismatch"), 0.85);
	NEAR(judged_number(&judged, "numa.process_misplaced", "numa.expected_distance"), 19.35);
	NEAR(judged_number(&judged, "numa.remote_alloc", "numa.remote_allocations"), 0.35);
}

/* A healthy machine: 5 % of allocations are remote, 95 % of hint faults local; node 1 is full of page cache, which gives way. */
static void healthy(void)
{
	static const struct machine m = {
		.free = { 30 * 1024, 700 },
		.cached = { 10 * 1024, 40 * 1024 },
		.local = 95000,
		.other = 5000,
		.hints = 2000,
		.hints_local = 1900,
		.migrated = 500,
		.balancing = 0,
		.memory = { 20 * GIB, 1 * GIB },
		.ran = { 8000, 100 },
	};

	judge_machine(&m);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_STRING_EQUAL(judged.not_judged, " ");
}

/* Few events: 300 pages and 50 hint faults a second, all of them remote. */
static void too_few_events(void)
{
	struct machine m = demo;

	m.local = m.hints_local = 0;
	m.other = 600;
	m.hints = 50;
	judge_machine(&m);
	CU_ASSERT_PTR_NULL(judged_find(&judged, "numa.remote_alloc"));
	CU_ASSERT_PTR_NULL(judged_find(&judged, "numa.access_locality"));
}

/* Balancing that is off is told where it would help; 20,000 pages a second are a storm. */
static void balancing(void)
{
	struct machine m = demo;

	m.balancing = 0;
	m.migrated = 20000;
	judge_machine(&m);
	CU_ASSERT_PTR_NOT_NULL_FATAL(judged_find(&judged, "numa.balancing_off"));
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "numa.balancing_off")->severity, "info");
	CU_ASSERT_PTR_NOT_NULL_FATAL(judged_find(&judged, "numa.migration_storm"));
	NEAR(judged_number(&judged, "numa.migration_storm", "numa.migrations"), 20000);
}

/* numa_maps was read once, as in a short recording: it is enough. */
static void maps_read_once(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		struct machine m = demo;

		m.no_maps = t != 4;
		stage.omit[MAPS] = true;
		node_rows(&m, t);
		ROW(PROCESS, NUMBER(4711), NUMBER(5), NUMBER(3), NUMBER(t * 16000000000),
		    NUMBER(0));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	NEAR(judged_number(&judged, "numa.process_misplaced", "numa.mismatch"), 0.85);
}

/* One node: said, and nothing else. Without numa_maps it is said what is missing. */
static void one_node(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 3; t++) {
		ROW(NUMA, NUMBER(0), WORD("0-3"), NUMBER(t * 5000), NUMBER(0), NUMBER(t * 5000),
		    NUMBER(0));
		ROW(MEMINFO, NUMBER(0), NUMBER(1000), NUMBER(10), NUMBER(0), NUMBER(0));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "numa.single_node");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "info");
	CU_ASSERT_TRUE(judged_in(judged.not_judged, "numa.process_misplaced"));
	CU_ASSERT_STRING_EQUAL(judged.reason, "no numa_maps in the recording");
}

CU_TestInfo tests[] = {
	{ "misplaced, and the node is full", misplaced_on_a_full_node },
	{ "exactly at the thresholds", levels },
	{ "by mapping", by_mapping },
	{ "more than there are", more_than_there_are },
	{ "moves that do not fit", moves_that_do_not_fit },
	{ "residency by thread", residency_by_thread },
	{ "a policy that was chosen", chosen_policy },
	{ "too little evidence", too_little_evidence },
	{ "case 84: CPUs without memory", cpus_without_memory },
	{ "cases 85, 86: memory without CPUs, and neither", memory_without_cpus },
	{ "a healthy machine", healthy },
	{ "too few events", too_few_events },
	{ "balancing off, and a storm", balancing },
	{ "numa_maps read once", maps_read_once },
	{ "one node", one_node },
	CU_TEST_INFO_NULL,
};
