/* /sys/devices/system and sysctls: what the machine has and how it was set up (Documentation/admin-guide/cputopology.rst,
 * Documentation/ABI/testing/sysfs-devices-system-cpu). */
#include "demo/texts.h"

#define CPUS   "/sys/devices/system/cpu"
#define NODES  "/sys/devices/system/node"
#define SYSCTL "/proc/sys/"

static void write_cpu_folder(FILE *out, const struct model *model, uint32_t which)
{
	(void)model, (void)which;
	for (uint32_t cpu = 0; cpu < DEMO_CPUS; cpu++)
		fprintf(out, "cpu%u%c", cpu, '\0');
}

static void write_node_folder(FILE *out, const struct model *model, uint32_t which)
{
	(void)model, (void)which;
	for (uint32_t node = 0; node < DEMO_NODES; node++)
		fprintf(out, "node%u%c", node, '\0');
}

static void write_number(FILE *out, const struct model *model, uint32_t which)
{
	(void)model;
	fprintf(out, "%u\n", which);
}

static void write_package(FILE *out, const struct model *model, uint32_t cpu)
{
	(void)model;
	fprintf(out, "%u\n", cpu / NODE_CPUS);
}

static void write_core(FILE *out, const struct model *model, uint32_t cpu)
{
	(void)model;
	fprintf(out, "%u\n", cpu % NODE_CPUS);
}

/* The CPUs of a node. */
static void write_node_cpus(FILE *out, const struct model *model, uint32_t node)
{
	(void)model;
	fprintf(out, "%u-%u\n", node * NODE_CPUS, (node + 1) * NODE_CPUS - 1);
}

/* The CPUs of the node that a CPU is in. */
static void write_siblings(FILE *out, const struct model *model, uint32_t cpu)
{
	write_node_cpus(out, model, cpu / NODE_CPUS);
}

static void write_distance(FILE *out, const struct model *model, uint32_t node)
{
	(void)model;
	fputs(node ? "21 10\n" : "10 21\n", out);
}

static void write_allowed(FILE *out, const struct model *model, uint32_t cpu)
{
	(void)cpu;
	fprintf(out, "%.0f\n", model->value[ALLOWED_KHZ]);
}

static void write_most(FILE *out, const struct model *model, uint32_t cpu)
{
	(void)model, (void)cpu;
	fprintf(out, "%d\n", DEMO_KHZ);
}

/* Empty where all CPUs are alike: older kernels lack the file. */
static void write_capacity(FILE *out, const struct model *model, uint32_t cpu)
{
	if (model->value[SLOW_CPUS] > 0)
		fputs(cpu < DEMO_CPUS - model->value[SLOW_CPUS] ? "1024\n" : "446\n", out);
}

/* The cooling of socket 0 is at fault. */
static void write_throttles(FILE *out, const struct model *model, uint32_t cpu)
{
	fprintf(out, "%llu\n", cpu < NODE_CPUS ? (unsigned long long)counted(model, THROTTLES) : 0);
}

static void write_package_throttles(FILE *out, const struct model *model, uint32_t cpu)
{
	fprintf(out, "%llu\n",
		cpu < NODE_CPUS ? (unsigned long long)counted(model, PACKAGE_THROTTLES) : 0);
}

#define LIMIT_IS(name, what)                                                                       \
	{                                                                                          \
		"topology", CPUS "/cpu#/" name, what "\n", .count = DEMO_CPUS,                     \
							   .kind = FILE_AT_REFRESH                 \
	}
#define LIMIT_OF_CPU(name, what)                                                                   \
	{                                                                                          \
		"topology", CPUS "/cpu#/" name, .write = what, .count = DEMO_CPUS,                 \
						.kind = FILE_AT_REFRESH                            \
	}
#define EACH_CPU(name, what)                                                                       \
	{                                                                                          \
		"topology", CPUS "/cpu#/" name, .write = what, .count = DEMO_CPUS,                 \
						.kind = FILE_AT_START                              \
	}
#define OF_CPU(name, what)                                                                         \
	{                                                                                          \
		"topology", CPUS "/cpu#/" name, what "\n", .count = DEMO_CPUS,                     \
							   .kind = FILE_AT_START                   \
	}
#define EACH_NODE(name, what)                                                                      \
	{                                                                                          \
		"topology numa", NODES "/node#/" name, .write = what, .count = DEMO_NODES          \
	}
#define CACHE(index, level, type, size, ways, sharers)                                             \
	OF_CPU("cache/index" index "/level", level), OF_CPU("cache/index" index "/type", type),    \
		OF_CPU("cache/index" index "/size", size),                                         \
		OF_CPU("cache/index" index "/ways_of_associativity", ways),                        \
		OF_CPU("cache/index" index "/coherency_line_size", "64"),                          \
		EACH_CPU("cache/index" index "/shared_cpu_list", sharers)
#define AT_START(path, text)                                                                       \
	{                                                                                          \
		"topology", path, text "\n", .kind = FILE_AT_START                                 \
	}

static const struct demo_file files[] = {
	{ "topology", CPUS, .write = write_cpu_folder, .kind = FOLDER },
	{ "topology numa thp", NODES, .write = write_node_folder, .kind = FOLDER },
	{ "topology perf_event", CPUS "/online",
	  .text = "0-31\n" }, /* looked at each time: whether a CPU came or went */
	{ "topology numa", NODES "/online", .text = "0-1\n" },
	{ "numa", NODES "/possible", .text = "0-1\n" },
	{ "numa", NODES "/has_memory", .text = "0-1\n" },
	AT_START(CPUS "/smt/control", "notsupported"),
	{ "topology perf_event", "/proc/cpuinfo",
	  .text = "vendor_id\t: Synthetic\ncpu family\t: 1\nmodel\t\t: 1\n"
		  "model name\t: Synthetic 16-Core Processor\n",
	  .kind = FILE_AT_START },
	EACH_CPU("topology/physical_package_id", write_package),
	EACH_CPU("topology/core_id", write_core),
	EACH_CPU("topology/thread_siblings_list", write_number),
	EACH_CPU("topology/core_siblings_list", write_siblings),
	CACHE("0", "1", "Data", "48K", "12", write_number),
	CACHE("1", "1", "Instruction", "32K", "8", write_number),
	CACHE("2", "2", "Unified", "2048K", "16", write_number),
	CACHE("3", "3", "Unified", "32768K", "16", write_siblings),
	EACH_CPU("cpu_capacity", write_capacity),
	EACH_CPU("cpufreq/cpuinfo_max_freq", write_most),
	LIMIT_OF_CPU("cpufreq/scaling_max_freq", write_allowed),
	LIMIT_OF_CPU("thermal_throttle/core_throttle_count", write_throttles),
	LIMIT_OF_CPU("thermal_throttle/package_throttle_count", write_package_throttles),
	LIMIT_IS("cpufreq/scaling_governor", "performance"),
	LIMIT_IS("cpufreq/scaling_driver", "intel_pstate"),
	EACH_NODE("cpulist", write_node_cpus),
	EACH_NODE("distance", write_distance),
	AT_START(SYSCTL "kernel/numa_balancing", "1"),
	{ "topology perf_event", SYSCTL "kernel/perf_event_paranoid", .text = "2\n",
	  .kind = FILE_AT_START },
	AT_START(SYSCTL "vm/zone_reclaim_mode", "0"),
	AT_START(SYSCTL "vm/swappiness", "60"),
	AT_START(SYSCTL "vm/dirty_ratio", "20"),
	AT_START(SYSCTL "vm/min_free_kbytes", "90112"),
};

const struct demo_files fixed_files = { files, sizeof files / sizeof *files };
