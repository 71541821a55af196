/* struct taskstats: which of its fields become values of a row (include/uapi/linux/taskstats.h,
 * Documentation/accounting/taskstats-struct.rst, delay-accounting.rst). */
#ifndef STATS_H
#define STATS_H

#ifndef SONDE_USE_MINOR
#define SONDE_USE_MINOR 2
#endif
#include <sonde/plugin.h>

/* Columns of the table `taskstats`: a process. */
enum {
	STATS_PID,
	STATS_START_TIME,
	STATS_COMM,
	STATS_DELAYS, /* a count and a sum for each of enum delay */
	STATS_CPU_RUN_REAL = STATS_DELAYS + 16,
	STATS_CPU_RUN_VIRTUAL,
	STATS_COLUMNS
};

/* Columns of the table `task_exit`: a task, or the threads of a process together. */
enum {
	EXIT_PID,
	EXIT_TGID,
	EXIT_PPID,
	EXIT_UID,
	EXIT_COMM,
	EXIT_GROUP,
	EXIT_CODE,
	EXIT_FLAG,
	EXIT_BTIME,
	EXIT_ETIME,
	EXIT_UTIME,
	EXIT_STIME,
	EXIT_DELAYS,
	EXIT_CPU_RUN_REAL = EXIT_DELAYS + 16,
	EXIT_CPU_RUN_VIRTUAL,
	EXIT_MINFLT,
	EXIT_MAJFLT,
	EXIT_HIWATER_RSS,
	EXIT_HIWATER_VM,
	EXIT_READ_CHAR,
	EXIT_WRITE_CHAR,
	EXIT_READ_SYSCALLS,
	EXIT_WRITE_SYSCALLS,
	EXIT_READ_BYTES,
	EXIT_WRITE_BYTES,
	EXIT_CANCELLED_WRITE_BYTES,
	EXIT_NVCSW,
	EXIT_NIVCSW,
	EXIT_FORKED_BY, /* these only of events in the place of exit records: lives.h */
	EXIT_ENDED,
	EXIT_EXECS,
	EXIT_TASK_CLOCK,
	EXIT_COLUMNS
};

/* Columns of the table `task_birth`: a process. */
enum { BIRTH_PID, BIRTH_FORKED_BY, BIRTH_BORN, BIRTH_COLUMNS };

/* Births come before ends, to who reads the tables in their order. */
enum { TABLE_TASKSTATS, TABLE_BIRTH, TABLE_EXIT, TASKSTATS_TABLES };

extern const struct sonde_table taskstats_tables[TASKSTATS_TABLES];

/* One record, as a message carried it. */
struct stats {
	const char *at;
	size_t length;
	uint32_t id; /* the task's or the process's number */
	bool group;  /* of a process: what its threads have in sum */
};

/* Where fields lie. Version 15 (Linux 6.14 and 6.15) put new ones between old ones; version 16 moved them to the end. */
enum stats_layout { STATS_USUAL, STATS_VERSION_15, STATS_UNKNOWN };

/* The layout in which the record of one task, not of a group, holds the number that it is about. */
enum stats_layout stats_layout(const struct stats *stats);

/* Into a row of taskstats: all but pid, start and name. Without `delays` the kernel counts waiting for a CPU alone, and
 * writes 0 for the others: absent. So is what the kernel's record is too short for. */
void stats_set(const struct stats *stats, enum stats_layout layout, bool delays,
	       struct sonde_row *row);

/* Into a row of task_exit, all of it. */
void stats_set_exit(const struct stats *stats, enum stats_layout layout, bool delays,
		    struct sonde_row *row);

#endif
