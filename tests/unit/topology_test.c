/* topology: machines that other tools got wrong. Expected values are those of the texts. */
#include "plugins/topology/cpus.c"
#include "plugins/topology/settings.c"
#include "plugins/topology/table.c"
#include "plugins/topology/topology.c"

#include "fakehost.h"

const char suite[] = "topology";

static struct conf conf;

#define CPU_FILE(n, file) CPUS_FOLDER "/cpu" #n "/" file

static int begin(const char *root)
{
	conf = (struct conf) { .refresh = 60000000000, .cmdline = CMDLINE_KNOWN };
	fake.self.conf = &conf;
	fake.self.interval = 1000000000;
	return fake_start(root);
}

static void put_core(uint32_t cpu, const char *core, const char *siblings)
{
	static char path[8][2][96];

	snprintf(path[cpu][0], sizeof path[cpu][0], CPUS_FOLDER "/cpu%u/topology/core_id", cpu);
	snprintf(path[cpu][1], sizeof path[cpu][1],
		 CPUS_FOLDER "/cpu%u/topology/thread_siblings_list", cpu);
	put(path[cpu][0], core);
	put(path[cpu][1], siblings);
}

/* Cases 95 and 96: siblings are far apart, and cores have any numbers. */
static void siblings_by_their_lists(void)
{
	put(CPUS_FOLDER "/online", "0-1,5-6\n");
	put_core(0, "0\n", "0,5\n");
	put_core(1, "48\n", "1,6\n");
	put_core(5, "0\n", "0,5\n");
	put_core(6, "48\n", "1,6\n");
	CU_ASSERT_EQUAL(begin(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("topology_cpu", "5", "core_cpu", "0");
	IS("topology_cpu", "6", "core_cpu", "1");
	IS("topology_cpu", "6", "core", "48");
	IS("topology", "", "cores", "2");
	IS("topology", "", "cpus", "4");
	IS("topology", "", "sockets", "-");
	fake_end();
}

/* Case 92: an arm64 guest without any topology. */
static void no_topology(void)
{
	put(CPUS_FOLDER "/online", "0-1\n");
	put(CPU_FILE(0, "uevent"), "");
	put(CPU_FILE(1, "uevent"), "");
	CU_ASSERT_EQUAL(begin(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("topology", "", "cpus", "2");
	IS("topology", "", "cores", "-");
	IS("topology", "", "sockets", "-");
	IS("topology_cpu", "1", "online", "1");
	IS("topology_cpu", "1", "core_cpu", "-");
	fake_end();
}

/* Case 22: while CPUs come online, some have no masks yet and no socket of their own. */
static void hotplug_under_way(void)
{
	put(CPUS_FOLDER "/online", "0-2\n");
	put_core(0, "0\n", "0\n");
	put_core(1, "1\n", "\n");
	put_core(2, "2\n", "2\n");
	put(CPU_FILE(0, "topology/physical_package_id"), "0\n");
	put(CPU_FILE(1, "topology/physical_package_id"), "-1\n");
	put(CPU_FILE(2, "topology/physical_package_id"), "1\n");
	CU_ASSERT_EQUAL(begin(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("topology", "", "sockets", "2");
	IS("topology", "", "cores", "-");
	IS("topology_cpu", "1", "socket", "-");
	fake_end();
}

/* Case 93: a cluster of 0,3 and a cache of 0-1 can't both be; and 65535 is no cluster. */
static void clusters_that_contradict_caches(void)
{
	put(CPUS_FOLDER "/online", "0-1\n");
	put_core(0, "0\n", "0\n");
	put_core(1, "1\n", "1\n");
	put(CPU_FILE(0, "topology/cluster_id"), "4\n");
	put(CPU_FILE(0, "topology/cluster_cpus_list"), "0,3\n");
	put(CPU_FILE(0, "cache/index0/level"), "1\n");
	put(CPU_FILE(0, "cache/index0/type"), "Instruction\n");
	put(CPU_FILE(0, "cache/index0/shared_cpu_list"), "0-1\n");
	put(CPU_FILE(0, "cache/index0/size"), "64K\n");
	CU_ASSERT_EQUAL(begin(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("topology_cpu", "0", "cluster", "-");
	IS("topology_cache", "1 Instruction 0", "cpus", "0-1");
	IS("topology_cache", "1 Instruction 0", "size", "64");
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "contradicts"));
	fake_end();

	put(CPUS_FOLDER "/online", "0\n");
	put_core(0, "0\n", "0\n");
	put(CPU_FILE(0, "topology/cluster_id"), "65535\n");
	CU_ASSERT_EQUAL(begin(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("topology_cpu", "0", "cluster", "-");
	CU_ASSERT_STRING_EQUAL(fake.notes, "");
	fake_end();
}

/* Sockets of two books have the same numbers (s390). */
static void sockets_below_books(void)
{
	put(CPUS_FOLDER "/online", "0-2\n");
	for (uint32_t i = 0; i < 3; i++)
		put_core(i, "0\n", i ? i == 1 ? "1\n" : "2\n" : "0\n");
	put(CPU_FILE(0, "topology/physical_package_id"), "1\n");
	put(CPU_FILE(1, "topology/physical_package_id"), "1\n");
	put(CPU_FILE(2, "topology/physical_package_id"), "1\n");
	put(CPU_FILE(0, "topology/book_id"), "1\n");
	put(CPU_FILE(1, "topology/book_id"), "1\n");
	put(CPU_FILE(2, "topology/book_id"), "2\n");
	CU_ASSERT_EQUAL(begin(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("topology", "", "sockets", "2");
	IS("topology_cpu", "2", "book", "2");
	fake_end();
}

/* A CPU goes: its row stays, with nothing but that it is offline. What does not change is not read again before its time. */
static void changes(void)
{
	put(CPUS_FOLDER "/online", "0-1\n");
	put_core(0, "0\n", "0-1\n");
	put_core(1, "0\n", "0-1\n");
	put(CPU_FILE(0, "cpufreq/scaling_governor"), "powersave\n");
	put("/proc/sys/kernel/numa_balancing", "1\n");
	put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
	CU_ASSERT_EQUAL(begin(""), 0);
	/* Thousands of CPUs would take a first sample longer than a lane has time to end. */
	put_core(1, "3\n", "0-1\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("topology_cpu", "1", "core", "0");
	IS("topology_cpu", "1", "core_cpu", "0");
	IS("topology_cpu", "0", "scaling_governor", "powersave");
	IS("sysctl", "kernel.perf_event_paranoid", "number", "-1");
	put("/proc/sys/kernel/numa_balancing", "0\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("sysctl", "kernel.numa_balancing", "number", "1");
	put(CPUS_FOLDER "/online", "1\n");
	put_core(1, "0\n", "1\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("sysctl", "kernel.numa_balancing", "number", "0");
	IS("topology_cpu", "0", "online", "0");
	IS("topology_cpu", "0", "core", "-");
	IS("topology_cpu", "0", "scaling_governor", "-");
	IS("topology_cpu", "1", "core_cpu", "1");
	put("/proc/sys/kernel/numa_balancing", "2\n");
	for (int i = 0; i < 60; i++)
		CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("sysctl", "kernel.numa_balancing", "number", "2");
	fake_end();
}

/* More CPUs than there was room for: seen with the next sample. */
static void cpus_that_come(void)
{
	static char path[32][96];

	put(CPUS_FOLDER "/online", "0\n");
	put(CPU_FILE(0, "uevent"), "");
	CU_ASSERT_EQUAL(begin(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("topology_cpu"), 1);
	for (int i = 1; i < 32; i++) {
		snprintf(path[i], sizeof path[i], CPUS_FOLDER "/cpu%d/uevent", i);
		put(path[i], "");
	}
	put(CPUS_FOLDER "/online", "0-31\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(fake.frame.partial);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("topology_cpu"), 32);
	fake_end();
}

/* Private by default: what is not known to bear on performance is not told, whatever it looks like. */
static void command_lines(void)
{
	static const struct {
		const char *line, *known;
	} cases[] = {
		{ "BOOT_IMAGE=/vmlinuz root=UUID=1 ro quiet mitigations=off isolcpus=2-7",
		  "mitigations=off isolcpus=2-7" },
		{ "rd.luks.key=/secret psi=1 password=hunter2 numa_balancing=disable",
		  "psi=1 numa_balancing=disable" },
		{ "nosmt intel_idle.max_cstate=1 processor.max_cstate=0 memory_key=x",
		  "nosmt intel_idle.max_cstate=1 processor.max_cstate=0" },
		{ "psi=1 -- mitigations=off", "psi=1" },
		{ "dyndbg=\"file a +p ; mitigations=off\" nosmt", "nosmt" },
		{ "", "" },
	};
	char out[256];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		settings_cmdline(cases[i].line, strlen(cases[i].line), out, sizeof out);
		CU_ASSERT_STRING_EQUAL(out, cases[i].known);
	}
	settings_cmdline("psi=1 nosmt", 11, out, 8);
	CU_ASSERT_STRING_EQUAL(out, "psi=1");
}

/* The first processor of each architecture, cut anywhere. */
static void processors(void)
{
	static const char x86[] =
		"processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
		"model\t\t: 1\nmodel name\t: AMD EPYC 7451\nmicrocode\t: 0xa0011d3\n";
	static const char arm[] = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n"
				  "CPU part\t: 0xd40\n";
	static const char ppc[] = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n";
	static const char *const model[] = { "model name", "cpu", "CPU part", NULL };
	char out[96];

	settings_cpuinfo(x86, sizeof x86 - 1, model, out, sizeof out);
	CU_ASSERT_STRING_EQUAL(out, "AMD EPYC 7451");
	settings_cpuinfo(arm, sizeof arm - 1, model, out, sizeof out);
	CU_ASSERT_STRING_EQUAL(out, "0xd40");
	settings_cpuinfo(ppc, sizeof ppc - 1, model, out, sizeof out);
	CU_ASSERT_STRING_EQUAL(out, "POWER9, altivec supported");
	settings_cpuinfo(x86, sizeof x86 - 1, model, out, 4);
	CU_ASSERT_STRING_EQUAL(out, "AMD");
	settings_cpuinfo("", 0, model, out, sizeof out);
	CU_ASSERT_STRING_EQUAL(out, "");
}

static void sizes(void)
{
	uint64_t kib;

	CU_ASSERT(parse_size("32K\n", 4, &kib) && kib == 32);
	CU_ASSERT(parse_size("8M", 2, &kib) && kib == 8192);
	CU_ASSERT(parse_size("1G", 2, &kib) && kib == 1048576);
	CU_ASSERT(parse_size("65536", 5, &kib) && kib == 64);
	CU_ASSERT(!parse_size("", 0, &kib));
}

static void absent(void)
{
	CU_ASSERT_EQUAL(begin(""), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "sysfs"));
	fake_end();
}

CU_TestInfo tests[] = {
	{ "cases 95, 96: siblings by their lists", siblings_by_their_lists },
	{ "case 92: no topology", no_topology },
	{ "case 22: hotplug under way", hotplug_under_way },
	{ "case 93: clusters that contradict caches", clusters_that_contradict_caches },
	{ "sockets below books", sockets_below_books },
	{ "changes", changes },
	{ "CPUs that come", cpus_that_come },
	{ "command lines", command_lines },
	{ "processors", processors },
	{ "sizes", sizes },
	{ "absent", absent },
	CU_TEST_INFO_NULL,
};
