/* Statistics of two small groups of runs: pure functions of numbers, without state, the same on every machine. All of them
 * go by ranks or medians, so that one wild run does not decide (heavy tails are the rule). */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* One group; at most STATISTICS_MOST values in two of them together. */
enum { STATISTICS_MOST = 4096 };
struct group {
	const double *values;
	size_t count;
};

/* ---- numbers.c ---- */

/* NAN of nothing. */
double median(struct group group);

/* Median of the distances from the median, times 1.4826: of normal data an estimate of the standard deviation. NAN of
 * nothing. */
double median_deviation(struct group group);

/* ---- effect.c ---- */

/* Cliff's delta: of all pairs, the share in which `after` is larger less the share in which it is smaller; -1 to 1, 0 where
 * neither prevails (N. Cliff, "Dominance Statistics", Psychological Bulletin 114, 1993). NAN where a group is empty. */
double cliffs_delta(struct group before, struct group after);

/* ---- permutation.c ---- */

/* The share of the ways to deal these values into two groups of these sizes in which the rank sum of one is at least as far
 * from its mean: the two-sided permutation test of Wilcoxon's rank sum, which is that of Cliff's delta; ties share a rank.
 * Exact up to PERMUTATION_EXACT values in all; beyond that, from PERMUTATION_DEALS deals of a fixed seed, where the
 * smallest p is 1 / (PERMUTATION_DEALS + 1). NAN where a group is empty. */
enum { PERMUTATION_EXACT = 60, PERMUTATION_DEALS = 9999 };
double permutation_p(struct group before, struct group after);

/* The smallest p that groups of these sizes can have. */
double permutation_least(size_t before, size_t after);

/* ---- bootstrap.c ---- */

struct interval {
	double low, high;
};

/* The percentile bootstrap (B. Efron, 1979), 95 %, BOOTSTRAP_DRAWS draws of a fixed seed: of Cliff's delta, and of the
 * difference of the medians. NANs where a group has fewer than BOOTSTRAP_LEAST values. */
enum { BOOTSTRAP_DRAWS = 2000, BOOTSTRAP_LEAST = 3 };
struct bootstrap {
	struct interval effect, change;
};
struct bootstrap bootstrap(struct group before, struct group after);

/* ---- holm.c ---- */

/* Corrects p values of tests that are looked at together, in place, so that the chance of any false alarm among all of them
 * stays what one p says (S. Holm, Scandinavian Journal of Statistics 6, 1979). NANs are no tests. 0 or -ENOMEM. */
int holm(double *p, size_t count);

/* ---- random.c ---- */

/* A fixed sequence of numbers: splitmix64 (S. Vigna; G. Steele et al., OOPSLA 2014). `state` is the seed at first. */
uint64_t random_next(uint64_t *state);

/* Below `bound`, which is below 2^32, each as likely as the next but for bound / 2^32. */
size_t random_below(uint64_t *state, size_t bound);

/* ---- shared ---- */

/* For qsort(3). */
int by_number(const void *a, const void *b);

#endif
