/* What stood when a stretch of a recording began. */
#include <errno.h>
#include <stdlib.h>

#include "core/records.h"
#include "wire/standing.h"
#include "wire/table.h"

enum { NOTES_MOST = 256 };

/* A table as it was read last. */
struct stood {
	const struct table *table;
	struct instant *copy; /* of one view */
	size_t size;
};

struct standing {
	struct stood *tables;
	uint32_t ntables;
	struct sonde_frame notes;
	struct sonde_view *views; /* of the instant that was joined */
	struct view_changes *changes;
};

struct standing *standing_new(void)
{
	struct standing *standing = calloc(1, sizeof *standing);

	if (standing && records_make(&standing->notes)) {
		free(standing);
		return NULL;
	}
	return standing;
}

void standing_forget(struct standing *standing)
{
	for (uint32_t i = 0; i < standing->ntables; i++)
		free(standing->tables[i].copy);
	standing->ntables = 0;
	frame_begin(&standing->notes);
}

void standing_free(struct standing *standing)
{
	if (!standing)
		return;
	standing_forget(standing);
	free(standing->tables);
	frame_free(&standing->notes);
	free(standing->views);
	free(standing->changes);
	free(standing);
}

/* Whether there is anything in its rows that holds until it is read again. */
static bool stands(const struct sonde_schema *schema)
{
	for (uint32_t i = schema->nkeys; i < schema->ncolumns; i++)
		if (schema->columns[i].semantics != SONDE_COUNTER)
			return !(schema->flags & SONDE_EVENTS);
	return false;
}

static struct stood *stood_for(struct standing *standing, const struct table *table)
{
	struct stood *tables;

	for (uint32_t i = 0; i < standing->ntables; i++)
		if (standing->tables[i].table == table)
			return &standing->tables[i];
	tables = realloc(standing->tables, (standing->ntables + 1) * sizeof *tables);
	if (!tables)
		return NULL;
	standing->tables = tables;
	tables[standing->ntables] = (struct stood) { .table = table };
	return &tables[standing->ntables++];
}

static int keep(struct standing *standing, const struct tables *tables, const struct table *table)
{
	const struct sonde_view view = table_view(tables, table);
	const struct instant instant = { .views = &view, .nviews = 1 };
	size_t size = instant_size(&instant, false);
	struct stood *stood = stood_for(standing, table);
	void *block;

	if (!stood)
		return -ENOMEM;
	if (size > stood->size) {
		block = realloc(stood->copy, size);
		if (!block)
			return -ENOMEM;
		stood->copy = block;
		stood->size = size;
	}
	instant_copy(stood->copy, &instant, false);
	return 0;
}

int standing_keep(struct standing *standing, const struct tables *tables)
{
	int err = 0;

	for (uint32_t i = 0; i < tables->nnumbered && !err; i++)
		if (stands(tables->numbered[i]->schema))
			err = keep(standing, tables, tables->numbered[i]);
	return err;
}

int standing_note(struct standing *standing, const struct sonde_view *view)
{
	const struct frame_table *notes = &standing->notes.tables[RECORD_NOTE];
	struct sonde_row row;

	for (uint32_t i = 0; i < view->nrows && notes->nrows < NOTES_MOST; i++) {
		int err;

		if (!sonde_view_has(view, i, NOTE_INSTANCE) ||
		    !(uint32_t)sonde_view_slots(view, i)[NOTE_INSTANCE])
			continue;
		err = records_row(&standing->notes, RECORD_NOTE, &row);
		for (uint32_t slot = NOTE_INSTANCE; slot <= NOTE_TABLES && !err; slot++) {
			uint32_t length;
			const char *bytes = record_text(view, i, slot, &length);
			char *text = strndup(bytes, length);

			err = text ? 0 : -ENOMEM;
			if (!err)
				records_str(&standing->notes, &row, slot, text);
			free(text);
		}
		if (err)
			return err;
	}
	return 0;
}

/* Nobody read its counters at the moment that it is to stand for. */
static void clear_counters(const struct sonde_view *view)
{
	const struct sonde_schema *schema = view->schema;
	uint64_t *have = (uint64_t *)view->words;

	for (uint32_t row = 0; row < view->nrows; row++, have += view->stride)
		for (uint32_t i = 0; i < schema->ncolumns; i++) {
			const struct sonde_column *column = &schema->columns[i];
			uint32_t n = column->type == SONDE_HIST ? column->slots : 1;

			for (uint32_t slot = schema->slot[i]; slot < schema->slot[i] + n; slot++) {
				if (column->semantics != SONDE_COUNTER)
					continue;
				have[slot >> 6] &= ~((uint64_t)1 << (slot & 63));
				have[schema->nhave + slot] = 0;
			}
		}
}

static bool was_read(const struct instant *instant, const struct table *table)
{
	for (uint32_t i = 0; i < instant->nviews; i++)
		if (instant->views[i].schema == table->schema &&
		    instant->views[i].instance == table->instance)
			return true;
	return false;
}

int standing_join(struct standing *standing, const struct tables *tables, struct instant *instant)
{
	struct sonde_view records[RECORD_TABLES];
	uint32_t n = instant->nviews;
	int err = standing_keep(standing, tables);

	if (err)
		return err;
	standing->views = calloc(n + standing->ntables + 2, sizeof *standing->views);
	standing->changes = calloc(n + standing->ntables + 2, sizeof *standing->changes);
	if (!standing->views || !standing->changes)
		return -ENOMEM;
	memcpy(standing->views, instant->views, n * sizeof *standing->views);
	memcpy(standing->changes, instant->changes, n * sizeof *standing->changes);
	for (uint32_t i = 0; i < standing->ntables; i++) {
		const struct stood *stood = &standing->tables[i];

		if (!stood->copy || was_read(instant, stood->table))
			continue;
		clear_counters(stood->copy->views);
		standing->views[n++] = stood->copy->views[0];
	}
	frame_views(&standing->notes, records);
	if (records[RECORD_NOTE].nrows) {
		standing->views[n] = records[RECORD_NOTE];
		standing->views[n++].instance = "sonde";
	}
	instant->views = standing->views;
	instant->changes = standing->changes;
	instant->nviews = n;
	return 0;
}

struct sonde_view *standing_views(struct standing *standing)
{
	return standing->views;
}
