/* The keys of a node's vmstat (drivers/base/node.c): what they count stands with the same keys of table vmstat. */
#ifndef NUMA_VMSTAT_H
#define NUMA_VMSTAT_H

#include <sonde/table.h>

#define GAUGE(key, unit)                                                                           \
	{                                                                                          \
#key, SONDE_U64, SONDE_GAUGE, unit, .origin = #key,                                \
						    .help = "This node's part of vmstat." #key     \
	}
#define COUNTER(key, unit)                                                                         \
	{                                                                                          \
#key, SONDE_U64, SONDE_COUNTER, unit, .origin = #key,                              \
						      .help = "This node's part of vmstat." #key   \
	}

/* clang-format off */
static const struct sonde_column vmstat_columns[] = {
	{ "node", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "nodeN", .help = "NUMA node" },
	GAUGE(nr_free_pages, SONDE_COUNT("pages")),
	GAUGE(nr_free_pages_blocks, SONDE_COUNT("pages")),
	GAUGE(nr_zone_inactive_anon, SONDE_COUNT("pages")),
	GAUGE(nr_zone_active_anon, SONDE_COUNT("pages")),
	GAUGE(nr_zone_inactive_file, SONDE_COUNT("pages")),
	GAUGE(nr_zone_active_file, SONDE_COUNT("pages")),
	GAUGE(nr_zone_unevictable, SONDE_COUNT("pages")),
	GAUGE(nr_zone_write_pending, SONDE_COUNT("pages")),
	GAUGE(nr_mlock, SONDE_COUNT("pages")),
	GAUGE(nr_bounce, SONDE_COUNT("pages")),
	GAUGE(nr_zspages, SONDE_COUNT("pages")),
	GAUGE(nr_free_cma, SONDE_COUNT("pages")),
	GAUGE(nr_unaccepted, SONDE_COUNT("pages")),
	GAUGE(nr_alloc_batch, SONDE_COUNT("pages")),
	GAUGE(nr_pages_scanned, SONDE_COUNT("pages")),
	COUNTER(numa_hit, SONDE_COUNT("pages")),
	COUNTER(numa_miss, SONDE_COUNT("pages")),
	COUNTER(numa_foreign, SONDE_COUNT("pages")),
	COUNTER(numa_interleave, SONDE_COUNT("pages")),
	COUNTER(numa_local, SONDE_COUNT("pages")),
	COUNTER(numa_other, SONDE_COUNT("pages")),
	GAUGE(nr_inactive_anon, SONDE_COUNT("pages")),
	GAUGE(nr_active_anon, SONDE_COUNT("pages")),
	GAUGE(nr_inactive_file, SONDE_COUNT("pages")),
	GAUGE(nr_active_file, SONDE_COUNT("pages")),
	GAUGE(nr_unevictable, SONDE_COUNT("pages")),
	GAUGE(nr_slab_reclaimable, SONDE_COUNT("pages")),
	GAUGE(nr_slab_unreclaimable, SONDE_COUNT("pages")),
	GAUGE(nr_isolated_anon, SONDE_COUNT("pages")),
	GAUGE(nr_isolated_file, SONDE_COUNT("pages")),
	GAUGE(workingset_nodes, SONDE_COUNT("nodes")),
	COUNTER(workingset_refault, SONDE_COUNT("pages")),
	COUNTER(workingset_activate, SONDE_COUNT("pages")),
	COUNTER(workingset_restore, SONDE_COUNT("pages")),
	COUNTER(workingset_refault_anon, SONDE_COUNT("pages")),
	COUNTER(workingset_refault_file, SONDE_COUNT("pages")),
	COUNTER(workingset_activate_anon, SONDE_COUNT("pages")),
	COUNTER(workingset_activate_file, SONDE_COUNT("pages")),
	COUNTER(workingset_restore_anon, SONDE_COUNT("pages")),
	COUNTER(workingset_restore_file, SONDE_COUNT("pages")),
	COUNTER(workingset_nodereclaim, SONDE_COUNT("nodes")),
	GAUGE(nr_anon_pages, SONDE_COUNT("pages")),
	GAUGE(nr_mapped, SONDE_COUNT("pages")),
	GAUGE(nr_file_pages, SONDE_COUNT("pages")),
	GAUGE(nr_dirty, SONDE_COUNT("pages")),
	GAUGE(nr_writeback, SONDE_COUNT("pages")),
	GAUGE(nr_writeback_temp, SONDE_COUNT("pages")),
	GAUGE(nr_shmem, SONDE_COUNT("pages")),
	GAUGE(nr_shmem_hugepages, SONDE_COUNT("huge pages")),
	GAUGE(nr_shmem_pmdmapped, SONDE_COUNT("huge pages")),
	GAUGE(nr_file_hugepages, SONDE_COUNT("huge pages")),
	GAUGE(nr_file_pmdmapped, SONDE_COUNT("huge pages")),
	GAUGE(nr_anon_transparent_hugepages, SONDE_COUNT("huge pages")),
	GAUGE(nr_unstable, SONDE_COUNT("pages")),
	COUNTER(nr_vmscan_write, SONDE_COUNT("pages")),
	COUNTER(nr_vmscan_immediate_reclaim, SONDE_COUNT("pages")),
	COUNTER(nr_dirtied, SONDE_COUNT("pages")),
	COUNTER(nr_written, SONDE_COUNT("pages")),
	COUNTER(nr_throttled_written, SONDE_COUNT("pages")),
	GAUGE(nr_kernel_misc_reclaimable, SONDE_COUNT("pages")),
	COUNTER(nr_foll_pin_acquired, SONDE_COUNT("pages")),
	COUNTER(nr_foll_pin_released, SONDE_COUNT("pages")),
	GAUGE(nr_vmalloc, SONDE_COUNT("pages")),
	GAUGE(nr_kernel_stack, SONDE_KIB),
	GAUGE(nr_page_table_pages, SONDE_COUNT("pages")),
	GAUGE(nr_sec_page_table_pages, SONDE_COUNT("pages")),
	GAUGE(nr_iommu_pages, SONDE_COUNT("pages")),
	GAUGE(nr_swapcached, SONDE_COUNT("pages")),
	COUNTER(pgpromote_success, SONDE_COUNT("pages")),
	COUNTER(pgpromote_candidate, SONDE_COUNT("pages")),
	COUNTER(pgpromote_candidate_nrl, SONDE_COUNT("pages")),
	COUNTER(pgdemote_kswapd, SONDE_COUNT("pages")),
	COUNTER(pgdemote_direct, SONDE_COUNT("pages")),
	COUNTER(pgdemote_khugepaged, SONDE_COUNT("pages")),
	COUNTER(pgdemote_proactive, SONDE_COUNT("pages")),
	COUNTER(pgsteal_kswapd, SONDE_COUNT("pages")),
	COUNTER(pgsteal_direct, SONDE_COUNT("pages")),
	COUNTER(pgsteal_khugepaged, SONDE_COUNT("pages")),
	COUNTER(pgsteal_proactive, SONDE_COUNT("pages")),
	COUNTER(pgsteal_anon, SONDE_COUNT("pages")),
	COUNTER(pgsteal_file, SONDE_COUNT("pages")),
	COUNTER(pgscan_kswapd, SONDE_COUNT("pages")),
	COUNTER(pgscan_direct, SONDE_COUNT("pages")),
	COUNTER(pgscan_khugepaged, SONDE_COUNT("pages")),
	COUNTER(pgscan_proactive, SONDE_COUNT("pages")),
	COUNTER(pgscan_anon, SONDE_COUNT("pages")),
	COUNTER(pgscan_file, SONDE_COUNT("pages")),
	COUNTER(pgrefill, SONDE_COUNT("pages")),
	GAUGE(nr_hugetlb, SONDE_COUNT("pages")),
	GAUGE(nr_balloon_pages, SONDE_COUNT("pages")),
	GAUGE(nr_kernel_file_pages, SONDE_COUNT("pages")),
	GAUGE(nr_gpu_active, SONDE_COUNT("pages")),
	GAUGE(nr_gpu_reclaim, SONDE_COUNT("pages")),
};
/* clang-format on */

#undef GAUGE
#undef COUNTER

#endif
