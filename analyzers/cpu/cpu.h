/* What the files of the analyzer `cpu` share: its thresholds and its streams. */
#ifndef CPU_H
#define CPU_H

#include <sonde/judge.h>

struct conf {
	uint64_t limit; /* findings about processes */
	uint64_t hold;
	double saturation, saturation_critical, waiting;
	double wait, wait_critical, wait_floor;
	uint64_t wait_least;
	double busy, spread, imbalance_wait;
	uint64_t imbalance_hold;
	double irq_busy, irq_spread;
	double own; /* share of a watched tree */
	double steal, iowait;
	double preemptions, blockings;
	double slow_run, slow_share, slow_idle;
	double throttles;
	double zero; /* no option: what must be more than nothing */
};

/* Streams; those that others look at `also` come first. */
enum {
	PRESSURE,
	PRESSURE_CRITICAL,
	DELAY,
	DELAY_SLICE,
	RUNNABLE,
	PROCESS_DELAY,
	PROCESS_SLICE,
	THREADS_DELAY,
	THREADS_SLICE,
	PROCESS_WAIT,
	THREADS_WAIT,
	THREAD_WAIT,
	BUSY,
	SOMEBODY_WAITS,
	BUSIEST,
	SPREAD,
	QUEUED,
	QUEUED_BUSIEST,
	QUEUED_SPREAD,
	IRQ_BUSIEST,
	IRQ_SPREAD,
	IRQ_BUSY,
	IRQ_LINES,
	STEAL,
	IOWAIT,
	CPUS,
	EXCESS,
	INVOLUNTARY,
	VOLUNTARY,
	PROCESS_INVOLUNTARY,
	PROCESS_VOLUNTARY,
	UTILISATION,
	TREE,
	PROCESSES,
	USER,
	GUEST,
	NICE,
	SYSTEM,
	IRQ,
	SOFTIRQ,
	STOLEN,
	IOWAIT_ALL,
	SWITCHES,
	FORKS,
	THREAD_CPUS,
	PROCESS_CPUS,
	PROGRAMS,
	KERNEL_THREADS,
	KINDS,
	CAPACITIES,
	THROTTLES,
	STREAMS
};

extern const struct sonde_stream cpu_streams[STREAMS];

/* Of the CPU time that was used while something held, the share of the tree that is watched; 0: none is. */
double cpu_tree_share(struct sonde_instance *self, const struct sonde_held *held);

void cpu_findings(struct sonde_instance *self);
void cpu_imbalance(struct sonde_instance *self);
void cpu_throttles(struct sonde_instance *self);
void cpu_slow_cores(struct sonde_instance *self);
void cpu_waits(struct sonde_instance *self);
void cpu_metrics(struct sonde_instance *self);

#endif
