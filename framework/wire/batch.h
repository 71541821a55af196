/* Objects into datagrams: as many into each as fit its size when they are compressed. */
#ifndef WIRE_BATCH_H
#define WIRE_BATCH_H

#include "wire/format.h"
#include "wire/lz4.h"
#include "wire/pack.h"

/* What the rows of a datagram are part of; format.h's FORMAT_PART. */
struct batch_part {
	uint32_t header; /* number of the sender's header */
	uint64_t sequence, begin, end;
	int64_t realtime;
};

struct batch {
	int (*emit)(void *context, const void *bytes, size_t length, uint32_t flags);
	void *context;
	size_t size;
	uint64_t stream, number;       /* random, of this sender; of the next datagram */
	const struct batch_part *part; /* NULL: definitions */
	uint32_t index;                /* of the next datagram of the part's instant */
	struct lz4_encoder *encoder;
	struct pack objects, content, out;
	uint32_t *ends, nends; /* where each object ends */
	size_t budget;         /* content that will do, going by the datagram before */
};

/* `size` from FORMAT_DATAGRAM_LEAST on. 0 or -ENOMEM. */
int batch_init(struct batch *batch, size_t size);
void batch_free(struct batch *batch);

/* Bytes of an object that fits a datagram however badly it compresses. */
size_t batch_room(const struct batch *batch);

/* Datagrams of this instant follow; NULL: of definitions. */
void batch_begin(struct batch *batch, const struct batch_part *part);

/* Adds an object of at most batch_room() bytes; emits what is full. 0 or the error of emit, and then the datagram is lost. */
int batch_add(struct batch *batch, const struct pack *object);

/* Emits the rest. Of an instant one datagram at least. */
int batch_end(struct batch *batch);

#endif
