/* The rows of one table as a stream's writer sent them last: what the next rows are compared with. Row numbers are the
 * lowest free ones, so that a table of n rows uses 0 to n-1. */
#ifndef WIRE_KEPT_H
#define WIRE_KEPT_H

#include <sonde/row.h>

#include "wire/strings.h"

#define KEPT_NONE UINT32_MAX

struct kept {
	uint64_t hash; /* of the schema */
	char *instance;
	uint32_t nslots, nhave, nkeys, stride, flags;
	uint64_t *is_string, *is_f64, *is_key; /* nhave words each: a bit a slot */
	uint32_t number; /* of the table in this segment; KEPT_NONE: not sent yet */

	uint64_t *words; /* by row number: have-bitmap, then slots; a string's slot is its number */
	struct kept_row {
		uint32_t seen; /* `tick` of the view that had it last; 0: free */
		uint32_t hash, next, position;
	} * rows;
	uint32_t capacity, numbers, living, lowest; /* lowest: no number below is free */
	uint32_t tick;
	uint32_t *order; /* row numbers as the last view had them */
	uint32_t *match; /* of each row of this view: the number that it had, or KEPT_NONE */
	uint32_t norder, order_capacity;
	uint32_t *buckets; /* by hash of the keys */
	uint32_t nbuckets;
};

/* For views of this table. NULL without memory. */
struct kept *kept_new(const struct sonde_view *view);
void kept_free(struct kept *kept);

/* Whether the view is of this table. */
bool kept_is(const struct kept *kept, const struct sonde_view *view);

/* Forgets the rows, for a new segment. */
void kept_empty(struct kept *kept);

/* Finds each row's predecessor, kept->match: by order first, then by keys. Afterwards kept_missing() tells the rows that
 * ended. 0 or -ENOMEM. */
int kept_match(struct kept *kept, const struct sonde_view *view, const struct strings *strings);

/* The first row number from `from` on that no row of the view matched; KEPT_NONE: there is none. */
uint32_t kept_missing(const struct kept *kept, uint32_t from);

/* Ends a row; its number is free. */
void kept_drop(struct kept *kept, uint32_t number);

/* A number for row `i` of the view, which matched none; its words are all zero. KEPT_NONE without memory, or where the table
 * has FORMAT_ROWS_EACH rows. Its keys count from kept_added() on, which is called when they are in its words. */
uint32_t kept_add(struct kept *kept, uint32_t i);
void kept_added(struct kept *kept, uint32_t number);

/* Row `i` of the view is number kept->match[i] from now on; after all of them. */
void kept_done(struct kept *kept, uint32_t nrows);

static inline uint64_t *kept_words(const struct kept *kept, uint32_t number)
{
	return kept->words + (size_t)number * kept->stride;
}

#endif
