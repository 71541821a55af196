/* Reads the .sonde stream of docs/format.md: units (units.h), their objects into tables (tables.h), instants out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/records.h"
#include "wire/clock.h"
#include "wire/gap.h"
#include "wire/lookup.h"
#include "wire/units.h"

enum { WINDOW = 2 * FORMAT_BLOCK_BYTES };

struct reader *reader_new(const struct reader_options *options)
{
	struct reader *reader = calloc(1, sizeof *reader);

	if (!reader)
		return NULL;
	reader->options = *options;
	reader->input = (struct input) { .read = options->read,
					 .seek = options->seek,
					 .context = options->context };
	reader->decoder = lz4_decoder_new();
	reader->unpack = unpack_new();
	reader->block = malloc(FORMAT_BLOCK_BYTES);
	if (options->since && options->standing)
		reader->standing = standing_new();
	if (tables_init(&reader->tables) || input_init(&reader->input, WINDOW) ||
	    records_make(&reader->records) || !reader->decoder || !reader->unpack ||
	    !reader->block || (options->since && options->standing && !reader->standing)) {
		reader_free(reader);
		return NULL;
	}
	return reader;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	tables_free(&reader->tables);
	input_free(&reader->input);
	frame_free(&reader->records);
	lz4_decoder_free(reader->decoder);
	unpack_free(reader->unpack);
	standing_free(reader->standing);
	free(reader->block);
	free(reader->header);
	free(reader);
}

const struct reader_state *reader_state(const struct reader *reader)
{
	return &reader->state;
}

static int take_header(struct reader *reader, struct items *items)
{
	const char *why;
	struct sonde_stream_header *header = learn_header(items, &why);

	if (!header)
		return units_lose(reader, why);
	if (reader->standing && !reader->joined && reader->header &&
	    reader->header->start_id != header->start_id)
		standing_forget(reader->standing);
	free(reader->header);
	reader->header = header;
	reader->headed = true;
	if (header->anchor.boottime > reader->anchor.boottime)
		reader->anchor = header->anchor;
	return 1;
}

static bool outside(const struct reader *reader, uint64_t begin)
{
	return (reader->options.since && begin < reader->options.since) ||
	       (reader->options.until && begin > reader->options.until);
}

/* What was passed over, as a row of the table `gap`, into the view behind the others. */
static void add_gap(struct reader *reader, struct sonde_view *view)
{
	struct instant *instant = &reader->instant;
	struct gap gap = { .reason = "damaged", .text = reader->lost_text, .end = instant->begin };

	if (reader->any)
		gap.begin = reader->last_end;
	if (reader->any && instant->sequence > reader->last_sequence)
		gap.lost = instant->sequence - reader->last_sequence - 1;
	if (gap_view(&reader->records, &gap, view))
		instant->nviews++;
	reader->gap = false;
}

/* Whether the sender says in this view that it stopped. */
static bool is_end(const struct sonde_view *view)
{
	return view->nrows && view->schema->flags & SONDE_EVENTS &&
	       strcmp(view->schema->name, "end") == 0;
}

/* Over what is before `since`, once, where an index knows the way. 1, or negative errno. */
static int jump(struct reader *reader)
{
	int moved = lookup(&reader->input, &reader->mark, reader->mark_at, reader->options.since);

	reader->jumped = true;
	if (moved < 0)
		return moved;
	if (moved) {
		reader->place = PLACE_BETWEEN;
		reader->block_at = reader->block_used = 0;
		reader->whole = input_offset(&reader->input);
	}
	return 1;
}

/* An instant that is outside of since and until. 1, or a negative errno. */
static int pass(struct reader *reader)
{
	const struct instant *instant = &reader->instant;
	bool before = instant->begin < reader->options.since, stands = reader->standing && before;

	tables_passed(&reader->tables, instant->nviews);
	for (uint32_t i = 0; stands && !reader->joined && i < instant->nviews; i++)
		if (record_view_is(&instant->views[i], RECORD_NOTE) &&
		    standing_note(reader->standing, &instant->views[i]))
			return -ENOMEM;
	return before && reader->options.seek && !reader->standing && !reader->jumped ? jump(reader)
										      : 1;
}

/* The instant whose frames have come. 2: it is ready; 1: it is outside of since and until; or a negative errno. */
static int finish_instant(struct reader *reader, uint64_t sequence, uint64_t begin, uint64_t end)
{
	struct instant *instant = &reader->instant;
	uint32_t sampled;
	struct sonde_view *views = tables_views(&reader->tables, &sampled);
	bool stands = reader->standing && !reader->joined && !outside(reader, begin);

	instant->nviews = sampled;
	reader->sequence = sequence;
	reader->begin = begin;
	instant->header = reader->header;
	instant->views = views;
	instant->changes = reader->tables.changes;
	instant->sequence = sequence;
	instant->begin = begin;
	instant->end = end;
	for (uint32_t i = 0; i < sampled; i++) {
		if (!(views[i].schema->flags & SONDE_EVENTS))
			continue;
		clock_take(&reader->anchor, &views[i]);
		reader->state.ended |= is_end(&views[i]);
	}
	instant->realtime = clock_realtime(&reader->anchor, begin);
	if (stands) {
		if (standing_join(reader->standing, &reader->tables, instant))
			return -ENOMEM;
		reader->joined = true;
		views = standing_views(reader->standing);
	}
	if (reader->gap && !outside(reader, begin))
		add_gap(reader, &views[instant->nviews]);
	instant_stamp(instant, views);
	reader->last_end = end;
	reader->last_sequence = sequence;
	reader->any = true;
	reader->state.changed_values = reader->tables.changed_values;
	if (outside(reader, begin))
		return pass(reader);
	reader->state.instants += sampled > 0;
	return 2;
}

/* The rest of an object of `n` items with rows of an instant. As finish_instant(); 1 as well where it is damaged, or only a
 * part of an instant. */
static int take_rows(struct reader *reader, struct bytes_left *from, uint32_t n, uint64_t type)
{
	bool whole = type == FORMAT_INSTANT, bad = !reader->headed || n < (whole ? 5 : 2);
	uint64_t sequence = reader->sequence + 1, begin = reader->begin, end;
	struct bytes_left rows;
	struct item structure;

	if (whole) {
		sequence += item_take_int(from, &bad);
		begin += item_take_int(from, &bad);
	}
	end = begin + (whole ? item_take_int(from, &bad) : 0);
	if (bad || !item_take(from, &structure) || structure.kind != ITEM_ARRAY ||
	    structure.length > FORMAT_OBJECT_ITEMS - 1 - n)
		return units_lose(reader, "an instant is cut, or out of turn");
	rows = *from;
	if (!item_skip_flat(from, structure.length))
		return units_lose(reader, "an instant is cut");
	rows.end = from->at;
	if (!tables_frames(&reader->tables, rows, from, n - (whole ? 5 : 2)))
		return units_lose(reader, reader->tables.why);
	reader->block_at = (size_t)(from->at - reader->block);
	return whole ? finish_instant(reader, sequence, begin, end) : 1;
}

/* An object that defines something. As take_rows(). */
static int take_definition(struct reader *reader)
{
	int64_t n = unpack_object(reader->unpack, reader->block + reader->block_at,
				  reader->block_used - reader->block_at);
	struct items items;
	uint64_t type;
	bool good = true;

	if (n < 0)
		return units_lose(reader, "malformed msgpack");
	reader->block_at += (size_t)n;
	items = unpack_items(reader->unpack);
	items_array(&items);
	type = items_u64(&items, UINT64_MAX);
	if (items.bad || (type == FORMAT_HEADER) == reader->headed)
		return units_lose(reader, "an object out of turn");
	switch (type) {
	case FORMAT_HEADER:
		return take_header(reader, &items);
	case FORMAT_TABLE:
		good = tables_define(&reader->tables, &items);
		break;
	case FORMAT_COLUMNS:
		good = tables_columns(&reader->tables, &items);
		break;
	case FORMAT_HELP:
		good = tables_help(&reader->tables, &items);
		break;
	case FORMAT_STRINGS:
		good = tables_strings(&reader->tables, &items);
		break;
	default: /* a newer format's */
		break;
	}
	return good ? 1 : units_lose(reader, reader->tables.why);
}

/* The next object of the block. Rows are most of a recording: their values go from the bytes to their slots. */
static int take_object(struct reader *reader)
{
	struct bytes_left from = { reader->block + reader->block_at,
				   reader->block + reader->block_used };
	struct item array, type;

	if (item_take(&from, &array) && array.kind == ITEM_ARRAY &&
	    array.length < FORMAT_OBJECT_ITEMS && item_take(&from, &type) &&
	    type.kind == ITEM_INT && (type.number == FORMAT_INSTANT || type.number == FORMAT_ROWS))
		return take_rows(reader, &from, array.length, type.number);
	return take_definition(reader);
}

static int step(struct reader *reader)
{
	if (reader->block_at < reader->block_used)
		return take_object(reader);
	reader->block_at = reader->block_used = 0;
	return units_take(reader);
}

/* Another input, which stands for itself. */
static void begin_input(struct reader *reader)
{
	const struct reader_state *state = &reader->state;

	reader->state = (struct reader_state) { .instants = state->instants,
						.changed_values = state->changed_values };
	reader->input.at = reader->input.used = 0;
	reader->input.offset = reader->whole = 0;
	reader->block_at = reader->block_used = 0;
	reader->place = PLACE_START;
	reader->jumped = false;
	units_begin_stream(reader);
}

int reader_next(struct reader *reader, const struct instant **instant)
{
	int got;

	for (;;) {
		do
			got = step(reader);
		while (got == 1);
		if (got == 2) {
			*instant = &reader->instant;
			return 1;
		}
		units_stock(reader);
		if (reader->options.next)
			got = reader->options.next(reader->options.context, got);
		if (got != 1)
			return got;
		begin_input(reader);
	}
}
