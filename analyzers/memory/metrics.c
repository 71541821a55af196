/* Metrics of the analyzer `memory`. */
#include "memory.h"

#define PER_SECOND(stream, name, what, way, origin)                                                \
	{                                                                                          \
		stream, name, SONDE_BASE_COUNT, way, what "/s", origin                             \
	}
#define SHARE(stream, name, origin)                                                                \
	{                                                                                          \
		stream, name, SONDE_BASE_RATIO, SONDE_DOWN_IS_BETTER, NULL, origin                 \
	}

/* clang-format off */
static const struct sonde_mean_metric metrics[] = {
	{ AVAILABLE, "mem.available", SONDE_BASE_BYTES, SONDE_UP_IS_BETTER, NULL, "/proc/meminfo MemAvailable:" },
	SHARE(USED, "mem.used", "/proc/meminfo MemTotal: less MemAvailable:, of MemTotal:"),
	{ FREE, "mem.free", SONDE_BASE_BYTES, SONDE_NEITHER, NULL, "/proc/meminfo MemFree:" },
	{ DIRTY, "mem.dirty", SONDE_BASE_BYTES, SONDE_NEITHER, NULL, "/proc/meminfo Dirty: Writeback:" },
	{ SWAP_USED, "mem.swap_used", SONDE_BASE_BYTES, SONDE_DOWN_IS_BETTER, NULL, "/proc/meminfo SwapTotal: less SwapFree:" },
	SHARE(SWAP_SHARE, "mem.swap_share", "/proc/meminfo SwapTotal: less SwapFree:, of SwapTotal:"),
	PER_SECOND(OOM_KILLS, "mem.oom_kills", "kills", SONDE_DOWN_IS_BETTER, "/proc/vmstat oom_kill"),
	SHARE(SOME, "mem.pressure_some", "/proc/pressure/memory some total="),
	SHARE(FULL, "mem.pressure_full", "/proc/pressure/memory full total="),
	SHARE(IO_SOME, "io.pressure_some", "/proc/pressure/io some total="),
	SHARE(IO_FULL, "io.pressure_full", "/proc/pressure/io full total="),
	PER_SECOND(FAULTS, "mem.faults", "faults", SONDE_NEITHER, "/proc/vmstat pgfault"),
	PER_SECOND(MAJOR_FAULTS, "mem.major_faults", "faults", SONDE_DOWN_IS_BETTER, "/proc/vmstat pgmajfault"),
	PER_SECOND(STALLS, "mem.allocation_stalls", "stalls", SONDE_DOWN_IS_BETTER, "/proc/vmstat allocstall*"),
	PER_SECOND(KSWAPD_SCAN, "mem.kswapd_scan", "pages", SONDE_DOWN_IS_BETTER, "/proc/vmstat pgscan_kswapd"),
	PER_SECOND(KSWAPD_STEAL, "mem.kswapd_reclaim", "pages", SONDE_DOWN_IS_BETTER, "/proc/vmstat pgsteal_kswapd"),
	PER_SECOND(DIRECT_SCAN, "mem.direct_scan", "pages", SONDE_DOWN_IS_BETTER, "/proc/vmstat pgscan_direct"),
	PER_SECOND(DIRECT_STEAL, "mem.direct_reclaim", "pages", SONDE_DOWN_IS_BETTER, "/proc/vmstat pgsteal_direct"),
	PER_SECOND(REFAULT_STALLS, "mem.refaults", "pages", SONDE_DOWN_IS_BETTER, "/proc/vmstat workingset_refault*"),
	PER_SECOND(REFAULTS_ANON, "mem.refaults_anon", "pages", SONDE_DOWN_IS_BETTER, "/proc/vmstat workingset_refault_anon"),
	PER_SECOND(REFAULTS_FILE, "mem.refaults_file", "pages", SONDE_DOWN_IS_BETTER, "/proc/vmstat workingset_refault_file"),
	PER_SECOND(SWAP_IN, "mem.swap_in", "pages", SONDE_DOWN_IS_BETTER, "/proc/vmstat pswpin"),
	PER_SECOND(SWAP_OUT, "mem.swap_out", "pages", SONDE_DOWN_IS_BETTER, "/proc/vmstat pswpout"),
	{ PAGED_IN, "mem.paged_in", SONDE_BASE_BYTES, SONDE_NEITHER, "/s", "/proc/vmstat pgpgin" },
	{ PAGED_OUT, "mem.paged_out", SONDE_BASE_BYTES, SONDE_NEITHER, "/s", "/proc/vmstat pgpgout" },
};
/* clang-format on */

void memory_metrics(struct sonde_instance *self)
{
	const struct sonde_series *series = sonde_single(self, AVAILABLE);
	const struct sonde_metric least = {
		.name = "mem.available_least",
		.about = "",
		.value = series ? series->total.min : 0,
		.unit = SONDE_BASE_BYTES,
		.direction = SONDE_UP_IS_BETTER,
		.origin = "/proc/meminfo MemAvailable:, smallest",
	};

	sonde_mean_metrics(self, metrics, sizeof metrics / sizeof metrics[0]);
	if (series)
		sonde_metric(self, &least);
}
