/* What the files of `sonde compare` share: runs, and what differs between two sides of them. */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sonde/page.h>

#include "statistics/statistics.h"

/* A metric of one run. */
struct metric {
	char *name, *about, *unit, *counted, *direction;
	double value;
};

/* One report. */
struct run {
	char *source; /* as the user called it */
	char *host, *kernel, *label;
	double begin; /* seconds since 1970; NAN: not known */
	double seconds;
	bool of_command; /* it ended with the command that it watched: its length is a result */
	struct metric *metrics;
	size_t nmetrics;
};

struct side {
	const char *
		name; /* the command that its runs are of, as a shell takes it; NULL: called by its runs */
	struct run *runs;
	size_t count;
};

enum verdict { VERDICT_SAME, VERDICT_CHANGED, VERDICT_BETTER, VERDICT_WORSE, VERDICT_UNKNOWN };

/* Holm's correction is over the tests of one family: how long commands took is the question that they were run for, and
 * whatever else was read beside them must not drown its answer. */
enum family { FAMILY_ELAPSED, FAMILY_ELSE, FAMILIES };

/* One metric of both sides. Numbers that are not known are NAN. */
struct delta {
	const struct metric *metric; /* for its names */
	size_t nbefore, nafter;      /* runs that have it */
	double before, after;        /* medians of the runs */
	double change, percent;      /* after less before; of before */
	double noise;    /* how far runs of one side lie from its median, in percent of it */
	double p_raw, p; /* without Holm's correction, and with it */
	double effect;   /* Cliff's delta */
	bool constant;   /* the same in all runs: nothing to test */
	struct bootstrap interval;
	enum family family;
	enum verdict verdict;
};

enum { WARNINGS_MOST = 32 };

struct comparison {
	const struct side *before, *after;
	double minimum;   /* percent: less is no change */
	double alpha;     /* of a family of metrics together */
	char **patterns;  /* metrics, as fnmatch(3) */
	size_t npatterns; /* 0: all */
	struct delta *deltas;
	size_t ndeltas, ntests[FAMILIES];
	struct lone {
		const struct metric *first; /* for its name; NULL: none */
		size_t count;
	} alone[2]; /* names, before and after, that the other side has no number of in the same unit */
	char *warnings[WARNINGS_MOST];
	size_t nwarnings;
	bool no_memory;
};

/* ---- run.c ---- */

/* A report that `sonde report --json` wrote, and of the same recording what `sonde summary --json` wrote: descriptors of files, whose
 * offsets do not matter; summary -1: there is none. `source` stands for them in messages. 0, or a negative errno and a sentence in
 * `why`. */
int run_read(struct run *run, const char *source, int report, int summary, char *why, size_t size);
void run_free(struct run *run);

/* ---- compare.c ---- */

/* Fills what is not given of a comparison. 0 or -ENOMEM. */
int compare(struct comparison *comparison);
void comparison_free(struct comparison *comparison);

/* Whether --metric means this one. */
bool metric_matches(const struct metric *metric, const char *pattern);

/* Of how many deltas this is the verdict. */
size_t verdict_count(const struct comparison *comparison, enum verdict verdict);
const char *verdict_name(enum verdict verdict);

/* Whether runs are too few for any metric of the family ever to be told apart; then how many a side would do. */
size_t runs_wanted(const struct comparison *comparison, enum family family);
/* Whether they are for any family; then how many a side would do for all. */
size_t runs_wanted_by_all(const struct comparison *comparison);

/* How many metrics of a family are compared; of them those that are tested, where any is. */
size_t family_size(const struct comparison *comparison, enum family family);

/* ---- warn.c ---- */

/* What makes the sides hard to compare: order, lengths, hosts, too few runs. */
void warn_all(struct comparison *comparison);
__attribute__((format(printf, 2, 3))) void warn(struct comparison *comparison, const char *format,
						...);

/* ---- writers ---- */

void compare_text(struct page *page, const struct comparison *comparison);
void compare_markdown(struct page *page, const struct comparison *comparison);
void compare_json(struct page *page, const struct comparison *comparison);

/* What a delta looks like to people, each "-" where it is not known. A change of a share is in points: hundredths of the whole. */
struct words {
	char before[80], after[80], change[80], percent[32], p[32], effect[64];
};
void say_delta(struct words *words, const struct delta *delta);

/* The line that says what came of it. */
enum { OUTCOME_MOST = 512 };
void say_outcome(char *to, size_t size, const struct comparison *comparison);

/* Deltas of what a command took and used (core/run_metrics.h), in that order; or those of all else, in the order in which people
 * read them: worse, better, changed, then the rest. How many; `tell` may be NULL. */
typedef void tell_delta(struct page *page, const struct delta *delta);
size_t deltas_of_run(struct page *page, const struct comparison *comparison, tell_delta *tell);
size_t deltas_else(struct page *page, const struct comparison *comparison, tell_delta *tell);

#endif
