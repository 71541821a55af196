/* The rows of a table that live, found by their place in the view first and by their keys else. */
#ifndef WINDOW_ROWS_H
#define WINDOW_ROWS_H

#include <sonde/row.h>

struct series;

/* Sets of probes and of streams: bits in words. */
static inline bool set_has(const uint64_t *set, uint32_t item)
{
	return set[item >> 6] >> (item & 63) & 1;
}

static inline void set_add(uint64_t *set, uint32_t item)
{
	set[item >> 6] |= (uint64_t)1 << (item & 63);
}

static inline void set_remove(uint64_t *set, uint32_t item)
{
	set[item >> 6] &= ~((uint64_t)1 << (item & 63));
}

struct row {
	struct row *next; /* of its hash chain, or of the rows that left their place */
	uint64_t hash;
	char label[16]; /* the name it had last, where it fits */
	uint32_t label_length;
	uint32_t at;    /* its place in the view */
	bool left;      /* another row stands there */
	uint64_t *keys; /* slots of the key columns; of a STR offset and length in `text` */
	char *text;
	uint64_t *base; /* of each probe: the value that growth is counted from, or a gauge's */
	uint64_t *have; /* bits of probes that have one */
	struct series **series; /* of each bound stream; NULL: none yet */
	uint64_t *
		lags; /* bits of bound streams that are told later what they have while nothing moves, */
	uint8_t *given; /* and what of it each was told: as in struct track */
};

struct rows {
	const struct sonde_schema
		*schema; /* of the first view; those that follow have the same keys */
	uint32_t nkeys, nprobes, nbound;
	struct row **at; /* by place */
	uint32_t nat, capacity;
	struct row **buckets;
	uint32_t nbuckets, count;
	struct row **left; /* rows whose place was taken in this view */
	uint32_t nleft, left_capacity;
	uint32_t cursor; /* of rows_gone() */
	struct row *free;
};

int rows_init(struct rows *rows, const struct sonde_schema *schema, uint32_t nprobes,
	      uint32_t nbound);
void rows_free(struct rows *rows);

/* Before the rows of a view. */
void rows_begin(struct rows *rows);

/* The row at this place of the view; *fresh where it was not there before. NULL without memory. */
struct row *rows_at(struct rows *rows, const struct sonde_view *view, uint32_t index, bool *fresh);

/* The row that is known to be still at this index; NULL where it is not. */
static inline struct row *rows_known(const struct rows *rows, uint32_t index)
{
	struct row *row = index < rows->nat ? rows->at[index] : NULL;

	return row && row->at == index && !row->left ? row : NULL;
}

/* After the rows of a view with `nrows`: one that is not in it any more, to be removed; NULL: no other. */
struct row *rows_gone(struct rows *rows, uint32_t nrows);

/* Any row, to be removed before the next call; NULL: none. *from is 0 at first: what is behind it was removed. */
struct row *rows_any(const struct rows *rows, uint32_t *from);
void rows_remove(struct rows *rows, struct row *row);

#endif
