/* One table of one sender as it comes by. Work is in proportion to what changed, as far as the streams allow. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"
#include "window/delta.h"
#include "window/rows.h"
#include "window/track.h"

enum { KEY_MOST = 256 };

struct track {
	const struct sonde_schema *schema; /* of the newest view */
	char *table, *instance;
	uint64_t hash, start_id;
	struct names *names;
	struct probes probes;
	struct bound *bound;
	uint32_t nbound;
	uint32_t *active; /* indices of those whose columns had values in an earlier view */
	uint32_t nactive;
	bool all_rows;
	int label_column; /* comm or name; -1: none */
	int birth_slot;   /* of the key start_time, -1: none */
	double birth_scale;
	struct rows rows;
	uint64_t time;  /* of the last view; 0: none */
	bool complete;  /* the last view had every row there was */
	double *value;  /* of each probe, in the row being folded */
	uint8_t *state; /* enum probe_state */
	struct track_counts counts;
};

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
		track->all_rows = track->all_rows || bound->all_rows;
		streams[i]->instance = track->instance;
		streams[i]->start_id = track->start_id;
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
	if (bind_all(track, view, streams, nstreams))
		goto fail;
	track->value = calloc(track->probes.count + 1, sizeof *track->value);
	track->state = calloc(track->probes.count + 1, sizeof *track->state);
	track->active = calloc(track->nbound + 1, sizeof *track->active);
	if (!track->value || !track->state || !track->active ||
	    rows_init(&track->rows, view->schema, track->probes.count, track->nbound))
		goto fail;
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

/* ---- keys and labels ---- */

/* As the kernel gave it: what shows it escapes it. A NUL would end it. */
static size_t put_bytes(char *to, size_t size, const char *bytes, uint32_t length)
{
	size_t n = strnlen(bytes, length < size ? length : size - 1);

	memcpy(to, bytes, n);
	to[n] = '\0';
	return n;
}

static size_t put_value(char *to, size_t size, const struct sonde_view *view, uint32_t row,
			uint32_t column)
{
	const struct sonde_column *c = &view->schema->columns[column];
	uint32_t slot = view->schema->slot[column], length;
	uint64_t value = sonde_view_slots(view, row)[slot];
	const char *bytes;
	int n;

	if (!sonde_view_has(view, row, slot) || !size)
		return 0;
	if (c->type == SONDE_STR) {
		bytes = sonde_view_bytes(view, value, &length);
		return put_bytes(to, size, bytes, length);
	}
	n = snprintf(to, size, c->type == SONDE_I64 ? "%" PRId64 : "%" PRIu64, value);
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static void put_key(char *to, const struct bound *bound, const struct sonde_view *view,
		    uint32_t row)
{
	size_t used = 0;

	for (uint32_t i = 0; i < bound->nkey_columns && used + 2 < KEY_MOST; i++) {
		if (i)
			to[used++] = ' ';
		used += put_value(to + used, KEY_MOST - used, view, row, bound->key_columns[i]);
	}
	to[used] = '\0';
}

static bool where_holds(const struct bound *bound, const struct sonde_view *view, uint32_t row)
{
	uint64_t value = sonde_view_slots(view, row)[bound->where_slot];
	char number[24];
	const char *bytes;
	uint32_t length;

	if (!bound->where_text)
		return true;
	if (!sonde_view_has(view, row, bound->where_slot))
		return false;
	if (bound->where_type == SONDE_STR) {
		bytes = sonde_view_bytes(view, value, &length);
		return strlen(bound->where_text) == length &&
		       memcmp(bytes, bound->where_text, length) == 0;
	}
	snprintf(number, sizeof number, bound->where_type == SONDE_I64 ? "%" PRId64 : "%" PRIu64,
		 value);
	return strcmp(number, bound->where_text) == 0;
}

/* The name of the row, where it has one and it changed. */
static void follow_label(struct track *track, struct row *row, const struct sonde_view *view,
			 uint32_t index)
{
	uint32_t slot, length;
	const char *bytes;
	char label[KEY_MOST];

	if (track->label_column < 0)
		return;
	slot = view->schema->slot[track->label_column];
	if (!sonde_view_has(view, index, slot))
		return;
	bytes = sonde_view_bytes(view, sonde_view_slots(view, index)[slot], &length);
	if (row->label_length == length && length <= sizeof row->label &&
	    memcmp(row->label, bytes, length) == 0)
		return;
	row->label_length = length;
	memcpy(row->label, bytes, length < sizeof row->label ? length : sizeof row->label);
	put_bytes(label, sizeof label, bytes, length);
	for (uint32_t i = 0; i < track->nbound; i++)
		if (row->series[i])
			name_label(row->series[i]->name, label);
}

/* A new row: which series it belongs to. */
static int join(struct track *track, struct row *row, const struct sonde_view *view, uint32_t index)
{
	char key[KEY_MOST];

	for (uint32_t i = 0; i < track->nbound; i++) {
		struct bound *bound = &track->bound[i];
		struct name *name;

		if (bound->reduces || !where_holds(bound, view, index))
			continue;
		put_key(key, bound, view, index);
		name = name_get(track->names, key);
		if (name)
			row->series[i] = store_series(&bound->stream->store, name);
		if (!row->series[i])
			return -ENOMEM;
	}
	return 0;
}

static void leave(struct track *track, struct row *row)
{
	for (uint32_t i = 0; i < track->nbound; i++)
		if (row->series[i])
			store_leave(&track->bound[i].stream->store, row->series[i]);
	rows_remove(&track->rows, row);
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

/* Every probe of a row. False where the row as a whole began anew: two counters or more went back. */
static bool read_probes(struct track *track, struct row *row, const struct sonde_view *view,
			uint32_t index)
{
	const uint64_t *slots = sonde_view_slots(view, index);
	uint32_t resets = 0;

	for (uint32_t i = 0; i < track->probes.count; i++) {
		struct probe *probe = &track->probes.probes[i];

		track->state[i] = ABSENT;
		track->value[i] = 0;
		if (!sonde_view_has(view, index, probe->slot)) {
			row->have[i] = false;
			continue;
		}
		probe->seen = true;
		if (probe->counter) {
			track->state[i] = read_counter(track, row, i, slots[probe->slot]);
			resets += track->state[i] == RESET;
		} else {
			track->value[i] = gauge(probe, slots[probe->slot]);
			track->state[i] = PRESENT;
		}
	}
	track->counts.resets += resets;
	return resets < 2;
}

/* The sum of terms. A counter of the denominator that began anew counts nothing there; in a numerator it makes the value
 * absent: a steal time that went back is discarded, while the CPU's other shares stay. */
static bool sum_terms(const struct track *track, const struct bound *bound, bool numerator,
		      double seconds, double *sum)
{
	uint32_t from = numerator ? 0 : bound->nnumerator;
	uint32_t to = numerator ? bound->nnumerator : bound->nterms;
	bool any = false;

	*sum = 0;
	for (uint32_t i = from; i < to; i++) {
		const struct term *term = &bound->terms[i];
		enum probe_state state = track->state[term->probe];
		double value;

		if (state == RESET && numerator)
			return false;
		if (state != PRESENT) {
			if (term->optional || state == RESET)
				continue;
			return false;
		}
		value = track->value[term->probe];
		if (!track->probes.probes[term->probe].counter)
			value *= seconds;
		*sum += term->minus ? -value : value;
		any = true;
	}
	return any;
}

/* The commonest stream: one counter over time. */
static bool evaluate_plain(const struct track *track, const struct bound *bound, struct seen *seen)
{
	uint16_t probe = bound->terms[0].probe;
	double ns = (double)(seen->to - seen->from);

	if (track->state[probe] != PRESENT)
		return false;
	seen->numerator = track->value[probe];
	seen->denominator = bound->over == OVER_NS ? ns : ns / 1e9;
	seen->value = seen->numerator / seen->denominator;
	return ns > 0;
}

static bool evaluate(const struct track *track, const struct bound *bound, struct seen *seen)
{
	double ns = (double)(seen->to - seen->from);
	double seconds = ns / 1e9;

	if (!sum_terms(track, bound, true, seconds, &seen->numerator))
		return false;
	if (bound->over == OVER_SECONDS)
		seen->denominator = seconds;
	else if (bound->over == OVER_NS)
		seen->denominator = ns;
	else if (!sum_terms(track, bound, false, seconds, &seen->denominator))
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

static void give(struct track *track, struct row *row, const struct sonde_view *view,
		 uint32_t index, const struct seen *interval)
{
	for (uint32_t a = 0; a < track->nactive; a++) {
		uint32_t i = track->active[a];
		struct bound *bound = &track->bound[i];
		struct seen seen;
		bool reduces = bound->reduces;

		if (!reduces && !row->series[i])
			continue;
		/* A counter that stands still adds nothing to a sum, and a keyed series has no zeros. */
		if (bound->plain && bound->skips_zero && track->value[bound->terms[0].probe] == 0)
			continue;
		if (reduces && bound->where_text && !where_holds(bound, view, index))
			continue;
		seen = *interval;
		if (bound->plain ? !evaluate_plain(track, bound, &seen)
				 : !evaluate(track, bound, &seen))
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
	uint64_t now;
	bool broken;
};

static int fold_row(struct track *track, const struct fold *fold, uint32_t index)
{
	struct seen interval = { .from = track->time, .to = fold->now };
	bool fresh = false, valid = track->time && !fold->broken;
	struct row *row = rows_at(&track->rows, fold->view, index, &fresh);
	uint64_t birth;
	int err;

	if (!row)
		return -ENOMEM;
	if (fresh) {
		err = join(track, row, fold->view, index);
		if (err)
			return err;
		if (valid && is_born(track, fold->view, index, &birth)) {
			memset(row->have, true, track->probes.count);
			if (birth > interval.from && birth < interval.to)
				interval.from = birth;
		}
	}
	follow_label(track, row, fold->view, index);
	if (!read_probes(track, row, fold->view, index)) {
		for (uint32_t i = 0; i < track->nbound; i++)
			if (row->series[i])
				row->series[i]->resets++;
		return 0;
	}
	if (valid)
		give(track, row, fold->view, index, &interval);
	return 0;
}

/* A reducing stream's value of this instant. Rows that did not change counted nothing. */
static int finish_reduced(struct track *track, struct bound *bound, const struct fold *fold)
{
	struct stream *stream = bound->stream;
	struct seen seen = { .from = track->time, .to = fold->now };
	double duration = (double)(seen.to - seen.from) / (bound->over == OVER_NS ? 1 : 1e9);

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

static void find_active(struct track *track)
{
	track->nactive = 0;
	for (uint32_t i = 0; i < track->nbound; i++) {
		memset(&track->bound[i].sum, 0, sizeof track->bound[i].sum);
		if (has_columns(track, &track->bound[i]))
			track->active[track->nactive++] = i;
	}
}

/* Without streams there is nothing to follow but that the table exists. */
int track_view(struct track *track, const struct sonde_view *view, bool broken)
{
	struct fold fold = { .view = view, .now = view_time(view), .broken = broken };
	struct row *gone;
	int err = 0;

	track->schema = view->schema;
	track->counts.views++;
	if (!track->nbound)
		goto out;
	if (fold.now <= track->time)
		fold.broken = true;
	find_active(track);
	rows_begin(&track->rows);
	err = fold_rows(track, &fold);
	while ((gone = rows_gone(&track->rows, view->nrows)))
		leave(track, gone);
	for (uint32_t a = 0; a < track->nactive && !err; a++) {
		struct bound *bound = &track->bound[track->active[a]];

		if (bound->reduces && track->time && !fold.broken)
			err = finish_reduced(track, bound, &fold);
	}
out:
	track->complete = !(view->flags & SONDE_PARTIAL);
	track->time = fold.now;
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
		leave(track, row);
	rows_free(&track->rows);
	for (uint32_t i = 0; i < track->nbound; i++)
		bound_free(&track->bound[i]);
	free(track->bound);
	free(track->probes.probes);
	free(track->active);
	free(track->state);
	free(track->value);
	free(track->instance);
	free(track->table);
	free(track);
}
