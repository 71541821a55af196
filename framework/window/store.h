/* What a stream keeps of time, in constant memory: seconds that are being filled, stretches that held, slices. */
#ifndef WINDOW_STORE_H
#define WINDOW_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include <sonde/analysis.h>

enum {
	STORE_SLICES = 512,     /* then they double in width */
	STORE_KEYS = 256,       /* heaviest of a slice that is over; the rest is one "other" */
	STORE_OPEN_KEYS = 1024, /* of the slice that is being filled */
	STORE_SERIES = 1024,    /* heaviest that judge() sees; the rest is "other" */
	STORE_PIECE =
		1000000000, /* ns: what a value is computed over before it is compared with its threshold */
};

/* The names of series, one object for each text, shared by all streams. */
struct name {
	struct name *next;
	uint64_t hash;
	uint32_t refs;
	uint32_t id; /* in order of appearance */
	char *label; /* NULL: the key */
	char key[];
};

struct names {
	struct name **buckets;
	uint32_t nbuckets, count;
	uint32_t next_id;
};

/* The name with this key, one reference more; NULL without memory. */
struct name *name_get(struct names *names, const char *key);
/* Its newest label. */
void name_label(struct name *name, const char *label);
void name_put(struct names *names, struct name *name);
void names_free(struct names *names);

/* Some of a second, or of a stretch. */
struct part {
	uint64_t time; /* ns */
	double numerator, denominator;
};

/* A second that is being filled. Where it has several values, a stretch begins with the first of them that is above the
 * threshold and ends with the last: `core` is from the one to the other, `tail` what came after. */
struct piece {
	uint64_t index; /* seconds since the window began */
	uint64_t begin, end, observed, count;
	double first, last, min, max, numerator, denominator;
	struct part core, tail;
	uint64_t core_begin, core_end;
};

/* A stretch above the threshold that goes on. */
struct run {
	uint64_t begin, end; /* end 0: none */
	uint64_t index;      /* its last second */
	uint64_t last;       /* end of the last value that was above */
	struct part sum;     /* up to there */
	struct part tail;    /* what came after it: part of the stretch if that goes on */
	double max;
	bool confirmed; /* it has lasted for `hold`, and what came before is in its slices */
};

/* One key of one stream while a row of it lives. */
struct series {
	struct series *next;
	struct name *name;
	uint32_t refs;
	uint32_t cell, generation; /* where its cell is in the open slice */
	uint32_t slice;            /* in which it had a cell last */
	uint32_t resets;
	bool open;
	struct piece piece;
	struct run run;
};

/* One key in one slice. */
struct cell {
	struct name *name;
	double numerator, denominator;
	float observed; /* ns */
	float first, last, min, max;
	uint32_t count;
	uint32_t second; /* its first one: tells earlier from later */
	uint16_t resets;
	/* Of what held in it. */
	uint16_t stretches;
	float held_time, held_numerator, held_denominator, held_max;
	uint64_t held_begin, held_end;
};

struct slice {
	struct cell *cells;
	uint32_t ncells, capacity;
	bool doubles; /* a key may have two cells */
	uint64_t begin, end;
};

/* A value at one second, for streams that hold only where another is above. */
struct above {
	uint64_t index;
	bool above;
};

struct store {
	struct names *names;
	const uint64_t *base; /* begin of the window */
	double threshold, floor;
	uint64_t hold;
	uint32_t keys; /* 2 to STORE_KEYS */
	bool has_threshold;
	bool floor_of_time; /* the denominator is a time: the floor is ns for each ns */
	bool wall;          /* no more than all of its time can be */
	const struct store *also;
	bool asked;            /* another one's `also` */
	struct series *single; /* where it has one series, for those that look at it */

	struct slice *slices; /* STORE_SLICES */
	struct slice
		spare; /* cells to fill: what is done is copied out at its size, so that no holes are left */
	uint32_t shift; /* a slice is 1 s << shift wide */
	uint32_t open;  /* the slice being filled */
	uint32_t generation;
	uint64_t merged; /* cells that went into "other" */
	bool no_memory;
	struct above recent[8];
	uint32_t nrecent;

	struct series **buckets;
	uint32_t nbuckets, nseries;
	struct series *unused; /* of rows that ended: as many come as go */
};

/* `keys` as in struct sonde_stream; `base` is read when values come. 0 or -ENOMEM. */
int store_init(struct store *store, struct names *names, const uint64_t *base, uint32_t keys);
void store_free(struct store *store);

/* The series with this name, made where there is none, one reference more; NULL without memory. Takes over the caller's
 * reference to the name. */
struct series *store_series(struct store *store, struct name *name);
/* One reference less; after the last one its second is closed and it is gone, while its slices stay. */
void store_leave(struct store *store, struct series *series);

/* What was seen between two instants, or in several intervals of one second, one behind the other, in which it was the same.
 * `value` is numerator / denominator as the threshold is compared with it. */
struct seen {
	uint64_t from, to;
	uint64_t index; /* store_index() of the two */
	uint64_t count; /* intervals */
	double value, numerator, denominator;
};

/* The second of the window that holds the middle of these two. */
static inline uint64_t store_index(const struct store *store, uint64_t from, uint64_t to)
{
	uint64_t middle = from + (to - from) / 2;

	return middle > *store->base ? (middle - *store->base) / STORE_PIECE : 0;
}

/* Whether two seconds, the later one second, are of one slice, once there was the later. */
static inline bool store_same_slice(const struct store *store, uint64_t earlier, uint64_t later)
{
	uint32_t shift = store->shift;

	while (later >> shift >= STORE_SLICES)
		shift++;
	return earlier >> shift == later >> shift;
}

/* `n` of them, one after the other. */
void store_add(struct store *store, struct series *series, const struct seen *seen, uint32_t n);

/* Whether something has lasted for `hold`. A twentieth is forgiven: two ticks of a second are seldom two seconds. */
static inline bool store_lasts(uint64_t time, uint64_t hold)
{
	return time + time / 20 >= hold;
}

/* Closes the seconds that are being filled, for a judgement in between; they go on. */
void store_settle(struct store *store);

/* Forgets all slices: another window begins. Stretches that go on go on. */
void store_restart(struct store *store);

/* All that is in the slices, as judge() wants it. */
struct series_list {
	struct sonde_series *series;
	uint32_t count;
	const struct cell **cells;  /* of series i from first[i] on, by slice */
	uint32_t *slice_of;         /* of each cell */
	uint32_t *first;            /* count + 1 */
	struct sonde_slice *buffer; /* STORE_SLICES + 1 */
};

int store_list(struct store *store, struct series_list *list);
/* The slices of one series, in list->buffer. */
uint32_t store_slices(const struct store *store, struct series_list *list, uint32_t series);
void series_list_free(struct series_list *list);

#endif
