/* The tables of thp: which file each column is, and what it means (Documentation/admin-guide/mm/transhuge.rst,
 * hugetlbpage.rst). The origin of a column is the file that it is read from. */
#ifndef THP_COLUMNS_H
#define THP_COLUMNS_H

#include <sonde/table.h>

enum { ENABLED, DEFRAG, SHMEM_ENABLED, THP_FILES = 15 };
enum { SIZE, SIZE_ENABLED, SIZE_SHMEM_ENABLED, SIZE_STATS };
enum { POOL_SIZE, POOL_COUNTS };
enum { NODE, NODE_POOL_SIZE, NODE_POOL_COUNTS };

#define THP          "/sys/kernel/mm/transparent_hugepage"
#define POOLS        "/sys/kernel/mm/hugepages"
#define SYSTEM_NODES "/sys/devices/system/node"
#define HUGE_PAGES   SONDE_COUNT("huge pages")

#define WORD(name, file, text)                                                                     \
	{                                                                                          \
		name, SONDE_STR, SONDE_STATE, SONDE_NONE, .origin = file, .help = text             \
	}
#define SETTING(name, unit, file, text)                                                            \
	{                                                                                          \
		name, SONDE_U64, SONDE_STATE, unit, .origin = file, .help = text                   \
	}
#define POOL(name, text)                                                                           \
	{                                                                                          \
		name, SONDE_U64, SONDE_GAUGE, HUGE_PAGES, .origin = name, .help = text             \
	}

#define COUNTED(name, what, file, text)                                                            \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, SONDE_COUNT(what), .origin = file, .help = text    \
	}
#define COUNTER(file, what, text)                                                                  \
	{                                                                                          \
#file, SONDE_U64, SONDE_COUNTER, SONDE_COUNT(what), .origin = "stats/" #file,      \
								    .help = text                   \
	}
#define GAUGE(file, what, text)                                                                    \
	{                                                                                          \
#file, SONDE_U64, SONDE_GAUGE, SONDE_COUNT(what), .origin = "stats/" #file,        \
								  .help = text                     \
	}

/* clang-format off */
/* Files under hugepages-NkB/stats, "Monitoring usage". */
#define STATS                                                                                                       \
	COUNTER(anon_fault_alloc, "huge pages", "Given at a page fault"),                                           \
	COUNTER(anon_fault_fallback, "events", "Page faults that fell back to smaller pages"),                      \
	COUNTER(anon_fault_fallback_charge, "events", "Of these, because a cgroup's limit forbade it"),             \
	COUNTER(zswpout, "huge pages", "Swapped out to zswap whole"),                                               \
	COUNTER(swpin, "huge pages", "Swapped in whole from a device without zswap"),                               \
	COUNTER(swpin_fallback, "events", "Swap-ins that fell back to smaller pages"),                              \
	COUNTER(swpin_fallback_charge, "events", "Of these, because a cgroup's limit forbade it"),                  \
	COUNTER(swpout, "huge pages", "Swapped out whole"),                                                         \
	COUNTER(swpout_fallback, "huge pages", "Split to be swapped out"),                                          \
	COUNTER(shmem_alloc, "huge pages", "Allocated for shmem"),                                                  \
	COUNTER(shmem_fallback, "events", "Shmem that fell back to smaller pages"),                                 \
	COUNTER(shmem_fallback_charge, "events", "Of these, because a cgroup's limit forbade it"),                  \
	COUNTER(split, "huge pages", "Split into smaller ones"),                                                    \
	COUNTER(split_failed, "events", "Splits that failed, pinned pages mostly"),                                 \
	COUNTER(split_deferred, "huge pages", "Queued to be split under memory pressure"),                          \
	GAUGE(nr_anon, "huge pages", "In use, swap cache included"),                                                \
	GAUGE(nr_anon_partially_mapped, "huge pages", "In use in part only; may count some that are mapped again"), \
	COUNTER(collapse_alloc, "huge pages", "Allocated to collapse smaller ones into"),                           \
	COUNTER(collapse_alloc_failed, "events", "Could not be allocated to collapse into"),                        \
	COUNTER(collapse_exceed_none_pte, "events", "Collapses given up: too much empty"),                          \
	COUNTER(collapse_exceed_swap_pte, "events", "Collapses given up: too much swapped out"),                    \
	COUNTER(collapse_exceed_shared_pte, "events", "Collapses given up: too much shared")

static const struct sonde_column thp_columns[THP_FILES] = {
	[ENABLED] = WORD("enabled", "enabled", "Anonymous memory: always, madvise or never; shmem and single sizes have words of their own, so never here does not mean no huge pages"),
	[DEFRAG] = WORD("defrag", "defrag", "How hard a page fault tries to get one: always, defer, defer+madvise, madvise or never"),
	[SHMEM_ENABLED] = WORD("shmem_enabled", "shmem_enabled", "Shmem and tmpfs without an option of their own: always, within_size, advise, never, deny or force"),
	SETTING("hpage_pmd_size", SONDE_BYTES, "hpage_pmd_size", "Size of a huge page that one page table entry maps"),
	SETTING("use_zero_page", SONDE_NONE, "use_zero_page", "1: reads of untouched memory map the huge zero page"),
	SETTING("shrink_underused", SONDE_NONE, "shrink_underused", "1: huge pages that are mostly zero are split under memory pressure; since 6.12"),
	SETTING("khugepaged_defrag", SONDE_NONE, "khugepaged/defrag", "1: khugepaged may reclaim and compact"),
	SETTING("khugepaged_pages_to_scan", SONDE_COUNT("pages"), "khugepaged/pages_to_scan", "Pages that khugepaged scans in one pass"),
	SETTING("khugepaged_scan_sleep", SONDE_MS, "khugepaged/scan_sleep_millisecs", "Pause between passes"),
	SETTING("khugepaged_alloc_sleep", SONDE_MS, "khugepaged/alloc_sleep_millisecs", "Pause after an allocation that failed"),
	SETTING("khugepaged_max_ptes_none", SONDE_COUNT("pages"), "khugepaged/max_ptes_none", "Empty small pages that a collapse may fill: memory that nobody asked for"),
	SETTING("khugepaged_max_ptes_swap", SONDE_COUNT("pages"), "khugepaged/max_ptes_swap", "Swapped-out pages that a collapse may bring in"),
	SETTING("khugepaged_max_ptes_shared", SONDE_COUNT("pages"), "khugepaged/max_ptes_shared", "Shared pages that a collapse may contain"),
	COUNTED("khugepaged_pages_collapsed", "huge pages", "khugepaged/pages_collapsed", "Huge pages that khugepaged made of small ones"),
	COUNTED("khugepaged_full_scans", "scans", "khugepaged/full_scans", "Times that khugepaged has looked at everything"),
};

static const struct sonde_column size_columns[] = {
	[SIZE] = { "size", SONDE_U64, SONDE_KEY, SONDE_KIB, .origin = "hugepages-NkB", .help = "Size of the huge page" },
	[SIZE_ENABLED] = WORD("enabled", "enabled", "Anonymous memory: always, inherit (table thp's word), madvise or never"),
	[SIZE_SHMEM_ENABLED] = WORD("shmem_enabled", "shmem_enabled", "Shmem: always, inherit, within_size, advise or never"),
	[SIZE_STATS] = STATS
};

static const struct sonde_column pool_columns[] = {
	[POOL_SIZE] = { "size", SONDE_U64, SONDE_KEY, SONDE_KIB, .origin = "hugepages-NkB", .help = "Size of the huge page" },
	[POOL_COUNTS] =
	POOL("nr_hugepages", "Pages in the pool"),
	POOL("free_hugepages", "Not faulted in; reserved ones are among them"),
	POOL("resv_hugepages", "Promised to a mapping, not yet faulted in: free for others is free less reserved"),
	POOL("surplus_hugepages", "Beyond what was asked for, by overcommit"),
	POOL("nr_overcommit_hugepages", "Most that overcommit may add"),
};

static const struct sonde_column node_pool_columns[] = {
	[NODE] = { "node", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "nodeN", .help = "NUMA node" },
	[NODE_POOL_SIZE] = { "size", SONDE_U64, SONDE_KEY, SONDE_KIB, .origin = "hugepages-NkB", .help = "Size of the huge page" },
	[NODE_POOL_COUNTS] =
	POOL("nr_hugepages", "Pages in this node's pool"),
	POOL("free_hugepages", "Not faulted in; reservations are not kept by node"),
	POOL("surplus_hugepages", "Beyond what was asked for, by overcommit"),
};
/* clang-format on */

enum { TABLE_THP, TABLE_SIZE, TABLE_POOL, TABLE_NODE_POOL };

static const struct sonde_table tables[] = {
	[TABLE_THP] = { "thp", SONDE_COLUMNS(thp_columns), .origin = THP,
			.help = "Transparent huge pages: settings, and what khugepaged did." },
	[TABLE_SIZE] = { "thp_size", SONDE_COLUMNS(size_columns), .origin = THP "/hugepages-NkB",
			 .help = "Transparent huge pages by size, since 6.8; counts are absent while a "
				 "size has never been used and is switched off.",
			 .rows = 16 },
	[TABLE_POOL] = { "hugetlb", SONDE_COLUMNS(pool_columns), .origin = POOLS "/hugepages-NkB",
			 .help = "Pools of hugetlb pages by size.", .rows = 8 },
	[TABLE_NODE_POOL] = { "hugetlb_node", SONDE_COLUMNS(node_pool_columns),
			      .origin = SYSTEM_NODES "/nodeN/hugepages/hugepages-NkB",
			      .help = "Pools of hugetlb pages by node and size.", .rows = 64 },
};

#endif
