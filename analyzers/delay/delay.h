/* What the files of the analyzer `delay` share: its thresholds and its streams. */
#ifndef DELAY_H
#define DELAY_H

#include <sonde/judge.h>

struct conf {
	uint64_t limit;
	uint64_t hold;
	double block_io, memory, least;
	double major; /* faults a second, from which on mem.major_faults tells of a process */
};

enum {
	BLOCK_IO,
	LEADER_IO, /* where there is no taskstats */
	MEMORY,
	MAJOR,
	CPU,
	RUNQ,
	IO,
	SWAPIN,
	RECLAIM,
	THRASHING,
	COMPACTION,
	COPY,
	IRQ,
	ALL_IO,
	THREADS,
	STREAMS
};

void delay_findings(struct sonde_instance *self);
void delay_metrics(struct sonde_instance *self);

#endif
