/* One sender of datagrams: its numbers counted, its parts held until an instant is whole. */
#ifndef WIRE_SENDER_H
#define WIRE_SENDER_H

#include "wire/datagram.h"
#include "wire/definitions.h"

enum {
	SENDER_WINDOW = 4096,    /* numbers that are remembered */
	SENDER_HELD = 64,        /* instants: until its first tables are there, */
	SENDER_HELD_LATER = 2,   /* and from then on */
	SENDER_BYTES = 16 << 20, /* of its parts */
};

/* A datagram's objects behind its FORMAT_PART. */
struct part {
	uint32_t index, length;
	unsigned char bytes[];
};

/* An instant while its parts come. */
struct held {
	uint64_t first; /* number of its first datagram */
	uint64_t sequence, begin, length;
	int64_t realtime;
	uint32_t header;
	uint32_t total;      /* of parts; 0: not known yet */
	struct part **parts; /* by index, those that are there */
	uint32_t nparts, capacity;
};

struct sender {
	uint64_t peer, stream, tick; /* tick: of the newest datagram */
	uint64_t base, next; /* the first number that was seen, and the one after the highest */
	uint64_t seen[SENDER_WINDOW / 64];
	struct definitions definitions;
	struct held *held[SENDER_HELD + 1]; /* by number */
	uint32_t nheld;
	size_t bytes;       /* of parts */
	uint64_t delivered; /* first number of the newest instant handed on, */
	bool any;           /* where there is one */
	uint64_t told_lost, told_late, told_unknown;
	struct datagram_counts counts;
};

void sender_free(struct sender *sender);

/* Counts what this number says of others. False: it came before. */
bool sender_count(struct sender *sender, uint64_t number);

/* The instant that a part belongs to, made where it is the first of it. NULL: it contradicts what is held, or no memory. */
struct held *sender_hold(struct sender *sender, const struct held *like);

/* Puts a part in its place; it is the instant's then. 0; -EBADMSG where it contradicts the others. */
int sender_add_part(struct sender *sender, struct held *held, struct part *part, bool last);

bool sender_is_whole(const struct held *held);

/* Whether what is held can't wait for its definitions any longer. */
bool sender_is_full(const struct sender *sender);

void sender_drop_first(struct sender *sender);

#endif
