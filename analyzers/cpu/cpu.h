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
	double steal, iowait;
	double preemptions, blockings;
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
	BUSY,
	SOMEBODY_WAITS,
	BUSIEST,
	SPREAD,
	QUEUED,
	QUEUED_BUSIEST,
	QUEUED_SPREAD,
	STEAL,
	IOWAIT,
	EXCESS,
	INVOLUNTARY,
	VOLUNTARY,
	PROCESS_INVOLUNTARY,
	PROCESS_VOLUNTARY,
	UTILISATION,
	USER,
	GUEST,
	NICE,
	SYSTEM,
	IRQ,
	SOFTIRQ,
	STOLEN,
	SWITCHES,
	FORKS,
	STREAMS
};

extern const struct sonde_stream cpu_streams[STREAMS];

void cpu_findings(struct sonde_instance *self);
void cpu_waits(struct sonde_instance *self);
void cpu_metrics(struct sonde_instance *self);

#endif
