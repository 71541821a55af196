/* The arena that a collector's sample() writes its rows into. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/frame.h"

enum { STRINGS_FIRST = 4096, STRINGS_EACH = 16, STRINGS_MOST = 64 << 20 };

/* Room for a short name in each string column of each row, so that a first sample loses none: TASK_COMM_LEN is 16. */
static int reserve_strings(struct sonde_frame *frame, const struct sonde_schema *schema,
			   uint32_t rows)
{
	uint64_t size = frame->strings.size ? frame->strings.size : STRINGS_FIRST;
	char *bytes;

	for (uint32_t i = 0; i < schema->ncolumns; i++)
		if (schema->columns[i].type == SONDE_STR)
			size += (uint64_t)rows * STRINGS_EACH;
	if (size > STRINGS_MOST)
		size = STRINGS_MOST;
	if (size == frame->strings.size)
		return 0;
	bytes = realloc(frame->strings.bytes, size);
	if (!bytes)
		return -ENOMEM;
	frame->strings.bytes = bytes;
	frame->strings.size = (uint32_t)size;
	return 0;
}

int frame_add_table(struct sonde_frame *frame, const struct sonde_schema *schema, uint32_t rows,
		    uint32_t max_rows)
{
	uint32_t stride = schema->nhave + schema->nslots;
	struct frame_table *tables;
	uint64_t *words;

	if (!max_rows)
		max_rows = 1 << 20;
	if (!rows)
		rows = 1;
	if (rows > max_rows)
		rows = max_rows;
	if (reserve_strings(frame, schema, rows))
		return -ENOMEM;
	tables = realloc(frame->tables, (frame->ntables + 1) * sizeof *tables);
	if (!tables)
		return -ENOMEM;
	frame->tables = tables;
	words = calloc((size_t)rows * stride, sizeof *words);
	if (!words)
		return -ENOMEM;
	tables[frame->ntables++] = (struct frame_table) { .schema = schema,
							  .words = words,
							  .stride = stride,
							  .capacity = rows,
							  .max_rows = max_rows };
	return 0;
}

void frame_free(struct sonde_frame *frame)
{
	for (uint32_t i = 0; i < frame->ntables; i++)
		free(frame->tables[i].words);
	free(frame->tables);
	free(frame->strings.bytes);
	*frame = (struct sonde_frame) { 0 };
}

static int grow_table(struct frame_table *table)
{
	uint64_t want = (uint64_t)table->capacity + table->lost;
	uint64_t rows = (uint64_t)table->capacity * 2;
	uint64_t *words;

	if (rows < want)
		rows = want;
	if (rows > table->max_rows)
		rows = table->max_rows;
	if (rows == table->capacity)
		return 0;
	words = calloc(rows * table->stride, sizeof *words);
	if (!words)
		return -ENOMEM;
	free(table->words);
	table->words = words;
	table->capacity = (uint32_t)rows;
	return 0;
}

/* Room for what had none, and for the texts of `more` rows like those of the last sample. */
static int grow_strings(struct sonde_frame *frame, uint64_t more)
{
	struct sonde_strings *strings = &frame->strings;
	uint64_t want = (uint64_t)strings->used + strings->lost, rows = 0;
	char *bytes;

	for (uint32_t i = 0; i < frame->ntables; i++)
		if (frame->tables[i].schema->nstrings)
			rows += frame->tables[i].nrows + frame->tables[i].nameless;
	if (rows)
		want += want / rows * more + more;
	if (want <= strings->size)
		return 0;
	want = want > STRINGS_MOST / 2 ? STRINGS_MOST : want * 2;
	if (want == strings->size)
		return 0;
	bytes = malloc(want);
	if (!bytes)
		return -ENOMEM;
	free(strings->bytes);
	strings->bytes = bytes;
	strings->size = (uint32_t)want;
	return 0;
}

int frame_begin(struct sonde_frame *frame)
{
	uint64_t more = 0;
	int err = 0;

	for (uint32_t i = 0; i < frame->ntables; i++) {
		struct frame_table *table = &frame->tables[i];
		uint32_t capacity = table->capacity;

		if (table->lost && grow_table(table))
			err = -ENOMEM;
		if (table->schema->nstrings)
			more += table->capacity - capacity;
	}
	if ((more || frame->strings.lost) && grow_strings(frame, more))
		err = -ENOMEM;
	for (uint32_t i = 0; i < frame->ntables; i++) {
		struct frame_table *table = &frame->tables[i];

		table->nrows = table->lost = table->nameless = 0;
	}
	frame->strings.used = frame->strings.lost = 0;
	frame->partial = frame->own_time = false;
	frame->strange = 0;
	return err;
}

static bool is_nameless(const struct frame_table *table, uint32_t row)
{
	const struct sonde_schema *schema = table->schema;
	const uint64_t *have = table->words + (size_t)row * table->stride;

	for (uint32_t key = 0; key < schema->nkeys; key++)
		if (schema->columns[key].type == SONDE_STR && !(have[key >> 6] >> (key & 63) & 1))
			return true;
	return false;
}

/* Rows that have their names close ranks. */
static void drop_nameless(struct sonde_frame *frame, struct frame_table *table)
{
	size_t size = table->stride * sizeof *table->words;
	uint32_t kept = 0;

	for (uint32_t row = 0; row < table->nrows; row++) {
		if (is_nameless(table, row))
			continue;
		if (kept != row)
			memcpy(table->words + (size_t)kept * table->stride,
			       table->words + (size_t)row * table->stride, size);
		kept++;
	}
	table->nameless = table->nrows - kept;
	table->nrows = kept;
	if (table->nameless) {
		frame->lost_rows += table->nameless;
		frame->partial = true;
	}
}

void frame_end(struct sonde_frame *frame)
{
	if (!frame->strings.lost)
		return;
	for (uint32_t i = 0; i < frame->ntables; i++)
		drop_nameless(frame, &frame->tables[i]);
}

static bool check_row(const struct sonde_frame *frame, const struct frame_table *table,
		      const uint64_t *have, char *why, size_t size)
{
	const struct sonde_schema *schema = table->schema;
	const uint64_t *slots = have + schema->nhave;
	uint32_t used = schema->nslots & 63;

	if (used && have[schema->nhave - 1] >> used) {
		snprintf(why, size, "table %s: a slot above its last, %u, was set", schema->name,
			 schema->nslots - 1);
		return false;
	}
	for (uint32_t c = 0; schema->nstrings && c < schema->ncolumns; c++) {
		uint32_t slot = schema->slot[c];

		if (schema->columns[c].type != SONDE_STR || !(have[slot >> 6] >> (slot & 63) & 1))
			continue;
		if ((slots[slot] >> 32) + (uint32_t)slots[slot] > frame->strings.used) {
			snprintf(why, size,
				 "table %s, column %s: it is a text and was set as a number",
				 schema->name, schema->columns[c].name);
			return false;
		}
	}
	return true;
}

bool frame_check(struct sonde_frame *frame, char *why, size_t size)
{
	if (frame->strange) {
		snprintf(why, size, "a row of table %u was wanted, and it has %u, from 0",
			 frame->strange - 1, frame->ntables);
		return false;
	}
	for (uint32_t i = 0; i < frame->ntables; i++) {
		struct frame_table *table = &frame->tables[i];

		for (uint32_t row = 0; !table->looked_at && row < table->nrows; row++)
			if (!check_row(frame, table, table->words + (size_t)row * table->stride,
				       why, size))
				return false;
		table->looked_at = table->looked_at || table->nrows;
	}
	return true;
}

bool frame_row(struct sonde_frame *frame, uint32_t index, struct sonde_row *row)
{
	struct frame_table *table;

	if (index >= frame->ntables) {
		frame->strange = index + 1;
		return false;
	}
	table = &frame->tables[index];
	if (table->nrows == table->capacity) {
		table->lost++;
		frame->lost_rows++;
		frame->partial = true;
		return false;
	}
	row->have = table->words + (size_t)table->nrows++ * table->stride;
	row->slots = row->have + table->schema->nhave;
	row->strings = &frame->strings;
	/* One word or a few: a call would cost more. */
	row->have[0] = 0;
	for (uint32_t i = 1; i < table->schema->nhave; i++)
		row->have[i] = 0;
	return true;
}

void frame_views(const struct sonde_frame *frame, struct sonde_view *views)
{
	for (uint32_t i = 0; i < frame->ntables; i++) {
		const struct frame_table *table = &frame->tables[i];

		views[i].schema = table->schema;
		views[i].words = table->words;
		views[i].strings = frame->strings.bytes;
		views[i].changed = NULL;
		views[i].nrows = table->nrows;
		views[i].nchanged = 0;
		views[i].stride = table->stride;
		views[i].flags = frame->partial ? SONDE_PARTIAL : 0;
	}
}
