/* What a stream keeps of time: seconds become slices, and stretches above the threshold are told exactly. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "window/store.h"

enum { BUCKETS_FIRST = 16, CELLS_FIRST = 4 };

static const char other_key[] = "other";

int store_init(struct store *store, struct names *names, const uint64_t *base, uint32_t keys)
{
	if (!keys || keys > STORE_KEYS)
		keys = STORE_KEYS;
	*store = (struct store) {
		.names = names, .base = base, .generation = 1, .keys = keys < 2 ? 2 : keys
	};
	store->slices = calloc(STORE_SLICES, sizeof *store->slices);
	return store->slices ? 0 : -ENOMEM;
}

static void drop_cells(struct store *store, struct slice *slice)
{
	for (uint32_t i = 0; i < slice->ncells; i++)
		name_put(store->names, slice->cells[i].name);
	free(slice->cells);
	*slice = (struct slice) { 0 };
}

void store_free(struct store *store)
{
	for (uint32_t i = 0; store->slices && i < STORE_SLICES; i++)
		drop_cells(store, &store->slices[i]);
	for (uint32_t i = 0; i < store->nbuckets; i++) {
		for (struct series *series = store->buckets[i], *next; series; series = next) {
			next = series->next;
			name_put(store->names, series->name);
			free(series);
		}
	}
	free(store->buckets);
	free(store->spare.cells);
	free(store->slices);
	*store = (struct store) { 0 };
}

static void grow_buckets(struct store *store)
{
	uint32_t n = store->nbuckets ? store->nbuckets * 2 : BUCKETS_FIRST;
	struct series **buckets = calloc(n, sizeof(struct series *));

	if (!buckets)
		return;
	for (uint32_t i = 0; i < store->nbuckets; i++) {
		for (struct series *series = store->buckets[i], *next; series; series = next) {
			struct series **bucket = &buckets[series->name->hash & (n - 1)];

			next = series->next;
			series->next = *bucket;
			*bucket = series;
		}
	}
	free(store->buckets);
	store->buckets = buckets;
	store->nbuckets = n;
}

struct series *store_series(struct store *store, struct name *name)
{
	struct series **bucket;
	struct series *series;

	if (store->nseries >= store->nbuckets)
		grow_buckets(store);
	if (!store->nbuckets)
		goto no_memory;
	bucket = &store->buckets[name->hash & (store->nbuckets - 1)];
	for (series = *bucket; series; series = series->next) {
		if (series->name == name) {
			name_put(store->names, name);
			series->refs++;
			return series;
		}
	}
	series = malloc(sizeof *series);
	if (!series)
		goto no_memory;
	*series =
		(struct series) { .next = *bucket, .name = name, .refs = 1, .slice = STORE_SLICES };
	*bucket = series;
	store->nseries++;
	store->single = series;
	return series;
no_memory:
	name_put(store->names, name);
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->name->id != y->name->id)
		return x->name->id < y->name->id ? -1 : 1;
	return x->second < y->second ? -1 : x->second > y->second;
}

static void add_held(struct cell *to, const struct cell *from)
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
	add_held(to, from);
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

/* Heaviest first; the id, the order of appearance, makes it the same on every run. */
static int by_weight(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_cell(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* No more keys than the stream keeps: the lightest become "other". */
static void prune(struct store *store, struct slice *slice)
{
	struct weight weights[2 * STORE_OPEN_KEYS]; /* of two slices that become one */
	struct cell *cells = slice->cells;
	struct cell rest = { 0 };
	uint32_t n;

	join_doubles(store, slice);
	n = slice->ncells;
	if (n <= store->keys)
		return;
	rest.name = name_get(store->names, other_key);
	if (!rest.name) {
		store->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		weights[i] = (struct weight) { cells[i].numerator, cells[i].name->id, i };
	qsort(weights, n, sizeof *weights, by_weight);
	for (uint32_t i = store->keys - 1; i < n; i++) {
		struct cell *cell = &cells[weights[i].cell];

		if (i == store->keys - 1)
			rest = (struct cell) { .name = rest.name,
					       .first = cell->first,
					       .min = cell->min,
					       .max = cell->max,
					       .second = cell->second };
		add_cell(&rest, cell);
		name_put(store->names, cell->name);
	}
	/* Those that stay keep their order. */
	qsort(weights, store->keys - 1, sizeof *weights, by_cell);
	for (uint32_t i = 0; i < store->keys - 1; i++)
		cells[i] = cells[weights[i].cell];
	cells[store->keys - 1] = rest;
	store->merged += n - store->keys + 1;
	slice->ncells = store->keys;
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
		drop_cells(store, a);
		drop_cells(store, b);
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

static struct slice *slice_at(struct store *store, uint64_t index)
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

static struct cell *cell_of(struct store *store, struct series *series, struct slice *slice)
{
	bool open = slice == &store->slices[store->open];
	struct cell *cell;

	if (open && series->generation == store->generation)
		return &slice->cells[series->cell];
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

static double piece_value(const struct piece *piece)
{
	return piece->denominator > 0 ? piece->numerator / piece->denominator : piece->last;
}

/* Whether another stream was above its threshold in this second. */
static bool above_at(const struct store *store, uint64_t index);

static bool is_above(const struct store *store, const struct piece *piece)
{
	double span = (double)piece->observed / (store->floor_of_time ? 1 : 1e9);

	if (!store->has_threshold || piece_value(piece) <= store->threshold)
		return false;
	if (store->floor > 0 && piece->denominator <= store->floor * span)
		return false;
	return !store->also || above_at(store->also, piece->index);
}

static bool above_at(const struct store *store, uint64_t index)
{
	const struct series *single = store->single;

	if (single && single->open && single->piece.index == index)
		return is_above(store, &single->piece);
	for (uint32_t i = 0; i < store->nrecent; i++)
		if (store->recent[i].index == index)
			return store->recent[i].above;
	return false;
}

static void remember(struct store *store, uint64_t index, bool above)
{
	const uint32_t n = sizeof store->recent / sizeof store->recent[0];

	memmove(store->recent + 1, store->recent, (n - 1) * sizeof store->recent[0]);
	store->recent[0] = (struct above) { index, above };
	if (store->nrecent < n)
		store->nrecent++;
}

static void add_part(struct part *to, const struct part *from)
{
	to->time += from->time;
	to->numerator += from->numerator;
	to->denominator += from->denominator;
}

/* Into the cell goes what is new alone where the stretch was confirmed before; where it is now, all of it. */
static void hold(struct cell *cell, struct run *run, const struct part *fresh)
{
	const struct part *part = run->confirmed ? fresh : &run->sum;
	const struct cell held = {
		.held_begin = run->begin,
		.held_end = run->last,
		.held_time = (float)part->time,
		.held_numerator = (float)part->numerator,
		.held_denominator = (float)part->denominator,
		.held_max = (float)run->max,
	};

	add_held(cell, &held);
	if (!run->confirmed)
		cell->stretches++;
	run->confirmed = true;
}

/* What of this second belongs to the stretch, as far as is known: without what came before the first value above where it
 * begins, and without what came after the last one until it goes on. */
static struct part take_part(struct run *run, const struct piece *piece)
{
	struct part part = piece->core;

	if (run->end != piece->begin) {
		*run = (struct run) { .begin = piece->core_begin, .max = piece_value(piece) };
	} else {
		part = run->tail;
		part.time += piece->observed - piece->tail.time;
		part.numerator += piece->numerator - piece->tail.numerator;
		part.denominator += piece->denominator - piece->tail.denominator;
	}
	run->end = piece->end;
	run->last = piece->core_end;
	run->tail = piece->tail;
	return part;
}

static void follow_run(const struct store *store, struct series *series, struct cell *cell,
		       bool above)
{
	const struct piece *piece = &series->piece;
	struct run *run = &series->run;
	struct part part;

	if (!above || !piece->core.time) {
		run->end = 0;
		return;
	}
	part = take_part(run, piece);
	add_part(&run->sum, &part);
	if (piece_value(piece) > run->max)
		run->max = piece_value(piece);
	/* A twentieth is forgiven: two ticks of a second are seldom two seconds. */
	if (run->confirmed || run->sum.time + run->sum.time / 20 >= store->hold)
		hold(cell, run, &part);
}

static void close_piece(struct store *store, struct series *series)
{
	const struct piece *piece = &series->piece;
	bool above = is_above(store, piece);
	struct slice *slice = slice_at(store, piece->index);
	struct cell *cell = cell_of(store, series, slice);

	series->open = false;
	if (series == store->single)
		remember(store, piece->index, above);
	if (!cell)
		return;
	if (!slice->end || piece->begin < slice->begin)
		slice->begin = piece->begin;
	if (piece->end > slice->end)
		slice->end = piece->end;
	if (!cell->count) {
		cell->first = cell->min = cell->max = (float)piece->first;
		cell->second = (uint32_t)piece->index;
	}
	cell->numerator += piece->numerator;
	cell->denominator += piece->denominator;
	cell->observed += (float)piece->observed;
	cell->last = (float)piece->last;
	if ((float)piece->min < cell->min)
		cell->min = (float)piece->min;
	if ((float)piece->max > cell->max)
		cell->max = (float)piece->max;
	cell->count += (uint32_t)piece->count;
	cell->resets = (uint16_t)(cell->resets + series->resets);
	series->resets = 0;
	follow_run(store, series, cell, above);
}

static void follow_core(const struct store *store, struct piece *piece, const struct seen *seen)
{
	const struct part part = { seen->to - seen->from, seen->numerator, seen->denominator };

	if (seen->value <= store->threshold) {
		if (piece->core.time)
			add_part(&piece->tail, &part);
		return;
	}
	if (!piece->core.time)
		piece->core_begin = seen->from;
	add_part(&piece->core, &piece->tail);
	add_part(&piece->core, &part);
	piece->tail = (struct part) { 0 };
	piece->core_end = seen->to;
}

void store_add(struct store *store, struct series *series, const struct seen *seen)
{
	struct piece *piece = &series->piece;

	if (series->open && piece->index != seen->index)
		close_piece(store, series);
	if (!series->open) {
		*piece = (struct piece) {
			.index = seen->index,
			.begin = seen->from,
			.first = seen->value,
			.min = seen->value,
			.max = seen->value,
		};
		series->open = true;
	}
	piece->end = seen->to;
	piece->observed += seen->to - seen->from;
	piece->count++;
	piece->last = seen->value;
	if (seen->value < piece->min)
		piece->min = seen->value;
	if (seen->value > piece->max)
		piece->max = seen->value;
	piece->numerator += seen->numerator;
	piece->denominator += seen->denominator;
	if (store->has_threshold)
		follow_core(store, piece, seen);
}

void store_leave(struct store *store, struct series *series)
{
	struct series **at;

	if (--series->refs)
		return;
	if (series->open)
		close_piece(store, series);
	at = &store->buckets[series->name->hash & (store->nbuckets - 1)];
	while (*at != series)
		at = &(*at)->next;
	*at = series->next;
	store->nseries--;
	if (store->single == series)
		store->single = NULL;
	name_put(store->names, series->name);
	free(series);
}

void store_settle(struct store *store)
{
	for (uint32_t i = 0; i < store->nbuckets; i++)
		for (struct series *series = store->buckets[i]; series; series = series->next)
			if (series->open)
				close_piece(store, series);
}

void store_restart(struct store *store)
{
	for (uint32_t i = 0; i < STORE_SLICES; i++)
		drop_cells(store, &store->slices[i]);
	store->shift = store->open = store->nrecent = 0;
	store->generation++;
	store->merged = 0;
}
