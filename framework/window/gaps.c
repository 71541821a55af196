/* Gaps between instants. */
#include <string.h>

#include "core/records.h"
#include "window/gaps.h"

/* FNV-1a, 64 bits (RFC 9923). */
static uint64_t hash_bytes(const char *bytes, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	while (length--)
		hash = (hash ^ (unsigned char)*bytes++) * 0x100000001b3u;
	return hash;
}

/* A suspended host counted nothing while its boot time went on; behind damage or a crash the rows may be others. Ticks that
 * were only missed or dropped are another matter: the counters went on, the next interval is longer and just as true. */
static bool breaks(const char *reason, uint32_t length)
{
	static const char *const harmless[] = { "missed", "dropped", "error", "rows", "disk_full" };

	for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
		if (strlen(harmless[i]) == length && memcmp(harmless[i], reason, length) == 0)
			return false;
	return true;
}

void gaps_take(struct gaps *gaps, const struct sonde_view *view)
{
	for (uint32_t i = 0; i < view->nrows; i++) {
		const uint64_t *slots = sonde_view_slots(view, i);
		uint32_t length, at = gaps->count % GAPS_KEPT;
		const char *text = record_text(view, i, GAP_REASON, &length);

		if (!breaks(text, length))
			continue;
		text = record_text(view, i, GAP_INSTANCE, &length);
		gaps->gaps[at].instance = length ? hash_bytes(text, length) : 0;
		gaps->gaps[at].begin = sonde_view_has(view, i, GAP_BEGIN) ? slots[GAP_BEGIN] : 0;
		gaps->gaps[at].end =
			sonde_view_has(view, i, GAP_END) ? slots[GAP_END] : view->begin;
		gaps->count++;
	}
}

bool gaps_between(const struct gaps *gaps, const char *instance, uint64_t from, uint64_t to)
{
	uint32_t n = gaps->count < GAPS_KEPT ? gaps->count : GAPS_KEPT;
	uint64_t hash = n ? hash_bytes(instance, strlen(instance)) : 0;

	for (uint32_t i = 0; i < n; i++)
		if ((!gaps->gaps[i].instance || gaps->gaps[i].instance == hash) &&
		    gaps->gaps[i].begin < to && gaps->gaps[i].end > from)
			return true;
	return false;
}
