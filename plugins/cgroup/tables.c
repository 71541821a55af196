/* The tables of the collector `cgroup`: what each value is (Documentation/admin-guide/cgroup-v2.rst; of version 1,
 * Documentation/admin-guide/cgroup-v1 and Documentation/scheduler/sched-bwc.rst). */
#include "cgroup.h"

#define KEYS                                                                                       \
	[PATH] = { "path",                                                                         \
		   SONDE_STR,                                                                      \
		   SONDE_KEY,                                                                      \
		   SONDE_NONE,                                                                     \
		   .origin = "folder",                                                             \
		   .help = "From the hierarchy's root on: bytes, whatever they are",               \
		   .sensitivity = SONDE_NAME },                                                    \
	[BIRTH] = { "birth",                                                                       \
		    SONDE_U64,                                                                     \
		    SONDE_KEY,                                                                     \
		    SONDE_NONE,                                                                    \
		    .origin = "folder",                                                            \
		    .help = "0: there when sonde started; those that came later are numbered as "  \
			    "they were found, so that one made again under a path is another" }

#define NAMED(name, from, text)                                                                    \
	{                                                                                          \
		name, SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = from, .help = text,             \
							 .sensitivity = SONDE_NAME                 \
	}
#define LIST(name, from, text)                                                                     \
	{                                                                                          \
		name, SONDE_STR, SONDE_STATE, SONDE_NONE, .origin = from, .help = text             \
	}
#define SETTING(name, unit, from, text)                                                            \
	{                                                                                          \
		name, SONDE_U64, SONDE_STATE, unit, .origin = from, .help = text                   \
	}
#define GAUGE(name, unit, from, text)                                                              \
	{                                                                                          \
		name, SONDE_U64, SONDE_GAUGE, unit, .origin = from, .help = text                   \
	}
#define COUNTER(name, unit, from, text)                                                            \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, unit, .origin = from, .help = text                 \
	}
#define EVENTS(name, from, text) COUNTER(name, SONDE_COUNT("events"), from, text)

/* clang-format off */
static const struct sonde_column columns[CGROUP_COLUMNS] = {
	KEYS,
	[UNIT]          = NAMED("unit", "path", "The systemd unit that it is or lies in"),
	[POD_UID]       = NAMED("pod_uid", "path", "Of the Kubernetes pod, as the path has it: with _ for - where systemd makes the cgroups"),
	[POD]           = NAMED("pod", "/var/log/pods, /var/log/containers", "Kubernetes pod"),
	[NAMESPACE]     = NAMED("namespace", "/var/log/pods, /var/log/containers", "Kubernetes namespace of the pod"),
	[CONTAINER_ID]  = NAMED("container_id", "path", "64 hex digits"),
	[CONTAINER]     = NAMED("container", "/var/log/containers, /var/lib/docker, /var/lib/containers", "The container's name, as Kubernetes, Docker or Podman keep it on this node"),
	[CPUSET_CPUS]   = LIST("cpuset_cpus", "cpuset.cpus.effective", "CPUs on which its tasks may run; version 1: cpuset.effective_cpus"),
	[CPUSET_MEMS]   = LIST("cpuset_mems", "cpuset.mems.effective", "NUMA nodes from which they may take memory; version 1: cpuset.effective_mems"),
	[EFFECTIVE_CPUS_FROM]   = NAMED("effective_cpus_from", "cpu.max of it and those above", "The cgroup whose quota is effective_cpus"),
	[EFFECTIVE_MEMORY_FROM] = NAMED("effective_memory_max_from", "memory.max of it and those above", "The cgroup whose limit is effective_memory_max; absent: one above those that can be seen"),
	[CPU_WEIGHT]    = SETTING("cpu_weight", SONDE_NONE, "cpu.weight", "Its share where CPU is short, against its siblings' weights; 100 unless set"),
	[CPU_SHARES]    = SETTING("cpu_shares", SONDE_NONE, "cpu.shares", "Version 1's weight; 1024 unless set"),
	[CPU_QUOTA]     = SETTING("cpu_quota", SONDE_US, "cpu.max number 1", "CPU time that it may use in a period; absent: no limit; version 1: cpu.cfs_quota_us"),
	[CPU_PERIOD]    = SETTING("cpu_period", SONDE_US, "cpu.max number 2", "The period; version 1: cpu.cfs_period_us"),
	[EFFECTIVE_CPUS] = { "effective_cpus", SONDE_F64, SONDE_STATE, SONDE_COUNT("CPUs"), .origin = "cpu.max of it and those above", .help = "Least quota by period of this cgroup and all above: as many CPUs it can use in the long run; absent: no limit" },
	[MEMORY_HIGH]   = SETTING("memory_high", SONDE_BYTES, "memory.high", "Above it its tasks are slowed down and reclaim; absent: none"),
	[MEMORY_MAX]    = SETTING("memory_max", SONDE_BYTES, "memory.max", "Hard limit: above it the OOM killer comes; absent: none; version 1: memory.limit_in_bytes"),
	[EFFECTIVE_MEMORY_MAX] = SETTING("effective_memory_max", SONDE_BYTES, "memory.max of it and those above", "Least limit of this cgroup and all above; absent: none"),
	[SWAP_MAX]      = SETTING("memory_swap_max", SONDE_BYTES, "memory.swap.max", "Limit of swap; absent: none"),
	[PIDS_MAX]      = SETTING("pids_max", SONDE_COUNT("tasks"), "pids.max", "Limit of tasks; absent: none"),

	[USAGE]         = COUNTER("usage", SONDE_NS, "cpu.stat usage_usec", "CPU time of its tasks and those of cgroups below; version 1: cpuacct.usage"),
	[USER]          = COUNTER("user", SONDE_NS, "cpu.stat user_usec", "Of it, in user mode; version 1: cpuacct.stat, in ticks"),
	[SYSTEM]        = COUNTER("system", SONDE_NS, "cpu.stat system_usec", "Of it, in the kernel; version 1: cpuacct.stat, in ticks"),
	[NICE]          = COUNTER("nice", SONDE_NS, "cpu.stat nice_usec", "Of user, with a positive nice value; since 6.11"),
	[NR_PERIODS]    = COUNTER("nr_periods", SONDE_COUNT("periods"), "cpu.stat nr_periods", "Periods of the quota in which it ran"),
	[NR_THROTTLED]  = COUNTER("nr_throttled", SONDE_COUNT("periods"), "cpu.stat nr_throttled", "Periods in which it used up its quota and had to wait; a quota further up throttles there"),
	[THROTTLED]     = COUNTER("throttled", SONDE_NS, "cpu.stat throttled_usec", "Time it had to wait, added up over CPUs: more than wall time where it runs on many; version 1: throttled_time"),
	[NR_BURSTS]     = COUNTER("nr_bursts", SONDE_COUNT("periods"), "cpu.stat nr_bursts", "Periods in which it used what it had saved (cpu.max.burst)"),
	[BURST]         = COUNTER("burst", SONDE_NS, "cpu.stat burst_usec", "CPU time above the quota that it used so; version 1: burst_time"),
	[MEMORY_CURRENT] = GAUGE("memory_current", SONDE_BYTES, "memory.current", "In use, page cache that can be reclaimed included; version 1: memory.usage_in_bytes"),
	[MEMORY_PEAK]   = GAUGE("memory_peak", SONDE_BYTES, "memory.peak", "Largest so far; version 1: memory.max_usage_in_bytes"),
	[SWAP_CURRENT]  = GAUGE("memory_swap_current", SONDE_BYTES, "memory.swap.current", "Swapped out"),
	[EVENTS_LOW]    = EVENTS("events_low", "memory.events low", "Reclaimed although below memory.low: too much is promised"),
	[EVENTS_HIGH]   = EVENTS("events_high", "memory.events high", "Tasks were slowed down above memory.high"),
	[EVENTS_MAX]    = EVENTS("events_max", "memory.events max", "It was at memory.max and had to reclaim; version 1: memory.failcnt"),
	[EVENTS_OOM]    = EVENTS("events_oom", "memory.events oom", "Reclaim gave too little: an allocation was about to fail"),
	[EVENTS_OOM_KILL] = COUNTER("events_oom_kill", SONDE_COUNT("processes"), "memory.events oom_kill", "Killed by the OOM killer, whosever limit it was; version 1: memory.oom_control oom_kill"),
	[EVENTS_OOM_GROUP_KILL] = EVENTS("events_oom_group_kill", "memory.events oom_group_kill", "All of it was killed (memory.oom.group)"),
	[PIDS_CURRENT]  = GAUGE("pids_current", SONDE_COUNT("tasks"), "pids.current", "Processes and threads"),
	[PIDS_EVENTS_MAX] = EVENTS("pids_events_max", "pids.events max", "A fork failed at a limit of tasks"),
};

static const struct sonde_column pressure_columns[PRESSURE_COLUMNS] = {
	KEYS,
	[RESOURCE]   = { "resource", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "name of the file", .help = "cpu, memory, io or irq" },
	[SOME_TOTAL] = COUNTER("some_total", SONDE_US, "some total=", "Wall time in which at least one of its tasks was stalled"),
	[FULL_TOTAL] = COUNTER("full_total", SONDE_US, "full total=", "Wall time in which all of its tasks that were not idle were stalled: for cpu, throttled or kept off by others"),
};

static const struct sonde_column io_columns[IO_COLUMNS] = {
	KEYS,
	[MAJOR]  = { "major", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "major number", .help = "Device, as in table disk" },
	[MINOR]  = { "minor", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "minor number", .help = "Device, as in table disk" },
	[RBYTES] = COUNTER("rbytes", SONDE_BYTES, "rbytes=", "Read"),
	[WBYTES] = COUNTER("wbytes", SONDE_BYTES, "wbytes=", "Written; writeback counts here only where the file system knows whose pages they were"),
	[RIOS]   = COUNTER("rios", SONDE_COUNT("requests"), "rios=", "Reads"),
	[WIOS]   = COUNTER("wios", SONDE_COUNT("requests"), "wios=", "Writes"),
	[DBYTES] = COUNTER("dbytes", SONDE_BYTES, "dbytes=", "Discarded; since 4.20"),
	[DIOS]   = COUNTER("dios", SONDE_COUNT("requests"), "dios=", "Discards; since 4.20"),
};

static const struct sonde_column total_columns[TOTAL_COLUMNS] = {
	[TOTAL_FOUND]    = GAUGE("found", SONDE_COUNT("cgroups"), NULL, "Down to `depth`, and chosen by `cgroup` or `pids` where these are set"),
	[TOTAL_ROWS]     = GAUGE("rows", SONDE_COUNT("cgroups"), NULL, "With a row in this sample"),
	[TOTAL_OMITTED]  = GAUGE("omitted", SONDE_COUNT("cgroups"), NULL, "Without one: `max`, which the busiest are within"),
	[TOTAL_VANISHED] = COUNTER("vanished", SONDE_COUNT("cgroups"), NULL, "Removed while they were watched"),
};

/* What memory.stat of version 2 has: bytes in use, then events, most of them as in /proc/vmstat. */
#define MEMORY_STAT(BYTES_, EVENT_)                                                                \
	BYTES_(anon, "Anonymous memory, tmpfs not counted")                                        \
	BYTES_(file, "Page cache, tmpfs and shared memory included")                               \
	BYTES_(kernel, "Kernel memory of all kinds; since 5.18")                                   \
	BYTES_(kernel_stack, "Stacks of its tasks in the kernel")                                  \
	BYTES_(pagetables, "Page tables")                                                          \
	BYTES_(sec_pagetables, "Page tables of virtual machines and IOMMUs; since 6.1")            \
	BYTES_(percpu, "Per-CPU data of the kernel")                                               \
	BYTES_(sock, "Buffers of sockets")                                                         \
	BYTES_(vmalloc, "vmalloc() areas")                                                         \
	BYTES_(shmem, "tmpfs and shared memory, part of file")                                     \
	BYTES_(zswap, "Compressed memory in zswap")                                                \
	BYTES_(zswapped, "What zswap holds, uncompressed")                                         \
	BYTES_(zswap_incomp, "Pages in zswap that could not be compressed")                        \
	BYTES_(file_mapped, "Page cache that is mapped, part of file")                             \
	BYTES_(file_dirty, "Page cache to be written, part of file")                               \
	BYTES_(file_writeback, "Page cache being written, part of file")                           \
	BYTES_(swapcached, "Swapped out and in memory as well")                                    \
	BYTES_(anon_thp, "Anonymous memory in transparent huge pages, part of anon")               \
	BYTES_(file_thp, "Page cache in transparent huge pages, part of file")                     \
	BYTES_(shmem_thp, "tmpfs and shared memory in transparent huge pages, part of shmem")      \
	BYTES_(inactive_anon, "On reclaim's list: swapped out first")                              \
	BYTES_(active_anon, "On reclaim's list: used of late")                                     \
	BYTES_(inactive_file, "On reclaim's list: dropped first")                                  \
	BYTES_(active_file, "On reclaim's list: used of late")                                     \
	BYTES_(unevictable, "Locked: not reclaimable")                                             \
	BYTES_(slab_reclaimable, "Slab that can be reclaimed: dentries, inodes")                   \
	BYTES_(slab_unreclaimable, "Slab that cannot")                                             \
	BYTES_(slab, "Both")                                                                       \
	BYTES_(hugetlb, "hugetlb pages, where the mount option counts them; since 6.13")           \
	EVENT_(workingset_refault) EVENT_(workingset_activate) EVENT_(workingset_restore)          \
	EVENT_(workingset_refault_anon) EVENT_(workingset_refault_file)                            \
	EVENT_(workingset_activate_anon) EVENT_(workingset_activate_file)                          \
	EVENT_(workingset_restore_anon) EVENT_(workingset_restore_file)                            \
	EVENT_(workingset_nodereclaim)                                                             \
	EVENT_(pgdemote_kswapd) EVENT_(pgdemote_direct) EVENT_(pgdemote_khugepaged)                \
	EVENT_(pgdemote_proactive)                                                                 \
	EVENT_(pgscan) EVENT_(pgsteal) EVENT_(pgscan_kswapd) EVENT_(pgscan_direct)                 \
	EVENT_(pgscan_khugepaged) EVENT_(pgscan_proactive)                                         \
	EVENT_(pgsteal_kswapd) EVENT_(pgsteal_direct) EVENT_(pgsteal_khugepaged)                   \
	EVENT_(pgsteal_proactive)                                                                  \
	EVENT_(pgpromote_success) EVENT_(pswpin) EVENT_(pswpout)                                   \
	EVENT_(pgfault) EVENT_(pgmajfault) EVENT_(pgrefill) EVENT_(pgactivate)                     \
	EVENT_(pgdeactivate) EVENT_(pglazyfree) EVENT_(pglazyfreed)                                \
	EVENT_(swpin_zero) EVENT_(swpout_zero) EVENT_(zswpin) EVENT_(zswpout) EVENT_(zswpwb)       \
	EVENT_(thp_fault_alloc) EVENT_(thp_collapse_alloc) EVENT_(thp_swpout)                      \
	EVENT_(thp_swpout_fallback)                                                                \
	EVENT_(numa_pages_migrated) EVENT_(numa_pte_updates) EVENT_(numa_hint_faults)

/* And of version 1, where the sums over the cgroups below are called total_*; up to 5.x and where use_hierarchy is 0, both
 * are the cgroup's own. */
#define MEMORY_STAT_V1(BYTES_, EVENT_)                                                             \
	BYTES_(total_cache, "Page cache, tmpfs and shared memory included")                        \
	BYTES_(total_rss, "Anonymous memory, transparent huge pages included; no resident set")    \
	BYTES_(total_rss_huge, "Of it, in transparent huge pages")                                 \
	BYTES_(total_shmem, "tmpfs and shared memory, part of total_cache")                        \
	BYTES_(total_mapped_file, "Page cache that is mapped")                                     \
	BYTES_(total_dirty, "Page cache to be written")                                            \
	BYTES_(total_writeback, "Page cache being written")                                        \
	BYTES_(total_swap, "Swapped out")                                                          \
	BYTES_(total_inactive_anon, "On reclaim's list: swapped out first")                        \
	BYTES_(total_active_anon, "On reclaim's list: used of late")                               \
	BYTES_(total_inactive_file, "On reclaim's list: dropped first")                            \
	BYTES_(total_active_file, "On reclaim's list: used of late")                               \
	BYTES_(total_unevictable, "Locked: not reclaimable")                                       \
	EVENT_(total_pgpgin) EVENT_(total_pgpgout) EVENT_(total_pgfault) EVENT_(total_pgmajfault)  \
	EVENT_(total_workingset_refault_anon) EVENT_(total_workingset_refault_file)

#define BYTES_SLOT(key, text)   SLOT_##key,
#define EVENT_SLOT(key)         SLOT_##key,
#define BYTES_COLUMN(key, text) [SLOT_##key] = { #key, SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = #key, .help = text },
#define EVENT_COLUMN(key)       [SLOT_##key] = { #key, SONDE_U64, SONDE_COUNTER, SONDE_COUNT("events"), .origin = #key, .help = "This cgroup's part of vmstat." #key },
#define EVENT_COLUMN_V1(key)    [SLOT_##key] = { #key, SONDE_U64, SONDE_COUNTER, SONDE_COUNT("events"), .origin = #key, .help = "As in vmstat, of it and the cgroups below" },
#define BYTES_KEY(key, text)    { #key, SLOT_##key, 1 },
#define EVENT_KEY(key)          { #key, SLOT_##key, 1 },

enum { BEFORE_MEMORY = BIRTH, MEMORY_STAT(BYTES_SLOT, EVENT_SLOT) };
enum { BEFORE_MEMORY_V1 = BIRTH, MEMORY_STAT_V1(BYTES_SLOT, EVENT_SLOT) };

static const struct sonde_column memory_columns[] = { KEYS, MEMORY_STAT(BYTES_COLUMN, EVENT_COLUMN) };
static const struct sonde_column memory_v1_columns[] = { KEYS, MEMORY_STAT_V1(BYTES_COLUMN, EVENT_COLUMN_V1) };
static const struct cgroup_key stat_keys[] = { MEMORY_STAT(BYTES_KEY, EVENT_KEY) };
static const struct cgroup_key stat_v1_keys[] = { MEMORY_STAT_V1(BYTES_KEY, EVENT_KEY) };
/* clang-format on */

const struct cgroup_keys memory_keys = { stat_keys, sizeof stat_keys / sizeof stat_keys[0] };
const struct cgroup_keys memory_v1_keys = { stat_v1_keys,
					    sizeof stat_v1_keys / sizeof stat_v1_keys[0] };

const struct sonde_table cgroup_tables[CGROUP_TABLES] = {
	[TABLE_CGROUP] = { "cgroup", SONDE_COLUMNS(columns), .origin = "/sys/fs/cgroup/PATH",
			   .help = "Control groups: CPU time, throttling, memory, limits, tasks.",
			   .rows = 256 },
	[TABLE_MEMORY] = { "cgroup_memory", SONDE_COLUMNS(memory_columns),
			   .origin = "/sys/fs/cgroup/PATH/memory.stat",
			   .help = "Memory of control groups by use, and reclaim's work on it.",
			   .rows = 256 },
	[TABLE_MEMORY_V1] = { "cgroup_memory_v1", SONDE_COLUMNS(memory_v1_columns),
			      .origin = "/sys/fs/cgroup/memory/PATH/memory.stat",
			      .help = "The same where the memory controller is version 1's.",
			      .rows = 256 },
	[TABLE_PRESSURE] = { "cgroup_pressure", SONDE_COLUMNS(pressure_columns),
			     .origin = "/sys/fs/cgroup/PATH/RESOURCE.pressure",
			     .help = "Pressure stall information of control groups.",
			     .rows = 1024 },
	[TABLE_IO] = { "cgroup_io", SONDE_COLUMNS(io_columns),
		       .origin = "/sys/fs/cgroup/PATH/io.stat",
		       .help = "Block I/O of control groups by device.", .rows = 256 },
	[TABLE_CGROUPS] = { "cgroups", SONDE_COLUMNS(total_columns), .origin = "sonde",
			    .help = "What the sample covered." },
};
