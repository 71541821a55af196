/* Clocks (clock_gettime(2)). */
#include <stdlib.h>

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
	uint64_t tightest = UINT64_MAX;

	for (int i = 0; i < READINGS && tightest >= READING_NS; i++) {
		uint64_t before = clock_now(CLOCK_MONOTONIC);
		uint64_t boottime = clock_now(CLOCK_BOOTTIME);
		int64_t realtime = (int64_t)clock_now(CLOCK_REALTIME);
		uint64_t took = clock_now(CLOCK_MONOTONIC) - before;

		if (took >= tightest)
			continue;
		tightest = took;
		*anchor = (struct sonde_anchor) { .monotonic = before + took / 2,
						  .boottime = boottime,
						  .realtime = realtime };
	}
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
