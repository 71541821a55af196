/* The rows of one table as a stream's writer sent them last. */
#include <errno.h>
#include <stdlib.h>

#include "wire/format.h"
#include "wire/kept.h"

static bool bit(const uint64_t *words, uint32_t i)
{
	return words[i >> 6] >> (i & 63) & 1;
}

static void mark_columns(struct kept *kept, const struct sonde_schema *schema)
{
	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		uint32_t slot = schema->slot[i];
		uint64_t one = (uint64_t)1 << (slot & 63);

		if (schema->columns[i].type == SONDE_STR)
			kept->is_string[slot >> 6] |= one;
		if (schema->columns[i].type == SONDE_F64)
			kept->is_f64[slot >> 6] |= one;
		if (i < schema->nkeys)
			kept->is_key[slot >> 6] |= one;
	}
}

struct kept *kept_new(const struct sonde_view *view)
{
	const struct sonde_schema *schema = view->schema;
	struct kept *kept = calloc(1, sizeof *kept);

	if (!kept)
		return NULL;
	*kept = (struct kept) { .hash = schema->hash,
				.instance = strdup(view->instance),
				.nslots = schema->nslots,
				.nhave = schema->nhave,
				.nkeys = schema->nkeys,
				.stride = schema->nhave + schema->nslots,
				.flags = schema->flags,
				.is_string = calloc(schema->nhave, sizeof(uint64_t)),
				.is_f64 = calloc(schema->nhave, sizeof(uint64_t)),
				.is_key = calloc(schema->nhave, sizeof(uint64_t)),
				.number = KEPT_NONE };
	if (!kept->instance || !kept->is_string || !kept->is_f64 || !kept->is_key) {
		kept_free(kept);
		return NULL;
	}
	mark_columns(kept, schema);
	return kept;
}

void kept_free(struct kept *kept)
{
	if (!kept)
		return;
	free(kept->instance);
	free(kept->is_string);
	free(kept->is_f64);
	free(kept->is_key);
	free(kept->words);
	free(kept->rows);
	free(kept->order);
	free(kept->match);
	free(kept->buckets);
	free(kept);
}

bool kept_is(const struct kept *kept, const struct sonde_view *view)
{
	return kept->hash == view->schema->hash && kept->nslots == view->schema->nslots &&
	       strcmp(kept->instance, view->instance) == 0;
}

void kept_empty(struct kept *kept)
{
	kept->number = KEPT_NONE;
	kept->numbers = kept->living = kept->lowest = kept->norder = 0;
	if (kept->buckets)
		memset(kept->buckets, 0xff, kept->nbuckets * sizeof *kept->buckets);
}

static bool same_keys(const struct kept *kept, uint32_t number, const struct sonde_view *view,
		      uint32_t i, const struct strings *strings)
{
	const uint64_t *mine = kept_words(kept, number);
	const uint64_t *theirs = sonde_view_have(view, i);

	for (uint32_t k = 0; k < kept->nkeys; k++) {
		uint64_t a = mine[kept->nhave + k], b = theirs[kept->nhave + k];

		if (bit(mine, k) != bit(theirs, k))
			return false;
		if (!bit(mine, k))
			continue;
		if (bit(kept->is_string, k) ? !strings_equal(strings, (uint32_t)a,
							     view->strings + (b >> 32), (uint32_t)b)
					    : a != b)
			return false;
	}
	return true;
}

static uint32_t mix(uint32_t hash, bool have, uint64_t value)
{
	uint64_t wide = (hash ^ (have ? value + 1 : 0)) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(wide >> 32) ^ (uint32_t)wide;
}

/* Hash of the keys of a row of the view, strings by their number. False: a string of it was never sent. */
static bool hash_theirs(const struct kept *kept, const struct sonde_view *view, uint32_t i,
			const struct strings *strings, uint32_t *hash)
{
	const uint64_t *theirs = sonde_view_have(view, i);

	*hash = 0;
	for (uint32_t k = 0; k < kept->nkeys; k++) {
		uint64_t value = theirs[kept->nhave + k];

		if (bit(theirs, k) && bit(kept->is_string, k)) {
			value = strings_find(strings, view->strings + (value >> 32),
					     (uint32_t)value);
			if (value == STRINGS_NONE)
				return false;
		}
		*hash = mix(*hash, bit(theirs, k), value);
	}
	return true;
}

static uint32_t find(const struct kept *kept, const struct sonde_view *view, uint32_t i,
		     const struct strings *strings)
{
	uint32_t hash, number;

	if (!kept->nkeys || !kept->nbuckets || !hash_theirs(kept, view, i, strings, &hash))
		return KEPT_NONE;
	for (number = kept->buckets[hash & (kept->nbuckets - 1)]; number != KEPT_NONE;
	     number = kept->rows[number].next)
		if (kept->rows[number].hash == hash && kept->rows[number].seen != kept->tick &&
		    same_keys(kept, number, view, i, strings))
			break;
	return number;
}

static int grow_order(struct kept *kept, uint32_t nrows)
{
	uint32_t capacity = nrows + nrows / 2 + 4;
	uint32_t *order = realloc(kept->order, capacity * sizeof *order);
	uint32_t *match;

	if (!order)
		return -ENOMEM;
	kept->order = order;
	match = realloc(kept->match, capacity * sizeof *match);
	if (!match)
		return -ENOMEM;
	kept->match = match;
	kept->order_capacity = capacity;
	return 0;
}

int kept_match(struct kept *kept, const struct sonde_view *view, const struct strings *strings)
{
	uint32_t next = 0;

	if (view->nrows > kept->order_capacity && grow_order(kept, view->nrows))
		return -ENOMEM;
	if (++kept->tick == 0) /* 0 is a free row's */
		kept->tick = 1;
	for (uint32_t i = 0; i < view->nrows; i++) {
		uint32_t number = next < kept->norder ? kept->order[next] : KEPT_NONE;

		if (number == KEPT_NONE || kept->rows[number].seen == kept->tick ||
		    !same_keys(kept, number, view, i, strings))
			number = find(kept, view, i, strings);
		kept->match[i] = number;
		if (number != KEPT_NONE) {
			kept->rows[number].seen = kept->tick;
			next = kept->rows[number].position + 1;
		}
	}
	return 0;
}

uint32_t kept_missing(const struct kept *kept, uint32_t from)
{
	for (; from < kept->numbers; from++)
		if (kept->rows[from].seen && kept->rows[from].seen != kept->tick)
			return from;
	return KEPT_NONE;
}

static void unlink_row(struct kept *kept, uint32_t number)
{
	uint32_t *link = &kept->buckets[kept->rows[number].hash & (kept->nbuckets - 1)];

	while (*link != number)
		link = &kept->rows[*link].next;
	*link = kept->rows[number].next;
}

static void link_row(struct kept *kept, uint32_t number)
{
	uint32_t *link = &kept->buckets[kept->rows[number].hash & (kept->nbuckets - 1)];

	kept->rows[number].next = *link;
	*link = number;
}

void kept_drop(struct kept *kept, uint32_t number)
{
	if (kept->nkeys)
		unlink_row(kept, number);
	kept->rows[number].seen = 0;
	kept->living--;
	if (number < kept->lowest)
		kept->lowest = number;
}

static int grow_rows(struct kept *kept)
{
	uint32_t capacity = kept->capacity ? kept->capacity * 2 : 8;
	uint64_t *words = realloc(kept->words, (size_t)capacity * kept->stride * sizeof *words);
	struct kept_row *rows;
	uint32_t *buckets;

	if (!words)
		return -ENOMEM;
	kept->words = words;
	rows = realloc(kept->rows, capacity * sizeof *rows);
	if (!rows)
		return -ENOMEM;
	kept->rows = rows;
	buckets = realloc(kept->buckets, capacity * sizeof *buckets);
	if (!buckets)
		return -ENOMEM;
	kept->buckets = buckets;
	kept->nbuckets = kept->capacity = capacity;
	memset(buckets, 0xff, capacity * sizeof *buckets);
	for (uint32_t i = 0; kept->nkeys && i < kept->numbers; i++)
		if (kept->rows[i].seen)
			link_row(kept, i);
	return 0;
}

uint32_t kept_add(struct kept *kept, uint32_t i)
{
	uint32_t number = kept->lowest;

	while (number < kept->numbers && kept->rows[number].seen)
		number++;
	if (number == FORMAT_ROWS_EACH)
		return KEPT_NONE;
	if (number == kept->capacity && grow_rows(kept))
		return KEPT_NONE;
	kept->lowest = number + 1;
	if (number == kept->numbers)
		kept->numbers++;
	kept->living++;
	kept->rows[number].seen = kept->tick;
	memset(kept_words(kept, number), 0, kept->stride * sizeof *kept->words);
	kept->match[i] = number;
	return number;
}

void kept_added(struct kept *kept, uint32_t number)
{
	const uint64_t *mine = kept_words(kept, number);
	uint32_t hash = 0;

	if (!kept->nkeys)
		return;
	for (uint32_t k = 0; k < kept->nkeys; k++)
		hash = mix(hash, bit(mine, k), mine[kept->nhave + k]);
	kept->rows[number].hash = hash;
	link_row(kept, number);
}

void kept_done(struct kept *kept, uint32_t nrows)
{
	uint32_t *order = kept->match;

	kept->match = kept->order;
	kept->order = order;
	kept->norder = nrows;
	for (uint32_t i = 0; i < nrows; i++)
		kept->rows[order[i]].position = i;
}
