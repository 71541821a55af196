/* Objects into segments: marks, LZ4 frames of blocks, indexes. */
#include <errno.h>

#include <sonde/plugin.h>

#include "wire/segment.h"

/* Bytes that may wait for a slow taker; there is always room to end the frame and add an index. */
enum { OUT_MOST = 16 << 20, OUT_RESERVE = LZ4_END_BYTES + INDEX_FRAME + MARK_FRAME + 32 };

/* Blocks are closed from FULL bytes on; content goes round from ROUND on, so that hardly more of it is ever touched than matches
 * reach back to, 64 KiB. One that does not go round begins below ROUND or behind one that does: RING has room for it. */
enum {
	CONTENT = FORMAT_BLOCK_BYTES - 1,
	FULL = 32 << 10,
	ROUND = 64 << 10,
	RING = 3 * FORMAT_BLOCK_BYTES,
};

int segment_init(struct segment *segment, const struct writer_options *options)
{
	*segment = (struct segment) { .emit = options->emit, .context = options->context };
	segment->encoder = lz4_encoder_new();
	segment->content = malloc(RING);
	if (!segment->encoder || !segment->content ||
	    pack_new(&segment->out, OUT_RESERVE + lz4_bound(FORMAT_BLOCK_BYTES))) {
		segment_free(segment);
		return -ENOMEM;
	}
	segment_restart(segment, options->id);
	return 0;
}

void segment_free(struct segment *segment)
{
	lz4_encoder_free(segment->encoder);
	free(segment->content);
	free(segment->out.bytes);
	*segment = (struct segment) { 0 };
}

void segment_restart(struct segment *segment, const uint8_t id[16])
{
	memcpy(segment->mark.id, id, sizeof segment->mark.id);
	segment->mark.number = 0;
	segment->index.count = 0;
	segment->index.has_before = false;
	segment->offset = 0;
	segment->flags = SONDE_FIRST;
}

/* Emits what is finished. */
static int drain(struct segment *segment)
{
	struct pack *out = &segment->out;
	int err;

	if (!out->used)
		return 0;
	err = segment->emit(segment->context, out->bytes, out->used, segment->flags);
	segment->refused = err == -EAGAIN;
	if (segment->refused)
		return err;
	if (!err)
		segment->offset += out->used;
	else if (segment->open)
		segment->mark.number++;
	segment->open &= !err;
	segment->flags &= err ? SONDE_FIRST : 0; /* still to come */
	out->used = 0;
	return err;
}

int segment_retry(struct segment *segment)
{
	return segment->refused ? drain(segment) : 0;
}

/* Room for `need` bytes more, by emitting what waits, else by growing. */
static int make_room(struct segment *segment, size_t need)
{
	struct pack *out = &segment->out;
	unsigned char *bytes;
	int err;

	need += OUT_RESERVE;
	if (out->size - out->used >= need)
		return 0;
	err = drain(segment);
	if (err != -EAGAIN || out->used + need > OUT_MOST)
		return err;
	bytes = realloc(out->bytes, out->used + need);
	if (!bytes)
		return -ENOMEM;
	out->bytes = bytes;
	out->size = out->used + need;
	return 0;
}

/* What liblz4 appended, or its error. */
static int appended(struct segment *segment, int64_t n)
{
	if (n < 0)
		return (int)n;
	segment->out.used += (size_t)n;
	return 0;
}

#define OUT_AT(segment)   ((segment)->out.bytes + (segment)->out.used)
#define OUT_LEFT(segment) ((segment)->out.size - (segment)->out.used)

/* The next block's content goes to this place. At the start again it must end before the last one did: liblz4 then forgets what
 * is overwritten, and would not where it is all of it (LZ4_compress_fast_continue()). */
static void start_block(struct segment *segment, size_t at)
{
	size_t size = at || !segment->before ? CONTENT : segment->before - 1;

	segment->block = (struct pack) { .bytes = segment->content + at,
					 .size = size < CONTENT ? size : CONTENT };
	pack_raw(&segment->block, FORMAT_BLOCK_BEGIN, 2);
}

int segment_begin(struct segment *segment)
{
	int err = make_room(segment, 0);

	if (err)
		return err;
	segment->mark_at = segment->offset + segment->out.used;
	mark_write(OUT_AT(segment), &segment->mark);
	segment->out.used += MARK_FRAME;
	segment->before = 0;
	start_block(segment, 0);
	segment->packed = 0;
	segment->timed = false;
	err = appended(segment, lz4_begin(segment->encoder, OUT_AT(segment), OUT_LEFT(segment)));
	segment->open = !err;
	return err;
}

/* The block that is being filled into `out`, where there is anything in it. */
static int finish_block(struct segment *segment)
{
	const struct pack *block = &segment->block;
	int err;

	if (block->used <= 2)
		return 0;
	err = make_room(segment, lz4_bound(block->used));
	if (!err)
		err = appended(segment, lz4_block(segment->encoder, block->bytes, block->used,
						  OUT_AT(segment), OUT_LEFT(segment)));
	segment->before = (size_t)(block->bytes + block->used - segment->content);
	start_block(segment, segment->before < ROUND ? segment->before : 0);
	return err;
}

int segment_put(struct segment *segment, const struct pack *const *pieces, size_t count)
{
	struct pack *block = &segment->block;
	size_t length = 0;
	int err = 0;

	for (size_t i = 0; i < count; i++) {
		length += pieces[i]->used;
		if (pieces[i]->full || length > CONTENT - 2)
			return -EFBIG;
	}
	if (block->used >= FULL || length > block->size - block->used)
		err = finish_block(segment);
	if (err)
		return err;
	if (length > block->size - block->used)
		start_block(segment, segment->before);
	segment->packed += length;
	for (size_t i = 0; i < count; i++)
		pack_raw(block, pieces[i]->bytes, pieces[i]->used);
	return 0;
}

void segment_time(struct segment *segment, uint64_t begin, uint64_t end)
{
	if (!segment->timed)
		segment->begin = begin;
	if (!segment->timed || end > segment->end)
		segment->end = end;
	segment->timed = true;
}

int segment_flush(struct segment *segment)
{
	int err = segment->open ? finish_block(segment) : 0;

	return err ? err : drain(segment);
}

static void add_index(struct segment *segment)
{
	struct segment_index *index = &segment->index;
	uint64_t at = segment->offset + segment->out.used;

	segment->out.used += index_write(OUT_AT(segment), index, segment->mark.id, at);
	index->count = 0;
	index->before = at;
	index->has_before = true;
}

int segment_end(struct segment *segment, bool index)
{
	struct segment_index *entries = &segment->index;
	int err = 0;

	if (segment->open) {
		err = finish_block(segment);
		if (!err)
			err = appended(segment, lz4_end(segment->encoder, OUT_AT(segment),
							OUT_LEFT(segment)));
		if (!err && segment->timed)
			entries->entries[entries->count++] =
				(struct index_entry) { .mark = segment->mark_at,
						       .number = segment->mark.number,
						       .begin = segment->begin,
						       .end = segment->end };
		segment->open = false;
		segment->mark.number++;
		segment->flags |= SONDE_LAST;
	}
	if (err)
		return err;
	if (entries->count == FORMAT_INDEX_ENTRIES || (index && entries->count))
		add_index(segment);
	return drain(segment);
}
