/* Numbers and verdicts as people read them; shared by text and Markdown. */
#include <math.h>

#include "compare.h"

static void say_percent(char *to, size_t size, double percent)
{
	if (!isfinite(percent))
		snprintf(to, size, "-");
	else if (fabs(percent) >= 1e6)
		snprintf(to, size, "%+.3g %%", percent);
	else
		snprintf(to, size, "%+.1f %%", percent);
}

/* How much of a plural is its singular: "processes", "switches", "faults". */
static size_t singular(const char *plural)
{
	static const char *const endings[] = { "sses", "tches", "nches" };
	size_t length = strlen(plural);

	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
		if (length > strlen(endings[i]) &&
		    strcmp(plural + length - strlen(endings[i]), endings[i]) == 0)
			return length - 2;
	return length && plural[length - 1] == 's' ? length - 1 : length;
}

/* A whole number of things is told whole. */
static void say(char *to, size_t size, double value, const struct metric *metric)
{
	const char *counted = metric->counted;

	if (strcmp(metric->unit, "count") == 0 && value == floor(value) && fabs(value) < 1e15)
		snprintf(to, size, "%.0f%s%.*s", value, *counted ? " " : "",
			 (int)(fabs(value) == 1 ? singular(counted) : strlen(counted)), counted);
	else
		say_value(to, size, value, metric->unit, metric->counted);
}

/* With its sign: "+1.2 s", "-3 MiB"; nothing is "0 ns". Of a share not in percent, which is what the next column is of. */
static void say_change(char *to, size_t size, const struct delta *delta)
{
	size_t sign = delta->change > 0;

	if (strcmp(delta->metric->unit, "ratio") == 0 && fabs(delta->change) < 1e6) {
		snprintf(to, size, "%+.*f points",
			 fabs(delta->change) >= 0.001 || delta->change == 0 ? 1 : 3,
			 100 * delta->change);
		return;
	}
	if (sign)
		snprintf(to, size, "+");
	say(to + sign, size - sign, delta->change, delta->metric);
}

static void say_p(char *to, size_t size, double p)
{
	if (isnan(p))
		snprintf(to, size, "-");
	else if (p < 0.001)
		snprintf(to, size, "<0.001");
	else
		snprintf(to, size, "%.3f", p);
}

static void say_effect(char *to, size_t size, const struct delta *delta)
{
	const struct interval *interval = &delta->interval.effect;

	if (isnan(delta->effect))
		snprintf(to, size, "-");
	else if (isnan(interval->low))
		snprintf(to, size, "%+.2f", delta->effect);
	else
		snprintf(to, size, "%+.2f [%+.2f, %+.2f]", delta->effect, interval->low,
			 interval->high);
}

void say_delta(struct words *words, const struct delta *delta)
{
	say(words->before, sizeof words->before, delta->before, delta->metric);
	say(words->after, sizeof words->after, delta->after, delta->metric);
	say_change(words->change, sizeof words->change, delta);
	say_percent(words->percent, sizeof words->percent, delta->percent);
	say_p(words->p, sizeof words->p, delta->p);
	say_effect(words->effect, sizeof words->effect, delta);
}

/* "run.elapsed better (-49.5 %, p 0.002)"; its length, 0: it is not compared. */
static int say_elapsed(char *to, size_t size, const struct comparison *comparison)
{
	size_t wanted = runs_wanted(comparison, FAMILY_ELAPSED);
	const struct delta *delta = comparison->deltas;
	char percent[32], p[32];

	if (!family_size(comparison, FAMILY_ELAPSED))
		return 0;
	while (delta->family != FAMILY_ELAPSED)
		delta++;
	say_percent(percent, sizeof percent, delta->percent);
	say_p(p, sizeof p, delta->p);
	if (wanted)
		return snprintf(to, size, "%s unknown (too few runs: at least %zu a side)",
				delta->metric->name, wanted);
	return snprintf(to, size, "%s %s (%s, p %s)", delta->metric->name,
			verdict_name(delta->verdict), percent, p);
}

static size_t count_else(const struct comparison *comparison, enum verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < comparison->ndeltas; i++)
		n += comparison->deltas[i].family == FAMILY_ELSE &&
		     comparison->deltas[i].verdict == verdict;
	return n;
}

void say_outcome(char *to, size_t size, const struct comparison *comparison)
{
	size_t wanted = runs_wanted(comparison, FAMILY_ELSE);
	size_t others = family_size(comparison, FAMILY_ELSE);
	int used = say_elapsed(to, size, comparison);

	if (!comparison->ndeltas)
		snprintf(to, size, "nothing to compare");
	if (!others)
		return;
	if (used) {
		to += used;
		size -= (size_t)used;
		used = snprintf(to, size, "; all else: ");
		to += used;
		size -= (size_t)used;
	}
	if (wanted)
		snprintf(to, size,
			 "unknown (too few runs: at least %zu a side for this many metrics, %zu)",
			 wanted, others);
	else
		snprintf(
			to, size,
			"%zu worse, %zu better, %zu otherwise changed, %zu the same (p up to %g after "
			"Holm's correction, %g %% or more)",
			count_else(comparison, VERDICT_WORSE),
			count_else(comparison, VERDICT_BETTER),
			count_else(comparison, VERDICT_CHANGED),
			count_else(comparison, VERDICT_SAME), comparison->alpha,
			comparison->minimum);
}

static bool is_of_run(const struct delta *delta)
{
	return strncmp(delta->metric->name, "run.", 4) == 0;
}

size_t deltas_of_run(struct page *page, const struct comparison *comparison, tell_delta *tell)
{
	size_t n = 0;

	for (size_t i = 0; i < comparison->ndeltas; i++) {
		if (!is_of_run(&comparison->deltas[i]))
			continue;
		n++;
		if (tell)
			tell(page, &comparison->deltas[i]);
	}
	return n;
}

size_t deltas_else(struct page *page, const struct comparison *comparison, tell_delta *tell)
{
	static const enum verdict order[] = { VERDICT_WORSE, VERDICT_BETTER, VERDICT_CHANGED,
					      VERDICT_SAME, VERDICT_UNKNOWN };
	size_t n = 0;

	for (size_t v = 0; v < sizeof order / sizeof order[0]; v++)
		for (size_t i = 0; i < comparison->ndeltas; i++) {
			const struct delta *delta = &comparison->deltas[i];

			if (delta->verdict != order[v] || is_of_run(delta))
				continue;
			n++;
			if (tell)
				tell(page, delta);
		}
	return n;
}
