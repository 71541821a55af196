/* The newest clock anchor of a stream. */
#include "core/records.h"
#include "wire/clock.h"

void clock_take(struct sonde_anchor *anchor, const struct sonde_view *view)
{
	const uint64_t *have, *slots;
	uint64_t needed = 1u << ANCHOR_BOOTTIME | 1u << ANCHOR_REALTIME;

	if (!view->nrows || !(view->schema->flags & SONDE_EVENTS) ||
	    view->schema->nslots < ANCHOR_SYNCHRONISED + 1 || strcmp(view->schema->name, "anchor"))
		return;
	have = sonde_view_have(view, view->nrows - 1);
	slots = sonde_view_slots(view, view->nrows - 1);
	if ((have[0] & needed) != needed)
		return;
	*anchor = (struct sonde_anchor) {
		.monotonic = slots[ANCHOR_MONOTONIC],
		.boottime = slots[ANCHOR_BOOTTIME],
		.realtime = (int64_t)slots[ANCHOR_REALTIME],
		.offset = (int64_t)slots[ANCHOR_OFFSET],
		.max_error = slots[ANCHOR_MAX_ERROR],
		.synchronised = slots[ANCHOR_SYNCHRONISED] != 0,
	};
}
