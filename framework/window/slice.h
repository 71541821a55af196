/* The slices of a stream, for store.c alone. */
#ifndef WINDOW_SLICE_H
#define WINDOW_SLICE_H

#include "window/store.h"

/* For slice_at() and slice_cell(): where it is not the open one, has no cell yet. */
struct slice *slice_open(struct store *store, uint64_t index);
struct cell *slice_cell_new(struct store *store, struct series *series, struct slice *slice);

/* The slice that holds this second of the window; those before it are closed. */
static inline struct slice *slice_at(struct store *store, uint64_t index)
{
	return index >> store->shift == store->open ? &store->slices[store->open]
						    : slice_open(store, index);
}

/* The cell of a series in it, valid until the next call; NULL without memory. */
static inline struct cell *slice_cell(struct store *store, struct series *series,
				      struct slice *slice)
{
	return slice == &store->slices[store->open] && series->generation == store->generation
		       ? &slice->cells[series->cell]
		       : slice_cell_new(store, series, slice);
}

/* Adds what held in one cell to what held in another. */
void cell_add_held(struct cell *to, const struct cell *from);

/* Forgets all cells of a slice. */
void slice_drop(struct store *store, struct slice *slice);

#endif
