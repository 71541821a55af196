/* meminfo: how memory is used (/proc/meminfo, Documentation/filesystems/proc.rst). */
#include <sonde/plugin.h>

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
static const struct sonde_column columns[] = {
	KIB(mem_total, "MemTotal", "Usable memory: RAM less the kernel's image and what firmware keeps"),
	KIB(mem_free, "MemFree", "Used for nothing at all; little of it is normal, see mem_available"),
	KIB(mem_available, "MemAvailable", "The kernel's estimate of what new work can have without swapping; absent before 3.14"),
	KIB(buffers, "Buffers", "Page cache of block devices"),
	KIB(cached, "Cached", "Page cache and shmem, without buffers and swap cache; shmem in it cannot be dropped"),
	KIB(swap_cached, "SwapCached", "In memory and in swap as well"),
	KIB(active, "Active", "Used lately"),
	KIB(inactive, "Inactive", "Not used lately: reclaimed first"),
	KIB(active_anon, "Active(anon)", "Active anonymous memory and shmem"),
	KIB(inactive_anon, "Inactive(anon)", "Inactive anonymous memory and shmem"),
	KIB(active_file, "Active(file)", "Active page cache"),
	KIB(inactive_file, "Inactive(file)", "Inactive page cache"),
	KIB(unevictable, "Unevictable", "Cannot be reclaimed (mlock, ramfs)"),
	KIB(mlocked, "Mlocked", "Locked by mlock(2)"),
	KIB(swap_total, "SwapTotal", "Swap space; 0: there is none"),
	KIB(swap_free, "SwapFree", "Swap space not used"),
	KIB(zswap, "Zswap", "Memory that zswap takes, compressed"),
	KIB(zswapped, "Zswapped", "Memory that was compressed into zswap, its original size"),
	KIB(dirty, "Dirty", "Waiting to be written back"),
	KIB(writeback, "Writeback", "Being written back"),
	KIB(anon_pages, "AnonPages", "Anonymous memory mapped by processes; without shmem"),
	KIB(mapped, "Mapped", "Files and shmem mapped by processes"),
	KIB(shmem, "Shmem", "Shared memory and tmpfs"),
	KIB(k_reclaimable, "KReclaimable", "Kernel memory that can be freed under pressure, s_reclaimable in it"),
	KIB(slab, "Slab", "Kernel slab caches"),
	KIB(s_reclaimable, "SReclaimable", "Slab that can be freed under pressure (dentries, inodes)"),
	KIB(s_unreclaim, "SUnreclaim", "Slab that cannot be freed; growth without end is a kernel leak"),
	KIB(kernel_stack, "KernelStack", "Kernel stacks of all tasks"),
	KIB(page_tables, "PageTables", "Page tables of user space"),
	KIB(sec_page_tables, "SecPageTables", "Secondary page tables (KVM, IOMMU)"),
	KIB(nfs_unstable, "NFS_Unstable", "Always 0 since 5.8"),
	KIB(bounce, "Bounce", "Bounce buffers of block devices; always 0 in newer kernels"),
	KIB(writeback_tmp, "WritebackTmp", "FUSE writeback buffers"),
	KIB(commit_limit, "CommitLimit", "What may be committed; enforced only where vm.overcommit_memory is 2"),
	KIB(committed_as, "Committed_AS", "Memory promised to processes, used or not"),
	KIB(vmalloc_total, "VmallocTotal", "Size of the vmalloc address space, not of memory"),
	KIB(vmalloc_used, "VmallocUsed", "Memory in vmalloc areas; 0 from 4.4 to 5.2"),
	KIB(vmalloc_chunk, "VmallocChunk", "Always 0 since 4.4"),
	KIB(percpu, "Percpu", "Memory of the per-CPU allocator"),
	KIB(early_memtest_bad, "EarlyMemtestBad", "Memory that the boot-time test found bad"),
	KIB(hardware_corrupted, "HardwareCorrupted", "Memory put out of use because of errors"),
	KIB(anon_huge_pages, "AnonHugePages", "Anonymous memory in transparent huge pages mapped whole"),
	KIB(shmem_huge_pages, "ShmemHugePages", "Shmem in huge pages"),
	KIB(shmem_pmd_mapped, "ShmemPmdMapped", "Shmem mapped by huge entries"),
	KIB(file_huge_pages, "FileHugePages", "Page cache in huge pages"),
	KIB(file_pmd_mapped, "FilePmdMapped", "Page cache mapped by huge entries"),
	KIB(cma_total, "CmaTotal", "Memory in CMA regions"),
	KIB(cma_free, "CmaFree", "Free in CMA regions"),
	KIB(unaccepted, "Unaccepted", "Not yet accepted from the hypervisor (confidential guests)"),
	KIB(balloon, "Balloon", "Given up to the hypervisor by a balloon"),
	KIB(gpu_active, "GPUActive", "In use by GPU drivers"),
	KIB(gpu_reclaim, "GPUReclaim", "GPU driver pools that reclaim can free"),
	HUGE(huge_pages_total, "HugePages_Total", "Hugetlb pages of the default size: a count, not KiB; other sizes are in table hugetlb"),
	HUGE(huge_pages_free, "HugePages_Free", "Hugetlb pages that nobody has faulted in; reserved ones are among them"),
	HUGE(huge_pages_rsvd, "HugePages_Rsvd", "Promised to a mapping, not yet faulted in: free for others is free less reserved"),
	HUGE(huge_pages_surp, "HugePages_Surp", "Beyond vm.nr_hugepages, by vm.nr_overcommit_hugepages"),
	KIB(hugepagesize, "Hugepagesize", "Size of one hugetlb page of the default size"),
	KIB(hugetlb, "Hugetlb", "Memory of hugetlb pages of all sizes"),
	KIB(direct_map4k, "DirectMap4k", "Kernel mapping in 4 KiB pages"),
	KIB(direct_map64k, "DirectMap64k", "Kernel mapping in 64 KiB pages"),
	KIB(direct_map1m, "DirectMap1M", "Kernel mapping in 1 MiB pages"),
	KIB(direct_map2m, "DirectMap2M", "Kernel mapping in 2 MiB pages"),
	KIB(direct_map4m, "DirectMap4M", "Kernel mapping in 4 MiB pages"),
	KIB(direct_map1g, "DirectMap1G", "Kernel mapping in 1 GiB pages"),
	KIB(direct_map2g, "DirectMap2G", "Kernel mapping in 2 GiB pages"),
};
/* clang-format on */

static const struct sonde_table tables[] = {
	{ "meminfo", SONDE_COLUMNS(columns), .origin = "/proc/meminfo",
	  .help = "Memory by use; the parts overlap and do not add up to the total." },
};

static int start(struct sonde_instance *self)
{
	struct keyed_file *of = self->state;
	int err = keyed_file_start(self, of, "/proc/meminfo", &tables[0],
				   "/proc is not mounted here");

	if (!err &&
	    !keyed_has(&of->keyed, (uint32_t)keyed_column(&tables[0].columns, "MemAvailable:", 13)))
		sonde_note(self, "MemAvailable is absent: kernels before 3.14 do not estimate it");
	return err;
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	return keyed_file_sample(self, frame, self->state);
}

SONDE_COLLECTOR(meminfo, "memory by use", sample, .tables = SONDE_TABLES(tables),
		.state_size = sizeof(struct keyed_file), .start = start);
