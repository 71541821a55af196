/* Rows of a fixture: when each is there, and what changes in it. */
#include "core/schema.h"
#include "fixture.h"
#include "wire/format.h"

struct place {
	struct fixture *fixture;
	const struct table *table;
	struct row *row;
	const char *where; /* tables[T].rows[R] */
};

/* ---- values ---- */

/* "ff00" as bytes, behind the texts. False where it is none. */
static bool add_hex(struct page *text, const char *digits)
{
	size_t length = strlen(digits);

	if (length % 2 || digits[strspn(digits, "0123456789abcdefABCDEF")])
		return false;
	for (; *digits; digits += 2) {
		const char pair[] = { digits[0], digits[1], 0 };
		char byte = (char)strtoul(pair, NULL, 16);

		page_add(text, &byte, 1);
	}
	return true;
}

static int take_string(const struct place *at, const char *name, const json_t *from,
		       uint64_t *value)
{
	struct page *text = &at->fixture->text;
	size_t before = text->used;
	const json_t *hex = json_object_get(from, "hex");

	if (json_is_string(from))
		page_add(text, json_string_value(from), json_string_length(from));
	else if (json_object_size(from) != 1 || !json_is_string(hex) ||
		 !add_hex(text, json_string_value(hex)))
		return refuse(at->fixture, at->where,
			      "%s: a text, or {\"hex\": \"digits\"} is wanted", name);
	if (text->used - before > FORMAT_STRING_EACH)
		return refuse(at->fixture, at->where, "%s: longer than %d bytes", name,
			      FORMAT_STRING_EACH);
	if (text->no_memory)
		return -ENOMEM;
	*value = (uint64_t)before << 32 | (text->used - before);
	return 0;
}

static bool is_double(const json_t *from, uint64_t *value)
{
	const char *text = json_string_value(from);
	double number = json_number_value(from);

	if (text && strcmp(text, "nan") == 0)
		number = NAN;
	else if (text && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0))
		number = *text == '-' ? -INFINITY : INFINITY;
	else if (!json_is_number(from))
		return false;
	memcpy(value, &number, sizeof number);
	return true;
}

static int take_value(const struct place *at, const char *name, uint32_t type, const json_t *from,
		      struct change *change)
{
	int64_t number = 0;

	change->absent = json_is_null(from);
	if (change->absent)
		return 0;
	if (type == SONDE_STR)
		return take_string(at, name, from, &change->value);
	if (type == SONDE_F64)
		return is_double(from, &change->value)
			       ? 0
			       : refuse(at->fixture, at->where, "%s: a number is wanted", name);
	if (type != SONDE_I64)
		return is_u64(from, &change->value)
			       ? 0
			       : refuse(at->fixture, at->where,
					"%s: a whole number from 0 on is wanted", name);
	if (!is_i64(from, &number))
		return refuse(at->fixture, at->where, "%s: a whole number is wanted", name);
	change->value = (uint64_t)number;
	return 0;
}

/* ---- changes ---- */

static struct change *add_change(struct row *row, uint32_t instant, uint32_t slot)
{
	struct change *changes = row->changes;

	/* Room doubles. */
	if (!(row->nchanges & (row->nchanges - 1))) {
		changes = realloc(changes, (row->nchanges ? 2 * (size_t)row->nchanges : 1) *
						   sizeof *changes);
		if (!changes)
			return NULL;
		row->changes = changes;
	}
	changes[row->nchanges] = (struct change) { .instant = instant, .slot = slot };
	return &changes[row->nchanges++];
}

/* [[instant, value], ...] */
static int take_changes(const struct place *at, const char *name, uint32_t type, uint32_t slot,
			const json_t *list)
{
	uint64_t instant, before = 0;
	int err = 0;

	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		const json_t *pair = json_array_get(list, i);
		struct change *change;

		if (json_array_size(pair) != 2 || !is_u64(json_array_get(pair, 0), &instant) ||
		    instant < at->row->from || instant > at->row->until || (i && instant <= before))
			return refuse(at->fixture, at->where,
				      "%s: [instant, value] is wanted, instants ascending from %u "
				      "to %u",
				      name, at->row->from, at->row->until);
		before = instant;
		change = add_change(at->row, (uint32_t)instant, slot);
		err = change ? take_value(at, name, type, json_array_get(pair, 1), change)
			     : -ENOMEM;
	}
	return err;
}

/* "utime", or "latency.3" of a histogram. The column's index, -1: there is none. */
static int find_column(const struct sonde_schema *schema, const char *name, uint32_t *slot)
{
	char plain[SCHEMA_MAX_NAME + 1];
	size_t length = strcspn(name, ".");
	unsigned long bucket = 0;
	const struct sonde_column *column;
	char *end;
	int c;

	snprintf(plain, sizeof plain, "%.*s", (int)(length < 64 ? length : 64), name);
	c = schema_column(schema, plain);
	if (c < 0)
		return -1;
	column = &schema->columns[c];
	if (name[length] ? column->type != SONDE_HIST : column->type == SONDE_HIST)
		return -1;
	if (name[length]) {
		bucket = strtoul(name + length + 1, &end, 10);
		if (*end || end == name + length + 1 || bucket >= column->slots)
			return -1;
	}
	*slot = schema->slot[c] + (uint32_t)bucket;
	return c;
}

static int take_member(const struct place *at, const char *name, const json_t *value)
{
	const struct sonde_schema *schema = at->table->schema;
	const struct sonde_column *column;
	struct change *change;
	uint32_t slot = 0;
	int c = find_column(schema, name, &slot);

	if (c < 0)
		return refuse(at->fixture, at->where, "its table has no column \"%.64s\"", name);
	column = &schema->columns[c];
	if (json_is_array(value) && column->semantics == SONDE_KEY)
		return refuse(at->fixture, at->where, "%s: a key does not change", name);
	if (json_is_array(value))
		return take_changes(at, name, column->type, slot, value);
	change = add_change(at->row, at->row->from, slot);
	return change ? take_value(at, name, column->type, value, change) : -ENOMEM;
}

static int by_instant(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->instant != y->instant)
		return x->instant < y->instant ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

/* ---- rows ---- */

static int take_life(const struct place *at, const json_t *from)
{
	bool events = at->table->schema->flags & SONDE_EVENTS;
	struct row *row = at->row;
	int err;

	row->from = at->table->first;
	err = take_u32(at->fixture, from, at->where, "from", &row->from);
	row->until = events ? row->from : at->table->last;
	if (!err)
		err = take_u32(at->fixture, from, at->where, "until", &row->until);
	if (err)
		return err;
	if (row->until < row->from || row->until >= at->fixture->ninstants)
		return refuse(at->fixture, at->where,
			      "from %u until %u: two instants below %u are wanted", row->from,
			      row->until, at->fixture->ninstants);
	if (events && (row->until != row->from || !at->table->read[row->from]))
		return refuse(at->fixture, at->where,
			      "an event is of one instant at which its table was read");
	return 0;
}

static int take_row(const struct place *at, const json_t *from)
{
	static const char *const members[] = { "from", "until", "values", NULL };
	json_t *values = json_object_get(from, "values"), *value;
	const struct sonde_schema *schema = at->table->schema;
	uint64_t words = schema->nhave + schema->nslots;
	const char *name;
	int err = check_members(at->fixture, from, at->where, members);

	if (!err)
		err = take_life(at, from);
	if (!err && !json_is_object(values))
		err = refuse(at->fixture, at->where, "values: an object is wanted");
	if (err)
		return err;
	at->fixture->words += words * (at->row->until - at->row->from + 1);
	if (at->fixture->words > WORDS_MOST)
		return refuse(at->fixture, at->where,
			      "with it rows have more values in all than a recording may");
	at->row->words = calloc(words, sizeof *at->row->words);
	if (!at->row->words)
		return -ENOMEM;
	json_object_foreach(values, name, value) err = err ? err : take_member(at, name, value);
	if (at->row->nchanges)
		qsort(at->row->changes, at->row->nchanges, sizeof *at->row->changes, by_instant);
	return err;
}

struct placed {
	struct row row;
	uint32_t place;
};

static int by_from(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->row.from != y->row.from)
		return x->row.from < y->row.from ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* Rows that are there earlier come first. */
static int put_in_order(struct table *table)
{
	struct placed *sorted = calloc(table->nrows + 1, sizeof *sorted);

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->nrows; i++)
		sorted[i] = (struct placed) { table->rows[i], i };
	qsort(sorted, table->nrows, sizeof *sorted, by_from);
	for (uint32_t i = 0; i < table->nrows; i++)
		table->rows[i] = sorted[i].row;
	free(sorted);
	return 0;
}

int take_rows(struct fixture *fixture, struct table *table, const json_t *rows, const char *where)
{
	size_t count = json_array_size(rows);
	int err = 0;

	if (!json_is_array(rows))
		return refuse(fixture, where, "rows: a list is wanted");
	table->rows = calloc(count + 1, sizeof *table->rows);
	if (!table->rows)
		return -ENOMEM;
	while (!err && table->nrows < count) {
		char place[128];
		const struct place at = { fixture, table, &table->rows[table->nrows], place };

		snprintf(place, sizeof place, "%.64s.rows[%u]", where, table->nrows);
		err = take_row(&at, json_array_get(rows, table->nrows++));
	}
	return err ? err : put_in_order(table);
}
