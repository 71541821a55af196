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

void saved_keep(struct sonde_instance *self, struct texts *texts, struct saved *saved,
		const struct sonde_row *row)
{
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
	saved->have = *row->have & ~STRINGS;
	memcpy(saved->slots, row->slots, sizeof saved->slots);
}

void saved_put(const struct texts *texts, const struct saved *saved, struct sonde_row *row)
{
	memcpy(row->slots, saved->slots, sizeof saved->slots);
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

bool saved_is_idle(const struct saved *saved, const struct process_sched *sched)
{
	return saved->have >> SCHED_RUN & 1 && saved->slots[SCHED_RUN] == sched->run &&
	       saved->slots[SCHED_WAIT] == sched->wait &&
	       saved->slots[SCHED_SLICES] == sched->slices;
}
