/* The slices of a stream: cells by key, the lightest merged, twice as wide when they run out. */
#include <stdlib.h>
#include <string.h>

#include "window/slice.h"

enum { CELLS_FIRST = 1 };

static const char other_key[] = "other";

void slice_drop(struct store *store, struct slice *slice)
{
	if (!slice->cells)
		return;
	for (uint32_t i = 0; i < slice->ncells; i++)
		name_put(store->names, slice->cells[i].name);
	free(slice->cells);
	*slice = (struct slice) { 0 };
}

static int by_name(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->name->id != y->name->id)
		return x->name->id < y->name->id ? -1 : 1;
	return x->second < y->second ? -1 : x->second > y->second;
}

void cell_add_held(struct cell *to, const struct cell *from)
{
	if (!from->held_end)
		return;
	if (!to->held_end || from->held_begin < to->held_begin)
		to->held_begin = from->held_begin;
	if (from->held_end > to->held_end)
		to->held_end = from->held_end;
	if (!to->stretches || from->held_max > to->held_max)
		to->held_max = from->held_max;
	to->held_time += from->held_time;
	to->held_numerator += from->held_numerator;
	to->held_denominator += from->held_denominator;
}

/* Two keys, or one key's two stretches of time, `from` the later one. */
static void add_cell(struct cell *to, const struct cell *from)
{
	cell_add_held(to, from);
	to->numerator += from->numerator;
	to->denominator += from->denominator;
	to->observed += from->observed;
	to->last = from->last;
	if (from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count += from->count;
	to->resets = (uint16_t)(to->resets + from->resets);
	to->stretches = (uint16_t)(to->stretches + from->stretches);
}

/* One cell a key. */
static void join_doubles(struct store *store, struct slice *slice)
{
	struct cell *cells = slice->cells;
	uint32_t n = 0;

	if (!slice->doubles || !slice->ncells)
		return;
	qsort(cells, slice->ncells, sizeof *cells, by_name);
	for (uint32_t i = 0; i < slice->ncells; i++) {
		if (n && cells[n - 1].name == cells[i].name) {
			add_cell(&cells[n - 1], &cells[i]);
			name_put(store->names, cells[i].name);
		} else {
			cells[n++] = cells[i];
		}
	}
	slice->ncells = n;
	slice->doubles = false;
}

struct weight {
	double weight;
	uint32_t id, cell;
};

/* Whether a key gives way to another; the id, the order of appearance, makes it the same on every run. */
static bool is_lighter(const struct weight *a, const struct weight *b)
{
	return a->weight != b->weight ? a->weight < b->weight : a->id > b->id;
}

/* Of a heap with its lightest on top, item `at` may be too heavy for its place. */
static void sift_down(struct weight *heap, uint32_t n, uint32_t at)
{
	const struct weight item = heap[at];

	for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && is_lighter(&heap[child + 1], &heap[child]))
			child++;
		if (!is_lighter(&heap[child], &item))
			break;
		heap[at] = heap[child];
	}
	heap[at] = item;
}

/* Marks the `keep` heaviest of `n` cells, which are more. */
static void mark_heaviest(const struct cell *cells, uint32_t n, uint32_t keep, bool *kept)
{
	struct weight heap[STORE_KEYS] = { 0 };

	for (uint32_t i = 0; i < keep; i++)
		heap[i] = (struct weight) { cells[i].numerator, cells[i].name->id, i };
	for (uint32_t i = keep / 2; i--;)
		sift_down(heap, keep, i);
	for (uint32_t i = keep; i < n; i++) {
		const struct weight weight = { cells[i].numerator, cells[i].name->id, i };

		if (!is_lighter(&heap[0], &weight))
			continue;
		heap[0] = weight;
		sift_down(heap, keep, 0);
	}
	memset(kept, false, n);
	for (uint32_t i = 0; i < keep; i++)
		kept[heap[i].cell] = true;
}

/* No more keys than the stream keeps: the lightest become "other". Those that stay keep their order. */
static void prune(struct store *store, struct slice *slice)
{
	bool kept[2 * STORE_OPEN_KEYS]; /* of two slices that become one */
	struct cell *cells = slice->cells;
	struct cell rest = { 0 };
	uint32_t n = 0;

	join_doubles(store, slice);
	if (slice->ncells <= store->keys)
		return;
	rest.name = name_get(store->names, other_key);
	if (!rest.name) {
		store->no_memory = true;
		return;
	}
	mark_heaviest(cells, slice->ncells, store->keys - 1, kept);
	for (uint32_t i = 0; i < slice->ncells; i++) {
		if (kept[i]) {
			cells[n++] = cells[i];
			continue;
		}
		if (!rest.count)
			rest = (struct cell) { .name = rest.name,
					       .first = cells[i].first,
					       .min = cells[i].min,
					       .max = cells[i].max,
					       .second = cells[i].second };
		add_cell(&rest, &cells[i]);
		name_put(store->names, cells[i].name);
	}
	store->merged += slice->ncells - n;
	cells[n++] = rest;
	slice->ncells = n;
	/* "other" may have been among those that stay. */
	slice->doubles = true;
}

static bool room(struct store *store, struct slice *slice, uint32_t ncells)
{
	uint32_t capacity = CELLS_FIRST;
	struct cell *cells;

	if (!slice->cells) {
		slice->cells = store->spare.cells;
		slice->capacity = store->spare.capacity;
		store->spare = (struct slice) { 0 };
	}
	if (ncells <= slice->capacity)
		return true;
	while (capacity < ncells)
		capacity *= 2;
	cells = realloc(slice->cells, capacity * sizeof *cells);
	if (!cells)
		return false;
	slice->cells = cells;
	slice->capacity = capacity;
	return true;
}

/* Nothing is added to it soon: its cells move to where they just fit. */
static void trim(struct store *store, struct slice *slice)
{
	struct cell *cells;

	if (!slice->ncells || slice->capacity == slice->ncells)
		return;
	cells = malloc(slice->ncells * sizeof *cells);
	if (!cells)
		return;
	memcpy(cells, slice->cells, slice->ncells * sizeof *cells);
	if (store->spare.capacity < slice->capacity) {
		free(store->spare.cells);
		store->spare.cells = slice->cells;
		store->spare.capacity = slice->capacity;
	} else {
		free(slice->cells);
	}
	slice->cells = cells;
	slice->capacity = slice->ncells;
}

static void take_over(struct slice *into, struct slice *from)
{
	if (!from->ncells)
		return;
	memcpy(into->cells + into->ncells, from->cells, from->ncells * sizeof *from->cells);
	if (!into->ncells || from->begin < into->begin)
		into->begin = from->begin;
	if (from->end > into->end)
		into->end = from->end;
	into->ncells += from->ncells;
}

static void merge_pair(struct store *store, struct slice *into, struct slice *a, struct slice *b)
{
	struct slice both = { .doubles = true };

	if (!a->ncells && !b->ncells)
		return;
	if (!room(store, &both, a->ncells + b->ncells)) {
		store->no_memory = true;
		slice_drop(store, a);
		slice_drop(store, b);
		return;
	}
	take_over(&both, a);
	take_over(&both, b);
	free(a->cells);
	free(b->cells);
	*a = *b = (struct slice) { 0 };
	prune(store, &both);
	trim(store, &both);
	*into = both;
}

static void double_width(struct store *store)
{
	for (uint32_t i = 0; i < STORE_SLICES / 2; i++)
		merge_pair(store, &store->slices[i], &store->slices[2 * i],
			   &store->slices[2 * i + 1]);
	store->shift++;
	store->open /= 2;
	store->generation++;
}

struct slice *slice_open(struct store *store, uint64_t index)
{
	while (index >> store->shift >= STORE_SLICES)
		double_width(store);
	index >>= store->shift;
	if (index > store->open) {
		prune(store, &store->slices[store->open]);
		trim(store, &store->slices[store->open]);
		store->open = (uint32_t)index;
		store->generation++;
	}
	return &store->slices[index];
}

struct cell *slice_cell_new(struct store *store, struct series *series, struct slice *slice)
{
	bool open = slice == &store->slices[store->open];
	struct cell *cell;

	if (slice->ncells >= STORE_OPEN_KEYS) {
		prune(store, slice);
		if (open)
			store->generation++;
	}
	if (!room(store, slice, slice->ncells + 1)) {
		store->no_memory = true;
		return NULL;
	}
	cell = &slice->cells[slice->ncells];
	*cell = (struct cell) { .name = series->name };
	/* It may have one already: of a second that was closed late, or before the lightest were taken out. */
	if (!open || series->slice == (uint32_t)(slice - store->slices))
		slice->doubles = true;
	series->slice = (uint32_t)(slice - store->slices);
	series->name->refs++;
	if (open) {
		series->cell = slice->ncells;
		series->generation = store->generation;
	}
	slice->ncells++;
	return cell;
}
