/* A plugin's or a peer's table made into a schema. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"

static const char *const unit_names[] = {
	[SONDE_BASE_NONE] = "none",       [SONDE_BASE_COUNT] = "count",
	[SONDE_BASE_BYTES] = "bytes",     [SONDE_BASE_NS] = "ns",
	[SONDE_BASE_HZ] = "hz",           [SONDE_BASE_RATIO] = "ratio",
	[SONDE_BASE_CELSIUS] = "celsius", [SONDE_BASE_JOULE] = "joule",
	[SONDE_BASE_WATT] = "watt",       [SONDE_BASE_VOLT] = "volt",
	[SONDE_BASE_AMPERE] = "ampere",
};
static const char *const type_names[] = {
	[SONDE_U64] = "u64",    [SONDE_I64] = "i64",        [SONDE_F64] = "f64",
	[SONDE_STR] = "string", [SONDE_HIST] = "histogram",
};
static const char *const semantics_names[] = {
	[SONDE_KEY] = "key",     [SONDE_COUNTER] = "counter", [SONDE_GAUGE] = "gauge",
	[SONDE_STATE] = "state", [SONDE_INFO] = "info",
};

#define NAME_OF(names, i) ((i) < sizeof(names) / sizeof((names)[0]) ? (names)[i] : NULL)

const char *unit_name(uint32_t unit)
{
	return NAME_OF(unit_names, unit);
}

const char *type_name(uint32_t type)
{
	return NAME_OF(type_names, type);
}

const char *semantics_name(uint32_t semantics)
{
	return NAME_OF(semantics_names, semantics);
}

double column_scale(const struct sonde_column *column, uint32_t user_hz)
{
	if (column->scale_mul)
		return (double)column->scale_mul / column->scale_div;
	return user_hz ? 1e9 / user_hz : 0;
}

int schema_column(const struct sonde_schema *schema, const char *name)
{
	for (uint32_t i = 0; i < schema->ncolumns; i++)
		if (strcmp(schema->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* FNV-1a, 64 bits (RFC 9923). Strings enter with their terminator, so that "ab","c" is not "a","bc". */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *p = bytes;

	while (length--)
		hash = (hash ^ *p++) * 0x100000001b3u;
	return hash;
}

static uint64_t hash_str(uint64_t hash, const char *text)
{
	return text ? hash_bytes(hash, text, strlen(text) + 1) : hash_bytes(hash, "", 1);
}

/* Little-endian, so that every machine computes the same. */
static uint64_t hash_u32(uint64_t hash, uint32_t value)
{
	unsigned char bytes[4] = { (unsigned char)value, (unsigned char)(value >> 8),
				   (unsigned char)(value >> 16), (unsigned char)(value >> 24) };

	return hash_bytes(hash, bytes, sizeof bytes);
}

static uint64_t identity(const struct sonde_schema *schema)
{
	uint64_t hash = hash_str(0xcbf29ce484222325u, schema->name);

	hash = hash_u32(hash, schema->flags);
	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		const struct sonde_column *c = &schema->columns[i];
		const uint32_t numbers[] = { c->type,      c->semantics, c->unit, c->scale_mul,
					     c->scale_div, c->wrap,      c->slots };

		hash = hash_str(hash, c->name);
		hash = hash_str(hash, c->counted);
		for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
			hash = hash_u32(hash, numbers[n]);
	}
	return hash;
}

static bool good_name(const char *name)
{
	size_t n = 0;

	if (!name || name[0] < 'a' || name[0] > 'z')
		return false;
	for (; name[n]; n++)
		if (!((name[n] >= 'a' && name[n] <= 'z') || (name[n] >= '0' && name[n] <= '9') ||
		      name[n] == '_'))
			return false;
	return n < SCHEMA_MAX_NAME;
}

__attribute__((format(printf, 3, 4))) static int refuse(char *why, size_t size, const char *format,
							...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return -EINVAL;
}

/* What is wrong with a column by itself; NULL: nothing. */
static const char *column_fault(const struct sonde_column *c)
{
	if (!good_name(c->name))
		return "its name is not [a-z][a-z0-9_]*, shorter than 64";
	if (!type_name(c->type))
		return "it has no type (SONDE_U64, SONDE_STR, ...)";
	if (!semantics_name(c->semantics))
		return "it has no semantics (SONDE_COUNTER, SONDE_GAUGE, ...)";
	if (!unit_name(c->unit))
		return "it has no unit (SONDE_BYTES, SONDE_NONE, ...)";
	if (!c->scale_div)
		return "its scale divides by 0";
	if (!c->scale_mul && c->unit != SONDE_BASE_NS)
		return "only a time can be in USER_HZ ticks (scale 0)";
	if (c->counted && strlen(c->counted) >= SCHEMA_MAX_NAME)
		return "what it counts is longer than 63 bytes";
	if (c->unit == SONDE_BASE_COUNT && (!c->counted || !*c->counted))
		return "it does not say what it counts (SONDE_COUNT(\"pages\"))";
	if (c->type == SONDE_STR && c->unit != SONDE_BASE_NONE)
		return "a string has no unit (SONDE_NONE)";
	if (c->type == SONDE_HIST ? (c->slots < 1 || c->slots > 64) : c->slots != 0)
		return "`slots` is for a histogram alone, 1 to 64";
	if (c->wrap != 0 && c->wrap != 32 && c->wrap != 64)
		return "`wrap` is 0, 32 or 64";
	if (c->semantics == SONDE_COUNTER && c->type != SONDE_U64 && c->type != SONDE_HIST &&
	    c->type != SONDE_F64)
		return "a counter is U64, F64 or HIST";
	if (c->semantics == SONDE_KEY && (c->type == SONDE_HIST || c->type == SONDE_F64))
		return "a key is U64, I64 or STR";
	if (c->sensitivity > SONDE_ADDRESS)
		return "its sensitivity is unknown";
	return NULL;
}

/* A schema lies in one block with its columns, their slots and its texts, up to `end`: thousands of little blocks would take twice
 * as much. Texts that a reader learned later are blocks of their own. */
struct made {
	const char *end;
	struct sonde_schema schema;
};

struct texts {
	char *at; /* NULL: they are only counted */
	size_t size;
};

static const char *take_text(struct texts *texts, const char *text)
{
	size_t length = strlen(text ? text : "") + 1;
	char *copy = texts->at;

	texts->size += length;
	if (!copy)
		return text;
	texts->at += length;
	return memcpy(copy, text ? text : "", length);
}

/* Columns out of the plugin's array, whose items may be shorter or longer than this host's. */
static void take_columns(const struct sonde_table *table, struct sonde_column *columns,
			 struct texts *texts)
{
	size_t stride = table->columns.stride;
	size_t take = stride < sizeof *columns ? stride : sizeof *columns;

	for (uint32_t i = 0; i < table->columns.count; i++) {
		struct sonde_column one = { 0 };

		memcpy(&one, (const char *)table->columns.items + i * stride, take);
		one.name = take_text(texts, one.name);
		one.counted = one.counted ? take_text(texts, one.counted) : NULL;
		one.origin = take_text(texts, one.origin);
		one.help = take_text(texts, one.help);
		if (columns)
			columns[i] = one;
	}
}

static struct sonde_schema *copy_table(const struct sonde_table *table)
{
	uint32_t count = table->columns.count;
	struct texts texts = { 0 };
	struct made *made;
	struct sonde_schema *schema;
	struct sonde_column *columns;
	uint32_t *slot;

	take_text(&texts, table->name);
	take_text(&texts, table->origin);
	take_text(&texts, table->help);
	take_columns(table, NULL, &texts);
	made = calloc(1, sizeof *made + count * (sizeof *columns + sizeof *slot) + texts.size);
	if (!made)
		return NULL;
	schema = &made->schema;
	columns = (struct sonde_column *)(made + 1);
	slot = (uint32_t *)(columns + count);
	texts.at = (char *)(slot + count);
	schema->name = take_text(&texts, table->name);
	schema->origin = take_text(&texts, table->origin);
	schema->help = take_text(&texts, table->help);
	schema->columns = columns;
	schema->slot = slot;
	schema->ncolumns = count;
	schema->flags = table->flags;
	take_columns(table, columns, &texts);
	made->end = texts.at;
	return schema;
}

static int number_slots(struct sonde_schema *schema, uint32_t *slot, char *why, size_t size)
{
	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		const struct sonde_column *c = &schema->columns[i];
		const char *fault = column_fault(c);

		if (fault)
			return refuse(why, size, "table %s, column %u (%.64s): %s", schema->name, i,
				      c->name, fault);
		if (schema_column(schema, c->name) != (int)i)
			return refuse(why, size, "table %s has two columns named %s", schema->name,
				      c->name);
		if (c->semantics == SONDE_KEY && schema->nkeys != i)
			return refuse(why, size,
				      "table %s, column %s: keys come before all other columns",
				      schema->name, c->name);
		schema->nkeys += c->semantics == SONDE_KEY;
		schema->nstrings += c->type == SONDE_STR;
		slot[i] = schema->nslots;
		schema->nslots += c->type == SONDE_HIST ? c->slots : 1;
		if (schema->nslots > SCHEMA_MAX_SLOTS)
			return refuse(why, size, "table %s has more than %d slots", schema->name,
				      SCHEMA_MAX_SLOTS);
	}
	schema->nhave = (schema->nslots + 63) / 64;
	return 0;
}

int schema_make(const struct sonde_table *table, struct sonde_schema **out, char *why, size_t size)
{
	struct sonde_schema *schema;
	int err;

	if (!good_name(table->name))
		return refuse(why, size,
			      "table name \"%.64s\" is not [a-z][a-z0-9_]*, shorter than 64",
			      table->name ? table->name : "");
	if (table->columns.count < 1 || table->columns.count > SCHEMA_MAX_COLUMNS)
		return refuse(why, size, "table %s has %u columns; 1 to %d are possible",
			      table->name, table->columns.count, SCHEMA_MAX_COLUMNS);
	if (table->columns.stride < offsetof(struct sonde_column, wrap))
		return refuse(why, size, "table %s: its columns are smaller than those of ABI 1",
			      table->name);
	schema = copy_table(table);
	if (!schema)
		return -ENOMEM;
	err = number_slots(schema, (uint32_t *)schema->slot, why, size);
	if (err) {
		schema_free(schema);
		return err;
	}
	schema->hash = identity(schema);
	*out = schema;
	return 0;
}

static struct made *made_of(const struct sonde_schema *schema)
{
	return (struct made *)((char *)schema - offsetof(struct made, schema));
}

static void drop_text(const struct made *made, const char *text)
{
	if (text < (const char *)made || text >= made->end)
		free((char *)text);
}

void schema_learn(struct sonde_schema *schema, const char **text, const char *bytes, size_t length)
{
	char *copy;

	if (**text || !bytes || !length)
		return;
	copy = strndup(bytes, length);
	if (!copy)
		return;
	drop_text(made_of(schema), *text);
	*text = copy;
}

void schema_free(struct sonde_schema *schema)
{
	struct made *made;

	if (!schema)
		return;
	made = made_of(schema);
	drop_text(made, schema->origin);
	drop_text(made, schema->help);
	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		drop_text(made, schema->columns[i].origin);
		drop_text(made, schema->columns[i].help);
	}
	free(made);
}
