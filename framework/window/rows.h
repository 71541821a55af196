/* The rows of a table that live, found by their place in the view first and by their keys else. */
#ifndef WINDOW_ROWS_H
#define WINDOW_ROWS_H

#include <sonde/row.h>

struct series;

struct row {
	struct row *next; /* of its hash chain, or of the rows that left their place */
	uint64_t hash;
	char label[16]; /* the name it had last, where it fits */
	uint32_t label_length;
	uint32_t at;    /* its place in the view */
	bool left;      /* another row stands there */
	uint64_t *keys; /* slots of the key columns; of a STR offset and length in `text` */
	char *text;
	uint64_t *base;         /* of each probe: the value that growth is counted from */
	uint8_t *have;          /* of each probe: whether there is one */
	struct series **series; /* of each bound stream; NULL: none */
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

/* After the rows of a view with `nrows`: one that is not in it any more, to be removed; NULL: no other. */
struct row *rows_gone(struct rows *rows, uint32_t nrows);

/* Any row, to be removed; NULL: none. */
struct row *rows_first(struct rows *rows);
void rows_remove(struct rows *rows, struct row *row);

#endif
