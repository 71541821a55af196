/* psi: expected values are those of the text, by Documentation/accounting/psi.rst. */
#include "plugins/psi/psi.c"

#include "fakehost.h"

const char suite[] = "psi";

static void fixed_point_and_totals(void)
{
	put("/proc/pressure/cpu",
	    "some avg10=12.34 avg60=0.05 avg300=100.00 total=18446744073709551615\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
	put("/proc/pressure/irq", "full avg10=1.00 avg60=2.00 avg300=3.50 total=7\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("psi"), 2);
	IS("psi", "cpu", "some_avg10", "1234");
	IS("psi", "cpu", "some_avg60", "5");
	IS("psi", "cpu", "some_avg300", "10000");
	IS("psi", "cpu", "some_total", "18446744073709551615");
	IS("psi", "cpu", "full_total", "0");
	IS("psi", "irq", "some_total", "-");
	IS("psi", "irq", "full_total", "7");
	IS("psi", "irq", "full_avg300", "350");
	IS("psi", "memory", "some_total", "no row");
	fake_end();
}

/* Case 8: 5.10 has no full for cpu; absent, not 0. */
static void no_full_for_cpu(void)
{
	put("/proc/pressure/cpu", "some avg10=0.10 avg60=0.21 avg300=0.25 total=73759571709\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("psi", "cpu", "some_total", "73759571709");
	IS("psi", "cpu", "full_total", "-");
	IS("psi", "cpu", "full_avg10", "-");
	fake_end();
}

/* Case 11: both lines of cpu are kept, here as in a cgroup's file. */
static void full_for_cpu_is_kept(void)
{
	static const char text[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=306212315\n"
				   "full avg10=0.00 avg60=0.00 avg300=0.00 total=246733962\n";
	uint64_t have[1] = { 0 }, slots[9];
	struct sonde_row row = { slots, have, NULL };

	CU_ASSERT_EQUAL(psi_parse(text, sizeof text - 1, &row), 0);
	CU_ASSERT_EQUAL(slots[SOME_TOTAL], 306212315);
	CU_ASSERT_EQUAL(slots[FULL_TOTAL], 246733962);
}

static void off_by_default_is_told_at_the_first_read(void)
{
	put_error("/proc/pressure/cpu", EOPNOTSUPP);
	put_error("/proc/pressure/memory", EOPNOTSUPP);
	put_error("/proc/pressure/io", EOPNOTSUPP);
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "psi=1"));
	CU_ASSERT_PTR_NULL(fake.files);
	fake_end();
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "CONFIG_PSI"));
	fake_end();
}

static void newer_lines_and_keys_are_passed_over(void)
{
	static const char text[] =
		"most avg10=9.99 total=1\n"
		"some avg5=8.00 avg10=1.00 avg60=2.00 avg300=3.00 avg900=4.00 total=5\n";
	uint64_t have[1] = { 0 }, slots[9];
	struct sonde_row row = { slots, have, NULL };

	CU_ASSERT_EQUAL(psi_parse(text, sizeof text - 1, &row), 0);
	CU_ASSERT_EQUAL(slots[SOME_AVG10], 100);
	CU_ASSERT_EQUAL(slots[SOME_TOTAL], 5);
}

/* Cut at every byte: a value is the whole one or absent. */
static void cut_anywhere(void)
{
	static const char text[] = "some avg10=12.34 avg60=5.67 avg300=8.90 total=1234567\n";

	for (size_t n = 0; n < sizeof text; n++) {
		uint64_t have[1] = { 0 }, slots[9];
		struct sonde_row row = { slots, have, NULL };
		char *bytes = malloc(n + 1);

		memcpy(bytes, text, n);
		psi_parse(bytes, n, &row);
		CU_ASSERT(!sonde_has(&row, SOME_AVG10) || slots[SOME_AVG10] == 1234);
		CU_ASSERT(!sonde_has(&row, SOME_TOTAL) || slots[SOME_TOTAL] == 1234567);
		CU_ASSERT_EQUAL(sonde_has(&row, SOME_TOTAL),
				n == sizeof text - 1 || n == sizeof text);
		free(bytes);
	}
}

static void one_resource_fails_the_others_stay(void)
{
	put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
	put("/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	put_error("/proc/pressure/cpu", EIO);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(fake.frame.partial);
	IS("psi", "io", "some_total", "2");
	put_error("/proc/pressure/io", EIO);
	CU_ASSERT_EQUAL(fake_sample(), -EIO);
	fake_end();
}

static void fixtures(void)
{
	fixture("6.18");
	fixture("5.10");
}

/* Oracle: the text of the tree. */
static void captured(void)
{
	char root[512];

	if (shared_tree("corpus/pcp-pressure-root-001.tar.xz", "", root, sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_EQUAL(fake_rows("psi"), 3);
		fake_end();
	}
	if (shared_tree("vm/fixtures/numa2-6.1-bound.tar.xz", "numa2-6.1-bound/t0", root,
			sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		IS("psi", "cpu", "some_total", "808380");
		IS("psi", "cpu", "some_avg10", "543");
		IS("psi", "io", "full_total", "917");
		fake_end();
	}
	if (shared_tree("vm/fixtures/numa2-6.1-nopsi.tar.xz", "numa2-6.1-nopsi/t0", root,
			sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), -ENODEV);
		fake_end();
	}
	shared_end();
}

CU_TestInfo tests[] = {
	{ "fixed point and totals", fixed_point_and_totals },
	{ "case 8: no full for cpu", no_full_for_cpu },
	{ "case 11: full for cpu is kept", full_for_cpu_is_kept },
	{ "off by default is told at the first read", off_by_default_is_told_at_the_first_read },
	{ "newer lines and keys are passed over", newer_lines_and_keys_are_passed_over },
	{ "cut anywhere", cut_anywhere },
	{ "one resource fails, the others stay", one_resource_fails_the_others_stay },
	{ "fixtures", fixtures },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
