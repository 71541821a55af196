/* The slices of a stream gathered into series, heaviest first, for judge(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "window/store.h"

/* A cell and where it stands. */
struct place {
	const struct cell *cell;
	uint32_t id, slice; /* of its name */
};

static int by_name(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static int by_slice(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return by_name(a, b);
}

/* One name: where its places begin, and how heavy it is. */
struct group {
	uint32_t first, count;
	double weight;
	uint32_t id;
	bool other;
};

static int by_weight(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->other != y->other)
		return x->other ? 1 : -1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void gather(const struct store *store, struct place *places)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < STORE_SLICES; s++) {
		const struct slice *slice = &store->slices[s];

		for (uint32_t c = 0; c < slice->ncells; c++)
			places[n++] =
				(struct place) { &slice->cells[c], slice->cells[c].name->id, s };
	}
	qsort(places, n, sizeof *places, by_name);
}

static uint32_t make_groups(const struct place *places, uint32_t n, struct group *groups)
{
	uint32_t ngroups = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!i || places[i - 1].id != places[i].id)
			groups[ngroups++] = (struct group) {
				.first = i,
				.id = places[i].id,
				.other = strcmp(places[i].cell->name->key, "other") == 0,
			};
		groups[ngroups - 1].count++;
		groups[ngroups - 1].weight += places[i].cell->numerator;
	}
	qsort(groups, ngroups, sizeof *groups, by_weight);
	return ngroups;
}

static void add_to_slice(struct sonde_slice *to, const struct cell *cell, const struct slice *slice)
{
	if (!to->count) {
		to->begin = slice->begin;
		to->first = cell->first;
		to->min = cell->min;
		to->max = cell->max;
	}
	to->end = slice->end;
	to->observed += (uint64_t)cell->observed;
	to->above += (uint64_t)cell->held_time;
	to->count += cell->count;
	to->last = cell->last;
	if (cell->min < to->min)
		to->min = cell->min;
	if (cell->max > to->max)
		to->max = cell->max;
	to->numerator += cell->numerator;
	to->denominator += cell->denominator;
}

static void add_to_held(struct sonde_held *held, const struct cell *cell)
{
	if (!cell->held_end)
		return;
	if (!held->end || cell->held_begin < held->begin)
		held->begin = cell->held_begin;
	if (cell->held_end > held->end)
		held->end = cell->held_end;
	if (!held->time || cell->held_max > held->max)
		held->max = cell->held_max;
	held->time += (uint64_t)cell->held_time;
	held->numerator += cell->held_numerator;
	held->denominator += cell->held_denominator;
	held->stretches += cell->stretches;
}

static double at_most(double value, double most)
{
	return value > most ? most : value;
}

/* Of a counter that can't outrun the clock: its edges are read at other moments than the clock. */
static void bound_slice(const struct store *store, struct sonde_slice *slice)
{
	if (!store->wall)
		return;
	slice->numerator = at_most(slice->numerator, slice->denominator);
	slice->first = at_most(slice->first, 1);
	slice->last = at_most(slice->last, 1);
	slice->min = at_most(slice->min, 1);
	slice->max = at_most(slice->max, 1);
}

static void bound_held(const struct store *store, struct sonde_held *held)
{
	if (!store->wall)
		return;
	held->numerator = at_most(held->numerator, held->denominator);
	held->max = at_most(held->max, 1);
}

/* One series from its places, whose cells stand from list->first[i] on. */
static void fill(const struct store *store, struct series_list *list, uint32_t i,
		 const struct place *places, uint32_t n)
{
	struct sonde_series *series = &list->series[i];
	const struct name *name = places[0].cell->name;
	uint32_t at = list->first[i];

	series->key = i == STORE_SERIES ? "other" : name->key;
	series->label = name->label && i < STORE_SERIES ? name->label : series->key;
	for (uint32_t p = 0; p < n; p++, at++) {
		if (!p || places[p].slice != places[p - 1].slice)
			series->nslices++;
		add_to_slice(&series->total, places[p].cell, &store->slices[places[p].slice]);
		add_to_held(&series->held, places[p].cell);
		series->resets += places[p].cell->resets;
		list->cells[at] = places[p].cell;
		list->slice_of[at] = places[p].slice;
	}
	list->first[i + 1] = at;
	bound_slice(store, &series->total);
	bound_held(store, &series->held);
}

/* The groups past the heaviest as one series, in order of time. 0 or -ENOMEM. */
static int fill_rest(const struct store *store, struct series_list *list,
		     const struct place *places, const struct group *groups, uint32_t ngroups)
{
	uint32_t n = 0;
	struct place *rest;

	for (uint32_t g = STORE_SERIES; g < ngroups; g++)
		n += groups[g].count;
	rest = malloc((n ? n : 1) * sizeof *rest);
	if (!rest)
		return -ENOMEM;
	n = 0;
	for (uint32_t g = STORE_SERIES; g < ngroups; n += groups[g++].count)
		memcpy(rest + n, places + groups[g].first, groups[g].count * sizeof *rest);
	qsort(rest, n, sizeof *rest, by_slice);
	fill(store, list, STORE_SERIES, rest, n);
	free(rest);
	return 0;
}

static bool allocate(struct series_list *list, uint32_t ncells, uint32_t nseries)
{
	list->series = calloc(nseries, sizeof *list->series);
	list->first = calloc(nseries + 1, sizeof *list->first);
	list->cells = calloc(ncells, sizeof(const struct cell *));
	list->slice_of = calloc(ncells, sizeof *list->slice_of);
	list->buffer = malloc(STORE_SLICES * sizeof *list->buffer);
	return list->series && list->first && list->cells && list->slice_of && list->buffer;
}

int store_list(struct store *store, struct series_list *list)
{
	uint32_t ncells = 0, ngroups;
	struct place *places = NULL;
	struct group *groups = NULL;
	int err = -ENOMEM;

	*list = (struct series_list) { 0 };
	for (uint32_t i = 0; i < STORE_SLICES; i++)
		ncells += store->slices[i].ncells;
	if (!ncells)
		return 0;
	places = malloc(ncells * sizeof *places);
	groups = malloc(ncells * sizeof *groups);
	if (!places || !groups)
		goto out;
	gather(store, places);
	ngroups = make_groups(places, ncells, groups);
	list->count = ngroups > STORE_SERIES ? STORE_SERIES + 1 : ngroups;
	if (!allocate(list, ncells, list->count))
		goto out;
	err = 0;
	for (uint32_t g = 0; g < ngroups && g < STORE_SERIES; g++)
		fill(store, list, g, places + groups[g].first, groups[g].count);
	if (ngroups > STORE_SERIES)
		err = fill_rest(store, list, places, groups, ngroups);
out:
	if (err)
		series_list_free(list);
	free(groups);
	free(places);
	return err;
}

uint32_t store_slices(const struct store *store, struct series_list *list, uint32_t series)
{
	uint32_t n = 0;

	if (series >= list->count)
		return 0;
	for (uint32_t i = list->first[series]; i < list->first[series + 1]; i++) {
		bool same = n && list->slice_of[i] == list->slice_of[i - 1];

		if (!same)
			list->buffer[n++] = (struct sonde_slice) { 0 };
		add_to_slice(&list->buffer[n - 1], list->cells[i],
			     &store->slices[list->slice_of[i]]);
	}
	for (uint32_t i = 0; i < n; i++)
		bound_slice(store, &list->buffer[i]);
	return n;
}

void series_list_free(struct series_list *list)
{
	free(list->buffer);
	free(list->slice_of);
	free(list->cells);
	free(list->first);
	free(list->series);
	*list = (struct series_list) { 0 };
}
