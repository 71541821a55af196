/* For tests of analyzers/cpu: the analyzer, tables with the columns that its collectors have, and rows of them. */
#ifndef CPU_ANALYZER_H
#define CPU_ANALYZER_H

#include "analyzers/cpu/cpu.c"
#include "analyzers/cpu/findings.c"
#include "analyzers/cpu/imbalance.c"
#include "analyzers/cpu/metrics.c"
#include "analyzers/cpu/slow_cores.c"
#include "analyzers/cpu/streams.c"
#include "analyzers/cpu/throttles.c"
#include "analyzers/cpu/waits.c"

#include "made.h"
#include "test.h"

/* ---- tables, with the columns that the collectors have ---- */

enum {
	CPU_ID,
	T_USER,
	T_NICE,
	T_SYSTEM,
	T_IDLE,
	T_IOWAIT,
	T_IRQ,
	T_SOFTIRQ,
	T_STEAL,
	T_GUEST,
	T_GUEST_NICE
};

#define TICKS(name_) MADE(name_, SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 0, NULL)
#define TIMES_OF_CPU                                                                               \
	TICKS("user"), TICKS("nice"), TICKS("system"), TICKS("idle"), TICKS("iowait"),             \
		TICKS("irq"), TICKS("softirq"), TICKS("steal"), TICKS("guest"),                    \
		TICKS("guest_nice")

static const struct sonde_column cpu_columns[] = {
	KEY("cpu"),
	TIMES_OF_CPU,
};
static const struct sonde_column stat_columns[] = {
	TIMES_OF_CPU,
	EVENTS("ctxt"),
	EVENTS("processes"),
	GAUGE_COUNT("procs_running"),
};
static const struct sonde_column psi_columns[] = {
	KEY_TEXT("resource"),
	MADE("some_total", SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 1000, NULL),
};
static const struct sonde_column schedstat_columns[] = {
	KEY("cpu"),
	NANOSECONDS("run_delay"),
	EVENTS("pcount"),
};
enum { P_PID, P_START, P_COMM, P_RUN, P_WAIT, P_SLICES, P_VOLUNTARY, P_INVOLUNTARY, P_KTHREAD };
static const struct sonde_column process_columns[] = {
	KEY("pid"),
	MADE("start_time", SONDE_U64, SONDE_KEY, SONDE_BASE_NS, 0, NULL),
	TEXT("comm"),
	NANOSECONDS("sched_run"),
	NANOSECONDS("sched_wait"),
	EVENTS("sched_slices"),
	EVENTS("voluntary_ctxt_switches"),
	EVENTS("nonvoluntary_ctxt_switches"),
	MADE("kthread", SONDE_U64, SONDE_INFO, SONDE_BASE_NONE, 1, NULL),
};

static const struct sonde_column thread_columns[] = {
	KEY("pid"),
	KEY("tid"),
	KEY("start_time"),
	TEXT("comm"),
	NANOSECONDS("sched_run"),
	NANOSECONDS("sched_wait"),
};
static const struct sonde_column irq_cpu_columns[] = {
	KEY_TEXT("irq"),
	KEY("cpu"),
	EVENTS("count"),
};

static const struct sonde_column processes_columns[] = {
	TICKS("subtree_cpu"),
	{ .name = "rows",
	  .type = SONDE_U64,
	  .semantics = SONDE_GAUGE,
	  .unit = SONDE_BASE_COUNT,
	  .scale_mul = 1,
	  .scale_div = 1,
	  .counted = "processes" },
};

enum {
	ON_CPU,
	ON_STAT,
	ON_PSI,
	ON_SCHEDSTAT,
	ON_PROCESS,
	ON_THREAD,
	ON_IRQ_CPU,
	ON_PROCESSES,
	TABLES
};
static const struct sonde_table tables[TABLES] = {
	[ON_CPU] = { .name = "cpu", .columns = SONDE_COLUMNS(cpu_columns) },
	[ON_STAT] = { .name = "stat", .columns = SONDE_COLUMNS(stat_columns) },
	[ON_PSI] = { .name = "psi", .columns = SONDE_COLUMNS(psi_columns) },
	[ON_SCHEDSTAT] = { .name = "schedstat", .columns = SONDE_COLUMNS(schedstat_columns) },
	[ON_PROCESS] = { .name = "process", .columns = SONDE_COLUMNS(process_columns) },
	[ON_THREAD] = { .name = "thread", .columns = SONDE_COLUMNS(thread_columns) },
	[ON_IRQ_CPU] = { .name = "irq_cpu", .columns = SONDE_COLUMNS(irq_cpu_columns) },
	[ON_PROCESSES] = { .name = "processes", .columns = SONDE_COLUMNS(processes_columns) },
};

#include "judging.h"

/* Ticks since boot of one CPU, or of all (stat). */
static inline void times_row(uint32_t table, int64_t cpu, const uint64_t times[10])
{
	struct sonde_row row = stage_row(&stage, table);
	uint32_t at = 0;

	stage.omit[table] = false;
	if (cpu >= 0)
		sonde_set_u64(&row, at++, (uint64_t)cpu);
	for (uint32_t i = 0; i < 10; i++)
		sonde_set_u64(&row, at++, times[i]);
}

static inline void psi_row(uint64_t microseconds)
{
	struct sonde_row row = stage_row(&stage, ON_PSI);

	stage.omit[ON_PSI] = false;
	sonde_set_str(&row, 0, "cpu");
	sonde_set_u64(&row, 1, microseconds);
}

static inline void schedstat_row(uint64_t cpu, uint64_t delay, uint64_t slices)
{
	struct sonde_row row = stage_row(&stage, ON_SCHEDSTAT);

	stage.omit[ON_SCHEDSTAT] = false;
	sonde_set_u64(&row, 0, cpu);
	sonde_set_u64(&row, 1, delay);
	sonde_set_u64(&row, 2, slices);
}

struct process {
	uint64_t pid;
	const char *comm;
	uint64_t run, wait, slices, voluntary, involuntary;
};

static inline struct sonde_row process_row(const struct process *p)
{
	struct sonde_row row = stage_row(&stage, ON_PROCESS);
	const uint64_t values[] = { p->run, p->wait, p->slices, p->voluntary, p->involuntary };

	stage.omit[ON_PROCESS] = false;
	sonde_set_u64(&row, P_PID, p->pid);
	sonde_set_u64(&row, P_START, 100);
	sonde_set_str(&row, P_COMM, p->comm);
	for (uint32_t i = 0; i < 5; i++)
		sonde_set_u64(&row, P_RUN + i, values[i]);
	return row;
}

/* CPU time of the tree that is watched, in ticks. */
static inline void tree_row(uint64_t ticks)
{
	struct sonde_row row = stage_row(&stage, ON_PROCESSES);

	stage.omit[ON_PROCESSES] = false;
	sonde_set_u64(&row, 0, ticks);
	sonde_set_u64(&row, 1, 1);
}

#endif
