/* The bootstrap: the same statistic of groups drawn, with putting back, from the groups. */
#include <math.h>
#include <stdlib.h>

#include "statistics.h"

enum { DRAWS_SEED = 2 };

static void draw(struct group from, double *to, uint64_t *state)
{
	for (size_t i = 0; i < from.count; i++)
		to[i] = from.values[random_below(state, from.count)];
}

/* The middle 95 % of the draws. */
static struct interval middle(double *draws)
{
	qsort(draws, BOOTSTRAP_DRAWS, sizeof *draws, by_number);
	return (struct interval) { draws[BOOTSTRAP_DRAWS / 40],
				   draws[BOOTSTRAP_DRAWS - 1 - BOOTSTRAP_DRAWS / 40] };
}

struct bootstrap bootstrap(struct group before, struct group after)
{
	struct bootstrap result = { { NAN, NAN }, { NAN, NAN } };
	double effects[BOOTSTRAP_DRAWS], changes[BOOTSTRAP_DRAWS];
	double first[STATISTICS_MOST], second[STATISTICS_MOST];
	const struct group one = { first, before.count }, other = { second, after.count };
	uint64_t state = DRAWS_SEED;

	if (before.count < BOOTSTRAP_LEAST || after.count < BOOTSTRAP_LEAST ||
	    before.count + after.count > STATISTICS_MOST)
		return result;
	for (int i = 0; i < BOOTSTRAP_DRAWS; i++) {
		draw(before, first, &state);
		draw(after, second, &state);
		effects[i] = cliffs_delta(one, other);
		changes[i] = median(other) - median(one);
	}
	result.effect = middle(effects);
	result.change = middle(changes);
	return result;
}
