/* The findings of the analyzer `memory` that are about the host. */
#include "memory.h"

static const struct sonde_advice direct_reclaim = {
	.id = "mem.direct_reclaim",
	.why = "Free memory ran so low that tasks had to free some by themselves before they got any: each such "
	       "allocation takes micro- to milliseconds more.",
	.action =
		"Give kswapd an earlier start: sysctl vm.watermark_scale_factor=100; or use less memory, or add some.",
	.need = "root",
	.risk = "more memory stays free and is no cache",
	.undo = "sysctl vm.watermark_scale_factor=10 (the kernel's default)",
};
static const struct sonde_advice swapping = {
	.id = "mem.swapping",
	.why = "Memory that was swapped out is needed again at once: the working set does not fit, and every access to "
	       "such a page waits for the swap device.",
	.action =
		"Find what is in swap (grep VmSwap /proc/[0-9]*/status | sort -k2 -n) and run less of it at once, or "
		"add memory; for a service set MemoryLow= so that others give way first.",
	.need = "root, for systemctl set-property UNIT MemoryLow=",
	.risk = "other services are reclaimed first",
	.undo = "systemctl revert UNIT",
};
static const struct sonde_advice oom = {
	.id = "mem.oom",
	.why = "The kernel found no memory to free and killed a process: its work is lost.",
	.action =
		"See which one and why (journalctl -k -g 'Out of memory|oom-kill'); limit what grows (MemoryMax=), or "
		"add memory.",
	.need = "root, or group adm, for the kernel's log",
	.risk = "",
	.undo = "",
};
static const struct sonde_advice low_available = {
	.id = "mem.low_available",
	.why = "What new work can have without swapping was nearly nothing: the next burst meets reclaim, swap or the OOM "
	       "killer.",
	.action =
		"See who uses it (ps -eo rss,pid,comm --sort=-rss | head); run less of it at once, or add memory.",
	.need = "",
	.risk = "",
	.undo = "",
};
/* clang-format off */
static const struct sonde_mean_metric direct_scan = { DIRECT_SCAN, "mem.direct_scan", SONDE_BASE_COUNT, SONDE_NEITHER, "pages/s", "/proc/vmstat pgscan_direct" };
static const struct sonde_mean_metric refaults = { REFAULT_STALLS, "mem.refaults", SONDE_BASE_COUNT, SONDE_NEITHER, "pages/s", "/proc/vmstat workingset_refault*" };
static const struct sonde_mean_metric stalls = { STALLS, "mem.allocation_stalls", SONDE_BASE_COUNT, SONDE_NEITHER, "stalls/s", "/proc/vmstat allocstall*" };
static const struct sonde_mean_metric available = { AVAILABLE, "mem.available", SONDE_BASE_BYTES, SONDE_NEITHER, NULL, "/proc/meminfo MemAvailable:" };
static const struct sonde_mean_metric some = { SOME, "mem.pressure_some", SONDE_BASE_RATIO, SONDE_NEITHER, NULL, "/proc/pressure/memory some total=" };
static const struct sonde_mean_metric full = { FULL, "mem.pressure_full", SONDE_BASE_RATIO, SONDE_NEITHER, NULL, "/proc/pressure/memory full total=" };
static const struct sonde_mean_metric swap_out = { SWAP_OUT, "mem.swap_out", SONDE_BASE_COUNT, SONDE_NEITHER, "pages/s", "/proc/vmstat pswpout" };
static const struct sonde_mean_metric swap_in = { SWAP_IN, "mem.swap_in", SONDE_BASE_COUNT, SONDE_NEITHER, "pages/s", "/proc/vmstat pswpin" };
/* clang-format on */

/* The finding's own value, then the means of others while it held. */
static void report(struct sonde_instance *self, const struct sonde_advice *advice,
		   enum sonde_severity severity, const char *title, const struct sonde_held *held,
		   const struct sonde_evidence *own, const struct sonde_mean_metric *const *extras)
{
	struct sonde_proof proof = { .items = { *own }, .count = 1 };

	for (; *extras; extras++)
		sonde_prove_mean(self, &proof, held, *extras);
	sonde_found(self, advice, severity, "host", title, held, sonde_weight(held), &proof);
}

static void judge_oom(struct sonde_instance *self)
{
	static const struct sonde_mean_metric *const extras[] = { &available, &full, NULL };
	const struct sonde_series *series = sonde_single(self, OOM);
	struct sonde_evidence own = { .name = "mem.oom_kills",
				      .unit = SONDE_BASE_COUNT,
				      .counted = "kills",
				      .origin = "/proc/vmstat oom_kill" };
	struct sonde_words title;

	if (!series || !series->held.time)
		return;
	own.value = series->held.numerator;
	sonde_say(&title, "The kernel killed %.0f process%s for want of memory", own.value,
		  own.value < 1.5 ? "" : "es");
	report(self, &oom, SONDE_SEVERITY_CRITICAL, title.text, &series->held, &own, extras);
}

/* A kernel that does not tell of available memory is judged by what it is at most: too late at times, never wrongly. */
static void judge_available(struct sonde_instance *self)
{
	static const struct sonde_mean_metric *const extras[] = { &available, &stalls, NULL };
	bool told = sonde_single(self, AVAILABLE) != NULL;
	const struct sonde_series *series = sonde_single(self, told ? USED : USED_LEAST);
	const struct sonde_series *bytes = sonde_single(self, told ? AVAILABLE : AVAILABLE_MOST);
	struct sonde_evidence own = { .name = "mem.available_least",
				      .unit = SONDE_BASE_BYTES,
				      .origin = told ? "/proc/meminfo MemAvailable:, smallest"
						     : "/proc/meminfo MemFree: Buffers: Cached: "
						       "less Shmem: SReclaimable:, smallest" };
	struct sonde_words title;

	if (!series || !series->held.time || !bytes)
		return;
	own.value = bytes->total.min;
	sonde_say(&title, "Available memory fell to %s%.1f %% of all (%.0f MiB%s)",
		  told ? "" : "at most ", (1 - series->held.max) * 100, own.value / 1048576,
		  told ? "" : ", estimated: no MemAvailable");
	report(self, &low_available, SONDE_SEVERITY_WARNING, title.text, &series->held, &own,
	       extras);
}

/* Without PSI: from allocation stalls, reclaim and refaults. */
static void judge_pressure(struct sonde_instance *self)
{
	static const struct sonde_mean_metric *const extras[] = { &some, &stalls, &refaults,
								  &available, NULL };
	static const struct sonde_mean_metric *const instead[] = { &stalls, &direct_scan,
								   &available, NULL };
	const struct sonde_series *series = sonde_single(self, FULL);
	const struct sonde_series *critical = sonde_single(self, FULL_CRITICAL);
	const struct conf *conf = self->conf;
	struct sonde_words title;
	double mean;

	if (critical && critical->held.time)
		series = critical;
	if (series) {
		mean = sonde_held_mean(&series->held);
		sonde_say(&title, "All work stood still for want of memory %.1f %% of the time",
			  mean * 100);
		memory_pressure(self, &series->held,
				sonde_severity_from(mean, conf->pressure_critical), title.text,
				&full, extras);
		return;
	}
	series = sonde_single(self, REFAULT_STALLS);
	if (!series)
		return;
	sonde_say(&title,
		  "%.0f evicted pages a second came back while tasks reclaimed (no PSI: a hint)",
		  sonde_held_mean(&series->held));
	memory_pressure(self, &series->held, SONDE_SEVERITY_WARNING, title.text, &refaults,
			instead);
}

void memory_findings(struct sonde_instance *self)
{
	static const struct sonde_mean_metric *const reclaim[] = { &direct_scan, &available, &full,
								   NULL };
	static const struct sonde_mean_metric *const swap[] = { &swap_in, &full, &available, NULL };
	static const struct sonde_rule rules[] = {
		{ STALLS, SONDE_SEVERITY_WARNING, &direct_reclaim, &stalls,
		  "allocations a second had to reclaim memory by themselves", reclaim },
		{ SWAP_OUT, SONDE_SEVERITY_CRITICAL, &swapping, &swap_out,
		  "pages a second went to swap while others came back", swap },
	};

	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		sonde_judge_rule(self, &rules[i]);
	judge_oom(self);
	judge_available(self);
	judge_pressure(self);
}
