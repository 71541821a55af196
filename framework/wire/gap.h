/* What a reader did not get, as a row of the table `gap` (core/records.h). */
#ifndef WIRE_GAP_H
#define WIRE_GAP_H

#include "core/records.h"

struct gap {
	const char *reason, *text; /* as the table's columns say */
	uint64_t begin, end;       /* CLOCK_BOOTTIME ns; begin 0: not known */
	uint64_t lost;             /* instants; 0: not known */
};

/* The row, into `records` (records_make()), and a view of it without times. False without memory. */
bool gap_view(struct sonde_frame *records, const struct gap *gap, struct sonde_view *view);

#endif
