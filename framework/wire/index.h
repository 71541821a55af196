/* Marks and indexes: the skippable frames of a recording. A mark precedes each segment; an index, found from the end, tells
 * where the segments since the index before it are. */
#ifndef WIRE_INDEX_H
#define WIRE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/format.h"

enum {
	MARK_BEGIN = FORMAT_SKIP_HEAD + 16,
	MARK_FRAME = FORMAT_SKIP_HEAD + FORMAT_MARK_BYTES,
	INDEX_PAYLOAD = FORMAT_INDEX_ENTRIES * FORMAT_INDEX_ENTRY + FORMAT_INDEX_TAIL,
	INDEX_FRAME = FORMAT_SKIP_HEAD + INDEX_PAYLOAD, /* at most */
};

struct mark {
	uint8_t id[16];
	uint64_t number;
};

/* How every mark of a stream begins. */
void mark_begin(unsigned char begin[MARK_BEGIN], const uint8_t id[16]);
void mark_write(unsigned char frame[MARK_FRAME], const struct mark *mark);
/* Whether these bytes are a whole mark. */
bool mark_read(const unsigned char frame[MARK_FRAME], struct mark *mark);

struct index_entry {
	uint64_t mark;       /* offset of the mark's frame in the stream */
	uint64_t number;     /* of the segment */
	uint64_t begin, end; /* CLOCK_BOOTTIME of its first instant, and the latest end */
};

struct segment_index {
	struct index_entry entries[FORMAT_INDEX_ENTRIES];
	uint32_t count;
	uint64_t before; /* offset of the index before it */
	bool has_before;
};

/* An index at offset `at` of the stream; returns the bytes of its frame. */
size_t index_write(unsigned char frame[INDEX_FRAME], const struct segment_index *index,
		   const uint8_t id[16], uint64_t at);

/* The last FORMAT_INDEX_TAIL bytes of a frame that ends at offset `end`: the bytes of that frame, or 0 where they are none. */
size_t index_tail(const unsigned char tail[FORMAT_INDEX_TAIL], uint64_t end);

/* Whether these bytes are a whole index of this stream. */
bool index_whole(const unsigned char *frame, size_t length, const uint8_t id[16]);

/* Whether `length` bytes that begin at offset `at` are a whole index of this stream; entries with offsets in the stream. */
bool index_read(const unsigned char *frame, size_t length, const uint8_t id[16], uint64_t at,
		struct segment_index *index);

#endif
