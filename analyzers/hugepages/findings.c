/* The findings of the analyzer `hugepages` about how huge pages are had, and its metrics. */
#include <stdlib.h>

#include "hugepages.h"

static const struct sonde_advice sync_compaction = {
	.id = "hp.sync_compaction",
	.why = "Every page fault of every program may stop to reclaim and compact memory, for milliseconds, to get one huge page.",
	.action =
		"Let the kernel do that in the background: echo defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag "
		"(Linux 4.11 and later; else madvise).",
	.need = "root",
	.risk = "fewer huge pages at first; khugepaged makes them later",
	.undo = "echo always > /sys/kernel/mm/transparent_hugepage/defrag",
};
static const struct sonde_advice fallback = {
	.id = "hp.thp_fallback",
	.why = "Free memory is in pieces too small for huge pages, or a cgroup is at its limit: the program has small pages where it "
	       "was meant to have large ones.",
	.action =
		"See how much is free in large blocks (cat /proc/buddyinfo); compact once: echo 1 > /proc/sys/vm/compact_memory, and keep "
		"more free: sysctl vm.min_free_kbytes, vm.compaction_proactiveness=40 (Linux 5.9 and later).",
	.need = "root",
	.risk = "compaction takes CPU time, and its pages stand still meanwhile",
	.undo = "sysctl vm.compaction_proactiveness=20 (the kernel's default)",
};
static const struct sonde_advice stalls = {
	.id = "hp.compaction_stalls",
	.why = "Allocations had to move others' pages out of the way by themselves before they got a large block: each one waits for "
	       "milliseconds.",
	.action =
		"Let it happen ahead: sysctl vm.compaction_proactiveness=40 (Linux 5.9 and later); and not in page faults: echo "
		"defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag.",
	.need = "root",
	.risk = "kcompactd takes CPU time",
	.undo = "sysctl vm.compaction_proactiveness=20 (the kernel's default); echo the word that was in brackets before",
};
static const struct sonde_advice idle = {
	.id = "hp.hugetlb_idle",
	.why = "Memory of a pool serves hugetlb mappings alone: nobody else may use what lies idle there.",
	.action =
		"If nobody is about to need it, make the pool smaller: echo N > /sys/kernel/mm/hugepages/hugepages-SIZEkB/nr_hugepages "
		"with the pages that are in use or reserved.",
	.need = "root",
	.risk = "a larger pool can't be had again once memory is in pieces",
	.undo = "echo the number before into the same file, soon after boot at best",
};

/* clang-format off */
static const struct sonde_mean_metric fallback_share = { FALLBACK, "hp.fallback", SONDE_BASE_RATIO, SONDE_DOWN_IS_BETTER, NULL, "/proc/vmstat thp_fault_fallback, of thp_fault_alloc and it" };
static const struct sonde_mean_metric stall_rate = { STALLS, "hp.compaction_stalls", SONDE_BASE_COUNT, SONDE_DOWN_IS_BETTER, "stalls/s", "/proc/vmstat compact_stall" };
static const struct sonde_mean_metric failures = { FAILURES, "hp.compaction_failures", SONDE_BASE_COUNT, SONDE_DOWN_IS_BETTER, "failures/s", "/proc/vmstat compact_fail" };
static const struct sonde_mean_metric others[] = {
	{ COLLAPSES, "hp.collapses", SONDE_BASE_COUNT, SONDE_NEITHER, "huge pages/s", "/proc/vmstat thp_collapse_alloc" },
	{ SPLITS, "hp.splits", SONDE_BASE_COUNT, SONDE_NEITHER, "huge pages/s", "/proc/vmstat thp_split_page" },
	{ POOL_USED, "hp.pool_used", SONDE_BASE_RATIO, SONDE_NEITHER, NULL, "/proc/meminfo HugePages_Total: less HugePages_Free:, of HugePages_Total:" },
	{ HOST_COVERAGE, "hp.coverage", SONDE_BASE_RATIO, SONDE_NEITHER, NULL, "/proc/meminfo AnonHugePages:, of AnonPages:" },
	{ HOST_ANONYMOUS, "hp.anonymous", SONDE_BASE_BYTES, SONDE_NEITHER, NULL, "/proc/meminfo AnonPages:" },
};
/* clang-format on */

static void judge_modes(struct sonde_instance *self)
{
	const char *modes = hugepages_modes(self);
	const struct sonde_held held = sonde_all_along(self);
	struct sonde_proof proof = { 0 };

	if (!modes || strcmp(modes, "always always") != 0)
		return;
	sonde_prove_mean(self, &proof, &held, &stall_rate);
	sonde_found(
		self, &sync_compaction, SONDE_SEVERITY_WARNING, "host",
		"Transparent huge pages are always tried for, by compaction where need be (enabled and defrag: always)",
		&held, 0, &proof);
}

/* Where it held, if there were faults enough; else over all, so that a few a minute are judged as well. */
static void judge_fallback(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	const struct sonde_series *series = sonde_single(self, FALLBACK);
	struct sonde_proof proof = { 0 };
	struct sonde_words title;
	struct sonde_held held;

	if (!series)
		return;
	held = series->held;
	if (!held.time || held.denominator < conf->fallback_events) {
		if (series->total.denominator < conf->fallback_events ||
		    sonde_mean(&series->total) <= conf->fallback)
			return;
		held = sonde_all_along(self);
		held.numerator = series->total.numerator;
		held.denominator = series->total.denominator;
	}
	sonde_say(&title, "%.0f %% of page faults that wanted a huge page got small ones",
		  sonde_held_mean(&held) * 100);
	sonde_prove(&proof, fallback_share.name, sonde_held_mean(&held), SONDE_BASE_RATIO, NULL,
		    fallback_share.origin);
	sonde_prove(&proof, "hp.huge_faults", held.denominator, SONDE_BASE_COUNT, "faults",
		    "/proc/vmstat thp_fault_alloc thp_fault_fallback");
	sonde_prove_mean(self, &proof, &held, &failures);
	sonde_found(self, &fallback, SONDE_SEVERITY_WARNING, "host", title.text, &held,
		    sonde_weight(&held), &proof);
}

/* What of a pool nobody had at any time. The key is the size in KiB, as the kernel names the folder. */
static void judge_pools(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, POOL_FREE, &count);
	const struct sonde_held held = sonde_all_along(self);

	for (uint32_t i = 0; i < count; i++) {
		double size = strtod(series[i].key, NULL) * 1024;
		double bytes = series[i].total.min * size;
		struct sonde_proof proof = { 0 };
		struct sonde_words about, title;

		if (bytes < conf->idle)
			continue;
		sonde_say(&about, "pool of %s kB pages", series[i].key);
		sonde_say(&title, "%.1f GiB of huge pages of %s kB are neither used nor reserved",
			  bytes / (1 << 30), series[i].key);
		sonde_prove(&proof, "hp.idle", bytes, SONDE_BASE_BYTES, NULL,
			    "hugepages-NkB free_hugepages less resv_hugepages, smallest");
		sonde_prove(&proof, "hp.idle_pages", series[i].total.min, SONDE_BASE_COUNT,
			    "huge pages",
			    "hugepages-NkB free_hugepages less resv_hugepages, smallest");
		sonde_found(self, &idle, SONDE_SEVERITY_INFO, about.text, title.text, &held,
			    bytes / (1 << 30), &proof);
	}
}

void hugepages_findings(struct sonde_instance *self)
{
	static const struct sonde_mean_metric *const beside[] = { &failures, &fallback_share,
								  NULL };
	static const struct sonde_rule compaction = { STALLS,
						      SONDE_SEVERITY_WARNING,
						      &stalls,
						      &stall_rate,
						      "allocations a second had to compact memory",
						      beside };

	judge_modes(self);
	judge_fallback(self);
	sonde_judge_rule(self, &compaction);
	judge_pools(self);
}

void hugepages_metrics(struct sonde_instance *self)
{
	sonde_mean_metrics(self, &fallback_share, 1);
	sonde_mean_metrics(self, &stall_rate, 1);
	sonde_mean_metrics(self, &failures, 1);
	sonde_mean_metrics(self, others, sizeof others / sizeof others[0]);
}
