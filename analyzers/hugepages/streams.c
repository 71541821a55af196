/* What the analyzer `hugepages` looks at (Documentation/admin-guide/mm/transhuge.rst, Documentation/admin-guide/mm/hugetlbpage.rst,
 * Documentation/filesystems/proc.rst). */
#include "hugepages.h"

#define OF(field) offsetof(struct conf, field)

/* clang-format off */
const struct sonde_stream hugepages_streams[STREAMS] = {
	/* Any number will do: it is the words that are asked for. */
	[MODES] = { "hp.modes", "thp", .plus = "hpage_pmd_size? use_zero_page? khugepaged_defrag?", .key = "enabled defrag", .reduce = SONDE_SETTING },
	[FALLBACK] = { "hp.fallback", "vmstat", .plus = "thp_fault_fallback", .over = "thp_fault_alloc thp_fault_fallback",
		       .threshold = OF(fallback), .hold = OF(hold) },
	[STALLS] = { "hp.compaction_stalls", "vmstat", .plus = "compact_stall", .over = "time", .threshold = OF(stalls), .hold = OF(hold) },
	[FAILURES] = { "hp.compaction_failures", "vmstat", .plus = "compact_fail", .over = "time" },
	[COLLAPSES] = { "hp.collapses", "vmstat", .plus = "thp_collapse_alloc", .over = "time" },
	[SPLITS] = { "hp.splits", "vmstat", .plus = "thp_split_page? thp_split?", .over = "time" },
	[POOL_FREE] = { "hp.pool_free", "hugetlb", .plus = "free_hugepages", .minus = "resv_hugepages", .reduce = SONDE_SETTING },
	[POOL_USED] = { "hp.pool_used", "meminfo", .plus = "huge_pages_total", .minus = "huge_pages_free", .over = "huge_pages_total" },
	[HOST_COVERAGE] = { "hp.coverage", "meminfo", .plus = "anon_huge_pages", .over = "anon_pages" },
	[HOST_ANONYMOUS] = { "hp.anonymous", "meminfo", .plus = "anon_pages" },
	[HOST_HUGETLB] = { "hp.hugetlb_used", "meminfo", .plus = "huge_pages_total", .minus = "huge_pages_free" },
	[COVERAGE] = { "hp.process_coverage", "smaps", .plus = "anon_huge_pages", .over = "anonymous", .keys = 64, .reduce = SONDE_SETTING },
	[ANONYMOUS] = { "hp.process_anonymous", "smaps", .plus = "anonymous", .keys = 64, .reduce = SONDE_SETTING },
	[HUGETLB] = { "hp.process_hugetlb", "smaps", .plus = "shared_hugetlb private_hugetlb", .keys = 64, .reduce = SONDE_SETTING },
	[TLB] = { "hp.dtlb_misses", "perf_event_tlb", .plus = "dtlb_load_misses", .over = "dtlb_loads", .reduce = SONDE_SUM,
		  .threshold = OF(tlb), .hold = OF(hold), .floor = OF(tlb_least) },
	[PROCESS_TLB] = { "hp.process_dtlb_misses", "perf_event_tlb_process", .plus = "dtlb_load_misses", .over = "dtlb_loads", .key = "pid start_time",
			  .threshold = OF(tlb), .hold = OF(hold), .floor = OF(tlb_least), .keys = 64 },
	[PMD_SIZE] = { "hp.pmd_size", "thp", .plus = "hpage_pmd_size", .reduce = SONDE_SETTING },
	[SIZES] = { "hp.size_fallback", "thp_size", .plus = "anon_fault_fallback", .over = "anon_fault_alloc anon_fault_fallback",
		    .threshold = OF(fallback), .hold = OF(hold), .keys = 16 },
	[NODE_POOL] = { "hp.node_pool", "hugetlb_node", .plus = "nr_hugepages", .reduce = SONDE_SETTING },
	[NODE_POOL_FREE] = { "hp.node_pool_free", "hugetlb_node", .plus = "free_hugepages", .reduce = SONDE_SETTING },
};
/* clang-format on */
