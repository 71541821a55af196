/* Readings of counters in the order of rows: which table and column an event is, and what it came to. */
#ifndef IMPORT_COUNTS_H
#define IMPORT_COUNTS_H

#include "import/perf_stat.h"

enum { NAME = 64, COLUMNS = 24, TABLES = 128 };

/* A column of a table perf_event_GROUP. */
struct count_column {
	char name[NAME], event[PERF_WORD];
	char unit[PERF_WORD]; /* "": a count; else sums are of its millionth */
	const char *why;      /* the newest word on why it was not counted; NULL: none */
	bool ever;            /* somewhere it was */
};

struct count_table {
	char group[NAME];
	struct count_column column[COLUMNS];
	uint32_t ncolumns;
	bool kept; /* something of its own was counted */
};

/* Whose counts a row is. */
struct count_key {
	uint32_t table;
	char pmu[NAME], place[PERF_WORD];
	bool asked[COLUMNS], ever[COLUMNS]; /* it was to be counted; it was, at least once */
	bool any;
	/* Of the interval at hand. */
	bool counted[COLUMNS];
	double value[COLUMNS]; /* as perf scaled it */
	double share, enabled; /* the least; ns, below 0: not told */
	/* Since the beginning. */
	uint64_t sum[COLUMNS], time_enabled, time_running;
	bool known; /* all of it in this interval */
};

struct counts {
	struct count_table table[TABLES];
	uint32_t ntables;
	struct count_key *keys;
	size_t nkeys;
	bool cpus; /* every place is a CPU */
};

/* Learns table, column and key of a reading. -E2BIG where there are too many. */
int counts_learn(struct counts *counts, const struct perf_reading *reading);
/* Once all are learnt: which tables are kept. */
void counts_learnt(struct counts *counts);
/* A reading of the interval at hand; what was read of it twice counts once. */
void counts_take(struct counts *counts, const struct perf_reading *reading);
/* The interval, of so many ns, ends: sums grow where all that the key has was counted. */
void counts_end(struct counts *counts, double ns);
void counts_free(struct counts *counts);

#endif
