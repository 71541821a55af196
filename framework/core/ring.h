/* A ring of instants between producers and one consumer, bounded in bytes. What is produced is copied once and read where
 * it lies; when there is no room the oldest is dropped, never the one that the consumer holds. Producers never wait for the
 * consumer. The law: produced = delivered + dropped + replaced + queued, at any moment. */
#ifndef CORE_RING_H
#define CORE_RING_H

#include "core/instant.h"

struct ring;

enum ring_outcome { RING_DELIVERED, RING_DROPPED, RING_REPLACED, RING_OUTCOMES };

struct ring_counts {
	uint64_t produced;
	uint64_t settled[RING_OUTCOMES]; /* by enum ring_outcome */
	uint64_t queued;  /* in the ring, held by the consumer, or taken and not yet settled */
	uint64_t wakeups; /* of the consumer */
};

/* `eager`: the consumer is woken for each instant, else when there is enough for it: half a ring, or 256 KiB. Memory is
 * touched as far as it is needed, and given back after a jam. NULL without memory. Free when nobody uses it. */
struct ring *ring_new(size_t size, bool eager);
void ring_free(struct ring *ring);

/* Producers, one at a time (the caller's lock): copies the instant in; `whole` as in instant_size(). One larger than the
 * ring is dropped, and counted. */
void ring_push(struct ring *ring, const struct instant *instant, bool whole);

/* The consumer: the oldest instant, held until ring_take(); NULL: none. *lost: instants dropped before it since the one
 * before. */
const struct instant *ring_peek(struct ring *ring, uint64_t *lost);

/* Gives back the space of the instant that is held; it stays queued until it is settled. */
void ring_take(struct ring *ring);

/* The oldest `instants` of those taken came to this end, then the one that is held. More than there are are those. */
void ring_settle(struct ring *ring, enum ring_outcome outcome, uint64_t instants);

/* Taken and not settled. */
uint64_t ring_in_flight(struct ring *ring);

/* Everything that is queued is dropped. */
void ring_abandon(struct ring *ring);

/* Waits until ring_wake(), a reason as given to ring_new(), or `deadline` (CLOCK_MONOTONIC ns; 0: none). */
void ring_wait(struct ring *ring, uint64_t deadline);

/* The same for a consumer that can't take more now: only ring_wake() or the deadline. */
void ring_pause(struct ring *ring, uint64_t deadline);

void ring_wake(struct ring *ring);

void ring_counts(struct ring *ring, struct ring_counts *counts);

#endif
