/* Rows as they were read last. */
#include "saved.h"

static const uint8_t text_slots[SAVED_TEXTS] = { COMM, CPUS_ALLOWED, MEMS_ALLOWED };

/* Written anew for each frame: offsets into another frame's strings mean nothing. */
#define STRINGS                                                                                    \
	(UINT64_C(1) << COMM | UINT64_C(1) << CPUS_ALLOWED | UINT64_C(1) << MEMS_ALLOWED |         \
	 UINT64_C(1) << STATE | UINT64_C(1) << CMDLINE | UINT64_C(1) << CGROUP)

static const char *bytes_of(const struct sonde_row *row, uint32_t slot)
{
	return row->strings->bytes + (row->slots[slot] >> 32);
}

/* False where there are more wide ones than find room. */
static bool keep_values(struct saved *saved, const struct sonde_row *row, uint64_t have)
{
	uint32_t nwide = 0;

	saved->wide = 0;
	for (uint32_t i = 0; i < PROCESS_COLUMNS; i++) {
		uint64_t value = have >> i & 1 ? row->slots[i] : 0;

		saved->low[i] = (uint32_t)value;
		if (value <= UINT32_MAX)
			continue;
		if (nwide == SAVED_WIDE)
			return false;
		saved->high[nwide++] = (uint32_t)(value >> 32);
		saved->wide |= UINT64_C(1) << i;
	}
	return true;
}

void saved_keep(struct sonde_instance *self, struct texts *texts, struct saved *saved,
		const struct sonde_row *row)
{
	uint64_t have = *row->have & ~STRINGS;

	saved->have = 0;
	for (uint32_t i = 0; i < SAVED_TEXTS; i++) {
		uint32_t slot = text_slots[i];

		if (!sonde_has(row, slot))
			texts_drop(texts, &saved->text[i]);
		else if (!texts_set(self, texts, &saved->text[i], bytes_of(row, slot),
				    (uint32_t)row->slots[slot]))
			return;
	}
	if (!sonde_has(row, STATE))
		return;
	saved->state = *bytes_of(row, STATE);
	if (sonde_has(row, NUM_THREADS) && row->slots[NUM_THREADS] == 1 &&
	    keep_values(saved, row, have))
		saved->have = have;
}

void saved_put(const struct texts *texts, const struct saved *saved, struct sonde_row *row)
{
	const uint32_t *high = saved->high;

	for (uint32_t i = 0; i < PROCESS_COLUMNS; i++)
		row->slots[i] = saved->low[i];
	for (uint64_t wide = saved->wide; wide; wide &= wide - 1)
		row->slots[__builtin_ctzll(wide)] |= (uint64_t)*high++ << 32;
	*row->have = saved->have;
	for (uint32_t i = 0; i < SAVED_TEXTS; i++)
		texts_put(texts, saved->text[i], row, text_slots[i]);
	sonde_set_bytes(row, STATE, &saved->state, 1);
}

void saved_drop(struct texts *texts, struct saved *saved)
{
	for (uint32_t i = 0; i < SAVED_TEXTS; i++)
		texts_drop(texts, &saved->text[i]);
	saved->have = 0;
}

static bool keeps(const struct saved *saved, uint32_t slot, uint64_t value)
{
	uint64_t bit = UINT64_C(1) << slot, kept = saved->low[slot];

	if (saved->wide & bit)
		kept |= (uint64_t)saved->high[__builtin_popcountll(saved->wide & (bit - 1))] << 32;
	return saved->have & bit && kept == value;
}

bool saved_is_idle(const struct saved *saved, const struct process_sched *sched)
{
	return keeps(saved, SCHED_RUN, sched->run) && keeps(saved, SCHED_WAIT, sched->wait) &&
	       keeps(saved, SCHED_SLICES, sched->slices);
}
