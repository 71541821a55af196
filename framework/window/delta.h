/* By how much a counter grew: resets, wraps and small steps back told apart. The kernel's idle and iowait go back a
 * little (Documentation/filesystems/proc.rst: "the value of this field in the future may decrease"), counters of drivers
 * wrap at 32 bits, those of re-created devices and re-onlined CPUs begin anew. */
#ifndef WINDOW_DELTA_H
#define WINDOW_DELTA_H

#include <stdint.h>

enum delta {
	DELTA_OK,
	DELTA_KEPT, /* a small step back: nothing was counted, and the older, higher value stays the base */
	DELTA_RESET, /* it began anew: how much it counted is not known, the new value becomes the base */
};

/* From *base to `now`. `wrap`: 32 or 64 where it wraps, else 0; a wrap is believed where it means less than half of the
 * range. `tolerance`: how far a counter that never wraps may step back without being a new one. */
static inline enum delta counter_delta(uint64_t *base, uint64_t now, uint32_t wrap,
				       uint64_t tolerance, uint64_t *grown)
{
	uint64_t mask = wrap == 32 ? UINT32_MAX : UINT64_MAX;
	uint64_t step = (now - *base) & mask;
	enum delta result = DELTA_OK;

	*grown = step;
	if (now < *base) {
		if (wrap ? step > mask >> 1 : *base - now >= tolerance)
			result = DELTA_RESET;
		else if (!wrap)
			result = DELTA_KEPT;
	}
	if (result != DELTA_OK)
		*grown = 0;
	if (result != DELTA_KEPT)
		*base = now;
	return result;
}

#endif
