/* The rows of one instant, gathered from its datagrams. */
#include <stdlib.h>

#include "core/grow.h"
#include "wire/gather.h"

enum {
	VIEWS_MOST = 2048,
	WORDS_MOST = 4 << 20,    /* of all rows */
	STRINGS_MOST = 64 << 20, /* bytes */
	WORDS_KEPT = 1 << 20,    /* after a large instant */
};

void gather_free(struct gather *gather)
{
	free(gather->words);
	free(gather->strings);
	free(gather->views);
	free(gather->made);
}

void gather_empty(struct gather *gather)
{
	if (gather->words_size > WORDS_KEPT) {
		free(gather->words);
		free(gather->strings);
		gather->words = NULL;
		gather->strings = NULL;
		gather->words_size = gather->strings_size = 0;
	}
	gather->nwords = gather->nstrings = 0;
	gather->nviews = 0;
	gather->joined = gather->broken = false;
	gather->cut = 0;
}

void gather_break(struct gather *gather)
{
	gather->joined = false;
}

static struct gathered *last_view(struct gather *gather)
{
	return gather->nviews ? &gather->views[gather->nviews - 1] : NULL;
}

/* The view that is being gathered, where it is of this table; else a new one. */
static struct gathered *view_of(struct gather *gather, const struct definition_table *table)
{
	struct gathered *view = last_view(gather);

	if (view && view->table == table)
		return view;
	if (!grow(&gather->views, &gather->capacity, gather->nviews + 1, sizeof *gather->views,
		  VIEWS_MOST) ||
	    !gather->views)
		return NULL;
	view = &gather->views[gather->nviews++];
	*view = (struct gathered) { .table = table, .at = gather->nwords };
	return view;
}

static uint64_t *add_row(struct gather *gather, struct gathered *view)
{
	const struct sonde_schema *schema = view->table->schema;
	uint32_t stride = schema->nhave + schema->nslots;
	uint64_t *row;

	if (!grow(&gather->words, &gather->words_size, gather->nwords + stride,
		  sizeof *gather->words, WORDS_MOST))
		return NULL;
	row = gather->words + gather->nwords;
	memset(row, 0, stride * sizeof *row);
	gather->nwords += stride;
	view->nrows++;
	return row;
}

static bool take_string(struct gather *gather, const struct item *item, uint64_t *slot)
{
	if (item->length > FORMAT_STRING_EACH ||
	    !grow(&gather->strings, &gather->strings_size, gather->nstrings + item->length + 1, 1,
		  STRINGS_MOST))
		return false;
	memcpy(gather->strings + gather->nstrings, item->bytes, item->length);
	*slot = (uint64_t)gather->nstrings << 32 | item->length;
	gather->nstrings += item->length;
	return true;
}

/* The next item as the value of a slot; nil is an absent one. */
static bool take_value(struct gather *gather, const struct definition_table *table, uint64_t *row,
		       uint32_t slot, struct items *items)
{
	const struct item *item = items_next(items);
	uint64_t *value = row + table->schema->nhave + slot;
	uint8_t type = table->types[slot];

	if (!item)
		return false;
	if (item->kind == ITEM_NIL)
		return true;
	if (type == SONDE_STR && item->kind == ITEM_ARRAY) {
		gather->cut++;
		if (item->length != 2)
			return false;
		items_u64(items, UINT32_MAX);
		item = items_next(items);
		if (items->bad)
			return false;
	}
	if (type == SONDE_STR) {
		if (item->kind != ITEM_BYTES || !take_string(gather, item, value))
			return false;
	} else if (type == SONDE_F64) {
		if (item->kind != ITEM_FLOAT)
			return false;
		*value = item->number;
	} else {
		if (item->kind != ITEM_INT || (type == SONDE_U64 && item->minus) ||
		    (type == SONDE_I64 && !item->minus && item->number >> 63))
			return false;
		*value = item->number;
	}
	row[slot >> 6] |= (uint64_t)1 << (slot & 63);
	return true;
}

/* Values of the slots from `base` on whose bits are set. */
static bool take_bits(struct gather *gather, const struct definition_table *table, uint64_t *row,
		      uint32_t base, const unsigned char *bits, uint32_t nbytes,
		      struct items *items)
{
	uint32_t nslots = table->schema->nslots;

	for (uint32_t i = 0; i < nbytes; i++)
		for (uint32_t left = bits[i]; left; left &= left - 1) {
			uint32_t slot = base + i * 8 + (uint32_t)__builtin_ctz(left);

			if (slot >= nslots || !take_value(gather, table, row, slot, items))
				return false;
		}
	return true;
}

/* Some slots of a row: the first of them and their bits; values of the keys come first. */
static bool take_some(struct gather *gather, const struct definition_table *table, uint64_t *row,
		      struct items *items)
{
	uint32_t base = (uint32_t)items_u64(items, table->schema->nslots);
	const struct item *bits = items_next(items);

	if (items->bad || bits->kind != ITEM_BYTES || bits->length > table->schema->nslots / 8 + 1)
		return false;
	for (uint32_t slot = 0; slot < table->schema->nkeys; slot++)
		if (!take_value(gather, table, row, slot, items))
			return false;
	return take_bits(gather, table, row, base, (const unsigned char *)bits->bytes, bits->length,
			 items);
}

static bool take_row(struct gather *gather, const struct definition_table *table, uint64_t *row,
		     const struct item *bitmap, struct items *items)
{
	unsigned char bits[8];

	switch (bitmap->kind) {
	case ITEM_INT:
		if (bitmap->minus || table->schema->nslots > 64)
			return false;
		put_le64(bits, bitmap->number);
		return take_bits(gather, table, row, 0, bits, sizeof bits, items);
	case ITEM_BYTES:
		return table->schema->nslots > 64 &&
		       take_bits(gather, table, row, 0, (const unsigned char *)bitmap->bytes,
				 bitmap->length, items);
	case ITEM_ARRAY:
		return bitmap->length == 2 && take_some(gather, table, row, items);
	default:
		return false;
	}
}

/* Takes back what a malformed row began. */
static void take_back(struct gather *gather, struct gathered *view, size_t nwords)
{
	if (gather->nwords > nwords)
		view->nrows--;
	gather->nwords = nwords;
	gather->joined = false;
}

static bool gather_next(struct gather *gather, const struct definition_table *table, bool goes_on,
			struct items *items)
{
	const struct item *bitmap = items_next(items), *partial;
	struct gathered *view = bitmap ? view_of(gather, table) : NULL;
	size_t nwords = gather->nwords;
	uint64_t *row;

	if (!view)
		return false;
	if (bitmap->kind == ITEM_NIL) {
		partial = items_next(items);
		gather->joined = false;
		if (!partial || partial->kind != ITEM_BOOL)
			return false;
		view->partial |= partial->number != 0;
		return true;
	}
	if (goes_on && gather->joined && view->nrows)
		row = gather->words + nwords - table->schema->nhave - table->schema->nslots;
	else
		row = add_row(gather, view);
	if (!row)
		return false;
	gather->joined = true;
	if (take_row(gather, table, row, bitmap, items) && items->at == items->end)
		return true;
	take_back(gather, view, nwords);
	return false;
}

bool gather_row(struct gather *gather, const struct definition_table *table, bool goes_on,
		struct items *items)
{
	bool good = gather_next(gather, table, goes_on, items);

	gather->broken |= !good;
	return good;
}

struct sonde_view *gather_views(struct gather *gather, bool partial)
{
	struct sonde_view *made =
		realloc(gather->made, (gather->nviews + 1) * sizeof *gather->made);

	if (!made)
		return NULL;
	gather->made = made;
	for (uint32_t i = 0; i < gather->nviews; i++) {
		const struct gathered *view = &gather->views[i];
		const struct sonde_schema *schema = view->table->schema;

		made[i] = (struct sonde_view) {
			.schema = schema,
			.instance = view->table->instance,
			.words = gather->words + view->at,
			.strings = gather->strings ? gather->strings : "",
			.nrows = view->nrows,
			.stride = schema->nhave + schema->nslots,
			.flags = partial || view->partial ? SONDE_PARTIAL : 0,
		};
	}
	return made;
}
