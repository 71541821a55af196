/* analyzers/hugepages: each finding from rows made by hand; the expected values are worked out from them beside each test. */
#include "analyzers/hugepages/hugepages.c"
#include "analyzers/hugepages/coverage.c"
#include "analyzers/hugepages/findings.c"
#include "analyzers/hugepages/places.c"
#include "analyzers/hugepages/streams.c"

#include "made.h"
#include "test.h"

const char suite[] = "analyzer hugepages";

enum { THP, VMSTAT, POOL, MEMINFO, SMAPS, TLB_TABLE, SIZE, NODE, TABLES };
static const struct sonde_column thp_columns[] = {
	TEXT("enabled"),
	TEXT("defrag"),
	STATE("use_zero_page"),
	MADE("hpage_pmd_size", SONDE_U64, SONDE_STATE, SONDE_BASE_BYTES, 1, NULL),
};
static const struct sonde_column size_columns[] = {
	MADE("size", SONDE_U64, SONDE_KEY, SONDE_BASE_BYTES, 1024, NULL),
	EVENTS("anon_fault_alloc"),
	EVENTS("anon_fault_fallback"),
};
static const struct sonde_column node_columns[] = {
	KEY("node"),
	MADE("size", SONDE_U64, SONDE_KEY, SONDE_BASE_BYTES, 1024, NULL),
	GAUGE_COUNT("nr_hugepages"),
	GAUGE_COUNT("free_hugepages"),
};
static const struct sonde_column vmstat_columns[] = {
	EVENTS("thp_fault_alloc"),
	EVENTS("thp_fault_fallback"),
	EVENTS("compact_stall"),
	EVENTS("compact_fail"),
};
static const struct sonde_column pool_columns[] = {
	MADE("size", SONDE_U64, SONDE_KEY, SONDE_BASE_BYTES, 1024, NULL),
	GAUGE_COUNT("free_hugepages"),
	GAUGE_COUNT("resv_hugepages"),
};
static const struct sonde_column meminfo_columns[] = {
	KIBIBYTES("anon_pages"),
	KIBIBYTES("anon_huge_pages"),
	GAUGE_COUNT("huge_pages_total"),
	GAUGE_COUNT("huge_pages_free"),
};
static const struct sonde_column smaps_columns[] = {
	KEY("pid"),
	KEY("start_time"),
	TEXT("comm"),
	KIBIBYTES("anonymous"),
	KIBIBYTES("anon_huge_pages"),
	KIBIBYTES("shared_hugetlb"),
	KIBIBYTES("private_hugetlb"),
};
static const struct sonde_column tlb_columns[] = {
	KEY("cpu"),
	EVENTS("dtlb_loads"),
	EVENTS("dtlb_load_misses"),
};
static const struct sonde_table tables[TABLES] = {
	[THP] = { .name = "thp", .columns = SONDE_COLUMNS(thp_columns) },
	[VMSTAT] = { .name = "vmstat", .columns = SONDE_COLUMNS(vmstat_columns) },
	[POOL] = { .name = "hugetlb", .columns = SONDE_COLUMNS(pool_columns) },
	[MEMINFO] = { .name = "meminfo", .columns = SONDE_COLUMNS(meminfo_columns) },
	[SMAPS] = { .name = "smaps", .columns = SONDE_COLUMNS(smaps_columns) },
	[SIZE] = { .name = "thp_size", .columns = SONDE_COLUMNS(size_columns) },
	[NODE] = { .name = "hugetlb_node", .columns = SONDE_COLUMNS(node_columns) },
	[TLB_TABLE] = { .name = "perf_event_tlb", .columns = SONDE_COLUMNS(tlb_columns) },
};

#include "judging.h"

#define MIB_KB 1024
#define GIB_KB (1024 * 1024)

/* What differs between the machines of the tests. */
struct machine {
	const char *enabled, *defrag;
	uint64_t had, fell_back, stalled, failed; /* a second */
	uint64_t pool_free, pool_reserved;        /* pages of 2 MiB */
	uint64_t anonymous, huge;                 /* KiB of the machine */
	uint64_t process, process_huge, hugetlb;  /* of process 4711; 0: smaps was not recorded */
	uint64_t loads, walks;                    /* a second, millions and thousands */
};

/* 44 of 100 faults fall back, 12 stalls a second, 4 % of 48 GiB huge, 4 GiB of a pool idle, 3 % of loads walk. */
static const struct machine demo = {
	.enabled = "always",
	.defrag = "always",
	.had = 56,
	.fell_back = 44,
	.stalled = 12,
	.failed = 9,
	.pool_free = 2048,
	.anonymous = 50 * GIB_KB,
	.huge = 2 * GIB_KB,
	.process = 48 * GIB_KB,
	.process_huge = 48 * GIB_KB / 100 * 4,
	.loads = 60000,
	.walks = 1800000,
};

static void judge_machine(const struct machine *m)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		ROW(THP, WORD(m->enabled), WORD(m->defrag), NUMBER(1));
		ROW(VMSTAT, NUMBER(t * m->had), NUMBER(t * m->fell_back), NUMBER(t * m->stalled),
		    NUMBER(t * m->failed));
		ROW(POOL, NUMBER(2048), NUMBER(m->pool_free), NUMBER(m->pool_reserved));
		ROW(MEMINFO, NUMBER(m->anonymous), NUMBER(m->huge), NUMBER(m->pool_free),
		    NUMBER(m->pool_free));
		if (m->process)
			ROW(SMAPS, NUMBER(4711), NUMBER(5), WORD("app"), NUMBER(m->process),
			    NUMBER(m->process_huge), NUMBER(0), NUMBER(m->hugetlb));
		if (m->loads)
			ROW(TLB_TABLE, NUMBER(0), NUMBER(t * m->loads * 1000000),
			    NUMBER(t * m->walks * 1000));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

static void all_of_them(void)
{
	const struct found *found;

	judge_machine(&demo);
	CU_ASSERT_EQUAL(judged.nfound, 5);
	CU_ASSERT_PTR_NOT_NULL_FATAL(judged_find(&judged, "hp.sync_compaction"));
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "hp.sync_compaction")->severity, "warning");
	found = judged_find(&judged, "hp.thp_fallback");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_STRING_EQUAL(found->title,
			       "44 % of page faults that wanted a huge page got small ones");
	CU_ASSERT_EQUAL(found->held, 10 * SECOND);
	NEAR(judged_number(&judged, found->id, "hp.fallback"), 0.44);
	found = judged_find(&judged, "hp.compaction_stalls");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	NEAR(judged_number(&judged, found->id, "hp.compaction_stalls"), 12);
	NEAR(judged_number(&judged, found->id, "hp.compaction_failures"), 9);
	found = judged_find(&judged, "hp.hugetlb_idle");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_STRING_EQUAL(found->severity, "info");
	CU_ASSERT_STRING_EQUAL(found->about, "pool of 2048 kB pages");
	NEAR(judged_number(&judged, found->id, "hp.idle") / (1 << 30), 4);
	found = judged_find(&judged, "hp.low_coverage");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_STRING_EQUAL(found->severity, "warning");
	CU_ASSERT_STRING_EQUAL(found->about, "process 4711 (app)");
	CU_ASSERT_STRING_EQUAL(
		found->title,
		"4 % of 48.0 GiB of anonymous memory are in huge pages, and the TLB misses");
	NEAR(judged_number(&judged, found->id, "hp.coverage"), 0.04);
	CU_ASSERT_STRING_EQUAL(judged.not_judged, " ");
}

/* Without TLB misses it is information; without smaps the machine tells: 2 of 50 GiB; a process that uses hugetlb is left alone. */
static void coverage(void)
{
	struct machine m = demo;

	m.walks = 100;
	judge_machine(&m);
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "hp.low_coverage")->severity, "info");
	m.process = 0;
	judge_machine(&m);
	CU_ASSERT_PTR_NOT_NULL_FATAL(judged_find(&judged, "hp.low_coverage"));
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "hp.low_coverage")->about, "host");
	NEAR(judged_number(&judged, "hp.low_coverage", "hp.coverage"), 0.04);
	/* Twice as much in huge pages as there is. */
	m.huge = m.anonymous * 2;
	judge_machine(&m);
	CU_ASSERT_EQUAL(judged_number(&judged, "", "hp.coverage"), -1);
	m = demo;
	m.hugetlb = 1;
	m.huge = m.anonymous / 2;
	judge_machine(&m);
	CU_ASSERT_PTR_NULL(judged_find(&judged, "hp.low_coverage"));
}

static const struct machine healthy = {
	.enabled = "always",
	.defrag = "madvise",
	.had = 90,
	.fell_back = 10,
	.stalled = 1,
	.pool_free = 500,
	.anonymous = 900 * MIB_KB,
	.process = 1000 * MIB_KB,
};

/* THP always with defrag=madvise, 10 % fall back, a stall a second, 1,000 MiB idle: below each threshold. */
static void below_the_thresholds(void)
{
	judge_machine(&healthy);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_STRING_EQUAL(
		judged.clear,
		" hp.sync_compaction hp.thp_fallback hp.mthp_fallback hp.compaction_stalls "
		"hp.node_pool_empty "
		"hp.hugetlb_idle hp.low_coverage ");
}

/* All of 8 faults in 10 s fell back: too few. All of 10: enough, though no second had more than one. */
static void few_faults(void)
{
	for (uint64_t faults = 8; faults <= 10; faults += 2) {
		open_stage();
		for (uint64_t t = 0; t <= 20; t++) {
			uint64_t so_far = t / 2 < faults ? t / 2 : faults;

			ROW(VMSTAT, NUMBER(7), NUMBER(so_far), NUMBER(0), NUMBER(0));
			stage_tick(&stage, AT(t));
		}
		judge_and_close();
		CU_ASSERT_EQUAL(judged_find(&judged, "hp.thp_fallback") != NULL, faults == 10);
	}
	NEAR(judged_number(&judged, "hp.thp_fallback", "hp.huge_faults"), 10);
}

/* 4 GiB of a pool, of which 3.5 are reserved; or all taken for one moment: not idle. */
static void pools_in_use(void)
{
	struct machine m = healthy;

	m.pool_free = 2048;
	m.pool_reserved = 1792;
	judge_machine(&m);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		ROW(POOL, NUMBER(2048), NUMBER(t == 5 ? 0 : 2048), NUMBER(0));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL(judged.nfound, 0);
}

/* The newest words count: what was set right during the recording is not told. */
static void modes_that_change(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		ROW(THP, WORD("always"), WORD(t < 5 ? "always" : "madvise"), NUMBER(1));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL(judged.nfound, 0);
}

/* Of 64 kB pages 30 of 100 faults a second fall back, of 32 kB 10, of 2,048 kB, which is another finding's, all. */
static void sizes(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		stage.omit[SIZE] = true;
		ROW(THP, WORD("madvise"), WORD("madvise"), NUMBER(1), NUMBER(2048 * 1024));
		ROW(SIZE, NUMBER(64), NUMBER(70 * t), NUMBER(30 * t));
		ROW(SIZE, NUMBER(32), NUMBER(90 * t), NUMBER(10 * t));
		ROW(SIZE, NUMBER(2048), NUMBER(0), NUMBER(50 * t));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "hp.mthp_fallback");
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "pages of 64 kB");
	CU_ASSERT_STRING_EQUAL(judged.found[0].title,
			       "30 % of page faults that wanted 64 kB got smaller pages");
	NEAR(judged_number(&judged, "hp.mthp_fallback", "hp.size_faults"), 1000);
}

/* Node 0 has its 512 pages in use, node 1 has 200 of 512 left, node 2 has no pool. */
static void node_pools(uint64_t left_on_1, uint64_t reserved)
{
	open_stage();
	for (uint64_t t = 0; t <= 3; t++) {
		stage.omit[NODE] = true;
		ROW(POOL, NUMBER(2048), NUMBER(left_on_1), NUMBER(reserved));
		ROW(NODE, NUMBER(0), NUMBER(2048), NUMBER(512), NUMBER(0));
		ROW(NODE, NUMBER(1), NUMBER(2048), NUMBER(512), NUMBER(left_on_1));
		ROW(NODE, NUMBER(2), NUMBER(2048), NUMBER(0), NUMBER(0));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

static void node_without_free_pages(void)
{
	node_pools(200, 50);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "hp.node_pool_empty");
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "node 0");
	CU_ASSERT_STRING_EQUAL(
		judged.found[0].title,
		"All 512 huge pages of 2048 kB of node 0 are in use, while others have "
		"150 free");
	/* What is promised to others is not to be had either. */
	node_pools(50, 50);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT(judged_in(judged.clear, "hp.node_pool_empty"));
}

CU_TestInfo tests[] = {
	{ "sizes", sizes },
	{ "node without free pages", node_without_free_pages },
	{ "all of them", all_of_them },
	{ "coverage", coverage },
	{ "below the thresholds", below_the_thresholds },
	{ "few faults", few_faults },
	{ "pools in use", pools_in_use },
	{ "modes that change", modes_that_change },
	CU_TEST_INFO_NULL,
};
