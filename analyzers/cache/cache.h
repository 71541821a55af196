/* What the files of the analyzer `cache` share: its thresholds and its streams. */
#ifndef CACHE_H
#define CACHE_H

#include <sonde/judge.h>

struct conf {
	uint64_t limit; /* processes */
	uint64_t hold;
	double cpi, llc, stalls;
	double tlb, branches, efficient;
	double frontend, backend;
	double not_running;
	double clock, least;
};

/* Of all CPUs, and again of each process. */
enum {
	CPI,
	IPC,
	CLOCK,
	LLC,
	LLC_SHARE,
	BACKEND,
	FRONTEND,
	TLB,
	BRANCHES,
	L2,
	L1D,
	RETIRING,
	SPECULATING,
	WAITING_FRONTEND,
	WAITING_BACKEND,
	NOT_RUNNING, /* one for each group */
	GROUPS = 6,
	KINDS = NOT_RUNNING + GROUPS,
	HOST = 0,
	PROCESS = KINDS,
	REASON = 2 * KINDS,
	STREAMS
};

extern const struct sonde_stream cache_streams[STREAMS];
extern const char *const cache_groups[GROUPS];

/* Of whom: all CPUs, or one process. */
struct subject {
	uint32_t base;   /* HOST or PROCESS */
	const char *key; /* of its series */
	const char *about;
};

/* How many findings there are of it. */
uint32_t cache_findings(struct sonde_instance *self, const struct subject *subject);
void cache_multiplexed(struct sonde_instance *self);
void cache_metrics(struct sonde_instance *self, const struct subject *subject);

#endif
