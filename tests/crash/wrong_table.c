/* A plugin that wants a row of a table that it does not have. */
#include "common.h"

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct sonde_row row;

	if (sonde_row(self, frame, 1, &row))
		sonde_set_u64(&row, NUMBER, 1);
	return one_row(self, frame);
}

static const struct sonde_table table = { "wrong_table", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(wrong_table, "wants a row of a table that it does not have", sample,
		.tables = { &table, 1, sizeof table });
