/* A plugin that asks for a million rows a sample; its table has room for a thousand. */
#include "common.h"

enum { ASKED = 1000000, ROOM = 1000 };

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct sonde_row row;

	for (uint64_t i = 0; i < ASKED; i++) {
		if (!sonde_row(self, frame, 0, &row))
			continue;
		sonde_set_u64(&row, NUMBER, i);
		sonde_set_u64(&row, BYTES, 42);
	}
	return 0;
}

static const struct sonde_table table = { "flood", SONDE_COLUMNS(columns), .rows = 1,
					  .max_rows = ROOM };

SONDE_COLLECTOR(flood, "asks for more rows than there is room for", sample,
		.tables = { &table, 1, sizeof table });
