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
	double major, minor, minor_cpu;
	double bandwidth; /* bytes a second; 0: not known */
	double zero;      /* no option: what must be more than nothing */
	double minor_ns;  /* no option: `minor`, of a nanosecond */
};

/* Streams; those that others look at `also` come first. */
enum {
	STALLS,
	SWAP_IN,
	SWAP_OUT,
	OOM,
	USED,
	AVAILABLE,
	USED_LEAST,
	AVAILABLE_MOST,
	FULL,
	FULL_CRITICAL,
	SOME,
	DIRECT_SCAN,
	REFAULT_STALLS,
	MAJOR,
	MINOR,
	MINOR_OF_CPU,
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
	SWAP_SHARE,
	OOM_KILLS,
	IO_SOME,
	IO_FULL,
	BANDWIDTH,
	BANDWIDTH_OF,
	SOCKETS,
	GROUP_LIMITED,
	GROUP_AT_LIMIT,
	GROUP_MAJOR,
	STREAMS
};

extern const struct sonde_stream memory_streams[STREAMS];

void memory_findings(struct sonde_instance *self);
/* mem.pressure where something held, nothing where it did not: `own` is what it was judged by, and its evidence the mean while it
 * held, then those of `extras`, the last of which is NULL. */
void memory_pressure(struct sonde_instance *self, const struct sonde_held *held,
		     enum sonde_severity severity, const char *title,
		     const struct sonde_mean_metric *own,
		     const struct sonde_mean_metric *const *extras);
void memory_faults(struct sonde_instance *self);
void memory_metrics(struct sonde_instance *self);
void memory_bandwidth(struct sonde_instance *self);

#endif
