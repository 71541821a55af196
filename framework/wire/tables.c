/* The tables of a stream as its reader has them: rows that live, changed in place. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/schema.h"
#include "wire/tables.h"

enum { NONE = UINT32_MAX, KNOWN_MOST = 4 * FORMAT_TABLES };

struct table {
	struct sonde_schema *schema;
	char *instance;
	uint32_t stride;
	uint64_t *is_string, *is_f64; /* nhave words: a bit a slot */
	uint64_t *words; /* nrows rows, without holes: the last takes the place of one that ends */
	uint32_t nrows, capacity;
	uint32_t *number; /* of the row at an index */
	struct place {
		uint32_t index; /* of the row with this number; NONE: it does not live */
		uint64_t tick;  /* instant in which it changed last */
	} * places;
	uint32_t nplaces; /* numbers that were ever used in this segment */
	uint32_t *changed, nchanged;
	uint64_t tick; /* instant in which it was sampled last */
	bool partial;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct tables *tables, const char *format,
							 ...)
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
	if (tables->sampled && tables->views)
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
		refuse(tables, "more than %d tables", KNOWN_MOST);
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
		refuse(tables, "no memory for its tables");
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
			return refuse(tables, "table %s is defined twice", table->schema->name);
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
		return refuse(tables, "a table is out of turn");
	tables->learning = learn_table(items);
	if (!tables->learning)
		return refuse(tables, "the definition of a table is malformed");
	tables->ncolumns += learning_columns(tables->learning);
	if (tables->ncolumns > FORMAT_COLUMNS_ALL)
		return refuse(tables, "more than %d columns in a segment", FORMAT_COLUMNS_ALL);
	return learnt(tables);
}

bool tables_columns(struct tables *tables, struct items *items)
{
	uint64_t number = items_u64(items, FORMAT_TABLES - 1);

	if (items->bad || number != tables->nnumbered || !tables->learning ||
	    !learn_columns(tables->learning, items))
		return refuse(tables, "columns of a table are malformed");
	return learnt(tables);
}

bool tables_help(struct tables *tables, struct items *items)
{
	uint64_t number = items_u64(items, FORMAT_TABLES - 1);

	if (items->bad || number >= tables->nnumbered ||
	    !learn_help(tables->numbered[number]->schema, items))
		return refuse(tables, "the help of a table is malformed");
	return true;
}

/* Twice the room, at least `need`; false without memory. */
static bool grow(void **block, uint32_t *capacity, uint32_t need, size_t each)
{
	uint32_t more = *capacity ? *capacity : 64;
	void *bigger;

	while (more < need)
		more *= 2;
	bigger = realloc(*block, more * each);
	if (!bigger)
		return false;
	*block = bigger;
	*capacity = more;
	return true;
}

bool tables_strings(struct tables *tables, struct items *items)
{
	for (; items->at < items->end; items->at++) {
		const struct item *item = items->at;

		if (item->kind != ITEM_BYTES || item->length > FORMAT_STRING_EACH ||
		    item->length > FORMAT_STRING_BYTES - tables->strings_used ||
		    tables->nstrings == FORMAT_STRINGS_ALL)
			return refuse(tables, "a string is malformed, or beyond the limit");
		if (tables->strings_used + item->length >= tables->strings_size &&
		    !grow((void **)&tables->strings, &tables->strings_size,
			  tables->strings_used + item->length + 1, 1))
			return refuse(tables, "no memory for its strings");
		if (tables->nstrings == tables->string_capacity &&
		    !grow((void **)&tables->string_at, &tables->string_capacity,
			  tables->nstrings + 1, sizeof *tables->string_at))
			return refuse(tables, "no memory for its strings");
		memcpy(tables->strings + tables->strings_used, item->bytes, item->length);
		tables->string_at[tables->nstrings++] =
			(uint64_t)tables->strings_used << 32 | item->length;
		tables->strings_used += item->length;
	}
	return true;
}

static bool grow_rows(struct table *table)
{
	uint32_t capacity = table->capacity ? table->capacity * 2 : 4;
	uint64_t *words = realloc(table->words, (size_t)capacity * table->stride * sizeof *words);
	uint32_t *number, *changed;
	struct place *places;

	if (!words)
		return false;
	table->words = words;
	number = realloc(table->number, capacity * sizeof *number);
	if (!number)
		return false;
	table->number = number;
	places = realloc(table->places, capacity * sizeof *places);
	if (!places)
		return false;
	table->places = places;
	changed = realloc(table->changed, capacity * sizeof *changed);
	if (!changed)
		return false;
	table->changed = changed;
	table->capacity = capacity;
	return true;
}

/* A new row of zeros. Numbers are the lowest free ones: one that is larger than the count of rows is a lie, and so memory
 * stays in proportion to rows. */
static uint64_t *add_row(struct tables *tables, struct table *table, int64_t number)
{
	bool events = table->schema->flags & SONDE_EVENTS;
	uint64_t *words;

	if (number > table->nrows || table->nrows == FORMAT_ROWS_EACH ||
	    tables->words + tables->event_words + table->stride > FORMAT_WORDS_ALL) {
		refuse(tables, "a row of table %s is beyond the limits", table->schema->name);
		return NULL;
	}
	if (table->nrows == table->capacity && !grow_rows(table)) {
		refuse(tables, "no memory for the rows of table %s", table->schema->name);
		return NULL;
	}
	if (number == table->nplaces)
		table->places[table->nplaces++].tick = 0;
	*(events ? &tables->event_words : &tables->words) += table->stride;
	table->places[number].index = table->nrows;
	table->number[table->nrows] = (uint32_t)number;
	words = table->words + (size_t)table->nrows++ * table->stride;
	memset(words, 0, table->stride * sizeof *words);
	return words;
}

static bool end_row(struct tables *tables, struct table *table, int64_t number)
{
	uint32_t index = number < table->nplaces ? table->places[number].index : NONE;
	uint32_t last = table->nrows - 1;

	if (index == NONE || table->schema->flags & SONDE_EVENTS)
		return refuse(tables, "a row of table %s ends that does not live",
			      table->schema->name);
	if (index != last) {
		memcpy(table->words + (size_t)index * table->stride,
		       table->words + (size_t)last * table->stride,
		       table->stride * sizeof *table->words);
		table->number[index] = table->number[last];
		table->places[table->number[index]].index = index;
	}
	table->places[number].index = NONE;
	table->nrows--;
	tables->words -= table->stride;
	return true;
}

/* The changed slots of word `w` of a row take their values. False: malformed. */
static bool take_word(struct tables *tables, const struct table *table, uint32_t w,
		      uint64_t changed, uint64_t *row, struct items *items)
{
	uint64_t special = table->is_string[w] | table->is_f64[w];
	uint64_t *slots = row + table->schema->nhave + w * 64;
	const struct item *item = items->at;

	for (; changed; changed &= changed - 1, item++) {
		uint64_t one = changed & -changed, *slot = &slots[__builtin_ctzll(changed)];

		if (item == items->end)
			return false;
		row[w] |= one;
		if (item->kind == ITEM_INT && !(special & one)) {
			*slot += item->number;
		} else if (item->kind == ITEM_NIL) {
			row[w] &= ~one;
			*slot = 0;
		} else if (item->kind == ITEM_FLOAT && table->is_f64[w] & one) {
			*slot = item->number;
		} else if (item->kind == ITEM_INT && !item->minus && table->is_string[w] & one &&
			   item->number < tables->nstrings) {
			*slot = tables->string_at[item->number];
		} else {
			return false;
		}
	}
	tables->changed_values += (uint64_t)(item - items->at);
	items->at = item;
	return true;
}

/* A row of a table wider than 64 slots: its bitmap is bytes, without the zeros at their end. */
static bool take_wide(struct tables *tables, const struct table *table, const struct item *bitmap,
		      uint64_t *row, struct items *items)
{
	const struct sonde_schema *schema = table->schema;
	uint32_t over = schema->nslots & 63;

	if (bitmap->kind != ITEM_BYTES || bitmap->length > schema->nhave * 8)
		return false;
	for (uint32_t w = 0; w * 8 < bitmap->length; w++) {
		uint32_t n = bitmap->length - w * 8;
		unsigned char bytes[8] = { 0 };
		uint64_t changed;

		memcpy(bytes, bitmap->bytes + w * 8, n < 8 ? n : 8);
		changed = get_le64(bytes);
		if (over && w == schema->nhave - 1 && changed >> over)
			return false;
		if (changed && !take_word(tables, table, w, changed, row, items))
			return false;
	}
	return true;
}

static bool take_values(struct tables *tables, const struct table *table, const struct item *bitmap,
			uint64_t *row, struct items *items)
{
	uint32_t nslots = table->schema->nslots;

	if (nslots > 64)
		return take_wide(tables, table, bitmap, row, items);
	if (bitmap->kind != ITEM_INT || bitmap->minus || (nslots < 64 && bitmap->number >> nslots))
		return false;
	return take_word(tables, table, 0, bitmap->number, row, items);
}

static bool take_row(struct tables *tables, struct table *table, int64_t number,
		     const struct item *bitmap, struct items *values)
{
	struct place *place;
	uint64_t *row;

	if (!bitmap)
		return refuse(tables, "an instant is cut");
	if (bitmap->kind == ITEM_NIL)
		return end_row(tables, table, number);
	if (number < table->nplaces && table->places[number].index != NONE)
		row = table->words + (size_t)table->places[number].index * table->stride;
	else
		row = add_row(tables, table, number);
	if (!row)
		return false;
	if (!take_values(tables, table, bitmap, row, values))
		return refuse(tables, "a row of table %s is malformed", table->schema->name);
	place = &table->places[number];
	if (place->tick != tables->tick) {
		place->tick = tables->tick;
		table->changed[table->nchanged++] = (uint32_t)number;
	}
	return true;
}

/* The table takes part in this instant. */
static void sample(struct tables *tables, struct table *table)
{
	if (table->tick == tables->tick)
		return;
	table->tick = tables->tick;
	table->nchanged = 0;
	table->partial = false;
	if (table->schema->flags & SONDE_EVENTS)
		table->nrows = table->nplaces = 0;
	tables->sampled[tables->nsampled++] = table;
}

static bool take_frame(struct tables *tables, struct items *structure, struct items *values)
{
	int64_t number = (int64_t)items_int(structure), row = 0;
	bool partial = number < 0;
	uint64_t nrows = items_u64(structure, UINT32_MAX);
	struct table *table;

	if (partial)
		number = -1 - number;
	if (structure->bad || number >= tables->nnumbered)
		return refuse(tables, "an instant has rows of an unknown table");
	table = tables->numbered[number];
	sample(tables, table);
	table->partial |= partial;
	for (; nrows && !structure->bad; nrows--) {
		int64_t gap = (int64_t)items_int(structure);
		const struct item *bitmap = items_next(structure);

		if (gap > FORMAT_ROWS_EACH || gap < -FORMAT_ROWS_EACH - 1)
			return refuse(tables, "a row of table %s has no number",
				      table->schema->name);
		row += gap;
		if (row < 0 || row >= FORMAT_ROWS_EACH)
			return refuse(tables, "a row of table %s is beyond the limits",
				      table->schema->name);
		if (!take_row(tables, table,
			      table->schema->flags & SONDE_EVENTS ? table->nrows : row, bitmap,
			      values))
			return false;
		row++;
	}
	return structure->bad ? refuse(tables, "an instant is cut") : true;
}

bool tables_frames(struct tables *tables, struct items *items)
{
	uint32_t n = items_array(items);
	struct items structure, values;

	if (items->bad || n > items->end - items->at)
		return refuse(tables, "an instant is cut");
	structure = (struct items) { items->at, items->at + n, false };
	values = (struct items) { items->at + n, items->end, false };
	while (structure.at < structure.end)
		if (!take_frame(tables, &structure, &values))
			return false;
	if (values.at != values.end)
		return refuse(tables, "an instant has values of no row");
	return true;
}

/* Numbers of changed rows become indices; those that ended since are left out. */
static void resolve_changed(struct table *table)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < table->nchanged; i++) {
		uint32_t index = table->places[table->changed[i]].index;

		if (index != NONE)
			table->changed[n++] = index;
	}
	table->nchanged = n;
}

struct sonde_view *tables_views(struct tables *tables, uint32_t *count)
{
	static const char none[1];

	for (uint32_t i = 0; i < tables->nsampled; i++) {
		struct table *table = tables->sampled[i];

		resolve_changed(table);
		tables->views[i] = (struct sonde_view) {
			.schema = table->schema,
			.instance = table->instance,
			.words = table->words,
			.strings = tables->strings ? tables->strings : none,
			.changed = table->changed,
			.nrows = table->nrows,
			.nchanged = table->nchanged,
			.stride = table->stride,
			.flags = table->partial ? SONDE_PARTIAL : 0,
		};
	}
	*count = tables->nsampled;
	tables->nsampled = 0;
	tables->event_words = 0;
	tables->tick++;
	return tables->views;
}
