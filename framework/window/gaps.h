/* Gaps in what was seen of a machine: what a counter did over one of them is not known. */
#ifndef WINDOW_GAPS_H
#define WINDOW_GAPS_H

#include <sonde/row.h>

enum { GAPS_KEPT = 32 };

/* The newest; a zeroed struct has none. */
struct gaps {
	struct {
		uint64_t begin, end; /* CLOCK_BOOTTIME ns */
		uint64_t instance;   /* hash of its name; 0: all */
	} gaps[GAPS_KEPT];
	uint32_t count; /* ever */
};

/* Rows of the table `gap`. */
void gaps_take(struct gaps *gaps, const struct sonde_view *view);

/* Whether one lies between two instants of a section. */
bool gaps_between(const struct gaps *gaps, const char *instance, uint64_t from, uint64_t to);

#endif
