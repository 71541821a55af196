/* What the analyzer `memory` looks at: /proc/vmstat, /proc/meminfo, /proc/pressure and the processes (mm/vmstat.c,
 * Documentation/filesystems/proc.rst, Documentation/accounting/psi.rst, Documentation/admin-guide/sysctl/vm.rst). */
#include "memory.h"

/* Linux before 4.8 counts by zone; a plain beginning would take pgscan_direct_throttle, a count of another thing, as well. */
#define BY_ZONE(name) name "? " name "_dma? " name "_dma32? " name "_normal? " name "_movable?"
#define OF(field)     offsetof(struct conf, field)

/* clang-format off */
const struct sonde_stream memory_streams[STREAMS] = {
	/* One column before Linux 4.10, one for each zone since. */
	[STALLS] = { "mem.allocation_stalls", "vmstat", .plus = "allocstall*", .over = "time",
		     .threshold = OF(stalls), .hold = OF(hold) },
	[SWAP_IN] = { "mem.swap_in", "vmstat", .plus = "pswpin", .over = "time", .threshold = OF(swapping) },
	[SWAP_OUT] = { "mem.swap_out", "vmstat", .plus = "pswpout", .over = "time",
		       .threshold = OF(swapping), .hold = OF(hold), .also = SWAP_IN + 1 },
	[OOM] = { "mem.oom", "vmstat", .plus = "oom_kill", .over = "time", .threshold = OF(zero) },
	/* What is not available, so that little is much. */
	[USED] = { "mem.used", "meminfo", .plus = "mem_total", .minus = "mem_available", .over = "mem_total",
		   .threshold = OF(available) },
	[AVAILABLE] = { "mem.available", "meminfo", .plus = "mem_available" },
	/* Before Linux 3.14: all page cache and reclaimable slab, of which the watermarks and what is in use are not taken off,
	 * so at most that much is available (Documentation/filesystems/proc.rst, MemAvailable). */
	[USED_LEAST] = { "mem.unavailable_least", "meminfo", .plus = "mem_total shmem?",
			 .minus = "mem_free buffers cached s_reclaimable?", .over = "mem_total", .threshold = OF(available) },
	[AVAILABLE_MOST] = { "mem.available_most", "meminfo", .plus = "mem_free buffers cached s_reclaimable?", .minus = "shmem?" },
	[FULL] = { "mem.pressure_full", "psi", .where = "resource=memory", .plus = "full_total", .over = "wall time",
		   .threshold = OF(pressure), .hold = OF(hold) },
	/* Apart, so that a report says when it was that bad. */
	[FULL_CRITICAL] = { "mem.pressure_full", "psi", .where = "resource=memory", .plus = "full_total", .over = "wall time",
			    .threshold = OF(pressure_critical), .hold = OF(hold) },
	[SOME] = { "mem.pressure_some", "psi", .where = "resource=memory", .plus = "some_total", .over = "wall time" },
	/* Instead of PSI: pages that came back soon after they were taken away, while tasks had to reclaim by themselves. */
	[DIRECT_SCAN] = { "mem.direct_scan", "vmstat", .plus = BY_ZONE("pgscan_direct"), .over = "time", .threshold = OF(zero) },
	[REFAULT_STALLS] = { "mem.refaults", "vmstat", .plus = "workingset_refault? workingset_refault_anon? workingset_refault_file?", .over = "time",
			     .threshold = OF(refaults), .hold = OF(hold), .also = DIRECT_SCAN + 1 },
	[MAJOR] = { "mem.process_major_faults", "process", .plus = "majflt", .over = "time",
		    .threshold = OF(major), .hold = OF(hold), .keys = 64 },
	[MINOR] = { "mem.process_minor_faults", "process", .plus = "minflt", .over = "time",
		    .threshold = OF(minor), .hold = OF(hold), .keys = 64 },
	/* Whoever gets half a CPU can take but half as many in a second. */
	[MINOR_OF_CPU] = { "mem.process_faults_of_cpu", "process", .plus = "minflt", .over = "utime stime",
			   .threshold = OF(minor_ns), .hold = OF(hold), .floor = OF(minor_cpu), .keys = 64 },
	[FAULTS] = { "mem.faults", "vmstat", .plus = "pgfault", .over = "time" },
	[MAJOR_FAULTS] = { "mem.major_faults", "vmstat", .plus = "pgmajfault", .over = "time" },
	[KSWAPD_SCAN] = { "mem.kswapd_scan", "vmstat", .plus = BY_ZONE("pgscan_kswapd"), .over = "time" },
	[KSWAPD_STEAL] = { "mem.kswapd_reclaim", "vmstat", .plus = BY_ZONE("pgsteal_kswapd"), .over = "time" },
	[DIRECT_STEAL] = { "mem.direct_reclaim", "vmstat", .plus = BY_ZONE("pgsteal_direct"), .over = "time" },
	[REFAULTS_ANON] = { "mem.refaults_anon", "vmstat", .plus = "workingset_refault_anon", .over = "time" },
	[REFAULTS_FILE] = { "mem.refaults_file", "vmstat", .plus = "workingset_refault_file", .over = "time" },
	/* In KiB, whatever the page size (mm/vmstat.c). */
	[PAGED_IN] = { "mem.paged_in", "vmstat", .plus = "pgpgin", .over = "time" },
	[PAGED_OUT] = { "mem.paged_out", "vmstat", .plus = "pgpgout", .over = "time" },
	[FREE] = { "mem.free", "meminfo", .plus = "mem_free" },
	[DIRTY] = { "mem.dirty", "meminfo", .plus = "dirty writeback?" },
	[SWAP_USED] = { "mem.swap_used", "meminfo", .plus = "swap_total", .minus = "swap_free" },
	[SWAP_SHARE] = { "mem.swap_share", "meminfo", .plus = "swap_total", .minus = "swap_free", .over = "swap_total" },
	[OOM_KILLS] = { "mem.oom_kills", "vmstat", .plus = "oom_kill", .over = "time" },
	[IO_SOME] = { "io.pressure_some", "psi", .where = "resource=io", .plus = "some_total", .over = "wall time" },
	[IO_FULL] = { "io.pressure_full", "psi", .where = "resource=io", .plus = "full_total", .over = "wall time" },
	/* Each controller, and on some machines each half of a channel, apart. */
	[BANDWIDTH] = { "mem.bandwidth", "perf_event_memory", .plus = "bytes_read* bytes_written*", .over = "time", .reduce = SONDE_SUM },
	[BANDWIDTH_OF] = { "mem.cpu_bandwidth", "perf_event_memory", .plus = "bytes_read* bytes_written*", .over = "time", .key = "cpu" },
	[SOCKETS] = { "mem.socket", "topology_cpu", .plus = "socket", .key = "cpu", .keys = 1024, .reduce = SONDE_SETTING },
	/* Of whom work stands still: at its limit, or with most faults. The first is there wherever events are counted, none as well. */
	[GROUP_LIMITED] = { "mem.cgroup_limited", "cgroup", .plus = "events_max", .over = "memory_current", .key = "path", .keys = 16 },
	[GROUP_AT_LIMIT] = { "mem.cgroup_at_limit", "cgroup", .plus = "events_max? events_high?", .over = "time", .key = "path", .keys = 64 },
	[GROUP_MAJOR] = { "mem.cgroup_major_faults", "process", .plus = "majflt", .over = "time", .key = "cgroup", .keys = 64 },
};
/* clang-format on */
