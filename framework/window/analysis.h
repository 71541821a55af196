/* The analysis: folds instants into the streams that analyzers declare, in constant memory, and lets them judge. For one
 * thread at a time. */
#ifndef WINDOW_ANALYSIS_H
#define WINDOW_ANALYSIS_H

#include <sonde/plugin.h>

#include "core/instant.h"
#include "core/records.h"

struct analysis;

struct analysis *analysis_new(void);

/* An analyzer instance that the host has made and filled (its host->analysis is set by the caller to analysis_services);
 * its streams are taken from `ops`. Both must outlive the analysis. 0, -EINVAL and a sentence in `why`, or -ENOMEM. */
int analysis_add(struct analysis *analysis, struct sonde_instance *self,
		 const struct sonde_analyzer_ops *ops, char *why, size_t size);

/* The options of its section, by which the host knows how long a finding has to hold: one that can't have held for so long is not
 * judged. Without a call, each is judged. */
void analysis_options(struct analysis *analysis, const struct sonde_instance *self,
		      const struct sonde_option *options, size_t noptions);

/* What is known of this analyzer's findings and ignored: lines that ignore_parse() takes (window/ignore.h). 0 or -ENOMEM. */
int analysis_ignore(struct analysis *analysis, const struct sonde_instance *self,
		    const struct sonde_list *lines);

/* Folds one instant. Only one machine is judged, the first: instants of others are counted and passed over. 0 or -ENOMEM. */
int analysis_instant(struct analysis *analysis, const struct instant *instant);

/* Lets every analyzer judge; findings, evidence, metrics, their slices and judgements become rows of `records` (core/records.h), findings
 * by severity, then weight, then id and about: the same input gives the same bytes. 0 or negative errno. */
int analysis_judge(struct analysis *analysis, struct sonde_frame *records);

/* Live: when the findings of this analyzer are told. Without a call, at every judgement. */
void analysis_hysteresis(struct analysis *analysis, const struct sonde_instance *self,
			 uint64_t hold, uint64_t clear, uint64_t repeat);

/* Live: judges what was folded since the last call, and another window begins; counters keep their bases, and stretches
 * that go on go on. A finding opens when it has held for `hold`, is told again after `repeat`, and closes when it was not
 * found for `clear`; in between it has no row. Metrics and judgements are those of this window. `now`: CLOCK_BOOTTIME ns.
 * 0 or negative errno. */
int analysis_live(struct analysis *analysis, uint64_t now, struct sonde_frame *records);

/* Live: what is open in `from`, which judges no more, goes on in `to`, and closes there. */
void analysis_inherit(struct analysis *to, struct analysis *from);

/* What a reader needs to know of the window: begin, end, observed, count (instants). */
const struct sonde_slice *analysis_window(const struct analysis *analysis);

void analysis_free(struct analysis *analysis);

/* Behind sonde_series() and its like; they work while judge() runs. */
extern const struct sonde_analysis analysis_services;

#endif
