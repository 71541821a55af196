/* Reads the .sonde stream of docs/format.md: marks and blocks here, objects into tables (tables.h), instants out. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/clock.h"
#include "wire/gap.h"
#include "wire/index.h"
#include "wire/input.h"
#include "wire/lookup.h"
#include "wire/lz4.h"
#include "wire/reader.h"
#include "wire/tables.h"

enum { WINDOW = 2 * FORMAT_BLOCK_BYTES, MARK_PATTERN = FORMAT_SKIP_HEAD + 16 };

/* Where in the stream the next byte stands. */
enum place {
	PLACE_START,   /* nothing was read yet */
	PLACE_BETWEEN, /* a mark or another skippable frame follows */
	PLACE_MARKED,  /* a mark was there: its segment follows */
	PLACE_SEGMENT, /* a block follows, or the end of the segment */
	PLACE_SKIP,    /* in a skippable frame of somebody else */
	PLACE_LOST,    /* behind damage: only a mark of this stream with a higher number counts */
};

struct reader {
	struct reader_options options;
	struct input input;
	struct lz4_decoder *decoder;
	struct unpack *unpack;
	struct tables tables;
	enum place place;
	struct mark mark; /* of the segment that is being read, or was last */
	uint64_t skip;    /* bytes left of PLACE_SKIP */
	bool jumped;      /* the index was asked */

	unsigned char *block; /* content of a block whose checksum held */
	size_t block_at, block_used;
	bool headed; /* the segment's header was there */

	struct sonde_stream_header *header;
	struct sonde_anchor anchor;
	uint64_t sequence, begin; /* of the instant before, in this segment */
	uint64_t last_end, last_sequence;
	bool any; /* those two are of an instant of this stream */
	struct instant instant;

	struct sonde_frame records; /* a gap for the next instant */
	char lost_text[160];        /* of damage that may still turn out to be zeros at the end */
	uint64_t lost_at;
	uint64_t whole; /* offset behind the last whole block, segment or skippable frame */
	bool lost_counted, gap;
	struct reader_state state;
};

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
	if (tables_init(&reader->tables) || input_init(&reader->input, WINDOW) ||
	    records_make(&reader->records) || !reader->decoder || !reader->unpack ||
	    !reader->block) {
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
	free(reader->block);
	free(reader->header);
	free(reader);
}

const struct reader_state *reader_state(const struct reader *reader)
{
	return &reader->state;
}

static void count_damage(struct reader *reader)
{
	struct reader_state *state = &reader->state;

	if (reader->lost_counted)
		return;
	reader->lost_counted = reader->gap = true;
	if (state->damaged++)
		return;
	state->damage_at = reader->lost_at;
	snprintf(state->damage, sizeof state->damage, "%s", reader->lost_text);
}

/* From here on nothing counts until the next good mark. Zeros may be what a power cut left of a file's end: they are damage
 * only when something else follows. */
__attribute__((format(printf, 2, 3))) static void lose(struct reader *reader, const char *format,
						       ...)
{
	const struct input *input = &reader->input;
	bool in_block = reader->block_used != 0;
	va_list args;

	va_start(args, format);
	vsnprintf(reader->lost_text, sizeof reader->lost_text, format, args);
	va_end(args);
	reader->place = PLACE_LOST;
	reader->lost_at = input_offset(input);
	reader->lost_counted = false;
	reader->block_at = reader->block_used = 0;
	tables_reset(&reader->tables);
	if (in_block || input_left(input) < 4 || get_le32(input_bytes(input)))
		count_damage(reader);
}

static int lose_segment(struct reader *reader, const char *what)
{
	lose(reader, "segment %llu, before byte %llu: %s", (unsigned long long)reader->mark.number,
	     (unsigned long long)input_offset(&reader->input), what);
	return 1;
}

/* The next whole mark of this stream with a higher number among the bytes that are there. */
static const unsigned char *find_mark(const struct reader *reader, struct mark *mark)
{
	const unsigned char *bytes = input_bytes(&reader->input);
	const unsigned char *end = bytes + input_left(&reader->input);
	unsigned char pattern[MARK_PATTERN];

	put_le32(pattern, FORMAT_MARK_MAGIC);
	put_le32(pattern + 4, FORMAT_MARK_BYTES);
	memcpy(pattern + 8, reader->mark.id, 16);
	for (; (bytes = memmem(bytes, (size_t)(end - bytes), pattern, sizeof pattern)); bytes++)
		if (end - bytes >= MARK_FRAME && mark_read(bytes, mark) &&
		    mark->number > reader->mark.number)
			return bytes;
	return NULL;
}

/* A mark, a header, a block or an end of this length is wrong. A power cut leaves zeros from the middle of one on: it is not
 * counted unless something else follows. */
static int lose_unit(struct reader *reader, size_t length, const char *what)
{
	struct input *input = &reader->input;
	struct mark mark;

	if (input_want(input, length + MARK_FRAME) >= (int64_t)length &&
	    !input_bytes(input)[length - 1] && !find_mark(reader, &mark))
		input_take(input, length);
	return lose_segment(reader, what);
}

static void begin_segment(struct reader *reader, const struct mark *mark)
{
	if (reader->place != PLACE_START && memcmp(mark->id, reader->mark.id, 16) != 0) {
		reader->any = reader->state.ended = false;
		reader->anchor = (struct sonde_anchor) { 0 };
	}
	reader->mark = *mark;
	reader->place = PLACE_MARKED;
	input_take(&reader->input, MARK_FRAME);
}

/* Between segments. 1: went on; 0: nothing more by now; negative errno. */
static int take_between(struct reader *reader)
{
	struct input *input = &reader->input;
	int64_t left = input_want(input, MARK_FRAME);
	uint32_t magic;
	struct mark mark;

	if (left < FORMAT_SKIP_HEAD)
		return left < 0 ? (int)left : 0;
	magic = get_le32(input_bytes(input));
	if (magic == FORMAT_MARK_MAGIC && left >= MARK_FRAME &&
	    mark_read(input_bytes(input), &mark) &&
	    (memcmp(mark.id, reader->mark.id, 16) != 0 || mark.number > reader->mark.number)) {
		begin_segment(reader, &mark);
		return 1;
	}
	if (magic == FORMAT_MARK_MAGIC && left < MARK_FRAME)
		return 0;
	if (magic >= FORMAT_SKIP_FIRST && magic <= FORMAT_SKIP_LAST && magic != FORMAT_MARK_MAGIC &&
	    (magic != FORMAT_INDEX_MAGIC || get_le32(input_bytes(input) + 4) <= INDEX_PAYLOAD)) {
		reader->skip = FORMAT_SKIP_HEAD + (uint64_t)get_le32(input_bytes(input) + 4);
		reader->place = PLACE_SKIP;
		return 1;
	}
	return lose_unit(reader, MARK_FRAME, "no segment begins behind it");
}

static int take_start(struct reader *reader)
{
	int64_t left = input_want(&reader->input, MARK_FRAME);
	struct mark mark;

	if (left < MARK_FRAME)
		return left < 0 ? (int)left : -EBADMSG;
	if (!mark_read(input_bytes(&reader->input), &mark))
		return -EBADMSG;
	begin_segment(reader, &mark);
	return 1;
}

static int take_skip(struct reader *reader)
{
	int64_t left = input_want(&reader->input, 1);

	if (left <= 0)
		return (int)left;
	if ((uint64_t)left > reader->skip)
		left = (int64_t)reader->skip;
	input_take(&reader->input, (size_t)left);
	reader->skip -= (uint64_t)left;
	if (!reader->skip) {
		reader->whole = input_offset(&reader->input);
		reader->place = PLACE_BETWEEN;
	}
	return 1;
}

static int take_frame_header(struct reader *reader)
{
	struct input *input = &reader->input;
	int64_t left = input_want(input, LZ4_HEADER_BYTES);

	if (left < LZ4_HEADER_BYTES)
		return left < 0 ? (int)left : 0;
	if (lz4_decode_begin(reader->decoder, input_bytes(input)))
		return lose_unit(reader, LZ4_HEADER_BYTES, "no frame where one should begin");
	input_take(input, LZ4_HEADER_BYTES);
	tables_reset(&reader->tables);
	reader->place = PLACE_SEGMENT;
	reader->headed = false;
	reader->sequence = UINT64_MAX;
	reader->begin = 0;
	return 1;
}

static int take_segment_end(struct reader *reader)
{
	struct input *input = &reader->input;
	int64_t left = input_want(input, LZ4_END_BYTES);

	if (left < LZ4_END_BYTES)
		return left < 0 ? (int)left : 0;
	if (lz4_decode_end(reader->decoder, input_bytes(input)))
		return lose_unit(reader, LZ4_END_BYTES, "its checksum is wrong");
	input_take(input, LZ4_END_BYTES);
	reader->whole = input_offset(input);
	reader->place = PLACE_BETWEEN;
	return 1;
}

/* The input ends in a block: it is torn, unless it only seems so long since its length is damaged. */
static int take_cut_block(struct reader *reader)
{
	struct mark mark;

	return find_mark(reader, &mark) ? lose_segment(reader, "a damaged block") : 0;
}

/* A whole block, checked, into reader->block. */
static int take_block(struct reader *reader)
{
	struct input *input = &reader->input;
	int64_t left = input_want(input, LZ4_BLOCK_HEAD), n;
	uint32_t length;

	if (left < LZ4_BLOCK_HEAD)
		return left < 0 ? (int)left : 0;
	length = get_le32(input_bytes(input));
	if (!length)
		return take_segment_end(reader);
	length &= 0x7fffffff;
	if (!length || length > FORMAT_BLOCK_BYTES)
		return lose_segment(reader, "no block");
	left = input_want(input, length + LZ4_BLOCK_EXTRA);
	if (left < 0)
		return (int)left;
	if (left < length + LZ4_BLOCK_EXTRA)
		return take_cut_block(reader);
	n = lz4_decode_block(reader->decoder, input_bytes(input), length + LZ4_BLOCK_EXTRA,
			     reader->block);
	if (n < 2 || memcmp(reader->block, FORMAT_BLOCK_BEGIN, 2) != 0)
		return lose_unit(reader, length + LZ4_BLOCK_EXTRA, "a damaged block");
	input_take(input, length + LZ4_BLOCK_EXTRA);
	reader->whole = input_offset(input);
	reader->block_at = 2;
	reader->block_used = (size_t)n;
	return 1;
}

/* Looks for the next mark of this stream. What stands before it is passed over. */
static int take_lost(struct reader *reader)
{
	struct input *input = &reader->input;
	int64_t left;
	struct mark mark;

	while ((left = input_want(input, MARK_FRAME)) > 0) {
		const unsigned char *bytes = input_bytes(input);
		const unsigned char *found = find_mark(reader, &mark);
		size_t window = input_left(input);
		size_t pass = found                  ? (size_t)(found - bytes)
			      : window >= MARK_FRAME ? window - MARK_FRAME + 1
						     : 0;

		for (size_t i = 0; i < (found ? pass : window) && !reader->lost_counted; i++)
			if (bytes[i])
				count_damage(reader);
		input_take(input, pass);
		if (found) {
			count_damage(reader);
			begin_segment(reader, &mark);
			return 1;
		}
		if (window < MARK_FRAME)
			return 0;
	}
	return (int)left;
}

static int take_header(struct reader *reader, struct items *items)
{
	const char *why;
	struct sonde_stream_header *header = learn_header(items, &why);

	if (!header)
		return lose_segment(reader, why);
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
	int moved = lookup(&reader->input, &reader->mark, reader->options.since);

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

/* 2: an instant is ready; 1: it was outside of since and until, or damaged. */
static int take_instant(struct reader *reader, struct items *items)
{
	struct instant *instant = &reader->instant;
	uint64_t sequence = items_int(items) + reader->sequence + 1;
	uint64_t begin = items_int(items) + reader->begin;
	uint64_t end = items_int(items) + begin;
	struct sonde_view *views;
	uint32_t sampled;

	if (items->bad || !tables_frames(&reader->tables, items))
		return lose_segment(reader, items->bad ? "an instant is cut" : reader->tables.why);
	views = tables_views(&reader->tables, &sampled);
	instant->nviews = sampled;
	reader->sequence = sequence;
	reader->begin = begin;
	instant->header = reader->header;
	instant->views = views;
	instant->sequence = sequence;
	instant->begin = begin;
	instant->end = end;
	for (uint32_t i = 0; i < sampled; i++) {
		clock_take(&reader->anchor, &views[i]);
		reader->state.ended |= is_end(&views[i]);
	}
	instant->realtime = clock_realtime(&reader->anchor, begin);
	if (reader->gap && !outside(reader, begin))
		add_gap(reader, &views[instant->nviews]);
	instant_stamp(instant, views);
	reader->last_end = end;
	reader->last_sequence = sequence;
	reader->any = true;
	reader->state.changed_values = reader->tables.changed_values;
	if (!outside(reader, begin)) {
		reader->state.instants++;
		return 2;
	}
	tables_passed(&reader->tables, sampled);
	return begin < reader->options.since && reader->options.seek && !reader->jumped
		       ? jump(reader)
		       : 1;
}

/* The next object of the block. As take_instant(). */
static int take_object(struct reader *reader)
{
	int64_t n = unpack_object(reader->unpack, reader->block + reader->block_at,
				  reader->block_used - reader->block_at);
	struct items items;
	uint64_t type;
	bool good = true;

	if (n < 0)
		return lose_segment(reader, "malformed msgpack");
	reader->block_at += (size_t)n;
	items = unpack_items(reader->unpack);
	items_array(&items);
	type = items_u64(&items, UINT64_MAX);
	if (items.bad || (type == FORMAT_HEADER) == reader->headed)
		return lose_segment(reader, "an object out of turn");
	switch (type) {
	case FORMAT_HEADER:
		return take_header(reader, &items);
	case FORMAT_INSTANT:
		return take_instant(reader, &items);
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
	case FORMAT_ROWS:
		good = tables_frames(&reader->tables, &items);
		break;
	default: /* a newer format's */
		break;
	}
	return good ? 1 : lose_segment(reader, reader->tables.why);
}

static int step(struct reader *reader)
{
	static int (*const takes[])(struct reader * reader) = {
		[PLACE_START] = take_start,         [PLACE_BETWEEN] = take_between,
		[PLACE_MARKED] = take_frame_header, [PLACE_SEGMENT] = take_block,
		[PLACE_SKIP] = take_skip,           [PLACE_LOST] = take_lost,
	};

	if (reader->block_at < reader->block_used)
		return take_object(reader);
	reader->block_at = reader->block_used = 0;
	return takes[reader->place](reader);
}

int reader_next(struct reader *reader, const struct instant **instant)
{
	int got;

	do
		got = step(reader);
	while (got == 1);
	if (got == 2) {
		*instant = &reader->instant;
		return 1;
	}
	reader->state.torn = 0;
	if (reader->place != PLACE_LOST || !reader->lost_counted)
		reader->state.torn =
			input_offset(&reader->input) + input_left(&reader->input) - reader->whole;
	return got;
}
