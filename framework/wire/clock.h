/* The newest clock anchor of a stream: what turns CLOCK_BOOTTIME into wall-clock time. */
#ifndef WIRE_CLOCK_H
#define WIRE_CLOCK_H

#include "core/clock.h"

/* Takes the view's last row where it is of the table `anchor` (core/records.h). */
void clock_take(struct sonde_anchor *anchor, const struct sonde_view *view);

/* `boottime` as ns since 1970; 0 where no anchor is known. */
static inline int64_t clock_realtime(const struct sonde_anchor *anchor, uint64_t boottime)
{
	return anchor->realtime ? anchor_realtime(anchor, boottime) : 0;
}

#endif
