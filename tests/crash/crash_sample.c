/* A plugin whose third sample() reads through a null pointer. */
#include "common.h"

struct state {
	unsigned samples;
	volatile int *nowhere;
};

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;

	if (++state->samples == 3)
		return *state->nowhere;
	return one_row(self, frame);
}

static const struct sonde_table table = { "crash_sample", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(crash_sample, "crashes in the third sample", sample,
		.tables = { &table, 1, sizeof table }, .state_size = sizeof(struct state));
