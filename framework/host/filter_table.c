/* What becomes of one table on its way to a sink. */
#include <errno.h>

#include "core/schema.h"
#include "host/filter_table.h"
#include "host/must.h"
#include "host/siphash.h"
#include "window/delta.h"
#include "window/rows.h"

enum fate {
	FATE_NOTHING, /* the sink does not want it */
	FATE_AS_IS,
	FATE_MADE, /* a schema of its own */
};

enum make { MAKE_COPY, MAKE_RATE, MAKE_GROWTH, MAKE_REDACTED, MAKE_ABSENT };

/* How one column of the made schema comes about. */
struct making {
	enum make make;
	uint32_t from, to, slots;
	uint32_t probe; /* first base value of it in a row; of MAKE_RATE and MAKE_GROWTH */
	uint32_t wrap;
	uint64_t tolerance; /* slots that a counter may step back and be the same */
	double scale;       /* of a rate: slot per ns to what the column holds */
	bool real;          /* F64 */
};

struct filter_table {
	const struct filter_rules *rules;
	uint64_t hash, start_id;
	char *instance;
	enum fate fate;
	uint64_t due; /* of `every` */

	struct sonde_schema *schema;
	struct making *makings;
	uint32_t nmakings, nprobes;
	bool redacts;
	struct rows rows;

	uint64_t *words;
	uint32_t stride, capacity;
	struct sonde_strings strings;
};

/* The kernel's idle and iowait step back a little; 3 s is more than they do. */
static const uint64_t step_back_ns = 3000000000;

/* ---- the made schema ---- */

static bool is_named(const struct sonde_schema *schema, const char *name)
{
	return schema_column(schema, name) >= 0;
}

/* "reads" becomes "reads_rate", in what a second of it is measured in. */
static void rate_column(const struct sonde_schema *in, struct sonde_column *c, char *name,
			char *counted, size_t size)
{
	bool histogram = c->type == SONDE_HIST;

	snprintf(name, size, "%.57s%s", c->name, histogram ? "_delta" : "_rate");
	if (strlen(c->name) < 58 && !is_named(in, name))
		c->name = name;
	c->semantics = SONDE_GAUGE;
	c->wrap = 0;
	if (histogram)
		return;
	snprintf(counted, size, "%.50s per second",
		 c->unit == SONDE_BASE_COUNT ? c->counted : unit_name(c->unit));
	c->type = SONDE_F64;
	c->scale_mul = c->scale_div = 1;
	if (c->unit == SONDE_BASE_NS) {
		c->unit = SONDE_BASE_RATIO;
	} else if (c->unit == SONDE_BASE_JOULE) {
		c->unit = SONDE_BASE_WATT;
	} else {
		c->unit = SONDE_BASE_COUNT;
		c->counted = counted;
	}
}

static bool becomes_rate(const struct filter_table *t, const struct sonde_schema *in,
			 const struct sonde_column *c)
{
	return t->rules->values == FILTER_RATE && c->semantics == SONDE_COUNTER &&
	       !(in->flags & SONDE_EVENTS);
}

static struct making make_of(struct filter_table *t, const struct sonde_view *view, uint32_t column)
{
	const struct sonde_schema *in = view->schema;
	const struct sonde_column *c = &in->columns[column];
	uint8_t privacy = c->type == SONDE_STR ? t->rules->privacy[c->sensitivity] : PRIVACY_KEEP;
	double scale = column_scale(c, view->header ? view->header->user_hz : 0);
	struct making m = { .make = MAKE_COPY,
			    .from = in->slot[column],
			    .slots = c->type == SONDE_HIST ? c->slots : 1 };

	/* A key that is dropped would leave rows without a name. */
	if (privacy == PRIVACY_DROP && c->semantics != SONDE_KEY)
		m.make = MAKE_ABSENT;
	else if (privacy != PRIVACY_KEEP)
		m.make = MAKE_REDACTED;
	if (!becomes_rate(t, in, c))
		return m;
	m.make = c->type == SONDE_HIST ? MAKE_GROWTH : MAKE_RATE;
	m.wrap = c->wrap;
	m.real = c->type == SONDE_F64;
	m.scale = c->unit == SONDE_BASE_NS ? scale : scale * 1e9;
	if (c->unit == SONDE_BASE_NS && scale > 0)
		m.tolerance = (uint64_t)((double)step_back_ns / scale);
	m.probe = t->nprobes;
	t->nprobes += m.slots;
	return m;
}

/* Chooses the columns. True where the made table would be another than the view's. */
static bool choose(struct filter_table *t, struct filter_rules *rules,
		   const struct sonde_view *view, struct sonde_column *columns,
		   char (*texts)[2][SCHEMA_MAX_NAME], uint32_t *values)
{
	const struct sonde_schema *in = view->schema;
	bool another = false;

	for (uint32_t i = 0; i < in->ncolumns; i++) {
		struct sonde_column *c = &columns[t->nmakings];
		char path[2 * SCHEMA_MAX_NAME + 2];
		struct making m;

		snprintf(path, sizeof path, "%s.%s", in->name, in->columns[i].name);
		if (!patterns_want(&rules->columns, path, in->columns[i].name) && i >= in->nkeys) {
			another = true;
			continue;
		}
		*values += i >= in->nkeys;
		*c = in->columns[i];
		m = make_of(t, view, i);
		if (m.make == MAKE_RATE || m.make == MAKE_GROWTH)
			rate_column(in, c, texts[t->nmakings][0], texts[t->nmakings][1],
				    SCHEMA_MAX_NAME);
		t->redacts |= m.make == MAKE_REDACTED;
		another |= m.make != MAKE_COPY;
		t->makings[t->nmakings++] = m;
	}
	return another;
}

static enum fate make_schema(struct filter_table *t, struct filter_rules *rules,
			     const struct sonde_view *view)
{
	const struct sonde_schema *in = view->schema;
	struct sonde_column *columns = must(calloc(in->ncolumns, sizeof *columns));
	char(*texts)[2][SCHEMA_MAX_NAME] = must(calloc(in->ncolumns, sizeof *texts));
	uint32_t values = 0;
	char why[256];
	enum fate fate;

	t->makings = must(calloc(in->ncolumns, sizeof *t->makings));
	fate = choose(t, rules, view, columns, texts, &values) ? FATE_MADE : FATE_AS_IS;
	if (!values && in->ncolumns > in->nkeys)
		fate = FATE_NOTHING;
	if (fate == FATE_MADE) {
		const struct sonde_table table = {
			.name = in->name,
			.columns = { columns, t->nmakings, sizeof *columns },
			.origin = in->origin,
			.help = in->help,
			.flags = in->flags,
		};

		if (schema_make(&table, &t->schema, why, sizeof why) ||
		    rows_init(&t->rows, in, t->nprobes + 1, 0))
			abort(); /* it was a good schema before, or there is no memory at start-up */
		t->stride = t->schema->nhave + t->schema->nslots;
		for (uint32_t i = 0; i < t->nmakings; i++)
			t->makings[i].to = t->schema->slot[i];
	}
	free(texts);
	free(columns);
	return fate;
}

struct filter_table *filter_table_new(struct filter_rules *rules, const struct sonde_view *view)
{
	struct filter_table *t = must(calloc(1, sizeof *t));
	uint32_t kind = rules_kind(view->schema->name);

	t->rules = rules;
	t->hash = view->schema->hash;
	t->start_id = view->header ? view->header->start_id : 0;
	t->instance = must_copy(view->instance ? view->instance : "");
	if (rules->kinds && !(rules->kinds & kind))
		t->fate = FATE_NOTHING;
	else if (kind != KIND_DATA)
		t->fate = FATE_AS_IS;
	else if (patterns_want(&rules->tables, view->schema->name, NULL))
		t->fate = make_schema(t, rules, view);
	return t;
}

bool filter_table_is(const struct filter_table *t, const struct sonde_view *view)
{
	return t->hash == view->schema->hash &&
	       t->start_id == (view->header ? view->header->start_id : 0) &&
	       strcmp(t->instance, view->instance ? view->instance : "") == 0;
}

void filter_table_free(struct filter_table *t)
{
	if (!t)
		return;
	rows_free(&t->rows);
	schema_free(t->schema);
	free(t->makings);
	free(t->words);
	free(t->strings.bytes);
	free(t->instance);
	free(t);
}

/* ---- rows ---- */

/* By how much one slot grew since the row was last seen. */
static enum delta grown(const struct making *m, struct row *row, uint32_t probe, uint64_t now,
			double *real, uint64_t *steps)
{
	enum delta result;
	double before;

	if (!m->real) {
		result = counter_delta(&row->base[probe], now, m->wrap, m->tolerance, steps);
		*real = (double)*steps;
		return result;
	}
	before = sonde_slot_f64(row->base[probe]);
	*real = sonde_slot_f64(now) - before;
	row->base[probe] = now;
	return *real >= 0 ? DELTA_OK : DELTA_RESET;
}

/* What a row says of itself while its counters are looked at. */
struct verdict {
	uint64_t elapsed; /* ns since the row was last seen; 0: its first time */
	uint32_t advanced, reset;
};

/* Counters of one column; the value goes into the made row where there is one. */
static void make_counter(const struct making *m, struct row *row, const uint64_t *have,
			 const uint64_t *slots, struct sonde_row *out, struct verdict *verdict)
{
	bool good = verdict->elapsed != 0;

	for (uint32_t i = 0; i < m->slots; i++) {
		uint32_t from = m->from + i, probe = m->probe + i;
		bool has = have[from >> 6] >> (from & 63) & 1;
		uint64_t steps = 0;
		double real = 0;
		enum delta delta;

		if (!has || !set_has(row->have, probe)) {
			(has ? set_add : set_remove)(row->have, probe);
			row->base[probe] = slots[from];
			good = false;
			continue;
		}
		delta = grown(m, row, probe, slots[from], &real, &steps);
		verdict->reset += delta == DELTA_RESET;
		verdict->advanced += delta == DELTA_OK && real > 0;
		good &= delta != DELTA_RESET && m->scale > 0;
		if (m->make == MAKE_RATE && good)
			sonde_set_f64(out, m->to, real * m->scale / (double)verdict->elapsed);
		else if (good)
			sonde_set_u64(out, m->to + i, steps);
	}
	for (uint32_t i = 0; i < m->slots && !good; i++)
		out->have[(m->to + i) >> 6] &= ~((uint64_t)1 << ((m->to + i) & 63));
}

/* Where most counters began anew the row is another thing under the same name, whatever the others seem to say. */
static void forget_rates(const struct filter_table *t, struct sonde_row *out)
{
	for (uint32_t i = 0; i < t->nmakings; i++) {
		const struct making *m = &t->makings[i];

		if (m->make != MAKE_RATE && m->make != MAKE_GROWTH)
			continue;
		for (uint32_t slot = m->to; slot < m->to + m->slots; slot++)
			out->have[slot >> 6] &= ~((uint64_t)1 << (slot & 63));
	}
}

static void set_text(struct filter_table *t, struct sonde_row *out, uint32_t slot,
		     const char *bytes, uint32_t length)
{
	struct sonde_strings *s = &t->strings;

	if (length >= s->size - s->used) { /* so there is always a buffer */
		uint32_t size = (s->size + length + 1) * 2;

		s->bytes = must(realloc(s->bytes, size));
		s->size = size;
	}
	sonde_set_bytes(out, slot, bytes, length);
}

static void redact(struct filter_table *t, struct sonde_row *out, uint32_t slot, const char *bytes,
		   uint32_t length)
{
	char text[] = "~0123456789abcdef";

	snprintf(text, sizeof text, "~%016llx",
		 (unsigned long long)siphash(t->rules->secret, bytes, length));
	set_text(t, out, slot, text, length ? sizeof text - 1 : 0);
}

/* A column that is not a counter. */
static void make_plain(struct filter_table *t, const struct making *m, uint32_t column,
		       const struct sonde_view *in, uint32_t index, struct sonde_row *out)
{
	const uint64_t *slots = sonde_view_slots(in, index);
	const char *bytes;
	uint32_t length;

	for (uint32_t i = 0; i < m->slots; i++) {
		if (m->make == MAKE_ABSENT || !sonde_view_has(in, index, m->from + i))
			continue;
		if (!t->redacts || t->schema->columns[column].type != SONDE_STR) {
			sonde_set_u64(out, m->to + i, slots[m->from + i]);
			continue;
		}
		bytes = sonde_view_bytes(in, slots[m->from + i], &length);
		if (m->make == MAKE_REDACTED)
			redact(t, out, m->to, bytes, length);
		else
			set_text(t, out, m->to, bytes, length);
	}
}

/* No counter of the row has a value to grow from. */
static void forget(const struct filter_table *t, struct row *row)
{
	for (uint32_t probe = 0; probe < t->nprobes; probe++)
		set_remove(row->have, probe);
}

/* The row's past, with what is known of the time since; NULL without memory. *twice: its keys stood in this view before. */
static struct row *find_row(struct filter_table *t, const struct sonde_view *in, uint32_t index,
			    bool broken, struct verdict *verdict, bool *twice)
{
	bool fresh;
	struct row *row = rows_at(&t->rows, in, index, &fresh);
	uint64_t *seen;

	if (!row)
		return NULL;
	seen = &row->base[t->nprobes];
	*twice = !fresh && in->begin <= *seen;
	if (broken || *twice)
		forget(t, row);
	else if (!fresh)
		verdict->elapsed = in->begin - *seen;
	*seen = in->begin;
	return row;
}

static int make_row(struct filter_table *t, const struct sonde_view *in, uint32_t index,
		    bool broken)
{
	struct sonde_row out = { .have = t->words + (size_t)index * t->stride,
				 .strings = &t->strings };
	struct verdict verdict = { 0 };
	struct row *row = NULL;
	bool twice = false;

	out.slots = out.have + t->schema->nhave;
	memset(out.have, 0, t->schema->nhave * sizeof *out.have);
	if (t->nprobes) {
		row = find_row(t, in, index, broken, &verdict, &twice);
		if (!row)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->nmakings; i++) {
		const struct making *m = &t->makings[i];

		if (row && (m->make == MAKE_RATE || m->make == MAKE_GROWTH))
			make_counter(m, row, sonde_view_have(in, index),
				     sonde_view_slots(in, index), &out, &verdict);
		else
			make_plain(t, m, i, in, index, &out);
	}
	if (verdict.reset > 1 && verdict.reset > verdict.advanced)
		forget_rates(t, &out);
	if (row && twice) /* which of the two the next one follows is not known */
		forget(t, row);
	return 0;
}

static int make_view(struct filter_table *t, const struct sonde_view *in, bool broken,
		     struct sonde_view *out)
{
	struct row *gone;
	int err = 0;

	if (in->nrows > t->capacity) {
		uint32_t capacity = in->nrows + in->nrows / 2;

		free(t->words);
		t->capacity = 0;
		t->words = calloc((size_t)capacity * t->stride, sizeof *t->words);
		if (!t->words)
			return -ENOMEM;
		t->capacity = capacity;
	}
	t->strings.used = 0;
	if (t->nprobes)
		rows_begin(&t->rows);
	for (uint32_t i = 0; i < in->nrows && !err; i++)
		err = make_row(t, in, i, broken);
	while (!err && t->nprobes && !(in->flags & SONDE_PARTIAL) &&
	       (gone = rows_gone(&t->rows, in->nrows)))
		rows_remove(&t->rows, gone);
	*out = *in;
	out->schema = t->schema;
	out->words = t->words;
	out->stride = t->stride;
	if (t->redacts)
		out->strings = t->strings.bytes;
	if (t->nprobes) { /* rates change where their counters do not */
		out->changed = NULL;
		out->nchanged = 0;
	}
	return err ? err : 1;
}

/* Whether rows of a lasting state are due by `every`. The grid is kept: a tick a little early counts. */
static bool is_due(struct filter_table *t, const struct sonde_view *view)
{
	uint64_t every = t->rules->every;

	if (!every || (view->schema->flags & SONDE_EVENTS))
		return true;
	if (t->due && view->begin + every / 16 < t->due)
		return false;
	t->due = t->due && view->begin < t->due + every ? t->due + every : view->begin + every;
	return true;
}

int filter_table_view(struct filter_table *t, const struct sonde_view *in, bool broken,
		      struct sonde_view *out)
{
	if (t->fate == FATE_NOTHING || !is_due(t, in))
		return 0;
	if (t->fate == FATE_MADE)
		return make_view(t, in, broken, out);
	*out = *in;
	if (t->rules->every && !(in->schema->flags & SONDE_EVENTS)) {
		out->changed = NULL;
		out->nchanged = 0;
	}
	return 1;
}
