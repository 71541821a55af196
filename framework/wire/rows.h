/* Rows into msgpack: what of a row differs from the one before it, and frames of such rows. */
#ifndef WIRE_ROWS_H
#define WIRE_ROWS_H

#include "wire/kept.h"
#include "wire/pack.h"

/* Frames of an instant: for each its table, count of rows, and of each row its number and bitmap; then all values. Apart,
 * since what changes is much the same from one instant to the next and compresses away, and values are not: 4 to 5 %. */
struct frames {
	struct pack structure, values;
	uint32_t structure_items, value_items;
	struct pack rows; /* structure of the frame that is open */
	uint32_t nrows, table, previous;
	bool partial;
};

/* 0 or -ENOMEM. */
int frames_init(struct frames *frames);
void frames_free(struct frames *frames);
void frames_empty(struct frames *frames);

/* Rows of table number `table` follow. Each frame is closed before the next is opened. */
void frames_open(struct frames *frames, uint32_t table, bool partial);
void frames_close(struct frames *frames);

/* Whether another row may not fit into the same object any more. */
bool frames_full(const struct frames *frames);

/* The bitmap of a row of `nslots` slots: an integer where there are 64 at most, else bytes without the zeros at their end. */
void frames_bitmap(struct pack *pack, const uint64_t *bits, uint32_t nslots);

/* Row `number` ended. */
void frames_ended(struct frames *frames, uint32_t number);

/* Row `number`, last sent as `mine`, is now `theirs`, in slots of the view: adds what changed, and brings `mine` up to
 * date. A new row has `mine` all zero. Strings get numbers in `strings`; 0, -EFBIG where those are at their limit. */
int frames_row(struct frames *frames, const struct kept *kept, uint32_t number, bool is_new,
	       uint64_t *mine, const uint64_t *theirs, const char *bytes, struct strings *strings);

#endif
