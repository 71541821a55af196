/* analyzers/memory: each finding from rows made by hand; the expected values are worked out from them beside each test. The
 * names of columns are those of the collectors psi, meminfo, vmstat and process. */
#include "analyzers/memory/memory.c"
#include "analyzers/memory/bandwidth.c"
#include "analyzers/memory/faults.c"
#include "analyzers/memory/findings.c"
#include "analyzers/memory/metrics.c"
#include "analyzers/memory/pressure.c"
#include "analyzers/memory/streams.c"

#include "made.h"
#include "test.h"

const char suite[] = "analyzer memory";

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
	[V_STALL_NORMAL] = EVENTS("allocstall_normal"),
	[V_STALL_MOVABLE] = EVENTS("allocstall_movable"),
	[V_IN] = EVENTS("pswpin"),
	[V_OUT] = EVENTS("pswpout"),
	[V_OOM] = EVENTS("oom_kill"),
	[V_SCAN] = EVENTS("pgscan_direct"),
	[V_THROTTLE] = EVENTS("pgscan_direct_throttle"),
	[V_REFAULT] = EVENTS("workingset_refault_file"),
	[V_FAULT] = EVENTS("pgfault"),
	[V_PAGED_IN] = MADE("pgpgin", SONDE_U64, SONDE_COUNTER, SONDE_BASE_BYTES, 1024, NULL),
};
static const struct sonde_column meminfo_columns[] = {
	KIBIBYTES("mem_total"),  KIBIBYTES("mem_free"),  KIBIBYTES("mem_available"),
	KIBIBYTES("swap_total"), KIBIBYTES("swap_free"),
};
static const struct sonde_column old_meminfo_columns[] = {
	KIBIBYTES("mem_total"), KIBIBYTES("mem_free"), KIBIBYTES("buffers"),
	KIBIBYTES("cached"),    KIBIBYTES("shmem"),    KIBIBYTES("s_reclaimable"),
};
static const struct sonde_column psi_columns[] = {
	{ .name = "resource",
	  .type = SONDE_STR,
	  .semantics = SONDE_KEY,
	  .unit = SONDE_BASE_NONE,
	  .scale_mul = 1,
	  .scale_div = 1 },
	MADE("some_total", SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 1000, NULL),
	MADE("full_total", SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 1000, NULL),
};
static const struct sonde_column process_columns[] = {
	MADE("pid", SONDE_U64, SONDE_KEY, SONDE_BASE_NONE, 1, NULL),
	MADE("start_time", SONDE_U64, SONDE_KEY, SONDE_BASE_NS, 0, NULL),
	{ .name = "comm",
	  .type = SONDE_STR,
	  .semantics = SONDE_INFO,
	  .unit = SONDE_BASE_NONE,
	  .scale_mul = 1,
	  .scale_div = 1 },
	EVENTS("minflt"),
	EVENTS("majflt"),
	NANOSECONDS("utime"),
	NANOSECONDS("stime"),
	TEXT("cgroup"),
};
static const struct sonde_column group_columns[] = {
	KEY_TEXT("path"),
	KEY("birth"),
	BYTES("memory_current"),
	EVENTS("events_max"),
};

static const struct sonde_column controller_columns[] = {
	KEY_TEXT("pmu"),
	KEY("cpu"),
	MADE("bytes_read", SONDE_U64, SONDE_COUNTER, SONDE_BASE_BYTES, 64, NULL),
	MADE("bytes_written", SONDE_U64, SONDE_COUNTER, SONDE_BASE_BYTES, 64, NULL),
};
/* Each half of a channel apart. */
static const struct sonde_column half_columns[] = {
	KEY_TEXT("pmu"),
	KEY("cpu"),
	MADE("bytes_read_sch0", SONDE_U64, SONDE_COUNTER, SONDE_BASE_BYTES, 64, NULL),
	MADE("bytes_read_sch1", SONDE_U64, SONDE_COUNTER, SONDE_BASE_BYTES, 64, NULL),
	MADE("bytes_written_sch0", SONDE_U64, SONDE_COUNTER, SONDE_BASE_BYTES, 64, NULL),
	MADE("bytes_written_sch1", SONDE_U64, SONDE_COUNTER, SONDE_BASE_BYTES, 64, NULL),
};
static const struct sonde_column topology_columns[] = {
	KEY("cpu"),
	MADE("socket", SONDE_U64, SONDE_INFO, SONDE_BASE_NONE, 1, NULL),
};

enum {
	ON_VMSTAT,
	ON_MEMINFO,
	ON_OLD_MEMINFO,
	ON_PSI,
	ON_PROCESS,
	ON_CONTROLLERS,
	ON_HALVES,
	ON_TOPOLOGY,
	ON_GROUP,
	TABLES
};
static const struct sonde_table tables[TABLES] = {
	[ON_VMSTAT] = { .name = "vmstat", .columns = SONDE_COLUMNS(vmstat_columns) },
	[ON_MEMINFO] = { .name = "meminfo", .columns = SONDE_COLUMNS(meminfo_columns) },
	[ON_OLD_MEMINFO] = { .name = "meminfo", .columns = SONDE_COLUMNS(old_meminfo_columns) },
	[ON_PSI] = { .name = "psi", .columns = SONDE_COLUMNS(psi_columns) },
	[ON_PROCESS] = { .name = "process", .columns = SONDE_COLUMNS(process_columns) },
	[ON_CONTROLLERS] = { .name = "perf_event_memory",
			     .columns = SONDE_COLUMNS(controller_columns) },
	[ON_HALVES] = { .name = "perf_event_memory", .columns = SONDE_COLUMNS(half_columns) },
	[ON_TOPOLOGY] = { .name = "topology_cpu", .columns = SONDE_COLUMNS(topology_columns) },
	[ON_GROUP] = { .name = "cgroup", .columns = SONDE_COLUMNS(group_columns) },
};

#define START start
#include "judging.h"

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

/* More is available, and free in swap, than there is: neither has a share, and memory is not judged by it. Five times as
 * much for one second of ten, and half of it else: half of all is used in the nine that count. */
static void more_than_there_is(void)
{
	for (uint64_t good = 0; good <= 1; good++) {
		open_stage();
		for (uint64_t t = 0; t <= 10; t++) {
			uint64_t free = good && t != 4 ? 4000000 : 40000000;

			numbers_row(ON_MEMINFO,
				    (uint64_t[]) { 8000000, 100000, free, 8000000, free }, 5);
			stage_tick(&stage, AT(t));
		}
		judge_and_close();
		CU_ASSERT_EQUAL(judged.nfound, 0);
		CU_ASSERT_DOUBLE_EQUAL(judged_number(&judged, "", "mem.used"), good ? 0.5 : -1,
				       1e-9);
		CU_ASSERT_DOUBLE_EQUAL(judged_number(&judged, "", "mem.swap_used"),
				       good ? 4000000 * 1024.0 : -1, 1);
		CU_ASSERT_PTR_NOT_NULL(
			strstr(good ? judged.clear : judged.not_judged, " mem.low_available "));
	}
}

/* Ten seconds of a kernel before Linux 3.14. */
static void judge_old_kernel(uint64_t cached)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		numbers_row(ON_OLD_MEMINFO,
			    (uint64_t[]) { 8000000, 100000, 20000, cached, 350000, 30000 }, 6);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* Case 109: no MemAvailable. 100,000 free, 20,000 and 500,000 of page cache less 350,000 of shmem, 30,000 of slab: at most
 * 300,000 are available. With 500,000 more of page cache it is clear. */
static void available_estimated(void)
{
	judge_old_kernel(500000);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].title,
			       "Available memory fell to at most 3.8 % of all (293 MiB, estimated: "
			       "no MemAvailable)");
	CU_ASSERT_DOUBLE_EQUAL(judged_number(&judged, "mem.low_available", "mem.available_least"),
			       300000 * 1024.0, 64);
	judge_old_kernel(1000000);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(judged.clear, " mem.low_available "));
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

/* A tenth of the time; processes of two cgroups, of which /s/b waits for more pages; with `events`, /s meets its limit that often a
 * second, for the most part because of /s/a below it. */
static const struct found *pressure_of_groups(bool recorded, uint64_t events)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		psi_row("memory", t * 200000, t * 100000);
		ROW(ON_PROCESS, NUMBER(1), NUMBER(100), WORD("a"), NUMBER(0), NUMBER(t * 3),
		    NUMBER(0), NUMBER(0), WORD("/s/a"));
		ROW(ON_PROCESS, NUMBER(2), NUMBER(100), WORD("b"), NUMBER(0), NUMBER(t * 5),
		    NUMBER(0), NUMBER(0), WORD("/s/b"));
		if (recorded) {
			ROW(ON_GROUP, WORD("/s"), NUMBER(0), NUMBER(1000), NUMBER(t * events));
			ROW(ON_GROUP, WORD("/s/a"), NUMBER(0), NUMBER(900),
			    NUMBER(t * events * 3 / 4));
			ROW(ON_GROUP, WORD("/s/b"), NUMBER(0), NUMBER(100), NUMBER(0));
		}
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	return judged_find(&judged, "mem.pressure");
}

/* Who suffers is named: who was at its limit, else whose processes waited for most pages; and how to know more. */
static void pressure_names(void)
{
	const struct found *found = pressure_of_groups(true, 40);

	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_PTR_NOT_NULL(strstr(found->action, "cgroup /s/a fit"));
	NEAR(judged_number(&judged, "mem.pressure", "cgroup /s/a at its limit"), 30);
	found = pressure_of_groups(true, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_PTR_NOT_NULL(strstr(found->action, "No cgroup that was recorded"));
	NEAR(judged_number(&judged, "mem.pressure", "cgroup /s/b, major faults"), 5);
	found = pressure_of_groups(false, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_PTR_NOT_NULL(strstr(found->action, "sonde record --profile memory"));
	NEAR(judged_number(&judged, "mem.pressure", "cgroup /s/b, major faults"), 5);
}

/* Above the first threshold it is found, from the second on it is critical: 1 % and 10 % of the time, in us. */
static void pressure_levels(void)
{
	static const struct {
		uint64_t us;
		const char *severity;
	} cases[] = {
		{ 10000, "" },
		{ 10001, "warning" },
		{ 99999, "warning" },
		{ 100000, "critical" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct found *found;

		open_stage();
		for (uint64_t t = 0; t <= 10; t++) {
			psi_row("memory", t * cases[i].us, t * cases[i].us);
			stage_tick(&stage, AT(t));
		}
		judge_and_close();
		found = judged_find(&judged, "mem.pressure");
		CU_ASSERT_STRING_EQUAL(found ? found->severity : "", cases[i].severity);
	}
}

/* One stall and ten pages a second are the thresholds, and 5 % of memory is what has to be available: none is passed by what is exactly
 * that. */
static void at_the_thresholds(void)
{
	for (uint64_t above = 0; above < 2; above++) {
		second_half((uint64_t[V_COLUMNS]) {
			[V_STALL_NORMAL] = 1 + above, [V_IN] = 10 + above, [V_OUT] = 10 + above });
		CU_ASSERT_EQUAL(judged.nfound, 2 * above);
		CU_ASSERT_EQUAL(judged_find(&judged, "mem.swapping") != NULL, above);
		CU_ASSERT_EQUAL(judged_find(&judged, "mem.direct_reclaim") != NULL, above);
		open_stage();
		for (uint64_t t = 0; t <= 3; t++) {
			numbers_row(ON_MEMINFO, (uint64_t[]) { 1000000, 0, 50000 - above, 0, 0 },
				    5);
			stage_tick(&stage, AT(t));
		}
		judge_and_close();
		CU_ASSERT_EQUAL(judged_find(&judged, "mem.low_available") != NULL, above);
	}
}

/* Read a little later than the clock, it grew by more than the time: all of it, and no more. What one interval has too much of, the
 * next lacks. */
static void no_more_than_all_time(void)
{
	static const uint64_t full_us[] = { 0, 1020000, 2010000, 3020000 };

	open_stage();
	for (uint64_t t = 0; t < 4; t++) {
		psi_row("memory", full_us[t], full_us[t]);
		psi_row("io", t == 1 ? 700000 : t * 500000, 0);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_EQUAL(judged_number(&judged, "", "mem.pressure_full"), 1);
	CU_ASSERT_EQUAL(judged_number(&judged, "mem.pressure", "mem.pressure_full"), 1);
	NEAR(judged_number(&judged, "", "io.pressure_some"), 0.5);
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

/* With so many minor faults and ns of CPU time, half of it in the kernel, in each second. */
static void judge_minor_faults(uint64_t faults, uint64_t cpu)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		struct sonde_row row = stage_row(&stage, ON_PROCESS);

		stage.omit[ON_PROCESS] = false;
		sonde_set_u64(&row, 0, 2);
		sonde_set_u64(&row, 1, 100);
		sonde_set_str(&row, 2, "churn");
		sonde_set_u64(&row, 3, t * faults);
		sonde_set_u64(&row, 5, t * cpu / 2);
		sonde_set_u64(&row, 6, t * cpu / 2);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* 150,000 faults in a second of half a CPU are 300,000 in a second of its own. */
static void faults_of_half_a_cpu(void)
{
	judge_minor_faults(150000, SECOND / 2);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(
		judged.found[0].title,
		"Process 2 (churn) took 300000 minor faults a second of its CPU time");
	NEAR(judged_number(&judged, "mem.minor_fault_storm", "mem.minor_fault_storm"), 300000);
	NEAR(judged_number(&judged, "mem.minor_fault_storm", "mem.faults_in_all"), 1500000);
	/* Of a whole CPU that is few; of a tenth of one it is next to nothing for the machine. */
	judge_minor_faults(150000, SECOND);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	judge_minor_faults(30000, SECOND / 10);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	/* By both clocks it is one finding; of threads on eight CPUs, by the wall clock alone. */
	judge_minor_faults(250000, SECOND);
	CU_ASSERT_EQUAL(judged.nfound, 1);
	judge_minor_faults(890000, 8 * SECOND);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].title,
			       "Process 2 (churn) took 890000 minor faults a second");
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

/* Of the metric about a thing; -1: there is none. */
static double metric_about(const char *name, const char *about)
{
	for (uint32_t i = 0; i < judged.nnumbers; i++)
		if (!*judged.numbers[i].id && strcmp(judged.numbers[i].name, name) == 0 &&
		    strcmp(judged.numbers[i].about, about) == 0)
			return judged.numbers[i].value;
	return -1;
}

/* Two sockets, whose controllers are read on CPUs 0 and 1, and on 40; 10, 20 and 30 million CAS commands of 64 bytes read each second, a
 * tenth of that written: 0.704, 1.408 and 2.112 GB/s. Of 8.448 GB/s that is a half. */
static void what_memory_carries(void)
{
	static const uint64_t cpus[] = { 0, 1, 40 };

	for (int known = 0; known < 2; known++) {
		open_stage();
		conf.bandwidth = known ? 8.448e9 : 0;
		for (uint64_t t = 0; t <= 4; t++) {
			for (uint64_t i = 0; i < 3; i++) {
				ROW(ON_CONTROLLERS, WORD(i == 1 ? "uncore_imc_1" : "uncore_imc_0"),
				    NUMBER(cpus[i]), NUMBER(t * (i + 1) * 10000000),
				    NUMBER(t * (i + 1) * 1000000));
				if (known)
					ROW(ON_TOPOLOGY, NUMBER(cpus[i]), NUMBER(i == 2 ? 7 : 0));
			}
			stage_tick(&stage, AT(t));
		}
		judge_and_close();
		CU_ASSERT_DOUBLE_EQUAL(metric_about("mem.bandwidth", ""), 4.224e9, 1);
		CU_ASSERT_DOUBLE_EQUAL(metric_about("mem.bandwidth", "socket 0"),
				       known ? 2.112e9 : -1, 1);
		CU_ASSERT_DOUBLE_EQUAL(metric_about("mem.bandwidth", "socket 7"),
				       known ? 2.112e9 : -1, 1);
		NEAR(metric_about("mem.bandwidth_share", ""), known ? 0.5 : -1);
	}
}

/* 1, 2, 3 and 4 million commands of 64 bytes: 0.64 GB/s. */
static void halves_of_channels(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 4; t++) {
		ROW(ON_HALVES, WORD("uncore_imc_0"), NUMBER(0), NUMBER(t * 1000000),
		    NUMBER(t * 2000000), NUMBER(t * 3000000), NUMBER(t * 4000000));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_DOUBLE_EQUAL(metric_about("mem.bandwidth", ""), 0.64e9, 1);
}

CU_TestInfo tests[] = {
	{ "direct reclaim", direct_reclaim_found },
	{ "swapping", swapping_found },
	{ "out of memory", oom_found },
	{ "little available memory", available_found },
	{ "more than there is", more_than_there_is },
	{ "case 109: available memory estimated", available_estimated },
	{ "pressure", pressure_found },
	{ "pressure names cgroups", pressure_names },
	{ "no more than all time", no_more_than_all_time },
	{ "pressure without PSI", pressure_without_psi },
	{ "major and minor faults", faults_found },
	{ "minor faults of half a CPU", faults_of_half_a_cpu },
	{ "rates by hand", rates },
	{ "levels of pressure", pressure_levels },
	{ "exactly at the thresholds", at_the_thresholds },
	{ "what memory carries", what_memory_carries },
	{ "halves of channels", halves_of_channels },
	CU_TEST_INFO_NULL,
};
