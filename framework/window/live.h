/* Findings while they live: what opens, what still holds, what closes. */
#ifndef WINDOW_LIVE_H
#define WINDOW_LIVE_H

#include "window/verdict.h"

enum { LIVE_MOST = 1024 };

/* A finding that was found lately, by id and about. */
struct living {
	struct verdict last; /* as it was found last; its texts are this one's */
	uint64_t begin;      /* since when it was found at each judgement */
	uint64_t seen, told; /* CLOCK_BOOTTIME ns */
	uint32_t severity;   /* as it was told */
	bool open;
	bool found; /* by the judgement that is looked at */
};

struct live {
	struct living *living;
	uint32_t count;
};

/* Gives each finding of a judgement its state, and adds those that close. 0 or -ENOMEM. */
int live_states(struct live *live, struct verdicts *verdicts, uint64_t now);
void live_free(struct live *live);

#endif
