/* What the analyzer `numa` looks at: /sys/devices/system/node, /proc/vmstat, and where processes run and have their memory
 * (Documentation/admin-guide/numastat.rst, Documentation/admin-guide/mm/numa_memory_policy.rst, proc_pid_numa_maps(5)). */
#include "numa.h"

#define OF(field) offsetof(struct conf, field)

/* clang-format off */
const struct sonde_stream numa_streams[STREAMS] = {
	[REMOTE] = { "numa.remote_allocations", "numa", .plus = "other_node", .over = "local_node other_node", .reduce = SONDE_SUM,
		     .threshold = OF(remote), .hold = OF(hold), .floor = OF(remote_floor) },
	/* Of policy, not of place: memory that was wanted on another node than it was had on. */
	[POLICY_MISS] = { "numa.policy_misses", "numa", .plus = "numa_miss", .over = "numa_hit numa_miss", .reduce = SONDE_SUM },
	[NONLOCAL] = { "numa.hints_elsewhere", "vmstat", .plus = "numa_hint_faults", .minus = "numa_hint_faults_local", .over = "numa_hint_faults",
		       .threshold = OF(nonlocal), .hold = OF(hold), .floor = OF(nonlocal_floor) },
	[MIGRATED] = { "numa.migrations", "vmstat", .plus = "numa_pages_migrated", .over = "time",
		       .threshold = OF(migrations), .hold = OF(hold) },
	[USED] = { "numa.used", "numa_meminfo", .plus = "mem_total", .minus = "mem_free", .over = "mem_total",
		   .threshold = OF(used), .hold = OF(hold) },
	[FREE] = { "numa.free", "numa_meminfo", .plus = "mem_free", .reduce = SONDE_SETTING },
	[TOTAL] = { "numa.total", "numa_meminfo", .plus = "mem_total", .reduce = SONDE_SETTING },
	[CACHED] = { "numa.cached", "numa_meminfo", .plus = "active_file inactive_file", .over = "mem_total" },
	[NODES] = { "numa.node", "numa", .plus = "node", .key = "node cpulist", .reduce = SONDE_SETTING },
	[DISTANCES] = { "numa.distance", "numa_distance", .plus = "distance", .reduce = SONDE_SETTING },
	[BALANCING] = { "numa.balancing", "sysctl", .where = "name=kernel.numa_balancing", .plus = "number", .reduce = SONDE_SETTING },
	[PAGES] = { "numa.pages", "numa_maps", .plus = "bytes", .keys = 64, .reduce = SONDE_SETTING },
	[POLICIES] = { "numa.policy", "numa_maps_policy", .plus = "bytes", .keys = 64, .reduce = SONDE_SETTING },
	[MAPPINGS] = { "numa.mapping", "numa_maps_mapping", .plus = "bytes", .key = "pid start_time node mapping", .keys = 256, .reduce = SONDE_SETTING },
	/* Time on a CPU is of the CPU on which the thread ran last: of the process's leader, or of each thread where they are recorded. */
	[RAN_PROCESS] = { "numa.process_ran", "process", .plus = "utime stime", .over = "time", .key = "pid start_time processor", .keys = 128 },
	[RAN_THREADS] = { "numa.thread_ran", "thread", .plus = "utime stime", .over = "time", .key = "pid processor", .keys = 128 },
};
/* clang-format on */
