/* What a worker answered to a sample, into the frames of its instance. */
#include <stdlib.h>

#include "core/records.h"
#include "host/capture.h"
#include "live/isolated_rows.h"
#include "host/worker.h"

/* The table in the instance's arena that has this schema; a new one where there is none yet. */
static struct frame_table *find_table(struct foreign *foreign, struct sonde_frame *frame,
				      const struct sonde_schema *schema, uint32_t *index)
{
	const struct sonde_schema *kept = foreign_schema(foreign, schema);

	if (!kept)
		return NULL;
	for (*index = 0; *index < frame->ntables; ++*index)
		if (frame->tables[*index].schema == kept)
			return &frame->tables[*index];
	if (frame_add_table(frame, kept, 1, 0))
		return NULL;
	return &frame->tables[*index];
}

static void copy_row(const struct sonde_view *view, uint32_t from, struct sonde_row *to)
{
	const struct sonde_schema *schema = view->schema;
	const uint64_t *words = sonde_view_have(view, from);

	memcpy(to->have, words, view->stride * sizeof *words);
	for (uint32_t c = 0; schema->nstrings && c < schema->ncolumns; c++) {
		uint32_t slot = schema->slot[c], length;
		const char *bytes;

		if (schema->columns[c].type != SONDE_STR || !sonde_has(to, slot))
			continue;
		bytes = sonde_view_bytes(view, to->slots[slot], &length);
		to->have[slot >> 6] &= ~((uint64_t)1 << (slot & 63));
		sonde_set_bytes(to, slot, bytes, length);
	}
}

/* Room for all of it: there is no sampling to hold up here. */
static bool make_room(struct sonde_frame *frame, struct frame_table *table,
		      const struct sonde_view *view, size_t strings)
{
	size_t size = frame->strings.used + strings;

	if (view->nrows > table->capacity) {
		size_t rows = (size_t)view->nrows * 2;
		uint64_t *words = realloc(table->words, rows * table->stride * sizeof *words);

		if (!words)
			return false;
		table->words = words;
		table->capacity = (uint32_t)rows;
	}
	if (size > frame->strings.size) {
		char *bytes =
			size < WORKER_PAYLOAD ? realloc(frame->strings.bytes, size * 2) : NULL;

		if (!bytes)
			return false;
		frame->strings.bytes = bytes;
		frame->strings.size = (uint32_t)size * 2;
	}
	return true;
}

static void copy_rows(struct foreign *foreign, struct sonde_frame *frame,
		      const struct sonde_view *view)
{
	const struct instant one = { .views = view, .nviews = 1, .header = view->header };
	uint32_t index;
	struct frame_table *table = find_table(foreign, frame, view->schema, &index);
	struct sonde_row row;

	if (!table || !make_room(frame, table, view, instant_size(&one, false)))
		return;
	for (uint32_t i = 0; i < view->nrows; i++)
		if (frame_row(frame, index, &row))
			copy_row(view, i, &row);
	if (view->flags & SONDE_PARTIAL)
		frame->partial = true;
}

/* Other gaps are the worker's own, and the host tells them itself. */
static bool is_of_plugin(const struct sonde_view *view, uint32_t row)
{
	const char *bytes;
	uint32_t length;

	if (!record_view_is(view, RECORD_GAP))
		return true;
	if (!sonde_view_has(view, row, GAP_REASON))
		return false;
	bytes = sonde_view_bytes(view, sonde_view_slots(view, row)[GAP_REASON], &length);
	return length == 4 && memcmp(bytes, "lost", 4) == 0;
}

/* What the plugin said in its worker: `say` is the host's service for rows of this table. */
static void pass_texts(struct instance *instance, const struct sonde_view *view, uint32_t slot,
		       void (*say)(struct sonde_instance *self, const char *message))
{
	for (uint32_t i = 0; i < view->nrows; i++) {
		char text[512];
		uint32_t length;
		const char *bytes;

		if (!sonde_view_has(view, i, slot) || !is_of_plugin(view, i))
			continue;
		bytes = sonde_view_bytes(view, sonde_view_slots(view, i)[slot], &length);
		snprintf(text, sizeof text, "%.*s", (int)(length < 511 ? length : 511), bytes);
		say(&instance->self, text);
	}
}

int isolated_rows(struct reader *reader, struct foreign *foreign, struct instance *instance,
		  bool own_time)
{
	struct sonde_frame *frame = &instance->frame;
	const struct instant *instant;
	int err;

	while ((err = reader_next(reader, &instant)) > 0) {
		for (uint32_t i = 0; i < instant->nviews; i++) {
			const struct sonde_view *view = &instant->views[i];

			if (strcmp(view->instance, instance->self.name) == 0)
				copy_rows(foreign, frame, view);
			else if (strcmp(view->schema->name, raw_table.name) == 0)
				copy_rows(foreign, &instance->raw, view);
			else if (record_view_is(view, RECORD_NOTE))
				pass_texts(instance, view, NOTE_TEXT, instance->self.host->note);
			else if (record_view_is(view, RECORD_GAP))
				pass_texts(instance, view, GAP_TEXT, instance->self.host->gap);
		}
		if (own_time) {
			frame->own_time = true;
			frame->begin = instant->begin;
			frame->end = instant->end;
		}
	}
	return err;
}
