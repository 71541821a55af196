/* Small things that every judge() needs: means, numbers in words, findings that a stream by itself decides. Inline
 * throughout; an analyzer includes it beside <sonde/plugin.h>. */
#ifndef SONDE_JUDGE_H
#define SONDE_JUDGE_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <sonde/plugin.h>

/* The mean over a stretch, and over where the stream held; 0 where there is none. */
static inline double sonde_mean(const struct sonde_slice *slice)
{
	return slice->denominator > 0 ? slice->numerator / slice->denominator : 0;
}

static inline double sonde_held_mean(const struct sonde_held *held)
{
	return held->denominator > 0 ? held->numerator / held->denominator : 0;
}

/* The one series of a stream that reduces or reads a single row; NULL where nothing of it was observed. */
static inline const struct sonde_series *sonde_single(struct sonde_instance *self, uint32_t stream)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, stream, &count);

	return count && series->total.observed ? series : NULL;
}

/* The series with this key, and its index where that is asked for; NULL: there is none. */
static inline const struct sonde_series *sonde_series_of(struct sonde_instance *self,
							 uint32_t stream, const char *key,
							 uint32_t *index)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, stream, &count);

	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(series[i].key, key) != 0)
			continue;
		if (index)
			*index = i;
		/* cppcheck-suppress returnDanglingLifetime; the series are the host's, not `count` */
		return &series[i];
	}
	return NULL;
}

/* What is so all of the window long. */
static inline struct sonde_held sonde_all_along(struct sonde_instance *self)
{
	const struct sonde_slice *window = sonde_window(self);

	return (struct sonde_held) {
		.begin = window->begin,
		.end = window->end,
		.time = window->observed,
	};
}

/* Numerator and denominator of one series (by its index) over the slices whose middle lies between two instants; those of a
 * long recording are wide: where the stretch is within one, it is that one. */
static inline struct sonde_slice sonde_between(struct sonde_instance *self, uint32_t stream,
					       uint32_t series, uint64_t begin, uint64_t end)
{
	uint32_t count;
	const struct sonde_slice *slices = sonde_slices(self, stream, series, &count);
	struct sonde_slice sum = { .begin = begin, .end = end };

	for (uint32_t i = 0; i < count; i++) {
		uint64_t middle = slices[i].begin + (slices[i].end - slices[i].begin) / 2;

		if ((middle < begin || middle > end) &&
		    (slices[i].begin > begin || slices[i].end < end))
			continue;
		sum.numerator += slices[i].numerator;
		sum.denominator += slices[i].denominator;
		sum.observed += slices[i].observed;
		sum.count += slices[i].count;
	}
	return sum;
}

/* Text of bounded length, in a buffer that the caller has. */
struct sonde_words {
	char text[512];
};

SONDE_PRINTF(2, 3)
static inline const char *sonde_say(struct sonde_words *words, const char *format, ...)
{
	SONDE_FORMAT(words->text, format);
	return words->text;
}

/* A stream whose mean is worth telling: as a metric over the window, as evidence while something held. */
struct sonde_mean_metric {
	uint32_t stream;
	const char *name;
	uint32_t unit;      /* enum sonde_base */
	uint32_t direction; /* enum sonde_direction */
	const char *counted;
	const char *origin;
};

/* What a finding rests on, gathered. */
struct sonde_proof {
	struct sonde_evidence items[16];
	uint32_t count;
};

static inline void sonde_prove(struct sonde_proof *proof, const char *name, double value,
			       uint32_t unit, const char *counted, const char *origin)
{
	if (proof->count < sizeof proof->items / sizeof proof->items[0])
		proof->items[proof->count++] = (struct sonde_evidence) {
			.name = name,
			.value = value,
			.unit = unit,
			.counted = counted,
			.origin = origin,
		};
}

/* The mean of a single series while something else held; nothing where it was not observed then. */
static inline void sonde_prove_mean(struct sonde_instance *self, struct sonde_proof *proof,
				    const struct sonde_held *held,
				    const struct sonde_mean_metric *of)
{
	struct sonde_slice sum;

	if (!sonde_single(self, of->stream))
		return;
	sum = sonde_between(self, of->stream, 0, held->begin, held->end);
	if (sum.denominator > 0)
		sonde_prove(proof, of->name, sonde_mean(&sum), of->unit, of->counted, of->origin);
}

/* The unchanging parts of a finding: what docs/findings.md says of it in a sentence each. */
struct sonde_advice {
	const char *id;
	const char *why, *action, *need, *risk, *undo;
};

/* How much of what was looked at: of a share of time, the seconds that were lost. */
static inline double sonde_weight(const struct sonde_held *held)
{
	return (double)held->time / 1e9 * sonde_held_mean(held);
}

/* Of a finding that is a warning, and critical from this value on. */
static inline enum sonde_severity sonde_severity_from(double value, double critical)
{
	return value >= critical ? SONDE_SEVERITY_CRITICAL : SONDE_SEVERITY_WARNING;
}

/* Reports a finding: the advice, with where and how long a stream held. */
static inline void sonde_found(struct sonde_instance *self, const struct sonde_advice *advice,
			       enum sonde_severity severity, const char *about, const char *title,
			       const struct sonde_held *held, double weight,
			       const struct sonde_proof *proof)
{
	const struct sonde_finding finding = {
		.id = advice->id,
		.severity = severity,
		.nevidence = proof->count,
		.about = about,
		.title = title,
		.why = advice->why,
		.action = advice->action,
		.need = advice->need,
		.risk = advice->risk,
		.undo = advice->undo,
		.evidence = proof->items,
		.begin = held->begin,
		.end = held->end,
		.held = held->time,
		.weight = weight,
	};

	sonde_finding(self, &finding);
}

/* Whether a mean is one that can be told: a share of more than all is none. A hair more is, since the kernel's numbers are
 * read one after another. */
static inline bool sonde_can_be(const struct sonde_mean_metric *metric, double mean)
{
	return metric->unit != SONDE_BASE_RATIO || (mean >= 0 && mean <= 1.02);
}

/* Metrics that are the means of streams over the window. Nothing where one was not observed. */
static inline void sonde_mean_metrics(struct sonde_instance *self,
				      const struct sonde_mean_metric *metrics, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct sonde_series *series = sonde_single(self, metrics[i].stream);
		const struct sonde_metric metric = {
			.name = metrics[i].name,
			.about = "",
			.value = series ? sonde_mean(&series->total) : 0,
			.unit = metrics[i].unit,
			.direction = metrics[i].direction,
			.counted = metrics[i].counted,
			.origin = metrics[i].origin,
		};

		if (series && sonde_can_be(&metrics[i], metric.value))
			sonde_metric(self, &metric);
	}
}

/* A finding that one stream of a single series decides: it holds, and its mean is the number that is told. */
struct sonde_rule {
	uint32_t stream;
	enum sonde_severity severity;
	const struct sonde_advice *advice;
	const struct sonde_mean_metric *own; /* of the stream: the first evidence */
	const char *title; /* what follows the number, which is a share in per cent or a rate */
	const struct sonde_mean_metric *const *extras; /* evidence beside it; the last is NULL */
};

/* Whether it was found. */
static inline bool sonde_judge_rule(struct sonde_instance *self, const struct sonde_rule *rule)
{
	const struct sonde_series *series = sonde_single(self, rule->stream);
	struct sonde_proof proof = { .count = 0 };
	struct sonde_words title;
	double mean;

	if (!series || !series->held.time)
		return false;
	mean = sonde_held_mean(&series->held);
	if (rule->own->unit == SONDE_BASE_RATIO)
		sonde_say(&title, "%.1f %% %s", mean * 100, rule->title);
	else
		sonde_say(&title, "%.*f %s", mean < 10 ? 1 : 0, mean, rule->title);
	sonde_prove(&proof, rule->own->name, mean, rule->own->unit, rule->own->counted,
		    rule->own->origin);
	for (uint32_t i = 0; rule->extras && rule->extras[i]; i++)
		sonde_prove_mean(self, &proof, &series->held, rule->extras[i]);
	sonde_found(self, rule->advice, rule->severity, "host", title.text, &series->held,
		    sonde_weight(&series->held), &proof);
	return true;
}

/* Thresholds among the options of an analyzer whose thresholds are fields of its struct conf. */
#define SONDE_THRESHOLD(key_, field, initial_, max_, help_)                                        \
	{                                                                                          \
		key_, SONDE_OPT_F64, offsetof(struct conf, field), initial_, NULL, 0, max_, help_  \
	}
#define SONDE_TIME(key_, field, initial_, help_)                                                   \
	{                                                                                          \
		key_, SONDE_OPT_DURATION, offsetof(struct conf, field), initial_, NULL, 0, 0,      \
			help_                                                                      \
	}

#endif
