/* How well the wall clock is kept (adjtimex(2)). */
#include <sys/timex.h>

#include "core/clock.h"

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
