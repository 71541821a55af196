/* Writes the .sonde stream of docs/format.md: instants into objects, objects into segments. */
#include <errno.h>
#include <unistd.h>

#include <sonde/plugin.h>

#include "core/records.h"
#include "wire/clock.h"
#include "wire/describe.h"
#include "wire/rows.h"
#include "wire/segment.h"

enum {
	SEGMENT_INSTANTS = 120, /* and at least SEGMENT_NS */
	SEGMENT_BYTES = 256 << 10,
	STRINGS_BYTES = 64 << 10, /* of one object */
	STRINGS_ITEMS = 16 << 10,
};

/* Names and first values of 1,200 numbers are 7 KiB compressed: in segments of 120 instants a quarter of all at 1 Hz, half of
 * all at 10 Hz. What damage in the middle of a file may cost, and a reader passes over to reach a moment, is five minutes. */
#define SEGMENT_NS 300000000000u

struct writer {
	struct writer_options options;
	struct segment segment;
	struct frames frames;
	struct strings strings;
	struct pack object;
	uint32_t strings_sent;
	struct kept **tables;
	uint32_t ntables, tables_capacity;
	uint32_t next;     /* table that is looked at first: behind the one found last */
	uint32_t numbers;  /* tables in this segment */
	uint32_t ncolumns; /* of those */
	uint32_t instants; /* in this segment */
	uint64_t words;    /* that a reader keeps for the rows that live */
	uint64_t previous_sequence, previous_begin;
	uint64_t *event; /* a row of zeros, for tables of events */
	uint32_t event_size;
	struct sonde_anchor anchor;
};

/* What was kept of the view's table. Those of an instant come in the order of the one before. */
static struct kept *find_table(struct writer *writer, const struct sonde_view *view)
{
	struct kept **tables;
	struct kept *kept;

	for (uint32_t i = 0; i < writer->ntables; i++) {
		if (writer->next >= writer->ntables)
			writer->next = 0;
		kept = writer->tables[writer->next++];
		if (kept_is(kept, view))
			return kept;
	}
	if (writer->ntables == FORMAT_TABLES)
		return NULL;
	if (writer->ntables == writer->tables_capacity) {
		uint32_t capacity = writer->tables_capacity + 64;

		tables = realloc(writer->tables, capacity * sizeof(struct kept *));
		if (!tables)
			return NULL;
		writer->tables = tables;
		writer->tables_capacity = capacity;
	}
	kept = kept_new(view);
	if (kept)
		writer->tables[writer->ntables++] = kept;
	return kept;
}

/* Room for a row of zeros, which those of events are written against. */
static int reserve_event(struct writer *writer, uint32_t words)
{
	uint64_t *event;

	if (words <= writer->event_size)
		return 0;
	event = realloc(writer->event, words * sizeof *event);
	if (!event)
		return -ENOMEM;
	writer->event = event;
	writer->event_size = words;
	return 0;
}

/* The host's own tables, so that the first gap or note finds what it needs: nothing is allocated while sampling. */
static int expect_records(struct writer *writer)
{
	struct sonde_view views[RECORD_TABLES];
	struct sonde_frame records;
	int err = records_make(&records);

	if (err)
		return err;
	frame_views(&records, views);
	for (uint32_t i = 0; i < RECORD_TABLES && !err; i++) {
		const struct kept *kept;

		views[i].instance = "sonde"; /* as the host's streams call it */
		kept = find_table(writer, &views[i]);
		err = kept ? reserve_event(writer, kept->stride) : -ENOMEM;
	}
	frame_free(&records);
	return err;
}

struct writer *writer_new(const struct writer_options *options)
{
	struct writer *writer = calloc(1, sizeof *writer);

	if (!writer)
		return NULL;
	writer->options = *options;
	if (!writer->options.segment_bytes)
		writer->options.segment_bytes = SEGMENT_BYTES;
	if (segment_init(&writer->segment, options) || frames_init(&writer->frames) ||
	    strings_init(&writer->strings, options->id) ||
	    pack_new(&writer->object, FORMAT_BLOCK_BYTES) || expect_records(writer)) {
		writer_close(writer);
		return NULL;
	}
	return writer;
}

static void forget_tables(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->ntables; i++)
		kept_free(writer->tables[i]);
	writer->ntables = 0;
}

static int put_object(struct writer *writer)
{
	const struct pack *const pieces[] = { &writer->object };

	return segment_put(&writer->segment, pieces, 1);
}

static int begin_segment(struct writer *writer, const struct instant *instant)
{
	int err = segment_begin(&writer->segment);

	if (err)
		return err;
	if (writer->ntables == FORMAT_TABLES)
		forget_tables(writer);
	for (uint32_t i = 0; i < writer->ntables; i++)
		kept_empty(writer->tables[i]);
	strings_empty(&writer->strings);
	writer->strings_sent = writer->numbers = writer->ncolumns = writer->instants = 0;
	writer->previous_sequence = UINT64_MAX;
	writer->previous_begin = writer->words = 0;
	if (instant->header->anchor.boottime > writer->anchor.boottime)
		writer->anchor = instant->header->anchor;
	pack_empty(&writer->object);
	describe_header(&writer->object, instant->header, &writer->anchor);
	return put_object(writer);
}

/* The table's definition, and its help in every FORMAT_HELP_EVERYth segment. */
static int define(struct writer *writer, struct kept *kept, const struct sonde_view *view)
{
	uint32_t from = 0;
	int err = 0;

	writer->ncolumns += view->schema->ncolumns;
	if (writer->numbers == FORMAT_TABLES || writer->ncolumns > FORMAT_COLUMNS_ALL)
		return -EFBIG;
	kept->number = writer->numbers++;
	do {
		pack_empty(&writer->object);
		from = describe_table(&writer->object, view->schema, view->instance, kept->number,
				      from);
		err = put_object(writer);
	} while (from && !err);
	if (err || writer->segment.mark.number % FORMAT_HELP_EVERY)
		return err;
	do {
		pack_empty(&writer->object);
		from = describe_help(&writer->object, view->schema, kept->number, from);
		err = put_object(writer);
	} while (from && !err);
	return err;
}

/* Strings that the frames use and no object has brought yet. */
static int put_strings(struct writer *writer)
{
	struct strings *strings = &writer->strings;
	int err = 0;

	while (writer->strings_sent < strings->count && !err) {
		uint32_t from = writer->strings_sent, to = from, bytes = 0;

		while (to < strings->count && to - from < STRINGS_ITEMS && bytes < STRINGS_BYTES)
			bytes += strings->items[to++].length;
		pack_empty(&writer->object);
		pack_array(&writer->object, 1 + to - from);
		pack_uint32(&writer->object, FORMAT_STRINGS);
		for (uint32_t i = from; i < to; i++)
			pack_bytes(&writer->object, strings->bytes + strings->items[i].offset,
				   strings->items[i].length);
		writer->strings_sent = to;
		err = put_object(writer);
	}
	return err;
}

/* The object that is begun, with the frames behind what it has. */
static int put_frames(struct writer *writer)
{
	struct frames *frames = &writer->frames;
	const struct pack *const pieces[] = { &writer->object, &frames->structure,
					      &frames->values };
	int err;

	pack_array(&writer->object, frames->structure_items);
	err = segment_put(&writer->segment, pieces, 3);
	frames_empty(frames);
	return err;
}

/* The frames so far in an object of their own, where the instant has more than fits one. */
static int cut(struct writer *writer)
{
	struct frames *frames = &writer->frames;
	int err;

	if (!frames_full(frames))
		return 0;
	frames_close(frames);
	err = put_strings(writer);
	if (err)
		return err;
	pack_empty(&writer->object);
	pack_array(&writer->object, 2 + frames->value_items);
	pack_uint32(&writer->object, FORMAT_ROWS);
	err = put_frames(writer);
	frames_open(frames, frames->table, frames->partial);
	return err;
}

static int put_events(struct writer *writer, struct kept *kept, const struct sonde_view *view)
{
	int err;

	if (view->nrows > FORMAT_ROWS_EACH ||
	    writer->words + (uint64_t)view->nrows * kept->stride > FORMAT_WORDS_ALL)
		return -EFBIG;
	err = reserve_event(writer, kept->stride);
	for (uint32_t i = 0; i < view->nrows && !err; i++) {
		memset(writer->event, 0, kept->stride * sizeof *writer->event);
		err = frames_row(&writer->frames, kept, i, true, writer->event,
				 sonde_view_have(view, i), view->strings, &writer->strings);
		if (!err)
			err = cut(writer);
	}
	return err;
}

static int put_row(struct writer *writer, struct kept *kept, const struct sonde_view *view,
		   uint32_t i)
{
	uint32_t number = kept->match[i];
	bool is_new = number == KEPT_NONE;
	int err;

	if (is_new) {
		writer->words += kept->stride;
		number = writer->words > FORMAT_WORDS_ALL ? KEPT_NONE : kept_add(kept, i);
	}
	if (number == KEPT_NONE)
		return -EFBIG;
	err = frames_row(&writer->frames, kept, number, is_new, kept_words(kept, number),
			 sonde_view_have(view, i), view->strings, &writer->strings);
	if (is_new && !err)
		kept_added(kept, number);
	return err ? err : cut(writer);
}

static int put_rows(struct writer *writer, struct kept *kept, const struct sonde_view *view)
{
	int err = kept_match(kept, view, &writer->strings);
	uint32_t number;

	if (err)
		return err;
	if (!(view->flags & SONDE_PARTIAL))
		for (number = kept_missing(kept, 0); number != KEPT_NONE && !err;
		     number = kept_missing(kept, number + 1)) {
			frames_ended(&writer->frames, number);
			kept_drop(kept, number);
			writer->words -= kept->stride;
			err = cut(writer);
		}
	for (uint32_t i = 0; i < view->nrows && !err; i++)
		err = put_row(writer, kept, view, i);
	if (!err)
		kept_done(kept, view->nrows);
	return err;
}

static int put_view(struct writer *writer, const struct sonde_view *view)
{
	struct kept *kept = find_table(writer, view);
	int err = 0;

	if (!kept)
		return -EFBIG;
	if (kept->number == KEPT_NONE)
		err = define(writer, kept, view);
	if (err)
		return err;
	frames_open(&writer->frames, kept->number, view->flags & SONDE_PARTIAL);
	err = kept->flags & SONDE_EVENTS ? put_events(writer, kept, view)
					 : put_rows(writer, kept, view);
	frames_close(&writer->frames);
	clock_take(&writer->anchor, view);
	return err;
}

static int put_instant(struct writer *writer, const struct instant *instant)
{
	struct frames *frames = &writer->frames;
	int err = 0;

	if (!writer->segment.open)
		err = begin_segment(writer, instant);
	frames_empty(frames);
	for (uint32_t i = 0; i < instant->nviews && !err; i++)
		err = put_view(writer, &instant->views[i]);
	if (!err)
		err = put_strings(writer);
	if (err)
		return err;
	pack_empty(&writer->object);
	pack_array(&writer->object, 5 + frames->value_items);
	pack_uint32(&writer->object, FORMAT_INSTANT);
	pack_int64(&writer->object, (int64_t)(instant->sequence - writer->previous_sequence - 1));
	pack_int64(&writer->object, (int64_t)(instant->begin - writer->previous_begin));
	pack_int64(&writer->object, (int64_t)(instant->end - instant->begin));
	err = put_frames(writer);
	if (err)
		return err;
	writer->previous_sequence = instant->sequence;
	writer->previous_begin = instant->begin;
	segment_time(&writer->segment, instant->begin, instant->end);
	writer->instants++;
	return 0;
}

/* Whether the segment has all that it should. */
static bool complete(const struct writer *writer)
{
	const struct segment *segment = &writer->segment;
	uint32_t instants = writer->options.segment_instants;

	return (instants ? writer->instants >= instants
			 : writer->instants >= SEGMENT_INSTANTS &&
				   segment->end - segment->begin >= SEGMENT_NS) ||
	       segment->packed >= writer->options.segment_bytes ||
	       writer->strings.used > FORMAT_STRING_BYTES / 2 ||
	       writer->strings.count > FORMAT_STRINGS_ALL / 2;
}

int writer_instant(struct writer *writer, const struct instant *instant)
{
	int err = segment_retry(&writer->segment);

	if (err)
		return err;
	err = put_instant(writer, instant);
	if (err == -EFBIG && writer->instants) { /* alone in a segment it may fit */
		err = segment_end(&writer->segment, false);
		if (!err)
			err = put_instant(writer, instant);
	}
	if (err) {
		segment_end(&writer->segment, false); /* what it has of others is still good */
		return err;
	}
	if (complete(writer))
		err = segment_end(&writer->segment, false);
	return err == -EAGAIN ? 0 : err;
}

int writer_flush(struct writer *writer)
{
	return segment_flush(&writer->segment);
}

int writer_end_segment(struct writer *writer)
{
	return segment_end(&writer->segment, false);
}

/* Random where the system gives it; else the next number of a generator (splitmix64) that the id seeds. */
static void next_id(uint8_t id[16])
{
	uint64_t words[2];

	if (getentropy(id, 16) == 0)
		return;
	memcpy(words, id, 16);
	for (int i = 0; i < 2; i++) {
		words[i] += 0x9e3779b97f4a7c15u;
		words[i] = (words[i] ^ words[i] >> 30) * 0xbf58476d1ce4e5b9u;
		words[i] ^= words[i] >> 27;
	}
	memcpy(id, words, 16);
}

int writer_restart(struct writer *writer)
{
	int err = segment_end(&writer->segment, true);

	if (err)
		return err;
	next_id(writer->options.id);
	strings_guard(&writer->strings, writer->options.id);
	segment_restart(&writer->segment, writer->options.id);
	return 0;
}

int writer_close(struct writer *writer)
{
	int err = writer->segment.encoder ? segment_end(&writer->segment, true) : 0;

	segment_free(&writer->segment);
	frames_free(&writer->frames);
	strings_free(&writer->strings);
	free(writer->object.bytes);
	forget_tables(writer);
	free(writer->tables);
	free(writer->event);
	free(writer);
	return err;
}

int writer_to_fd(void *context, const void *bytes, size_t length, uint32_t flags)
{
	const char *at = bytes;

	(void)flags;
	while (length) {
		ssize_t n = write(*(int *)context, at, length);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? n : 0;
		length -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}
