/* Marks, blocks and skippable frames of docs/format.md, one after the other, and what of them counts behind damage. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "wire/units.h"

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

/* Whether this is the mark of a later segment of the same stream. */
static bool is_later(const struct reader *reader, const struct mark *mark)
{
	return memcmp(mark->id, reader->mark.id, 16) == 0 && mark->number > reader->mark.number;
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
	reader->state.unread_at = 0;
	reader->lost_at = input_offset(input);
	reader->lost_counted = false;
	reader->block_at = reader->block_used = 0;
	tables_reset(&reader->tables);
	if (in_block || input_left(input) < 4 || get_le32(input_bytes(input)))
		count_damage(reader);
}

int units_lose(struct reader *reader, const char *what)
{
	lose(reader, "segment %llu, before byte %llu: %s", (unsigned long long)reader->mark.number,
	     (unsigned long long)input_offset(&reader->input), what);
	return 1;
}

/* The next whole mark among `length` bytes; `later`: of this stream, with a higher number. */
static const unsigned char *find_mark(const struct reader *reader, size_t length, bool later,
				      struct mark *mark)
{
	const unsigned char *bytes = input_bytes(&reader->input), *end = bytes + length;
	unsigned char begin[MARK_BEGIN];
	size_t known = later ? MARK_BEGIN : FORMAT_SKIP_HEAD;

	mark_begin(begin, reader->mark.id);
	for (; (bytes = memmem(bytes, (size_t)(end - bytes), begin, known)); bytes++)
		if (end - bytes >= MARK_FRAME && mark_read(bytes, mark) &&
		    (!later || is_later(reader, mark)))
			return bytes;
	return NULL;
}

static const unsigned char *find_later(const struct reader *reader, struct mark *mark)
{
	return find_mark(reader, input_left(&reader->input), true, mark);
}

/* What looks like another recording among `length` bytes that are not believed: whoever put it there is told where. */
static void look_for_unread(struct reader *reader, size_t length)
{
	const struct input *input = &reader->input;
	const unsigned char *found;
	struct mark mark;

	if (reader->state.unread_at)
		return;
	found = find_mark(reader, length, false, &mark);
	if (found)
		reader->state.unread_at =
			input_offset(input) + (uint64_t)(found - input_bytes(input));
}

/* A mark, a header, a block or an end of this length is wrong. A power cut leaves zeros from the middle of one on: it is not
 * counted unless something else follows. */
static int lose_unit(struct reader *reader, size_t length, const char *what)
{
	struct input *input = &reader->input;
	struct mark mark;

	if (input_want(input, length + MARK_FRAME) >= (int64_t)length &&
	    !input_bytes(input)[length - 1] && !find_mark(reader, input_left(input), false, &mark))
		input_take(input, length);
	return units_lose(reader, what);
}

void units_begin_stream(struct reader *reader)
{
	reader->any = reader->state.ended = false;
	reader->anchor = (struct sonde_anchor) { 0 };
}

static void begin_segment(struct reader *reader, const struct mark *mark)
{
	if (reader->place != PLACE_START && !is_later(reader, mark))
		units_begin_stream(reader);
	reader->mark = *mark;
	reader->mark_at = input_offset(&reader->input);
	reader->place = PLACE_MARKED;
	reader->state.unread_at = 0;
	input_take(&reader->input, MARK_FRAME);
}

/* Where whole units led, a mark is one, of whatever stream. In a segment, in place of what should follow: its writer was killed,
 * and another recording stands behind it. (One of the same stream: bytes of the segment are lost.) */
static int take_mark(struct reader *reader)
{
	struct input *input = &reader->input;
	bool inside = reader->place == PLACE_MARKED || reader->place == PLACE_SEGMENT;
	int64_t left = input_want(input, MARK_FRAME);
	struct mark mark;

	if (left < MARK_FRAME)
		return left < 0 ? (int)left : 0;
	if (!mark_read(input_bytes(input), &mark) ||
	    (is_later(reader, &mark) ? inside : reader->place == PLACE_BEHIND))
		return lose_unit(reader, MARK_FRAME,
				 inside ? "it is cut off" : "no segment begins behind it");
	begin_segment(reader, &mark);
	return 1;
}

/* A hint, but for the mark that follows it: where its checksum is wrong, its length vouches for nothing. */
static int take_index(struct reader *reader)
{
	struct input *input = &reader->input;
	uint64_t length = FORMAT_SKIP_HEAD + (uint64_t)get_le32(input_bytes(input) + 4);
	struct mark mark;
	int64_t left;

	if (length > INDEX_FRAME)
		return lose_unit(reader, MARK_FRAME, "no segment begins behind it");
	left = input_want(input, (size_t)length);
	if (left < (int64_t)length)
		return left < 0 ? (int)left : 0;
	if (!index_whole(input_bytes(input), (size_t)length, reader->mark.id)) {
		if (input_want(input, (size_t)length + MARK_FRAME) > 0 &&
		    find_mark(reader,
			      input_left(input) < length + MARK_FRAME
				      ? input_left(input)
				      : (size_t)length + MARK_FRAME - 1,
			      false, &mark))
			return lose_unit(reader, MARK_FRAME, "a damaged index");
		reader->place = PLACE_BEHIND;
	}
	input_take(input, (size_t)length);
	reader->whole = input_offset(input);
	return 1;
}

/* Between segments. 1: went on; 0: nothing more by now; negative errno. */
static int take_between(struct reader *reader)
{
	struct input *input = &reader->input;
	int64_t left = input_want(input, FORMAT_SKIP_HEAD);
	uint32_t magic;

	if (left < FORMAT_SKIP_HEAD)
		return left < 0 ? (int)left : 0;
	magic = get_le32(input_bytes(input));
	if (magic == FORMAT_MARK_MAGIC)
		return take_mark(reader);
	if (magic == FORMAT_INDEX_MAGIC)
		return take_index(reader);
	if (magic < FORMAT_SKIP_FIRST || magic > FORMAT_SKIP_LAST)
		return lose_unit(reader, MARK_FRAME, "no segment begins behind it");
	reader->skip = FORMAT_SKIP_HEAD + (uint64_t)get_le32(input_bytes(input) + 4);
	reader->place = PLACE_SKIP;
	return 1;
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
		reader->place = PLACE_BEHIND;
	}
	return 1;
}

static int take_frame_header(struct reader *reader)
{
	struct input *input = &reader->input;
	int64_t left = input_want(input, LZ4_HEADER_BYTES);

	if (left < LZ4_HEADER_BYTES)
		return left < 0 ? (int)left : 0;
	if (get_le32(input_bytes(input)) == FORMAT_MARK_MAGIC)
		return take_mark(reader);
	if (lz4_decode_begin(reader->decoder, input_bytes(input)))
		return lose_unit(reader, LZ4_HEADER_BYTES, "no frame where one should begin");
	input_take(input, LZ4_HEADER_BYTES);
	if (reader->standing && !reader->joined && standing_keep(reader->standing, &reader->tables))
		return -ENOMEM;
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

	return find_later(reader, &mark) ? units_lose(reader, "a damaged block") : 0;
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
	if (length == FORMAT_MARK_MAGIC) /* its writer was killed */
		return take_mark(reader);
	length &= 0x7fffffff;
	if (!length || length > FORMAT_BLOCK_BYTES)
		return units_lose(reader, "no block");
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
		const unsigned char *found = find_later(reader, &mark);
		size_t window = input_left(input);
		size_t pass = found                  ? (size_t)(found - bytes)
			      : window >= MARK_FRAME ? window - MARK_FRAME + 1
						     : 0;

		for (size_t i = 0; i < (found ? pass : window) && !reader->lost_counted; i++)
			if (bytes[i])
				count_damage(reader);
		if (!found)
			look_for_unread(reader, window);
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

int units_take(struct reader *reader)
{
	static int (*const takes[])(struct reader * reader) = {
		[PLACE_START] = take_start,         [PLACE_BETWEEN] = take_between,
		[PLACE_MARKED] = take_frame_header, [PLACE_SEGMENT] = take_block,
		[PLACE_SKIP] = take_skip,           [PLACE_BEHIND] = take_between,
		[PLACE_LOST] = take_lost,
	};

	return takes[reader->place](reader);
}

void units_stock(struct reader *reader)
{
	struct reader_state *state = &reader->state;
	const struct input *input = &reader->input;

	state->lost = reader->place == PLACE_LOST && reader->lost_counted;
	state->torn = state->lost ? 0 : input_offset(input) + input_left(input) - reader->whole;
	if (reader->place != PLACE_LOST)
		state->unread_at = 0;
	if (state->torn && reader->place != PLACE_START)
		look_for_unread(reader, input_left(input));
}
