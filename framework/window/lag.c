/* Streams of rows in which nothing moves. What they have is known from what the row was last, so they are told of it when it moves,
 * of all intervals since, those of a second in one: an instant in which a table is as it was costs none of them anything. The
 * seconds of a stream come in their order and into the slice that is open, so nothing comes out otherwise than if they had been told
 * at once, but for the rounding of sums. */
#include <errno.h>
#include <string.h>

#include "window/tracked.h"

static bool is_series(const struct series *series)
{
	return series && series != &series_of_others;
}

/* What a sum of these terms is of each second: counters that stand still add nothing, gauges what they are. -1: it has no value. */
static int weigh(const struct track *track, const struct row *row, const struct term *terms,
		 uint32_t nterms, double *weights)
{
	int nweights = 0;
	bool any = false;

	for (const struct term *term = terms; term < terms + nterms; term++) {
		double value;

		if (!set_has(row->have, term->probe)) {
			if (term->optional)
				continue;
			return -1;
		}
		any = true;
		if (term->counter)
			continue;
		value = probe_gauge(&track->probes.probes[term->probe], row->base[term->probe]);
		weights[nweights++] = term->minus ? -value : value;
	}
	return any ? nweights : -1;
}

static double add_up(const double *weights, int n, double seconds)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += weights[i] * seconds;
	return sum;
}

/* What a stream has in a row that stands still. */
struct held {
	int nabove, nbelow; /* weights of its numerator; behind them, of its denominator */
	const double *weights;
};

/* False: nothing. */
static bool hold(const struct track *track, const struct row *row, const struct bound *bound,
		 struct held *held)
{
	const struct term *below = bound->terms + bound->nnumerator;
	double *weights = track->weights;

	*held = (struct held) { .weights = weights };
	held->nabove = weigh(track, row, bound->terms, bound->nnumerator, weights);
	if (held->nabove < 0)
		return false;
	if (bound->over == OVER_COLUMNS)
		held->nbelow = weigh(track, row, below, bound->nterms - bound->nnumerator,
				     weights + held->nabove);
	return held->nbelow >= 0;
}

/* What it has over an interval. False: nothing. */
static inline bool evaluate(const struct held *held, struct bound *bound, struct seen *seen)
{
	double ns = (double)(seen->to - seen->from), seconds = ns / 1e9;

	seen->numerator = add_up(held->weights, held->nabove, seconds);
	if (bound->over == OVER_COLUMNS)
		seen->denominator = add_up(held->weights + held->nabove, held->nbelow, seconds);
	else
		seen->denominator = bound->over == OVER_NS ? ns : seconds;
	if (seen->denominator <= 0 || !bound_is_possible(bound, seen))
		return false;
	seen->value = seen->numerator / seen->denominator;
	return true;
}

/* A series whose stream has that in each of these seconds. */
static void tell(struct bound *bound, struct series *series, const struct held *held,
		 struct seen *seen, uint32_t n)
{
	for (uint32_t at = 0, first = 0; at < n; first = ++at) {
		while (at < n && evaluate(held, bound, &seen[at]))
			at++;
		if (at == first)
			continue;
		bound->gave = true;
		store_add(&bound->stream->store, series, &seen[first], at - first);
	}
}

/* From interval `at` on, which may be in the middle of a second. */
static void tell_from(const struct track *track, struct bound *bound, struct series *series,
		      const struct held *held, uint32_t at)
{
	struct past *past = track->past;
	uint32_t second = past->second_of[at], before = at - past->first[second];

	if (before) {
		struct seen rest = past->seconds[second++];

		rest.from = past->ends[at - 1];
		rest.count -= before;
		tell(bound, series, held, &rest, 1);
	}
	tell(bound, series, held, past->seconds + second, past->nseconds - second);
}

void lag_catch_up(struct track *track, struct row *row, uint32_t stream)
{
	struct bound *bound = &track->bound[stream];
	struct series *series = row->series[stream];
	uint32_t at = row->given[stream];
	struct held held;

	row->given[stream] = (uint8_t)track->past->count;
	if (at < track->past->count && is_series(series) && hold(track, row, bound, &held))
		tell_from(track, bound, series, &held, at);
}

/* Rows in which none of its columns moved counted nothing. */
void lag_catch_up_reduced(struct track *track, struct bound *bound)
{
	static const struct held nothing;
	uint32_t at = bound->given;
	struct series *series;

	bound->given = track->past->count;
	if (at >= track->past->count || bound->over == OVER_COLUMNS)
		return;
	series = track_reduced(track, bound);
	if (series)
		tell_from(track, bound, series, &nothing, at);
	else
		bound->stream->store.no_memory = true;
}

void lag_end(struct track *track, struct row *row)
{
	for (uint32_t w = 0; lag_any(track) && w < track->nwords; w++)
		for (uint64_t lags = row->lags[w]; lags; lags &= lags - 1)
			lag_catch_up(track, row, w * 64 + (uint32_t)__builtin_ctzll(lags));
}

void track_settle(struct track *track)
{
	if (!lag_any(track))
		return;
	for (uint32_t i = 0; i < track->rows.nat; i++) {
		struct row *row = rows_known(&track->rows, i);

		if (!row)
			continue;
		lag_end(track, row);
		memset(row->given, 0, track->nbound);
	}
	for (uint32_t i = 0; i < track->nreducing; i++) {
		struct bound *bound = &track->bound[track->reducing[i]];

		if (bound->lags)
			lag_catch_up_reduced(track, bound);
		bound->given = 0;
	}
	track->past->count = track->past->nseconds = 0;
}

/* As in an instant that stands alone. */
static void stand(struct track *track, struct row *row, uint32_t stream, uint64_t now)
{
	struct bound *bound = &track->bound[stream];
	struct seen seen = { .from = now - (now > 0), .to = now, .count = 1 };
	struct held held;

	seen.index = store_index(&bound->stream->store, seen.from, seen.to);
	if (is_series(row->series[stream]) && hold(track, row, bound, &held))
		tell(bound, row->series[stream], &held, &seen, 1);
}

void track_restart(struct track *track, uint64_t now)
{
	for (uint32_t i = 0; track->lone && i < track->rows.nat; i++) {
		struct row *row = rows_known(&track->rows, i);

		for (uint32_t stream = 0; row && stream < track->nbound; stream++)
			if (track->bound[stream].lone)
				stand(track, row, stream, now);
	}
}

int lag_begin(struct track *track, const struct folding *folding, uint32_t stream)
{
	struct row *row = folding->row;
	struct held held;

	row->given[stream] = (uint8_t)track->now;
	set_add(row->lags, stream);
	if (row->series[stream] || !hold(track, row, &track->bound[stream], &held))
		return 0;
	return track_series(track, folding, stream) ? 0 : -ENOMEM;
}

/* Whether another interval can be among those that are past. */
static bool has_room(const struct track *track, const struct seen *seen)
{
	const struct store *store = &track->bound->stream->store;
	const struct past *past = track->past;

	return past->count < PAST_MOST && past->nseconds < PAST_SECONDS &&
	       store_same_slice(store, past->seconds[0].index, seen->index);
}

void lag_view(struct track *track, const struct seen *seen, bool valid)
{
	if (lag_any(track) && (!valid || !has_room(track, seen)))
		track_settle(track);
	track->now = track->past ? track->past->count + valid : 0;
}

void lag_viewed(struct track *track, const struct seen *seen, bool valid)
{
	struct past *past = track->past;
	struct seen *last;

	if (!past || !valid)
		return;
	last = past->nseconds ? &past->seconds[past->nseconds - 1] : NULL;
	if (last && last->index == seen->index) {
		last->to = seen->to;
		last->count++;
	} else {
		past->first[past->nseconds] = (uint8_t)past->count;
		past->seconds[past->nseconds++] = *seen;
	}
	past->second_of[past->count] = (uint8_t)(past->nseconds - 1);
	past->ends[past->count++] = seen->to;
}
