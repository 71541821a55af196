/* LZ4 frames a block at a time, over liblz4's lz4frame.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LZ4F_STATIC_LINKING_ONLY /* LZ4F_createCompressionContext_advanced() */
#include <lz4frame.h>

#include "wire/format.h"
#include "wire/lz4.h"

/* The fast compressor: HC would save a tenth of the bytes, for tables of 256 KiB where these are 16. With autoFlush and
 * content that stays where it is nothing is copied or buffered. */
static const LZ4F_preferences_t preferences = {
	.frameInfo = { .blockSizeID = LZ4F_max256KB,
		       .blockMode = LZ4F_blockLinked,
		       .contentChecksumFlag = LZ4F_contentChecksumEnabled,
		       .blockChecksumFlag = LZ4F_blockChecksumEnabled },
	.compressionLevel = 0,
	.autoFlush = 1,
};

/* The library frees its buffer at the end of a frame and wants it with zeros for the next: it waits here meanwhile. What nobody
 * writes into, as the buffer while content stays where it is, so never becomes memory (madvise(2), MADV_DONTNEED). The context,
 * its tables and the buffer are all there is. */
enum { KEPT = 3 };

struct lz4_encoder {
	struct {
		void *block; /* zeros while it is not used */
		size_t size;
		bool used;
	} kept[KEPT];
	LZ4F_cctx *context;
};

static void *keep_alloc(void *context, size_t size)
{
	struct lz4_encoder *encoder = context;

	for (int i = 0; i < KEPT; i++)
		if (!encoder->kept[i].used && encoder->kept[i].size >= size) {
			encoder->kept[i].used = true;
			return encoder->kept[i].block;
		}
	for (int i = 0; i < KEPT; i++) {
		void *block;

		if (encoder->kept[i].used)
			continue;
		block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		if (block == MAP_FAILED)
			return NULL;
		if (encoder->kept[i].block)
			munmap(encoder->kept[i].block, encoder->kept[i].size);
		encoder->kept[i].block = block;
		encoder->kept[i].size = size;
		encoder->kept[i].used = true;
		return block;
	}
	return NULL;
}

static void keep_free(void *context, void *block)
{
	struct lz4_encoder *encoder = context;

	for (int i = 0; i < KEPT; i++)
		if (block && encoder->kept[i].block == block) {
			madvise(block, encoder->kept[i].size, MADV_DONTNEED);
			encoder->kept[i].used = false;
		}
}

struct lz4_encoder *lz4_encoder_new(void)
{
	struct lz4_encoder *encoder = calloc(1, sizeof *encoder);
	const LZ4F_CustomMem memory = { .customAlloc = keep_alloc,
					.customCalloc = keep_alloc,
					.customFree = keep_free,
					.opaqueState = encoder };

	if (!encoder)
		return NULL;
	encoder->context = LZ4F_createCompressionContext_advanced(memory, LZ4F_VERSION);
	if (encoder->context)
		return encoder;
	lz4_encoder_free(encoder);
	return NULL;
}

void lz4_encoder_free(struct lz4_encoder *encoder)
{
	if (!encoder)
		return;
	LZ4F_freeCompressionContext(encoder->context);
	for (int i = 0; i < KEPT; i++)
		if (encoder->kept[i].block)
			munmap(encoder->kept[i].block, encoder->kept[i].size);
	free(encoder);
}

size_t lz4_bound(size_t length)
{
	/* A block that does not shrink is stored; nothing is buffered from call to call. */
	return LZ4_HEADER_BYTES + length + LZ4_BLOCK_EXTRA + LZ4_END_BYTES;
}

/* With room at `out`, as lz4_bound() says, memory is all that these calls can lack. */
static int64_t answer(size_t result)
{
	return LZ4F_isError(result) ? -ENOMEM : (int64_t)result;
}

int64_t lz4_begin(struct lz4_encoder *encoder, void *out, size_t size)
{
	return answer(LZ4F_compressBegin(encoder->context, out, size, &preferences));
}

int64_t lz4_block(struct lz4_encoder *encoder, const void *content, size_t length, void *out,
		  size_t size)
{
	static const LZ4F_compressOptions_t stays = { .stableSrc = 1 };

	return answer(LZ4F_compressUpdate(encoder->context, out, size, content, length, &stays));
}

int64_t lz4_end(struct lz4_encoder *encoder, void *out, size_t size)
{
	return answer(LZ4F_compressEnd(encoder->context, out, size, NULL));
}

struct lz4_decoder {
	LZ4F_dctx *context;
};

struct lz4_decoder *lz4_decoder_new(void)
{
	struct lz4_decoder *decoder = calloc(1, sizeof *decoder);

	if (decoder &&
	    LZ4F_isError(LZ4F_createDecompressionContext(&decoder->context, LZ4F_VERSION))) {
		free(decoder);
		return NULL;
	}
	return decoder;
}

void lz4_decoder_free(struct lz4_decoder *decoder)
{
	if (!decoder)
		return;
	LZ4F_freeDecompressionContext(decoder->context);
	free(decoder);
}

/* All of `bytes` through the decoder; the content that came out, at most FORMAT_BLOCK_BYTES, or -EBADMSG. */
static int64_t decode(struct lz4_decoder *decoder, const void *bytes, size_t length, void *out)
{
	size_t taken = 0, made = 0;

	while (taken < length) {
		size_t in = length - taken, room = out ? FORMAT_BLOCK_BYTES - made : 0;
		size_t hint = LZ4F_decompress(decoder->context, out ? (char *)out + made : NULL,
					      &room, (const char *)bytes + taken, &in, NULL);

		if (LZ4F_isError(hint) || (!in && !room))
			return -EBADMSG;
		taken += in;
		made += room;
	}
	return (int64_t)made;
}

int lz4_decode_begin(struct lz4_decoder *decoder, const void *bytes)
{
	const unsigned char *head = bytes;

	if (get_le32(head) != FORMAT_LZ4_MAGIC || head[4] != FORMAT_LZ4_FLG ||
	    head[5] != FORMAT_LZ4_BD)
		return -EBADMSG;
	LZ4F_resetDecompressionContext(decoder->context);
	return decode(decoder, bytes, LZ4_HEADER_BYTES, NULL) < 0 ? -EBADMSG : 0;
}

int64_t lz4_decode_block(struct lz4_decoder *decoder, const void *bytes, size_t length, void *out)
{
	return decode(decoder, bytes, length, out);
}

int lz4_decode_end(struct lz4_decoder *decoder, const void *bytes)
{
	return decode(decoder, bytes, LZ4_END_BYTES, NULL) < 0 ? -EBADMSG : 0;
}
