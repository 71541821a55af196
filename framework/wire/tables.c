/* The tables of a stream as its reader has them: rows that live, changed in place. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/grow.h"
#include "core/schema.h"
#include "wire/table.h"

enum { KNOWN_MOST = 4 * FORMAT_TABLES };

bool tables_refuse(struct tables *tables, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tables->why, sizeof tables->why, format, args);
	va_end(args);
	return false;
}

int tables_init(struct tables *tables)
{
	*tables = (struct tables) { .tick = 1 };
	tables->sampled = calloc(FORMAT_TABLES, sizeof(struct table *));
	/* One more than tables: the reader adds its own. */
	tables->views = calloc(FORMAT_TABLES + 1, sizeof *tables->views);
	tables->changes = calloc(FORMAT_TABLES + 1, sizeof *tables->changes);
	if (tables->sampled && tables->views && tables->changes)
		return 0;
	tables_free(tables);
	return -ENOMEM;
}

static void table_free(struct table *table)
{
	if (!table)
		return;
	schema_free(table->schema);
	free(table->instance);
	free(table->is_string);
	free(table->is_f64);
	free(table->words);
	free(table->number);
	free(table->places);
	free(table->changed);
	free(table->changed_slots);
	free(table->moved);
	free(table);
}

void tables_free(struct tables *tables)
{
	for (uint32_t i = 0; i < tables->nknown; i++)
		table_free(tables->known[i]);
	free(tables->known);
	learning_free(tables->learning);
	free(tables->strings);
	free(tables->string_at);
	free(tables->sampled);
	free(tables->views);
	free(tables->changes);
}

void tables_reset(struct tables *tables)
{
	for (uint32_t i = 0; i < tables->nnumbered; i++)
		tables->numbered[i]->nrows = tables->numbered[i]->nplaces = 0;
	learning_free(tables->learning);
	tables->learning = NULL;
	tables->nnumbered = tables->ncolumns = tables->nsampled = 0;
	tables->nstrings = tables->strings_used = 0;
	tables->words = tables->event_words = 0;
	tables->tick++;
}

static struct table *table_new(const struct learning *learning, char *why, size_t size)
{
	struct table *table = calloc(1, sizeof *table);
	struct sonde_schema *schema = table ? learn_schema(learning, why, size) : NULL;

	if (!schema) {
		free(table);
		return NULL;
	}
	*table = (struct table) { .schema = schema,
				  .instance = strdup(learning_instance(learning)),
				  .stride = schema->nhave + schema->nslots,
				  .is_string = calloc(schema->nhave, sizeof(uint64_t)),
				  .is_f64 = calloc(schema->nhave, sizeof(uint64_t)) };
	if (!table->instance || !table->is_string || !table->is_f64) {
		table_free(table);
		return NULL;
	}
	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		uint32_t slot = schema->slot[i];
		uint64_t one = (uint64_t)1 << (slot & 63);

		if (schema->columns[i].type == SONDE_STR)
			table->is_string[slot >> 6] |= one;
		if (schema->columns[i].type == SONDE_F64)
			table->is_f64[slot >> 6] |= one;
	}
	return table;
}

/* The table that has been learnt, as it is known already or from now on. NULL: it can't be. */
static struct table *know(struct tables *tables, const struct learning *learning)
{
	struct table **known, *table;

	for (uint32_t i = 0; i < tables->nknown; i++)
		if (strcmp(tables->known[i]->instance, learning_instance(learning)) == 0 &&
		    learning_is(learning, tables->known[i]->schema))
			return tables->known[i];
	if (tables->nknown == KNOWN_MOST) {
		tables_refuse(tables, "more than %d tables", KNOWN_MOST);
		return NULL;
	}
	table = table_new(learning, tables->why, sizeof tables->why);
	if (!table || tables->nknown < tables->capacity) {
		if (table)
			tables->known[tables->nknown++] = table;
		return table;
	}
	known = realloc(tables->known, (tables->capacity + 64) * sizeof(struct table *));
	if (!known) {
		table_free(table);
		tables_refuse(tables, "no memory for its tables");
		return NULL;
	}
	tables->known = known;
	tables->capacity += 64;
	tables->known[tables->nknown++] = table;
	return table;
}

/* The definition gets its number when its last column is there. */
static bool learnt(struct tables *tables)
{
	struct table *table;

	if (learning_left(tables->learning))
		return true;
	table = know(tables, tables->learning);
	if (!table)
		return false;
	for (uint32_t i = 0; i < tables->nnumbered; i++)
		if (tables->numbered[i] == table)
			return tables_refuse(tables, "table %s is defined twice",
					     table->schema->name);
	table->nrows = table->nplaces = 0;
	tables->numbered[tables->nnumbered++] = table;
	learning_free(tables->learning);
	tables->learning = NULL;
	return true;
}

bool tables_define(struct tables *tables, struct items *items)
{
	uint64_t number = items_u64(items, FORMAT_TABLES - 1);

	if (items->bad || number != tables->nnumbered || tables->learning)
		return tables_refuse(tables, "a table is out of turn");
	tables->learning = learn_table(items);
	if (!tables->learning)
		return tables_refuse(tables, "the definition of a table is malformed");
	tables->ncolumns += learning_columns(tables->learning);
	if (tables->ncolumns > FORMAT_COLUMNS_ALL)
		return tables_refuse(tables, "more than %d columns in a segment",
				     FORMAT_COLUMNS_ALL);
	return learnt(tables);
}

bool tables_columns(struct tables *tables, struct items *items)
{
	uint64_t number = items_u64(items, FORMAT_TABLES - 1);

	if (items->bad || number != tables->nnumbered || !tables->learning ||
	    !learn_columns(tables->learning, items))
		return tables_refuse(tables, "columns of a table are malformed");
	return learnt(tables);
}

bool tables_help(struct tables *tables, struct items *items)
{
	uint64_t number = items_u64(items, FORMAT_TABLES - 1);

	if (items->bad || number >= tables->nnumbered ||
	    !learn_help(tables->numbered[number]->schema, items))
		return tables_refuse(tables, "the help of a table is malformed");
	return true;
}

bool tables_strings(struct tables *tables, struct items *items)
{
	for (; items->at < items->end; items->at++) {
		const struct item *item = items->at;

		if (item->kind != ITEM_BYTES || item->length > FORMAT_STRING_EACH ||
		    item->length > FORMAT_STRING_BYTES - tables->strings_used ||
		    tables->nstrings == FORMAT_STRINGS_ALL)
			return tables_refuse(tables, "a string is malformed, or beyond the limit");
		if (!grow(&tables->strings, &tables->strings_size,
			  tables->strings_used + item->length + 1, 1, FORMAT_STRING_BYTES + 1) ||
		    !grow(&tables->string_at, &tables->string_capacity, tables->nstrings + 1,
			  sizeof *tables->string_at, FORMAT_STRINGS_ALL))
			return tables_refuse(tables, "no memory for its strings");
		memcpy(tables->strings + tables->strings_used, item->bytes, item->length);
		tables->string_at[tables->nstrings++] =
			(uint64_t)tables->strings_used << 32 | item->length;
		tables->strings_used += item->length;
	}
	return true;
}

/* Numbers become indices; rows that ended since are left out. */
static void resolve_changes(struct table *table, uint64_t tick)
{
	uint32_t nhave = table->schema->nhave, n = 0;

	if (!table->ended) {
		for (uint32_t i = 0; i < table->nchanged; i++)
			table->changed[i] = table->places[table->changed[i]].index;
		return;
	}
	for (uint32_t i = 0; i < table->nmoved; i++) {
		const struct place *place = &table->places[table->moved[i]];

		if (place->index != TABLE_NONE && place->tick == tick)
			memset(table->changed_slots + (size_t)place->at * nhave, 0xff,
			       nhave * sizeof(uint64_t));
		else if (place->index != TABLE_NONE)
			table->moved[n++] = place->index;
	}
	table->nmoved = n;
	n = 0;
	for (uint32_t i = 0; i < table->nchanged; i++) {
		uint32_t index = table->places[table->changed[i]].index;

		if (index == TABLE_NONE)
			continue;
		if (n < i)
			memcpy(table->changed_slots + (size_t)n * nhave,
			       table->changed_slots + (size_t)i * nhave, nhave * sizeof(uint64_t));
		table->changed[n++] = index;
	}
	table->nchanged = n;
}

struct sonde_view table_view(const struct tables *tables, const struct table *table)
{
	static const char none[1];

	return (struct sonde_view) {
		.schema = table->schema,
		.instance = table->instance,
		.words = table->words,
		.strings = tables->strings ? tables->strings : none,
		.nrows = table->nrows,
		.stride = table->stride,
		.flags = table->partial ? SONDE_PARTIAL : 0,
	};
}

struct sonde_view *tables_views(struct tables *tables, uint32_t *count)
{
	for (uint32_t i = 0; i < tables->nsampled; i++) {
		struct table *table = tables->sampled[i];

		resolve_changes(table, tables->tick);
		tables->views[i] = table_view(tables, table);
		tables->views[i].changed = table->unseen ? NULL : table->changed;
		tables->views[i].nchanged = table->unseen ? 0 : table->nchanged;
		tables->changes[i] = (struct view_changes) {
			.slots = table->unseen ? NULL : table->changed_slots,
			.moved = table->moved,
			.nmoved = table->unseen ? 0 : table->nmoved,
		};
		table->unseen = false;
	}
	*count = tables->nsampled;
	tables->nsampled = 0;
	tables->event_words = 0;
	tables->tick++;
	return tables->views;
}

void tables_passed(struct tables *tables, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		tables->sampled[i]->unseen = true;
}
