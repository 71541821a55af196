/* The columns of a row that streams read: what they grew by, what they are. */
#include <string.h>

#include "window/delta.h"
#include "window/tracked.h"

/* A counter that is not what it was. */
static void read_counter(struct track *track, struct row *row, uint32_t i, uint64_t slot)
{
	const struct probe *probe = &track->probes.probes[i];
	double before = sonde_slot_f64(row->base[i]), now = sonde_slot_f64(slot);
	uint64_t grown = 0;
	bool reset;

	if (!set_has(row->have, i)) {
		row->base[i] = slot;
		set_add(track->unknown, i);
		return;
	}
	if (probe->type == SONDE_F64) {
		row->base[i] = slot;
		track->grown[i] = (now - before) * probe->scale;
		reset = !(now >= before);
	} else {
		reset = counter_delta(&row->base[i], slot, probe->wrap, probe->tolerance, &grown) ==
			DELTA_RESET;
		track->grown[i] = (double)grown * probe->scale;
	}
	if (!reset)
		return;
	track->grown[i] = 0;
	set_add(track->unknown, i);
	set_add(track->reset, i);
}

/* Streams that read a probe which is about to move are told what they had until now. */
static inline void catch_up(struct track *track, struct row *row, uint32_t probe)
{
	const uint64_t *readers = track->readers + probe * track->nwords;

	for (uint32_t w = 0; lag_any(track) && w < track->nwords; w++)
		for (uint64_t lags = readers[w] & row->lags[w]; lags; lags &= lags - 1) {
			uint32_t stream = w * 64 + (uint32_t)__builtin_ctzll(lags);

			if (row->given[stream] < track->past->count)
				lag_catch_up(track, row, stream);
		}
}

/* Of a probe whose slot changed, or may have. */
static inline void read_probe(struct track *track, const struct folding *folding, uint32_t i)
{
	struct probe *probe = &track->probes.probes[i];
	struct row *row = folding->row;
	uint64_t slot = folding->slots[probe->slot];

	if (!set_has(folding->have, probe->slot)) {
		catch_up(track, row, i);
		set_remove(row->have, i);
		return;
	}
	if (!probe->seen)
		probe->seen = track->stale = true;
	if (row->base[i] == slot && set_has(row->have, i))
		return;
	catch_up(track, row, i);
	if (probe->counter)
		read_counter(track, row, i, slot);
	else
		row->base[i] = slot;
	set_add(row->have, i);
	set_add(track->moved, i);
	for (uint32_t w = 0; w < track->nwords; w++)
		track->due[w] |= track->readers[i * track->nwords + w];
}

/* The row before had others. */
static void forget(struct track *track)
{
	for (uint32_t w = 0; w < track->pwords; w++) {
		for (uint64_t moved = track->moved[w]; moved; moved &= moved - 1)
			track->grown[w * 64 + (uint32_t)__builtin_ctzll(moved)] = 0;
		track->moved[w] = track->unknown[w] = track->reset[w] = 0;
	}
	for (uint32_t w = 0; w < track->nwords; w++)
		track->due[w] = 0;
}

bool track_read(struct track *track, const struct folding *folding, const uint64_t *changed)
{
	uint32_t resets = 0;

	forget(track);
	for (uint32_t w = 0; w < track->schema->nhave; w++) {
		uint64_t bits = track->watched[w] & (changed ? changed[w] : UINT64_MAX);

		for (; bits; bits &= bits - 1)
			read_probe(track, folding,
				   track->probe_of[w * 64 + (uint32_t)__builtin_ctzll(bits)]);
	}
	for (uint32_t w = 0; w < track->pwords; w++)
		for (uint64_t reset = track->reset[w]; reset; reset &= reset - 1)
			resets++;
	track->resets += resets;
	return resets < 2;
}
