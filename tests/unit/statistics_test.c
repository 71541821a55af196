/* verbs/compare/statistics: published worked examples, counts by enumeration (Python's itertools), and how often the whole is
 * wrong where the truth is known. */
#include "verbs/compare/statistics/bootstrap.c"
#include "verbs/compare/statistics/effect.c"
#include "verbs/compare/statistics/holm.c"
#include "verbs/compare/statistics/numbers.c"
#include "verbs/compare/statistics/permutation.c"
#include "verbs/compare/statistics/random.c"

#include "test.h"

const char suite[] = "statistics";

#define GROUP(...)                                                                                 \
	((struct group) { (const double[]) { __VA_ARGS__ },                                        \
			  sizeof((const double[]) { __VA_ARGS__ }) / sizeof(double) })
#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 1e-9)

/* The first numbers of splitmix64 from the seed 1234567, as its author's program prints them (Rosetta Code has them). */
static void random_numbers(void)
{
	uint64_t state = 1234567;

	CU_ASSERT_EQUAL(random_next(&state), 6457827717110365317u);
	CU_ASSERT_EQUAL(random_next(&state), 3203168211198807973u);
	CU_ASSERT_EQUAL(random_next(&state), 9817491932198370423u);
	for (int i = 0; i < 10000; i++)
		CU_ASSERT(random_below(&state, 7) < 7);
}

static void medians(void)
{
	NEAR(median(GROUP(3, 1, 2)), 2);
	NEAR(median(GROUP(4, 1, 2, 3)), 2.5);
	CU_ASSERT(isnan(median((struct group) { NULL, 0 })));
	/* Distances from 2: 1 1 0 0 2 4 7, whose median is 1 (the example of Wikipedia's "Median absolute deviation"). */
	NEAR(median_deviation(GROUP(1, 1, 2, 2, 4, 6, 9)), 1.4826);
	/* One wild run moves neither. */
	NEAR(median(GROUP(1, 1, 2, 2, 4, 6, 9e9)), 2);
	NEAR(median_deviation(GROUP(1, 1, 2, 2, 4, 6, 9e9)), 1.4826);
}

/* The example of R's effsize package: "delta estimate: -0.25 (small)". */
static void effects(void)
{
	NEAR(cliffs_delta(GROUP(10, 20, 30, 40, 40, 50),
			  GROUP(10, 10, 20, 20, 20, 30, 30, 30, 40, 50)),
	     -0.25);
	NEAR(cliffs_delta(GROUP(1, 2), GROUP(3, 4)), 1);
	NEAR(cliffs_delta(GROUP(1, 1), GROUP(1, 1)), 0);
}

/* Hollander and Wolfe, Nonparametric Statistical Methods (1973), page 69, permeability of membranes: one-sided p = 0.1272 in
 * R's manual of wilcox.test. By enumeration 764 of 3,003 ways are as far out. */
static void permutation_of_a_book(void)
{
	struct group term = GROUP(0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46);
	struct group weeks = GROUP(1.15, 0.88, 0.90, 0.74, 1.21);

	NEAR(permutation_p(term, weeks), 764.0 / 3003);
	NEAR(permutation_p(weeks, term), 764.0 / 3003);
	CU_ASSERT_DOUBLE_EQUAL(permutation_p(term, weeks), 2 * 0.1272, 0.0001);
}

/* Ties, by enumeration with shared ranks. */
static void permutation_with_ties(void)
{
	NEAR(permutation_p(GROUP(1, 2, 2, 3), GROUP(2, 3, 3, 4)), 20.0 / 70);
	NEAR(permutation_p(GROUP(1, 1, 1, 5), GROUP(5, 5, 9, 100)), 6.0 / 70);
	NEAR(permutation_p(GROUP(1, 1, 1), GROUP(1, 1, 1)), 1);
	CU_ASSERT(isnan(permutation_p(GROUP(1), (struct group) { NULL, 0 })));
}

/* Wholly apart: 2 of C(2n, n) ways, the least that these sizes can have. */
static void permutation_least_p(void)
{
	NEAR(permutation_p(GROUP(1, 2, 3), GROUP(4, 5, 6)), 2.0 / 20);
	NEAR(permutation_least(3, 3), 2.0 / 20);
	NEAR(permutation_p(GROUP(1, 2, 3, 4), GROUP(5, 6, 7, 8)), 2.0 / 70);
	NEAR(permutation_least(4, 4), 2.0 / 70);
	NEAR(permutation_least(10, 10), 2.0 / 184756);
	NEAR(permutation_least(1, 1), 1);
}

/* More than can be counted out: dealt, the same each time. In 561 of 1,600 pairs the first is larger, where 800 are expected with
 * a standard deviation of 103.9: z = 2.30, p = 0.0217 by the normal approximation; 9,999 deals are within 0.0044 of it. */
static void permutation_by_deals(void)
{
	double low[40], high[40], first, again;

	for (int i = 0; i < 40; i++) {
		low[i] = i;
		high[i] = i + 6.5;
	}
	first = permutation_p((struct group) { low, 40 }, (struct group) { high, 40 });
	again = permutation_p((struct group) { low, 40 }, (struct group) { high, 40 });
	NEAR(first, again);
	CU_ASSERT_DOUBLE_EQUAL(first, 0.0217, 0.0044);
	for (int i = 0; i < 40; i++)
		high[i] = 100 + i;
	NEAR(permutation_p((struct group) { low, 40 }, (struct group) { high, 40 }), 1.0 / 10000);
	NEAR(permutation_least(40, 40), 1.0 / 10000);
}

/* The example of Wikipedia's "Holm-Bonferroni method"; a NAN is no test. */
static void holms_correction(void)
{
	double p[] = { 0.01, NAN, 0.04, 0.03, 0.005 };

	CU_ASSERT_EQUAL(holm(p, 5), 0);
	NEAR(p[0], 0.03);
	CU_ASSERT(isnan(p[1]));
	NEAR(p[2], 0.06);
	NEAR(p[3], 0.06);
	NEAR(p[4], 0.02);
	CU_ASSERT_EQUAL(holm(p, 0), 0);
}

/* ---- where the truth is known ---- */

/* Heavy tails: most of a run's values near 1, one in ten up to a hundred times that. */
static double heavy(uint64_t *state)
{
	double u = (double)(random_next(state) >> 11) / 9007199254740992.0;
	double value = 1 + 0.1 * u;

	return random_below(state, 10) ? value : value * (1 + 99 * u);
}

static void fill(double *values, size_t count, uint64_t *state)
{
	for (size_t i = 0; i < count; i++)
		values[i] = heavy(state);
}

/* [206] 2,000 comparisons of equals of that kind: 5 % and no more than chance adds to it (three standard errors) are told as
 * changes. */
static void false_alarms(void)
{
	double before[8], after[8];
	uint64_t state = 42;
	int alarms = 0;

	for (int i = 0; i < 2000; i++) {
		fill(before, 8, &state);
		fill(after, 8, &state);
		alarms += permutation_p((struct group) { before, 8 },
					(struct group) { after, 8 }) <= 0.05;
	}
	CU_ASSERT(alarms <= 2000 * (0.05 + 3 * 0.0049));
	CU_ASSERT(alarms >= 2000 * 0.02);
}

/* A shift of 10 % that the means do not show for all the wild runs. */
static void found_among_wild_runs(void)
{
	double before[10], after[10];
	uint64_t state = 7;
	int found = 0;

	for (int i = 0; i < 200; i++) {
		fill(before, 10, &state);
		fill(after, 10, &state);
		for (int k = 0; k < 10; k++)
			after[k] *= 1.1;
		found += permutation_p((struct group) { before, 10 },
				       (struct group) { after, 10 }) <= 0.05;
	}
	CU_ASSERT(found > 180);
}

/* The interval of the change has the true one (0.5) in it in about 95 of 100 cases; of ten runs a side the percentile method
 * is known to be somewhat narrow. */
static void intervals(void)
{
	double before[10], after[10];
	struct bootstrap one;
	uint64_t state = 3;
	int in = 0;

	for (int i = 0; i < 200; i++) {
		for (int k = 0; k < 10; k++) {
			before[k] = (double)random_below(&state, 1000) / 1000;
			after[k] = 0.5 + (double)random_below(&state, 1000) / 1000;
		}
		one = bootstrap((struct group) { before, 10 }, (struct group) { after, 10 });
		in += one.change.low <= 0.5 && one.change.high >= 0.5;
		CU_ASSERT(one.effect.low <= one.effect.high);
	}
	CU_ASSERT(in >= 176 && in <= 199);
	one = bootstrap(GROUP(1, 2, 3), GROUP(11, 12, 13));
	NEAR(one.effect.low, 1);
	NEAR(one.effect.high, 1);
	CU_ASSERT(one.change.low >= 8 && one.change.high <= 12);
	CU_ASSERT(isnan(bootstrap(GROUP(1, 2), GROUP(3, 4, 5)).effect.low));
}

CU_TestInfo tests[] = {
	{ "random numbers", random_numbers },
	{ "medians", medians },
	{ "Cliff's delta", effects },
	{ "permutation test of a book", permutation_of_a_book },
	{ "with ties", permutation_with_ties },
	{ "the least p", permutation_least_p },
	{ "by deals", permutation_by_deals },
	{ "Holm's correction", holms_correction },
	{ "false alarms", false_alarms },
	{ "found among wild runs", found_among_wild_runs },
	{ "intervals", intervals },
	CU_TEST_INFO_NULL,
};
