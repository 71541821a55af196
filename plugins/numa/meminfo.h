/* The keys of a node's meminfo (drivers/base/node.c). */
#ifndef NUMA_MEMINFO_H
#define NUMA_MEMINFO_H

#include <sonde/table.h>

#define KIB(column, key, text)                                                                     \
	{                                                                                          \
#column, SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = key ":", .help = text        \
	}
#define HUGE(column, key, text)                                                                    \
	{                                                                                          \
#column, SONDE_U64, SONDE_GAUGE, SONDE_COUNT("huge pages"), .origin = key ":",     \
									    .help = text           \
	}

/* clang-format off */
static const struct sonde_column meminfo_columns[] = {
	{ "node", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "Node N", .help = "NUMA node" },
	KIB(mem_total, "MemTotal", "Usable memory of the node; 0 on a node of CPUs alone"),
	KIB(mem_free, "MemFree", "Used for nothing at all"),
	KIB(mem_used, "MemUsed", "Total less free: page cache is in it"),
	KIB(swap_cached, "SwapCached", "In memory and in swap as well"),
	KIB(active, "Active", "Used lately"),
	KIB(inactive, "Inactive", "Not used lately: reclaimed first"),
	KIB(active_anon, "Active(anon)", "Active anonymous memory and shmem"),
	KIB(inactive_anon, "Inactive(anon)", "Inactive anonymous memory and shmem"),
	KIB(active_file, "Active(file)", "Active page cache"),
	KIB(inactive_file, "Inactive(file)", "Inactive page cache"),
	KIB(unevictable, "Unevictable", "Cannot be reclaimed (mlock, ramfs)"),
	KIB(mlocked, "Mlocked", "Locked by mlock(2)"),
	KIB(dirty, "Dirty", "Waiting to be written back"),
	KIB(writeback, "Writeback", "Being written back"),
	KIB(file_pages, "FilePages", "Page cache, shmem included"),
	KIB(mapped, "Mapped", "Files and shmem mapped by processes"),
	KIB(anon_pages, "AnonPages", "Anonymous memory mapped by processes"),
	KIB(shmem, "Shmem", "Shared memory and tmpfs"),
	KIB(kernel_stack, "KernelStack", "Kernel stacks of tasks"),
	KIB(page_tables, "PageTables", "Page tables of user space"),
	KIB(sec_page_tables, "SecPageTables", "Secondary page tables (KVM, IOMMU)"),
	KIB(nfs_unstable, "NFS_Unstable", "Always 0 since 5.8"),
	KIB(bounce, "Bounce", "Bounce buffers of block devices"),
	KIB(writeback_tmp, "WritebackTmp", "FUSE writeback buffers"),
	KIB(k_reclaimable, "KReclaimable", "Kernel memory that can be freed under pressure"),
	KIB(slab, "Slab", "Kernel slab caches"),
	KIB(s_reclaimable, "SReclaimable", "Slab that can be freed under pressure"),
	KIB(s_unreclaim, "SUnreclaim", "Slab that cannot be freed"),
	KIB(anon_huge_pages, "AnonHugePages", "Anonymous memory in transparent huge pages mapped whole"),
	KIB(shmem_huge_pages, "ShmemHugePages", "Shmem in huge pages"),
	KIB(shmem_pmd_mapped, "ShmemPmdMapped", "Shmem mapped by huge entries"),
	KIB(file_huge_pages, "FileHugePages", "Page cache in huge pages"),
	KIB(file_pmd_mapped, "FilePmdMapped", "Page cache mapped by huge entries"),
	KIB(unaccepted, "Unaccepted", "Not yet accepted from the hypervisor"),
	KIB(balloon, "Balloon", "Given up to the hypervisor by a balloon"),
	KIB(gpu_active, "GPUActive", "In use by GPU drivers"),
	KIB(gpu_reclaim, "GPUReclaim", "GPU driver pools that reclaim can free"),
	HUGE(huge_pages_total, "HugePages_Total", "Hugetlb pages of the default size alone: a count; all sizes are in table hugetlb_node"),
	HUGE(huge_pages_free, "HugePages_Free", "Hugetlb pages of the default size that nobody has faulted in"),
	HUGE(huge_pages_surp, "HugePages_Surp", "Hugetlb pages of the default size by overcommit"),
};
/* clang-format on */

#undef KIB
#undef HUGE

#endif
