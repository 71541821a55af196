/* What the files of the analyzer `memory` share: its thresholds and its streams. */
#ifndef MEMORY_H
#define MEMORY_H

#include <sonde/judge.h>

struct conf {
	uint64_t limit; /* findings about processes */
	uint64_t hold;
	double stalls, swapping, available;
	double pressure, pressure_critical;
	double refaults;
	double major, minor;
	double zero; /* no option: what must be more than nothing */
};

/* Streams; those that others look at `also` come first. */
enum {
	STALLS,
	SWAP_IN,
	SWAP_OUT,
	OOM,
	USED,
	AVAILABLE,
	FULL,
	FULL_CRITICAL,
	SOME,
	DIRECT_SCAN,
	REFAULT_STALLS,
	MAJOR,
	MINOR,
	FAULTS,
	MAJOR_FAULTS,
	KSWAPD_SCAN,
	KSWAPD_STEAL,
	DIRECT_STEAL,
	REFAULTS_ANON,
	REFAULTS_FILE,
	PAGED_IN,
	PAGED_OUT,
	FREE,
	DIRTY,
	SWAP_USED,
	IO_SOME,
	IO_FULL,
	STREAMS
};

extern const struct sonde_stream memory_streams[STREAMS];

void memory_findings(struct sonde_instance *self);
void memory_faults(struct sonde_instance *self);
void memory_metrics(struct sonde_instance *self);

#endif
