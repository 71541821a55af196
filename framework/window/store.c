/* What a stream keeps of time: seconds become part of slices, and stretches above the threshold are told exactly. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "window/slice.h"

enum { BUCKETS_FIRST = 16 };

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

void store_free(struct store *store)
{
	for (uint32_t i = 0; store->slices && i < STORE_SLICES; i++)
		slice_drop(store, &store->slices[i]);
	for (uint32_t i = 0; i < store->nbuckets; i++) {
		for (struct series *series = store->buckets[i], *next; series; series = next) {
			next = series->next;
			name_put(store->names, series->name);
			free(series);
		}
	}
	for (struct series *series = store->unused, *next; series; series = next) {
		next = series->next;
		free(series);
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
	series = store->unused;
	if (series)
		store->unused = series->next;
	else
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

static double piece_value(const struct piece *piece)
{
	return piece->denominator > 0 ? piece->numerator / piece->denominator : piece->last;
}

/* Whether another stream was above its threshold in this second. */
static bool above_at(const struct store *store, uint64_t index);

static bool is_above(const struct store *store, const struct piece *piece)
{
	double span;

	if (!store->has_threshold || piece_value(piece) <= store->threshold)
		return false;
	span = (double)piece->observed / (store->floor_of_time ? 1 : 1e9);
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

	cell_add_held(cell, &held);
	if (!run->confirmed)
		cell->stretches++;
	run->confirmed = true;
}

/* Whether a stretch goes on with this second. In between it may have had no value: the kernel counts a wait when it is over, so
 * who waits longest counts nothing for longest. Where whole seconds had none, what is counted now has to reach back to the last
 * value; many threads count that much in no time, so it is believed for no longer than the stream takes to hold. */
static bool goes_on(const struct store *store, const struct run *run, const struct piece *piece)
{
	uint64_t pause = piece->begin - run->end;

	if (!run->end || !pause || piece->index == run->index + 1)
		return run->end != 0;
	return store->floor_of_time && pause <= store->hold && piece->denominator >= (double)pause;
}

/* What of this second belongs to the stretch, as far as is known: without what came before the first value above where it
 * begins, and without what came after the last one until it goes on. */
static struct part take_part(const struct store *store, struct run *run, const struct piece *piece)
{
	struct part part = piece->core;

	if (!goes_on(store, run, piece)) {
		*run = (struct run) { .begin = piece->core_begin, .max = piece_value(piece) };
	} else {
		part = run->tail;
		part.time += piece->observed - piece->tail.time;
		part.numerator += piece->numerator - piece->tail.numerator;
		part.denominator += piece->denominator - piece->tail.denominator;
	}
	run->end = piece->end;
	run->index = piece->index;
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
	part = take_part(store, run, piece);
	add_part(&run->sum, &part);
	if (piece_value(piece) > run->max)
		run->max = piece_value(piece);
	if (run->confirmed || store_lasts(run->sum.time, store->hold))
		hold(cell, run, &part);
}

static void close_piece(struct store *store, struct series *series)
{
	const struct piece *piece = &series->piece;
	bool above = is_above(store, piece);
	struct slice *slice = slice_at(store, piece->index);
	struct cell *cell = slice_cell(store, series, slice);

	series->open = false;
	if (store->asked && series == store->single)
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

/* Of its first value. What follow_core() fills is of streams with a threshold alone. */
static void begin_piece(const struct store *store, struct series *series, const struct seen *seen)
{
	struct piece *piece = &series->piece;

	piece->index = seen->index;
	piece->begin = seen->from;
	piece->end = seen->to;
	piece->observed = seen->to - seen->from;
	piece->count = seen->count;
	piece->first = piece->last = piece->min = piece->max = seen->value;
	piece->numerator = seen->numerator;
	piece->denominator = seen->denominator;
	if (store->has_threshold)
		piece->core = piece->tail = (struct part) { 0 };
	series->open = true;
}

static void add_to_piece(struct piece *piece, const struct seen *seen)
{
	piece->end = seen->to;
	piece->observed += seen->to - seen->from;
	piece->count += seen->count;
	piece->last = seen->value;
	if (seen->value < piece->min)
		piece->min = seen->value;
	if (seen->value > piece->max)
		piece->max = seen->value;
	piece->numerator += seen->numerator;
	piece->denominator += seen->denominator;
}

/* Whether a value is all that there is of its second, the next being of another, and holds nothing. */
static bool is_alone(const struct store *store, const struct seen *seen, uint32_t n)
{
	return n > 1 && seen[0].index != seen[1].index && !store->asked &&
	       (!store->has_threshold || seen->value <= store->threshold);
}

/* Values that are alone, of the same slice as the first: what closing a piece of each would come to. Returns how many of the `n`. */
static uint32_t add_alone(struct store *store, struct series *series, const struct seen *seen,
			  uint32_t n)
{
	struct slice *slice = slice_at(store, seen->index);
	struct cell *cell = slice_cell(store, series, slice);
	uint64_t place = seen->index >> store->shift, count = 0;
	uint32_t i = 0;

	if (!cell)
		return 0;
	if (!cell->count) {
		cell->first = cell->min = cell->max = (float)seen->value;
		cell->second = (uint32_t)seen->index;
	}
	if (!slice->end || seen->from < slice->begin)
		slice->begin = seen->from;
	for (; is_alone(store, seen, n - i) && seen->index >> store->shift == place; i++, seen++) {
		cell->numerator += seen->numerator;
		cell->denominator += seen->denominator;
		cell->observed += (float)(seen->to - seen->from);
		count += seen->count;
		cell->last = (float)seen->value;
		if (cell->last < cell->min)
			cell->min = cell->last;
		if (cell->last > cell->max)
			cell->max = cell->last;
	}
	if (seen[-1].to > slice->end)
		slice->end = seen[-1].to;
	cell->count += (uint32_t)count;
	cell->resets = (uint16_t)(cell->resets + series->resets);
	series->resets = 0;
	series->run.end = 0;
	return i;
}

void store_add(struct store *store, struct series *series, const struct seen *seen, uint32_t n)
{
	struct piece *piece = &series->piece;

	for (; n; n--, seen++) {
		if (series->open && piece->index != seen->index)
			close_piece(store, series);
		if (!series->open && is_alone(store, seen, n)) {
			uint32_t alone = add_alone(store, series, seen, n);

			n -= alone;
			seen += alone;
		}
		if (series->open)
			add_to_piece(piece, seen);
		else
			begin_piece(store, series, seen);
		if (store->has_threshold)
			follow_core(store, piece, seen);
	}
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
	series->next = store->unused;
	store->unused = series;
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
		slice_drop(store, &store->slices[i]);
	store->shift = store->open = store->nrecent = 0;
	store->generation++;
	store->merged = 0;
}
