/* A declared stream made ready for one table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"
#include "window/bind.h"

/* The kernel's idle and iowait may step back by this much and mean nothing; a CPU that was away is far lower. */
static const uint64_t step_back_ns = 3000000000;

bool column_fits(const char *pattern, size_t length, const char *name)
{
	if (length && pattern[length - 1] == '*')
		return strncmp(pattern, name, length - 1) == 0;
	if (length && pattern[length - 1] == '?')
		length--;
	return strlen(name) == length && memcmp(pattern, name, length) == 0;
}

static int probe_for(struct probes *probes, const struct sonde_schema *schema, uint32_t column,
		     uint32_t user_hz)
{
	const struct sonde_column *c = &schema->columns[column];
	struct probe *grown;

	for (uint32_t i = 0; i < probes->count; i++)
		if (probes->probes[i].slot == schema->slot[column])
			return (int)i;
	grown = realloc(probes->probes, (probes->count + 1) * sizeof *grown);
	if (!grown)
		return -ENOMEM;
	probes->probes = grown;
	grown[probes->count] = (struct probe) {
		.slot = schema->slot[column],
		.type = c->type,
		.wrap = c->wrap,
		.counter = c->semantics == SONDE_COUNTER,
		.scale = column_scale(c, user_hz),
	};
	if (c->unit == SONDE_BASE_NS && grown[probes->count].scale > 0)
		grown[probes->count].tolerance =
			(uint64_t)((double)step_back_ns / grown[probes->count].scale);
	return (int)probes->count++;
}

static int add_term(struct bound *bound, struct probes *probes, const struct sonde_schema *schema,
		    uint32_t column, uint32_t user_hz, struct term term)
{
	struct term *terms = realloc(bound->terms, (bound->nterms + 1) * sizeof *terms);
	int probe;

	if (!terms)
		return -ENOMEM;
	bound->terms = terms;
	probe = probe_for(probes, schema, column, user_hz);
	if (probe < 0)
		return probe;
	/* USER_HZ of the recorded machine is not known: a number of ticks is not a time. */
	if (probes->probes[probe].scale <= 0)
		return 0;
	if (!probes->probes[probe].counter)
		bound->counters = false;
	term.probe = (uint16_t)probe;
	term.counter = probes->probes[probe].counter;
	terms[bound->nterms++] = term;
	return 1;
}

/* The columns of a list. 1, 0 where one is missing, -ENOMEM. */
static int add_terms(struct bound *bound, struct probes *probes, const struct sonde_schema *schema,
		     const char *list, uint32_t user_hz, bool minus)
{
	while (list && *list) {
		size_t length = strcspn(list, " ");
		char mark = length ? list[length - 1] : '\0';
		bool any = false;

		for (uint32_t i = 0; length && i < schema->ncolumns; i++) {
			const struct sonde_column *c = &schema->columns[i];
			struct term term = { .minus = minus,
					     .optional = mark == '?' || mark == '*' };
			int err;

			if (!column_fits(list, length, c->name) || c->type == SONDE_STR ||
			    c->type == SONDE_HIST)
				continue;
			err = add_term(bound, probes, schema, i, user_hz, term);
			if (err < 0)
				return err;
			any = any || err;
		}
		if (length && !any && mark != '?')
			return 0;
		list += length;
		list += *list == ' ';
	}
	return 1;
}

/* Whether a term is a counter of time. */
static bool is_time(const struct sonde_schema *schema, const struct bound *bound,
		    const struct probes *probes, uint32_t term)
{
	const struct probe *probe;

	if (term >= bound->nterms)
		return false;
	probe = &probes->probes[bound->terms[term].probe];
	for (uint32_t i = 0; probe->counter && i < schema->ncolumns; i++)
		if (schema->slot[i] == probe->slot)
			return schema->columns[i].unit == SONDE_BASE_NS;
	return false;
}

/* "column=text". False where the table has no such column. */
static bool bind_where(struct bound *bound, const struct sonde_schema *schema, const char *where)
{
	const char *equals = where ? strchr(where, '=') : NULL;

	if (!where)
		return true;
	for (uint32_t i = 0; equals && i < schema->ncolumns; i++) {
		if (!column_fits(where, (size_t)(equals - where), schema->columns[i].name))
			continue;
		bound->where_slot = schema->slot[i];
		bound->where_type = schema->columns[i].type;
		bound->where_text = equals + 1;
		return bound->where_type != SONDE_HIST && bound->where_type != SONDE_F64;
	}
	return false;
}

static int bind_key(struct bound *bound, const struct sonde_schema *schema, const char *key)
{
	bound->key_columns = calloc(schema->ncolumns, sizeof *bound->key_columns);
	if (!bound->key_columns)
		return -ENOMEM;
	if (!key) {
		for (uint32_t i = 0; i < schema->nkeys; i++)
			bound->key_columns[bound->nkey_columns++] = i;
		return 1;
	}
	while (*key) {
		size_t length = strcspn(key, " ");
		uint32_t i = 0;

		while (i < schema->ncolumns && !column_fits(key, length, schema->columns[i].name))
			i++;
		if (i == schema->ncolumns || bound->nkey_columns == schema->ncolumns)
			return 0;
		bound->key_columns[bound->nkey_columns++] = i;
		key += length;
		key += *key == ' ';
	}
	return 1;
}

/* Whether each column that `plus` adds is one of `over` too. */
static bool is_part(const struct bound *bound)
{
	for (uint32_t i = 0; i < bound->nnumerator; i++) {
		uint32_t below = bound->nnumerator;

		while (below < bound->nterms && bound->terms[below].probe != bound->terms[i].probe)
			below++;
		if (!bound->terms[i].minus && below == bound->nterms)
			return false;
	}
	return true;
}

/* Whether what `minus` takes off is of amounts, which are what they are without a sign. Counters may outrun one another. */
static bool is_rest(const struct bound *bound, const struct probes *probes)
{
	for (uint32_t i = 0; i < bound->nnumerator; i++) {
		const struct probe *probe = &probes->probes[bound->terms[i].probe];

		if (probe->counter || probe->type != SONDE_U64)
			return false;
	}
	return true;
}

/* Whether no two rows are of one series: it bears all keys, but for one that they have in common. */
static bool is_own(const struct bound *bound, const struct sonde_schema *schema)
{
	for (uint32_t key = 0; key < schema->nkeys; key++) {
		bool borne = bound->where_text && bound->where_slot == schema->slot[key];

		for (uint32_t i = 0; i < bound->nkey_columns && !borne; i++)
			borne = bound->key_columns[i] == key;
		if (!borne)
			return false;
	}
	return true;
}

int bind_stream(struct stream *stream, const struct sonde_schema *schema, uint32_t user_hz,
		struct probes *probes, struct bound *bound)
{
	const struct sonde_stream *declared = &stream->declared;
	bool wall = declared->over && strcmp(declared->over, "wall time") == 0;
	bool columns = declared->over && strcmp(declared->over, "time") != 0 && !wall, dense;
	int err;

	*bound = (struct bound) { .stream = stream, .counters = true };
	err = add_terms(bound, probes, schema, declared->plus, user_hz, false);
	if (err > 0)
		err = add_terms(bound, probes, schema, declared->minus, user_hz, true);
	bound->nnumerator = bound->nterms;
	if (err > 0 && columns)
		err = add_terms(bound, probes, schema, declared->over, user_hz, false);
	if (err > 0)
		err = bind_key(bound, schema, declared->key);
	if (err > 0 && (!bound->nnumerator || !bind_where(bound, schema, declared->where)))
		err = 0;
	if (err <= 0) {
		bound_free(bound);
		return err;
	}
	/* Where the numerator is a time, that of "time" is one as well: a share. */
	if (columns)
		bound->over = OVER_COLUMNS;
	else if (is_time(schema, bound, probes, 0))
		bound->over = OVER_NS;
	stream->store.wall = wall && bound->over == OVER_NS;
	stream->store.floor_of_time =
		bound->over == OVER_NS || is_time(schema, bound, probes, bound->nnumerator);
	bound->lone = declared->reduce == SONDE_SETTING;
	bound->reduces = declared->reduce != SONDE_PER_KEY && !bound->lone;
	for (uint32_t i = 0; i < bound->nkey_columns && !bound->reduces; i++)
		bound->loose = bound->loose || bound->key_columns[i] >= schema->nkeys;
	dense = bound->reduces || declared->where || !schema->nkeys;
	bound->takes_zero = dense || !bound->counters || columns;
	bound->natural = declared->minus && (is_part(bound) || is_rest(bound, probes));
	bound->growth = bound->counters && declared->reduce == SONDE_SUM && !declared->where;
	/* Counters that stand still are 0 over 0, or 0 over a time, which adds nothing to a sum and needs no telling by key. */
	bound->still = !bound->counters || (dense && declared->reduce != SONDE_SUM && !columns);
	bound->lags = !stream->tied &&
		      (bound->reduces ? !bound->still : bound->still && is_own(bound, schema));
	return 1;
}

void bound_free(struct bound *bound)
{
	free(bound->key_columns);
	free(bound->terms);
	*bound = (struct bound) { 0 };
}

int bind_check(const struct sonde_stream *stream, uint32_t i, char *why, size_t size)
{
	if (!stream->name || !stream->table || !stream->plus || !*stream->plus)
		snprintf(why, size, "stream %u lacks a name, a table or a column", i);
	else if (stream->reduce > SONDE_SETTING)
		snprintf(why, size, "stream %s: this host does not know how it reduces",
			 stream->name);
	else if (stream->also > i)
		snprintf(why, size, "stream %s: `also` is not an earlier stream", stream->name);
	else
		return 0;
	return -EINVAL;
}
