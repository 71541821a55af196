/* Objects into segments: marks, LZ4 frames of blocks, indexes, and the bytes of them to whoever takes them. */
#ifndef WIRE_SEGMENT_H
#define WIRE_SEGMENT_H

#include "wire/index.h"
#include "wire/lz4.h"
#include "wire/pack.h"
#include "wire/writer.h"

struct segment {
	int (*emit)(void *context, const void *bytes, size_t length, uint32_t flags);
	void *context;
	struct lz4_encoder *encoder;
	unsigned char *content; /* of blocks, one behind the other, going round */
	struct pack block;      /* the stretch of it that is being filled */
	size_t before;          /* where in it the block before ended; 0: there is none */
	struct pack out;        /* finished bytes that are not emitted yet */
	uint32_t flags;         /* SONDE_FIRST, SONDE_LAST of those */
	bool refused;           /* with -EAGAIN, when they were offered */
	uint64_t offset;        /* of the stream at the start of `out` */
	struct mark mark;       /* of the segment that is open, or of the next */
	bool open;
	size_t packed;    /* bytes of content in this segment */
	uint64_t mark_at; /* its mark's offset */
	uint64_t begin, end;
	bool timed; /* begin and end are set */
	struct segment_index index;
};

/* 0 or -ENOMEM. */
int segment_init(struct segment *segment, const struct writer_options *options);
void segment_free(struct segment *segment);

/* Mark and frame of the next segment. */
int segment_begin(struct segment *segment);

/* An object, in pieces. -EFBIG where it does not fit a block, or a piece is not whole. */
int segment_put(struct segment *segment, const struct pack *const *pieces, size_t count);

/* It holds an instant of this time. */
void segment_time(struct segment *segment, uint64_t begin, uint64_t end);

/* What is packed becomes a whole block; all bytes are emitted. -EAGAIN of emit: they wait for the next call. Any other
 * error of emit: they are lost, and the segment with them. */
int segment_flush(struct segment *segment);

/* Closes the segment; `index`: an index even if it would be short. As segment_flush(). */
int segment_end(struct segment *segment, bool index);

/* Emits what emit refused with -EAGAIN. 0, or its error. */
int segment_retry(struct segment *segment);

/* Another stream begins, with this id. No segment is open. */
void segment_restart(struct segment *segment, const uint8_t id[16]);

#endif
