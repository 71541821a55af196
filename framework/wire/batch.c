/* Objects into datagrams: as many into each as fit its size when they are compressed. */
#include <errno.h>

#include "wire/batch.h"

enum {
	/* LZ4 frame 23; FORMAT_BLOCK 2, FORMAT_DATAGRAM 21, FORMAT_PART 51 at most. */
	HEAD_BYTES = 100,
	OBJECTS_MOST = 16 << 10,
	CONTENT_MOST = FORMAT_BLOCK_BYTES - 1,
};

int batch_init(struct batch *batch, size_t size)
{
	batch->size = size < FORMAT_DATAGRAM_MOST ? size : FORMAT_DATAGRAM_MOST;
	batch->budget = 2 * batch->size;
	batch->encoder = lz4_encoder_new();
	batch->ends = malloc(OBJECTS_MOST * sizeof *batch->ends);
	if (!batch->encoder || !batch->ends || pack_new(&batch->objects, CONTENT_MOST) ||
	    pack_new(&batch->content, CONTENT_MOST) ||
	    pack_new(&batch->out, 2 * lz4_bound(CONTENT_MOST)))
		return -ENOMEM;
	return 0;
}

void batch_free(struct batch *batch)
{
	lz4_encoder_free(batch->encoder);
	free(batch->ends);
	free(batch->objects.bytes);
	free(batch->content.bytes);
	free(batch->out.bytes);
}

size_t batch_room(const struct batch *batch)
{
	return batch->size - HEAD_BYTES;
}

void batch_begin(struct batch *batch, const struct batch_part *part)
{
	pack_empty(&batch->objects);
	batch->nends = 0;
	batch->part = part;
	batch->index = 0;
}

static void pack_head(struct batch *batch, bool last)
{
	const struct batch_part *part = batch->part;
	struct pack *pack = &batch->content;

	pack_empty(pack);
	pack_raw(pack, FORMAT_BLOCK_BEGIN, 2);
	pack_array(pack, 4);
	pack_uint32(pack, FORMAT_DATAGRAM);
	pack_uint32(pack, FORMAT_VERSION);
	pack_uint64(pack, batch->stream);
	pack_uint64(pack, batch->number);
	if (!part)
		return;
	pack_array(pack, 8);
	pack_uint32(pack, FORMAT_PART);
	pack_uint32(pack, part->header);
	pack_uint32(pack, batch->index);
	if (last)
		pack_true(pack);
	else
		pack_false(pack);
	pack_uint64(pack, part->sequence);
	pack_uint64(pack, part->begin);
	pack_int64(pack, (int64_t)(part->end - part->begin));
	pack_int64(pack, part->realtime);
}

/* The first `n` objects as a datagram in batch->out. */
static int compress(struct batch *batch, uint32_t n, bool last)
{
	struct pack *out = &batch->out;
	int64_t got;

	pack_head(batch, last);
	if (n)
		pack_raw(&batch->content, batch->objects.bytes, batch->ends[n - 1]);
	pack_empty(out);
	for (int step = 0; step < 3; step++) {
		unsigned char *at = out->bytes + out->used;
		size_t left = out->size - out->used;

		got = step == 0   ? lz4_begin(batch->encoder, at, left)
		      : step == 1 ? lz4_block(batch->encoder, batch->content.bytes,
					      batch->content.used, at, left)
				  : lz4_end(batch->encoder, at, left);
		if (got < 0)
			return (int)got;
		out->used += (size_t)got;
	}
	return 0;
}

/* How many objects may do, since `n` of them were too large. */
static uint32_t fewer(const struct batch *batch, uint32_t n)
{
	size_t want = (size_t)batch->ends[n - 1] * batch->size / batch->out.used * 15 / 16;

	if (want < batch_room(batch))
		want = batch_room(batch);
	while (--n > 1 && batch->ends[n - 1] > want)
		;
	return n;
}

static void drop(struct batch *batch, uint32_t n)
{
	uint32_t length = n ? batch->ends[n - 1] : 0;

	batch->objects.used -= length;
	memmove(batch->objects.bytes, batch->objects.bytes + length, batch->objects.used);
	batch->nends -= n;
	for (uint32_t i = 0; i < batch->nends; i++)
		batch->ends[i] = batch->ends[i + n] - length;
}

/* What compresses well brings much content into a datagram; the next is tried with as much. */
static void learn_budget(struct batch *batch, size_t content)
{
	size_t budget = content * batch->size / batch->out.used * 15 / 16;

	if (content < batch_room(batch)) /* too little to tell */
		return;
	batch->budget = budget < CONTENT_MOST - HEAD_BYTES ? budget : CONTENT_MOST - HEAD_BYTES;
}

/* `end`: nothing more comes. */
static int emit_one(struct batch *batch, bool end)
{
	uint32_t n = batch->nends;
	int err;

	if (batch->part && batch->index == FORMAT_PARTS - 1 && !end)
		return -EMSGSIZE;
	while (!(err = compress(batch, n, end && n == batch->nends)) &&
	       batch->out.used > batch->size && n > 1)
		n = fewer(batch, n);
	if (!err) {
		learn_budget(batch, batch->content.used);
		err = batch->emit(batch->context, batch->out.bytes, batch->out.used, 0);
	}
	batch->number++;
	batch->index++;
	drop(batch, n);
	return err;
}

int batch_add(struct batch *batch, const struct pack *object)
{
	int err;

	if (object->full || object->used > batch_room(batch))
		return -EMSGSIZE;
	while (batch->nends && (batch->objects.used + object->used > batch->budget ||
				batch->nends == OBJECTS_MOST)) {
		err = emit_one(batch, false);
		if (err)
			return err;
	}
	pack_raw(&batch->objects, object->bytes, object->used);
	batch->ends[batch->nends++] = (uint32_t)batch->objects.used;
	return 0;
}

int batch_end(struct batch *batch)
{
	int err = 0;

	if (!batch->part && !batch->nends)
		return 0;
	do
		err = emit_one(batch, true);
	while (!err && batch->nends);
	return err;
}
