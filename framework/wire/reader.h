/* Reads the .sonde stream of docs/format.md: a file, a pipe, a stream that still grows. Hostile ground: every length is
 * checked against a budget before it is believed, and nothing is allocated on the file's word. */
#ifndef WIRE_READER_H
#define WIRE_READER_H

#include "core/instant.h"

struct reader_options {
	/* As read(2): up to `size` bytes, 0 at the end (of what is there by now: the next call may have more), negative errno. */
	int64_t (*read)(void *context, void *buffer, size_t size);
	/* As lseek(2): the new offset, or a negative errno; NULL where the input can't. With `since`, the index is used. */
	int64_t (*seek)(void *context, int64_t offset, int whence);
	/* At the end of the input, or behind an error of it (as reader_next() returns them): 1 where `read` goes on with an
	 * input of its own, such as the next file; else what reader_next() shall return. NULL: there is one input. */
	int (*next)(void *context, int end);
	void *context;
	uint64_t since,
		until; /* CLOCK_BOOTTIME ns: instants outside are passed over; 0: no bound */
	/* The first instant has what stood before `since` as well: tables as they were read last, without their counters, and
	 * notes. All that is before is read for it: the index is not used. */
	bool standing;
};

/* What was wrong with it: with one input, but for the first two. A torn tail is not damage: it is what a kill leaves. */
struct reader_state {
	uint64_t instants; /* in which a table was read */
	uint64_t changed_values;
	uint64_t damaged; /* stretches passed over */
	bool lost;        /* nothing behind the last of them was whole */
	uint64_t
		unread_at; /* offset of what looks like another recording behind it, or in the torn tail; 0: nothing does */
	uint64_t damage_at; /* offset of the first */
	char damage[160];   /* what it was, one sentence */
	uint64_t torn;      /* bytes behind the last whole block, or of zeros behind the end */
	bool ended;         /* the sender's end record was seen */
};

struct reader;

/* NULL without memory. */
struct reader *reader_new(const struct reader_options *options);

/* The next instant, valid until the next call. Rows are those that live at it; view->changed names those that it
 * brought. Damage is passed over and comes as a row of the table `gap` in the next instant. Returns 1; 0 where there is
 * nothing more (by now); -EBADMSG where it does not begin like a recording; another negative errno from read. */
int reader_next(struct reader *reader, const struct instant **instant);

/* As of now; after reader_next() returned 0 or an error, of the whole. */
const struct reader_state *reader_state(const struct reader *reader);
void reader_free(struct reader *reader);

#endif
