/* Datagrams that others made: nothing of them is believed that docs/format.md does not allow. */
#include <lz4.h>

#include "datagrams.h"

#include "wire/format.h"
#include "wire/lz4.h"
#include "wire/pack.h"

const char suite[] = "datagram, hostile";

static void every_bit(void)
{
	struct stage *stage = stage_new(0);

	many_rows(stage, 4, 1);
	put(stage, 1, 1);
	for (uint32_t i = 0; i < stage->post.count; i++) {
		struct letter *letter = &stage->post.letters[i];

		for (size_t bit = 0; bit < letter->length * 8; bit++) {
			letter->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			CU_ASSERT_EQUAL(receive(stage, 1, i), -EBADMSG);
			letter->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
	}
	CU_ASSERT_PTR_NULL(counts(stage));
	take_all(stage);
	CU_ASSERT_STRING_EQUAL(stage->inbox.text.bytes, stage->put.bytes);
	stage_free(stage);
}

static void every_length(void)
{
	struct stage *stage = stage_new(0);
	unsigned char longer[2000] = { 0 };

	many_rows(stage, 4, 1);
	put(stage, 1, 1);
	for (uint32_t i = 0; i < stage->post.count; i++) {
		const struct letter *letter = &stage->post.letters[i];

		for (size_t n = 0; n < letter->length; n++)
			CU_ASSERT_EQUAL(datagram_receive(stage->reader, 1, letter->bytes, n),
					-EBADMSG);
		memcpy(longer, letter->bytes, letter->length);
		CU_ASSERT_EQUAL(datagram_receive(stage->reader, 1, longer, letter->length + 1),
				-EBADMSG);
	}
	CU_ASSERT_PTR_NULL(counts(stage));
	stage_free(stage);
}

/* A datagram with this content behind [5, 1, 9, number], all checksums right. */
static int receive_content(struct stage *stage, uint64_t number, const void *content, size_t length)
{
	static unsigned char out[1 << 20];
	struct lz4_encoder *encoder = lz4_encoder_new();
	struct pack pack;
	int64_t used;
	int err;

	pack_new(&pack, 200000);
	pack_raw(&pack, FORMAT_BLOCK_BEGIN, 2);
	pack_array(&pack, 4);
	pack_uint32(&pack, 5);
	pack_uint32(&pack, 1);
	pack_uint32(&pack, 9);
	pack_uint64(&pack, number);
	pack_raw(&pack, content, length);
	used = lz4_begin(encoder, out, sizeof out);
	used += lz4_block(encoder, pack.bytes, pack.used, out + used, sizeof out - (size_t)used);
	used += lz4_end(encoder, out + used, sizeof out - (size_t)used);
	err = datagram_receive(stage->reader, 1, out, (size_t)used);
	lz4_encoder_free(encoder);
	free(pack.bytes);
	return err;
}

/* Cases 182, 183, 185, 187: counts that lie, nesting without end. */
static void hostile_objects(void)
{
	static const struct {
		const char *bytes;
		size_t length;
	} objects[] = {
		{ "\xdd\xff\x00\x00\x00", 5 },
		{ "\xdf\x40\x00\x00\x00", 5 },
		{ "\xc6\xff\xff\xff\xff", 5 },
		{ "\xc1", 1 },
		{ "\x91\xa1x", 3 },
		{ "\x90", 1 },
		{ "\x96\x09\x00\x00\x00\xce\x7f\xff\xff\xff\xc4\x01x", 13 }, /* a piece of 2 GiB */
		{ "\x96\x09\x03\x00\x00\x01\xc4\x01x", 9 },             /* of an unknown kind */
		{ "\x96\x09\x01\xcd\x04\x00\x00\x01\xc4\x01x", 11 },    /* of table 1,024 */
		{ "\x96\x09\x00\x00\x05\x02\xc4\x01x", 9 },             /* behind its end */
		{ "\x96\x09\x00\x00\x00\x01\xc4\x01x", 9 },             /* a header that is none */
		{ "\x96\x09\x01\x00\x00\x01\xc4\x01x", 9 },             /* a table that is none */
		{ "\x98\x0a\x00\xcd\x40\x00\xc3\x00\x00\x00\x00", 11 }, /* part 16,384 */
		{ "\x98\x0a\x00\x7f\xc3\x00\x00\x00\x00",
		  9 }, /* part 127 of number less than that */
		{ "\x98\x0a\x00\x00\x01\x00\x00\x00\x00", 9 }, /* whose last is no boolean */
		{ "\x98\x0a\x00\x00\xc3\x00\x00\x00\x00\x93\x0b\xcd\x04\x00\x00",
		  15 }, /* table 1,024 */
		{ "\x98\x0a\x00\x00\xc3\x00\x00\x00\x00\x93\x0b\xd1\xfb\xfe\x00", 15 }, /* -1,026 */
		{ "\x98\x0a\x00\x00\xc3\x00\x00\x00\x00\x93\x0b", 11 },
	};
	struct stage *stage = stage_new(0);
	char nested[10000], sum[72001];

	for (uint64_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
		CU_ASSERT_EQUAL(receive_content(stage, i, objects[i].bytes, objects[i].length),
				-EBADMSG);
	memset(nested, 0x91, sizeof nested);
	CU_ASSERT_EQUAL(receive_content(stage, 50, nested, sizeof nested), -EBADMSG);
	for (size_t i = 0; i + 3 <= sizeof sum; i += 3)
		memcpy(sum + i, "\xdc\xff\xff", 3);
	CU_ASSERT_EQUAL(receive_content(stage, 51, sum, sizeof sum - 1), -EBADMSG);
	/* An object of a newer format is passed over. */
	CU_ASSERT_EQUAL(receive_content(stage, 52, "\x92\x63\x80", 3), 0);
	CU_ASSERT_EQUAL(stage->inbox.instants, 0);
	CU_ASSERT_EQUAL(counts(stage)->malformed, sizeof objects / sizeof objects[0] + 2);
	stage_free(stage);
}

/* Two parts that say different things of one instant; one that comes behind the last. */
static void contradictions(void)
{
	struct stage *stage = stage_new(0);

	CU_ASSERT_EQUAL(receive_content(stage, 10, "\x98\x0a\x00\x00\xc2\x01\x01\x00\x00", 9), 0);
	CU_ASSERT_EQUAL(receive_content(stage, 11, "\x98\x0a\x00\x01\xc2\x02\x01\x00\x00", 9),
			-EBADMSG);
	CU_ASSERT_EQUAL(receive_content(stage, 12, "\x98\x0a\x00\x02\xc3\x01\x01\x00\x00", 9), 0);
	CU_ASSERT_EQUAL(receive_content(stage, 13, "\x98\x0a\x00\x03\xc3\x01\x01\x00\x00", 9),
			-EBADMSG);
	CU_ASSERT_EQUAL(counts(stage)->malformed, 2);
	stage_free(stage);
}

unsigned LZ4_XXH32(const void *input, size_t length, unsigned seed); /* in liblz4.a */

/* Case 189: 64 KiB that would become 16 MiB. It is refused after 256 KiB. */
static void inflation(void)
{
	static char zeros[15 << 20];
	static unsigned char out[1 << 17];
	struct stage *stage = stage_new(0);
	struct lz4_encoder *encoder = lz4_encoder_new();
	size_t used = (size_t)lz4_begin(encoder, out, sizeof out);
	int n = LZ4_compress_default(zeros, (char *)out + used + 4, sizeof zeros,
				     (int)(sizeof out - used - 4));

	CU_ASSERT(n > 60000 && n < 65000);
	put_le32(out + used, (uint32_t)n);
	put_le32(out + used + 4 + n, LZ4_XXH32(out + used + 4, (size_t)n, 0));
	put_le32(out + used + 8 + n, 0);
	put_le32(out + used + 12 + n, LZ4_XXH32(zeros, sizeof zeros, 0));
	CU_ASSERT_EQUAL(datagram_receive(stage->reader, 1, out, used + 16 + (size_t)n), -EBADMSG);
	CU_ASSERT_PTR_NULL(counts(stage));
	lz4_encoder_free(encoder);
	stage_free(stage);
}

CU_TestInfo tests[] = {
	{ "every bit flipped", every_bit },
	{ "every length", every_length },
	{ "hostile objects", hostile_objects },
	{ "contradicting parts", contradictions },
	{ "inflation", inflation },
	CU_TEST_INFO_NULL,
};
