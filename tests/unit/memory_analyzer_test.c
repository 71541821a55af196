/* analyzers/memory: each finding from rows made by hand; the expected values are worked out from them beside each test. The
 * names of columns are those of the collectors psi, meminfo, vmstat and process. */
#include "analyzers/memory/memory.c"
#include "analyzers/memory/faults.c"
#include "analyzers/memory/findings.c"
#include "analyzers/memory/metrics.c"
#include "analyzers/memory/streams.c"

#include "judged.h"
#include "test.h"

const char suite[] = "analyzer memory";

#define NUMBER(name_, semantics_, unit_, mul_, what_)                                              \
	{                                                                                          \
		.name = name_, .type = SONDE_U64, .semantics = semantics_, .unit = unit_,          \
		.scale_mul = mul_, .scale_div = 1, .counted = what_                                \
	}
#define EVENTS(name_, what_) NUMBER(name_, SONDE_COUNTER, SONDE_BASE_COUNT, 1, what_)
#define KIBIBYTES(name_)     NUMBER(name_, SONDE_GAUGE, SONDE_BASE_BYTES, 1024, NULL)

enum {
	V_STALL_NORMAL,
	V_STALL_MOVABLE,
	V_IN,
	V_OUT,
	V_OOM,
	V_SCAN,
	V_THROTTLE,
	V_REFAULT,
	V_FAULT,
	V_PAGED_IN,
	V_COLUMNS
};
static const struct sonde_column vmstat_columns[V_COLUMNS] = {
	[V_STALL_NORMAL] = EVENTS("allocstall_normal", "stalls"),
	[V_STALL_MOVABLE] = EVENTS("allocstall_movable", "stalls"),
	[V_IN] = EVENTS("pswpin", "pages"),
	[V_OUT] = EVENTS("pswpout", "pages"),
	[V_OOM] = EVENTS("oom_kill", "kills"),
	[V_SCAN] = EVENTS("pgscan_direct", "pages"),
	[V_THROTTLE] = EVENTS("pgscan_direct_throttle", "throttles"),
	[V_REFAULT] = EVENTS("workingset_refault_file", "pages"),
	[V_FAULT] = EVENTS("pgfault", "faults"),
	[V_PAGED_IN] = NUMBER("pgpgin", SONDE_COUNTER, SONDE_BASE_BYTES, 1024, NULL),
};
static const struct sonde_column meminfo_columns[] = {
	KIBIBYTES("mem_total"),  KIBIBYTES("mem_free"),  KIBIBYTES("mem_available"),
	KIBIBYTES("swap_total"), KIBIBYTES("swap_free"),
};
static const struct sonde_column psi_columns[] = {
	{ .name = "resource",
	  .type = SONDE_STR,
	  .semantics = SONDE_KEY,
	  .unit = SONDE_BASE_NONE,
	  .scale_mul = 1,
	  .scale_div = 1 },
	NUMBER("some_total", SONDE_COUNTER, SONDE_BASE_NS, 1000, NULL),
	NUMBER("full_total", SONDE_COUNTER, SONDE_BASE_NS, 1000, NULL),
};
static const struct sonde_column process_columns[] = {
	NUMBER("pid", SONDE_KEY, SONDE_BASE_NONE, 1, NULL),
	NUMBER("start_time", SONDE_KEY, SONDE_BASE_NS, 0, NULL),
	{ .name = "comm",
	  .type = SONDE_STR,
	  .semantics = SONDE_INFO,
	  .unit = SONDE_BASE_NONE,
	  .scale_mul = 1,
	  .scale_div = 1 },
	EVENTS("minflt", "faults"),
	EVENTS("majflt", "faults"),
};

enum { ON_VMSTAT, ON_MEMINFO, ON_PSI, ON_PROCESS, ON_TABLES };
static const struct sonde_table stage_tables[ON_TABLES] = {
	[ON_VMSTAT] = { .name = "vmstat", .columns = SONDE_COLUMNS(vmstat_columns) },
	[ON_MEMINFO] = { .name = "meminfo", .columns = SONDE_COLUMNS(meminfo_columns) },
	[ON_PSI] = { .name = "psi", .columns = SONDE_COLUMNS(psi_columns) },
	[ON_PROCESS] = { .name = "process", .columns = SONDE_COLUMNS(process_columns) },
};

static const struct sonde_host host = { .size = sizeof host, .analysis = &analysis_services };
static struct conf conf;
static struct sonde_instance instance = { .host = &host, .conf = &conf, .name = "analyzer:memory" };
static struct stage stage;
static struct judged judged;

static void open_stage(void)
{
	char why[128];

	stage_open(&stage);
	for (uint32_t i = 0; i < ON_TABLES; i++) {
		stage_table(&stage, &stage_tables[i]);
		stage.omit[i] = true;
	}
	memset(&conf, 0, sizeof conf);
	judged_conf(options, sizeof options / sizeof options[0], &conf);
	CU_ASSERT_EQUAL_FATAL(analysis_add(stage.analysis, &instance, &ops, why, sizeof why), 0);
}

static void judge_and_close(void)
{
	judge_stage(&stage, &judged);
	stage_close(&stage);
}

#define NEAR(actual, expected) CU_ASSERT_DOUBLE_EQUAL(actual, expected, 1e-4)
#define AT(second)             ((1000 + (uint64_t)(second)) * SECOND)

static void numbers_row(uint32_t table, const uint64_t *values, uint32_t count)
{
	struct sonde_row row = stage_row(&stage, table);

	stage.omit[table] = false;
	for (uint32_t i = 0; i < count; i++)
		sonde_set_u64(&row, i, values[i]);
}

static void psi_row(const char *resource, uint64_t some_us, uint64_t full_us)
{
	struct sonde_row row = stage_row(&stage, ON_PSI);

	stage.omit[ON_PSI] = false;
	sonde_set_str(&row, 0, resource);
	sonde_set_u64(&row, 1, some_us);
	sonde_set_u64(&row, 2, full_us);
}

static void process_row(uint64_t pid, const char *comm, uint64_t minor_faults,
			uint64_t major_faults)
{
	struct sonde_row row = stage_row(&stage, ON_PROCESS);

	stage.omit[ON_PROCESS] = false;
	sonde_set_u64(&row, 0, pid);
	sonde_set_u64(&row, 1, 100);
	sonde_set_str(&row, 2, comm);
	sonde_set_u64(&row, 3, minor_faults);
	sonde_set_u64(&row, 4, major_faults);
}

/* vmstat growing by these in every second after the fifth, for five seconds. */
static void second_half(const uint64_t by[V_COLUMNS])
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		uint64_t values[V_COLUMNS];

		for (uint32_t i = 0; i < V_COLUMNS; i++)
			values[i] = 1000 + (t > 5 ? t - 5 : 0) * by[i];
		numbers_row(ON_VMSTAT, values, V_COLUMNS);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* 3 and 4 stalls a second of two zones are 7; pages that direct reclaim was throttled for are none that it scanned. */
static void direct_reclaim_found(void)
{
	second_half((uint64_t[V_COLUMNS]) {
		[V_STALL_NORMAL] = 3, [V_STALL_MOVABLE] = 4, [V_SCAN] = 50, [V_THROTTLE] = 9 });
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "mem.direct_reclaim");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "warning");
	CU_ASSERT_EQUAL(judged.found[0].begin, AT(5));
	CU_ASSERT_EQUAL(judged.found[0].end, AT(10));
	NEAR(judged_number(&judged, "mem.direct_reclaim", "mem.allocation_stalls"), 7);
	NEAR(judged_number(&judged, "mem.direct_reclaim", "mem.direct_scan"), 50);
	NEAR(judged_number(&judged, "", "mem.allocation_stalls"), 3.5);
}

/* Out alone is a move; both ways are thrashing. */
static void swapping_found(void)
{
	second_half((uint64_t[V_COLUMNS]) { [V_OUT] = 5000, [V_IN] = 3 });
	CU_ASSERT_EQUAL(judged.nfound, 0);
	second_half((uint64_t[V_COLUMNS]) { [V_OUT] = 5000, [V_IN] = 3000 });
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "mem.swapping");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "critical");
	NEAR(judged_number(&judged, "mem.swapping", "mem.swap_out"), 5000);
	NEAR(judged_number(&judged, "mem.swapping", "mem.swap_in"), 3000);
}

/* One kill in one second is enough. */
static void oom_found(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		numbers_row(ON_VMSTAT, (uint64_t[V_COLUMNS]) { [V_OOM] = t < 7 ? 4 : 6 },
			    V_COLUMNS);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "mem.oom");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "critical");
	CU_ASSERT_STRING_EQUAL(judged.found[0].title,
			       "The kernel killed 2 processes for want of memory");
	CU_ASSERT_EQUAL(judged.found[0].begin, AT(6));
	CU_ASSERT_EQUAL(judged.found[0].end, AT(7));
}

/* Of 8,000,000 KiB, 300,000 for one sample: 3.75 %. */
static void available_found(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		numbers_row(ON_MEMINFO,
			    (uint64_t[]) { 8000000, 100000, t == 4 ? 300000 : 4000000, 0, 0 }, 5);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "mem.low_available");
	CU_ASSERT_STRING_EQUAL(judged.found[0].title,
			       "Available memory fell to 3.8 % of all (293 MiB)");
	CU_ASSERT_DOUBLE_EQUAL(judged_number(&judged, "mem.low_available", "mem.available_least"),
			       300000 * 1024.0, 64);
	/* nine seconds of 4,000,000 and one of 300,000 */
	CU_ASSERT_DOUBLE_EQUAL(judged_number(&judged, "", "mem.available"), 3630000 * 1024.0, 1024);
}

/* memory full 4 % for all of the time, 30 % in the last four seconds; io full all the time is another matter. */
static void pressure_found(void)
{
	uint64_t full_us = 0;

	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		full_us += t > 6 ? 300000 : 40000;
		psi_row("io", t * 900000, t * 900000);
		psi_row("memory", 2 * full_us, full_us);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "mem.pressure");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "critical");
	CU_ASSERT_EQUAL(judged.found[0].begin, AT(6));
	NEAR(judged_number(&judged, "mem.pressure", "mem.pressure_full"), 0.3);
	NEAR(judged_number(&judged, "mem.pressure", "mem.pressure_some"), 0.6);
	NEAR(judged_number(&judged, "", "io.pressure_full"), 0.9);
}

/* No PSI: refaults alone are a cache that is too small; with direct reclaim they are pressure. */
static void pressure_without_psi(void)
{
	second_half((uint64_t[V_COLUMNS]) { [V_REFAULT] = 900 });
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(judged.clear, " mem.pressure "));
	second_half((uint64_t[V_COLUMNS]) { [V_REFAULT] = 900, [V_SCAN] = 10 });
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "mem.pressure");
	NEAR(judged_number(&judged, "mem.pressure", "mem.refaults"), 900);
}

/* 20 major faults a second of one process, 250,000 minor ones of another; a cold start: 400 major faults in one second. */
static void faults_found(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		process_row(1, "disk", 0, t * 20);
		process_row(2, "churn", t * 250000, 0);
		process_row(3, "cold", t > 3 ? 5000 : 0, t > 3 ? 400 : 0);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 2);
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "mem.major_faults")->about, "process 1 (disk)");
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "mem.minor_fault_storm")->about,
			       "process 2 (churn)");
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "mem.minor_fault_storm")->title,
			       "Process 2 (churn) took 250000 minor faults a second");
	NEAR(judged_number(&judged, "mem.major_faults", "mem.faults_in_all"), 200);
}

/* Faults and bytes by hand: 12,345 faults and 2,048 KiB a second. */
static void rates(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 4; t++) {
		numbers_row(
			ON_VMSTAT,
			(uint64_t[V_COLUMNS]) { [V_FAULT] = t * 12345, [V_PAGED_IN] = t * 2048 },
			V_COLUMNS);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	NEAR(judged_number(&judged, "", "mem.faults"), 12345);
	NEAR(judged_number(&judged, "", "mem.paged_in"), 2097152);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_STRING_EQUAL(judged.not_judged,
			       " mem.low_available mem.major_faults mem.minor_fault_storm ");
}

CU_TestInfo tests[] = {
	{ "direct reclaim", direct_reclaim_found },
	{ "swapping", swapping_found },
	{ "out of memory", oom_found },
	{ "little available memory", available_found },
	{ "pressure", pressure_found },
	{ "pressure without PSI", pressure_without_psi },
	{ "major and minor faults", faults_found },
	{ "rates by hand", rates },
	CU_TEST_INFO_NULL,
};
