/* Objects in segments: whatever their sizes, what liblz4's own decoder makes of the bytes is what was put in. */
#include <errno.h>
#include <lz4frame.h>

#include "test.h"
#include "wire/segment.h"

const char suite[] = "segment";

enum {
	MOST = 48 << 20,
	LARGEST = FORMAT_BLOCK_BYTES - 3,
	OBJECTS = 4096,
	NEAR = 60000,
	PIECE = 400
};

static unsigned char *sent, *put, *got;
static size_t nsent, nput, lengths[OBJECTS], nobjects;

static int keep(void *context, const void *bytes, size_t length, uint32_t flags)
{
	(void)context, (void)flags;
	CU_ASSERT_FATAL(nsent + length <= MOST);
	memcpy(sent + nsent, bytes, length);
	nsent += length;
	return 0;
}

/* xorshift64: the same in every run. */
static uint64_t next_number(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Half of it is new, half was there not long ago, so that what is remembered wrongly comes out wrong. */
static void put_object(struct segment *segment, size_t length)
{
	struct pack pack = { .bytes = put + nput, .used = length, .size = length };
	const struct pack *const pieces[] = { &pack };

	CU_ASSERT_FATAL(nobjects < OBJECTS && nput + length <= MOST);
	for (size_t i = 0, back = 0; i < length; i++) {
		size_t at = nput + i;

		if (i % PIECE == 0)
			back = at > NEAR && next_number() % 2 ? next_number() % NEAR + 1 : 0;
		put[at] = back ? put[at - back] : (unsigned char)next_number();
	}
	put[nput] = 0xc6; /* no object begins as a block does */
	CU_ASSERT_EQUAL_FATAL(segment_put(segment, pieces, 1), 0);
	lengths[nobjects++] = length;
	nput += length;
}

/* What all frames hold, skippable ones passed over. */
static size_t decode(void)
{
	LZ4F_dctx *context;
	size_t at = 0, made = 0;

	CU_ASSERT_FATAL(!LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)));
	while (at < nsent) {
		size_t in = nsent - at, room = MOST - made;
		size_t hint = LZ4F_decompress(context, got + made, &room, sent + at, &in, NULL);

		CU_ASSERT_FATAL(!LZ4F_isError(hint) && (in || room));
		at += in;
		made += room;
	}
	LZ4F_freeDecompressionContext(context);
	return made;
}

/* Of each object whether it came back; blocks begin with two bytes of their own. */
static void compare(void)
{
	size_t made = decode(), at = 0, from = 0, wrong = 0;

	for (size_t i = 0; i < nobjects; from += lengths[i++]) {
		if (at + 2 <= made && memcmp(got + at, FORMAT_BLOCK_BEGIN, 2) == 0)
			at += 2;
		wrong += at + lengths[i] > made || memcmp(got + at, put + from, lengths[i]) != 0;
		at += lengths[i];
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(at, made);
}

static void any_size(void)
{
	static const size_t sizes[] = { 30, 200, 2000, 9000, 30000, 66000, 120000, LARGEST };
	struct writer_options options = { .emit = keep, .id = { 7 } };
	struct segment segment;

	sent = malloc(MOST);
	put = malloc(MOST);
	got = malloc(MOST);
	CU_ASSERT_FATAL(sent && put && got);
	CU_ASSERT_EQUAL_FATAL(segment_init(&segment, &options), 0);
	for (int round = 0; round < 6; round++) {
		CU_ASSERT_EQUAL(segment_begin(&segment), 0);
		/* Larger and larger ones among small ones: content goes round in every way that it can. */
		for (int i = 0; i < 250; i++) {
			uint64_t pick = next_number() % 100;

			put_object(&segment,
				   sizes[pick < 90 ? pick % 4 : pick % (i < 100 ? 6 : 8)]);
			if (next_number() % 3 == 0)
				CU_ASSERT_EQUAL(segment_flush(&segment), 0);
		}
		CU_ASSERT_EQUAL(segment_end(&segment, round == 5), 0);
	}
	segment_free(&segment);
	compare();
	CU_ASSERT(nsent < nput * 3 / 4); /* it did remember */
	free(sent);
	free(put);
	free(got);
}

/* What no block can hold is refused, and the next object is taken. */
static void too_large(void)
{
	static unsigned char bytes[FORMAT_BLOCK_BYTES];
	struct writer_options options = { .emit = keep, .id = { 7 } };
	struct pack pack = { .bytes = bytes, .used = LARGEST + 1, .size = sizeof bytes };
	const struct pack *const pieces[] = { &pack };
	struct segment segment;

	nsent = nput = nobjects = 0;
	sent = malloc(MOST);
	put = malloc(MOST);
	got = malloc(MOST);
	CU_ASSERT_FATAL(sent && put && got);
	CU_ASSERT_EQUAL_FATAL(segment_init(&segment, &options), 0);
	CU_ASSERT_EQUAL(segment_begin(&segment), 0);
	CU_ASSERT_EQUAL(segment_put(&segment, pieces, 1), -EFBIG);
	put_object(&segment, LARGEST);
	CU_ASSERT_EQUAL(segment_end(&segment, true), 0);
	segment_free(&segment);
	compare();
	free(sent);
	free(put);
	free(got);
}

CU_TestInfo tests[] = {
	{ "any size", any_size },
	{ "too large", too_large },
	CU_TEST_INFO_NULL,
};
