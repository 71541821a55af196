/* A plugin whose third sample() never returns. */
#include <unistd.h>

#include "common.h"

struct state {
	unsigned samples;
};

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;

	if (++state->samples == 3) {
		sonde_log(self, SONDE_NOTICE, "from here on");
		for (;;)
			pause();
	}
	return one_row(self, frame);
}

static const struct sonde_table table = { "hang", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(hang, "hangs in the third sample", sample, .tables = { &table, 1, sizeof table },
		.state_size = sizeof(struct state));
