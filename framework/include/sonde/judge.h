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

/* The mean of one series (by its index) over the slices whose middle lies between two instants; those of a long recording
 * are wide. False where nothing was observed there. */
static inline bool sonde_mean_between(struct sonde_instance *self, uint32_t stream, uint32_t series,
				      uint64_t begin, uint64_t end, double *mean)
{
	uint32_t count;
	const struct sonde_slice *slices = sonde_slices(self, stream, series, &count);
	struct sonde_slice sum = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		uint64_t middle = slices[i].begin + (slices[i].end - slices[i].begin) / 2;

		/* Where the stretch is within one slice, it is that slice. */
		if ((middle < begin || middle > end) &&
		    (slices[i].begin > begin || slices[i].end < end))
			continue;
		sum.numerator += slices[i].numerator;
		sum.denominator += slices[i].denominator;
	}
	*mean = sonde_mean(&sum);
	return sum.denominator > 0;
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

/* The unchanging parts of a finding: what docs/findings.md says of it in a sentence each. */
struct sonde_advice {
	const char *id;
	const char *why, *action, *need, *risk, *undo;
};

/* Reports what a series says: the advice, with where and how long the stream held. */
static inline void sonde_found(struct sonde_instance *self, const struct sonde_advice *advice,
			       enum sonde_severity severity, const char *about, const char *title,
			       const struct sonde_held *held, const struct sonde_evidence *evidence,
			       uint32_t nevidence)
{
	const struct sonde_finding finding = {
		.id = advice->id,
		.severity = severity,
		.nevidence = nevidence,
		.about = about,
		.title = title,
		.why = advice->why,
		.action = advice->action,
		.need = advice->need,
		.risk = advice->risk,
		.undo = advice->undo,
		.evidence = evidence,
		.begin = held->begin,
		.end = held->end,
		.held = held->time,
		.weight = (double)held->time / 1e9 * sonde_held_mean(held),
	};

	sonde_finding(self, &finding);
}

/* A metric that is the mean of a stream over the window. Nothing where it was not observed. */
struct sonde_mean_metric {
	uint32_t stream;
	const char *name;
	uint32_t unit;      /* enum sonde_base */
	uint32_t direction; /* enum sonde_direction */
	const char *counted;
	const char *origin;
};

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
