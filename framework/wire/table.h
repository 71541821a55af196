/* One table of a stream as its reader has it: what tables.c and living.c share. */
#ifndef WIRE_TABLE_H
#define WIRE_TABLE_H

#include "wire/tables.h"

#define TABLE_NONE UINT32_MAX

struct table {
	struct sonde_schema *schema;
	char *instance;
	uint32_t stride;
	uint64_t *is_string, *is_f64; /* nhave words: a bit a slot */
	uint64_t *words; /* nrows rows, without holes: the last takes the place of one that ends */
	uint32_t nrows, capacity;
	uint32_t *number; /* of the row at an index */
	struct place {
		uint32_t index; /* of the row with this number; TABLE_NONE: it does not live */
		uint32_t at;    /* its place in `changed`, if it changed */
		uint64_t tick;  /* instant in which it changed last, */
		uint64_t moved; /* and in which it took another's place */
	} * places;
	uint32_t nplaces; /* numbers that were ever used in this segment */
	/* Numbers of rows in this instant, then their indices, as in struct view_changes. */
	uint32_t *changed, nchanged;
	uint64_t *changed_slots;
	uint32_t *moved, nmoved;
	bool ended;    /* a row did, in this instant */
	uint64_t tick; /* instant in which it was sampled last */
	bool partial;
	bool unseen; /* it changed in instants that were passed over */
};

/* The table as it is now: all but header and times. */
struct sonde_view table_view(const struct tables *tables, const struct table *table);

/* Says why in tables->why; false. */
__attribute__((format(printf, 2, 3))) bool tables_refuse(struct tables *tables, const char *format,
							 ...);

#endif
