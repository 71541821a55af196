/* What the writers ask of what was gathered: in which order, and what belongs together. */
#include <math.h>
#include <string.h>

#include "report.h"

uint32_t verdict_count(const struct gathered *gathered, const char *verdict)
{
	const struct judgement *judgements = gathered->judgements.items;
	uint32_t n = 0;

	for (uint32_t i = 0; i < gathered->judgements.count; i++)
		n += strcmp(judgements[i].verdict, verdict) == 0;
	return n;
}

void say_verdicts(char *to, size_t size, const struct gathered *gathered)
{
	uint32_t found = verdict_count(gathered, "found");
	char places[32] = "", ignored[32] = "";

	if (gathered->findings.count > found)
		snprintf(places, sizeof places, " in %u places", gathered->findings.count);
	if (gathered->ignored.count)
		snprintf(ignored, sizeof ignored, ", %u ignored", gathered->ignored.count);
	snprintf(to, size, "%u found%s%s, %u clear, %u not judged", found, places, ignored,
		 verdict_count(gathered, "clear"), verdict_count(gathered, "not_judged"));
}

/* What stands in the brackets of a reason that has nothing but them behind its table; else all of it. */
static const char *cause_of(const char *reason, size_t *length)
{
	const char *open = strstr(reason, " (");

	*length = strlen(reason);
	if (!open || strstr(reason, "); ") || reason[*length - 1] != ')')
		return reason;
	*length -= (size_t)(open + 2 - reason) + 1;
	return open + 2;
}

static bool same_cause(const struct judgement *a, const struct judgement *b)
{
	size_t na, nb;
	const char *of_a = cause_of(a->reason, &na), *of_b = cause_of(b->reason, &nb);

	return strcmp(b->verdict, "not_judged") == 0 && na == nb && memcmp(of_a, of_b, na) == 0;
}

static void tell_cause(struct page *page, const struct gathered *gathered, uint32_t first,
		       tell_reason *tell)
{
	const struct judgement *judgements = gathered->judgements.items;
	char ids[4096], cause[1024];
	size_t used = (size_t)snprintf(ids, sizeof ids, "%s", judgements[first].id), length;
	const char *text = cause_of(judgements[first].reason, &length);
	bool alone = true;

	for (uint32_t i = first + 1; i < gathered->judgements.count; i++) {
		if (!same_cause(&judgements[first], &judgements[i]) || used >= sizeof ids)
			continue;
		alone = false;
		used += (size_t)snprintf(ids + used, sizeof ids - used, ", %s", judgements[i].id);
	}
	snprintf(cause, sizeof cause, "%.*s", (int)length, text);
	tell(page, ids, alone ? judgements[first].reason : cause);
}

void not_judged_each(struct page *page, const struct gathered *gathered, tell_reason *tell)
{
	const struct judgement *judgements = gathered->judgements.items;

	for (uint32_t i = 0; i < gathered->judgements.count; i++) {
		uint32_t first = 0;

		if (strcmp(judgements[i].verdict, "not_judged") != 0)
			continue;
		while (first < i && !same_cause(&judgements[i], &judgements[first]))
			first++;
		if (first == i)
			tell_cause(page, gathered, i, tell);
	}
}

static bool same_kind(const struct finding *a, const struct finding *b)
{
	return strcmp(a->id, b->id) == 0 && strcmp(a->severity, b->severity) == 0;
}

void findings_each(struct page *page, const struct gathered *gathered, tell_finding *tell)
{
	const struct finding *findings = gathered->findings.items;

	for (uint32_t i = 0; i < gathered->findings.count; i++) {
		uint32_t first = 0;

		while (!same_kind(&findings[first], &findings[i]))
			first++;
		if (first < i)
			continue;
		for (uint32_t j = i; j < gathered->findings.count; j++)
			if (same_kind(&findings[i], &findings[j]))
				tell(page, gathered, &findings[j],
				     j > i && strcmp(findings[i].action, findings[j].action) == 0);
	}
}

void ignored_each(struct page *page, const struct gathered *gathered, tell_ignored *tell)
{
	const struct finding *ignored = gathered->ignored.items;

	for (uint32_t i = 0; i < gathered->ignored.count; i++)
		tell(page, &ignored[i]);
}

bool evidence_of(const struct evidence *evidence, const struct finding *finding)
{
	return strcmp(evidence->id, finding->id) == 0 &&
	       strcmp(evidence->about, finding->about) == 0;
}

bool gaps_alike(const struct gaps *a, const struct gaps *b)
{
	return a->count == b->count && a->lost == b->lost && a->time == b->time &&
	       a->unbegun == b->unbegun && strcmp(a->reason, b->reason) == 0 &&
	       strcmp(a->text, b->text) == 0;
}

void say_gaps_time(char *text, size_t size, const struct gaps *gaps)
{
	char time[40];

	say_duration(time, sizeof time, gaps->time);
	if (gaps->unbegun == gaps->count)
		snprintf(text, size, ", since when is not known");
	else
		snprintf(text, size, ", %s%s in all", gaps->unbegun ? "more than " : "", time);
}

bool gaps_told_before(const struct gaps *gaps, uint32_t i)
{
	for (uint32_t n = 0; n < i; n++)
		if (gaps_alike(&gaps[n], &gaps[i]))
			return true;
	return false;
}

double own_share(const struct gathered *gathered)
{
	double window = (double)(gathered->last - gathered->first);

	return gathered->own_first > 0 && window > 0 ? gathered->own_cpu / window : -1;
}

int64_t realtime_of(const struct gathered *gathered, uint64_t boottime)
{
	return (int64_t)(boottime + (uint64_t)gathered->offset);
}

bool held_all_along(const struct gathered *gathered, const struct finding *finding)
{
	uint64_t window = gathered->last - gathered->first;

	/* Lanes begin and end at moments of their own. */
	return finding->held >= window - window / 20;
}

/* ---- over time ---- */

const struct slice *slices_of(const struct gathered *gathered, const struct metric *metric,
			      uint32_t *count)
{
	const struct slice *slices = gathered->slices.items;
	uint32_t first = 0;

	*count = 0;
	if (*metric->about)
		return NULL;
	while (first < gathered->slices.count && strcmp(slices[first].name, metric->name) != 0)
		first++;
	while (first + *count < gathered->slices.count &&
	       strcmp(slices[first + *count].name, metric->name) == 0)
		++*count;
	return *count ? &slices[first] : NULL;
}

/* The mean of what lies between two instants; NAN where nothing does. */
static double mean_between(const struct slice *slices, uint32_t count, double from, double to)
{
	double sum = 0, time = 0;

	for (uint32_t i = 0; i < count; i++) {
		double begin = (double)slices[i].begin, end = (double)slices[i].end;

		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		if (end > begin) {
			sum += slices[i].value * (end - begin);
			time += end - begin;
		}
	}
	return time > 0 ? sum / time : NAN;
}

static void extremes(const struct slice *slices, uint32_t count, struct spark *spark)
{
	spark->least = INFINITY;
	spark->most = -INFINITY;
	for (uint32_t i = 0; i < count; i++) {
		spark->least = slices[i].value < spark->least ? slices[i].value : spark->least;
		spark->most = slices[i].value > spark->most ? slices[i].value : spark->most;
	}
}

bool sparkline(const struct gathered *gathered, const struct metric *metric, struct spark *spark)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double begin = (double)gathered->first, window = (double)gathered->last - begin;
	uint32_t width = SPARK_WIDTH, count;
	const struct slice *slices = slices_of(gathered, metric, &count);

	/* Slices are a second or more wide. */
	if (window / 1e9 + 0.5 < SPARK_WIDTH)
		width = (uint32_t)(window / 1e9 + 0.5);
	extremes(slices, count, spark);
	if (width < 2 || !count)
		return false;
	/* By less than a hundredth: noise, which would fill the height. */
	spark->flat =
		spark->most - spark->least <= fmax(fabs(spark->most), fabs(spark->least)) / 100;
	spark->text[0] = '\0';
	for (uint32_t i = 0; i < width; i++) {
		double mean = mean_between(slices, count, begin + window * i / width,
					   begin + window * (i + 1) / width);
		double height =
			spark->flat ? 0 : (mean - spark->least) / (spark->most - spark->least);

		strcat(spark->text, isnan(mean) ? " " : bars[height < 1 ? (int)(height * 8) : 7]);
	}
	return true;
}
