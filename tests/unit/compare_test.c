/* verbs/compare: what is told of two sides of runs that are made by hand. */
#include "verbs/compare/compare.c"
#include "verbs/compare/warn.c"
#include "verbs/compare/statistics/bootstrap.c"
#include "verbs/compare/statistics/effect.c"
#include "verbs/compare/statistics/holm.c"
#include "verbs/compare/statistics/numbers.c"
#include "verbs/compare/statistics/permutation.c"
#include "verbs/compare/statistics/random.c"

#include "test.h"

const char suite[] = "compare";

enum { RUNS_MOST = 16, METRICS = 3 };

static struct run runs[2][RUNS_MOST];
static struct metric metrics[2][RUNS_MOST][METRICS];
static struct side sides[2];
static struct comparison comparison;

static struct run *add_run(int side, double begin, double seconds)
{
	size_t i = sides[side].count++;

	sides[side].runs = runs[side];
	runs[side][i] = (struct run) { .source = "run",
				       .host = "db1",
				       .kernel = "6.1",
				       .label = "",
				       .begin = begin,
				       .seconds = seconds,
				       .metrics = metrics[side][i] };
	return &runs[side][i];
}

static void add(struct run *run, const char *name, const char *unit, const char *direction,
		double value)
{
	run->metrics[run->nmetrics++] =
		(struct metric) { (char *)name, "", (char *)unit, "", (char *)direction, value };
}

static void fresh(void)
{
	comparison_free(&comparison);
	memset(sides, 0, sizeof sides);
	comparison = (struct comparison) {
		.before = &sides[0], .after = &sides[1], .minimum = 5, .alpha = 0.05
	};
}

static bool warned(const char *words)
{
	for (size_t i = 0; i < comparison.nwarnings; i++)
		if (strstr(comparison.warnings[i], words))
			return true;
	return false;
}

/* Eight runs a side in turn, of 10 s: A B B A... `noise` is how far values lie apart, in percent. */
static enum verdict verdict_of(double before, double after, double noise, const char *direction)
{
	fresh();
	for (int i = 0; i < 8; i++)
		for (int s = 0; s < 2; s++) {
			int side = (i + s) % 2;
			double value = side ? after : before;

			add(add_run(side, 100 * i + 50 * s, 10), "m", "ns", direction,
			    value * (1 + noise / 100 * (i % 4 - 1.5)));
		}
	CU_ASSERT_EQUAL(compare(&comparison), 0);
	return comparison.deltas[0].verdict;
}

static void verdicts(void)
{
	CU_ASSERT_EQUAL(verdict_of(100, 130, 1, "down"), VERDICT_WORSE);
	CU_ASSERT_EQUAL(comparison.nwarnings, 0);
	CU_ASSERT_DOUBLE_EQUAL(comparison.deltas[0].percent, 30, 0.01);
	CU_ASSERT_EQUAL(comparison.deltas[0].effect, 1);
	CU_ASSERT_EQUAL(verdict_of(100, 130, 1, "up"), VERDICT_BETTER);
	CU_ASSERT_EQUAL(verdict_of(130, 100, 1, "down"), VERDICT_BETTER);
	CU_ASSERT_EQUAL(verdict_of(100, 130, 1, "neither"), VERDICT_CHANGED);
	/* Beyond chance, but less than the minimum. */
	CU_ASSERT_EQUAL(verdict_of(100, 104, 0.1, "down"), VERDICT_SAME);
	CU_ASSERT(comparison.deltas[0].p < 0.01);
	CU_ASSERT_EQUAL(verdict_of(100, 100, 0, "down"), VERDICT_SAME);
	/* From nothing to something. */
	CU_ASSERT_EQUAL(verdict_of(0, 3, 1, "down"), VERDICT_WORSE);
	CU_ASSERT(isnan(comparison.deltas[0].percent));
}

/* [211] A change of 12 % is one of a metric that keeps still, and none of one whose runs lie 20 % apart anyway. */
static void noisy_metrics(void)
{
	CU_ASSERT_EQUAL(verdict_of(100, 112, 1, "down"), VERDICT_WORSE);
	CU_ASSERT_EQUAL(verdict_of(100, 112, 14, "down"), VERDICT_SAME);
	CU_ASSERT(comparison.deltas[0].noise > 12);
}

/* [208] All of one side first: a drift of 2 % a run looks like a change; in turn it looks like none. */
static void order(void)
{
	static const int turns[2][8] = { { 0, 0, 0, 0, 1, 1, 1, 1 }, { 0, 1, 1, 0, 0, 1, 1, 0 } };

	for (int t = 0; t < 2; t++) {
		fresh();
		for (int i = 0; i < 8; i++)
			add(add_run(turns[t][i], 100 * i, 10), "m", "ns", "down", 100 + 2 * i);
		CU_ASSERT_EQUAL(compare(&comparison), 0);
		CU_ASSERT_EQUAL(comparison.deltas[0].verdict, t ? VERDICT_SAME : VERDICT_WORSE);
		CU_ASSERT_EQUAL(warned("came before those of the other"), t == 0);
	}
}

/* [210] The same name in ns and in bytes: no number comes out of it. */
static void units(void)
{
	fresh();
	add(add_run(0, 0, 10), "m", "ns", "down", 1);
	add(add_run(1, 50, 10), "m", "bytes", "down", 1000);
	CU_ASSERT_EQUAL(compare(&comparison), 0);
	CU_ASSERT_EQUAL(comparison.ndeltas, 0);
	CU_ASSERT(warned("m has different units"));
}

/* [212] 10 s against 60 s: rates are compared, and it is told. A command's length is the result itself. */
static void lengths(void)
{
	for (int command = 0; command < 2; command++) {
		fresh();
		for (int i = 0; i < 2; i++) {
			struct run *run = add_run(i, 0, i ? 60 : 10);

			run->of_command = command;
			add(run, "m", "count", "down", 7);
		}
		CU_ASSERT_EQUAL(compare(&comparison), 0);
		CU_ASSERT_EQUAL(comparison.deltas[0].change, 0);
		CU_ASSERT_EQUAL(warned("runs of 10.0 s are compared with runs of 60.0 s"),
				!command);
	}
}

/* A command that takes a tenth of the time; a first run that takes five times as long as the others. */
static void commands(void)
{
	for (int t = 0; t < 3; t++) {
		fresh();
		for (int i = 0; i < 8; i++) {
			int side = (i / 2 + i) % 2;
			struct run *run = add_run(side, 100 * i, t == 1 && side ? 0.9 : 10);

			run->of_command = true;
			if (t == 2 && i == 0)
				run->seconds = 50;
			add(run, "run.elapsed", "ns", "down", run->seconds);
		}
		CU_ASSERT_EQUAL(compare(&comparison), 0);
		CU_ASSERT_EQUAL(warned("does one side do less work?"), t == 1);
		CU_ASSERT_EQUAL(
			warned("the first of its side, took 50 s where the others took 10 s"),
			t == 2);
		CU_ASSERT(!warned("are compared with"));
	}
}

static void one_run_a_side(void)
{
	fresh();
	add(add_run(0, 0, 10), "m", "ns", "down", 1);
	add(add_run(1, 50, 10), "m", "ns", "down", 1000);
	CU_ASSERT_EQUAL(compare(&comparison), 0);
	CU_ASSERT_EQUAL(comparison.deltas[0].verdict, VERDICT_UNKNOWN);
	CU_ASSERT(isnan(comparison.deltas[0].p) && isnan(comparison.deltas[0].effect));
	CU_ASSERT_EQUAL(comparison.deltas[0].change, 999);
	CU_ASSERT(warned("one run a side proves nothing"));
}

/* Of one metric four a side suffice (2 of 70 ways), of three it takes five (2 of 252, three times); one that never changes
 * asks for nothing. */
static void enough_runs(void)
{
	static const char *const names[] = { "m", "n", "o" };

	for (size_t count = 1; count <= 3; count += 2)
		for (int constant = 0; constant < 2; constant++) {
			fresh();
			for (int i = 0; i < 8; i++) {
				struct run *run = add_run((i / 2 + i) % 2, 100 * i, 10);

				for (size_t m = 0; m < count; m++)
					add(run, names[m], "ns", "down", constant && m ? 5 : i);
			}
			CU_ASSERT_EQUAL(compare(&comparison), 0);
			CU_ASSERT_EQUAL(comparison.ntests[FAMILY_ELSE], constant ? 1 : count);
			CU_ASSERT_EQUAL(runs_wanted_by_all(&comparison),
					count == 1 || constant ? 0 : 5);
		}
}

/* Four runs a side tell how long a command took (2 of 70 ways), whatever else is read beside it; of what else, nothing. */
static void elapsed_by_itself(void)
{
	char pattern[] = "*", *patterns[] = { pattern };

	for (int chosen = 0; chosen < 2; chosen++) {
		fresh();
		for (int i = 0; i < 8; i++) {
			int side = (i / 2 + i) % 2;
			struct run *run = add_run(side, 100 * i, side ? 30 + i : 10 + i);

			run->of_command = true;
			add(run, "run.elapsed", "ns", "down", run->seconds);
			add(run, "m", "ns", "down", run->seconds);
			add(run, "n", "ns", "down", i);
		}
		comparison.patterns = patterns;
		comparison.npatterns = chosen;
		CU_ASSERT_EQUAL(compare(&comparison), 0);
		CU_ASSERT_EQUAL(comparison.deltas[0].verdict, VERDICT_WORSE);
		CU_ASSERT_DOUBLE_EQUAL(comparison.deltas[0].p, 2 / 70., 1e-9);
		CU_ASSERT_EQUAL(comparison.deltas[1].verdict, VERDICT_UNKNOWN);
		CU_ASSERT_DOUBLE_EQUAL(comparison.deltas[1].p, 2 * 2 / 70., 1e-9);
		CU_ASSERT_EQUAL(runs_wanted(&comparison, FAMILY_ELAPSED), 0);
		CU_ASSERT_EQUAL(runs_wanted(&comparison, FAMILY_ELSE), 5);
		CU_ASSERT_EQUAL(comparison.nwarnings, 1);
		CU_ASSERT(warned("can't tell any of 2 metrics"));
		CU_ASSERT(warned(chosen ? "or choose fewer with" : "or choose metrics with"));
	}
}

static void chosen_metrics(void)
{
	char pattern[] = "cpu.*", *patterns[] = { pattern };

	fresh();
	for (int i = 0; i < 2; i++) {
		struct run *run = add_run(i, 0, 10);

		add(run, "cpu.a", "ns", "down", 1);
		add(run, "mem.a", "ns", "down", 1);
		add(run, "cpu.b", "ns", "down", i ? NAN : 1);
	}
	comparison.patterns = patterns;
	comparison.npatterns = 1;
	CU_ASSERT_EQUAL(compare(&comparison), 0);
	CU_ASSERT_EQUAL(comparison.ndeltas, 1);
	CU_ASSERT_STRING_EQUAL(comparison.deltas[0].metric->name, "cpu.a");
}

static void other_machines(void)
{
	fresh();
	add(add_run(0, 0, 10), "m", "ns", "down", 1);
	add_run(1, 0, 10)->kernel = "6.2";
	add(&runs[1][0], "m", "ns", "down", 1);
	CU_ASSERT_EQUAL(compare(&comparison), 0);
	CU_ASSERT(warned("recorded on db1, Linux 6.1; run on db1, Linux 6.2"));
}

CU_TestInfo tests[] = {
	{ "verdicts", verdicts },
	{ "noisy metrics", noisy_metrics },
	{ "order of runs", order },
	{ "units", units },
	{ "lengths", lengths },
	{ "commands", commands },
	{ "one run a side", one_run_a_side },
	{ "enough runs", enough_runs },
	{ "how long it took, by itself", elapsed_by_itself },
	{ "chosen metrics", chosen_metrics },
	{ "other machines", other_machines },
	CU_TEST_INFO_NULL,
};
