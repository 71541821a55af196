/* The rows of a stream's tables: they come, change in place, and end. */
#include <stdlib.h>

#include "wire/table.h"

static bool grow_rows(struct table *table)
{
	uint32_t capacity = table->capacity ? table->capacity * 2 : 4;
	uint64_t *words = realloc(table->words, (size_t)capacity * table->stride * sizeof *words);
	uint32_t *number, *changed;
	uint64_t *slots;
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
	changed = realloc(table->moved, capacity * sizeof *changed);
	if (!changed)
		return false;
	table->moved = changed;
	slots = realloc(table->changed_slots,
			(size_t)capacity * table->schema->nhave * sizeof *slots);
	if (!slots)
		return false;
	table->changed_slots = slots;
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
		table->places[table->nplaces++] = (struct place) { 0 };
	*(events ? &tables->event_words : &tables->words) += table->stride;
	table->places[number].index = table->nrows;
	table->number[table->nrows] = (uint32_t)number;
	words = table->words + (size_t)table->nrows++ * table->stride;
	memset(words, 0, table->stride * sizeof *words);
	return words;
}

/* The slots of a row that changed in this instant. */
static uint64_t *changed_slots(const struct tables *tables, struct table *table, int64_t number)
{
	uint32_t nhave = table->schema->nhave;
	struct place *place = &table->places[number];
	uint64_t *slots;

	if (place->tick == tables->tick)
		return table->changed_slots + (size_t)place->at * nhave;
	place->tick = tables->tick;
	place->at = table->nchanged;
	slots = table->changed_slots + (size_t)table->nchanged * nhave;
	table->changed[table->nchanged++] = (uint32_t)number;
	slots[0] = 0;
	for (uint32_t w = 1; w < nhave; w++)
		slots[w] = 0;
	return slots;
}

/* The last row takes the place of the one that ends. */
static void move_last(const struct tables *tables, struct table *table, uint32_t index)
{
	uint32_t last = table->nrows - 1, number = table->number[last];
	struct place *place = &table->places[number];

	memcpy(table->words + (size_t)index * table->stride,
	       table->words + (size_t)last * table->stride, table->stride * sizeof *table->words);
	table->number[index] = number;
	place->index = index;
	if (place->moved != tables->tick)
		table->moved[table->nmoved++] = number;
	place->moved = tables->tick;
}

static bool end_row(struct tables *tables, struct table *table, int64_t number)
{
	uint32_t index = number < table->nplaces ? table->places[number].index : TABLE_NONE;

	if (index == TABLE_NONE || table->schema->flags & SONDE_EVENTS)
		return tables_refuse(tables, "a row of table %s ends that does not live",
				     table->schema->name);
	if (index != table->nrows - 1)
		move_last(tables, table, index);
	table->places[number].index = TABLE_NONE;
	table->ended = true;
	table->nrows--;
	tables->words -= table->stride;
	return true;
}

/* The next item of a structure as a number. False: there is none, or it is something else. */
static inline bool next_int(struct bytes_left *structure, int64_t *number)
{
	bool bad = false;
	uint8_t first;

	if (structure->at == structure->end)
		return false;
	first = (uint8_t)*structure->at;
	if (first < 0x80 || first >= 0xe0) { /* most are small: 0 to 127, -32 to -1 */
		*number = first < 0x80 ? first : first - 256;
		structure->at++;
		return true;
	}
	*number = (int64_t)item_take_int(structure, &bad);
	return !bad;
}

/* Values that rows take, and how many have been. */
struct values {
	struct bytes_left from;
	uint64_t taken;
};

/* A value that is not a number, or stands at the end of a block, into slot `bit` of word `w` of a row. False: malformed. Not
 * inline: the loop that calls it would keep its variables in memory. */
__attribute__((noinline)) static bool take_value(const struct tables *tables,
						 const struct table *table, uint64_t *row,
						 uint32_t w, uint32_t bit, struct bytes_left *from)
{
	uint64_t *slot = row + table->schema->nhave + w * 64 + bit;
	uint64_t one = (uint64_t)1 << bit;
	struct item item;

	if (!item_take(from, &item))
		return false;
	if (item.kind == ITEM_NIL) {
		row[w] &= ~one;
		*slot = 0;
		return true;
	}
	if (table->is_f64[w] & one) {
		*slot = item.number;
		return item.kind == ITEM_FLOAT;
	}
	if (table->is_string[w] & one) {
		if (item.kind != ITEM_INT || item.minus || item.number >= tables->nstrings)
			return false;
		*slot = tables->string_at[item.number];
		return true;
	}
	*slot += item.number;
	return item.kind == ITEM_INT;
}

/* The changed slots of word `w` of a row take their values. False: malformed. */
static bool take_word(const struct tables *tables, const struct table *table, uint64_t *row,
		      uint32_t w, uint64_t changed, struct values *values)
{
	uint64_t special = table->is_string[w] | table->is_f64[w], number;
	uint64_t *slots = row + table->schema->nhave + w * 64;
	const unsigned char *at = values->from.at, *end = values->from.end;
	uint64_t n = 0;

	row[w] |= changed;
	for (; changed; changed &= changed - 1, n++) {
		uint32_t bit = (uint32_t)__builtin_ctzll(changed);

		if (!(special >> bit & 1) && end - at > 8 && item_take_number(&at, &number)) {
			slots[bit] += number;
			continue;
		}
		values->from.at = at;
		if (!take_value(tables, table, row, w, bit, &values->from))
			return false;
		at = values->from.at;
	}
	values->from.at = at;
	values->taken += n;
	return true;
}

/* A row of a table wider than 64 slots: its bitmap is bytes, without the zeros at their end. */
static bool take_wide(const struct tables *tables, const struct table *table, uint64_t *row,
		      uint64_t *changed, const struct item *bitmap, struct values *values)
{
	const struct sonde_schema *schema = table->schema;
	uint32_t over = schema->nslots & 63;

	if (bitmap->kind != ITEM_BYTES || bitmap->length > schema->nhave * 8)
		return false;
	for (uint32_t w = 0; w * 8 < bitmap->length; w++) {
		uint32_t n = bitmap->length - w * 8;
		unsigned char bytes[8] = { 0 };
		uint64_t word;

		memcpy(bytes, bitmap->bytes + w * 8, n < 8 ? n : 8);
		word = get_le64(bytes);
		if (over && w == schema->nhave - 1 && word >> over)
			return false;
		changed[w] |= word;
		if (word && !take_word(tables, table, row, w, word, values))
			return false;
	}
	return true;
}

static bool take_row(struct tables *tables, struct table *table, int64_t number,
		     struct bytes_left *structure, struct values *values)
{
	uint32_t nslots = table->schema->nslots;
	uint64_t *row, *changed;
	struct item bitmap;
	bool fresh, good;

	if (!item_take(structure, &bitmap))
		return tables_refuse(tables, "an instant is cut");
	if (bitmap.kind == ITEM_NIL)
		return end_row(tables, table, number);
	fresh = number >= table->nplaces || table->places[number].index == TABLE_NONE;
	row = fresh ? add_row(tables, table, number)
		    : table->words + (size_t)table->places[number].index * table->stride;
	if (!row)
		return false;
	changed = changed_slots(tables, table, number);
	if (nslots > 64) {
		good = take_wide(tables, table, row, changed, &bitmap, values);
	} else {
		good = bitmap.kind == ITEM_INT && !bitmap.minus &&
		       (nslots == 64 || !(bitmap.number >> nslots));
		changed[0] |= bitmap.number;
		good = good && take_word(tables, table, row, 0, bitmap.number, values);
	}
	if (!good)
		return tables_refuse(tables, "a row of table %s is malformed", table->schema->name);
	if (fresh)
		memset(changed, 0xff, table->schema->nhave * sizeof *changed);
	return true;
}

/* The table takes part in this instant. */
static void sample(struct tables *tables, struct table *table)
{
	if (table->tick == tables->tick)
		return;
	table->tick = tables->tick;
	table->nchanged = table->nmoved = 0;
	table->partial = table->ended = false;
	if (table->schema->flags & SONDE_EVENTS)
		table->nrows = table->nplaces = 0;
	tables->sampled[tables->nsampled++] = table;
}

static bool take_frame(struct tables *tables, struct bytes_left *structure, struct values *values)
{
	int64_t number, nrows, row = 0, gap;
	struct table *table;
	bool partial, events;

	if (!next_int(structure, &number) || !next_int(structure, &nrows) || nrows < 0)
		return tables_refuse(tables, "an instant is cut");
	partial = number < 0;
	if (partial)
		number = -1 - number;
	if (number >= tables->nnumbered)
		return tables_refuse(tables, "an instant has rows of an unknown table");
	table = tables->numbered[number];
	sample(tables, table);
	table->partial |= partial;
	events = table->schema->flags & SONDE_EVENTS;
	for (; nrows; nrows--, row++) {
		if (!next_int(structure, &gap))
			return tables_refuse(tables, "an instant is cut");
		if (gap > FORMAT_ROWS_EACH || gap < -FORMAT_ROWS_EACH - 1)
			return tables_refuse(tables, "a row of table %s has no number",
					     table->schema->name);
		row += gap;
		if (row < 0 || row >= FORMAT_ROWS_EACH)
			return tables_refuse(tables, "a row of table %s is beyond the limits",
					     table->schema->name);
		if (!take_row(tables, table, events ? table->nrows : row, structure, values))
			return false;
	}
	return true;
}

bool tables_frames(struct tables *tables, struct bytes_left structure, struct bytes_left *from,
		   uint32_t nvalues)
{
	struct values values = { .from = *from };

	while (structure.at < structure.end)
		if (!take_frame(tables, &structure, &values))
			return false;
	*from = values.from;
	tables->changed_values += values.taken;
	return values.taken == nvalues
		       ? true
		       : tables_refuse(tables, "an instant has values of no row, or too few");
}
