/* The tables of the collector `taskstats`: what each value is (Documentation/accounting/taskstats-struct.rst,
 * delay-accounting.rst). */
#include "stats.h"

/* clang-format off */
static const struct sonde_column columns[STATS_COLUMNS] = {
	[STATS_PID]        = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "/proc/PID", .help = "with start_time the identity: the kernel reuses the number" },
	[STATS_START_TIME] = { "start_time", SONDE_U64, SONDE_KEY, SONDE_TICKS, .origin = "/proc/PID/stat field 22", .help = "time after boot at which it started" },
	[STATS_COMM]       = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "/proc/PID/stat field 2", .help = "name of the leader thread, raw bytes", .sensitivity = SONDE_NAME },
	[STATS_DELAYS + 0] = { "cpu_count", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("delays"), .origin = "cpu_count", .help = "delays that cpu_delay_total sums" },
	[STATS_DELAYS + 1] = { "cpu_delay_total", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "cpu_delay_total", .help = "time runnable, waiting for a CPU" },
	[STATS_DELAYS + 2] = { "blkio_count", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("delays"), .origin = "blkio_count", .help = "delays that blkio_delay_total sums" },
	[STATS_DELAYS + 3] = { "blkio_delay_total", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "blkio_delay_total", .help = "time waiting for block I/O; absent where kernel.task_delayacct is 0" },
	[STATS_DELAYS + 4] = { "swapin_count", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("delays"), .origin = "swapin_count", .help = "delays that swapin_delay_total sums" },
	[STATS_DELAYS + 5] = { "swapin_delay_total", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "swapin_delay_total", .help = "time waiting for pages to come from swap; absent where kernel.task_delayacct is 0" },
	[STATS_DELAYS + 6] = { "freepages_count", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("delays"), .origin = "freepages_count", .help = "delays that freepages_delay_total sums" },
	[STATS_DELAYS + 7] = { "freepages_delay_total", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "freepages_delay_total", .help = "time in direct reclaim, making memory free; absent where kernel.task_delayacct is 0" },
	[STATS_DELAYS + 8] = { "thrashing_count", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("delays"), .origin = "thrashing_count", .help = "delays that thrashing_delay_total sums; since Linux 4.20" },
	[STATS_DELAYS + 9] = { "thrashing_delay_total", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "thrashing_delay_total", .help = "time waiting for pages that were just evicted (refaults of the working set); since Linux 4.20; absent where kernel.task_delayacct is 0" },
	[STATS_DELAYS + 10] = { "compact_count", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("delays"), .origin = "compact_count", .help = "delays that compact_delay_total sums; since Linux 5.17" },
	[STATS_DELAYS + 11] = { "compact_delay_total", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "compact_delay_total", .help = "time in memory compaction; since Linux 5.17; absent where kernel.task_delayacct is 0" },
	[STATS_DELAYS + 12] = { "wpcopy_count", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("delays"), .origin = "wpcopy_count", .help = "delays that wpcopy_delay_total sums; since Linux 6.0" },
	[STATS_DELAYS + 13] = { "wpcopy_delay_total", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "wpcopy_delay_total", .help = "time copying a page at a write to a shared one (copy on write); since Linux 6.0; absent where kernel.task_delayacct is 0" },
	[STATS_DELAYS + 14] = { "irq_count", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("delays"), .origin = "irq_count", .help = "delays that irq_delay_total sums; since Linux 6.4" },
	[STATS_DELAYS + 15] = { "irq_delay_total", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "irq_delay_total", .help = "time held up by interrupts; since Linux 6.4; absent where kernel.task_delayacct is 0" },
	[STATS_CPU_RUN_REAL] = { "cpu_run_real_total", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "cpu_run_real_total", .help = "CPU time as it is charged: user and system, less time stolen where the architecture knows it" },
	[STATS_CPU_RUN_VIRTUAL] = { "cpu_run_virtual_total", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "cpu_run_virtual_total", .help = "CPU time by the scheduler's clock" },
};

static const struct sonde_column exit_columns[EXIT_COLUMNS] = {
	[EXIT_PID]   = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "ac_pid", .help = "the thread that ended; of a group the process" },
	[EXIT_TGID]  = { "tgid", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "ac_tgid", .help = "its process; since Linux 5.19" },
	[EXIT_PPID]  = { "ppid", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "ac_ppid", .help = "parent" },
	[EXIT_UID]   = { "uid", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "ac_uid", .help = "real user id" },
	[EXIT_COMM]  = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "ac_comm", .help = "name, raw bytes", .sensitivity = SONDE_NAME },
	[EXIT_GROUP] = { "group", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "TASKSTATS_TYPE_AGGR_TGID", .help = "1: of a process with threads, when the last of them ended; delays and CPU time of all of them in sum, and nothing else" },
	[EXIT_CODE]  = { "exitcode", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "ac_exitcode", .help = "as of wait(2): status times 256, plus the signal" },
	[EXIT_FLAG]  = { "flag", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "ac_flag", .help = "bits: 1 forked without exec, 8 dumped core, 16 killed by a signal, 32 last of its process (acct.h)" },
	[EXIT_BTIME] = { "btime", SONDE_U64, SONDE_INFO, SONDE_SECONDS, .origin = "ac_btime64", .help = "when it began, since 1970; since Linux 5.11" },
	[EXIT_ETIME] = { "etime", SONDE_U64, SONDE_GAUGE, SONDE_US, .origin = "ac_etime", .help = "how long it lived" },
	[EXIT_UTIME] = { "utime", SONDE_U64, SONDE_GAUGE, SONDE_US, .origin = "ac_utime", .help = "CPU time in user mode" },
	[EXIT_STIME] = { "stime", SONDE_U64, SONDE_GAUGE, SONDE_US, .origin = "ac_stime", .help = "CPU time in the kernel" },
	[EXIT_DELAYS + 0] = { "cpu_count", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("delays"), .origin = "cpu_count", .help = "delays that cpu_delay_total sums" },
	[EXIT_DELAYS + 1] = { "cpu_delay_total", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "cpu_delay_total", .help = "time runnable, waiting for a CPU" },
	[EXIT_DELAYS + 2] = { "blkio_count", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("delays"), .origin = "blkio_count", .help = "delays that blkio_delay_total sums" },
	[EXIT_DELAYS + 3] = { "blkio_delay_total", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "blkio_delay_total", .help = "time waiting for block I/O; absent where kernel.task_delayacct is 0" },
	[EXIT_DELAYS + 4] = { "swapin_count", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("delays"), .origin = "swapin_count", .help = "delays that swapin_delay_total sums" },
	[EXIT_DELAYS + 5] = { "swapin_delay_total", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "swapin_delay_total", .help = "time waiting for pages to come from swap; absent where kernel.task_delayacct is 0" },
	[EXIT_DELAYS + 6] = { "freepages_count", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("delays"), .origin = "freepages_count", .help = "delays that freepages_delay_total sums" },
	[EXIT_DELAYS + 7] = { "freepages_delay_total", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "freepages_delay_total", .help = "time in direct reclaim, making memory free; absent where kernel.task_delayacct is 0" },
	[EXIT_DELAYS + 8] = { "thrashing_count", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("delays"), .origin = "thrashing_count", .help = "delays that thrashing_delay_total sums; since Linux 4.20" },
	[EXIT_DELAYS + 9] = { "thrashing_delay_total", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "thrashing_delay_total", .help = "time waiting for pages that were just evicted (refaults of the working set); since Linux 4.20; absent where kernel.task_delayacct is 0" },
	[EXIT_DELAYS + 10] = { "compact_count", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("delays"), .origin = "compact_count", .help = "delays that compact_delay_total sums; since Linux 5.17" },
	[EXIT_DELAYS + 11] = { "compact_delay_total", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "compact_delay_total", .help = "time in memory compaction; since Linux 5.17; absent where kernel.task_delayacct is 0" },
	[EXIT_DELAYS + 12] = { "wpcopy_count", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("delays"), .origin = "wpcopy_count", .help = "delays that wpcopy_delay_total sums; since Linux 6.0" },
	[EXIT_DELAYS + 13] = { "wpcopy_delay_total", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "wpcopy_delay_total", .help = "time copying a page at a write to a shared one (copy on write); since Linux 6.0; absent where kernel.task_delayacct is 0" },
	[EXIT_DELAYS + 14] = { "irq_count", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("delays"), .origin = "irq_count", .help = "delays that irq_delay_total sums; since Linux 6.4" },
	[EXIT_DELAYS + 15] = { "irq_delay_total", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "irq_delay_total", .help = "time held up by interrupts; since Linux 6.4; absent where kernel.task_delayacct is 0" },
	[EXIT_CPU_RUN_REAL] = { "cpu_run_real_total", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "cpu_run_real_total", .help = "CPU time as it is charged: user and system, less time stolen where the architecture knows it" },
	[EXIT_CPU_RUN_VIRTUAL] = { "cpu_run_virtual_total", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "cpu_run_virtual_total", .help = "CPU time by the scheduler's clock" },
	[EXIT_MINFLT] = { "minflt", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("faults"), .origin = "ac_minflt", .help = "page faults that needed no I/O" },
	[EXIT_MAJFLT] = { "majflt", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("faults"), .origin = "ac_majflt", .help = "page faults that waited for I/O" },
	[EXIT_HIWATER_RSS] = { "hiwater_rss", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "hiwater_rss", .help = "most memory resident" },
	[EXIT_HIWATER_VM]  = { "hiwater_vm", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "hiwater_vm", .help = "most address space" },
	[EXIT_READ_CHAR]  = { "read_char", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = "read_char", .help = "bytes that read calls returned" },
	[EXIT_WRITE_CHAR] = { "write_char", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = "write_char", .help = "bytes given to write calls" },
	[EXIT_READ_SYSCALLS]  = { "read_syscalls", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("calls"), .origin = "read_syscalls", .help = "read calls" },
	[EXIT_WRITE_SYSCALLS] = { "write_syscalls", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("calls"), .origin = "write_syscalls", .help = "write calls" },
	[EXIT_READ_BYTES]  = { "read_bytes", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = "read_bytes", .help = "bytes fetched from block devices for it; the kernel rounds down to KiB" },
	[EXIT_WRITE_BYTES] = { "write_bytes", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = "write_bytes", .help = "bytes it dirtied that go to block devices" },
	[EXIT_CANCELLED_WRITE_BYTES] = { "cancelled_write_bytes", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = "cancelled_write_bytes", .help = "dirtied bytes that never got written since it truncated them" },
	[EXIT_NVCSW]  = { "nvcsw", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("switches"), .origin = "nvcsw", .help = "it gave up the CPU to wait" },
	[EXIT_NIVCSW] = { "nivcsw", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("switches"), .origin = "nivcsw", .help = "it was taken off the CPU" },
	[EXIT_FORKED_BY] = { "forked_by", SONDE_U64, SONDE_GAUGE, SONDE_NONE, .origin = "PERF_RECORD_FORK ppid, or proc_event fork parent_tgid", .help = "process that made it; ppid is who waits for its end. This and the three below only with stand_in, where exit records are not permitted" },
	[EXIT_ENDED] = { "ended", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "PERF_RECORD_EXIT time, or proc_event timestamp_ns", .help = "CLOCK_BOOTTIME of its end; a program that becomes another user (setuid) is lost sight of at that exec" },
	[EXIT_EXECS] = { "execs", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("execs"), .origin = "PERF_RECORD_COMM with PERF_RECORD_MISC_COMM_EXEC, or PROC_EVENT_EXEC", .help = "programs that it became" },
	[EXIT_TASK_CLOCK] = { "task_clock", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "PERF_RECORD_READ of PERF_COUNT_SW_TASK_CLOCK", .help = "time on a CPU, but for the first and last tenth of a millisecond" },
};

static const struct sonde_column birth_columns[BIRTH_COLUMNS] = {
	[BIRTH_PID] = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "PERF_RECORD_FORK pid, or proc_event fork child_pid", .help = "the process" },
	[BIRTH_FORKED_BY] = { "forked_by", SONDE_U64, SONDE_GAUGE, SONDE_NONE, .origin = "PERF_RECORD_FORK ppid, or proc_event fork parent_tgid", .help = "process that made it, whoever became its parent later" },
	[BIRTH_BORN] = { "born", SONDE_U64, SONDE_GAUGE, SONDE_NS, .origin = "PERF_RECORD_FORK time, or proc_event timestamp_ns", .help = "CLOCK_BOOTTIME of its birth" },
};

const struct sonde_table taskstats_tables[TASKSTATS_TABLES] = {
	[TABLE_TASKSTATS] = {
		"taskstats", SONDE_COLUMNS(columns), .origin = "struct taskstats, TASKSTATS_CMD_ATTR_TGID",
		.help = "what processes waited for, all their threads in sum, ended ones too", .rows = 4096,
	},
	[TABLE_EXIT] = {
		"task_exit", SONDE_COLUMNS(exit_columns), .origin = "struct taskstats, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK",
		.help = "what a task used and waited for in its life, told by the kernel when it ends: none is too short to be seen",
		.flags = SONDE_EVENTS, .rows = 4096, /* address space, not memory, until it is used */
	},
	[TABLE_BIRTH] = {
		"task_birth", SONDE_COLUMNS(birth_columns), .origin = "PERF_RECORD_FORK, or PROC_EVENT_FORK",
		.help = "processes that descend from a command, only with stand_in: each, or, where task_exit has the same of an end, those that lived on at the next sample",
		.flags = SONDE_EVENTS, .rows = 4096,
	},
};
/* clang-format on */
