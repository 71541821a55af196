/* analyzers/config: settings, each told of a single instant. */
#include "analyzers/config/config.c"

#include "made.h"
#include "test.h"

const char suite[] = "analyzer config";

enum { NUMA, SYSCTL, CPU, TABLES };
static const struct sonde_column numa_columns[] = { KEY("node"), EVENTS("numa_hit") };
static const struct sonde_column sysctl_columns[] = { KEY_TEXT("name"), STATE("number") };
static const struct sonde_column cpu_columns[] = {
	KEY("cpu"),
	TEXT("scaling_governor"),
	TEXT("scaling_driver"),
	MADE("scaling_max_freq", SONDE_U64, SONDE_STATE, SONDE_BASE_HZ, 1000, NULL),
	MADE("cpuinfo_max_freq", SONDE_U64, SONDE_INFO, SONDE_BASE_HZ, 1000, NULL),
};
static const struct sonde_table tables[TABLES] = {
	[NUMA] = { .name = "numa", .columns = SONDE_COLUMNS(numa_columns) },
	[SYSCTL] = { .name = "sysctl", .columns = SONDE_COLUMNS(sysctl_columns) },
	[CPU] = { .name = "topology_cpu", .columns = SONDE_COLUMNS(cpu_columns) },
};

#include "judging.h"

static void judge_settings(uint64_t nodes, uint64_t reclaim, uint64_t paranoid_is,
			   const char *governor_is, const char *driver)
{
	open_stage();
	for (uint64_t t = 0; t < 2; t++) {
		for (uint64_t node = 0; node < nodes; node++)
			ROW(NUMA, NUMBER(node), NUMBER(t));
		/* Read at the start alone. */
		for (uint64_t cpu = 0; cpu < 4 && !t; cpu++)
			ROW(CPU, NUMBER(cpu), WORD(governor_is), WORD(driver), NUMBER(3500000),
			    NUMBER(3500000));
		if (!t) {
			ROW(SYSCTL, WORD("vm.zone_reclaim_mode"), NUMBER(reclaim));
			ROW(SYSCTL, WORD("kernel.perf_event_paranoid"), NUMBER(paranoid_is));
		}
		stage_tick(&stage, AT(t));
		stage.omit[SYSCTL] = stage.omit[CPU] = true;
	}
	judge_and_close();
}

/* kHz that each of these CPUs may have, of 3,500,000. */
static void judge_frequencies(const uint64_t *allowed, uint64_t cpus)
{
	open_stage();
	for (uint64_t t = 0; t < 2; t++) {
		stage.omit[CPU] = true;
		for (uint64_t cpu = 0; cpu < cpus; cpu++)
			ROW(CPU, NUMBER(cpu), WORD("performance"), WORD("intel_pstate"),
			    NUMBER(allowed[cpu]), NUMBER(3500000));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

/* Two of four are below nine tenths; nine tenths exactly are not. */
static void frequency_capped(void)
{
	judge_frequencies((const uint64_t[]) { 3500000, 1200000, 2000000, 3150000 }, 4);
	CU_ASSERT_EQUAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "config.frequency_capped");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "warning");
	CU_ASSERT_STRING_EQUAL(judged.found[0].title,
			       "2 of 4 CPUs may run at 1.20 GHz at most, though they have 3.50");
	NEAR(judged_number(&judged, "config.frequency_capped", "config.frequency_allowed"), 1.2e9);
	NEAR(judged_number(&judged, "config.frequency_capped", "config.frequency_hardware"), 3.5e9);
	/* Overclocked, too. */
	judge_frequencies((const uint64_t[]) { 3500000, 3900000 }, 2);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT(judged_in(judged.clear, "config.frequency_capped"));
}

static void costly(void)
{
	judge_settings(2, 1, 3, "powersave", "acpi-cpufreq");
	CU_ASSERT_EQUAL(judged.nfound, 3);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "config.zone_reclaim");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "warning");
	CU_ASSERT_STRING_EQUAL(judged.found[0].title, "vm.zone_reclaim_mode is 1");
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "config.governor")->severity, "info");
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "config.governor")->title,
			       "CPUs have governor powersave under driver acpi-cpufreq");
	NEAR(judged_number(&judged, "config.perf_paranoid", "kernel.perf_event_paranoid"), 3);
}

/* One node has nobody to reclaim for; intel_pstate's powersave is a balanced choice of its own. */
static void harmless(void)
{
	judge_settings(1, 1, 2, "powersave", "intel_pstate");
	CU_ASSERT_EQUAL(judged.nfound, 0);
	judge_settings(2, 0, 2, "powersave", "amd-pstate-epp");
	CU_ASSERT_EQUAL(judged.nfound, 0);
	judge_settings(2, 0, 1, "schedutil", "acpi-cpufreq");
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_STRING_EQUAL(judged.not_judged, " ");
}

/* A machine without frequency control, as most virtual ones are: there is nothing to judge. */
static void nothing_to_judge(void)
{
	char why[128];

	made_stage(&stage, tables, TABLES);
	CU_ASSERT_EQUAL_FATAL(analysis_add(stage.analysis, &instance, &ops, why, sizeof why), 0);
	for (uint64_t t = 0; t < 2; t++) {
		ROW(SYSCTL, WORD("vm.swappiness"), NUMBER(60));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_STRING_EQUAL(judged.not_judged,
			       " config.zone_reclaim config.governor config.frequency_capped "
			       "config.perf_paranoid ");
}

/* What was read at the start holds in each window of a live analysis, until something else is read, at 25 s. */
static void every_window(void)
{
	static const char *const states[] = { "opened", "holding", "closed", "" };

	open_stage();
	for (uint64_t t = 0; t < 40; t++) {
		struct sonde_view views[RECORD_TABLES] = { 0 };
		struct sonde_frame records;
		char state[16] = "";

		ROW(NUMA, NUMBER(0), NUMBER(t));
		stage.omit[SYSCTL] = true;
		if (t == 0 || t == 25)
			ROW(SYSCTL, WORD("kernel.perf_event_paranoid"), NUMBER(t ? 2 : 4));
		stage_tick(&stage, AT(t));
		if (t % 10 != 9)
			continue;
		CU_ASSERT_EQUAL_FATAL(records_make(&records), 0);
		CU_ASSERT_EQUAL(analysis_live(stage.analysis, AT(t), &records), 0);
		frame_views(&records, views);
		if (views[RECORD_FINDING].nrows)
			judged_text(state, sizeof state, &views[RECORD_FINDING], 0, FINDING_STATE);
		CU_ASSERT_STRING_EQUAL(state, states[t / 10]);
		frame_free(&records);
	}
	stage_close(&stage);
}

CU_TestInfo tests[] = {
	{ "frequency capped", frequency_capped }, { "settings that cost", costly },
	{ "harmless settings", harmless },        { "nothing to judge", nothing_to_judge },
	{ "every window", every_window },         CU_TEST_INFO_NULL,
};
