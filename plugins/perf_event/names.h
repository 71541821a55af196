/* The kernel's own names of events: generic hardware, cache and software ones (perf_event_open(2)). */
#ifndef NAMES_H
#define NAMES_H

#include "perf_event.h"

/* What a name stands for. */
struct named {
	const char *name;
	const char *counted; /* NULL: a time in ns */
	uint64_t config;
	uint32_t type; /* PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE or PERF_TYPE_SOFTWARE */
	bool kernel_side;
};

/* False: the kernel has no such name. `column` is what a column of it is called. */
bool names_find(const char *name, size_t length, struct named *found, char column[NAME_SIZE]);

/* "Sched:sched_switch" -> "sched_sched_switch": what may be the name of a column or a table. False where nothing is left. */
bool names_column(const char *text, size_t length, char column[NAME_SIZE]);

#endif
