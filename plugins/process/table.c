/* The tables of the collector `process`: what each value is (proc(5), Documentation/filesystems/proc.rst). */
#include "process.h"

/* clang-format off */
static const struct sonde_column columns[PROCESS_COLUMNS] = {
	[PID]          = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "stat field 1", .help = "with start_time the identity: the kernel reuses the number" },
	[START_TIME]   = { "start_time", SONDE_U64, SONDE_KEY, SONDE_TICKS, .origin = "stat field 22", .help = "time after boot at which it started" },
	[COMM]         = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "stat field 2", .help = "name of the leader thread, raw bytes, cut by the kernel at 15; changes at exec and by prctl", .sensitivity = SONDE_NAME },
	[CMDLINE]      = { "cmdline", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "cmdline", .help = "arguments joined by blanks, at most 512 bytes; only with cmdline = redacted (secrets written as *) or full; a title written over later is not seen", .sensitivity = SONDE_ARGUMENT },
	[CGROUP]       = { "cgroup", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "cgroup", .help = "path of its control group below the mount: cgroup v2's; where that manages nothing, v1's of systemd, cpu or memory", .sensitivity = SONDE_PATH },
	[STATE]        = { "state", SONDE_STR, SONDE_STATE, SONDE_NONE, .origin = "stat field 3", .help = "of the leader thread: R running, S sleeping, D in uninterruptible wait, T stopped, t traced, Z zombie, I idle kernel thread" },
	[PPID]         = { "ppid", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "stat field 4", .help = "parent; changes when the parent ends" },
	[PGRP]         = { "pgrp", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "stat field 5", .help = "process group" },
	[SESSION]      = { "session", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "stat field 6", .help = "session" },
	[KTHREAD]      = { "kthread", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "stat field 9, PF_KTHREAD", .help = "1 for a kernel thread: it has no memory of its own" },
	[UID]          = { "uid", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "status Uid:", .help = "real user id" },

	[UTIME]        = { "utime", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat field 14", .help = "CPU time in user mode of all threads, ended ones too; holds guest_time" },
	[STIME]        = { "stime", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat field 15", .help = "CPU time in the kernel of all threads, ended ones too" },
	[CUTIME]       = { "cutime", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat field 16", .help = "user time of children that ended and were waited for; jumps by a whole life, so it is not added to utime" },
	[CSTIME]       = { "cstime", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat field 17", .help = "kernel time of children that ended and were waited for" },
	[GUEST_TIME]   = { "guest_time", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat field 43", .help = "time spent running a virtual CPU; part of utime" },
	[CGUEST_TIME]  = { "cguest_time", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat field 44", .help = "guest time of children that were waited for; part of cutime" },
	[BLKIO_DELAY]  = { "delayacct_blkio_ticks", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat field 42", .help = "time waited for block I/O and swap-in; absent where delay accounting is off (kernel.task_delayacct)" },
	[MINFLT]       = { "minflt", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("faults"), .origin = "stat field 10", .help = "page faults that needed no I/O" },
	[MAJFLT]       = { "majflt", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("faults"), .origin = "stat field 12", .help = "page faults that waited for I/O" },
	[CMINFLT]      = { "cminflt", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("faults"), .origin = "stat field 11", .help = "minor faults of children that were waited for" },
	[CMAJFLT]      = { "cmajflt", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("faults"), .origin = "stat field 13", .help = "major faults of children that were waited for" },

	[PRIORITY]     = { "priority", SONDE_I64, SONDE_STATE, SONDE_NONE, .origin = "stat field 18", .help = "20 + nice for ordinary tasks, negative for real-time ones" },
	[NICE]         = { "nice", SONDE_I64, SONDE_STATE, SONDE_NONE, .origin = "stat field 19", .help = "19 (yields most) to -20" },
	[RT_PRIORITY]  = { "rt_priority", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "stat field 40", .help = "1 to 99 for real-time tasks, else 0" },
	[POLICY]       = { "policy", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "stat field 41", .help = "0 other, 1 fifo, 2 rr, 3 batch, 5 idle, 6 deadline, 7 ext (sched.h)" },
	[NUM_THREADS]  = { "num_threads", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("threads"), .origin = "stat field 20" },
	[PROCESSOR]    = { "processor", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "stat field 39", .help = "CPU on which the leader thread ran last" },
	[CPUS_ALLOWED] = { "cpus_allowed", SONDE_STR, SONDE_STATE, SONDE_NONE, .origin = "status Cpus_allowed_list:", .help = "CPUs on which the leader thread may run" },
	[MEMS_ALLOWED] = { "mems_allowed", SONDE_STR, SONDE_STATE, SONDE_NONE, .origin = "status Mems_allowed_list:", .help = "NUMA nodes from which it may take memory" },

	[VSIZE]        = { "vsize", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = "stat field 23", .help = "address space; says little about memory in use" },
	[RSS]          = { "rss", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("pages"), .origin = "stat field 24", .help = "pages of the machine's page size; the kernel rounds it per CPU or thread: vm_rss is the better number" },
	[VM_PEAK]      = { "vm_peak", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status VmPeak:", .help = "largest vsize so far" },
	[VM_LCK]       = { "vm_lck", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status VmLck:", .help = "locked by mlock" },
	[VM_PIN]       = { "vm_pin", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status VmPin:", .help = "pinned for a device; can't move between nodes" },
	[VM_HWM]       = { "vm_hwm", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status VmHWM:", .help = "largest vm_rss so far" },
	[VM_RSS]       = { "vm_rss", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status VmRSS:", .help = "memory resident, shared pages counted in each process; absent for kernel threads and where the leader thread ended" },
	[RSS_ANON]     = { "rss_anon", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status RssAnon:", .help = "part of vm_rss: heap, stacks; since Linux 4.5" },
	[RSS_FILE]     = { "rss_file", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status RssFile:", .help = "part of vm_rss: mapped files; since Linux 4.5" },
	[RSS_SHMEM]    = { "rss_shmem", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status RssShmem:", .help = "part of vm_rss: shared memory and tmpfs; since Linux 4.5" },
	[VM_DATA]      = { "vm_data", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status VmData:", .help = "address space of private writable mappings" },
	[VM_STK]       = { "vm_stk", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status VmStk:", .help = "address space of the first stack" },
	[VM_PTE]       = { "vm_pte", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status VmPTE:", .help = "page tables" },
	[VM_SWAP]      = { "vm_swap", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status VmSwap:", .help = "anonymous memory in swap, shared memory not counted" },
	[HUGETLB_PAGES] = { "hugetlb_pages", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "status HugetlbPages:", .help = "from the pools of huge pages; not in vm_rss" },
	[VOLUNTARY_SWITCHES] = { "voluntary_ctxt_switches", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("switches"), .origin = "status voluntary_ctxt_switches:", .help = "the leader thread gave up the CPU to wait" },
	[INVOLUNTARY_SWITCHES] = { "nonvoluntary_ctxt_switches", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("switches"), .origin = "status nonvoluntary_ctxt_switches:", .help = "the leader thread was taken off the CPU" },

	[SCHED_RUN]    = { "sched_run", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "schedstat field 1", .help = "time on a CPU, of the leader thread alone; absent where the kernel does not count it" },
	[SCHED_WAIT]   = { "sched_wait", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "schedstat field 2", .help = "time runnable but waiting for a CPU, of the leader thread alone" },
	[SCHED_SLICES] = { "sched_slices", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("slices"), .origin = "schedstat field 3", .help = "times the leader thread was put on a CPU" },
	[THREADS_RUN]  = { "threads_run", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "task/*/schedstat field 1", .help = "time on a CPU of all threads, as seen at the samples: what one did after the last sample before it ended is missing; only with threads = yes" },
	[THREADS_WAIT] = { "threads_wait", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "task/*/schedstat field 2", .help = "time runnable but waiting for a CPU, of all threads likewise" },
	[THREADS_SLICES] = { "threads_slices", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("slices"), .origin = "task/*/schedstat field 3", .help = "times a thread was put on a CPU, of all threads likewise" },

	[RCHAR]        = { "rchar", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .origin = "io rchar:", .help = "bytes that read calls returned, from pipes and cache too; holds children that were waited for" },
	[WCHAR]        = { "wchar", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .origin = "io wchar:", .help = "bytes given to write calls" },
	[SYSCR]        = { "syscr", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("calls"), .origin = "io syscr:", .help = "read calls" },
	[SYSCW]        = { "syscw", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("calls"), .origin = "io syscw:", .help = "write calls" },
	[READ_BYTES]   = { "read_bytes", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .origin = "io read_bytes:", .help = "bytes fetched from block devices for it" },
	[WRITE_BYTES]  = { "write_bytes", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .origin = "io write_bytes:", .help = "bytes it dirtied that go to block devices, counted when dirtied" },
	[CANCELLED_WRITE_BYTES] = { "cancelled_write_bytes", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .origin = "io cancelled_write_bytes:", .help = "dirtied bytes that never got written since it truncated them; may belong to another's write_bytes" },
};

static const struct sonde_column thread_columns[THREAD_COLUMNS] = {
	[THREAD_PID]         = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "directory", .help = "process" },
	[THREAD_TID]         = { "tid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "stat field 1", .help = "thread; the leader's is the pid" },
	[THREAD_START_TIME]  = { "start_time", SONDE_U64, SONDE_KEY, SONDE_TICKS, .origin = "stat field 22", .help = "time after boot at which the thread started; the kernel reuses the number" },
	[THREAD_COMM]        = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "stat field 2", .help = "the thread's own name, raw bytes", .sensitivity = SONDE_NAME },
	[THREAD_STATE]       = { "state", SONDE_STR, SONDE_STATE, SONDE_NONE, .origin = "stat field 3", .help = "R running, S sleeping, D in uninterruptible wait, T stopped, t traced, Z ended" },
	[THREAD_UTIME]       = { "utime", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat field 14", .help = "CPU time in user mode" },
	[THREAD_STIME]       = { "stime", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat field 15", .help = "CPU time in the kernel" },
	[THREAD_BLKIO_DELAY] = { "delayacct_blkio_ticks", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat field 42", .help = "time waited for block I/O and swap-in; absent where delay accounting is off (kernel.task_delayacct)" },
	[THREAD_MINFLT]      = { "minflt", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("faults"), .origin = "stat field 10", .help = "page faults that needed no I/O" },
	[THREAD_MAJFLT]      = { "majflt", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("faults"), .origin = "stat field 12", .help = "page faults that waited for I/O" },
	[THREAD_PRIORITY]    = { "priority", SONDE_I64, SONDE_STATE, SONDE_NONE, .origin = "stat field 18", .help = "20 + nice for ordinary threads, negative for real-time ones" },
	[THREAD_NICE]        = { "nice", SONDE_I64, SONDE_STATE, SONDE_NONE, .origin = "stat field 19", .help = "19 (yields most) to -20" },
	[THREAD_RT_PRIORITY] = { "rt_priority", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "stat field 40", .help = "1 to 99 for real-time threads, else 0" },
	[THREAD_POLICY]      = { "policy", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "stat field 41", .help = "0 other, 1 fifo, 2 rr, 3 batch, 5 idle, 6 deadline, 7 ext (sched.h)" },
	[THREAD_PROCESSOR]   = { "processor", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "stat field 39", .help = "CPU on which it ran last" },
	[THREAD_RUN]         = { "sched_run", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "schedstat field 1", .help = "time on a CPU; absent where the kernel does not count it" },
	[THREAD_WAIT]        = { "sched_wait", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "schedstat field 2", .help = "time runnable but waiting for a CPU" },
	[THREAD_SLICES]      = { "sched_slices", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("slices"), .origin = "schedstat field 3", .help = "times it was put on a CPU" },
};

static const struct sonde_column totals[TOTAL_COLUMNS] = {
	[TOTAL_LISTED]   = { "listed", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("processes"), .origin = "entries", .help = "processes in /proc, or those chosen" },
	[TOTAL_ROWS]     = { "rows", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("processes"), .origin = "counted", .help = "processes of which this sample has a row" },
	[TOTAL_HIDDEN]   = { "hidden", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("processes"), .origin = "counted", .help = "listed, but the kernel does not let them be read (hidepid)" },
	[TOTAL_OMITTED]  = { "omitted", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("processes"), .origin = "counted", .help = "chosen, but beyond max: the idlest are left out" },
	[TOTAL_VANISHED] = { "vanished", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("processes"), .origin = "counted", .help = "ended after they were listed, or heard of, and before they were read" },
	[TOTAL_CPU]      = { "subtree_cpu", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat fields 14 to 17 of the members", .help = "CPU time of a watched subtree, with what children used before they were seen and after their last sample, as far as a parent in it waited for them; of others what was seen last; only with subtree" },
	[TOTAL_SUBTREE]  = { "subtree", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "configured", .help = "process whose descendants are watched; of a command sonde itself; only with subtree" },
};

const struct sonde_table process_tables[PROCESS_TABLES] = {
	[TABLE_PROCESS] = {
		"process", SONDE_COLUMNS(columns), .origin = "/proc/PID",
		.help = "processes; CPU times, faults and I/O are of the whole process, scheduling values of its leader thread",
		.rows = 4096, /* the default of max: address space, not memory, until it is used */
	},
	[TABLE_PROCESSES] = {
		"processes", SONDE_COLUMNS(totals), .origin = "/proc",
		.help = "what the sample of process covered", .rows = 1,
	},
	[TABLE_THREAD] = {
		"thread", SONDE_COLUMNS(thread_columns), .origin = "/proc/PID/task/TID",
		.help = "threads, the leader among them, of the processes that have a row; only with threads = yes",
		.rows = 4096,
	},
};
/* clang-format on */
