/* The arena that a collector's sample() writes its rows into: allocated before, grown only between samples. */
#ifndef CORE_FRAME_H
#define CORE_FRAME_H

#include "core/instant.h"

struct frame_table {
	const struct sonde_schema *schema;
	uint64_t *words; /* capacity rows of stride words: have-bitmap, then slots */
	uint32_t stride;
	uint32_t nrows, capacity, max_rows;
	uint32_t lost;     /* rows refused since frame_begin() */
	uint32_t nameless; /* rows that frame_end() took back */
	bool looked_at;    /* by frame_check() */
};

struct sonde_frame {
	struct frame_table *tables;
	uint32_t ntables;
	bool partial;
	bool own_time; /* begin and end are the device's, not the tick's */
	uint32_t
		strange; /* a table that it does not have, of which a row was wanted; 0: none, else its number + 1 */
	uint64_t begin, end;
	uint64_t lost_rows; /* ever */
	struct sonde_strings strings;
};

/* Adds a table, with room for `rows` (0: 1). The schema stays the caller's. 0 or -ENOMEM. */
int frame_add_table(struct sonde_frame *frame, const struct sonde_schema *schema, uint32_t rows,
		    uint32_t max_rows);
void frame_free(struct sonde_frame *frame);

/* Empties it for the next sample, and grows what was too small in the last one. Nothing is allocated where nothing was
 * lost. 0 or -ENOMEM, and then it keeps its size. */
int frame_begin(struct sonde_frame *frame);

/* After a sample: where texts found no room, a row that lacks one of its keys is none, and is counted with the rows that found
 * no room. */
void frame_end(struct sonde_frame *frame);

/* After frame_end(), a collector's mistakes, in the first sample in which a table has rows: that is when its author looks. A row of
 * a table that is not there, a slot that its table does not have, a text that is none. False: a sentence in `why`. */
bool frame_check(struct sonde_frame *frame, char *why, size_t size);

/* The host service behind sonde_row(). */
bool frame_row(struct sonde_frame *frame, uint32_t table, struct sonde_row *row);

/* One view for each table, `views` having room for ntables: schema, words, strings, nrows, stride, flags. The rest is the
 * caller's. */
void frame_views(const struct sonde_frame *frame, struct sonde_view *views);

#endif
