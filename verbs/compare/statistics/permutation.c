/* The permutation test of the rank sum. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "statistics.h"

enum { DEALS_SEED = 1 };

/* Twice the rank of each value, so that shared ranks are whole numbers too; those of `before` first. */
static void rank(struct group before, struct group after, unsigned *ranks)
{
	size_t n = before.count + after.count;

	for (size_t i = 0; i < n; i++) {
		double value = i < before.count ? before.values[i] : after.values[i - before.count];
		unsigned smaller = 0, same = 0;

		for (size_t j = 0; j < n; j++) {
			double other = j < before.count ? before.values[j]
							: after.values[j - before.count];

			smaller += other < value;
			same += other == value;
		}
		ranks[i] = 2 * smaller + same + 1;
	}
}

static unsigned sum(const unsigned *ranks, size_t count)
{
	unsigned total = 0;

	for (size_t i = 0; i < count; i++)
		total += ranks[i];
	return total;
}

/* In how many ways `take` of the n ranks add up to each sum: ways[taken][sum], filled rank by rank. */
static double exact(const unsigned *ranks, size_t n, size_t take, double mean, double distance)
{
	size_t sums = sum(ranks, n) + 1;
	double *ways = calloc((take + 1) * sums, sizeof *ways);
	double all = 0, far = 0;

	if (!ways)
		return NAN;
	ways[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t taken = i < take ? i + 1 : take; taken > 0; taken--)
			for (size_t s = sums - 1; s >= ranks[i]; s--)
				ways[taken * sums + s] += ways[(taken - 1) * sums + s - ranks[i]];
	for (size_t s = 0; s < sums; s++) {
		all += ways[take * sums + s];
		if (fabs((double)s - mean) >= distance)
			far += ways[take * sums + s];
	}
	free(ways);
	return far / all;
}

/* Deals `take` of the ranks from the top again and again. */
static double sampled(unsigned *ranks, size_t n, size_t take, double mean, double distance)
{
	uint64_t state = DEALS_SEED;
	unsigned far = 0;

	for (int deal = 0; deal < PERMUTATION_DEALS; deal++) {
		for (size_t i = 0; i < take; i++) {
			size_t other = i + random_below(&state, n - i);
			unsigned rank_here = ranks[i];

			ranks[i] = ranks[other];
			ranks[other] = rank_here;
		}
		far += fabs((double)sum(ranks, take) - mean) >= distance;
	}
	return (far + 1.0) / (PERMUTATION_DEALS + 1.0);
}

double permutation_p(struct group before, struct group after)
{
	size_t n = before.count + after.count;
	unsigned ranks[STATISTICS_MOST] = { 0 };
	double mean, distance;

	if (!before.count || !after.count || n > STATISTICS_MOST)
		return NAN;
	rank(before, after, ranks);
	mean = (double)before.count * ((double)n + 1);
	distance = fabs(sum(ranks, before.count) - mean);
	return n <= PERMUTATION_EXACT ? exact(ranks, n, before.count, mean, distance)
				      : sampled(ranks, n, before.count, mean, distance);
}

double permutation_least(size_t before, size_t after)
{
	double ways = 1;

	if (before + after > PERMUTATION_EXACT)
		return 1 / (PERMUTATION_DEALS + 1.0);
	for (size_t i = 1; i <= before; i++)
		ways *= (double)(after + i) / (double)i;
	return ways > 2 ? 2 / ways : 1;
}
