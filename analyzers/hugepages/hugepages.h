/* What the files of the analyzer `hugepages` share: its thresholds and its streams. */
#ifndef HUGEPAGES_H
#define HUGEPAGES_H

#include <sonde/judge.h>

struct conf {
	uint64_t limit; /* processes */
	uint64_t hold;
	double fallback, fallback_events;
	double stalls;
	double idle;
	double coverage, coverage_bytes;
	double tlb, tlb_least;
};

enum {
	MODES,
	FALLBACK,
	STALLS,
	FAILURES,
	COLLAPSES,
	SPLITS,
	POOL_FREE,
	POOL_USED,
	HOST_COVERAGE,
	HOST_ANONYMOUS,
	HOST_HUGETLB,
	COVERAGE,
	ANONYMOUS,
	HUGETLB,
	TLB,
	PROCESS_TLB,
	PMD_SIZE,
	SIZES,
	NODE_POOL,
	NODE_POOL_FREE,
	STREAMS
};

extern const struct sonde_stream hugepages_streams[STREAMS];

/* "always madvise": the words of enabled and defrag, newest; NULL where they are not known. */
const char *hugepages_modes(struct sonde_instance *self);

void hugepages_coverage(struct sonde_instance *self);
void hugepages_findings(struct sonde_instance *self);
/* By size of transparent huge pages, and by node of hugetlb pages. */
void hugepages_places(struct sonde_instance *self);
void hugepages_metrics(struct sonde_instance *self);

#endif
