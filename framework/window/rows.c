/* The rows of a table that live. */
#include <errno.h>
#include <stdlib.h>

#include "window/rows.h"

enum { BUCKETS_FIRST = 64, NOWHERE = UINT32_MAX };

int rows_init(struct rows *rows, const struct sonde_schema *schema, uint32_t nprobes,
	      uint32_t nbound)
{
	*rows = (struct rows) { .nkeys = schema->nkeys, .nprobes = nprobes, .nbound = nbound };
	rows->buckets = calloc(BUCKETS_FIRST, sizeof(struct row *));
	if (!rows->buckets)
		return -ENOMEM;
	rows->nbuckets = BUCKETS_FIRST;
	return 0;
}

static void free_chain(struct row *row)
{
	for (struct row *next; row; row = next) {
		next = row->next;
		free(row->text);
		free(row);
	}
}

void rows_free(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->nbuckets; i++)
		free_chain(rows->buckets[i]);
	free_chain(rows->free);
	free(rows->buckets);
	free(rows->at);
	free(rows->left);
	*rows = (struct rows) { 0 };
}

void rows_begin(struct rows *rows)
{
	rows->nleft = 0;
	rows->cursor = NOWHERE;
}

/* ---- keys ---- */

static bool is_text(const struct sonde_view *view, uint32_t key)
{
	return view->schema->columns[key].type == SONDE_STR;
}

/* The slot of a key column; 0 where it is absent. Keys come first, so a key's slot is its column. */
static uint64_t key_slot(const struct sonde_view *view, uint32_t index, uint32_t key)
{
	return sonde_view_has(view, index, key) ? sonde_view_slots(view, index)[key] : 0;
}

static bool same_keys(const struct rows *rows, const struct row *row, const struct sonde_view *view,
		      uint32_t index)
{
	for (uint32_t key = 0; key < rows->nkeys; key++) {
		uint64_t slot = key_slot(view, index, key);
		uint32_t length;
		const char *bytes;

		if (!is_text(view, key)) {
			if (row->keys[key] != slot)
				return false;
			continue;
		}
		bytes = sonde_view_bytes(view, slot, &length);
		if ((uint32_t)row->keys[key] != length ||
		    (length && memcmp(row->text + (row->keys[key] >> 32), bytes, length) != 0))
			return false;
	}
	return true;
}

static uint64_t hash_keys(const struct rows *rows, const struct sonde_view *view, uint32_t index)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (uint32_t key = 0; key < rows->nkeys; key++) {
		uint64_t slot = key_slot(view, index, key);
		uint32_t length;
		const char *bytes;

		if (!is_text(view, key)) {
			hash = (hash ^ slot) * 0x100000001b3u;
			hash ^= hash >> 29;
			continue;
		}
		bytes = sonde_view_bytes(view, slot, &length);
		for (uint32_t i = 0; i < length; i++)
			hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	}
	return hash;
}

static bool copy_keys(const struct rows *rows, struct row *row, const struct sonde_view *view,
		      uint32_t index)
{
	size_t used = 0;

	for (uint32_t key = 0; key < rows->nkeys; key++)
		if (is_text(view, key))
			used += (uint32_t)key_slot(view, index, key);
	if (used) {
		row->text = malloc(used);
		if (!row->text)
			return false;
	}
	used = 0;
	for (uint32_t key = 0; key < rows->nkeys; key++) {
		uint64_t slot = key_slot(view, index, key);
		uint32_t length;
		const char *bytes;

		row->keys[key] = slot;
		if (!is_text(view, key))
			continue;
		bytes = sonde_view_bytes(view, slot, &length);
		if (length && row->text)
			memcpy(row->text + used, bytes, length);
		row->keys[key] = (uint64_t)used << 32 | length;
		used += length;
	}
	return true;
}

/* ---- making ---- */

static struct row *new_row(struct rows *rows)
{
	size_t nwords = (rows->nbound + 63) / 64, pwords = (rows->nprobes + 63) / 64;
	size_t size = sizeof(struct row) + rows->nkeys * sizeof(uint64_t) +
		      (rows->nprobes + pwords + nwords) * sizeof(uint64_t) +
		      rows->nbound * (sizeof(struct series *) + 1);
	struct row *row = rows->free;
	char *at;

	if (row) {
		rows->free = row->next;
		free(row->text);
		memset(row, 0, size);
	} else {
		row = calloc(1, size);
		if (!row)
			return NULL;
	}
	at = (char *)(row + 1);
	row->keys = (uint64_t *)at;
	at += rows->nkeys * sizeof(uint64_t);
	row->base = (uint64_t *)at;
	at += rows->nprobes * sizeof(uint64_t);
	row->series = (struct series **)at;
	at += rows->nbound * sizeof(struct series *);
	row->lags = (uint64_t *)at;
	at += nwords * sizeof(uint64_t);
	row->have = (uint64_t *)at;
	at += pwords * sizeof(uint64_t);
	row->given = (uint8_t *)at;
	return row;
}

static void grow_buckets(struct rows *rows)
{
	uint32_t n = rows->nbuckets * 2;
	struct row **buckets = calloc(n, sizeof(struct row *));

	if (!buckets)
		return;
	for (uint32_t i = 0; i < rows->nbuckets; i++) {
		for (struct row *row = rows->buckets[i], *next; row; row = next) {
			struct row **bucket = &buckets[row->hash & (n - 1)];

			next = row->next;
			row->next = *bucket;
			*bucket = row;
		}
	}
	free(rows->buckets);
	rows->buckets = buckets;
	rows->nbuckets = n;
}

static bool make_places(struct rows *rows, uint32_t nrows)
{
	uint32_t capacity = rows->capacity ? rows->capacity : 16;
	struct row **at, **left;

	if (nrows > rows->capacity) {
		while (capacity < nrows)
			capacity *= 2;
		at = realloc(rows->at, capacity * sizeof(struct row *));
		if (!at)
			return false;
		rows->at = at;
		left = realloc(rows->left, capacity * sizeof(struct row *));
		if (!left)
			return false;
		rows->left = left;
		rows->capacity = capacity;
	}
	while (rows->nat < nrows)
		rows->at[rows->nat++] = NULL;
	return true;
}

static struct row *find(struct rows *rows, const struct sonde_view *view, uint32_t index,
			bool *fresh)
{
	uint64_t hash = hash_keys(rows, view, index);
	struct row *row = rows->buckets[hash & (rows->nbuckets - 1)];

	while (row && (row->hash != hash || !same_keys(rows, row, view, index)))
		row = row->next;
	/* A view that has the same keys twice: the second row goes without. */
	*fresh = !row;
	if (row)
		return row;
	if (rows->count >= rows->nbuckets)
		grow_buckets(rows);
	row = new_row(rows);
	if (!row)
		return NULL;
	row->hash = hash;
	if (!copy_keys(rows, row, view, index)) {
		row->next = rows->free;
		rows->free = row;
		return NULL;
	}
	row->next = rows->buckets[hash & (rows->nbuckets - 1)];
	rows->buckets[hash & (rows->nbuckets - 1)] = row;
	rows->count++;
	return row;
}

struct row *rows_at(struct rows *rows, const struct sonde_view *view, uint32_t index, bool *fresh)
{
	struct row *here, *row;

	*fresh = false;
	if (rows->nat < view->nrows && !make_places(rows, view->nrows))
		return NULL;
	here = rows->at[index];
	if (here && here->at == index && !here->left && same_keys(rows, here, view, index))
		return here;
	row = find(rows, view, index, fresh);
	if (!row)
		return NULL;
	if (here && here != row && here->at == index && !here->left &&
	    rows->nleft < rows->capacity) {
		here->left = true;
		rows->left[rows->nleft++] = here;
	}
	row->at = index;
	row->left = false;
	rows->at[index] = row;
	return row;
}

struct row *rows_gone(struct rows *rows, uint32_t nrows)
{
	if (rows->cursor == NOWHERE) {
		rows->cursor = nrows;
	}
	while (rows->nleft) {
		struct row *row = rows->left[--rows->nleft];

		if (row->left)
			return row;
	}
	while (rows->cursor < rows->nat) {
		uint32_t place = rows->cursor++;
		struct row *row = rows->at[place];

		rows->at[place] = NULL;
		if (row && row->at == place && !row->left)
			return row;
	}
	if (rows->nat > nrows)
		rows->nat = nrows;
	return NULL;
}

struct row *rows_any(const struct rows *rows, uint32_t *from)
{
	for (; *from < rows->nbuckets; (*from)++)
		if (rows->buckets[*from])
			return rows->buckets[*from];
	return NULL;
}

void rows_remove(struct rows *rows, struct row *row)
{
	struct row **at = &rows->buckets[row->hash & (rows->nbuckets - 1)];

	while (*at != row)
		at = &(*at)->next;
	*at = row->next;
	rows->count--;
	if (row->at < rows->nat && rows->at[row->at] == row)
		rows->at[row->at] = NULL;
	row->next = rows->free;
	rows->free = row;
}
