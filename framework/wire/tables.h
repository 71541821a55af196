/* The tables of a stream as its reader has them: the rows that live, changed in place, and which of them changed. */
#ifndef WIRE_TABLES_H
#define WIRE_TABLES_H

#include "core/instant.h"
#include "wire/format.h"
#include "wire/learn.h"

struct table; /* one, with its rows */

struct tables {
	struct table **known; /* ever defined: definitions come again in each segment */
	uint32_t nknown, capacity;
	struct table *numbered[FORMAT_TABLES]; /* of this segment */
	uint32_t nnumbered, ncolumns;
	uint64_t words;            /* of all rows that live, */
	uint64_t event_words;      /* and of this instant's events */
	struct learning *learning; /* a table whose columns are still coming */
	char *strings;             /* of this segment, and where each is: offset << 32 | length */
	uint64_t *string_at;
	uint32_t nstrings, strings_used;
	size_t strings_size, string_capacity;
	struct table **sampled; /* of this instant, in order */
	uint32_t nsampled;
	struct sonde_view *views;
	struct view_changes *changes; /* of each view */
	uint64_t tick;                /* of instants */
	uint64_t changed_values;
	char why[200]; /* of the last false */
};

/* 0 or -ENOMEM. */
int tables_init(struct tables *tables);
void tables_free(struct tables *tables);

/* A segment begins: no table has a number, no row lives. */
void tables_reset(struct tables *tables);

/* The items of an object behind its type. False: malformed, beyond a limit, or no memory; `why` says which. Then
 * only tables_reset() helps. */
bool tables_define(struct tables *tables, struct items *items);
bool tables_columns(struct tables *tables, struct items *items);
bool tables_help(struct tables *tables, struct items *items);
bool tables_strings(struct tables *tables, struct items *items);
/* Of a FORMAT_ROWS, or of a FORMAT_INSTANT behind its times: its structure, whole items, and `nvalues` items off the front of
 * `values`. As tables_define(). */
bool tables_frames(struct tables *tables, struct bytes_left structure, struct bytes_left *values,
		   uint32_t nvalues);

/* The views of the instant whose frames have come: schema, instance, words, strings, changed, counts and flags; the rest is
 * the caller's; and tables->changes of each. The frames that come next are another instant's. */
struct sonde_view *tables_views(struct tables *tables, uint32_t *count);

/* The instant of the last tables_views(), which were `count`, is not handed on: the next views of its tables have no `changed`,
 * which would be against these. */
void tables_passed(struct tables *tables, uint32_t count);

#endif
