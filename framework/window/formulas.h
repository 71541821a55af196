/* Metrics that a recording brings along: rows of a table with the columns `table`, `metric`, `formula`, `unit` and `by`, as a
 * collector writes them (perf_event_metric). Each is computed like an analyzer's: of what the columns grew by in the same rows. */
#ifndef WINDOW_FORMULAS_H
#define WINDOW_FORMULAS_H

#include "core/instant.h"
#include "window/bind.h"
#include "window/verdict.h"

struct formula;

/* A zeroed struct has none. */
struct formulas {
	struct formula **items;
	uint32_t count, nstreams;
};

/* What a metric's streams are made with, and those that there are already: what an analyzer looks at is told by it. */
struct formulas_among {
	struct names *names;
	const uint64_t *base;
	struct stream *const *streams;
	uint32_t nstreams;
};

/* Takes the rows of this view, where it is such a table, that were not taken before, as many as there is room for. 0, -ENOMEM. */
int formulas_take(struct formulas *formulas, const struct sonde_view *view,
		  const struct formulas_among *among);

/* The streams of formula i, *count of them; they stay where they are. */
struct stream *formulas_streams(struct formulas *formulas, uint32_t i, uint32_t *count);

/* A metric for each that has a value. 0 or -ENOMEM. */
int formulas_tell(struct formulas *formulas, struct verdicts *verdicts);

void formulas_free(struct formulas *formulas);

#endif
