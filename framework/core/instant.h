/* An instant: the tables that were read at one moment, with one sequence number. What flows through the pipeline. */
#ifndef CORE_INSTANT_H
#define CORE_INSTANT_H

#include <sonde/row.h>

/* What a reader knows of a view's rows besides view->changed, for those who look only at what is new. */
struct view_changes {
	/* Of each row in view->changed: schema->nhave words, a bit for each slot that changed; all bits where the row was not
	 * there before, or stood at another index. */
	const uint64_t *slots;
	const uint32_t *moved; /* rows that did not change, but stood at another index before */
	uint32_t nmoved;
};

/* Views share sequence, begin, end, realtime and header with their instant. */
struct instant {
	const struct sonde_stream_header *header;
	const struct sonde_view *views;
	const struct view_changes *changes; /* of each view that has `changed`; NULL: not known */
	uint32_t nviews;
	uint64_t sequence, begin, end; /* as in struct sonde_view */
	int64_t realtime;
};

/* Where instants go: a ring before a sink, the analysis, a writer. */
struct outlet {
	/* 0, or a negative errno that ends the pipeline of a recording and is counted in a live one. */
	int (*instant)(struct outlet *outlet, const struct instant *instant);
};

/* Bytes of a copy of the instant in one block, every row and string of it inside, schemas as they are. `whole`: the header
 * and the names of instances too, for an instant that comes from elsewhere and will not outlive the call. Multiple of 16. */
size_t instant_size(const struct instant *instant, bool whole);

/* Makes that copy at `block` (16-aligned, instant_size() bytes) and returns it, which is at the start of the block. Its
 * views know no `changed` rows. */
struct instant *instant_copy(void *block, const struct instant *instant, bool whole);

/* The header in one block likewise, to be freed; NULL without memory. */
struct sonde_stream_header *header_copy(const struct sonde_stream_header *header);

/* An instant's fields into each of its views. */
void instant_stamp(const struct instant *instant, struct sonde_view *views);

#endif
