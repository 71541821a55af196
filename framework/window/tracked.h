/* What a tracker holds, for track.c, fold.c, probe.c, give.c, lag.c and keys.c alone. */
#ifndef WINDOW_TRACKED_H
#define WINDOW_TRACKED_H

#include "window/rows.h"
#include "window/track.h"

enum { PAST_MOST = 250, PAST_SECONDS = 64 };

/* Intervals, one behind the other, that streams were not told of yet; all of one slice. */
struct past {
	uint32_t count, nseconds;
	uint64_t ends[PAST_MOST];
	uint8_t second_of[PAST_MOST];
	struct seen seconds[PAST_SECONDS]; /* the intervals of each */
	uint8_t first[PAST_SECONDS];       /* and which of them is the first */
};

/* A sum of terms in the row being folded: several streams may have it. */
struct sum {
	const struct term *terms;
	uint32_t nterms;
	/* Probes; those that it has no value without; those that it is made less by. */
	uint64_t *members, *needed, *less;
	bool numerator;
	bool whole; /* there are gauges among them, or one stands twice: counters that grew are not all */
	bool any;     /* there is a value */
	bool refused; /* there is none since a counter went back */
	double value;
	uint64_t stamp; /* of the row that it is of */
};

/* A column of the table. */
struct layout {
	uint32_t type, slot;
};

struct track {
	const struct sonde_schema *schema; /* of the newest view */
	struct layout *layout;
	uint32_t ncolumns, nslots;
	char *table, *instance;
	uint64_t hash, start_id;
	struct names *names;
	struct probes probes;
	uint16_t *probe_of;  /* by slot, where it is watched */
	uint64_t *watched;   /* bits of the slots of probes, */
	uint64_t *concern;   /* and of those that a row or its series is named by; */
	uint64_t *loosening; /* those by which the series of a row becomes another */
	/* Of the row being folded. */
	uint64_t *moved; /* probes that are not what they were, */
	uint64_t *
		unknown; /* of these, counters that nobody knows the growth of: there was no value before, */
	uint64_t *reset; /* or they began anew, which are here as well */
	uint64_t *due;   /* streams that read what moved */
	double *grown;   /* of each probe: what a counter grew by */

	double *growth; /* of each probe: over the rows of this instant */
	uint64_t *sets; /* of the sums */
	struct bound *bound;
	uint32_t nbound, pwords; /* words of a set of probes */
	struct sum *sums;        /* that the streams are made of, each once */
	uint32_t nsums;
	/* Sets of streams, a bit each in `nwords` words. One whose columns never had a value is in none. */
	uint32_t nwords;
	uint64_t *
		readers; /* of each probe: those that gain something from a row in which it moved */
	uint64_t *still; /* those that have a value in a row in which nothing moved, */
	uint64_t *lagging; /* and those of them that may be told of it later */
	uint64_t *growers; /* those that are made of the growth of probes over all rows */
	uint64_t *summed;  /* probes that those of `growth` cannot do without */
	uint32_t *reducing, nreducing;
	uint64_t *touched; /* those with something to be told of the view being folded, */
	uint64_t *grew;    /* and the probes that grew in it */
	bool growing;      /* there are any of `growers` */
	bool stale;        /* a column had its first value since these sets were made */
	uint64_t stamp;    /* of the row being folded */
	/* NULL where no stream lags. In row->given is how many of its intervals each of `lagging` was told of, in bound->given
	 * those that reduce. */
	struct past *past;
	uint32_t now;    /* row->given of what was told of the view being folded */
	double *weights; /* of the terms of a stream */
	bool all_rows;   /* rows in which nothing moved are looked at as well, */
	bool look;       /* once: there are more streams in these sets than before */
	bool lone;       /* a stream has a value in an instant that stands alone */
	int label_slot;  /* of comm or name; -1: none */
	int birth_slot;  /* of the key start_time, -1: none */
	double birth_scale;
	struct rows rows;
	const uint64_t **slots_of; /* of each row of the view: what changed; room for `nslots_of` */
	uint32_t nslots_of;
	uint64_t time;   /* of the last view; 0: none */
	bool complete;   /* the last view had every row there was */
	uint64_t resets; /* not yet asked for */
};

/* A row of a view while it is folded. */
struct folding {
	const struct sonde_view *view;
	const uint64_t *have, *slots;
	struct row *row;
	uint32_t index;
	struct seen seen; /* over the time that it was seen; without values */
	double ns, seconds;
};

/* ---- probe.c ---- */

/* Reads the probes of a row whose bit is set in `changed` (NULL: all). False where the row as a whole began anew: two counters or
 * more went back. */
bool track_read(struct track *track, const struct folding *folding, const uint64_t *changed);

/* A slot in base units. */
static inline double probe_gauge(const struct probe *probe, uint64_t slot)
{
	double raw = probe->type == SONDE_F64   ? sonde_slot_f64(slot)
		     : probe->type == SONDE_I64 ? (double)(int64_t)slot
						: (double)slot;

	return raw * probe->scale;
}

/* ---- lag.c ---- */

/* Before a view over this interval is folded: tells the lagging streams of what is past where it has to be. `valid`: the view
 * has an interval. Behind it: so much more is past. */
void lag_view(struct track *track, const struct seen *seen, bool valid);
void lag_viewed(struct track *track, const struct seen *seen, bool valid);

/* The stream was told all that there is to be told of the row, up to the view being folded: from now on it lags. Its series is
 * made while there is a view to name it by. 0 or -ENOMEM. */
int lag_begin(struct track *track, const struct folding *folding, uint32_t stream);

/* Whether there is anything to be told. */
static inline bool lag_any(const struct track *track)
{
	return track->past && track->past->count;
}

/* Tells a stream that lags what it had in the row as it was; all of the row's; one that reduces. */
void lag_catch_up(struct track *track, struct row *row, uint32_t stream);
void lag_end(struct track *track, struct row *row);
void lag_catch_up_reduced(struct track *track, struct bound *bound);

/* ---- give.c ---- */

/* Whether there can be such a value. Numbers of one file are read one after another, so a part may be off by a hair. */
bool bound_is_possible(struct bound *bound, struct seen *seen);

/* Gives its streams what the row says: those that read what moved, and those that take rows in which nothing did. 0 or
 * -ENOMEM. */
int track_give(struct track *track, const struct folding *folding);

/* Gives it to those streams that need no interval. 0 or -ENOMEM. */
int track_give_lone(struct track *track, const struct folding *folding);

/* The one series of a stream that reduces, made when it is first asked for. NULL without memory. */
struct series *track_reduced(struct track *track, struct bound *bound);

/* What the rows of an instant came to, for the streams that reduce them. 0 or -ENOMEM. */
int track_give_reduced(struct track *track, const struct folding *folding);

/* ---- keys.c ---- */

/* Stands for the series of a row that a stream leaves out by its "where". */
extern struct series series_of_others;

/* Whether the row is one of those that the stream, which has a "where", takes. */
bool track_where(const struct bound *bound, const struct sonde_view *view, uint32_t row);

/* A new row: which streams leave it out. */
void track_join(struct track *track, struct row *row, const struct sonde_view *view,
		uint32_t index);

/* The series of the row in a stream that does not reduce, made when it is first asked for: most processes that come and go
 * have a value in few streams. NULL without memory, or where the stream leaves the row out. */
struct series *track_series(struct track *track, const struct folding *folding, uint32_t stream);

/* Takes a row out of those series whose key it bears no more; `slots` has the bits of what changed in it (NULL: any). */
void track_move(struct track *track, struct row *row, const struct sonde_view *view, uint32_t index,
		const uint64_t *slots);

/* Takes a row that ended out of its series. */
void track_leave(struct track *track, struct row *row);

/* The name of the row, where it has one and it changed. */
void track_label(struct track *track, struct row *row, const struct sonde_view *view,
		 uint32_t index);

#endif
