/* schedstat: versions 14 to 17. The fixtures count up in every line (100, 101, ...), so that a number tells its place; which
 * place is which counter is Documentation/scheduler/sched-stats.rst and kernel/sched/stats.c. */
#include "plugins/schedstat/schedstat.c"

#include "fakehost.h"

const char suite[] = "schedstat";

static void sample_text(const char *text)
{
	put("/proc/schedstat", text);
	CU_ASSERT_EQUAL_FATAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
}

/* Groups idle, busy, newly idle, eight numbers each, then twelve. */
static void version_15(void)
{
	CU_ASSERT_EQUAL(fake_start("plugins/schedstat/fixtures/v15"), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("schedstat"), 2);
	CU_ASSERT_EQUAL(fake_rows("schedstat_domain"), 4);
	IS("schedstat", "1", "yld_count", "2001");
	IS("schedstat", "1", "sched_count", "2003");
	IS("schedstat", "1", "sched_goidle", "2004");
	IS("schedstat", "1", "ttwu_count", "2005");
	IS("schedstat", "1", "ttwu_local", "2006");
	IS("schedstat", "1", "run_time", "1594167463");
	IS("schedstat", "1", "run_delay", "247304125");
	IS("schedstat", "1", "pcount", "2009");
	IS("schedstat_domain", "0 0 ", "cpus", "0-1");
	IS("schedstat_domain", "0 1 ", "cpus", "0-3,32-39");
	IS("schedstat_domain", "0 0 ", "lb_count_idle", "1100");
	IS("schedstat_domain", "0 0 ", "lb_imbalance_idle", "1103");
	IS("schedstat_domain", "0 0 ", "lb_gained_idle", "1104");
	IS("schedstat_domain", "0 0 ", "lb_nobusyg_idle", "1107");
	IS("schedstat_domain", "0 0 ", "lb_count_busy", "1108");
	IS("schedstat_domain", "0 0 ", "lb_count_newidle", "1116");
	IS("schedstat_domain", "0 0 ", "lb_imbalance_load_idle", "-");
	IS("schedstat_domain", "1 1 ", "alb_count", "2224");
	IS("schedstat_domain", "1 1 ", "ttwu_wake_remote", "2233");
	IS("schedstat_domain", "1 1 ", "ttwu_move_affine", "2234");
	IS("schedstat_domain", "1 1 ", "ttwu_move_balance", "2235");
	IS("schedstat_state", "", "version", "15");
	IS("schedstat_state", "", "timestamp", "4294893228");
	IS("schedstat_state", "", "enabled", "1");
	CU_ASSERT_STRING_EQUAL(fake.notes, "");
	fake_end();
}

/* Case 71: a name before the mask, 45 numbers, busy before idle, the imbalance in four. */
static void version_17(void)
{
	CU_ASSERT_EQUAL(fake_start("plugins/schedstat/fixtures/v17"), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("schedstat_domain", "0 0 MC", "cpus", "0-1");
	IS("schedstat_domain", "0 1 NUMA", "cpus", "0-3");
	IS("schedstat_domain", "0 0 MC", "lb_count_busy", "1100");
	IS("schedstat_domain", "0 0 MC", "lb_imbalance_busy", "-");
	IS("schedstat_domain", "0 0 MC", "lb_imbalance_load_busy", "1103");
	IS("schedstat_domain", "0 0 MC", "lb_imbalance_util_busy", "1104");
	IS("schedstat_domain", "0 0 MC", "lb_imbalance_task_busy", "1105");
	IS("schedstat_domain", "0 0 MC", "lb_imbalance_misfit_busy", "1106");
	IS("schedstat_domain", "0 0 MC", "lb_gained_busy", "1107");
	IS("schedstat_domain", "0 0 MC", "lb_count_idle", "1111");
	IS("schedstat_domain", "0 0 MC", "lb_count_newidle", "1122");
	IS("schedstat_domain", "0 0 MC", "alb_count", "1133");
	IS("schedstat_domain", "0 0 MC", "ttwu_move_balance", "1144");
	IS("schedstat_state", "", "enabled", "0");
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "kernel.sched_schedstats=1"));
	fake_end();
}

static char *domain_text(const char *head, int first, int count)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fprintf(out, "%s", head);
	for (int i = 0; i < count; i++)
		fprintf(out, " %d", first + i);
	fprintf(out, "\n");
	fclose(out);
	return text;
}

/* Case 71: 16 has 15's layout with busy before idle; a state of git printed 17's layout as 16. */
static void version_16_and_the_state_between(void)
{
	char *text =
		domain_text("version 16\ntimestamp 1\ncpu2 1 2 3 4 5 6 7 8 9\ndomain0 f", 1, 36);

	sample_text(text);
	free(text);
	IS("schedstat_domain", "2 0 ", "lb_count_busy", "1");
	IS("schedstat_domain", "2 0 ", "lb_count_idle", "9");
	IS("schedstat_domain", "2 0 ", "ttwu_move_balance", "36");
	text = domain_text("version 16\ntimestamp 1\ncpu2 1 2 3 4 5 6 7 8 9\ndomain0 SMT f", 1, 45);
	put("/proc/schedstat", text);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	free(text);
	IS("schedstat_domain", "2 0 SMT", "lb_count_idle", "12");
	IS("schedstat_domain", "2 0 SMT", "ttwu_move_balance", "45");
	fake_end();
}

/* Case 71: of an unknown version the CPU lines alone; and lines of another length are none. */
static void unknown_version(void)
{
	char *text = domain_text("version 18\ntimestamp 1\ncpu0 1 0 3 4 5 6 7 8 9\ndomain0 SMT f",
				 1, 45);

	sample_text(text);
	free(text);
	IS("schedstat", "0", "run_delay", "8");
	CU_ASSERT_EQUAL(fake_rows("schedstat_domain"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "version 18"));
	text = domain_text("version 17\ntimestamp 1\ncpu0 1 0 3 4 5 6 7 8 9\ndomain0 SMT f", 1, 46);
	put("/proc/schedstat", text);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	free(text);
	CU_ASSERT_EQUAL(fake_rows("schedstat_domain"), 0);
	fake_end();
}

/* Case 70: vendor lines between a CPU and its domain. */
static void vendor_lines(void)
{
	char *text = domain_text("version 15\ntimestamp 1\ncpu0 9703 0 227370 1 2 3 4 5 6\n"
				 "eas 50510 0 0 29148 0 0\ndomain0 0f",
				 1, 36);
	char *more = domain_text("eas 0 0 0\ncpu1 1 0 2 3 4 5 6 7 8\neas 1\ndomain0 0f", 101, 36);
	char both[4096];

	snprintf(both, sizeof both, "%s%s", text, more);
	sample_text(both);
	IS("schedstat", "0", "sched_count", "227370");
	IS("schedstat_domain", "0 0 ", "lb_count_idle", "1");
	IS("schedstat_domain", "1 0 ", "lb_count_idle", "101");
	CU_ASSERT_EQUAL(fake_rows("schedstat"), 2);
	free(text);
	free(more);
	fake_end();
}

/* Case 74: without CONFIG_SCHEDSTATS it is unavailable, not "no waiting". */
static void absent(void)
{
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "CONFIG_SCHEDSTATS"));
	fake_end();
}

/* 2.6.20 to 2.6.23: twelve numbers; the times are in a unit that cannot be told. */
static void twelve_numbers(void)
{
	sample_text("version 14\ntimestamp 1\ncpu0 1 2 3 4 5 6 7 8 9 10 11 12\n");
	IS("schedstat", "0", "yld_count", "4");
	IS("schedstat", "0", "sched_count", "6");
	IS("schedstat", "0", "sched_goidle", "7");
	IS("schedstat", "0", "ttwu_local", "9");
	IS("schedstat", "0", "run_time", "-");
	IS("schedstat", "0", "run_delay", "-");
	IS("schedstat", "0", "pcount", "12");
	fake_end();
}

static void wraps_are_told(void)
{
	static const uint32_t wraps32[] = { YLD_COUNT, SCHED_COUNT, SCHED_GOIDLE, TTWU_COUNT,
					    TTWU_LOCAL };

	for (size_t i = 0; i < sizeof wraps32 / sizeof wraps32[0]; i++)
		CU_ASSERT_EQUAL(cpu_columns[wraps32[i]].wrap, 32);
	CU_ASSERT_EQUAL(cpu_columns[RUN_DELAY].wrap, 0);
	for (uint32_t i = GROUP_FIELDS; i < sizeof domain_columns / sizeof domain_columns[0]; i++)
		CU_ASSERT_EQUAL(domain_columns[i].wrap, 32);
	CU_ASSERT_EQUAL(sizeof domain_columns / sizeof domain_columns[0], BEHIND + BEHIND_GROUPS);
}

/* Expected: by hand; bit n of the mask, read from its right end, is CPU n. */
static void masks(void)
{
	static const char *const cases[][2] = {
		{ "3", "0-1" },
		{ "c", "2-3" },
		{ "f", "0-3" },
		{ "5", "0,2" },
		{ "ffffffff,ffffffff", "0-63" },
		{ "00000001,0000000c", "2-3,32" },
		{ "80000000,00000000", "63" },
		{ "0", "" },
		{ "g", "" },
		{ "7ff0", "4-14" },
	};
	char list[64];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct word mask = { cases[i][0], strlen(cases[i][0]) };
		size_t n = mask_list(mask, list, sizeof list);

		CU_ASSERT_EQUAL(n, strlen(cases[i][1]));
		CU_ASSERT_EQUAL(memcmp(list, cases[i][1], n), 0);
	}
	CU_ASSERT_EQUAL(mask_list((struct word) { "55555555", 8 }, list, 10), 0); /* does not fit */
}

static void fixtures(void)
{
	fixture("v15");
	fixture("v17");
}

/* Oracle: the README beside the trees (versions, groups), values by eye. */
static void captured(void)
{
	char root[512];

	if (shared_tree("vm/fixtures/numa2-7.2-bound.tar.xz", "numa2-7.2-bound/t0", root,
			sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_EQUAL(fake_rows("schedstat"), 4);
		CU_ASSERT_EQUAL(fake_rows("schedstat_domain"), 8);
		IS("schedstat_domain", "2 0 MC", "lb_imbalance_load_busy", "1817");
		IS("schedstat_domain", "2 1 NUMA", "ttwu_move_affine", "4");
		IS("schedstat", "3", "run_delay", "237839900");
		fake_end();
	}
	if (shared_tree("vm/fixtures/numa2-6.1-nostats.tar.xz", "numa2-6.1-nostats/t1", root,
			sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		IS("schedstat_state", "", "enabled", "0");
		IS("schedstat", "0", "ttwu_count", "0");
		CU_ASSERT_NOT_EQUAL(strtoull(got("schedstat", "0", "run_delay"), NULL, 10), 0);
		fake_end();
	}
	if (shared_tree("vm/fixtures/numa2-6.1-offline.tar.xz", "numa2-6.1-offline/t1", root,
			sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT(fake_rows("schedstat") < 4);
		fake_end();
	}
	if (shared_tree("corpus/procfs-fixtures.tar.xz", "fixtures", root, sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		IS("schedstat", "1", "run_delay", "364107263788241");
		IS("schedstat_domain", "1 0 ", "cpus", "0-1");
		fake_end();
	}
	shared_end();
}

CU_TestInfo tests[] = {
	{ "version 15", version_15 },
	{ "case 71: version 17", version_17 },
	{ "case 71: version 16 and the state between", version_16_and_the_state_between },
	{ "case 71: an unknown version", unknown_version },
	{ "case 70: vendor lines", vendor_lines },
	{ "case 74: absent", absent },
	{ "twelve numbers", twelve_numbers },
	{ "wraps are told", wraps_are_told },
	{ "masks", masks },
	{ "fixtures", fixtures },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
