/* Small things that every judge() needs: means, numbers in words, findings that a stream by itself decides. Inline
 * throughout; an analyzer includes it beside <sonde/plugin.h>. */
#ifndef SONDE_JUDGE_H
#define SONDE_JUDGE_H

#include <stdarg.h>
#include <stdio.h>

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
	struct sonde_evidence items[12];
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

		if (series)
			sonde_metric(self, &metric);
	}
}

#endif
