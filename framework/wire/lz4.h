/* LZ4 frames a block at a time (lz4_Frame_format.md): each block of content becomes one block of the frame, checked whole
 * before any of it is handed out. */
#ifndef WIRE_LZ4_H
#define WIRE_LZ4_H

#include <stddef.h>
#include <stdint.h>

enum {
	LZ4_HEADER_BYTES = 7, /* of the frame descriptor that we write and accept */
	LZ4_BLOCK_HEAD = 4,   /* length of a block */
	LZ4_BLOCK_EXTRA = 8,  /* length and checksum of a block */
	LZ4_END_BYTES = 8,    /* end mark and content checksum */
};

struct lz4_encoder;

/* NULL without memory; all that it needs is allocated here and in the first frame. */
struct lz4_encoder *lz4_encoder_new(void);
void lz4_encoder_free(struct lz4_encoder *encoder);

/* Room that a call below needs at `out` for `length` bytes of content. */
size_t lz4_bound(size_t length);

/* Each appends to `out` and returns the bytes, or a negative errno. A block has 1 to FORMAT_BLOCK_BYTES - 1 bytes. Its content
 * stays where it is until the frame's end, or a later block lies over it: matches reach back into it, up to 64 KiB, and to blocks
 * before it only where it lies right behind them. */
int64_t lz4_begin(struct lz4_encoder *encoder, void *out, size_t size);
int64_t lz4_block(struct lz4_encoder *encoder, const void *content, size_t length, void *out,
		  size_t size);
int64_t lz4_end(struct lz4_encoder *encoder, void *out, size_t size);

struct lz4_decoder;

struct lz4_decoder *lz4_decoder_new(void);
void lz4_decoder_free(struct lz4_decoder *decoder);

/* The same pieces back: the frame's header, a block with its length and checksum, the end with the content's checksum.
 * 0 or the bytes of content; -EBADMSG where a checksum or the content is wrong. `out` holds FORMAT_BLOCK_BYTES. */
int lz4_decode_begin(struct lz4_decoder *decoder, const void *bytes);
int64_t lz4_decode_block(struct lz4_decoder *decoder, const void *bytes, size_t length, void *out);
int lz4_decode_end(struct lz4_decoder *decoder, const void *bytes);

#endif
