/* What analyzers say in judge(), gathered, put into order and made into rows. */
#ifndef WINDOW_VERDICT_H
#define WINDOW_VERDICT_H

#include <sonde/analysis.h>

#include "core/records.h"
#include "window/ignore.h"

/* Of one finding of a catalogue. */
struct judgement {
	const char *id, *title; /* the analyzer's */
	bool found, ignored;    /* somewhere */
	char *reason;           /* not judged, or ignored, and why; NULL: it was */
};

/* When a finding is told while it lives; all 0 in a report. */
struct hysteresis {
	uint64_t hold, clear, repeat; /* ns */
};

struct verdict {
	struct sonde_finding finding; /* a deep copy */
	struct hysteresis hysteresis;
	char *ignored, *until; /* why it is, and to which day; NULL: it is not */
	const char *
		state; /* as in the table: "opened", "holding", "closed"; NULL: not to be told now */
};

/* A metric and what it was over time. */
struct measure {
	struct sonde_metric metric; /* a deep copy */
	struct sonde_slice *slices; /* likewise */
	uint32_t nslices;
};

struct verdicts {
	struct verdict *findings;
	uint32_t nfindings;
	struct measure *measures;
	uint32_t nmeasures;
	struct judgement *judgements;
	uint32_t njudgements;
	bool no_memory;
};

void verdicts_judgement(struct verdicts *verdicts, const struct sonde_catalogue *line,
			const char *reason);
/* `ignore`: what it is ignored for; NULL: it is not. */
void verdicts_finding(struct verdicts *verdicts, const struct sonde_finding *finding,
		      const struct hysteresis *hysteresis, const struct ignore *ignore);
/* Whether the finding with this id could be judged. */
bool verdicts_judged(struct verdicts *verdicts, const char *id);
/* One more finding, copied from another judgement's; NULL without memory. Not counted as found. */
struct verdict *verdicts_copy(struct verdicts *verdicts, const struct verdict *verdict);
void verdicts_metric(struct verdicts *verdicts, const struct sonde_metric *metric,
		     const struct sonde_slice *slices, uint32_t nslices);
void verdicts_not_judged(struct verdicts *verdicts, const char *id, const char *reason);

/* Rows of all of it; findings by severity, weight, id, about. 0 or -ENOMEM. */
int verdicts_rows(struct verdicts *verdicts, struct sonde_frame *records);
void verdicts_free(struct verdicts *verdicts);

/* A deep copy, to be freed. 0, or -ENOMEM and nothing to free. */
int verdict_copy(struct verdict *to, const struct verdict *from);
void verdict_free(struct verdict *verdict);

#endif
