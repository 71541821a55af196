/* sonde compare: each metric of the runs before against those after. A metric is told to have changed only where chance does
 * not explain it, it changed by more than the minimum, and by more than runs of one side differ among themselves. */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>

#include "compare.h"
#include "core/run_metrics.h"

static bool is_same_metric(const struct metric *a, const struct metric *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->about, b->about) == 0;
}

/* The metric in this run; NULL where it has no such number. */
static const struct metric *find(const struct run *run, const struct metric *metric)
{
	for (size_t i = 0; i < run->nmetrics; i++)
		if (is_same_metric(&run->metrics[i], metric))
			return isfinite(run->metrics[i].value) ? &run->metrics[i] : NULL;
	return NULL;
}

/* Numbers are compared with their units: seconds and milliseconds are not. */
static bool same_unit(const struct metric *a, const struct metric *b)
{
	return strcmp(a->unit, b->unit) == 0 && strcmp(a->counted, b->counted) == 0;
}

/* The values of one side; false where a unit is another. */
static bool gather(const struct side *side, const struct metric *metric, double *values,
		   size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < side->count; i++) {
		const struct metric *found = find(&side->runs[i], metric);

		if (!found)
			continue;
		if (!same_unit(found, metric))
			return false;
		values[(*count)++] = found->value;
	}
	return true;
}

static double share(double part, double whole)
{
	return whole != 0 ? 100 * part / fabs(whole) : NAN;
}

static double larger(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

/* Whether all values of both groups are one. However they are dealt, they are: leaving such a metric out of the correction is
 * no choice by the result. */
static bool is_constant(struct group before, struct group after)
{
	for (size_t i = 0; i < before.count; i++)
		if (before.values[i] != before.values[0])
			return false;
	for (size_t i = 0; i < after.count; i++)
		if (after.values[i] != before.values[0])
			return false;
	return true;
}

static void weigh(struct delta *delta, struct group before, struct group after)
{
	delta->nbefore = before.count;
	delta->nafter = after.count;
	delta->before = median(before);
	delta->after = median(after);
	delta->change = delta->after - delta->before;
	delta->percent = delta->change == 0 ? 0 : share(delta->change, delta->before);
	delta->noise = delta->p_raw = delta->p = delta->effect = NAN;
	delta->interval = bootstrap(before, after);
	delta->verdict = VERDICT_UNKNOWN;
	if (before.count < 2 || after.count < 2)
		return;
	delta->noise = larger(share(median_deviation(before), delta->before),
			      share(median_deviation(after), delta->after));
	delta->constant = is_constant(before, after);
	delta->p_raw = delta->p = permutation_p(before, after);
	delta->effect = cliffs_delta(before, after);
}

/* A metric that an earlier run had is there already. */
static bool is_known(const struct comparison *comparison, const struct metric *metric)
{
	for (size_t i = 0; i < comparison->ndeltas; i++)
		if (is_same_metric(comparison->deltas[i].metric, metric))
			return true;
	return false;
}

bool metric_matches(const struct metric *metric, const char *pattern)
{
	return fnmatch(pattern, metric->name, 0) == 0;
}

static bool is_chosen(const struct comparison *comparison, const struct metric *metric)
{
	for (size_t i = 0; i < comparison->npatterns; i++)
		if (metric_matches(metric, comparison->patterns[i]))
			return true;
	return !comparison->npatterns;
}

static enum family family_of(const struct metric *metric)
{
	return strcmp(metric->name, run_metrics[RUN_ELAPSED].name) == 0 ? FAMILY_ELAPSED
									: FAMILY_ELSE;
}

static int add_metric(struct comparison *comparison, const struct metric *metric)
{
	double before[STATISTICS_MOST], after[STATISTICS_MOST];
	struct delta *deltas;
	size_t nbefore, nafter;

	if (!is_chosen(comparison, metric) || is_known(comparison, metric))
		return 0;
	if (!gather(comparison->before, metric, before, &nbefore) ||
	    !gather(comparison->after, metric, after, &nafter)) {
		warn(comparison, "%s has different units in different runs: not compared",
		     metric->name);
		return 0;
	}
	if (!nbefore || !nafter)
		return 0;
	deltas = realloc(comparison->deltas, (comparison->ndeltas + 1) * sizeof *deltas);
	if (!deltas)
		return -ENOMEM;
	comparison->deltas = deltas;
	deltas += comparison->ndeltas++;
	*deltas = (struct delta) { .metric = metric, .family = family_of(metric) };
	weigh(deltas, (struct group) { before, nbefore }, (struct group) { after, nafter });
	return 0;
}

/* Whether any delta has this name: processes and devices come and go, names do not. */
static bool is_compared(const struct comparison *comparison, const char *name)
{
	for (size_t i = 0; i < comparison->ndeltas; i++)
		if (strcmp(comparison->deltas[i].metric->name, name) == 0)
			return true;
	return false;
}

/* Whether an earlier metric of the side, up to this one, has its name and a number. */
static bool is_counted(const struct side *side, const struct metric *metric)
{
	for (size_t r = 0; r < side->count; r++)
		for (size_t i = 0; i < side->runs[r].nmetrics; i++) {
			const struct metric *other = &side->runs[r].metrics[i];

			if (other == metric)
				return false;
			if (isfinite(other->value) && strcmp(other->name, metric->name) == 0)
				return true;
		}
	return false;
}

/* What is of one side only would otherwise vanish, and a gate on it hold nothing back. */
static void count_alone(const struct comparison *comparison, const struct side *side,
			struct lone *alone)
{
	for (size_t r = 0; r < side->count; r++)
		for (size_t i = 0; i < side->runs[r].nmetrics; i++) {
			const struct metric *metric = &side->runs[r].metrics[i];

			if (!isfinite(metric->value) || !is_chosen(comparison, metric) ||
			    is_compared(comparison, metric->name) || is_counted(side, metric))
				continue;
			if (!alone->count++)
				alone->first = metric;
		}
}

static int correct(struct comparison *comparison, enum family family)
{
	double *p = malloc((comparison->ndeltas + 1) * sizeof *p);
	size_t *tests = &comparison->ntests[family];
	int err;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < comparison->ndeltas; i++) {
		const struct delta *delta = &comparison->deltas[i];

		p[i] = delta->constant || delta->family != family ? NAN : delta->p_raw;
		*tests += !isnan(p[i]);
	}
	err = holm(p, comparison->ndeltas);
	for (size_t i = 0; i < comparison->ndeltas; i++)
		if (!comparison->deltas[i].constant && comparison->deltas[i].family == family)
			comparison->deltas[i].p = p[i];
	free(p);
	return err;
}

static enum verdict judge(const struct comparison *comparison, const struct delta *delta)
{
	/* From 0 to anything is a change of more than any percentage. */
	double percent = isnan(delta->percent) ? INFINITY : fabs(delta->percent);
	bool up = strcmp(delta->metric->direction, "up") == 0;

	/* Where no outcome could have been told from chance, this one is no sign of sameness. */
	if (isnan(delta->p) || runs_wanted(comparison, delta->family) ||
	    permutation_least(delta->nbefore, delta->nafter) > comparison->alpha)
		return VERDICT_UNKNOWN;
	if (delta->p > comparison->alpha || percent < comparison->minimum ||
	    percent <= delta->noise)
		return VERDICT_SAME;
	if (!up && strcmp(delta->metric->direction, "down") != 0)
		return VERDICT_CHANGED;
	return up == (delta->change > 0) ? VERDICT_BETTER : VERDICT_WORSE;
}

int compare(struct comparison *comparison)
{
	int err = 0;

	for (size_t r = 0; r < comparison->before->count; r++) {
		const struct run *run = &comparison->before->runs[r];

		for (size_t i = 0; i < run->nmetrics && !err; i++)
			err = add_metric(comparison, &run->metrics[i]);
	}
	for (int family = 0; family < FAMILIES && !err; family++)
		err = correct(comparison, (enum family)family);
	count_alone(comparison, comparison->before, &comparison->alone[0]);
	count_alone(comparison, comparison->after, &comparison->alone[1]);
	for (size_t i = 0; i < comparison->ndeltas; i++)
		comparison->deltas[i].verdict = judge(comparison, &comparison->deltas[i]);
	warn_all(comparison);
	return comparison->no_memory ? -ENOMEM : err;
}

size_t verdict_count(const struct comparison *comparison, enum verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < comparison->ndeltas; i++)
		n += comparison->deltas[i].verdict == verdict;
	return n;
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_SAME] = "same",       [VERDICT_CHANGED] = "changed",
		[VERDICT_BETTER] = "better",   [VERDICT_WORSE] = "worse",
		[VERDICT_UNKNOWN] = "unknown",
	};

	return names[verdict];
}

size_t family_size(const struct comparison *comparison, enum family family)
{
	size_t n = 0;

	for (size_t i = 0; i < comparison->ndeltas; i++)
		n += comparison->deltas[i].family == family;
	return comparison->ntests[family] ? comparison->ntests[family] : n;
}

size_t runs_wanted(const struct comparison *comparison, enum family family)
{
	size_t tests = family_size(comparison, family);
	size_t before = comparison->before->count, after = comparison->after->count, n = 2;

	if (!tests)
		return 0;
	if (before > 1 && after > 1 &&
	    permutation_least(before, after) * (double)tests <= comparison->alpha)
		return 0;
	while (n < PERMUTATION_EXACT / 2 &&
	       permutation_least(n, n) * (double)tests > comparison->alpha)
		n++;
	return n;
}

size_t runs_wanted_by_all(const struct comparison *comparison)
{
	size_t elapsed = runs_wanted(comparison, FAMILY_ELAPSED);
	size_t others = runs_wanted(comparison, FAMILY_ELSE);

	return elapsed > others ? elapsed : others;
}

void comparison_free(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->nwarnings; i++)
		free(comparison->warnings[i]);
	free(comparison->deltas);
}
