/* An instant: the tables that were read at one moment, with one sequence number. What flows through the pipeline. */
#ifndef CORE_INSTANT_H
#define CORE_INSTANT_H

#include <sonde/row.h>

/* Views share sequence, begin, end, realtime and header with their instant. */
struct instant {
	const struct sonde_stream_header *header;
	const struct sonde_view *views;
	uint32_t nviews;
	uint64_t sequence, begin, end; /* as in struct sonde_view */
	int64_t realtime;
};

/* Where instants go: a ring before a sink, the analysis, a writer. */
struct outlet {
	/* 0, or a negative errno that ends the pipeline of a recording and is counted in a live one. */
	int (*instant)(struct outlet *outlet, const struct instant *instant);
};

#endif
