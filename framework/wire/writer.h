/* Writes the .sonde stream of docs/format.md: instants in; marks, LZ4 frames of msgpack and indexes out. It keeps the last
 * row that it wrote of every key and writes what changed. */
#ifndef WIRE_WRITER_H
#define WIRE_WRITER_H

#include "core/instant.h"

struct writer_options {
	/* Takes finished bytes, in order; a negative errno comes back from the call that caused it. flags: SONDE_FIRST,
	 * SONDE_LAST (<sonde/plugin.h>). */
	int (*emit)(void *context, const void *bytes, size_t length, uint32_t flags);
	void *context;
	uint8_t id[16]; /* random, of this stream; writer_restart() makes a new one from it */
	uint32_t segment_instants; /* 0: 120, and as many as five minutes have */
	uint32_t segment_bytes;    /* of packed rows; 0: 256 KiB */
};

struct writer;

/* Everything that the writer ever needs for tables of a known size is allocated here and at the first instants; rows
 * that appear later grow it. NULL without memory. */
struct writer *writer_new(const struct writer_options *options);

/* Packs one instant; its header is written at the start of each segment. Emits when a segment is full. 0 or negative errno. */
int writer_instant(struct writer *writer, const struct instant *instant);

/* All instants so far are emitted, as a whole LZ4 block that a reader can take. */
int writer_flush(struct writer *writer);

/* Ends the segment and, every so often, adds an index. The next instant begins another. */
int writer_end_segment(struct writer *writer);

/* Ends the segment; what comes next is a stream of its own: a new file, a new connection. */
int writer_restart(struct writer *writer);

/* Ends the segment, writes the index, frees. */
int writer_close(struct writer *writer);

/* An emit for a blocking descriptor; context is a pointer to the int. Writes all of it. 0 or the negative errno of write(2). */
int writer_to_fd(void *context, const void *bytes, size_t length, uint32_t flags);

#endif
