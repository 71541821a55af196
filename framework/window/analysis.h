/* The analysis: folds instants into the streams that analyzers declare, in constant memory, and lets them judge. */
#ifndef WINDOW_ANALYSIS_H
#define WINDOW_ANALYSIS_H

#include <sonde/plugin.h>

#include "core/instant.h"
#include "core/records.h"

struct analysis;

struct analysis *analysis_new(void);

/* An analyzer instance that the host has made and filled (its host->analysis is set by the caller to analysis_services);
 * its streams are taken from `ops`. The instance must outlive the analysis. 0, or -EINVAL and a sentence in `why`. */
int analysis_add(struct analysis *analysis, struct sonde_instance *self,
		 const struct sonde_analyzer_ops *ops, char *why, size_t size);

/* Folds one instant. 0 or -ENOMEM. */
int analysis_instant(struct analysis *analysis, const struct instant *instant);

/* Lets every analyzer judge; findings, evidence, metrics and judgements become rows of `records` (core/records.h), findings
 * by severity, then weight, then id and about: the same input gives the same bytes. 0 or negative errno. */
int analysis_judge(struct analysis *analysis, struct sonde_frame *records);

/* What a reader needs to know of the window: begin, end, observed, instants. */
const struct sonde_slice *analysis_window(const struct analysis *analysis);

void analysis_free(struct analysis *analysis);

/* Behind sonde_series() and its like. */
extern const struct sonde_analysis analysis_services;

#endif
