/* Clocks and anchors (clock_gettime(2), adjtimex(2)). */
#include <stdlib.h>
#include <sys/timex.h>

#include "core/clock.h"

/* Readings of two clocks are some ns apart, or a preemption; what is smaller than this is neither sleep nor step. */
enum { NOISE_NS = 2000000, READING_NS = 100000, READINGS = 5 };

uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void clock_read(struct sonde_anchor *anchor)
{
	uint64_t before, after;

	*anchor = (struct sonde_anchor) { 0 };
	for (int i = 0; i < READINGS; i++) {
		before = clock_now(CLOCK_MONOTONIC);
		anchor->boottime = clock_now(CLOCK_BOOTTIME);
		anchor->realtime = (int64_t)clock_now(CLOCK_REALTIME);
		after = clock_now(CLOCK_MONOTONIC);
		anchor->monotonic = before + (after - before) / 2;
		if (after - before < READING_NS)
			break;
	}
}

void clock_anchor(struct sonde_anchor *anchor)
{
	struct timex state = { 0 };
	int clock = adjtimex(&state);

	clock_read(anchor);
	if (clock < 0)
		return;
	anchor->offset = state.status & STA_NANO ? state.offset : state.offset * 1000;
	anchor->max_error = (uint64_t)state.maxerror * 1000;
	anchor->synchronised = !(state.status & STA_UNSYNC);
}

struct clock_change clock_compare(const struct sonde_anchor *before,
				  const struct sonde_anchor *after)
{
	int64_t boottime = (int64_t)(after->boottime - before->boottime);
	int64_t monotonic = (int64_t)(after->monotonic - before->monotonic);
	int64_t stepped = after->realtime - before->realtime - boottime;
	struct clock_change change = { 0 };

	if (boottime - monotonic > NOISE_NS)
		change.suspended = (uint64_t)(boottime - monotonic);
	if (llabs(stepped) > NOISE_NS)
		change.stepped = stepped;
	return change;
}
