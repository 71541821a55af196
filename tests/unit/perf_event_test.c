/* perf_event on machines and a kernel of this test's own (perf_event_kernel.h). Expected columns are those of the vendors'
 * manuals (group files), numbers those that this kernel gives; each case is one of other tools' defects. */
#include "perf_event_kernel.h"

const char suite[] = "perf_event";

/* ---- Names of columns are what is counted */

static void intel_has_a_last_level(void)
{
	section(NULL, 0, NULL, 0);
	put_sapphire_rapids();
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(has_column("perf_event_llc", "llc_misses"));
	CU_ASSERT(has_column("perf_event_core", "stalled_cycles_llc_miss"));
	CU_ASSERT_PTR_NULL(fake_table("perf_event_cache"));
	IS("perf_event_llc", "cpu 1", "llc_misses", "1002");
	IS("perf_event", "llc llc_misses cpu", "config", "3");
	/* CYCLE_ACTIVITY.STALLS_TOTAL: event A3H, umask 4, cmask 4 (bits 24-31). */
	IS("perf_event", "core stalled_cycles cpu", "config", "67110051");
	IS("perf_event_metric", "core ipc cpu", "formula", "instructions / cycles");
	finish();
}

static void zen_has_it_outside_of_the_core(void)
{
	static const char *const pids[] = { "42" };

	section(NULL, 0, NULL, 0);
	put_zen3();
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(has_column("perf_event_cache", "l2_misses"));
	CU_ASSERT_FALSE(has_column("perf_event_cache", "cache_misses"));
	CU_ASSERT_PTR_NULL(fake_table("perf_event_llc"));
	IS("perf_event", "llc llc_misses cpu", "opened", "0");
	finish();

	put_zen3();
	put(PMU_FOLDER "/amd_l3/type", "11\n");
	put(PMU_FOLDER "/amd_l3/cpumask", "0\n");
	put(PMU_FOLDER "/amd_l3/format/event", "config:0-7\n");
	put(PMU_FOLDER "/amd_l3/format/umask", "config:8-15\n");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("perf_event_llc"), 1);
	CU_ASSERT(has_column("perf_event_llc", "llc_misses"));
	IS("perf_event", "llc llc_misses amd_l3", "type", "11");
	IS("perf_event", "llc llc_misses amd_l3", "config",
	   "260"); /* L3LookupState 04H, umask 01H */
	IS("perf_event_metric", "llc llc_miss_share amd_l3", "unit", "share");
	finish();

	/* It knows no processes. */
	put_zen3();
	put("/proc/42/task/42/stat", "42 (a) S 1 42 42 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 777 1 1\n");
	put(PMU_FOLDER "/amd_l3/type", "11\n");
	put(PMU_FOLDER "/amd_l3/cpumask", "0\n");
	put(PMU_FOLDER "/amd_l3/format/event", "config:0-7\n");
	put(PMU_FOLDER "/amd_l3/format/umask", "config:8-15\n");
	conf.pids = (struct sonde_list) { pids, 1, 0 };
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT(has_column("perf_event_cache_process", "l2_misses"));
	CU_ASSERT_PTR_NULL(fake_table("perf_event_llc_process"));
	CU_ASSERT(noted("needs a section without pids"));
	finish();
}

/* Dispatch slots: six a cycle on Zen 4, eight on Zen 5, which is the column's scale; what is counted is cycles. */
static void zen_has_slots_in_each_cycle(void)
{
	static const int models[][3] = { { 25, 0x11, 6 }, { 26, 0x02, 8 } };

	for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
		const struct sonde_schema *schema;

		SECTION("topdown");
		put_x86("AuthenticAMD", models[i][0], models[i][1]);
		CU_ASSERT_EQUAL_FATAL(begin(), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		schema = fake_table("perf_event_topdown")->schema;
		CU_ASSERT_EQUAL(schema->columns[schema_column(schema, "slots")].scale_mul,
				(uint32_t)models[i][2]);
		IS("perf_event_topdown", "cpu 0", "slots", "1000");
		IS("perf_event", "topdown slots cpu", "config", "0"); /* PERF_COUNT_HW_CPU_CYCLES */
		/* PMCx1A0: A0H in bits 0-7, 1 in bits 32-35; umask 1. */
		IS("perf_event", "topdown slots_frontend_bound cpu", "config", "4294967712");
		finish();
	}
}

static void arm64_counts_the_first_level(void)
{
	section(NULL, 0, NULL, 0);
	put_arm64("0xd08"); /* Cortex-A72 */
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT(has_column("perf_event_cache", "l1d_refills"));
	CU_ASSERT_FALSE(has_column("perf_event_cache", "cache_misses"));
	CU_ASSERT_PTR_NULL(fake_table("perf_event_llc"));
	finish();

	put_arm64("0xd0c"); /* Neoverse N1 */
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(has_column("perf_event_cache", "l1d_refills"));
	CU_ASSERT(has_column("perf_event_llc", "llc_read_misses"));
	CU_ASSERT_FALSE(has_column("perf_event_llc", "llc_misses"));
	IS("perf_event", "llc llc_read_misses armv8_pmuv3_0", "config",
	   "55"); /* LL_CACHE_MISS_RD 37H */
	finish();
}

static void an_unknown_cpu_has_the_kernels_names(void)
{
	section(NULL, 0, NULL, 0);
	put_x86("CentaurHauls", 7, 59);
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT(has_column("perf_event_cache", "cache_misses"));
	CU_ASSERT_PTR_NULL(fake_table("perf_event_llc"));
	finish();
}

/* Also where the section names the event itself. */
static void a_single_event_is_named_so_too(void)
{
	EVENTS("cache-misses", "LLC-load-misses");
	put_zen3();
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT(has_column("perf_event_l2_misses", "l2_misses"));
	CU_ASSERT(has_column("perf_event_hw_cache_ll_read_miss", "hw_cache_ll_read_miss"));
	finish();
	put_arm64("0xd08");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT(has_column("perf_event_l1d_refills", "l1d_refills"));
	finish();
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = text ? fopen(path, "w") : NULL;
	if (file) {
		fputs(text, file);
		fclose(file);
	} else {
		unlink(path);
	}
}

/* A user's groups come before those that are shipped, one by one; what he got wrong is said and left out. */
static void groups_of_the_user(void)
{
	char folder[] = "/tmp/sonde-groups-XXXXXX";

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	write_file(folder, "a.groups",
		   "match = AuthenticAMD-25-21\n[core] Mine.\nticks = cycles [cycles] Counted.\n");
	write_file(folder, "b.groups", "match = AuthenticAMD-25-21\n[tlb] Mine.\nbad = cycles\n");
	SECTION("core", "tlb");
	conf.group_path = folder;
	put_zen3();
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT(has_column("perf_event_core", "ticks"));
	CU_ASSERT_FALSE(has_column("perf_event_core", "instructions"));
	CU_ASSERT(has_column("perf_event_tlb", "l2_dtlb_misses"));
	CU_ASSERT(noted("/b.groups:3: the unit is missing"));
	write_file(folder, "a.groups", NULL);
	write_file(folder, "b.groups", NULL);
	rmdir(folder);
	finish();
}

/* ---- Groups and times */

/* Case 120: one group, one read of both operands; cases 116, 117: each group has its own two times. */
static void one_read_a_group(void)
{
	SECTION("core");
	put_zen3();
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(kernel.nevents, 4 /* tried */ + 2 * 4);
	kernel.nreads = 0;
	kernel.running = 400000000;
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(kernel.nreads, 2);
	for (int i = 4; i < kernel.nevents; i++) {
		const struct perf_event_attr *attr = &kernel.event[i].attr;

		CU_ASSERT_EQUAL(attr->read_format, PERF_FORMAT_GROUP |
							   PERF_FORMAT_TOTAL_TIME_ENABLED |
							   PERF_FORMAT_TOTAL_TIME_RUNNING);
		CU_ASSERT_EQUAL(kernel.event[i].leader, i % 4 ? FIRST_FD + i - i % 4 : -1);
		CU_ASSERT_FALSE(attr->inherit);
		CU_ASSERT_EQUAL(attr->disabled, i % 4 == 0);
	}
	/* arm_pmu counts a disabled leader for nothing: what fits is tried with an enabled one. */
	CU_ASSERT_FALSE(kernel.event[0].attr.disabled);
	IS("perf_event_core", "cpu 0", "time_enabled", "1000000000");
	IS("perf_event_core", "cpu 0", "time_running", "400000000");
	IS("perf_event_core", "cpu 0", "cycles", "1000"); /* as counted: unscaled */
	finish();
}

/* Case 114: what never ran was not counted. */
static void never_running_is_absent(void)
{
	SECTION("core");
	put_zen3();
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	kernel.running = 0;
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_core", "cpu 0", "cycles", "-");
	IS("perf_event_core", "cpu 0", "time_enabled", "1000000000");
	IS("perf_event_core", "cpu 0", "time_running", "0");
	CU_ASSERT(noted("sysctl kernel.nmi_watchdog=0"));
	finish();
}

static uint64_t no_cycles(const struct perf_event_attr *attr, int cpu)
{
	(void)cpu;
	return attr->config == PERF_COUNT_HW_INSTRUCTIONS ? 668753 : 0;
}

/* Case 127: both are as the kernel says; a ratio is for who knows that it is over 0. */
static void zero_cycles_are_counted(void)
{
	SECTION("core");
	put_zen3();
	kernel.value = no_cycles;
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_core", "cpu 0", "cycles", "0");
	IS("perf_event_core", "cpu 0", "instructions", "668753");
	finish();
}

static uint64_t wild(const struct perf_event_attr *attr, int cpu)
{
	return attr->config == PERF_COUNT_HW_INSTRUCTIONS && cpu == 1 ? UINT64_C(1) << 60 : 7;
}

/* Case 136: 10^18 of an idle sibling; the others stay. */
static void wild_values_are_left_out(void)
{
	SECTION("core");
	put_zen3();
	kernel.value = wild;
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_core", "cpu 0", "instructions", "7");
	IS("perf_event_core", "cpu 1", "instructions", "-");
	IS("perf_event_core", "cpu 1", "cycles", "7");
	CU_ASSERT(noted("than a CPU can"));
	finish();
}

static void what_does_not_fit_is_split(void)
{
	SECTION("core");
	put_zen3();
	kernel.counters = 3;
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(has_column("perf_event_core", "instructions"));
	CU_ASSERT(has_column("perf_event_core", "stalled_cycles_frontend"));
	CU_ASSERT_FALSE(has_column("perf_event_core", "stalled_cycles_backend"));
	CU_ASSERT(has_column("perf_event_core_2", "stalled_cycles_backend"));
	CU_ASSERT(has_column("perf_event_core_2", "time_running"));
	IS("perf_event", "core stalled_cycles_backend cpu", "part", "1");
	IS("perf_event_metric", "core ipc cpu", "unit", "instructions per cycle");
	IS("perf_event_metric", "core stalled_share_backend cpu", "unit", "no row");
	CU_ASSERT(noted("core on cpu is split into 2"));
	finish();
}

/* Events of the kernel's fit into any group. */
static void software_joins_hardware(void)
{
	SECTION("mine = {page-faults, cycles,cpu/event=0x3c,umask=0x1,name=halted/}");
	put_sapphire_rapids();
	kernel.counters = 2;
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_mine", "cpu 0", "cycles", "1000");
	IS("perf_event_mine", "cpu 0", "halted", "1001");
	IS("perf_event_mine", "cpu 0", "page_faults", "1002");
	finish();
}

/* ---- Hybrid machines */

static void put_alder_lake(void)
{
	put_x86("GenuineIntel", 6, 0x97);
	put("/sys/devices/system/cpu/present", "0-3\n");
	put("/sys/devices/system/cpu/online", "0-3\n");
	put(PMU_FOLDER "/cpu/type", NULL);
	put(PMU_FOLDER "/cpu/format/event", NULL);
	put(PMU_FOLDER "/cpu/format/umask", NULL);
	put(PMU_FOLDER "/cpu/format/cmask", NULL);
	put(PMU_FOLDER "/cpu_core/type", "4\n");
	put(PMU_FOLDER "/cpu_core/cpus", "0-1\n");
	put(PMU_FOLDER "/cpu_core/format/event", "config:0-7\n");
	put(PMU_FOLDER "/cpu_core/format/umask", "config:8-15\n");
	put(PMU_FOLDER "/cpu_core/format/cmask", "config:24-31\n");
	put(PMU_FOLDER "/cpu_atom/type", "10\n");
	put(PMU_FOLDER "/cpu_atom/cpus", "2-3\n");
}

/* Case 128: each PMU has its events, opened by its number on its CPUs; case 131: rows of each, nothing added up. */
static void hybrid_pmus_have_rows_of_their_own(void)
{
	SECTION("core");
	put_alder_lake();
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("perf_event_core"), 4);
	IS("perf_event_core", "cpu_core 1", "cycles", "1000");
	IS("perf_event_core", "cpu_atom 2", "cycles", "1000");
	IS("perf_event_core", "cpu_core 2", "cycles", "no row");
	IS("perf_event_core", "cpu_core 0", "stalled_cycles", "1002");
	IS("perf_event_core", "cpu_atom 3", "stalled_cycles", "-");
	IS("perf_event", "core cycles cpu_core", "config", "17179869184");       /* 4 << 32 */
	IS("perf_event", "core instructions cpu_atom", "config", "42949672961"); /* 10 << 32 | 1 */
	for (int i = 0; i < kernel.nevents; i++)
		CU_ASSERT_EQUAL(kernel.event[i].cpu >= 2, kernel.event[i].attr.config >> 32 == 10);
	finish();
}

/* ---- What cannot be opened */

static int only_enoent(const struct perf_event_attr *attr, int pid, int cpu)
{
	(void)pid, (void)cpu;
	return attr->type == PERF_TYPE_HARDWARE && attr->config > 1 ? ENOENT : 0;
}

/* Case 125 with another errno: a column that is not counted is not there, not 0; nor what would be made of it. */
static void what_is_refused_is_absent(void)
{
	SECTION("core");
	put_zen3();
	kernel.refuses = only_enoent;
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_FALSE(has_column("perf_event_core", "stalled_cycles_backend"));
	IS("perf_event_core", "cpu 0", "instructions", "1001");
	IS("perf_event", "core stalled_cycles_backend cpu", "error", "2");
	IS("perf_event", "core stalled_cycles_backend cpu", "reason",
	   "this CPU or its PMU has no such event");
	IS("perf_event_metric", "core ipc cpu", "unit", "instructions per cycle");
	IS("perf_event_metric", "core stalled_share_backend cpu", "unit", "no row");
	CU_ASSERT(noted(
		"not counted: core.stalled_cycles_frontend, core.stalled_cycles_backend: this "
		"CPU or its PMU has no such event\n"));
	finish();
}

static int one_cpu_denies(const struct perf_event_attr *attr, int pid, int cpu)
{
	(void)pid;
	return attr->config == PERF_COUNT_HW_INSTRUCTIONS && cpu == 1 ? EACCES : 0;
}

/* Case 125. */
static void what_one_place_denies_is_absent_there(void)
{
	SECTION("core");
	put_zen3();
	kernel.refuses = one_cpu_denies;
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_core", "cpu 0", "instructions", "1001");
	IS("perf_event_core", "cpu 1", "instructions", "-");
	IS("perf_event_core", "cpu 1", "cycles", "1000");
	IS("perf_event", "core instructions cpu", "failed", "1");
	IS("perf_event", "core instructions cpu", "opened", "1");
	finish();
}

static int denies(const struct perf_event_attr *attr, int pid, int cpu)
{
	(void)attr, (void)pid, (void)cpu;
	return EACCES;
}

/* Case 124: the level and what would help. */
static void a_paranoid_kernel_is_named(void)
{
	SECTION("core");
	put_zen3();
	put("/proc/sys/kernel/perf_event_paranoid", "4\n");
	kernel.refuses = denies;
	CU_ASSERT_EQUAL(begin(), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "kernel.perf_event_paranoid is 4"));
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "CAP_PERFMON"));
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "kernel.perf_event_paranoid=0"));
	finish();
}

/* Case 123: each errno has a sentence of its own, and none of these speaks of permission. */
static void each_errno_has_its_sentence(void)
{
	static const int errors[] = { EOPNOTSUPP, EINVAL, ENXIO,  ENOENT, ENODEV, ENOSPC, EMFILE,
				      ENFILE,     EBUSY,  ENOSYS, E2BIG,  ESRCH,  EBADF };
	enum { N = sizeof errors / sizeof errors[0] };
	char words[N][WORDS_SIZE];

	for (int i = 0; i < N; i++) {
		struct trouble trouble = { .error = errors[i], .paranoid = 2, .needed = 2000 };

		words_of(&trouble, words[i]);
		CU_ASSERT_PTR_NULL(strstr(words[i], "permi"));
		CU_ASSERT_PTR_NULL(strstr(words[i], "paranoid"));
		for (int k = 0; k < i; k++)
			CU_ASSERT_STRING_NOT_EQUAL(words[k], words[i]);
	}
}

/* Case 121: the need is computed before; whole groups are left out, and the number that would do is said. */
static void too_few_descriptors(void)
{
	SECTION("core", "cache");
	put_zen3();
	kernel.limit = 256 + 2 * 4 + 1; /* core alone: 4 events on 2 CPUs */
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_core", "cpu 1", "cycles", "1000");
	CU_ASSERT_PTR_NULL(fake_table("perf_event_cache"));
	CU_ASSERT(noted("ulimit -n 270")); /* 256 + 2 * (4 + 3) */
	IS("perf_event", "cache l2_misses cpu", "error", "24");
	finish();
}

static void a_machine_without_a_pmu_says_so(void)
{
	section(NULL, 0, NULL, 0);
	put_cpus("0-1\n");
	CU_ASSERT_EQUAL(begin(), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "no hardware counters"));
	finish();

	SECTION("core", "soft = {page-faults}");
	put_cpus("0-1\n");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_soft", "software 0", "page_faults", "1000");
	CU_ASSERT_PTR_NOT_NULL(strstr(got("perf_event", "core core ", "reason"), "virtual PMU"));
	finish();
}

/* What is not known leaves the others as they are. */
static void one_unknown_event_among_others(void)
{
	SECTION("mixed = {nonsense,page-faults,cycles,cycles}", "soft = {nonsense,page-faults}");
	put_zen3();
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event_mixed", "cpu 0", "cycles", "1000");
	IS("perf_event_mixed", "cpu 0", "page_faults", "1001");
	IS("perf_event_soft", "software 1", "page_faults", "1000");
	IS("perf_event", "mixed nonsense ", "failed", "1");
	IS("perf_event", "mixed cycles cpu", "reason", "-");
	finish();
}

/* ---- Names of other kinds */

static void raw_and_vendors_names(void)
{
	EVENTS("r01c2", "ls_dispatch:ld_dispatch:u", "nonsense");
	put_zen3();
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event", "r01c2 r01c2 cpu", "config", "450");
	IS("perf_event", "ls_dispatch_ld_dispatch ls_dispatch_ld_dispatch cpu", "config", "297");
	CU_ASSERT(kernel.event[1].attr.exclude_kernel && !kernel.event[1].attr.exclude_user);
	IS("perf_event", "nonsense nonsense ", "reason", "libpfm does not have it");
	finish();
}

/* ---- PMUs of the machine */

#define PUT_CONTROLLER(number, cpus)                                                               \
	do {                                                                                       \
		put(PMU_FOLDER "/uncore_imc_" number "/type", "13\n");                             \
		put(PMU_FOLDER "/uncore_imc_" number "/cpumask", cpus);                            \
		put(PMU_FOLDER "/uncore_imc_" number "/format/event", "config:0-7\n");             \
		put(PMU_FOLDER "/uncore_imc_" number "/events/cas_count_read", "event=0x04\n");    \
		put(PMU_FOLDER "/uncore_imc_" number "/events/cas_count_read.scale",               \
		    "6.103515625e-5\n");                                                           \
		put(PMU_FOLDER "/uncore_imc_" number "/events/cas_count_read.unit", "MiB\n");      \
	} while (0)

static void scale_and_unit_are_the_kernels(void)
{
	EVENTS("power/energy-pkg/", "uncore_imc/cas_count_read/");
	put_sapphire_rapids();
	put(PMU_FOLDER "/power/type", "12\n");
	put(PMU_FOLDER "/power/cpumask", "0\n");
	put(PMU_FOLDER "/power/format/event", "config:0-7\n");
	put(PMU_FOLDER "/power/events/energy-pkg", "event=0x02\n");
	put(PMU_FOLDER "/power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
	put(PMU_FOLDER "/power/events/energy-pkg.unit", "Joules\n");
	PUT_CONTROLLER("0", "0\n");
	PUT_CONTROLLER("1", "1\n");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	const struct sonde_schema *energy = fake_table("perf_event_power_energy_pkg")->schema;
	const struct sonde_column *column =
		&energy->columns[schema_column(energy, "power_energy_pkg")];
	CU_ASSERT_EQUAL(column->unit, SONDE_BASE_JOULE);
	CU_ASSERT_EQUAL(column->scale_mul, 1);
	CU_ASSERT_EQUAL(column->scale_div, UINT32_MAX); /* 2^32 is one too many for a divisor */
	const struct sonde_schema *reads =
		fake_table("perf_event_uncore_imc_cas_count_read")->schema;
	column = &reads->columns[schema_column(reads, "uncore_imc_cas_count_read")];
	CU_ASSERT_EQUAL(column->unit, SONDE_BASE_BYTES);
	CU_ASSERT_EQUAL(column->scale_mul, 64);
	IS("perf_event_uncore_imc_cas_count_read", "uncore_imc_1 1", "uncore_imc_cas_count_read",
	   "1000");
	IS("perf_event_uncore_imc_cas_count_read", "uncore_imc_0 0", "time_running", "1000000000");
	IS("perf_event_uncore_imc_cas_count_read", "uncore_imc_0 1", "time_running", "no row");
	finish();
}

#define PUT_CAS(pmu, name, code)                                                                   \
	do {                                                                                       \
		put(PMU_FOLDER "/" pmu "/events/" name, code "\n");                                \
		put(PMU_FOLDER "/" pmu "/events/" name ".scale", "6.103515625e-5\n");              \
		put(PMU_FOLDER "/" pmu "/events/" name ".unit", "MiB\n");                          \
	} while (0)
#define PUT_UNCORE(pmu, type, cpus)                                                                \
	do {                                                                                       \
		put(PMU_FOLDER "/" pmu "/type", type "\n");                                        \
		put(PMU_FOLDER "/" pmu "/cpumask", cpus "\n");                                     \
		put(PMU_FOLDER "/" pmu "/format/event", "config:0-7\n");                           \
		put(PMU_FOLDER "/" pmu "/format/umask", "config:8-15\n");                          \
	} while (0)

static const struct sonde_column *column_of_table(const char *table, const char *name)
{
	const struct sonde_schema *schema = fake_table(table)->schema;
	int index = schema_column(schema, name);

	CU_ASSERT_TRUE_FATAL(index >= 0);
	return &schema->columns[index];
}

/* Traffic of memory is counted where there are controllers' counters, in bytes as sysfs or the manual scales them: 64 to a CAS command.
 * Where there are none nobody is told that they lack. */
static void memory_is_counted_where_it_can_be(void)
{
	static const char *const pids[] = { "42" };

	section(NULL, 0, NULL, 0);
	put_sapphire_rapids();
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_PTR_NULL(fake_table("perf_event_memory"));
	CU_ASSERT_FALSE(noted("memory"));
	finish();

	for (int scope = 0; scope < 2; scope++) {
		put_sapphire_rapids();
		PUT_UNCORE("uncore_imc_0", "13", "0");
		PUT_CAS("uncore_imc_0", "cas_count_read", "event=0x05,umask=0xcf");
		PUT_CAS("uncore_imc_0", "cas_count_write", "event=0x05,umask=0xf0");
		PUT_UNCORE("uncore_imc_1", "14", "0");
		PUT_CAS("uncore_imc_1", "cas_count_read", "event=0x05,umask=0xcf");
		PUT_CAS("uncore_imc_1", "cas_count_write", "event=0x05,umask=0xf0");
		put("/proc/42/task/42/stat",
		    "42 (a) S 1 42 42 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 777 1 1\n");
		if (scope)
			conf.pids = (struct sonde_list) { pids, 1, 0 };
		CU_ASSERT_EQUAL_FATAL(begin(), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		if (scope) { /* it is of all processes */
			CU_ASSERT_PTR_NULL(fake_table("perf_event_memory_process"));
			CU_ASSERT_FALSE(noted("memory"));
			finish();
			break;
		}
		CU_ASSERT_EQUAL(fake_rows("perf_event_memory"), 2);
		IS("perf_event_memory", "uncore_imc_1 0", "bytes_written", "1001");
		IS("perf_event", "memory bytes_read uncore_imc_0", "config", "52997");
		CU_ASSERT_EQUAL(column_of_table("perf_event_memory", "bytes_read")->unit,
				SONDE_BASE_BYTES);
		CU_ASSERT_EQUAL(column_of_table("perf_event_memory", "bytes_read")->scale_mul, 64);
		finish();
	}

	/* A number without a unit is not taken for bytes. */
	section(NULL, 0, NULL, 0);
	put_sapphire_rapids();
	PUT_UNCORE("uncore_imc_0", "13", "0");
	put(PMU_FOLDER "/uncore_imc_0/events/cas_count_read", "event=0x04\n");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_PTR_NULL(fake_table("perf_event_memory"));
	finish();
}

/* The same of other controllers than those of Sapphire Rapids. */
static void memory_has_other_controllers(void)
{
	/* Zen 4: no events of its own in sysfs; event 0AH, read 1 and write 2 in bits 8 and 9. */
	section(NULL, 0, NULL, 0);
	put_x86("AuthenticAMD", 25, 0x11);
	PUT_UNCORE("amd_umc_0", "15", "0");
	put(PMU_FOLDER "/amd_umc_0/format/rdwrmask", "config:8-9\n");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event", "memory bytes_read amd_umc_0", "config", "266");
	IS("perf_event", "memory bytes_written amd_umc_0", "config", "522");
	CU_ASSERT_EQUAL(column_of_table("perf_event_memory", "bytes_written")->unit,
			SONDE_BASE_BYTES);
	CU_ASSERT_EQUAL(column_of_table("perf_event_memory", "bytes_written")->scale_mul, 64);
	finish();

	/* Granite Rapids counts both halves of a channel; a client has another name for it. */
	put_x86("GenuineIntel", 6, 0xad);
	PUT_UNCORE("uncore_imc_0", "13", "0");
	PUT_CAS("uncore_imc_0", "cas_count_read_sch0", "event=0x05,umask=0xcf");
	PUT_CAS("uncore_imc_0", "cas_count_read_sch1", "event=0x06,umask=0xcf");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT(has_column("perf_event_memory", "bytes_read_sch1"));
	CU_ASSERT_FALSE(has_column("perf_event_memory", "bytes_read"));
	finish();
	put_x86("GenuineIntel", 6, 0x5e);
	PUT_UNCORE("uncore_imc", "13", "0");
	PUT_CAS("uncore_imc", "data_reads", "event=0x01");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event", "memory bytes_read uncore_imc", "name", "uncore_imc/data_reads/");
	finish();
}

static void tracepoints_have_ids(void)
{
	EVENTS("sched:sched_switch", "sched:sched_stat_runtime");
	put_cpus("0\n");
	put("/sys/kernel/tracing/events/sched/sched_switch/id", "316\n");
	put("/sys/kernel/debug/tracing/events/sched/sched_stat_runtime/id", "300\n");
	CU_ASSERT_EQUAL_FATAL(begin(), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("perf_event", "sched_switch sched_switch tracepoint", "config", "316");
	IS("perf_event_sched_switch", "tracepoint 0", "sched_switch", "1000");
	const struct sonde_schema *runtime = fake_table("perf_event_sched_stat_runtime")->schema;
	CU_ASSERT_EQUAL(runtime->columns[schema_column(runtime, "sched_stat_runtime")].unit,
			SONDE_BASE_NS);
	finish();
}

CU_TestInfo tests[] = {
	{ "Intel has a last level", intel_has_a_last_level },
	{ "Zen has it outside of the core", zen_has_it_outside_of_the_core },
	{ "Zen has slots in each cycle", zen_has_slots_in_each_cycle },
	{ "arm64 counts the first level", arm64_counts_the_first_level },
	{ "an unknown CPU has the kernel's names", an_unknown_cpu_has_the_kernels_names },
	{ "a single event is named so too", a_single_event_is_named_so_too },
	{ "groups of the user", groups_of_the_user },
	{ "one read a group", one_read_a_group },
	{ "never running is absent", never_running_is_absent },
	{ "zero cycles are counted", zero_cycles_are_counted },
	{ "wild values are left out", wild_values_are_left_out },
	{ "what does not fit is split", what_does_not_fit_is_split },
	{ "software joins hardware", software_joins_hardware },
	{ "hybrid PMUs have rows of their own", hybrid_pmus_have_rows_of_their_own },
	{ "what is refused is absent", what_is_refused_is_absent },
	{ "what one place denies is absent there", what_one_place_denies_is_absent_there },
	{ "a paranoid kernel is named", a_paranoid_kernel_is_named },
	{ "each errno has its sentence", each_errno_has_its_sentence },
	{ "too few descriptors", too_few_descriptors },
	{ "a machine without a PMU says so", a_machine_without_a_pmu_says_so },
	{ "one unknown event among others", one_unknown_event_among_others },
	{ "raw and vendors' names", raw_and_vendors_names },
	{ "scale and unit are the kernel's", scale_and_unit_are_the_kernels },
	{ "memory is counted where it can be", memory_is_counted_where_it_can_be },
	{ "other controllers of memory", memory_has_other_controllers },
	{ "tracepoints have ids", tracepoints_have_ids },
	CU_TEST_INFO_NULL,
};
