/* The lines of /proc/PID/smaps or smaps_rollup, added up (Documentation/filesystems/proc.rst). */
#ifndef SMAPS_SUMS_H
#define SMAPS_SUMS_H

#include <sonde/plugin.h>

/* Columns of the table smaps that are such lines, from FIRST_SUM on; their origin is the key. */
enum {
	PID,
	START_TIME,
	COMM,
	METHOD,
	TAKEN,
	RESIDENT,
	FIRST_SUM,
	SUMS = 22,
	COLUMNS = FIRST_SUM + SUMS
};

extern const struct sonde_column smaps_columns[COLUMNS];

struct sums {
	uint64_t kib[SUMS];
	uint64_t have; /* bits of those that were met */
};

/* Adds the lines of a text, which may be any whole lines of the file. Those of other keys are passed over. */
void sums_parse(const char *text, size_t length, struct sums *sums);

#endif
