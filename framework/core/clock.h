/* Clocks and anchors (clock_gettime(2), adjtimex(2)). */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <time.h>

#include <sonde/row.h>

#define NS_PER_S 1000000000u

/* ns of CLOCK_MONOTONIC, CLOCK_BOOTTIME, ... */
uint64_t clock_now(clockid_t clock);

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec) { .tv_sec = (time_t)(ns / NS_PER_S),
				   .tv_nsec = (long)(ns % NS_PER_S) };
}

/* The three clocks at one instant: read again where the reading was interrupted, the tightest counts; the rest is 0. */
void clock_read(struct sonde_anchor *anchor);

/* The same, and what adjtimex(2) knows of the wall clock. */
void clock_anchor(struct sonde_anchor *anchor);

/* CLOCK_REALTIME at a boottime, by an anchor. */
static inline int64_t anchor_realtime(const struct sonde_anchor *anchor, uint64_t boottime)
{
	return (int64_t)((uint64_t)anchor->realtime + (boottime - anchor->boottime));
}

/* What happened to the clocks between two readings. */
struct clock_change {
	uint64_t
		suspended; /* ns that the machine slept: boottime went on, monotonic did not; 0: it did not */
	int64_t stepped; /* ns by which the wall clock was set; 0: it was not */
};

struct clock_change clock_compare(const struct sonde_anchor *before,
				  const struct sonde_anchor *after);

#endif
