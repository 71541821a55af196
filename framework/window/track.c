/* One table of one sender as it comes by. Work is in proportion to what changed, as far as the streams allow. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"
#include "window/delta.h"
#include "window/tracked.h"

/* Which probes of a row moved, as bits: those past the 63rd share them, so that a bit says "perhaps". The last one is set for
 * every row, and in the mask of a stream that takes rows in which nothing moved. */
enum { MOVED_BITS = 63 };

static const uint64_t moved_always = (uint64_t)1 << MOVED_BITS;

enum probe_state { ABSENT, PRESENT, RESET };

static void find_columns(struct track *track, const struct sonde_view *view)
{
	const struct sonde_schema *schema = view->schema;
	int birth = schema_column(schema, "start_time");

	track->label_column = schema_column(schema, "comm");
	if (track->label_column < 0)
		track->label_column = schema_column(schema, "name");
	if (track->label_column >= 0 && schema->columns[track->label_column].type != SONDE_STR)
		track->label_column = -1;
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
		track->all_rows = track->all_rows || bound->still;
		streams[i]->instance = track->instance;
		streams[i]->start_id = track->start_id;
	}
	return 0;
}

static uint32_t sum_for(struct track *track, const struct term *terms, uint32_t nterms,
			bool numerator)
{
	uint32_t i = 0;

	for (; i < track->nsums; i++) {
		const struct sum *sum = &track->sums[i];
		uint32_t same = 0;

		if (sum->nterms != nterms || sum->numerator != numerator)
			continue;
		while (same < nterms && sum->terms[same].probe == terms[same].probe &&
		       sum->terms[same].minus == terms[same].minus &&
		       sum->terms[same].optional == terms[same].optional)
			same++;
		if (same == nterms)
			return i;
	}
	track->sums[i] = (struct sum) { .terms = terms, .nterms = nterms, .numerator = numerator };
	track->nsums++;
	return i;
}

static int find_sums(struct track *track)
{
	track->sums = calloc(2 * (size_t)track->nbound + 1, sizeof *track->sums);
	if (!track->sums)
		return -ENOMEM;
	for (uint32_t i = 0; i < track->nbound; i++) {
		struct bound *bound = &track->bound[i];

		bound->above = sum_for(track, bound->terms, bound->nnumerator, true);
		bound->below = sum_for(track, bound->terms + bound->nnumerator,
				       bound->nterms - bound->nnumerator, false);
	}
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
	if (bind_all(track, view, streams, nstreams) || find_sums(track))
		goto fail;
	track->stale = true;
	track->value = calloc(track->probes.count + 1, sizeof *track->value);
	track->state = calloc(track->probes.count + 1, sizeof *track->state);
	track->seen = calloc(track->probes.count + 1, sizeof *track->seen);
	track->fresh = calloc(view->schema->nhave, sizeof *track->fresh);
	track->active = calloc(track->nbound + 1, sizeof *track->active);
	if (!track->value || !track->state || !track->active || !track->seen || !track->fresh ||
	    rows_init(&track->rows, view->schema, track->probes.count, track->nbound))
		goto fail;
	for (uint32_t i = 0; i < track->probes.count; i++)
		track->fresh[track->probes.probes[i].slot >> 6] |=
			(uint64_t)1 << (track->probes.probes[i].slot & 63);
	return track;
fail:
	track_free(track);
	return NULL;
}

bool track_is(const struct track *track, const struct sonde_view *view)
{
	return view->schema->hash == track->hash && view->header->start_id == track->start_id &&
	       strcmp(view->schema->name, track->table) == 0 &&
	       strcmp(view->instance ? view->instance : "", track->instance) == 0;
}

/* ---- values ---- */

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

static enum probe_state read_counter(struct track *track, struct row *row, uint32_t i,
				     uint64_t slot)
{
	struct probe *probe = &track->probes.probes[i];
	double before = sonde_slot_f64(row->base[i]), now = sonde_slot_f64(slot);
	uint64_t grown;
	bool had = row->have[i];

	row->have[i] = true;
	if (!had) {
		row->base[i] = slot;
		return ABSENT;
	}
	if (probe->type == SONDE_F64) {
		row->base[i] = slot;
		track->value[i] = (now - before) * probe->scale;
		return now >= before ? PRESENT : RESET;
	}
	if (counter_delta(&row->base[i], slot, probe->wrap, probe->tolerance, &grown) ==
	    DELTA_RESET)
		return RESET;
	track->value[i] = (double)grown * probe->scale;
	return PRESENT;
}

static double gauge(const struct probe *probe, uint64_t slot)
{
	double raw = probe->type == SONDE_F64   ? sonde_slot_f64(slot)
		     : probe->type == SONDE_I64 ? (double)(int64_t)slot
						: (double)slot;

	return raw * probe->scale;
}

/* Columns that have a value for the first time, in this row. */
static void admit(struct track *track, const uint64_t *have)
{
	for (uint32_t i = 0; i < track->probes.count; i++) {
		struct probe *probe = &track->probes.probes[i];
		uint64_t bit = (uint64_t)1 << (probe->slot & 63);

		if (probe->seen || !(have[probe->slot >> 6] & bit))
			continue;
		probe->seen = track->stale = true;
		track->fresh[probe->slot >> 6] &= ~bit;
		track->seen[track->nseen++] =
			(struct wanted) { .bit = (uint64_t)1 << i % MOVED_BITS,
					  .slot = probe->slot,
					  .probe = i,
					  .counter = probe->counter };
	}
}

/* Every probe of a row, and which of them moved. False where the row as a whole began anew: two counters or more went
 * back. */
static bool read_probes(struct track *track, struct row *row, const struct sonde_view *view,
			uint32_t index, uint64_t *moved)
{
	const uint64_t *have = sonde_view_have(view, index);
	const uint64_t *slots = have + view->schema->nhave;
	uint32_t resets = 0;

	*moved = moved_always;
	for (uint32_t word = 0; word < view->schema->nhave; word++)
		if (have[word] & track->fresh[word])
			admit(track, have);
	for (const struct wanted *seen = track->seen; seen < track->seen + track->nseen; seen++) {
		uint32_t i = seen->probe;
		uint64_t slot = slots[seen->slot];

		track->value[i] = 0;
		track->state[i] = PRESENT;
		if (!(have[seen->slot >> 6] >> (seen->slot & 63) & 1)) {
			track->state[i] = ABSENT;
			row->have[i] = false;
			continue;
		}
		if (seen->counter && row->base[i] == slot && row->have[i])
			continue;
		*moved |= seen->bit;
		if (seen->counter) {
			track->state[i] = read_counter(track, row, i, slot);
			resets += track->state[i] == RESET;
		} else {
			track->value[i] = gauge(&track->probes.probes[i], slot);
		}
	}
	track->counts.resets += resets;
	return resets < 2;
}

/* A counter of the denominator that began anew counts nothing there; in a numerator it makes the value absent: a steal time
 * that went back is discarded, while the CPU's other shares stay. */
static bool sum_terms(const struct track *track, const struct sum *sum, double seconds,
		      double *total)
{
	bool any = false;

	*total = 0;
	for (const struct term *term = sum->terms; term < sum->terms + sum->nterms; term++) {
		enum probe_state state = track->state[term->probe];
		double value;

		if (state == RESET && sum->numerator)
			return false;
		if (state != PRESENT) {
			if (term->optional || state == RESET)
				continue;
			return false;
		}
		value = track->value[term->probe];
		if (!track->probes.probes[term->probe].counter)
			value *= seconds;
		*total += term->minus ? -value : value;
		any = true;
	}
	return any;
}

static bool take_sum(struct track *track, uint32_t i, double seconds, double *total)
{
	struct sum *sum = &track->sums[i];

	if (sum->stamp != track->stamp) {
		sum->any = sum_terms(track, sum, seconds, &sum->value);
		sum->stamp = track->stamp;
	}
	*total = sum->value;
	return sum->any;
}

/* Over the time that a row was seen. */
struct interval {
	struct seen seen; /* without values */
	double ns, seconds;
};

static bool evaluate(struct track *track, const struct bound *bound,
		     const struct interval *interval, struct seen *seen)
{
	if (bound->plain) {
		seen->numerator = track->value[bound->terms[0].probe];
		if (track->state[bound->terms[0].probe] != PRESENT)
			return false;
	} else if (!take_sum(track, bound->above, interval->seconds, &seen->numerator)) {
		return false;
	}
	if (bound->over == OVER_SECONDS)
		seen->denominator = interval->seconds;
	else if (bound->over == OVER_NS)
		seen->denominator = interval->ns;
	else if (!take_sum(track, bound->below, interval->seconds, &seen->denominator))
		return false;
	if (seen->denominator <= 0)
		return false;
	seen->value = seen->numerator / seen->denominator;
	return true;
}

static void reduce(struct bound *bound, const struct seen *seen)
{
	if (!bound->sum.rows || seen->value < bound->sum.min)
		bound->sum.min = seen->value;
	if (!bound->sum.rows || seen->value > bound->sum.max)
		bound->sum.max = seen->value;
	bound->sum.rows++;
	bound->sum.numerator += seen->numerator;
	if (bound->over == OVER_COLUMNS)
		bound->sum.denominator += seen->denominator;
	else
		bound->sum.denominator = seen->denominator;
}

/* A row's growth of one counter, summed over rows: what the commonest reducing streams are. */
static void add_plain(const struct track *track, struct bound *bound)
{
	uint16_t probe = bound->terms[0].probe;

	if (track->state[probe] == PRESENT)
		bound->sum.numerator += track->value[probe];
}

static void give(struct track *track, struct row *row, const struct sonde_view *view,
		 uint32_t index, const struct interval *interval, uint64_t moved)
{
	track->stamp++;
	for (uint32_t a = 0; a < track->nactive; a++) {
		uint32_t i = track->active[a].bound;
		struct bound *bound = &track->bound[i];
		bool reduces = bound->reduces;
		struct seen seen;

		if (!(track->active[a].mask & moved) || (!reduces && !row->series[i]))
			continue;
		if (reduces && bound->where_text && !track_where(bound, view, index))
			continue;
		if (bound->plain && bound->sums) {
			add_plain(track, bound);
			continue;
		}
		seen = interval->seen;
		if (!evaluate(track, bound, interval, &seen))
			continue;
		if (reduces)
			reduce(bound, &seen);
		else if (bound->dense || !bound->counters || seen.numerator > 0 ||
			 bound->over == OVER_COLUMNS)
			store_add(&bound->stream->store, row->series[i], &seen);
	}
}

/* ---- a view ---- */

struct fold {
	const struct sonde_view *view;
	struct interval interval; /* since the view before */
	bool valid;               /* there is one, and nothing broke in it */
};

static struct interval interval_of(const struct stream *stream, uint64_t from, uint64_t to)
{
	double ns = (double)(to - from);

	return (struct interval) {
		.seen = { .from = from, .to = to, .index = store_index(&stream->store, from, to) },
		.ns = ns,
		.seconds = ns / 1e9,
	};
}

static int fold_row(struct track *track, const struct fold *fold, uint32_t index)
{
	const struct interval *interval = &fold->interval;
	struct interval shorter;
	bool fresh = false;
	struct row *row = rows_at(&track->rows, fold->view, index, &fresh);
	uint64_t birth, moved;
	int err;

	if (!row)
		return -ENOMEM;
	if (fresh) {
		err = track_join(track, row, fold->view, index);
		if (err)
			return err;
		if (fold->valid && is_born(track, fold->view, index, &birth)) {
			memset(row->have, true, track->probes.count);
			if (birth > interval->seen.from && birth < interval->seen.to) {
				shorter =
					interval_of(track->bound->stream, birth, interval->seen.to);
				interval = &shorter;
			}
		}
	}
	track_label(track, row, fold->view, index);
	if (!read_probes(track, row, fold->view, index, &moved)) {
		for (uint32_t i = 0; i < track->nbound; i++)
			if (row->series[i])
				row->series[i]->resets++;
		return 0;
	}
	if (fold->valid)
		give(track, row, fold->view, index, interval, moved);
	return 0;
}

/* A reducing stream's value of this instant. Rows that did not change counted nothing. */
static int finish_reduced(struct track *track, struct bound *bound, const struct fold *fold)
{
	struct stream *stream = bound->stream;
	struct seen seen = fold->interval.seen;
	double duration = bound->over == OVER_NS ? fold->interval.ns : fold->interval.seconds;

	seen.numerator = bound->sum.numerator;
	seen.denominator = bound->over == OVER_COLUMNS ? bound->sum.denominator : duration;
	if (stream->declared.reduce != SONDE_SUM) {
		if (!bound->sum.rows)
			return 0;
		seen.value = stream->declared.reduce == SONDE_MIN ? bound->sum.min
			     : stream->declared.reduce == SONDE_MAX
				     ? bound->sum.max
				     : bound->sum.max - bound->sum.min;
		seen.denominator = duration;
		seen.numerator = seen.value * duration;
	} else if (seen.denominator <= 0) {
		return 0;
	} else {
		seen.value = seen.numerator / seen.denominator;
	}
	if (!stream->reduced) {
		struct name *name = name_get(track->names, "");

		if (name)
			stream->reduced = store_series(&stream->store, name);
		if (!stream->reduced)
			return -ENOMEM;
	}
	store_add(&stream->store, stream->reduced, &seen);
	return 0;
}

static int fold_rows(struct track *track, const struct fold *fold)
{
	const struct sonde_view *view = fold->view;
	bool all = !view->changed || track->all_rows || view->nrows == 1;
	uint32_t n = all ? view->nrows : view->nchanged;
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++)
		if (all || view->changed[i] < view->nrows)
			err = fold_row(track, fold, all ? i : view->changed[i]);
	return err;
}

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

/* Of the probes that a stream reads; of one that takes still rows, all. */
static uint64_t mask_of(const struct bound *bound)
{
	uint64_t mask = bound->still ? moved_always : 0;

	for (uint32_t i = 0; i < bound->nterms; i++)
		mask |= (uint64_t)1 << bound->terms[i].probe % MOVED_BITS;
	return mask;
}

static void find_active(struct track *track)
{
	track->nactive = 0;
	for (uint32_t i = 0; i < track->nbound; i++)
		if (has_columns(track, &track->bound[i]))
			track->active[track->nactive++] =
				(struct active) { mask_of(&track->bound[i]), i };
	track->stale = false;
}

static void begin_view(struct track *track)
{
	if (track->stale)
		find_active(track);
	for (uint32_t a = 0; a < track->nactive; a++) {
		struct bound *bound = &track->bound[track->active[a].bound];

		if (bound->reduces)
			memset(&bound->sum, 0, sizeof bound->sum);
	}
}

/* Without streams there is nothing to follow but that the table exists. */
int track_view(struct track *track, const struct sonde_view *view, bool broken)
{
	uint64_t now = view_time(view);
	struct fold fold = { .view = view, .valid = track->time && now > track->time && !broken };
	struct row *gone;
	int err = 0;

	track->schema = view->schema;
	track->counts.views++;
	if (!track->nbound)
		goto out;
	if (fold.valid)
		fold.interval = interval_of(track->bound->stream, track->time, now);
	begin_view(track);
	rows_begin(&track->rows);
	err = fold_rows(track, &fold);
	while ((gone = rows_gone(&track->rows, view->nrows)))
		track_leave(track, gone);
	for (uint32_t a = 0; a < track->nactive && !err; a++) {
		struct bound *bound = &track->bound[track->active[a].bound];

		if (bound->reduces && fold.valid)
			err = finish_reduced(track, bound, &fold);
	}
out:
	track->complete = !(view->flags & SONDE_PARTIAL);
	track->time = now;
	return err;
}

uint64_t track_time(const struct track *track)
{
	return track->time;
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
				seen = track->probes.probes[p].seen;
		if (seen)
			return true;
	}
	return false;
}

struct track_counts track_counts(const struct track *track)
{
	return track->counts;
}

void track_free(struct track *track)
{
	struct row *row;

	if (!track)
		return;
	while ((row = rows_first(&track->rows)))
		track_leave(track, row);
	rows_free(&track->rows);
	for (uint32_t i = 0; i < track->nbound; i++)
		bound_free(&track->bound[i]);
	free(track->bound);
	free(track->probes.probes);
	free(track->active);
	free(track->sums);
	free(track->seen);
	free(track->fresh);
	free(track->state);
	free(track->value);
	free(track->instance);
	free(track->table);
	free(track);
}
