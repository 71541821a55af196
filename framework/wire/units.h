/* The units of a recording: marks, blocks, skippable frames, and what is left of them behind damage. With what a reader holds,
 * for units.c and reader.c alone. */
#ifndef WIRE_UNITS_H
#define WIRE_UNITS_H

#include "core/frame.h"
#include "wire/index.h"
#include "wire/input.h"
#include "wire/lz4.h"
#include "wire/reader.h"
#include "wire/standing.h"
#include "wire/tables.h"

/* Where in the stream the next byte stands. */
enum place {
	PLACE_START,   /* nothing was read yet */
	PLACE_BETWEEN, /* a mark or another skippable frame follows */
	PLACE_MARKED,  /* a mark was there: its segment follows */
	PLACE_SEGMENT, /* a block follows, or the end of the segment */
	PLACE_SKIP,    /* in a skippable frame of somebody else */
	PLACE_BEHIND,  /* where a length led that no checksum covers: only this stream goes on */
	PLACE_LOST,    /* behind damage: only a mark of this stream with a higher number counts */
};

struct reader {
	struct reader_options options;
	struct input input;
	struct lz4_decoder *decoder;
	struct unpack *unpack;
	struct tables tables;
	enum place place;
	struct mark mark; /* of the segment that is being read, or was last */
	uint64_t mark_at; /* its offset */
	uint64_t skip;    /* bytes left of PLACE_SKIP */
	bool jumped;      /* the index was asked */
	bool joined;      /* the first instant has what stood before */

	unsigned char *block; /* content of a block whose checksum held */
	size_t block_at, block_used;
	bool headed; /* the segment's header was there */

	struct sonde_stream_header *header;
	struct sonde_anchor anchor;
	uint64_t sequence, begin; /* of the instant before, in this segment */
	uint64_t last_end, last_sequence;
	bool any; /* those two are of an instant of this stream */
	struct instant instant;

	struct standing *standing; /* what there is of before `since`; NULL: it is not wanted */

	struct sonde_frame records; /* a gap for the next instant */
	char lost_text[160];        /* of damage that may still turn out to be zeros at the end */
	uint64_t lost_at;
	uint64_t whole; /* offset behind the last whole block, segment or skippable frame */
	bool lost_counted, gap;
	struct reader_state state;
};

/* The next unit. 1: went on, with a block's content where block_used is not 0; 0: nothing more by now; a negative errno. */
int units_take(struct reader *reader);

/* Nothing more of this segment counts: `what` is wrong. Returns 1. */
int units_lose(struct reader *reader, const char *what);

/* What follows is of another stream: nothing of the one before is known of it. */
void units_begin_stream(struct reader *reader);

/* Into the reader's state: what is left of the input, now that there is no more of it. */
void units_stock(struct reader *reader);

#endif
