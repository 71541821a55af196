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
	[OOM] = { "mem.oom_kills", "vmstat", .plus = "oom_kill", .over = "time", .threshold = OF(zero) },
	/* What is not available, so that little is much. */
	[USED] = { "mem.unavailable", "meminfo", .plus = "mem_total", .minus = "mem_available", .over = "mem_total",
		   .threshold = OF(available) },
	[AVAILABLE] = { "mem.available", "meminfo", .plus = "mem_available" },
	[FULL] = { "mem.pressure_full", "psi", .where = "resource=memory", .plus = "full_total", .over = "time",
		   .threshold = OF(pressure), .hold = OF(hold) },
	/* Apart, so that a report says when it was that bad. */
	[FULL_CRITICAL] = { "mem.pressure_full", "psi", .where = "resource=memory", .plus = "full_total", .over = "time",
			    .threshold = OF(pressure_critical), .hold = OF(hold) },
	[SOME] = { "mem.pressure_some", "psi", .where = "resource=memory", .plus = "some_total", .over = "time" },
	/* Instead of PSI: pages that came back soon after they were taken away, while tasks had to reclaim by themselves. */
	[DIRECT_SCAN] = { "mem.direct_scan", "vmstat", .plus = BY_ZONE("pgscan_direct"), .over = "time", .threshold = OF(zero) },
	[REFAULT_STALLS] = { "mem.refaults", "vmstat", .plus = "workingset_refault? workingset_refault_anon? workingset_refault_file?", .over = "time",
			     .threshold = OF(refaults), .hold = OF(hold), .also = DIRECT_SCAN + 1 },
	[MAJOR] = { "mem.process_major_faults", "process", .plus = "majflt", .over = "time",
		    .threshold = OF(major), .hold = OF(hold), .keys = 64 },
	[MINOR] = { "mem.process_minor_faults", "process", .plus = "minflt", .over = "time",
		    .threshold = OF(minor), .hold = OF(hold), .keys = 64 },
	[FAULTS] = { "mem.faults", "vmstat", .plus = "pgfault", .over = "time" },
	[MAJOR_FAULTS] = { "mem.major_faults", "vmstat", .plus = "pgmajfault", .over = "time" },
	[KSWAPD_SCAN] = { "mem.kswapd_scan", "vmstat", .plus = BY_ZONE("pgscan_kswapd"), .over = "time" },
	[KSWAPD_STEAL] = { "mem.kswapd_steal", "vmstat", .plus = BY_ZONE("pgsteal_kswapd"), .over = "time" },
	[DIRECT_STEAL] = { "mem.direct_steal", "vmstat", .plus = BY_ZONE("pgsteal_direct"), .over = "time" },
	[REFAULTS_ANON] = { "mem.refaults_anon", "vmstat", .plus = "workingset_refault_anon", .over = "time" },
	[REFAULTS_FILE] = { "mem.refaults_file", "vmstat", .plus = "workingset_refault_file", .over = "time" },
	/* In KiB, whatever the page size (mm/vmstat.c). */
	[PAGED_IN] = { "mem.paged_in", "vmstat", .plus = "pgpgin", .over = "time" },
	[PAGED_OUT] = { "mem.paged_out", "vmstat", .plus = "pgpgout", .over = "time" },
	[FREE] = { "mem.free", "meminfo", .plus = "mem_free" },
	[DIRTY] = { "mem.dirty", "meminfo", .plus = "dirty writeback?" },
	[SWAP_USED] = { "mem.swap_used", "meminfo", .plus = "swap_total", .minus = "swap_free" },
	[IO_SOME] = { "io.pressure_some", "psi", .where = "resource=io", .plus = "some_total", .over = "time" },
	[IO_FULL] = { "io.pressure_full", "psi", .where = "resource=io", .plus = "full_total", .over = "time" },
};
/* clang-format on */
