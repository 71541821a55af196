/* The rows of a stream's tables: they come, change in place, and end. */
#include <stdlib.h>

#include "wire/table.h"

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
		tables_refuse(tables, "a row of table %s is beyond the limits",
			      table->schema->name);
		return NULL;
	}
	if (table->nrows == table->capacity && !grow_rows(table)) {
		tables_refuse(tables, "no memory for the rows of table %s", table->schema->name);
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
	uint32_t index = number < table->nplaces ? table->places[number].index : TABLE_NONE;
	uint32_t last = table->nrows - 1;

	if (index == TABLE_NONE || table->schema->flags & SONDE_EVENTS)
		return tables_refuse(tables, "a row of table %s ends that does not live",
				     table->schema->name);
	if (index != last) {
		memcpy(table->words + (size_t)index * table->stride,
		       table->words + (size_t)last * table->stride,
		       table->stride * sizeof *table->words);
		table->number[index] = table->number[last];
		table->places[table->number[index]].index = index;
	}
	table->places[number].index = TABLE_NONE;
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
		return tables_refuse(tables, "an instant is cut");
	if (bitmap->kind == ITEM_NIL)
		return end_row(tables, table, number);
	if (number < table->nplaces && table->places[number].index != TABLE_NONE)
		row = table->words + (size_t)table->places[number].index * table->stride;
	else
		row = add_row(tables, table, number);
	if (!row)
		return false;
	if (!take_values(tables, table, bitmap, row, values))
		return tables_refuse(tables, "a row of table %s is malformed", table->schema->name);
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
		return tables_refuse(tables, "an instant has rows of an unknown table");
	table = tables->numbered[number];
	sample(tables, table);
	table->partial |= partial;
	for (; nrows && !structure->bad; nrows--) {
		int64_t gap = (int64_t)items_int(structure);
		const struct item *bitmap = items_next(structure);

		if (gap > FORMAT_ROWS_EACH || gap < -FORMAT_ROWS_EACH - 1)
			return tables_refuse(tables, "a row of table %s has no number",
					     table->schema->name);
		row += gap;
		if (row < 0 || row >= FORMAT_ROWS_EACH)
			return tables_refuse(tables, "a row of table %s is beyond the limits",
					     table->schema->name);
		if (!take_row(tables, table,
			      table->schema->flags & SONDE_EVENTS ? table->nrows : row, bitmap,
			      values))
			return false;
		row++;
	}
	return structure->bad ? tables_refuse(tables, "an instant is cut") : true;
}

bool tables_frames(struct tables *tables, struct items *items)
{
	uint32_t n = items_array(items);
	struct items structure, values;

	if (items->bad || n > (size_t)(items->end - items->at))
		return tables_refuse(tables, "an instant is cut");
	structure = (struct items) { items->at, items->at + n, false };
	values = (struct items) { items->at + n, items->end, false };
	while (structure.at < structure.end)
		if (!take_frame(tables, &structure, &values))
			return false;
	if (values.at != values.end)
		return tables_refuse(tables, "an instant has values of no row");
	return true;
}
