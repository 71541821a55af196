/* cpu: /proc/stat. Expected values are those of the text; sums by hand. */
#include "plugins/cpu/cpu.c"

#include "fakehost.h"

const char suite[] = "cpu";

static void sample_text(const char *text)
{
	put("/proc/stat", text);
	CU_ASSERT_EQUAL_FATAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
}

/* Case 14: CPUs 0-1,4-5,8-9,12-13 by the number in the line. */
static void cpus_with_gaps(void)
{
	CU_ASSERT_EQUAL(fake_start("plugins/cpu/fixtures/hotplug"), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("cpu"), 8);
	IS("cpu", "13", "user", "107");
	IS("cpu", "9", "idle", "5000");
	IS("cpu", "2", "user", "no row");
	IS("stat", "", "user", "800");
	fake_end();
}

/* Cases 15 and 16: the row of a CPU that went offline is gone; back, it has what the kernel says. */
static void a_cpu_goes_and_returns(void)
{
	sample_text(
		"cpu  9 0 0 200 0 0 0 0 0 0\ncpu0 4 0 0 100 0 0 0 0 0 0\ncpu3 5 0 0 118089 0 0 0 0 0 0\n");
	IS("cpu", "3", "idle", "118089");
	put("/proc/stat", "cpu  4 0 0 100 0 0 0 0 0 0\ncpu0 4 0 0 100 0 0 0 0 0 0\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("cpu"), 1);
	IS("cpu", "3", "idle", "no row");
	put("/proc/stat",
	    "cpu  4 0 0 100 0 0 0 0 0 0\ncpu0 4 0 0 100 0 0 0 0 0 0\ncpu3 0 0 0 140 0 0 0 0 0 0\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cpu", "3", "idle", "140");
	fake_end();
}

/* Case 18: 8 columns; what is missing is absent. */
static void eight_columns(void)
{
	sample_text("cpu0 63107623 469739856 16332464 4158916418 707099622 2516676 5260527 0\n");
	IS("cpu", "0", "user", "63107623");
	IS("cpu", "0", "softirq", "5260527");
	IS("cpu", "0", "steal", "0");
	IS("cpu", "0", "guest", "-");
	IS("cpu", "0", "guest_nice", "-");
	fake_end();
}

/* Case 20: as the same 32 bits, all else kept. */
static void negative_forks(void)
{
	sample_text("cpu0 1 2 3 4 5 6 7 8 9 10\nctxt 42\nprocesses -1948031333\nprocs_running 3\n");
	IS("stat", "", "processes", "2346935963");
	IS("stat", "", "ctxt", "42");
	IS("stat", "", "procs_running", "3");
	put("/proc/stat", "processes -99999999999\nprocs_running 4\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("stat", "", "processes", "-");
	IS("stat", "", "procs_running", "4");
	fake_end();
}

/* Cases 33 to 35: guest is a part of user; both stay as the kernel says, and the total is the first eight: 6285. */
static void guest_is_inside_user(void)
{
	static const char *const first_eight[] = { "user",   "nice", "system",  "idle",
						   "iowait", "irq",  "softirq", "steal" };
	unsigned long total = 0;

	sample_text("cpu 1000 50 200 5000 10 0 5 20 800 40\n");
	for (int i = 0; i < 8; i++)
		total += strtoul(got("stat", "", first_eight[i]), NULL, 10);
	CU_ASSERT_EQUAL(total, 6285);
	IS("stat", "", "guest", "800");
	IS("stat", "", "guest_nice", "40");
	CU_ASSERT_PTR_NOT_NULL(strstr(stat_columns[8].help, "already in user"));
	fake_end();
}

/* Case 67: the file ends inside the intr line: no btime, and the cut number is not taken. */
static void cut_inside_the_intr_line(void)
{
	sample_text("cpu  1 2 3 4 5 6 7 8 9 10\ncpu159 1 2 3 4 5 6 7 8 9 10\nintr 123456 0 0 1");
	IS("cpu", "159", "guest_nice", "10");
	IS("stat", "", "intr", "123456");
	IS("stat", "", "btime", "-");
	put("/proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu159 1 2 33");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("cpu", "159", "nice", "2");
	IS("cpu", "159", "system", "-");
	fake_end();
}

static void every_line(void)
{
	sample_text(
		"cpu  1 2 3 4 5 6 7 8 9 10 11\nintr 18446744073709551615 1 2\nctxt 3\nbtime 1700000000\n"
		"processes 4\nprocs_running 5\nprocs_blocked 6\nsoftirq 66 1 2 3 4 5 6 7 8 9 10 11\nnewer 7\n");
	IS("stat", "", "intr", "18446744073709551615");
	IS("stat", "", "btime", "1700000000");
	IS("stat", "", "procs_blocked", "6");
	IS("stat", "", "softirqs", "66");
	IS("stat", "", "softirqs_hi", "1");
	IS("stat", "", "softirqs_net_rx", "4");
	IS("stat", "", "softirqs_rcu", "10");
	CU_ASSERT_EQUAL(fake_rows("cpu"), 0);
	fake_end();
}

static void four_thousand_cpus(void)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (int i = 0; i < 4096; i++)
		fprintf(out, "cpu%d %d 0 0 0 0 0 0 0 0 0\n", i, 2 * i);
	fclose(out);
	sample_text(text);
	CU_ASSERT_EQUAL(fake_rows("cpu"), 4096);
	IS("cpu", "4095", "user", "8190");
	fake_end();
	free(text);
}

static void absent(void)
{
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "/proc/stat"));
	fake_end();
}

static void fixtures(void)
{
	fixture("6.18");
	fixture("hotplug");
}

/* Oracles: the number of "cpuN" lines by grep -c, and lscpu's online list (lscpu-expected) by hand. */
static void captured(void)
{
	static const struct {
		const char *tarball, *inside;
		uint32_t cpus;
	} trees[] = {
		{ "corpus/pcp-bigsys-root-hpbl920gen8.tar.xz", "", 480 },
		{ "corpus/hwloc-64amd64-4p2n4ca2co.tar.xz", "64amd64-4p2n4ca2co/fsroot", 64 },
		{ "corpus/procfs-fixtures.tar.xz", "fixtures", 8 },
		{ "vm/fixtures/numa2-6.1-bound.tar.xz", "numa2-6.1-bound/t0", 4 },
	};
	char root[512];

	for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
		if (!shared_tree(trees[i].tarball, trees[i].inside, root, sizeof root))
			continue;
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_EQUAL(fake_rows("cpu"), trees[i].cpus);
		fake_end();
	}
	shared_end();
}

CU_TestInfo tests[] = {
	{ "case 14: CPUs with gaps", cpus_with_gaps },
	{ "cases 15 and 16: a CPU goes and returns", a_cpu_goes_and_returns },
	{ "case 18: eight columns", eight_columns },
	{ "case 20: negative forks", negative_forks },
	{ "cases 33 to 35: guest is inside user", guest_is_inside_user },
	{ "case 67: cut inside the intr line", cut_inside_the_intr_line },
	{ "every line", every_line },
	{ "4,096 CPUs", four_thousand_cpus },
	{ "absent", absent },
	{ "fixtures", fixtures },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
