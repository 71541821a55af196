/* The machine that is not there: two sockets of 16 CPUs each with a node of 64 GiB of memory, one disk, Linux 6.12. It is what
 * its numbers say, and its files are written of those. */
#ifndef DEMO_MODEL_H
#define DEMO_MODEL_H

#include <stdint.h>

enum {
	DEMO_CPUS = 32,
	DEMO_NODES = 2,
	NODE_CPUS = DEMO_CPUS / DEMO_NODES,
	DEMO_TICKS = 100, /* a second: USER_HZ */
	DEMO_PAGE = 4096,
	DEMO_KHZ = 3500000, /* the highest frequency of each CPU */
	MEMORY_MIB = 131072,
	SWAP_MIB = 8192,
	DEMO_UPTIME = 3 * 86400, /* seconds at the first sample */
	DEMO_SECONDS = 60,       /* of the recording, sampled once a second */
};

enum quantity {
	/* Shares of the time of each CPU; what is left is idle. */
	CPU_USER,
	CPU_NICE,
	CPU_SYSTEM,
	CPU_IOWAIT,
	CPU_IRQ,
	CPU_SOFTIRQ,
	CPU_STEAL,
	/* The first so many CPUs have these instead, and all that wait. */
	BUSY_CPUS,
	BUSY_USER,
	BUSY_SOFTIRQ,
	/* Tasks: running or waiting for a CPU, waiting for a disk; the average that waits for a CPU. */
	RUNNABLE,
	BLOCKED,
	WAITING,
	SLICES, /* a second, of all CPUs */
	SWITCHES,
	FORKS,
	INTERRUPTS,
	/* Shares of time with a task stalled, and with all of them. */
	STALL_CPU,
	STALL_MEMORY,
	STALL_MEMORY_FULL,
	STALL_IO,
	STALL_IO_FULL,
	/* Memory, in MiB; of what is free, that of node 1. */
	FREE,
	NODE1_FREE,
	AVAILABLE,
	CACHE,
	ANON,
	ANON_HUGE,
	SWAP_FREE,
	DIRTY,
	/* Events a second. */
	FAULTS,
	MAJOR_FAULTS,
	SWAP_IN,
	SWAP_OUT,
	KSWAPD_SCAN,
	KSWAPD_STEAL,
	DIRECT_SCAN,
	DIRECT_STEAL,
	ALLOCATION_STALLS,
	REFAULTS_ANON,
	REFAULTS_FILE,
	OOM_KILLS,
	THP_ALLOC,
	THP_FALLBACK,
	MTHP_ALLOC, /* of 64 KiB */
	MTHP_FALLBACK,
	COMPACTION_STALLS,
	COMPACTION_FAILURES,
	/* Pages a second: allocated on the node of the CPU that asked, and on the other one; what NUMA balancing looked at, found
	 * on the node of its user, and moved. */
	LOCAL_PAGES,
	OTHER_PAGES,
	HINT_FAULTS,
	HINT_FAULTS_LOCAL,
	PAGES_MIGRATED,
	/* Whether transparent huge pages may compact memory at each fault; hugetlb pages of 2 MiB, all and free. */
	THP_DEFRAG,
	HUGETLB,
	HUGETLB_FREE,
	HUGETLB_NODE0, /* of these, of node 0 */
	HUGETLB_NODE0_FREE,
	/* Of a service with a quota of four CPUs: those that it uses, how many of its ten periods a second end without any left,
	 * and the seconds that its threads then wait. */
	CGROUP_CPUS,
	CGROUP_THROTTLED,
	CGROUP_WAITING,
	/* Of a CPU: cycles for each second that it is not idle, instructions for each cycle; for each instruction references and
	 * misses of the last-level cache, loads, and branches; the shares of these that miss the TLB, and that are guessed wrong. */
	CLOCK,
	IPC,
	LLC_REFERENCES,
	LLC_MISSES,
	LOADS,
	TLB_MISSES,
	BRANCHES,
	BRANCH_MISSES,
	/* Of the six slots of its pipeline in each cycle: empty for want of instructions, of data or units, thrown away. */
	SLOTS_FRONTEND,
	SLOTS_BACKEND,
	SLOTS_WASTED,
	/* Bytes a second from and to memory, and of both the share that is of socket 1. */
	MEMORY_READ,
	MEMORY_WRITTEN,
	MEMORY_SOCKET1,
	/* The disk: requests and bytes a second, the seconds that a request takes, the share of time in which it has any. */
	READS,
	READ_BYTES,
	WRITES,
	WRITE_BYTES,
	REQUEST_TIME,
	DISK_BUSY,
	/* How often each CPU of socket 0 slowed itself down for heat, and all of it at once, a second. */
	THROTTLES,
	PACKAGE_THROTTLES,
	/* The highest frequency that CPUs are allowed, in kHz; the last so many CPUs are slow ones, 0: all are alike. */
	ALLOWED_KHZ,
	SLOW_CPUS,
	QUANTITIES,
};

/* Processes of one kind, `count` of them (0: one), with successive numbers. Rates are of each, a second, over all of its
 * threads, which share them evenly: schedstat and the switches of status are those of the first one. */
struct process {
	const char *name, *cgroup;
	uint32_t pid, count, threads;
	double user, system;        /* CPU seconds */
	double wait;                /* seconds in which they could run and had no CPU */
	double block_io;            /* ...in which they waited for the disk, */
	double reclaim, compaction; /* ...and that went into making memory free, and whole */
	double slices, voluntary, involuntary;
	double minor_faults, major_faults;
	double read_bytes, write_bytes;
	uint32_t rss_mib;
	uint32_t
		cpu; /* where the first thread of the first is; that of the next is on the other node */
	double remote; /* share of its memory that is on the other node */
};

struct model {
	double value[QUANTITIES];
	const struct process *processes[3]; /* arrays of them, each ended by a name of NULL */
	double seconds;                     /* since boot */
};

/* What a counter has come to since boot that grows by `rate` a second. */
static inline uint64_t count_of(const struct model *model, double rate)
{
	return (uint64_t)(rate * model->seconds + 0.5);
}

static inline uint64_t counted(const struct model *model, enum quantity quantity)
{
	return count_of(model, model->value[quantity]);
}

/* The share of its time that a CPU spends so. */
double model_share(const struct model *model, uint32_t cpu, enum quantity time);

/* The `index`-th process of all; `pid` is its own. NULL: there are not so many. */
const struct process *model_process(const struct model *model, uint32_t index, uint32_t *pid);

#endif
