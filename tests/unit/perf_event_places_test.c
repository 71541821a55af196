/* perf_event: which CPUs, which threads, for whom; on the machines and the kernel of perf_event_kernel.h. */
#include "perf_event_kernel.h"

const char suite[] = "perf_event_places";

/* ---- CPUs */

static void isolated_cpus_are_left_alone(void)
{
	static const uint32_t named[] = { 1 };

	SECTION("core");
	put_zen3();
	put("/sys/devices/system/cpu/isolated", "1\n");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("perf_event_core"), 1);
	for (int i = 0; i < kernel.nevents; i++)
		CU_ASSERT_EQUAL(kernel.event[i].cpu, 0);
	CU_ASSERT(noted("1 isolated CPUs are left alone"));
	finish();

	put_zen3();
	put("/sys/devices/system/cpu/isolated", "1\n");
	conf.cpus = (struct sonde_cpulist) { named, 1, 0 };
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_core", "cpu 1", "cycles", "1000");
	IS("perf_event_core", "cpu 0", "cycles", "no row");
	finish();
}

static int offline(const struct perf_event_attr *attr, int pid, int cpu)
{
	char online[16];

	(void)attr, (void)pid;
	pmu_line(&fake.self, online, sizeof online, "/sys/devices/system/cpu/online");
	return strcmp(online, "1") == 0 && cpu == 0 ? ENODEV : 0;
}

/* Case 135: CPU 0 is offline; then it comes, and is counted from its beginning. */
static void cpus_come_and_go(void)
{
	SECTION("core");
	put_zen3();
	put("/sys/devices/system/cpu/online", "1\n");
	kernel.refuses = offline;
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("perf_event_core"), 1);
	IS("perf_event_core", "cpu 1", "cycles", "1000");
	IS("perf_event", "core cycles cpu", "failed", "0");

	put("/sys/devices/system/cpu/online", "0-1\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_core", "cpu 0", "cycles", "1000");
	IS("perf_event", "core cycles cpu", "opened", "2");
	put("/sys/devices/system/cpu/online", "1\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_core", "cpu 0", "cycles", "no row");
	IS("perf_event", "core cycles cpu", "opened", "1");
	/* Nothing is tried again and again. */
	int before = kernel.nevents;
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(kernel.nevents, before);
	finish();
}

static int second_is_gone(const struct perf_event_attr *attr, int pid, int cpu)
{
	(void)attr, (void)pid;
	return cpu == 2 ? ENODEV : 0;
}

/* Case 99: CPUs that are possible are not asked for, those online are, wherever they are; one that has just gone takes no other
 * with it. */
static void online_cpus_alone(void)
{
	static const struct {
		const char *online;
		uint32_t rows;
		int last;
	} machines[] = { { "0-3\n", 3, 3 }, { "0-11,16-27\n", 23, 27 } };

	for (int i = 0; i < 2; i++) {
		char last[16];

		SECTION("core");
		put_zen3();
		put("/sys/devices/system/cpu/possible", "0-127\n");
		put("/sys/devices/system/cpu/present", "0-127\n");
		put("/sys/devices/system/cpu/online", machines[i].online);
		kernel.refuses = second_is_gone;
		CU_ASSERT_EQUAL_FATAL(begin(), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_EQUAL(fake_rows("perf_event_core"), machines[i].rows);
		snprintf(last, sizeof last, "cpu %d", machines[i].last);
		IS("perf_event_core", last, "cycles", "1000");
		IS("perf_event_core", "cpu 2", "cycles", "no row");
		for (int n = 0; n < kernel.nevents; n++) {
			int cpu = kernel.event[n].cpu;

			CU_ASSERT(cpu <= machines[i].last && (cpu < 12 || cpu >= 16));
		}
		finish();
	}
}

/* Cases 133 and 134: each thread that there is has its own descriptor, all of one row; the events are those of CPUs. */
static void threads_are_one_row(void)
{
	static const char *const pids[] = { "42" };

	SECTION("core");
	put_zen3();
	put("/proc/42/task/42/stat",
	    "42 (a) b (c) S 1 42 42 0 -1 0 0 0 0 0 1 2 0 0 20 0 3 0 777 1 1\n");
	put("/proc/42/task/43/stat", "43 (w) S 1 42 42 0 -1 0 0 0 0 0 1 2 0 0 20 0 3 0 778 1 1\n");
	put("/proc/42/task/44/stat", "44 (w) S 1 42 42 0 -1 0 0 0 0 0 1 2 0 0 20 0 3 0 779 1 1\n");
	conf.pids = (struct sonde_list) { pids, 1, 0 };
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(kernel.nevents, 4 + 3 * 4);
	for (int i = 4; i < kernel.nevents; i++) {
		CU_ASSERT_EQUAL(kernel.event[i].pid, 42 + (i - 4) / 4);
		CU_ASSERT_EQUAL(kernel.event[i].cpu, -1);
		CU_ASSERT(kernel.event[i].attr.inherit);
	}
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_core_process", "cpu 42 777", "cycles", "3000");
	IS("perf_event_core_process", "cpu 42 777", "time_running", "3000000000");
	IS("perf_event_core_process", "cpu 42 777", "comm", "a) b (c");
	finish();
}

static int one_thread_denies(const struct perf_event_attr *attr, int pid, int cpu)
{
	(void)cpu;
	return attr->config == PERF_COUNT_HW_INSTRUCTIONS && pid == 44 ? EACCES : 0;
}

/* A sum that lacks a thread is no count of the process. */
static void a_part_is_no_count(void)
{
	static const char *const pids[] = { "42" };

	SECTION("core");
	put_zen3();
	put("/proc/42/task/42/stat", "42 (a) S 1 42 42 0 -1 0 0 0 0 0 1 2 0 0 20 0 2 0 777 1 1\n");
	put("/proc/42/task/44/stat", "44 (w) S 1 42 42 0 -1 0 0 0 0 0 1 2 0 0 20 0 2 0 779 1 1\n");
	conf.pids = (struct sonde_list) { pids, 1, 0 };
	kernel.refuses = one_thread_denies;
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_core_process", "cpu 42 777", "cycles", "2000");
	IS("perf_event_core_process", "cpu 42 777", "instructions", "-");
	finish();
}

static int no_kernel(const struct perf_event_attr *attr, int pid, int cpu)
{
	(void)pid, (void)cpu;
	return attr->exclude_kernel ? 0 : EACCES;
}

/* An ordinary user counts his own program outside of the kernel; what happens only there would be 0, and is refused. */
static void an_ordinary_user(void)
{
	static const char *const pids[] = { "42" };

	SECTION("core", "soft = {page-faults,context-switches}");
	put_zen3();
	put("/proc/42/task/42/stat", "42 (a) S 1 42 42 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 777 1 1\n");
	conf.pids = (struct sonde_list) { pids, 1, 0 };
	kernel.refuses = no_kernel;
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event", "core cycles cpu", "user_only", "1");
	IS("perf_event", "soft page_faults software", "user_only", "1");
	IS("perf_event", "soft context_switches software", "opened", "0");
	CU_ASSERT_FALSE(has_column("perf_event_soft_process", "context_switches"));
	CU_ASSERT(noted("kernel.perf_event_paranoid is 2; with CAP_PERFMON"));
	finish();
}

CU_TestInfo tests[] = {
	{ "isolated CPUs are left alone", isolated_cpus_are_left_alone },
	{ "case 135: CPUs come and go", cpus_come_and_go },
	{ "case 99: online CPUs alone", online_cpus_alone },
	{ "threads are one row", threads_are_one_row },
	{ "a part is no count", a_part_is_no_count },
	{ "an ordinary user", an_ordinary_user },
	CU_TEST_INFO_NULL,
};
