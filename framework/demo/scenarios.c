/* The scenarios of `sonde demo`: a healthy machine, and what is different in each. docs/examples.md shows two of them. */
#include "demo/scenarios.h"

#define MANY(array) (sizeof(array) / sizeof *(array))
#define MIB         1048576.0

/* clang-format off */
static const double healthy[QUANTITIES] = {
	[CPU_USER] = 0.20, [CPU_SYSTEM] = 0.05, [CPU_IOWAIT] = 0.01, [CPU_SOFTIRQ] = 0.005,
	[RUNNABLE] = 8, [WAITING] = 0.1, [SLICES] = 40000, [SWITCHES] = 45000, [FORKS] = 20, [INTERRUPTS] = 60000,
	[STALL_CPU] = 0.02, [STALL_IO] = 0.01, [STALL_IO_FULL] = 0.004,
	[FREE] = 42000, [AVAILABLE] = 84000, [CACHE] = 44000, [ANON] = 38000, [ANON_HUGE] = 24000, [SWAP_FREE] = SWAP_MIB, [DIRTY] = 120,
	[FAULTS] = 30000, [MAJOR_FAULTS] = 1, [THP_ALLOC] = 40, [MTHP_ALLOC] = 300,
	[READS] = 150, [READ_BYTES] = 6 * MIB, [WRITES] = 350, [WRITE_BYTES] = 14 * MIB, [REQUEST_TIME] = 0.0002, [DISK_BUSY] = 0.08,
	[NODE1_FREE] = 20000, [LOCAL_PAGES] = 48000, [OTHER_PAGES] = 1500, [HINT_FAULTS] = 400, [HINT_FAULTS_LOCAL] = 370, [PAGES_MIGRATED] = 25,
	[CLOCK] = 3e9, [IPC] = 1.4, [LLC_REFERENCES] = 0.012, [LLC_MISSES] = 0.0015, [LOADS] = 0.3, [TLB_MISSES] = 0.002,
	[ALLOWED_KHZ] = DEMO_KHZ, [CGROUP_CPUS] = 0.8, [BRANCHES] = 0.2, [BRANCH_MISSES] = 0.006,
	[SLOTS_FRONTEND] = 0.17, [SLOTS_BACKEND] = 0.38, [SLOTS_WASTED] = 0.06,
	[MEMORY_READ] = 6e9, [MEMORY_WRITTEN] = 2.5e9, [MEMORY_SOCKET1] = 0.5,
};

#define SERVICE(unit) "/system.slice/" unit ".service"

static const struct process usual[] = {
	{ "systemd", "/init.scope", 1, .threads = 1, .user = 0.01, .system = 0.01, .slices = 20, .voluntary = 20, .rss_mib = 14 },
	{ "api", SERVICE("api"), 990, .threads = 8, .user = 0.7, .system = 0.1, .wait = 0.01, .slices = 900, .voluntary = 880, .involuntary = 20, .rss_mib = 180 },
	{ "nginx", SERVICE("nginx"), 1210, 8, 1, .user = 0.25, .system = 0.15, .wait = 0.002, .slices = 800, .voluntary = 790, .involuntary = 10, .minor_faults = 100, .rss_mib = 60 },
	{ "postgres", SERVICE("postgresql"), 1840, 16, 1, .user = 0.24, .system = 0.04, .wait = 0.004, .slices = 600, .voluntary = 560, .involuntary = 40,
	  .minor_faults = 1500, .read_bytes = 0.3 * MIB, .write_bytes = 0.8 * MIB, .rss_mib = 2000, .cpu = 20, .remote = 0.05 },
	{ 0 },
};

/* Twice the threads that there are CPUs. */
static const struct change cpu_saturated[] = {
	{ CPU_USER, 0.92 }, { CPU_SYSTEM, 0.07 }, { CPU_IOWAIT, 0 }, { CPU_SOFTIRQ, 0.01 },
	{ RUNNABLE, 64 }, { WAITING, 32 }, { SLICES, 12000 }, { SWITCHES, 14000 }, { STALL_CPU, 0.82 },
};
static const struct process render[] = {
	{ "render", SERVICE("render"), 3100, .threads = 64, .user = 23.4, .system = 0.6, .wait = 36, .slices = 9600, .voluntary = 600, .involuntary = 9000,
	  .minor_faults = 2000, .rss_mib = 9000 },
	{ 0 },
};

/* Two heaps that grew beyond the machine's memory. */
static const struct change memory_pressure[] = {
	{ CPU_SYSTEM, 0.16 }, { CPU_IOWAIT, 0.06 }, { BLOCKED, 9 }, { STALL_MEMORY, 0.41 }, { STALL_MEMORY_FULL, 0.18 },
	{ STALL_IO, 0.38 }, { STALL_IO_FULL, 0.16 },
	{ FREE, 5000 }, { NODE1_FREE, 2500 }, { AVAILABLE, 2600 }, { CACHE, 900 }, { ANON, 121000 }, { ANON_HUGE, 60000 }, { SWAP_FREE, 900 }, { DIRTY, 10 },
	{ FAULTS, 52000 }, { MAJOR_FAULTS, 2200 }, { SWAP_IN, 2400 }, { SWAP_OUT, 2600 },
	{ KSWAPD_SCAN, 90000 }, { KSWAPD_STEAL, 30000 }, { DIRECT_SCAN, 24000 }, { DIRECT_STEAL, 7000 }, { ALLOCATION_STALLS, 240 },
	{ REFAULTS_ANON, 2300 }, { REFAULTS_FILE, 4100 },
	{ READS, 2600 }, { READ_BYTES, 26 * MIB }, { WRITES, 900 }, { WRITE_BYTES, 24 * MIB }, { DISK_BUSY, 0.7 },
};
static const struct process heaps[] = {
	{ "java", SERVICE("search"), 3200, 2, .threads = 40, .user = 2, .system = 1.2, .wait = 0.05, .block_io = 2, .reclaim = 3, .slices = 8000, .voluntary = 7500, .involuntary = 500,
	  .minor_faults = 10000, .major_faults = 1050, .rss_mib = 56000, .remote = 0.03 },
	{ 0 },
};

static const struct change oom[] = {
	{ FREE, 4600 }, { NODE1_FREE, 2300 }, { AVAILABLE, 1900 }, { CACHE, 2400 }, { ANON, 124000 }, { ANON_HUGE, 60000 }, { OOM_KILLS, 0.1 }, { FORKS, 21 },
};

/* Files that do not fit into the page cache, read through a mapping. */
static const struct change cold_cache[] = {
	{ CPU_IOWAIT, 0.03 }, { BLOCKED, 2 }, { MAJOR_FAULTS, 1800 }, { STALL_IO, 0.09 }, { STALL_IO_FULL, 0.02 },
	{ READS, 1900 }, { READ_BYTES, 118 * MIB }, { DISK_BUSY, 0.45 },
};
static const struct process mapped[] = {
	{ "mongod", SERVICE("mongod"), 3300, .threads = 40, .user = 0.9, .system = 0.5, .wait = 0.01, .slices = 4000, .voluntary = 3900, .involuntary = 100,
	  .block_io = 3.2, .minor_faults = 3000, .major_faults = 1750, .read_bytes = 112 * MIB, .rss_mib = 21000 },
	{ 0 },
};

/* An allocator that gives its memory back after each request. */
static const struct change fault_storm[] = {
	{ CPU_SYSTEM, 0.14 }, { FAULTS, 930000 },
};
static const struct process churn[] = {
	{ "gateway", SERVICE("gateway"), 3400, .threads = 24, .user = 4, .system = 3.5, .wait = 0.05, .slices = 6000, .voluntary = 5600, .involuntary = 400,
	  .minor_faults = 890000, .rss_mib = 700 },
	{ 0 },
};

static const struct change steal[] = {
	{ CPU_USER, 0.45 }, { CPU_STEAL, 0.22 }, { RUNNABLE, 14 },
};

static const struct change io_bound[] = {
	{ CPU_USER, 0.06 }, { CPU_IOWAIT, 0.36 }, { BLOCKED, 24 }, { STALL_IO, 0.78 }, { STALL_IO_FULL, 0.52 },
	{ READS, 5200 }, { READ_BYTES, 81 * MIB }, { WRITES, 1800 }, { WRITE_BYTES, 44 * MIB }, { REQUEST_TIME, 0.0045 }, { DISK_BUSY, 0.99 },
};
static const struct process scan[] = {
	{ "clickhouse", SERVICE("clickhouse"), 3500, .threads = 32, .user = 0.8, .system = 0.7, .wait = 0.01, .block_io = 23, .slices = 5200, .voluntary = 5100, .involuntary = 100,
	  .minor_faults = 1000, .read_bytes = 80 * MIB, .write_bytes = 40 * MIB, .rss_mib = 16000 },
	{ 0 },
};

/* A copy that fills the disk's queue, on a machine that computes: there is no idle time to be iowait. */
static const struct change io_beside_work[] = {
	{ CPU_USER, 0.88 }, { CPU_SYSTEM, 0.08 }, { CPU_IOWAIT, 0.01 }, { RUNNABLE, 30 }, { BLOCKED, 6 }, { STALL_CPU, 0.06 },
	{ STALL_IO, 0.62 }, { STALL_IO_FULL, 0.05 },
	{ READS, 1100 }, { READ_BYTES, 137 * MIB }, { WRITES, 1200 }, { WRITE_BYTES, 145 * MIB }, { REQUEST_TIME, 0.008 }, { DISK_BUSY, 0.98 },
};
static const struct process copying[] = {
	{ "model", SERVICE("model"), 3510, .threads = 24, .user = 22, .system = 0.2, .wait = 0.3, .slices = 3000, .voluntary = 400, .involuntary = 800,
	  .rss_mib = 9000 },
	{ "rsync", SERVICE("backup"), 3520, .threads = 1, .user = 0.1, .system = 0.35, .wait = 0.01, .slices = 1800, .voluntary = 1700, .involuntary = 100,
	  .block_io = 0.4, .read_bytes = 130 * MIB, .write_bytes = 130 * MIB, .rss_mib = 40 },
	{ 0 },
};

/* Backends that queue for one lock: hardly anybody waits for a CPU. */
static const struct change lock_contention[] = {
	{ CPU_USER, 0.16 }, { CPU_SYSTEM, 0.24 }, { SLICES, 260000 }, { SWITCHES, 270000 },
};
static const struct process backends[] = {
	{ "postgres", SERVICE("postgresql"), 3600, 32, 1, .user = 0.1, .system = 0.22, .wait = 0.003, .slices = 6600, .voluntary = 6500, .involuntary = 30,
	  .rss_mib = 90 },
	{ 0 },
};

/* A quota of four CPUs, used up by many threads before its period is over. */
static const struct change cgroup_throttled[] = {
	{ CPU_USER, 0.3 }, { CGROUP_CPUS, 4 }, { CGROUP_THROTTLED, 7 }, { CGROUP_WAITING, 1.8 },
};
static const struct process throttled[] = {
	{ "api-worker", SERVICE("api"), 3650, .threads = 24, .user = 3, .system = 0.2, .wait = 0.1, .slices = 5000, .voluntary = 4200, .involuntary = 800, .rss_mib = 5800 },
	{ 0 },
};

/* Eight threads in a cpuset of four CPUs. */
static const struct change cpu_pinned[] = {
	{ CPU_USER, 0.08 }, { BUSY_CPUS, 4 }, { BUSY_USER, 1 }, { RUNNABLE, 10 }, { WAITING, 4 }, { STALL_CPU, 0.7 },
};
static const struct process pinned[] = {
	{ "encoder", SERVICE("encoder"), 3700, .threads = 8, .user = 3.9, .system = 0.1, .wait = 4, .slices = 1000, .voluntary = 40, .involuntary = 960, .rss_mib = 1200 },
	{ 0 },
};

/* All interrupts of a fast network card on one CPU. */
static const struct change irq_storm[] = {
	{ CPU_USER, 0.14 }, { BUSY_CPUS, 1 }, { BUSY_USER, 0.04 }, { BUSY_SOFTIRQ, 0.96 }, { INTERRUPTS, 410000 },
	{ WAITING, 0.4 }, { STALL_CPU, 0.08 },
};

/* Threads of a service on node 0, of its 48 GiB 85 % on node 1, which is full; huge pages that are not to be had. */
static const struct change numa_misplaced[] = {
	{ CPU_USER, 0.03 }, { BUSY_CPUS, NODE_CPUS }, { BUSY_USER, 0.8 }, { RUNNABLE, 17 },
	{ IPC, 0.6 }, { LLC_REFERENCES, 0.032 }, { LLC_MISSES, 0.0179 }, { TLB_MISSES, 0.03 }, { SLOTS_FRONTEND, 0.07 }, { SLOTS_BACKEND, 0.72 }, { SLOTS_WASTED, 0.03 },
	{ MEMORY_READ, 26e9 }, { MEMORY_WRITTEN, 4e9 }, { MEMORY_SOCKET1, 0.85 },
	{ FREE, 0.02 * MEMORY_MIB / 2 + 46000 }, { NODE1_FREE, 0.02 * MEMORY_MIB / 2 }, { AVAILABLE, 71000 }, { CACHE, 24000 },
	{ ANON, 56000 }, { ANON_HUGE, 0.04 * 56000 }, { HUGETLB, 2048 }, { HUGETLB_FREE, 2048 }, { HUGETLB_NODE0, 1024 }, { HUGETLB_NODE0_FREE, 1024 }, { THP_DEFRAG, 1 },
	{ THP_ALLOC, 56 }, { THP_FALLBACK, 44 }, { COMPACTION_STALLS, 12 }, { COMPACTION_FAILURES, 9 },
	{ LOCAL_PAGES, 65000 }, { OTHER_PAGES, 35000 }, { HINT_FAULTS, 20000 }, { HINT_FAULTS_LOCAL, 5000 }, { PAGES_MIGRATED, 2000 },
};
static const struct process misplaced[] = {
	{ "analytics", SERVICE("analytics"), 3800, .threads = 16, .user = 12.6, .system = 0.1, .wait = 0.05, .slices = 3200, .voluntary = 2800, .involuntary = 400,
	  .minor_faults = 9000, .rss_mib = 48 * 1024, .cpu = 5, .remote = 0.85 },
	{ 0 },
};

/* Free memory in pieces: a machine that has been up for long, with huge pages asked for at each fault. */
static const struct change thp_fragmented[] = {
	{ CPU_SYSTEM, 0.12 }, { THP_DEFRAG, 1 }, { THP_ALLOC, 30 }, { THP_FALLBACK, 170 }, { COMPACTION_STALLS, 85 }, { COMPACTION_FAILURES, 70 },
};

static const struct process import[] = {
	{ "import", SERVICE("import"), 3900, .threads = 4, .user = 0.9, .system = 1.1, .wait = 0.01, .compaction = 0.8, .slices = 900, .voluntary = 500,
	  .involuntary = 400, .minor_faults = 4000, .rss_mib = 14000 },
	{ 0 },
};

/* A power profile, or a power supply that is broken. */
static const struct change frequency_capped[] = {
	{ ALLOWED_KHZ, 1200000 }, { CLOCK, 1.2e9 }, { CPU_USER, 0.5 },
};

/* A fan that stands still. */
static const struct change too_hot[] = {
	{ CPU_USER, 0.82 }, { RUNNABLE, 28 }, { CLOCK, 2.1e9 }, { THROTTLES, 4 }, { PACKAGE_THROTTLES, 2.5 },
};

/* Free memory is in pieces smaller than 64 KiB, while 2 MiB are not asked for. */
static const struct change mthp_fragmented[] = {
	{ FAULTS, 45000 }, { THP_ALLOC, 0 }, { MTHP_ALLOC, 1300 }, { MTHP_FALLBACK, 700 },
};

/* A database on node 0 that has all huge pages of its node, and 500 of the other's are left. */
static const struct change hugetlb_one_node[] = {
	{ HUGETLB, 4096 }, { HUGETLB_FREE, 500 }, { HUGETLB_NODE0, 2048 }, { HUGETLB_NODE0_FREE, 0 }, { FREE, 34000 }, { NODE1_FREE, 16000 }, { AVAILABLE, 76000 },
};

/* Code of some MiB with little that repeats: templates, generated parsers, handlers of a framework. */
static const struct change code_footprint[] = {
	{ CPU_USER, 0.5 }, { RUNNABLE, 18 }, { IPC, 0.9 }, { SLOTS_FRONTEND, 0.46 }, { SLOTS_BACKEND, 0.22 }, { SLOTS_WASTED, 0.09 }, { BRANCH_MISSES, 0.009 },
};

/* A busy thread that was pinned when the machine was another one. */
static const struct change slow_cores[] = {
	{ SLOW_CPUS, 16 },
};
static const struct process pinned_thread[] = {
	{ "solver", SERVICE("solver"), 3950, .threads = 1, .user = 0.96, .system = 0.02, .wait = 0.001, .slices = 40, .voluntary = 10, .involuntary = 30,
	  .rss_mib = 120, .cpu = 20 },
	{ 0 },
};

#define WRONG(name, with, title) { #name, title, name, MANY(name), with }

static const struct scenario scenarios[] = {
	{ "healthy", "a web server and a database at a quarter of the CPUs: nothing is wrong", NULL, 0, NULL },
	WRONG(numa_misplaced, misplaced, "a service whose memory is on the other node, which is full"),
	WRONG(cpu_saturated, render, "64 busy threads on 32 CPUs"),
	WRONG(cpu_pinned, pinned, "eight busy threads that may use four CPUs, while 28 idle"),
	WRONG(irq_storm, NULL, "one CPU takes all interrupts of the network card"),
	WRONG(steal, NULL, "the hypervisor gives a fifth of the CPU time to others"),
	WRONG(lock_contention, backends, "32 database processes that wait for one lock"),
	WRONG(cgroup_throttled, throttled, "a service that uses up its CPU quota"),
	WRONG(memory_pressure, heaps, "heaps larger than memory: reclaim, swap, stalls"),
	WRONG(thp_fragmented, import, "huge pages asked for at each fault, and free memory in pieces"),
	WRONG(frequency_capped, NULL, "CPUs that are held at a third of their frequency"),
	WRONG(code_footprint, NULL, "a service whose code does not fit into the caches for instructions"),
	WRONG(too_hot, NULL, "a socket whose cooling does not do, and whose CPUs slow themselves down"),
	WRONG(mthp_fragmented, NULL, "pages of 64 KiB asked for, and free memory in smaller pieces"),
	WRONG(hugetlb_one_node, NULL, "a pool of huge pages that is used up on one node, and not on the other"),
	WRONG(slow_cores, pinned_thread, "a busy thread on the slow half of the CPUs, while the fast half idles"),
	WRONG(oom, NULL, "no memory left: the kernel kills a process every ten seconds"),
	WRONG(cold_cache, mapped, "mapped files that do not fit into the page cache"),
	WRONG(fault_storm, churn, "a service that gives memory back after each request"),
	WRONG(io_beside_work, copying, "a copy that fills the disk's queue while the CPUs compute"),
	WRONG(io_bound, scan, "a disk that has more requests than it can serve"),
};
/* clang-format on */

const struct scenario *demo_scenario(size_t index)
{
	return index < MANY(scenarios) ? &scenarios[index] : NULL;
}

const char *demo_name(const struct scenario *scenario)
{
	return scenario->name;
}

const char *demo_title(const struct scenario *scenario)
{
	return scenario->title;
}

struct model scenario_model(const struct scenario *scenario)
{
	struct model model = { .processes = { usual, scenario->processes },
			       .seconds = DEMO_UPTIME };

	for (int i = 0; i < QUANTITIES; i++)
		model.value[i] = healthy[i];
	for (size_t i = 0; i < scenario->nchanges; i++)
		model.value[scenario->changes[i].quantity] = scenario->changes[i].value;
	return model;
}
