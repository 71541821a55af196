/* A tracker of one table of one sender: what it is made of. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"
#include "window/tracked.h"

static void find_columns(struct track *track, const struct sonde_view *view)
{
	const struct sonde_schema *schema = view->schema;
	int birth = schema_column(schema, "start_time");
	int label = schema_column(schema, "comm");

	if (label < 0)
		label = schema_column(schema, "name");
	track->label_slot = label >= 0 && schema->columns[label].type == SONDE_STR
				    ? (int)schema->slot[label]
				    : -1;
	track->birth_slot = -1;
	if (birth >= 0 && schema->columns[birth].unit == SONDE_BASE_NS) {
		track->birth_scale = column_scale(&schema->columns[birth], view->header->user_hz);
		if (track->birth_scale > 0)
			track->birth_slot = (int)schema->slot[birth];
	}
}

/* Of two sections with the same table, a stream listens to the one that came first. */
static bool listens(struct stream *stream, const struct track *track)
{
	if (strcmp(stream->declared.table, track->table) != 0)
		return false;
	if (stream->instance && stream->start_id == track->start_id)
		return strcmp(stream->instance, track->instance) == 0;
	return true;
}

static int bind_all(struct track *track, const struct sonde_view *view,
		    struct stream *const *streams, uint32_t nstreams)
{
	uint32_t nterms = 0;
	bool lags = false;

	for (uint32_t i = 0; i < nstreams; i++) {
		struct bound *bound;
		int bind;

		if (!listens(streams[i], track))
			continue;
		bound = realloc(track->bound, (track->nbound + 1) * sizeof *bound);
		if (!bound)
			return -ENOMEM;
		track->bound = bound;
		bound += track->nbound;
		bind = bind_stream(streams[i], view->schema, view->header->user_hz, &track->probes,
				   bound);
		if (bind < 0)
			return bind;
		if (!bind)
			continue;
		track->nbound++;
		track->all_rows = track->all_rows || (bound->still && !bound->lags);
		lags = lags || bound->lags;
		if (bound->nterms > nterms)
			nterms = bound->nterms;
		track->lone = track->lone || bound->lone;
		streams[i]->instance = track->instance;
		streams[i]->start_id = track->start_id;
	}
	if (lags)
		track->past = calloc(1, sizeof *track->past);
	track->weights = calloc(nterms + 1, sizeof *track->weights);
	return (track->past || !lags) && track->weights ? 0 : -ENOMEM;
}

static uint32_t sum_for(struct track *track, const struct term *terms, uint32_t nterms,
			bool numerator)
{
	struct sum *sum;
	uint32_t i = 0;

	for (; i < track->nsums; i++) {
		uint32_t same = 0;

		sum = &track->sums[i];

		if (sum->nterms != nterms || sum->numerator != numerator)
			continue;
		while (same < nterms && sum->terms[same].probe == terms[same].probe &&
		       sum->terms[same].minus == terms[same].minus &&
		       sum->terms[same].optional == terms[same].optional)
			same++;
		if (same == nterms)
			return i;
	}
	sum = &track->sums[track->nsums++];
	*sum = (struct sum) { .terms = terms, .nterms = nterms, .numerator = numerator };
	sum->members = track->sets + (size_t)i * 3 * track->pwords;
	sum->needed = sum->members + track->pwords;
	sum->less = sum->needed + track->pwords;
	for (const struct term *term = terms; term < terms + nterms; term++) {
		sum->whole = sum->whole || !term->counter || set_has(sum->members, term->probe);
		set_add(sum->members, term->probe);
		if (!term->optional)
			set_add(sum->needed, term->probe);
		if (term->minus)
			set_add(sum->less, term->probe);
	}
	return i;
}

static int find_sums(struct track *track)
{
	size_t most = 2 * (size_t)track->nbound;

	track->nwords = (track->nbound + 63) / 64;
	track->pwords = (track->probes.count + 63) / 64;
	track->sums = calloc(most + 1, sizeof *track->sums);
	track->sets = calloc(most * 3 * track->pwords + 1, sizeof *track->sets);
	if (!track->sums || !track->sets)
		return -ENOMEM;
	for (uint32_t i = 0; i < track->nbound; i++) {
		struct bound *bound = &track->bound[i];

		bound->above = sum_for(track, bound->terms, bound->nnumerator, true);
		bound->below = sum_for(track, bound->terms + bound->nnumerator,
				       bound->nterms - bound->nnumerator, false);
	}
	return 0;
}

static void find_concern(struct track *track)
{
	const struct sonde_schema *schema = track->schema;

	track->concern = track->watched + schema->nhave;
	track->loosening = track->concern + schema->nhave;
	memcpy(track->concern, track->watched, schema->nhave * sizeof *track->concern);
	for (uint32_t key = 0; key < schema->nkeys; key++)
		set_add(track->concern, schema->slot[key]);
	if (track->label_slot >= 0)
		set_add(track->concern, (uint32_t)track->label_slot);
	for (uint32_t i = 0; i < track->nbound; i++) {
		for (uint32_t key = 0; key < track->bound[i].nkey_columns; key++) {
			uint32_t slot = schema->slot[track->bound[i].key_columns[key]];

			set_add(track->concern, slot);
			if (track->bound[i].loose)
				set_add(track->loosening, slot);
		}
	}
}

/* What is looked at in each row. */
static int watch(struct track *track)
{
	const struct sonde_schema *schema = track->schema;
	uint32_t nprobes = track->probes.count;

	track->grown = calloc(2 * (size_t)nprobes + 1, sizeof *track->grown);
	track->moved = calloc(4 * (size_t)track->pwords + 1, sizeof *track->moved);
	track->layout = calloc(schema->ncolumns, sizeof *track->layout);
	track->watched = calloc(3 * (size_t)schema->nhave, sizeof *track->watched);
	track->probe_of = calloc(schema->nslots, sizeof *track->probe_of);
	track->readers = calloc(((size_t)nprobes + 3) * track->nwords + 1, sizeof *track->readers);
	track->reducing = calloc(track->nbound + 1, sizeof *track->reducing);
	track->touched =
		calloc(2 * (size_t)track->nwords + track->pwords + 1, sizeof *track->touched);
	if (!track->layout || !track->grown || !track->moved || !track->watched ||
	    !track->probe_of || !track->readers || !track->reducing || !track->touched)
		return -ENOMEM;
	track->still = track->readers + (size_t)nprobes * track->nwords;
	track->lagging = track->still + track->nwords;
	track->growers = track->lagging + track->nwords;
	track->growth = track->grown + nprobes;
	track->unknown = track->moved + track->pwords;
	track->reset = track->unknown + track->pwords;
	track->summed = track->reset + track->pwords;
	track->due = track->touched + track->nwords;
	track->grew = track->due + track->nwords;
	track->ncolumns = schema->ncolumns;
	track->nslots = schema->nslots;
	for (uint32_t i = 0; i < schema->ncolumns; i++)
		track->layout[i] = (struct layout) { schema->columns[i].type, schema->slot[i] };
	for (uint32_t i = 0; i < nprobes; i++) {
		uint32_t slot = track->probes.probes[i].slot;

		track->watched[slot >> 6] |= (uint64_t)1 << (slot & 63);
		track->probe_of[slot] = (uint16_t)i;
	}
	find_concern(track);
	track->stale = true;
	return 0;
}

struct track *track_new(const struct sonde_view *view, struct stream *const *streams,
			uint32_t nstreams, struct names *names)
{
	struct track *track = calloc(1, sizeof *track);

	if (!track)
		return NULL;
	track->names = names;
	track->schema = view->schema;
	track->hash = view->schema->hash;
	track->start_id = view->header->start_id;
	track->table = strdup(view->schema->name);
	track->instance = strdup(view->instance ? view->instance : "");
	if (!track->table || !track->instance)
		goto fail;
	find_columns(track, view);
	if (bind_all(track, view, streams, nstreams) || find_sums(track) || watch(track) ||
	    rows_init(&track->rows, view->schema, track->probes.count, track->nbound))
		goto fail;
	return track;
fail:
	track_free(track);
	return NULL;
}

/* Whether the slots are those that it was made for: a hash is no proof where a peer chose it, and the first schema may be
 * gone. */
static bool is_laid_out(const struct track *track, const struct sonde_schema *schema)
{
	if (schema->ncolumns != track->ncolumns || schema->nkeys != track->rows.nkeys ||
	    schema->nslots != track->nslots || strcmp(schema->name, track->table) != 0)
		return false;
	for (uint32_t i = 0; i < schema->ncolumns; i++)
		if (schema->columns[i].type != track->layout[i].type ||
		    schema->slot[i] != track->layout[i].slot)
			return false;
	return true;
}

bool track_is(const struct track *track, const struct sonde_view *view)
{
	return view->schema->hash == track->hash && view->header->start_id == track->start_id &&
	       strcmp(view->instance ? view->instance : "", track->instance) == 0 &&
	       (view->schema == track->schema || is_laid_out(track, view->schema));
}

bool track_saw(const struct track *track, const char *table, size_t table_length,
	       const char *column, size_t length)
{
	if (strlen(track->table) != table_length || memcmp(track->table, table, table_length) != 0)
		return false;
	for (uint32_t i = 0; i < track->schema->ncolumns; i++) {
		bool seen = true;

		if (!column_fits(column, length, track->schema->columns[i].name))
			continue;
		for (uint32_t p = 0; p < track->probes.count; p++)
			if (track->probes.probes[p].slot == track->schema->slot[i])
				seen = track->probes.probes[p].seen &&
				       track->probes.probes[p].scale > 0;
		if (seen)
			return true;
	}
	return false;
}

bool track_unscaled(const struct track *track, const char *table, size_t table_length,
		    const char *column, size_t length)
{
	const struct probes *probes = &track->probes;

	if (strlen(track->table) != table_length || memcmp(track->table, table, table_length) != 0)
		return false;
	for (uint32_t i = 0; i < track->schema->ncolumns; i++)
		for (uint32_t p = 0; p < probes->count; p++)
			if (column_fits(column, length, track->schema->columns[i].name) &&
			    probes->probes[p].slot == track->schema->slot[i] &&
			    probes->probes[p].scale <= 0)
				return true;
	return false;
}

/* Whether a stream that is made of it lost all its values. */
static bool is_refused(const struct track *track, uint32_t slot)
{
	for (uint32_t i = 0; i < track->nbound; i++) {
		const struct bound *bound = &track->bound[i];

		for (uint32_t t = 0; t < bound->nnumerator; t++)
			if (bound->refused && !bound->gave &&
			    track->probes.probes[bound->terms[t].probe].slot == slot)
				return true;
	}
	return false;
}

bool track_refused(const struct track *track, const char *table, size_t table_length,
		   const char *column, size_t length)
{
	if (strlen(track->table) != table_length || memcmp(track->table, table, table_length) != 0)
		return false;
	for (uint32_t i = 0; i < track->schema->ncolumns; i++)
		if (column_fits(column, length, track->schema->columns[i].name) &&
		    is_refused(track, track->schema->slot[i]))
			return true;
	return false;
}

uint64_t track_resets(struct track *track)
{
	uint64_t resets = track->resets;

	track->resets = 0;
	return resets;
}

const char *track_table(const struct track *track)
{
	return track->table;
}

const char *track_instance(const struct track *track)
{
	return track->instance;
}

void track_free(struct track *track)
{
	struct row *row;
	uint32_t from = 0;

	if (!track)
		return;
	while ((row = rows_any(&track->rows, &from)))
		track_leave(track, row);
	rows_free(&track->rows);
	for (uint32_t i = 0; i < track->nbound; i++)
		bound_free(&track->bound[i]);
	free(track->bound);
	free(track->probes.probes);
	free(track->sums);
	free(track->grown);
	free(track->moved);
	free(track->slots_of);
	free(track->past);
	free(track->weights);
	free(track->layout);
	free(track->watched);
	free(track->probe_of);
	free(track->sets);
	free(track->readers);
	free(track->reducing);
	free(track->touched);
	free(track->instance);
	free(track->table);
	free(track);
}
