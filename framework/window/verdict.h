/* What analyzers say in judge(), gathered, put into order and made into rows. */
#ifndef WINDOW_VERDICT_H
#define WINDOW_VERDICT_H

#include <sonde/analysis.h>

#include "core/records.h"

/* Of one finding of a catalogue. */
struct judgement {
	const char *id, *title; /* the analyzer's */
	bool found;
	char *reason; /* not judged, and why; NULL: it was */
};

struct verdicts {
	struct sonde_finding *findings; /* deep copies */
	uint32_t nfindings;
	struct sonde_metric *metrics; /* likewise */
	uint32_t nmetrics;
	struct judgement *judgements;
	uint32_t njudgements;
	bool no_memory;
};

void verdicts_judgement(struct verdicts *verdicts, const struct sonde_catalogue *line,
			const char *reason);
void verdicts_finding(struct verdicts *verdicts, const struct sonde_finding *finding);
void verdicts_metric(struct verdicts *verdicts, const struct sonde_metric *metric);
void verdicts_not_judged(struct verdicts *verdicts, const char *id, const char *reason);

/* Rows of all of it; findings by severity, weight, id, about. 0 or -ENOMEM. */
int verdicts_rows(struct verdicts *verdicts, struct sonde_frame *records);
void verdicts_free(struct verdicts *verdicts);

#endif
