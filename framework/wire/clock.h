/* The newest clock anchor of a stream: what turns CLOCK_BOOTTIME into wall-clock time. */
#ifndef WIRE_CLOCK_H
#define WIRE_CLOCK_H

#include <sonde/row.h>

/* Takes the view's last row where it is of the table `anchor` (core/records.h). */
void clock_take(struct sonde_anchor *anchor, const struct sonde_view *view);

/* `boottime` as ns since 1970; 0 where no anchor is known. */
static inline int64_t clock_realtime(const struct sonde_anchor *anchor, uint64_t boottime)
{
	if (!anchor->realtime)
		return 0;
	return (int64_t)((uint64_t)anchor->realtime + (boottime - anchor->boottime));
}

#endif
