/* What the task iterator writes of each task: a struct record_idle, or a struct record_task; of a leader thread a struct record_process behind it, and
 * then as many words as the mask of CPUs has. Shared by the
 * BPF program and the collector, which are built of one tree: native integers, no version. */
#ifndef RECORD_H
#define RECORD_H

typedef unsigned int record_u32;
typedef unsigned long long record_u64;

/* 1,024 CPUs; 16, beyond which summing rss over them would cost more than all the rest. */
enum { RECORD_CPU_WORDS = 16, RECORD_EXACT_CPUS = 16 };

/* task_io_accounting */
struct record_io {
	record_u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

/* Times in ns. */
struct record_cpu {
	record_u64 utime, stime, gtime;
	record_u64 sum_exec;               /* CPU time by the scheduler's clock */
	record_u64 prev_utime, prev_stime; /* as the kernel told them last: they never fall */
	record_u64 minflt, majflt;
	struct record_io io;
};

/* Bits of `has`, with which both kinds of record begin. */
enum {
	RECORD_LEADER = 1 << 0, /* a struct record_process follows */
	RECORD_MEMORY = 1 << 1, /* it has memory of its own */
	RECORD_ADJUST = 1 << 2, /* utime and stime are samples, to be scaled to sum_exec */
	RECORD_SCHED = 1 << 3,  /* wait and slices are counted */
	RECORD_MEMS = 1 << 4,
	RECORD_IDLE =
		1
		<< 5, /* a struct record_idle: a single thread that, as far as can be told, did not run since */
};

struct record_idle {
	record_u32 has, pid;
	record_u64 start;                  /* ns after boot */
	record_u64 sum_exec, wait, slices; /* ns, ns, count */
};

struct record_task {
	record_u32 has, pid, tgid, ppid;
	record_u32 state, exit_state, flags;
	record_u32 prio, static_prio, rt_priority, policy, cpu;
	record_u32 next,
		last; /* the collector's: places of the next thread of the process, and of its last */
	record_u64 start; /* ns after boot */
	record_u64 wait, slices, nvcsw, nivcsw;
	record_u64 blkio_delay; /* ns, swap-in included */
	struct record_cpu cpu_time;
	char comm[16];
};

/* Indices of mm_struct.rss_stat. */
enum { RECORD_FILE, RECORD_ANON, RECORD_SWAP, RECORD_SHMEM, RECORD_COUNTERS };

/* Of the process: of its ended threads, what its signal struct keeps; memory in pages. */
struct record_process {
	record_u32 pgrp, session, nr_threads, uid;
	struct record_cpu ended;
	record_u64 cutime, cstime, cgtime, cminflt, cmajflt;
	record_u64 start_stack;
	record_u64 total_vm, hiwater_vm, locked_vm, pinned_vm, hiwater_rss, data_vm, stack_vm;
	record_u64 pgtables_bytes, hugetlb_usage;
	/* As the kernel sums them cheaply, and over all CPUs, where that is wanted: else the same. */
	long long approximate[RECORD_COUNTERS], rss[RECORD_COUNTERS];
	record_u64 mems;
	record_u64 groups; /* another number where its control groups are others; 0: not known */
};

/* What one reading found, in front of its records; bytes may be more than there was room for. */
struct record_total {
	record_u64 bytes;
};

/* As much of the map's end stays free: what begins before it fits. */
enum { RECORD_MARGIN = sizeof(struct record_process) + sizeof(struct record_total) };

/* What the loader tells the program. */
struct record_constants {
	record_u32 ncpus;  /* possible ones: the highest number and one */
	record_u32 period; /* one in so many is never told as idle, in turn; 1: none is */
	record_u32 room;   /* bytes of the map, where there is one */
	record_u32 exact;  /* rss is summed over CPUs, as /proc does since Linux 6.16 */
};

#endif
