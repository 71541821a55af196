/* Rows as they were read last, for intervals below a second: of a process that did not run since, only schedstat is read. */
#ifndef SAVED_H
#define SAVED_H

#include "process.h"
#include "texts.h"

enum { SAVED_TEXTS = 3, SAVED_WIDE = 16 };

/* Few values need more than 32 bits: the upper halves of those stand by themselves, in the order of their slots. */
struct saved {
	uint64_t have; /* 0: there is none */
	uint64_t wide;
	uint32_t low[PROCESS_COLUMNS], high[SAVED_WIDE];
	uint32_t text[SAVED_TEXTS];
	char state;
};

_Static_assert(PROCESS_COLUMNS <= 64, "one word of have-bits");

/* Keeps the row; where it is of several threads, has a text that finds no room, or more than SAVED_WIDE wide values, nothing. */
void saved_keep(struct sonde_instance *self, struct texts *texts, struct saved *saved,
		const struct sonde_row *row);

/* Writes it, with strings of this frame. Command line and control group are not in it. */
void saved_put(const struct texts *texts, const struct saved *saved, struct sonde_row *row);

void saved_drop(struct texts *texts, struct saved *saved);

/* Whether it says the same of the leader thread's time on CPUs: that has not run. */
bool saved_is_idle(const struct saved *saved, const struct process_sched *sched);

#endif
