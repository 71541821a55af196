/* One table of one sender as it comes by. Work is in proportion to what changed, as far as the streams allow. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"
#include "window/tracked.h"

/* ---- rows ---- */

/* Whether a row that is seen for the first time began after the view before: then it counted from 0, and all of that is
 * of this interval. */
static bool is_born(const struct track *track, const struct sonde_view *view, uint32_t index,
		    uint64_t *birth)
{
	if (track->birth_slot < 0 || !track->time || !track->complete ||
	    !sonde_view_has(view, index, (uint32_t)track->birth_slot))
		return false;
	*birth = (uint64_t)((double)sonde_view_slots(view, index)[track->birth_slot] *
			    track->birth_scale);
	/* In ticks: it may have begun that much later. */
	return (double)*birth + track->birth_scale > (double)track->time;
}

/* A view, and what is known of it. */
struct fold {
	const struct sonde_view *view;
	const struct view_changes *changes; /* NULL: not known */
	struct folding folding; /* of its rows, but for the row itself; from the view before */
	bool valid;             /* there is one, and nothing broke in it */
};

static void over(struct folding *folding, const struct stream *stream, uint64_t from, uint64_t to)
{
	folding->seen = (struct seen) {
		.from = from, .to = to, .count = 1, .index = store_index(&stream->store, from, to)
	};
	folding->ns = (double)(to - from);
	folding->seconds = folding->ns / 1e9;
}

/* Whether none of the keys is among these slots: then the row at this index is the one that was there before. */
static bool is_known(const struct track *track, const uint64_t *slots)
{
	uint32_t nkeys = track->rows.nkeys, w = 0;

	for (; nkeys >= 64; nkeys -= 64)
		if (slots[w++])
			return false;
	return !nkeys || !(slots[w] << (64 - nkeys));
}

static bool has_slot(const uint64_t *slots, int slot)
{
	return slot >= 0 && slots[slot >> 6] >> (slot & 63) & 1;
}

/* Whether any of a set of slots changed; `slots` NULL: any may have. */
static inline bool has_any(const struct track *track, const uint64_t *slots, const uint64_t *set)
{
	uint64_t any = 0;

	for (uint32_t w = 0; w < track->schema->nhave; w++)
		any |= (slots ? slots[w] : UINT64_MAX) & set[w];
	return any;
}

static struct row *row_at(struct track *track, const struct fold *fold, uint32_t index,
			  const uint64_t *slots, bool *fresh)
{
	struct row *row = slots && is_known(track, slots) ? rows_known(&track->rows, index) : NULL;

	*fresh = false;
	return row ? row : rows_at(&track->rows, fold->view, index, fresh);
}

/* A row that was not there in the view before. */
static void take_fresh(struct track *track, const struct fold *fold, struct folding *folding)
{
	uint64_t birth;

	track_join(track, folding->row, fold->view, folding->index);
	if (!fold->valid || !is_born(track, fold->view, folding->index, &birth))
		return;
	memset(folding->row->have, 0xff, track->pwords * sizeof *folding->row->have);
	if (birth > folding->seen.from && birth < folding->seen.to)
		over(folding, track->bound->stream, birth, folding->seen.to);
}

/* The row as a whole began anew. */
static int count_resets(struct track *track, const struct folding *folding)
{
	lag_end(track, folding->row);
	memset(folding->row->given, (int)track->now, track->nbound);
	for (uint32_t i = 0; i < track->nbound; i++) {
		struct series *series;

		/* Of one that is told of by what grows alone, silence is 0. */
		track->bound[i].refused = track->bound[i].refused || track->bound[i].takes_zero;
		if (track->bound[i].reduces || folding->row->series[i] == &series_of_others)
			continue;
		series = track_series(track, folding, i);
		if (!series)
			return -ENOMEM;
		series->resets++;
	}
	return 0;
}

/* A row whose slots with a bit in `slots` changed; NULL: any of them. */
static int fold_row(struct track *track, const struct fold *fold, uint32_t index,
		    const uint64_t *slots)
{
	struct folding folding = fold->folding;
	bool fresh;

	folding.row = row_at(track, fold, index, slots, &fresh);
	if (!folding.row)
		return -ENOMEM;
	folding.index = index;
	folding.have = sonde_view_have(fold->view, index);
	folding.slots = sonde_view_slots(fold->view, index);
	if (fresh) {
		slots = NULL;
		take_fresh(track, fold, &folding);
	}
	if (!slots || has_slot(slots, track->label_slot))
		track_label(track, folding.row, fold->view, index);
	if (!fresh && has_any(track, slots, track->loosening))
		track_move(track, folding.row, fold->view, index, slots);
	track->stamp++;
	if (!track_read(track, &folding, slots))
		return count_resets(track, &folding);
	if (fold->valid)
		return track_give(track, &folding);
	return track->lone ? track_give_lone(track, &folding) : 0;
}

/* All rows, of which it is not known what changed. */
static int fold_all(struct track *track, const struct fold *fold)
{
	int err = 0;

	for (uint32_t i = 0; i < fold->view->nrows && !err; i++)
		err = fold_row(track, fold, i, NULL);
	return err;
}

/* Room for what changed of each row. NULL without memory. */
static const uint64_t **slots_of(struct track *track, uint32_t nrows)
{
	const uint64_t **slots = track->slots_of;

	if (nrows <= track->nslots_of)
		return slots;
	slots = realloc(slots, 2 * (size_t)nrows * sizeof(const uint64_t *));
	if (!slots)
		return NULL;
	track->slots_of = slots;
	track->nslots_of = 2 * nrows;
	return slots;
}

/* All rows in their order, of which it is known what changed. */
static int fold_known(struct track *track, const struct fold *fold)
{
	enum { WORDS = SCHEMA_MAX_SLOTS / 64 };
	static const uint64_t nothing[WORDS], all[WORDS] = { [0 ... WORDS - 1] = UINT64_MAX };
	const struct sonde_view *view = fold->view;
	const uint64_t **slots = slots_of(track, view->nrows);
	int err = 0;

	if (!slots)
		return view->nrows ? -ENOMEM : 0;
	for (uint32_t i = 0; i < view->nrows; i++)
		slots[i] = nothing;
	for (uint32_t i = 0; i < fold->changes->nmoved; i++)
		slots[fold->changes->moved[i]] = all;
	for (uint32_t i = 0; i < view->nchanged; i++)
		slots[view->changed[i]] = fold->changes->slots + (size_t)i * view->schema->nhave;
	for (uint32_t i = 0; i < view->nrows && !err; i++)
		err = fold_row(track, fold, i, slots[i]);
	return err;
}

/* Only the rows that changed, or stand at another index. */
static int fold_changed(struct track *track, const struct fold *fold)
{
	const struct sonde_view *view = fold->view;
	const struct view_changes *changes = fold->changes;
	int err = 0;

	for (uint32_t i = 0; i < changes->nmoved && !err; i++)
		err = fold_row(track, fold, changes->moved[i], NULL);
	for (uint32_t i = 0; i < view->nchanged && !err; i++) {
		const uint64_t *slots = changes->slots + (size_t)i * view->schema->nhave;

		/* Else it is nothing to its streams, nor what it is known by. */
		if (has_any(track, slots, track->concern))
			err = fold_row(track, fold, view->changed[i], slots);
	}
	return err;
}

/* ---- a view ---- */

/* Whether any row ever had a value of each column that the stream needs. */
static bool has_columns(const struct track *track, const struct bound *bound)
{
	bool any = false;

	for (uint32_t i = 0; i < bound->nterms; i++) {
		bool seen = track->probes.probes[bound->terms[i].probe].seen;

		if (!seen && !bound->terms[i].optional)
			return false;
		any = any || seen;
	}
	return any;
}

/* Which streams gain something from a row in which a term's column moved. */
static void add_term(struct track *track, uint32_t stream, const struct term *term)
{
	set_add(track->readers + term->probe * track->nwords, stream);
	if (track->bound[stream].growth && !term->optional)
		set_add(track->summed, term->probe);
}

static void find_readers(struct track *track)
{
	track_settle(track);
	memset(track->readers, 0,
	       ((size_t)track->probes.count + 3) * track->nwords * sizeof *track->readers);
	memset(track->summed, 0, track->pwords * sizeof *track->summed);
	track->nreducing = 0;
	for (uint32_t i = 0; i < track->nbound; i++) {
		const struct bound *bound = &track->bound[i];

		if (!has_columns(track, bound))
			continue;
		if (bound->reduces)
			track->reducing[track->nreducing++] = i;
		if (bound->still)
			set_add(bound->lags ? track->lagging : track->still, i);
		if (bound->growth)
			set_add(track->growers, i);
		track->growing = track->growing || bound->growth;
		for (uint32_t t = 0; t < bound->nterms; t++)
			add_term(track, i, &bound->terms[t]);
	}
	track->stale = false;
	track->look = track->past;
}

static void begin_view(struct track *track)
{
	if (track->stale)
		find_readers(track);
	rows_begin(&track->rows);
}

/* The rows are those of the view before, as they were. */
static bool is_still(const struct track *track, const struct sonde_view *view,
		     const struct view_changes *changes)
{
	return !view->nchanged && !changes->nmoved && view->nrows == track->rows.nat;
}

static int fold_rows(struct track *track, const struct fold *fold, bool known)
{
	bool all = track->all_rows || track->look || (track->lone && !fold->valid);
	struct row *gone;
	int err;

	track->look = false;
	if (known && !all && is_still(track, fold->view, fold->changes))
		return 0;
	err = !known ? fold_all(track, fold)
	      : all  ? fold_known(track, fold)
		     : fold_changed(track, fold);
	while ((gone = rows_gone(&track->rows, fold->view->nrows)))
		track_leave(track, gone);
	return err;
}

static int fold_view(struct track *track, const struct sonde_view *view,
		     const struct view_changes *changes, bool broken)
{
	uint64_t now = view_time(view);
	struct fold fold = { .view = view,
			     .changes = changes,
			     .folding.view = view,
			     .valid = track->time && now > track->time && !broken };
	bool known = view->changed && changes && track->time && view->schema == track->schema;
	int err;

	track->schema = view->schema;
	/* An instant that stands alone weighs next to nothing beside others. */
	over(&fold.folding, track->bound->stream, fold.valid ? track->time : now - (now > 0), now);
	begin_view(track);
	lag_view(track, &fold.folding.seen, fold.valid);
	err = fold_rows(track, &fold, known);
	if (!err && fold.valid)
		err = track_give_reduced(track, &fold.folding);
	lag_viewed(track, &fold.folding.seen, fold.valid);
	return err;
}

/* Without streams there is nothing to follow but that the table exists. */
int track_view(struct track *track, const struct sonde_view *view,
	       const struct view_changes *changes, bool broken)
{
	int err = track->nbound ? fold_view(track, view, changes, broken) : 0;

	track->schema = view->schema;
	track->complete = !(view->flags & SONDE_PARTIAL);
	track->time = view_time(view);
	return err;
}

uint64_t track_time(const struct track *track)
{
	return track->time;
}
