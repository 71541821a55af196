/* What perf stat(1) prints, as readings: CSV with any separator (-x), intervals (-I), by CPU, core, socket or node (-A, --per-...), and the
 * text for people in any locale. Pure: no host, no allocation. */
#ifndef IMPORT_PERF_STAT_H
#define IMPORT_PERF_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERF_WORD = 96 };

struct perf_reading {
	double time;           /* seconds since its start, of -I; below 0: of the whole run */
	char place[PERF_WORD]; /* CPU0, S0-D0-C1; "": all together */
	char event[PERF_WORD];
	char unit[PERF_WORD]; /* msec, Joules; "": a count */
	const char *why;      /* it was not counted: perf's own word; NULL: it was */
	double value;
	double share; /* of the time in which the event was on the PMU, which the value is scaled by */
	double ran; /* ns on the PMU; below 0: not told */
};

struct perf_stat {
	const char *at, *end;
	uint32_t line;             /* number of the newest */
	char separator;            /* of CSV; a blank: for people; 0: not known yet */
	bool intervals;            /* of text for people: its heading has a time */
	double elapsed;            /* seconds; below 0: not told */
	uint32_t readings, unread; /* lines that hold one; that begin like one, and are none */
	char why[160];
};

struct perf_stat perf_stat_text(const char *text, size_t length);

/* The next reading: 1; 0 at the end; -EBADMSG, with a sentence in `why`, where nothing can be made of the text. */
int perf_stat_next(struct perf_stat *stat, struct perf_reading *reading);

#endif
