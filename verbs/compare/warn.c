/* What makes two sides hard to compare. */
#include <math.h>
#include <stdarg.h>

#include "compare.h"

void warn(struct comparison *comparison, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0) {
		comparison->no_memory = true;
		return;
	}
	for (size_t i = 0; i < comparison->nwarnings; i++)
		if (strcmp(comparison->warnings[i], text) == 0)
			n = -1;
	if (n < 0 || comparison->nwarnings == WARNINGS_MOST)
		free(text);
	else
		comparison->warnings[comparison->nwarnings++] = text;
}

static size_t field(const struct side *side, double *values, double (*of)(const struct run *run))
{
	size_t n = 0;

	for (size_t i = 0; i < side->count && n < STATISTICS_MOST / 2; i++)
		if (!isnan(of(&side->runs[i])))
			values[n++] = of(&side->runs[i]);
	return n;
}

static double begin_of(const struct run *run)
{
	return run->begin;
}

static double seconds_of(const struct run *run)
{
	return run->seconds;
}

/* Where one side ran first, whatever drifts (temperature, a filling disk, other users) looks like the change. Of all pairs
 * of runs, in how many more is `before` the earlier one? ABAB has a half of them, ABBA none, AABB all. */
static void warn_order(struct comparison *comparison)
{
	double before[STATISTICS_MOST / 2], after[STATISTICS_MOST / 2], order;
	size_t nbefore = field(comparison->before, before, begin_of);
	size_t nafter = field(comparison->after, after, begin_of);

	if (nbefore < 2 || nafter < 2)
		return;
	order = cliffs_delta((struct group) { before, nbefore }, (struct group) { after, nafter });
	if (fabs(order) > 0.5)
		warn(comparison,
		     "the runs of one side came before those of the other: what drifts with time looks "
		     "like a change; run them in turn, as A B B A");
}

/* Commands: one that does a tenth of the work is no improvement, and a first run with cold caches is no noise. */
static void warn_commands(struct comparison *comparison, double first, double second)
{
	const struct side *sides[] = { comparison->before, comparison->after };
	const double medians[] = { first, second };

	if (first > 10 * second || second > 10 * first)
		warn(comparison,
		     "%.3g s against %.3g s: is that a change, or does one side do less work?",
		     first, second);
	for (int s = 0; s < 2; s++) {
		const struct run *earliest = sides[s]->runs;

		for (size_t i = 1; i < sides[s]->count; i++)
			if (sides[s]->runs[i].begin < earliest->begin)
				earliest = &sides[s]->runs[i];
		if (sides[s]->count > 2 && earliest->seconds > 1.5 * medians[s])
			warn(comparison,
			     "%s, the first of its side, took %.3g s where the others took %.3g s: a "
			     "first run meets cold caches; leave it out, or warm up (sonde ab --warmup)",
			     sides[s]->name ? sides[s]->name : earliest->source, earliest->seconds,
			     medians[s]);
	}
}

static bool of_commands(const struct side *side)
{
	for (size_t i = 0; i < side->count; i++)
		if (!side->runs[i].of_command)
			return false;
	return true;
}

static void warn_lengths(struct comparison *comparison)
{
	double before[STATISTICS_MOST / 2], after[STATISTICS_MOST / 2], first, second;
	size_t nbefore = field(comparison->before, before, seconds_of);
	size_t nafter = field(comparison->after, after, seconds_of);

	first = median((struct group) { before, nbefore });
	second = median((struct group) { after, nafter });
	/* How long a command took is what is compared. */
	if (of_commands(comparison->before) && of_commands(comparison->after))
		warn_commands(comparison, first, second);
	else if (first > 1.5 * second || second > 1.5 * first)
		warn(comparison,
		     "runs of %.1f s are compared with runs of %.1f s: rates and means can be, but "
		     "a start or a warm-up weighs more in the shorter ones",
		     first, second);
}

static const char *kernel_of(const struct run *run)
{
	return *run->kernel ? run->kernel : "(unknown)";
}

/* The first run that differs from the first of all. */
static void warn_machines(struct comparison *comparison)
{
	const struct run *first = comparison->before->runs;
	const struct side *sides[] = { comparison->before, comparison->after };

	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s]->count; i++) {
			const struct run *run = &sides[s]->runs[i];

			if (strcmp(run->host, first->host) != 0 ||
			    strcmp(run->kernel, first->kernel) != 0) {
				warn(comparison,
				     "%s was recorded on %s, Linux %s; %s on %s, Linux %s",
				     first->source, first->host, kernel_of(first), run->source,
				     run->host, kernel_of(run));
				return;
			}
		}
}

static void warn_few_of(struct comparison *comparison, enum family family)
{
	size_t wanted = runs_wanted(comparison, family), n = family_size(comparison, family);

	if (wanted && family == FAMILY_ELAPSED)
		warn(comparison,
		     "so few runs can't tell from chance how long they took: record at least %zu of "
		     "each",
		     wanted);
	else if (wanted && n == 1)
		warn(comparison,
		     "so few runs can't tell this metric from chance: record at least %zu of each",
		     wanted);
	else if (wanted)
		warn(comparison,
		     "so few runs can't tell any of %zu metrics from chance: record at least %zu of "
		     "each, or choose %s with --metric",
		     n, wanted, comparison->npatterns ? "fewer" : "metrics");
}

static void warn_few(struct comparison *comparison)
{
	size_t wanted = runs_wanted_by_all(comparison);

	if (!wanted)
		return;
	if (comparison->before->count < 2 || comparison->after->count < 2)
		warn(comparison,
		     "one run a side proves nothing: what differs may be chance; record at least %zu "
		     "of each",
		     wanted);
	else
		for (int family = 0; family < FAMILIES; family++)
			warn_few_of(comparison, (enum family)family);
}

static void warn_alone(struct comparison *comparison)
{
	static const char *const sides[] = { "before", "after" };

	for (int s = 0; s < 2; s++)
		if (comparison->alone[s].count)
			warn(comparison,
			     "%zu metrics of the runs %s have no counterpart, %s first: not compared",
			     comparison->alone[s].count, sides[s],
			     comparison->alone[s].first->name);
}

void warn_all(struct comparison *comparison)
{
	warn_alone(comparison);
	warn_few(comparison);
	warn_order(comparison);
	warn_lengths(comparison);
	warn_machines(comparison);
	if (!comparison->ndeltas)
		warn(comparison, "the two sides have no metric in common");
}
