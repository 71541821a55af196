/* What the two halves of the sink share: messages that wait for a peer, and the connection to it. */
#ifndef FLUENT_H
#define FLUENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sonde/plugin.h>

enum {
	ID_LENGTH = 24,            /* 128 bits as base64 (RFC 4648) */
	ANSWER_MOST = 1024,        /* bytes of the peer's that are looked at */
	MESSAGE_BYTES = 512 << 10, /* rows of one table beyond this go into another message */
	BATCH_BYTES = 1 << 20,     /* beyond this the peer is waited for before more is taken */
};

struct buffer {
	char *bytes;
	size_t used, size;
	bool failed; /* for want of memory */
};

/* A message is one chunk, whose id stays the same however often it is sent. */
struct message {
	size_t begin, end; /* in the batch's buffer */
	char id[ID_LENGTH];
	bool done; /* acknowledged, or without acknowledgements handed to the kernel */
};

struct batch {
	struct buffer buffer;
	struct buffer head; /* what all rows of a view begin with */
	struct message *messages;
	size_t nmessages, room;
	size_t waiting; /* messages that are not done */
};

struct packing {
	const char *tag; /* before `.TABLE` */
	bool entries_as_text, seconds, ack;
};

/* A view's rows as messages at the batch's end. 0 or a negative errno, and the batch is as before. */
int batch_view(struct batch *batch, const struct packing *packing, const struct sonde_view *view);

/* What is done goes; the rest lies at the beginning, in order. */
void batch_compact(struct batch *batch);

/* The message of that id is done. False: none with it waits. */
bool batch_acknowledge(struct batch *batch, const char *id, size_t length);

/* What is whole within the buffer's first `sent` bytes is done. */
void batch_handed(struct batch *batch, size_t sent);
void batch_free(struct batch *batch);

/* The acknowledgement at the beginning of what a peer sent, `{"ack": id}`: its length; 0 where more
 * is to come; -EBADMSG where it is none. *id points into `bytes`. */
int ack_parse(const void *bytes, size_t length, const char **id, size_t *id_length);

#endif
