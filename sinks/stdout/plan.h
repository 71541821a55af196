/* How the rows of one table are written: found out once for each schema, not at each row. */
#ifndef STDOUT_PLAN_H
#define STDOUT_PLAN_H

#include <sonde/plugin.h>

/* One column: what stands before its value, and how its slots become numbers. */
struct plan_column {
	const char *text; /* name with what the format puts around it */
	const char *name;
	uint32_t length, name_length;
	uint32_t slot, slots; /* slots: 0 but for a histogram */
	uint32_t type;   /* enum sonde_type of what is written; of a histogram's slots U64 or F64 */
	uint32_t source; /* enum sonde_type of the slot */
	uint64_t factor; /* of an integer that stays one; 0: the value is not known in base units */
	double scale;    /* of one that becomes a double */
	uint64_t divisor;
	uint32_t width; /* format table: of the view at hand, in characters */
};

struct plan {
	const struct sonde_schema *schema; /* compared only: it may be gone */
	uint64_t hash;
	uint32_t user_hz;
	uint32_t ncolumns, nkeys, nslots;
	struct plan_column *columns; /* and their text behind them */
	const char *table;
	bool headed; /* CSV: the header line above is this table's */
};

/* Peers send tables at will: the oldest plan makes room. */
enum { PLANS = 256 };

struct plans {
	struct plan plans[PLANS];
	uint32_t used, oldest;
	const char *before, *after; /* what stands around a column's name */
	bool scaled;
};

/* Of the view's table; NULL without memory. */
struct plan *plan_of(struct plans *plans, const struct sonde_view *view);
void plans_free(struct plans *plans);

/* This table's header line stands above: others of its name need one of their own. */
void plan_headed(struct plans *plans, const struct plan *plan);

/* A value as it is written. */
struct value {
	uint32_t type; /* enum sonde_type, never a HIST */
	uint32_t length;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		const char *bytes;
	};
};

/* In base units. False where it has none that 64 bits hold. */
bool value_scale(const struct plan_column *column, struct value *value);

/* The value of a slot of a row. False where it is absent. */
static inline bool value_of(const struct plans *plans, const struct plan_column *column,
			    const struct sonde_view *view, const uint64_t *row, uint32_t slot,
			    struct value *value)
{
	uint64_t bits = row[view->schema->nhave + slot];

	if (!(row[slot >> 6] >> (slot & 63) & 1))
		return false;
	value->type = column->source;
	if (column->source == SONDE_STR) {
		value->bytes = sonde_view_bytes(view, bits, &value->length);
		return true;
	}
	value->u64 = bits;
	return !plans->scaled || value_scale(column, value);
}

static inline uint32_t column_slots(const struct plan_column *column)
{
	return column->slots ? column->slots : 1;
}

/* Whether any value of the column is there. */
static inline bool column_has(const struct plans *plans, const struct plan_column *column,
			      const struct sonde_view *view, const uint64_t *row)
{
	struct value value;

	for (uint32_t i = 0; i < column_slots(column); i++)
		if (value_of(plans, column, view, row, column->slot + i, &value))
			return true;
	return false;
}

#endif
