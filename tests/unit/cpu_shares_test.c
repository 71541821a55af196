/* analyzers/cpu: shares of the CPUs' time, from rows made by hand; the expected values are worked out from them beside each test. Numbers
 * in brackets name the cases, taken from public bug reports, that a test answers. */
#include "cpu_analyzer.h"

const char suite[] = "analyzer cpu, shares";

/* 10 of 100 ticks stolen, 20 idle in iowait, on each of two CPUs. */
static void steal_and_iowait(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		const uint64_t times[10] = { t * 30, 0, 0, t * 40, t * 20, 0, 0, t * 10, 0, 0 };

		times_row(ON_CPU, 0, times);
		times_row(ON_CPU, 1, times);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 2);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cpu.steal");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "warning");
	NEAR(judged_number(&judged, "cpu.steal", "cpu.steal"), 0.1);
	CU_ASSERT_STRING_EQUAL(judged.found[1].id, "cpu.iowait");
	CU_ASSERT_STRING_EQUAL(judged.found[1].severity, "info");
	NEAR(judged_number(&judged, "cpu.iowait", "cpu.iowait"), 0.2);
}

/* [31] CPU 2's steal time falls by 8e8 each second while its idle time grows: no finding, for days. */
static void steal_that_goes_back(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		times_row(ON_CPU, 2,
			  (uint64_t[10]) { t * 5, 0, 0, t * 95, 0, 0, 0, 9100000000 - t * 800000000,
					   0, 0 });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_PTR_NULL(judged_find(&judged, "cpu.steal"));
	CU_ASSERT_PTR_NULL(strstr(judged.clear, " cpu.steal "));
	CU_ASSERT_PTR_NOT_NULL(strstr(judged.not_judged, " cpu.steal "));
	CU_ASSERT_PTR_NOT_NULL(strstr(judged.clear, " cpu.iowait "));
}

/* Of one CPU alone it goes back: the other's is judged, and is 0 of 100 ticks. */
static void steal_of_one_cpu_that_goes_back(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		for (uint64_t cpu = 0; cpu < 2; cpu++)
			times_row(ON_CPU, (int)cpu,
				  (uint64_t[10]) { t * 5, 0, 0, t * 95, 0, 0, 0,
						   cpu ? 9100000000 - t * 800000000 : 0, 0, 0 });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_PTR_NOT_NULL(strstr(judged.clear, " cpu.steal "));
}

/* [34] cpu 1000 50 200 5000 10 0 5 20 800 40 in one second: of 6285, guest not counted twice, 1255 are work; [35] of which a tree that
 * runs virtual machines did 314. */
static void total_of_eight(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		tree_row(t * 314);
		psi_row(t * 600000);
		times_row(ON_STAT, -1,
			  (uint64_t[10]) { t * 1000, t * 50, t * 200, t * 5000, t * 10, 0, t * 5,
					   t * 20, t * 800, t * 40 });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	NEAR(judged_number(&judged, "", "cpu.utilisation"), 1255.0 / 6285);
	NEAR(judged_number(&judged, "", "cpu.user"), 200.0 / 6285);
	NEAR(judged_number(&judged, "", "cpu.nice"), 10.0 / 6285);
	NEAR(judged_number(&judged, "", "cpu.guest"), 840.0 / 6285);
	NEAR(judged_number(&judged, "", "cpu.steal"), 20.0 / 6285);
	NEAR(judged_number(&judged, "cpu.saturation", "cpu.tree_share"), 314.0 / 1255);
}

CU_TestInfo tests[] = {
	{ "steal and iowait", steal_and_iowait },
	{ "case 31: steal that goes back", steal_that_goes_back },
	{ "steal of one CPU that goes back", steal_of_one_cpu_that_goes_back },
	{ "cases 33 to 35: the total is eight columns", total_of_eight },
	CU_TEST_INFO_NULL,
};
