/* The rows of one instant, gathered from its datagrams. */
#ifndef WIRE_GATHER_H
#define WIRE_GATHER_H

#include "wire/definitions.h"

struct gather {
	uint64_t *words; /* rows of one view after another */
	size_t nwords, words_size;
	char *strings;
	size_t nstrings, strings_size;
	struct gathered {
		const struct definition_table *table;
		size_t at; /* of its words */
		uint32_t nrows;
		bool partial;
	} * views;
	uint32_t nviews;
	size_t capacity;
	struct sonde_view *made;
	bool joined;  /* the last row may go on in the next object */
	bool broken;  /* some were malformed, or beyond the limits */
	uint64_t cut; /* strings that the sender cut */
};

void gather_free(struct gather *gather);

/* Forgets all rows. */
void gather_empty(struct gather *gather);

/* A datagram is missing here: what the last row may have had in it is lost. */
void gather_break(struct gather *gather);

/* The items of a FORMAT_ROW behind its table's number, which is `table`; `goes_on`: it is more of the row before. False:
 * malformed, beyond the limits, or no memory; what was gathered before is still good. */
bool gather_row(struct gather *gather, const struct definition_table *table, bool goes_on,
		struct items *items);

/* The views, with room for one more behind them; `partial`: all of them are. Valid until the next call of anything here.
 * NULL without memory. */
struct sonde_view *gather_views(struct gather *gather, bool partial);

#endif
