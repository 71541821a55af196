/* The tables of the collector `topology` (Documentation/ABI/testing/sysfs-devices-system-cpu, sysfs-devices-node,
 * Documentation/admin-guide/cputopology.rst, pm/cpufreq.rst, sysctl/kernel.rst, sysctl/vm.rst, hw-vuln). */
#include "topology.h"

#define LABEL(name, from, text)                                                                    \
	{                                                                                          \
		name, SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = from, .help = text              \
	}
#define LIMIT(name, semantics, text)                                                               \
	{                                                                                          \
#name, SONDE_U64, semantics, SONDE_KHZ, .origin = "cpufreq/" #name, .help = text   \
	}
#define TEXT(name, semantics, from, text)                                                          \
	{                                                                                          \
		name, SONDE_STR, semantics, SONDE_NONE, .origin = from, .help = text               \
	}
#define COUNTED(name, unit, from, text)                                                            \
	{                                                                                          \
		name, SONDE_U64, SONDE_INFO, unit, .origin = from, .help = text                    \
	}

/* clang-format off */
static const struct sonde_column cpu_columns[CPU_COLUMNS] = {
	[CPU]       = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "cpuN", .help = "number of the logical CPU; numbers may have gaps" },
	[ONLINE]    = { "online", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "online", .help = "0: offline; then nothing else of it is known" },
	[NODE]      = LABEL("node", "../node/nodeN/cpulist", "NUMA node that it belongs to; absent without NUMA"),
	[DRAWER]    = LABEL("drawer", "topology/drawer_id", "s390: above books"),
	[BOOK]      = LABEL("book", "topology/book_id", "s390: above sockets; sockets of two books may have the same number"),
	[SOCKET]    = LABEL("socket", "topology/physical_package_id", "a label: numbers may have gaps; absent where the kernel does not know it (socket_cpu may be there all the same)"),
	[DIE]       = LABEL("die", "topology/die_id", "within the socket"),
	[CLUSTER]   = LABEL("cluster", "topology/cluster_id", "cores that share an L2 cache or a bus; absent where it is unknown or contradicts the caches"),
	[CORE]      = LABEL("core", "topology/core_id", "a label, unique within the socket, with gaps"),
	[SOCKET_CPU] = LABEL("socket_cpu", "topology/core_siblings_list", "lowest CPU of its socket that is online: the same for all CPUs of one socket"),
	[CORE_CPU]  = LABEL("core_cpu", "topology/thread_siblings_list", "lowest CPU of its core that is online: the same for all threads of one core, whatever their numbers"),
	[L2_CPU]    = LABEL("l2_cpu", "cache/indexN/shared_cpu_list", "lowest CPU that has the same level 2 cache"),
	[L3_CPU]    = LABEL("l3_cpu", "cache/indexN/shared_cpu_list", "lowest CPU that has the same level 3 cache"),
	[KIND]      = TEXT("kind", SONDE_INFO, "/sys/devices/cpu_KIND/cpus", "of hybrid processors: core, atom, lowpower"),
	[CAPACITY]  = LABEL("capacity", "cpu_capacity", "what it can do, in 1024ths of the machine's fastest; where CPUs differ"),
	[ISOLATED]  = { "isolated", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "../isolated", .help = "1: the scheduler balances nothing onto it (isolcpus)" },
	[NOHZ_FULL] = { "nohz_full", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "../nohz_full", .help = "1: it runs without a tick when one task has it" },
	[CPUINFO_MIN_FREQ] = LIMIT(cpuinfo_min_freq, SONDE_INFO, "lowest frequency that the hardware has"),
	[CPUINFO_MAX_FREQ] = LIMIT(cpuinfo_max_freq, SONDE_INFO, "highest frequency that the hardware has, boost included where the driver counts it"),
	[BASE_FREQUENCY]   = LIMIT(base_frequency, SONDE_INFO, "frequency that it can hold (intel_pstate)"),
	[SCALING_MIN_FREQ] = LIMIT(scaling_min_freq, SONDE_STATE, "lowest frequency that is allowed; read in turn, where there are more than 64 CPUs"),
	[SCALING_MAX_FREQ] = LIMIT(scaling_max_freq, SONDE_STATE, "highest frequency that is allowed; below cpuinfo_max_freq somebody, or heat, holds it down"),
	[CORE_THROTTLE_COUNT] = { "core_throttle_count", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("times"), .origin = "thermal_throttle/core_throttle_count", .help = "times that the core was too hot and slowed itself down (Intel); read with the limits" },
	[PACKAGE_THROTTLE_COUNT] = { "package_throttle_count", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("times"), .origin = "thermal_throttle/package_throttle_count", .help = "likewise the package, the same for all CPUs of it" },
	[SCALING_GOVERNOR] = TEXT("scaling_governor", SONDE_STATE, "cpufreq/scaling_governor", "who chooses the frequency: performance, powersave, schedutil..."),
	[SCALING_DRIVER]   = TEXT("scaling_driver", SONDE_INFO, "cpufreq/scaling_driver", "intel_pstate, amd-pstate, acpi-cpufreq..."),
	[ENERGY_PREFERENCE] = TEXT("energy_performance_preference", SONDE_STATE, "cpufreq/energy_performance_preference", "hint to the hardware: performance, balance_performance, balance_power, power, or a number"),
};

static const struct sonde_column cache_columns[] = {
	[CACHE_LEVEL]  = { "level", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "level", .help = "1 is nearest to the core" },
	[CACHE_TYPE]   = { "type", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "type", .help = "Data, Instruction or Unified" },
	[CACHE_CPU]    = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "shared_cpu_list", .help = "lowest CPU online that has it" },
	[CACHE_CPUS]   = TEXT("cpus", SONDE_INFO, "shared_cpu_list", "CPUs online that share it; absent where the list is longer than 127 bytes (topology_cpu.l3_cpu tells all the same)"),
	[CACHE_SHARED] = COUNTED("shared", SONDE_COUNT("CPUs"), "shared_cpu_list", "how many CPUs share it"),
	[CACHE_SIZE]   = COUNTED("size", SONDE_KIB, "size", "of this one cache"),
	[CACHE_LINE]   = COUNTED("line_size", SONDE_BYTES, "coherency_line_size", "bytes that move at once"),
	[CACHE_WAYS]   = COUNTED("ways", SONDE_COUNT("ways"), "ways_of_associativity", "lines that one address may go to; 0: any"),
	[CACHE_SETS]   = COUNTED("sets", SONDE_COUNT("sets"), "number_of_sets", "size / line_size / ways"),
	[CACHE_ID]     = LABEL("id", "id", "the kernel's number of it, unique within level and type"),
};

static const struct sonde_column node_columns[] = {
	[NODE_NUMBER]   = { "node", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "nodeN", .help = "NUMA node; numbers may have gaps" },
	[NODE_CPUS]     = TEXT("cpus", SONDE_INFO, "cpulist", "CPUs of the node that are online; empty: memory alone"),
	[NODE_DISTANCE] = TEXT("distance", SONDE_INFO, "distance", "to each node that is online, in their order; 10 is the node itself"),
};

static const struct sonde_column sysctl_columns[] = {
	[SYSCTL_NAME]   = { "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "path", .help = "as sysctl(8) writes it: kernel.numa_balancing; a path for what is no sysctl" },
	[SYSCTL_VALUE]  = TEXT("value", SONDE_STATE, "first line", "as the kernel gives it"),
	[SYSCTL_NUMBER] = { "number", SONDE_I64, SONDE_STATE, SONDE_NONE, .origin = "first line", .help = "the same, where it is one number; its unit is the kernel's for this setting" },
};

static const struct sonde_column mitigation_columns[] = {
	[MITIGATION_NAME]  = { "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "file", .help = "vulnerability: meltdown, spectre_v2, mds..." },
	[MITIGATION_STATE] = TEXT("state", SONDE_STATE, "text", "Not affected; Mitigation: what it costs; Vulnerable"),
};

static const struct sonde_column total_columns[] = {
	[TOTAL_ONLINE]    = TEXT("online", SONDE_STATE, CPUS_FOLDER "/online", "CPUs that run, as a list"),
	[TOTAL_OFFLINE]   = TEXT("offline", SONDE_STATE, CPUS_FOLDER "/offline", "CPUs that could run and do not; numbers of CPUs that do not exist may be among them"),
	[TOTAL_CPUS] = { "cpus", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("CPUs"), .origin = CPUS_FOLDER "/online", .help = "how many run" },
	[TOTAL_CORES]     = { "cores", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("cores"), .origin = "topology_cpu.core_cpu", .help = "cores of these CPUs; absent where the kernel does not say" },
	[TOTAL_SOCKETS]   = { "sockets", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("sockets"), .origin = "topology_cpu.socket", .help = "sockets of these CPUs; absent where the kernel does not say" },
	[TOTAL_NODES]     = TEXT("nodes", SONDE_STATE, NODES_FOLDER "/online", "NUMA nodes, as a list; absent without NUMA"),
	[TOTAL_SMT]       = TEXT("smt", SONDE_STATE, CPUS_FOLDER "/smt/control", "several threads a core: on, off, forceoff, notsupported, notimplemented"),
	[TOTAL_ISOLATED]  = TEXT("isolated", SONDE_STATE, CPUS_FOLDER "/isolated", "CPUs without load balancing, as a list"),
	[TOTAL_NOHZ_FULL] = TEXT("nohz_full", SONDE_STATE, CPUS_FOLDER "/nohz_full", "CPUs that run without a tick, as a list"),
	[TOTAL_VENDOR]    = TEXT("vendor", SONDE_INFO, "/proc/cpuinfo vendor_id, CPU implementer", "of the first CPU"),
	[TOTAL_MODEL]     = TEXT("model", SONDE_INFO, "/proc/cpuinfo model name, cpu, CPU part", "of the first CPU"),
	[TOTAL_MICROCODE] = TEXT("microcode", SONDE_INFO, "/proc/cpuinfo microcode", "of the first CPU"),
	[TOTAL_CMDLINE]   = { "cmdline", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "/proc/cmdline", .help = "the kernel's command line: with cmdline = known the parameters that bear on performance, no others", .sensitivity = SONDE_ARGUMENT },
};

const struct sonde_table topology_tables[TOPOLOGY_TABLES] = {
	[TABLE_TOTAL] = { "topology", SONDE_COLUMNS(total_columns), .origin = CPUS_FOLDER,
			  .help = "the machine in one row" },
	[TABLE_CPU] = { "topology_cpu", SONDE_COLUMNS(cpu_columns), .origin = CPUS_FOLDER "/cpuN",
			.help = "where each CPU stands, what it is, and how fast it may run", .rows = 8192 },
	[TABLE_CACHE] = { "topology_cache", SONDE_COLUMNS(cache_columns), .origin = CPUS_FOLDER "/cpuN/cache/indexN",
			  .help = "each cache, and who shares it", .rows = 16384 },
	[TABLE_NODE] = { "topology_node", SONDE_COLUMNS(node_columns), .origin = NODES_FOLDER "/nodeN",
			 .help = "NUMA nodes: their CPUs and distances", .rows = 16 },
	[TABLE_SYSCTL] = { "sysctl", SONDE_COLUMNS(sysctl_columns), .origin = "/proc/sys",
			   .help = "settings of the kernel that bear on performance, or on what can be seen of it", .rows = 64 },
	[TABLE_MITIGATION] = { "mitigation", SONDE_COLUMNS(mitigation_columns), .origin = CPUS_FOLDER "/vulnerabilities",
			       .help = "what the kernel does about the processor's faults", .rows = 32 },
};
/* clang-format on */
