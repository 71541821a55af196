/* One table of one sender as it comes by: which rows live, what they were last, what that means for each stream. */
#ifndef WINDOW_TRACK_H
#define WINDOW_TRACK_H

#include "core/instant.h"
#include "window/bind.h"

struct track;

/* A tracker for a table, with those of the streams that can read it. NULL without memory. */
struct track *track_new(const struct sonde_view *view, struct stream *const *streams,
			uint32_t nstreams, struct names *names);

/* Whether this view is of the table, the section and the sender that it was made for. */
bool track_is(const struct track *track, const struct sonde_view *view);

/* Folds a view. `changes`: of its rows, where that is known, else NULL. `broken`: what was counted since the last view says
 * nothing about the time since. 0 or -ENOMEM. */
int track_view(struct track *track, const struct sonde_view *view,
	       const struct view_changes *changes, bool broken);

/* Tells the streams all that was seen so far: what does not move is told later. Before the window begins anew, and before anybody
 * judges. */
void track_settle(struct track *track);

/* Another window begins, at `now`: settings are what they were. */
void track_restart(struct track *track, uint64_t now);

/* When it was last read, CLOCK_BOOTTIME ns; 0: never. */
uint64_t track_time(const struct track *track);

/* Whether a column of this table and name ("name", "name?" or "beginning*", length bytes) was seen: it exists, and where
 * a stream reads it, had a value. */
bool track_saw(const struct track *track, const char *table, size_t table_length,
	       const char *column, size_t length);

/* Whether such a column is there, in ticks of a machine whose USER_HZ is not known. */
bool track_unscaled(const struct track *track, const char *table, size_t table_length,
		    const char *column, size_t length);

/* Whether a stream of such a column had values, and none that can be: counters that only fall, parts larger than their
 * whole. */
bool track_refused(const struct track *track, const char *table, size_t table_length,
		   const char *column, size_t length);

/* Counters that began anew while their row lived, since this was asked last. */
uint64_t track_resets(struct track *track);
const char *track_table(const struct track *track);
const char *track_instance(const struct track *track);
void track_free(struct track *track);

/* The moment that a view stands for: the middle of its reading. */
static inline uint64_t view_time(const struct sonde_view *view)
{
	return view->begin + (view->end > view->begin ? (view->end - view->begin) / 2 : 0);
}

#endif
