/* What a tracker holds, for track.c and keys.c alone. */
#ifndef WINDOW_TRACKED_H
#define WINDOW_TRACKED_H

#include "window/rows.h"
#include "window/track.h"

/* A stream whose columns had values in an earlier view. */
struct active {
	uint64_t mask; /* of the probes without which it gains nothing from a row */
	uint32_t bound;
};

struct track {
	const struct sonde_schema *schema; /* of the newest view */
	char *table, *instance;
	uint64_t hash, start_id;
	struct names *names;
	struct probes probes;
	struct wanted *seen; /* those that had a value */
	uint32_t nseen;
	uint64_t *fresh; /* bits of the slots of the others */
	struct bound *bound;
	uint32_t nbound;
	struct active *active;
	uint32_t nactive;
	bool stale;       /* a column had its first value since the active ones were found */
	struct sum *sums; /* that the streams are made of, each once */
	uint32_t nsums;
	uint64_t stamp; /* of the row being folded */
	bool all_rows;
	int label_column; /* comm or name; -1: none */
	int birth_slot;   /* of the key start_time, -1: none */
	double birth_scale;
	struct rows rows;
	uint64_t time;  /* of the last view; 0: none */
	bool complete;  /* the last view had every row there was */
	double *value;  /* of each probe, in the row being folded */
	uint8_t *state; /* enum probe_state */
	struct track_counts counts;
};

/* What of a probe is looked at in every row. */
struct wanted {
	uint64_t bit; /* among those that moved */
	uint32_t slot, probe;
	bool counter;
};

/* A sum of terms in the row being folded: several streams may have it. */
struct sum {
	const struct term *terms;
	uint32_t nterms;
	bool numerator;
	bool any; /* there is a value */
	double value;
	uint64_t stamp; /* of the row that it is of */
};

/* Whether the row is one of those that the stream takes by its "where". */
bool track_where(const struct bound *bound, const struct sonde_view *view, uint32_t row);

/* A new row: which series it belongs to. 0 or -ENOMEM. */
int track_join(struct track *track, struct row *row, const struct sonde_view *view, uint32_t index);

/* Takes a row that ended out of its series. */
void track_leave(struct track *track, struct row *row);

/* The name of the row, where it has one and it changed. */
void track_label(struct track *track, struct row *row, const struct sonde_view *view,
		 uint32_t index);

#endif
