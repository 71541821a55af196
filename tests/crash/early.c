/* A plugin with a constructor that means no harm: for a worker, where it may run. */
#include "common.h"

static uint64_t answer;

static void __attribute__((constructor)) early(void)
{
	answer = 4711;
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct sonde_row row;

	if (sonde_row(self, frame, 0, &row)) {
		sonde_set_u64(&row, NUMBER, 1);
		sonde_set_u64(&row, BYTES, answer);
	}
	return 0;
}

static const struct sonde_table table = { "early", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(early, "has a constructor that means no harm", sample,
		.tables = { &table, 1, sizeof table });
