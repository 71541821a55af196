/* analyzers/cgroup: each finding from rows made by hand; the expected values are worked out from them beside each test. */
#include "analyzers/cgroup/cgroup.c"
#include "analyzers/cgroup/memory.c"
#include "analyzers/cgroup/metrics.c"

#include "made.h"
#include "test.h"

const char suite[] = "analyzer cgroup";

enum { GROUP, STALLS, STAT, STAT_1, TABLES };
static const struct sonde_column group_columns[] = {
	KEY_TEXT("path"),
	KEY("birth"),
	EVENTS("nr_periods"),
	EVENTS("nr_throttled"),
	NANOSECONDS("usage"),
	NANOSECONDS("throttled"),
	MADE("cpu_quota", SONDE_U64, SONDE_STATE, SONDE_BASE_NS, 1000, NULL),
	MADE("cpu_period", SONDE_U64, SONDE_STATE, SONDE_BASE_NS, 1000, NULL),
	BYTES("memory_current"),
	BYTES("effective_memory_max"),
	EVENTS("events_max"),
	STATE("cpu_shares"),
	MADE("effective_cpus", SONDE_F64, SONDE_STATE, SONDE_BASE_COUNT, 1, "CPUs"),
	EVENTS("events_oom_kill"),
	BYTES("memory_high"),
};
static const struct sonde_column stat_columns[] = {
	KEY_TEXT("path"),
	KEY("birth"),
	EVENTS("workingset_refault_file"),
};
static const struct sonde_column stat_1_columns[] = {
	KEY_TEXT("path"),
	KEY("birth"),
	EVENTS("total_workingset_refault_file"),
};
static const struct sonde_column stall_columns[] = {
	KEY_TEXT("path"),
	KEY("birth"),
	KEY_TEXT("resource"),
	NANOSECONDS("full_total"),
};
static const struct sonde_table tables[TABLES] = {
	[GROUP] = { .name = "cgroup", .columns = SONDE_COLUMNS(group_columns) },
	[STALLS] = { .name = "cgroup_pressure", .columns = SONDE_COLUMNS(stall_columns) },
	[STAT] = { .name = "cgroup_memory", .columns = SONDE_COLUMNS(stat_columns) },
	[STAT_1] = { .name = "cgroup_memory_v1", .columns = SONDE_COLUMNS(stat_1_columns) },
};

#include "judging.h"

/* Ten periods of 100 ms a second, `throttled` of which it used up; a quota of 2 CPUs. */
static void group_row(const char *path, uint64_t t, uint64_t throttled, uint64_t waited_ms)
{
	ROW(GROUP, WORD(path), NUMBER(0), NUMBER(t * 10), NUMBER(t * throttled),
	    NUMBER(t * 2 * SECOND), NUMBER(t * waited_ms * 1000000), NUMBER(200000), NUMBER(100000),
	    NUMBER(800), NUMBER(1000), NUMBER(t * 50));
}

/* Above a tenth of the periods it is found, from half of them on it is critical. */
static void throttled_levels(void)
{
	static const char *const severities[] = {
		[1] = "", [2] = "warning", [4] = "warning", [5] = "critical"
	};

	for (uint64_t of_ten = 1; of_ten <= 5; of_ten++) {
		if (!severities[of_ten])
			continue;
		open_stage();
		for (uint64_t t = 0; t <= 10; t++) {
			group_row("/a", t, of_ten, 100);
			stage_tick(&stage, AT(t));
		}
		judge_and_close();
		CU_ASSERT_STRING_EQUAL(judged.nfound ? judged.found[0].severity : "",
				       severities[of_ten]);
	}
}

/* 8 of 10 periods, with 1.5 CPUs' worth of waiting: 2 + 1.5 CPUs would have held, at most. 1 of 10 is not above a tenth. */
static void throttled(void)
{
	const struct found *found;

	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		group_row("/system.slice/a b.service", t, 8, 1500);
		group_row("/system.slice/c.service", t, 1, 10);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	found = &judged.found[0];
	CU_ASSERT_STRING_EQUAL(found->id, "cgroup.throttled");
	CU_ASSERT_STRING_EQUAL(found->severity, "critical");
	CU_ASSERT_STRING_EQUAL(found->about, "cgroup /system.slice/a b.service");
	CU_ASSERT_STRING_EQUAL(
		found->title,
		"Cgroup /system.slice/a b.service was throttled in 80 % of its periods");
	CU_ASSERT_PTR_NOT_NULL(strstr(found->action, "with 3.5 CPUs"));
	CU_ASSERT_PTR_NOT_NULL(strstr(found->action, "CPUQuota=350%"));
	NEAR(judged_number(&judged, found->id, "cgroup.throttled"), 0.8);
	NEAR(judged_number(&judged, found->id, "cgroup.quota"), 2);
	NEAR(judged_number(&judged, found->id, "cgroup.cpus_used"), 2);
	NEAR(judged_number(&judged, found->id, "cgroup.cpus_waiting"), 1.5);
	CU_ASSERT_EQUAL(found->held, 10 * SECOND);
}

/* Version 1 with the controller cpu alone, in a hierarchy without cpuacct: what it used is not known, so no quota that would do
 * is named; the files are those that there are (Documentation/scheduler/sched-bwc.rst). */
static void of_version_1(void)
{
	const struct found *found;

	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		ROW(GROUP, WORD("/web"), NUMBER(0), NUMBER(t * 10), NUMBER(t * 8), NOTHING,
		    NUMBER(t * SECOND / 2), NUMBER(50000), NUMBER(100000), NOTHING, NOTHING,
		    NOTHING, NUMBER(1024));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	found = &judged.found[0];
	CU_ASSERT_PTR_NULL(strstr(found->action, "with "));
	CU_ASSERT_PTR_NULL(strstr(found->action, "cpu.max"));
	CU_ASSERT_PTR_NOT_NULL(strstr(found->action, "cpu.cfs_quota_us"));
	NEAR(judged_number(&judged, found->id, "cgroup.quota"), 0.5);
	NEAR(judged_number(&judged, found->id, "cgroup.cpus_waiting"), 0.5);
	CU_ASSERT_EQUAL(judged_number(&judged, found->id, "cgroup.cpus_used"), -1); /* not there */
}

/* One period in each second, used up: what runs that seldom is not held up. */
static void few_periods(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		ROW(GROUP, WORD("/x"), NUMBER(0), NUMBER(t), NUMBER(t), NUMBER(t), NUMBER(t),
		    NUMBER(1), NUMBER(1), NUMBER(1), NUMBER(1), NUMBER(0));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_TRUE(judged_in(judged.clear, "cgroup.throttled"));
	/* Not by memory.pressure, but by a limit that it never met. */
	CU_ASSERT_TRUE(judged_in(judged.clear, "cgroup.memory_pressure"));
}

static void stalls_row(const char *path, const char *resource, uint64_t ms)
{
	ROW(STALLS, WORD(path), NUMBER(0), WORD(resource), NUMBER(ms * 1000000));
}

/* /s/a stalls for 10 % of the time; so do /s and the root, of which it is a part: it is told alone. /s/ab is another one, below 5 %;
 * what waits for I/O is another matter. */
static void memory_pressure(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		group_row("/s/a", t, 0, 0);
		stalls_row("/", "memory", t * 100);
		stalls_row("/s", "memory", t * 100);
		stalls_row("/s/a", "memory", t * 100);
		stalls_row("/s/ab", "memory", t * 40);
		stalls_row("/s/b", "io", t * 900);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "cgroup /s/a");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "warning");
	CU_ASSERT_STRING_EQUAL(
		judged.found[0].title,
		"All work of cgroup /s/a stood still for want of memory 10.0 % of the time");
	NEAR(judged_number(&judged, "cgroup.memory_pressure", "cgroup.memory"), 800);
	NEAR(judged_number(&judged, "cgroup.memory_pressure", "cgroup.memory_limit"), 1000);
	NEAR(judged_number(&judged, "cgroup.memory_pressure", "cgroup.at_limit"), 50);
}

/* A cgroup that uses `current` of its limit, and met it so often by now. */
static void limited_row(const char *path, uint64_t current, const struct cell *limit,
			uint64_t events)
{
	ROW(GROUP, WORD(path), NUMBER(0), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
	    NUMBER(current), *limit, NUMBER(events));
}

/* Version 1, where only the root has a pressure file: /a thrashes at its 64 MiB; /b is at its limit and reads once what does not fit;
 * /c uses half of its limit, /d meets its limit once a second; the root counts with them all. */
static void at_limit_without_pressure(void)
{
	const struct cell none = NOTHING, limit = NUMBER(64 << 20);
	const struct found *found;

	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		limited_row("/", 1u << 30, &none, t * 12000);
		limited_row("/a", 64 << 20, &limit, t * 9800);
		limited_row("/b", 63 << 20, &limit, t * 500);
		limited_row("/c", 32 << 20, &limit, t * 400);
		limited_row("/d", 64 << 20, &limit, t);
		ROW(STAT_1, WORD("/a"), NUMBER(0), NUMBER(t * 5000));
		ROW(STAT_1, WORD("/b"), NUMBER(0), NUMBER(t * 10));
		stalls_row("/", "memory", t * 300);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 2);
	found = &judged.found[0];
	CU_ASSERT_STRING_EQUAL(found->id, "cgroup.memory_pressure");
	CU_ASSERT_STRING_EQUAL(found->about, "cgroup /a");
	CU_ASSERT_STRING_EQUAL(found->severity, "warning");
	CU_ASSERT_STRING_EQUAL(found->title, "Cgroup /a was at its memory limit of 64 MiB 9800 "
					     "times a second (no memory.pressure: a hint)");
	NEAR(judged_number(&judged, found->id, "cgroup.at_limit"), 9800);
	NEAR(judged_number(&judged, found->id, "cgroup.memory"), 64 << 20);
	NEAR(judged_number(&judged, found->id, "cgroup.memory_limit"), 64 << 20);
	NEAR(judged_number(&judged, found->id, "cgroup.refaults"), 5000);
	CU_ASSERT_STRING_EQUAL(judged.found[1].about, "cgroup /b");
	CU_ASSERT_STRING_EQUAL(judged.found[1].severity, "info");
}

/* With a pressure file, in which hardly a moment is counted, the limit is not looked at. */
static void at_limit_with_pressure(void)
{
	const struct cell limit = NUMBER(64 << 20);

	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		limited_row("/a", 64 << 20, &limit, t * 9800);
		stalls_row("/a", "memory", 7);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_TRUE(judged_in(judged.clear, "cgroup.memory_pressure"));
}

/* What a container sees as the root may have a limit: it is no machine. */
static void root_of_a_container(void)
{
	const struct cell limit = NUMBER(64 << 20);

	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		limited_row("/", 64 << 20, &limit, t * 9800);
		stalls_row("/", "memory", t * 100);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "cgroup /");
	NEAR(judged_number(&judged, "cgroup.memory_pressure", "cgroup.memory_pressure"), 0.1);
}

/* Nothing is clear where the machine alone can be looked at. */
static void root_alone(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		ROW(GROUP, WORD("/a"), NUMBER(0), NUMBER(t * 10), NUMBER(0));
		stalls_row("/", "memory", t * 300);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_TRUE(judged_in(judged.not_judged, "cgroup.memory_pressure"));
	CU_ASSERT_STRING_EQUAL(judged.reason,
			       "no cgroup but / has memory.pressure, and none a memory controller");
}

/* 1.5 CPUs of three that it may have, 400 bytes of 1,600, one kill in ten seconds, in two periods of ten at its quota; the root has
 * none. */
static void metrics(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		struct sonde_row row;

		for (int i = 0; i < 2; i++) {
			ROW(GROUP, WORD(i ? "/a" : "/"), NUMBER(0), NUMBER(t * 10), NUMBER(t * 2),
			    NUMBER(t * SECOND * 3 / 2), NUMBER(0), NUMBER(300000), NUMBER(100000),
			    NUMBER(400), NUMBER(1600), NUMBER(0), NOTHING, NOTHING, NUMBER(t / 10));
		}
		row = stage_row(&stage, GROUP);
		sonde_set_str(&row, 0, "/b");
		sonde_set_u64(&row, 1, 0);
		sonde_set_u64(&row, 4, t * SECOND * 2);
		sonde_set_f64(&row, 12, 2.5);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	/* Heaviest first. */
	NEAR(judged_number(&judged, "", "cgroup.cpus"), 2);
	NEAR(judged_number(&judged, "", "cgroup.cpu_share"), 0.8);
	NEAR(judged_number(&judged, "", "cgroup.throttled"), 0.2);
	NEAR(judged_number(&judged, "", "cgroup.memory"), 400);
	NEAR(judged_number(&judged, "", "cgroup.memory_share"), 0.25);
	NEAR(judged_number(&judged, "", "cgroup.oom_kills"), 0.1);
}

/* Throttled in 8 of 10 periods, for so many seconds. */
static void throttled_for(uint64_t seconds)
{
	open_stage();
	analysis_options(stage.analysis, &instance, options, sizeof options / sizeof options[0]);
	for (uint64_t t = 0; t <= seconds; t++) {
		group_row("/a", t, 8, 1500);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* A second can't hold for `hold`, two can: what can't be found is not clear. */
static void shorter_than_hold(void)
{
	throttled_for(1);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_STRING_EQUAL(judged.clear, " ");
	CU_ASSERT_TRUE(judged_in(judged.not_judged, "cgroup.throttled"));
	CU_ASSERT_STRING_EQUAL(
		judged.reason,
		"1 s were observed, less than hold = 2s; record, or choose, a longer stretch");
	throttled_for(2);
	CU_ASSERT_EQUAL(judged.nfound, 1);
}

CU_TestInfo tests[] = {
	{ "levels of throttling", throttled_levels },
	{ "throttled", throttled },
	{ "of version 1", of_version_1 },
	{ "few periods", few_periods },
	{ "memory pressure", memory_pressure },
	{ "at its limit, without pressure", at_limit_without_pressure },
	{ "at its limit, with pressure", at_limit_with_pressure },
	{ "root of a container", root_of_a_container },
	{ "root alone", root_alone },
	{ "metrics", metrics },
	{ "shorter than hold", shorter_than_hold },
	CU_TEST_INFO_NULL,
};
