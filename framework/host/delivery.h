/* Delivery: what stands between the stream and a sink. Live, a thread behind a ring; replayed, the caller's thread. */
#ifndef HOST_DELIVERY_H
#define HOST_DELIVERY_H

#include "core/ring.h"
#include "host/instance.h"

struct delivery;

struct delivery_counts {
	struct ring_counts ring;
	uint64_t bytes;   /* handed to the sink, or by a sink of views not known: 0 */
	uint64_t retries; /* -EAGAIN from the sink */
	uint64_t failures;
};

/* A delivery for a sink that was started. `live`: with a ring of the section's size. NULL with -errno in *err and, where the
 * configuration is at fault, a sentence in `why`. */
struct delivery *delivery_new(struct instance *instance, bool live, int *err, char *why,
			      size_t size);
void delivery_free(struct delivery *delivery);

struct instance *delivery_instance_of(const struct delivery *delivery);

/* A pattern of the sink's `tables` or `columns` that nothing has matched so far, or NULL. */
const char *delivery_unmatched(const struct delivery *delivery);

/* Live: attaches the ring to the stream and starts the thread. `finished` is called from it, once, when the sink wants no
 * more (-EPIPE); delivery_finished() is true from then on. 0 or negative errno. */
int delivery_start(struct delivery *delivery, void (*finished)(void *context), void *context);
bool delivery_finished(struct delivery *delivery);

/* A sink that leaves while others stay: the end goes to it alone, as its last instant. */
void delivery_end(struct delivery *delivery, const char *reason);

/* No more instants; what is queued is delivered until `deadline` (CLOCK_MONOTONIC ns), the rest is dropped. */
void delivery_ask_stop(struct delivery *delivery, uint64_t deadline);

/* Waits for that a moment longer than the deadline: 0, or -ETIMEDOUT where the sink hangs in a call; then nothing of it
 * may be freed, and what is queued counts as dropped. */
int delivery_join(struct delivery *delivery);

/* SIGHUP: the sink opens anew, in its own thread. */
void delivery_reopen(struct delivery *delivery);

/* Replayed: one instant, and the end. 0, -EPIPE where the sink wants no more, or another negative errno; after either there
 * is nothing more for it. */
int delivery_instant(struct delivery *delivery, const struct instant *instant);
int delivery_finish(struct delivery *delivery);

/* Any thread. */
void delivery_counts(struct delivery *delivery, struct delivery_counts *counts);

/* Behind sonde_restart() and sonde_acknowledge(). */
int delivery_restart(struct instance *instance);
void delivery_acknowledge(struct instance *instance, uint64_t instants);

#endif
