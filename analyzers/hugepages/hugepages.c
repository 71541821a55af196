/* hugepages: what large pages cost and what they could give: findings of docs/findings.md that begin with "hp.". */
#include "hugepages.h"

/* clang-format off */
static const struct sonde_option options[] = {
	{ "limit", SONDE_OPT_U64, offsetof(struct conf, limit), "8", NULL, 1, 100,
	  "findings of one kind about processes, the largest first: more would hide the rest of a report" },
	SONDE_TIME("hold", hold, "2s",
		   "time without a break before a finding holds: a single burst is not a problem"),
	SONDE_THRESHOLD("fallback", fallback, "0.20", 1,
			"share of page faults that wanted a huge page and got small ones: with a fifth, free memory is in pieces"),
	SONDE_THRESHOLD("fallback_events", fallback_events, "10", 1e9,
			"how many such faults there have to be: a share of fewer is chance"),
	SONDE_THRESHOLD("compaction_stalls", stalls, "1", 1e9,
			"times a second that a process had to compact memory by itself: each one takes milliseconds"),
	SONDE_THRESHOLD("hugetlb_idle", idle, "1073741824", 1e15,
			"bytes of a pool that nobody uses nor reserved: 1 GiB is memory that others would use"),
	SONDE_THRESHOLD("coverage", coverage, "0.20", 1,
			"share of anonymous memory in transparent huge pages: below a fifth they do not help"),
	SONDE_THRESHOLD("coverage_bytes", coverage_bytes, "1073741824", 1e15,
			"bytes of anonymous memory that there have to be: 1 GiB is more than any TLB reaches over with small pages"),
	SONDE_THRESHOLD("dtlb_misses", tlb, "0.01", 1,
			"page walks for each load: with more than one in a hundred, little coverage is a warning"),
	SONDE_THRESHOLD("dtlb_least", tlb_least, "10000000", 1e12,
			"loads a second that there have to be for that: ratios of fewer are noise"),
};

static const struct sonde_catalogue catalogue[] = {
	{ "hp.sync_compaction", "every page fault may wait for compaction", "thp.enabled thp.defrag", "" },
	{ "hp.thp_fallback", "huge pages are wanted and not to be had", "vmstat.thp_fault_alloc vmstat.thp_fault_fallback",
	  "fallback fallback_events hold" },
	{ "hp.mthp_fallback", "page faults get smaller pages than the size that they ask for", "thp.enabled",
	  "fallback fallback_events hold" },
	{ "hp.compaction_stalls", "allocations wait for compaction", "vmstat.compact_stall",
	  "compaction_stalls hold" },
	{ "hp.node_pool_empty", "a node's hugetlb pages are used up while others have some", "hugetlb.free_hugepages", "limit" },
	{ "hp.hugetlb_idle", "a pool of huge pages lies idle", "hugetlb.free_hugepages hugetlb.resv_hugepages",
	  "hugetlb_idle" },
	{ "hp.low_coverage", "much anonymous memory is in small pages", "smaps.anonymous | meminfo.anon_huge_pages meminfo.anon_pages",
	  "coverage coverage_bytes dtlb_misses dtlb_least limit" },
};
/* clang-format on */

const char *hugepages_modes(struct sonde_instance *self)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, MODES, &count);
	const struct sonde_series *newest = NULL;

	for (uint32_t i = 0; i < count; i++)
		if (!newest || series[i].total.end > newest->total.end)
			newest = &series[i];
	return newest ? newest->key : NULL;
}

static int judge(struct sonde_instance *self)
{
	hugepages_findings(self);
	hugepages_places(self);
	hugepages_coverage(self);
	hugepages_metrics(self);
	return 0;
}

static const struct sonde_analyzer_ops ops = {
	.streams = SONDE_STREAMS(hugepages_streams),
	.catalogue = SONDE_CATALOGUE(catalogue),
	.judge = judge,
};

SONDE_ANALYZER(hugepages, "what huge pages cost and what they could give", ops,
	       .options = SONDE_OPTIONS(options), .conf_size = sizeof(struct conf));
