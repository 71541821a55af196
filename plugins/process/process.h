/* What the files of the collector `process` share: its columns and its pure parsers. */
#ifndef PROCESS_H
#define PROCESS_H

#ifndef SONDE_USE_MINOR
#define SONDE_USE_MINOR 1
#endif
#include <sonde/plugin.h>

/* Columns of the table `process`; each is its own slot. */
enum {
	PID,
	START_TIME,
	COMM,
	CMDLINE,
	CGROUP,
	STATE,
	PPID,
	PGRP,
	SESSION,
	KTHREAD,
	UID,
	UTIME,
	STIME,
	CUTIME,
	CSTIME,
	GUEST_TIME,
	CGUEST_TIME,
	BLKIO_DELAY,
	MINFLT,
	MAJFLT,
	CMINFLT,
	CMAJFLT,
	PRIORITY,
	NICE,
	RT_PRIORITY,
	POLICY,
	NUM_THREADS,
	PROCESSOR,
	CPUS_ALLOWED,
	MEMS_ALLOWED,
	VSIZE,
	RSS,
	VM_PEAK,
	VM_LCK,
	VM_PIN,
	VM_HWM,
	VM_RSS,
	RSS_ANON,
	RSS_FILE,
	RSS_SHMEM,
	VM_DATA,
	VM_STK,
	VM_PTE,
	VM_SWAP,
	HUGETLB_PAGES,
	VOLUNTARY_SWITCHES,
	INVOLUNTARY_SWITCHES,
	SCHED_RUN,
	SCHED_WAIT,
	SCHED_SLICES,
	THREADS_RUN,
	THREADS_WAIT,
	THREADS_SLICES,
	RCHAR,
	WCHAR,
	SYSCR,
	SYSCW,
	READ_BYTES,
	WRITE_BYTES,
	CANCELLED_WRITE_BYTES,
	PROCESS_COLUMNS
};

/* Columns of the table `processes`: one row, what the sample covered. */
enum {
	TOTAL_LISTED,
	TOTAL_ROWS,
	TOTAL_HIDDEN,
	TOTAL_OMITTED,
	TOTAL_VANISHED,
	TOTAL_CPU,
	TOTAL_SUBTREE,
	TOTAL_COLUMNS
};

/* Columns of the table `thread`. */
enum {
	THREAD_PID,
	THREAD_TID,
	THREAD_START_TIME,
	THREAD_COMM,
	THREAD_STATE,
	THREAD_UTIME,
	THREAD_STIME,
	THREAD_BLKIO_DELAY,
	THREAD_MINFLT,
	THREAD_MAJFLT,
	THREAD_PRIORITY,
	THREAD_NICE,
	THREAD_RT_PRIORITY,
	THREAD_POLICY,
	THREAD_PROCESSOR,
	THREAD_RUN,
	THREAD_WAIT,
	THREAD_SLICES,
	THREAD_COLUMNS
};

enum { TABLE_PROCESS, TABLE_PROCESSES, TABLE_THREAD, PROCESS_TABLES };

extern const struct sonde_table process_tables[PROCESS_TABLES];

/* Fields of /proc/PID/stat by the numbers of proc_pid_stat(5), which start at 1. */
enum {
	STAT_PPID = 4,
	STAT_PGRP = 5,
	STAT_SESSION = 6,
	STAT_FLAGS = 9,
	STAT_MINFLT = 10,
	STAT_CMINFLT = 11,
	STAT_MAJFLT = 12,
	STAT_CMAJFLT = 13,
	STAT_UTIME = 14,
	STAT_STIME = 15,
	STAT_CUTIME = 16,
	STAT_CSTIME = 17,
	STAT_PRIORITY = 18,
	STAT_NICE = 19,
	STAT_NUM_THREADS = 20,
	STAT_START_TIME = 22,
	STAT_VSIZE = 23,
	STAT_RSS = 24,
	STAT_START_STACK = 28,
	STAT_PROCESSOR = 39,
	STAT_RT_PRIORITY = 40,
	STAT_POLICY = 41,
	STAT_BLKIO = 42,
	STAT_GUEST_TIME = 43,
	STAT_CGUEST_TIME = 44,
	STAT_LAST = 44, /* later ones are addresses */
};

/* Negative numbers stand as their two's complement. */
struct process_stat {
	uint64_t field[STAT_LAST + 1]; /* valid from STAT_PPID to `last` */
	uint32_t last;
	uint32_t comm_length;
	const char *comm; /* raw bytes, in the text */
	char state;
};

enum { PF_KTHREAD = 0x200000 }; /* of STAT_FLAGS */

static inline bool process_is_kthread(const struct process_stat *stat)
{
	return (stat->field[STAT_FLAGS] & PF_KTHREAD) != 0;
}

/* All of /proc/PID/stat: comm lies between the first "(" and the last ")", whatever it holds. 0, or -EBADMSG where it
 * does not reach the start time, without which a process has no identity. */
int process_parse_stat(const char *text, size_t length, struct process_stat *stat);

/* Its values into a row, without pid. What a process without memory of its own (kernel thread, zombie) lacks is absent; so
 * is time waited for I/O unless `delays`: the kernel says 0 where it does not count. */
void process_set_stat(const struct process_stat *stat, bool delays, struct sonde_row *row);

/* Those of /proc/PID/task/TID/stat into a row of the table `thread`, likewise, without pid and tid. */
void process_set_thread(const struct process_stat *stat, bool delays, struct sonde_row *row);

/* /proc/PID/status and /proc/PID/io. Lines that are unknown or malformed are passed over. */
void process_parse_status(const char *text, size_t length, struct sonde_row *row);
void process_parse_io(const char *text, size_t length, struct sonde_row *row);

/* /proc/PID/schedstat or /proc/PID/task/TID/schedstat. False where it holds nothing: malformed, or "0 0 0", which the
 * kernel writes where it does not count. */
struct process_sched {
	uint64_t run, wait; /* ns */
	uint64_t slices;
};
bool process_parse_schedstat(const char *text, size_t length, struct process_sched *sched);

/* /proc/PID/cgroup: the path of the unified hierarchy; on a machine that manages processes by cgroup v1, where that is "/",
 * systemd's path, else that of cpu or memory. Its length; 0 where there is none. */
size_t process_parse_cgroup(const char *text, size_t length, const char **path);

/* How much of a command line leaves the collector. */
enum process_cmdline { CMDLINE_NAME, CMDLINE_REDACTED, CMDLINE_FULL };

/* /proc/PID/cmdline as one line of at most `size` bytes: arguments joined by blanks. Redacted writes "*" for what looks like
 * a secret: values of options and variables that are named so, credentials in URLs, tokens. Returns the length, 0 for none. */
size_t process_cmdline(enum process_cmdline form, const char *text, size_t length, char *line,
		       size_t size);

#endif
