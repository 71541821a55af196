/* Group files: which events are counted together on a microarchitecture, what they are called there, and what is made of
 * them. Pure; a file's text is, line by line:
 *
 *	match = AuthenticAMD-25-* AuthenticAMD-26-*     CPUs, with * and ?
 *	pmu = cpu_core                                  of a hybrid CPU's PMUs this one; without the line any
 *	[core] What the group is for.
 *	cycles = cycles [cycles] What is counted.       column = event [what it counts] help
 *	slots = 6 * cycles [slots] What is counted.     each event is as many of it
 *	read ?= uncore_imc/data_reads/ [bytes] Help.    where the machine has it; else a later line of this column may
 *	ipc := instructions / cycles [per cycle] Help.  name := formula of the group's columns [unit] help
 */
#ifndef GROUPFILE_H
#define GROUPFILE_H

#include "perf_event.h"

struct group_event {
	char column[NAME_SIZE], spec[SPEC_SIZE], counted[32], help[HELP_SIZE];
	uint32_t times; /* of what the column counts, for each event */
	bool optional;  /* where the machine lacks it nobody misses it */
};

/* A group as a text has it. */
struct group_text {
	char help[HELP_SIZE];
	uint32_t nevents, nmetrics;
	struct group_event events[EVENTS_MOST];
	struct metric metrics[EVENTS_MOST]; /* without pmu and group */
};

/* Whether a file is for this CPU ("GenuineIntel-6-8F") and PMU. *exact: by more than a lone *. */
bool groupfile_match(const char *text, size_t length, const char *cpu, const char *pmu,
		     bool *exact);

/* The number of the first line that is wrong, with why; 0: none is. */
uint32_t groupfile_check(const char *text, size_t length, char why[WORDS_SIZE]);

/* The first group of this name; texts of several files may stand behind one another. False: there is none. */
bool groupfile_find(const char *text, size_t length, const char *name, struct group_text *group);

/* What these files call an event, in whichever of their groups; not where it is one of several that may be there. False: none
 * has it. */
bool groupfile_event(const char *text, size_t length, const char *spec, struct group_event *event);

#endif
