/* A plugin that sets a slot above its table's last. */
#include "common.h"

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct sonde_row row;

	if (sonde_row(self, frame, 0, &row)) {
		sonde_set_u64(&row, NUMBER, 1);
		row.have[0] |=
			1 << (BYTES + 1); /* and not the slot, which would be anybody's memory */
	}
	return 0;
}

static const struct sonde_table table = { "wrong_slot", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(wrong_slot, "sets a slot that its table does not have", sample,
		.tables = { &table, 1, sizeof table });
