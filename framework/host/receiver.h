/* What a source hands on: datagrams and streams of other hosts, decoded within budgets, into the stream of this host. */
#ifndef HOST_RECEIVER_H
#define HOST_RECEIVER_H

#include "host/foreign.h"
#include "host/instance.h"
#include "wire/datagram.h"

struct receiver;

struct receiver_counts {
	uint64_t senders;                 /* of datagrams, that are remembered */
	struct datagram_counts datagrams; /* of all that ever were */
};
void receiver_counts(struct receiver *receiver, struct receiver_counts *counts);

/* For a source that was started. `foreign` outlives the stream. NULL without memory. */
struct receiver *receiver_new(struct instance *instance, struct foreign *foreign);
void receiver_free(struct receiver *receiver);

/* The thread that polls the source. 0 or negative errno; joining as delivery_join(). */
int receiver_start(struct receiver *receiver);
void receiver_ask_stop(struct receiver *receiver);
int receiver_join(struct receiver *receiver, uint64_t deadline);

/* Behind sonde_receive(). Of a stream, no bytes are its end. */
int receiver_take(struct instance *instance, uint32_t carriage, uint64_t peer, const void *bytes,
		  uint64_t length);

#endif
