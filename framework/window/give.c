/* What a row gives to the streams of its table. */
#include <errno.h>
#include <string.h>

#include "window/tracked.h"

/* Each of its terms. */
static void add_terms(const struct track *track, const struct folding *folding, struct sum *sum)
{
	const struct row *row = folding->row;

	for (const struct term *term = sum->terms; term < sum->terms + sum->nterms; term++) {
		const struct probe *probe = &track->probes.probes[term->probe];
		double value = 0;

		if (term->counter)
			value = track->grown[term->probe];
		else if (set_has(row->have, term->probe))
			value = probe_gauge(probe, row->base[term->probe]) * folding->seconds;
		sum->value += term->minus ? -value : value;
	}
}

/* Those counters that grew. */
static void add_moved(const struct track *track, struct sum *sum)
{
	for (uint32_t w = 0; w < track->pwords; w++) {
		uint64_t moved = track->moved[w] & sum->members[w];

		for (; moved; moved &= moved - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(moved);
			double grown = track->grown[w * 64 + bit];

			sum->value += sum->less[w] >> bit & 1 ? -grown : grown;
		}
	}
}

/* A counter of the denominator that began anew counts nothing there; in a numerator it makes the value absent: a steal time
 * that went back is discarded, while the CPU's other shares stay. */
static bool add_up(const struct track *track, const struct folding *folding, struct sum *sum)
{
	const struct row *row = folding->row;
	uint64_t known = 0;

	sum->value = 0;
	sum->refused = false;
	for (uint32_t w = 0; w < track->pwords; w++) {
		uint64_t values = row->have[w] & ~track->unknown[w];
		uint64_t reset = track->reset[w] & sum->members[w];

		if (reset && sum->numerator) {
			sum->refused = true;
			return false;
		}
		if (sum->needed[w] & ~(values | reset))
			return false;
		known |= sum->members[w] & values;
	}
	if (sum->whole)
		add_terms(track, folding, sum);
	else
		add_moved(track, sum);
	return known;
}

static inline bool take_sum(struct track *track, const struct folding *folding, uint32_t i,
			    double *total)
{
	struct sum *sum = &track->sums[i];

	if (sum->stamp != track->stamp) {
		sum->any = add_up(track, folding, sum);
		sum->stamp = track->stamp;
	}
	*total = sum->value;
	return sum->any;
}

/* The numerator and the denominator of a stream in the row being folded. False: they are not known. */
static inline bool evaluate(struct track *track, const struct folding *folding, struct bound *bound,
			    struct seen *seen)
{
	if (!take_sum(track, folding, bound->above, &seen->numerator)) {
		bound->refused = bound->refused || track->sums[bound->above].refused;
		return false;
	}
	if (bound->over == OVER_SECONDS)
		seen->denominator = folding->seconds;
	else if (bound->over == OVER_NS)
		seen->denominator = folding->ns;
	else
		return take_sum(track, folding, bound->below, &seen->denominator);
	return true;
}

bool bound_is_possible(struct bound *bound, struct seen *seen)
{
	const double hair = 0.02;

	if (!bound->natural || seen->numerator >= 0)
		return true;
	if (seen->numerator >= -hair * seen->denominator && bound->over == OVER_COLUMNS) {
		seen->numerator = 0;
		return true;
	}
	bound->refused = true;
	return false;
}

static void reduce(struct bound *bound, struct seen *seen)
{
	double value;

	if (bound->stream->declared.reduce != SONDE_SUM && !bound_is_possible(bound, seen))
		return;

	bound->sum.numerator += seen->numerator;
	bound->sum.denominator += seen->denominator;
	if (bound->stream->declared.reduce == SONDE_SUM || seen->denominator <= 0)
		return;
	value = seen->numerator / seen->denominator;
	if (!bound->sum.rows || value < bound->sum.min)
		bound->sum.min = value;
	if (!bound->sum.rows || value > bound->sum.max)
		bound->sum.max = value;
	bound->sum.rows++;
}

/* 0 or -ENOMEM. */
static int give_one(struct track *track, const struct folding *folding, uint32_t i,
		    struct seen *seen)
{
	struct bound *bound = &track->bound[i];
	struct series *series;

	if (bound->reduces) {
		if ((!bound->where_text || track_where(bound, folding->view, folding->index)) &&
		    evaluate(track, folding, bound, seen))
			reduce(bound, seen);
		return 0;
	}
	series = folding->row->series[i];
	if (series == &series_of_others || !evaluate(track, folding, bound, seen) ||
	    seen->denominator <= 0 || !bound_is_possible(bound, seen))
		return 0;
	bound->gave = true;
	if (seen->numerator <= 0 && !bound->takes_zero)
		return 0;
	if (!series)
		series = track_series(track, folding, i);
	if (!series)
		return -ENOMEM;
	seen->value = seen->numerator / seen->denominator;
	store_add(&bound->stream->store, series, seen, 1);
	return 0;
}

/* Whether a row lacks what streams add up, or its counters were not there before or began anew: then each stream has to see
 * for itself what it makes of it. */
static bool is_odd(const struct track *track, const struct row *row)
{
	uint64_t odd = 0;

	for (uint32_t w = 0; w < track->pwords; w++)
		odd |= (track->summed[w] & ~row->have[w]) | track->unknown[w];
	return odd;
}

/* What counters grew by in a row that is not odd, for those who want it of all rows. */
static void add_growth(struct track *track)
{
	for (uint32_t w = 0; w < track->pwords; w++)
		for (uint64_t moved = track->moved[w]; moved; moved &= moved - 1) {
			uint32_t probe = w * 64 + (uint32_t)__builtin_ctzll(moved);

			track->growth[probe] += track->grown[probe];
			set_add(track->grew, probe);
		}
}

/* To these streams of word `w`; those of `lagging` lag from now on. 0 or -ENOMEM. */
static int give_due(struct track *track, const struct folding *folding, uint32_t w, uint64_t due,
		    uint64_t lagging)
{
	struct seen seen = folding->seen;
	int err = 0;

	for (; due && !err; due &= due - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(due);

		err = give_one(track, folding, w * 64 + i, &seen);
		if (!err && lagging >> i & 1)
			err = lag_begin(track, folding, w * 64 + i);
	}
	return err;
}

int track_give(struct track *track, const struct folding *folding)
{
	bool odd = track->growing && is_odd(track, folding->row);
	int err = 0;

	if (track->growing && !odd)
		add_growth(track);
	for (uint32_t w = 0; w < track->nwords && !err; w++) {
		uint64_t lagging = track->lagging[w], due = track->due[w];

		track->touched[w] |= due;
		due |= track->still[w] | (lagging & ~folding->row->lags[w]);
		if (!odd)
			due &= ~track->growers[w];
		err = give_due(track, folding, w, due, lagging);
	}
	return err;
}

int track_give_lone(struct track *track, const struct folding *folding)
{
	int err = 0;

	for (uint32_t i = 0; i < track->nbound && !err; i++)
		if (track->bound[i].lone)
			err = give_due(track, folding, i >> 6, (uint64_t)1 << (i & 63), 0);
	return err;
}

/* What these columns grew by in all rows that were not odd. */
static double grown(const struct track *track, const struct term *terms, uint32_t n)
{
	double total = 0;

	for (const struct term *term = terms; term < terms + n; term++)
		total += term->minus ? -track->growth[term->probe] : track->growth[term->probe];
	return total;
}

/* A reducing stream's value of this instant. Rows that did not change counted nothing. False: there is none. */
static bool evaluate_reduced(const struct track *track, struct bound *bound,
			     const struct folding *folding, struct seen *seen)
{
	double duration = bound->over == OVER_NS ? folding->ns : folding->seconds;
	uint32_t reduce = bound->stream->declared.reduce;

	if (reduce != SONDE_SUM) {
		seen->value = reduce == SONDE_MIN   ? bound->sum.min
			      : reduce == SONDE_MAX ? bound->sum.max
						    : bound->sum.max - bound->sum.min;
		seen->denominator = duration;
		seen->numerator = seen->value * duration;
		return bound->sum.rows != 0;
	}
	seen->numerator = bound->sum.numerator;
	seen->denominator = bound->over == OVER_COLUMNS ? bound->sum.denominator : duration;
	if (bound->growth) {
		uint32_t above = bound->nnumerator;

		seen->numerator += grown(track, bound->terms, above);
		seen->denominator += grown(track, bound->terms + above, bound->nterms - above);
	}
	if (seen->denominator <= 0 || !bound_is_possible(bound, seen))
		return false;
	seen->value = seen->numerator / seen->denominator;
	return true;
}

struct series *track_reduced(struct track *track, struct bound *bound)
{
	struct stream *stream = bound->stream;
	struct name *name;

	if (stream->reduced)
		return stream->reduced;
	name = name_get(track->names, "");
	if (name)
		stream->reduced = store_series(&stream->store, name);
	return stream->reduced;
}

static int give_reduced(struct track *track, struct bound *bound, const struct folding *folding)
{
	struct seen seen = folding->seen;
	struct series *series;

	if (bound->lags) {
		lag_catch_up_reduced(track, bound);
		bound->given = track->now;
	}
	if (!evaluate_reduced(track, bound, folding, &seen))
		return 0;
	series = track_reduced(track, bound);
	if (!series)
		return -ENOMEM;
	store_add(&bound->stream->store, series, &seen, 1);
	bound->gave = true;
	return 0;
}

/* What was added up is of one instant. */
static void forget_sums(struct track *track)
{
	for (uint32_t w = 0; w < track->pwords; w++) {
		for (uint64_t grew = track->grew[w]; grew; grew &= grew - 1)
			track->growth[w * 64 + (uint32_t)__builtin_ctzll(grew)] = 0;
		track->grew[w] = 0;
	}
	memset(track->touched, 0, track->nwords * sizeof *track->touched);
}

int track_give_reduced(struct track *track, const struct folding *folding)
{
	int err = 0;

	for (uint32_t i = 0; i < track->nreducing && !err; i++) {
		uint32_t stream = track->reducing[i];
		struct bound *bound = &track->bound[stream];

		if (bound->lags && !set_has(track->touched, stream))
			continue;
		err = give_reduced(track, bound, folding);
		memset(&bound->sum, 0, sizeof bound->sum);
	}
	forget_sums(track);
	return err;
}
