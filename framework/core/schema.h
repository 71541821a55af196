/* A plugin's or a peer's table made into a schema: checked, copied, slots numbered, identity computed. */
#ifndef CORE_SCHEMA_H
#define CORE_SCHEMA_H

#include <sonde/table.h>

enum {
	SCHEMA_MAX_COLUMNS = 4096,
	SCHEMA_MAX_SLOTS = 16384,
	SCHEMA_MAX_NAME = 64,
};

/* A deep copy of `table`, whose columns may have any stride. On failure -EINVAL and one sentence in `why`, naming table
 * and column, or -ENOMEM. Free with schema_free(). */
int schema_make(const struct sonde_table *table, struct sonde_schema **schema, char *why,
		size_t size);
void schema_free(struct sonde_schema *schema);

/* `text` is the origin or help of the schema or of one of its columns: where it is "", it becomes these bytes. Without memory it stays. */
void schema_learn(struct sonde_schema *schema, const char **text, const char *bytes, size_t length);

/* Index of the column with this name, or -1. */
int schema_column(const struct sonde_schema *schema, const char *name);

/* "ns", "bytes"...; and back: 0 where it is none. */
const char *unit_name(uint32_t unit);
const char *type_name(uint32_t type);
const char *semantics_name(uint32_t semantics);

/* Factor from a slot of this column to its base unit. user_hz 0 is an unknown machine: a TICKS column then has none, and
 * the answer is 0. */
double column_scale(const struct sonde_column *column, uint32_t user_hz);

#endif
