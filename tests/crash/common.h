/* What the bad plugins share: a table of one row, and a sample() that is as good as any. */
#ifndef CRASH_COMMON_H
#define CRASH_COMMON_H

#include <sonde/plugin.h>

enum { NUMBER, BYTES };

static const struct sonde_column columns[] = {
	[NUMBER] = { "number", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "of the row" },
	[BYTES] = { "bytes", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .help = "always 42" },
};

static inline int one_row(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct sonde_row row;

	if (sonde_row(self, frame, 0, &row)) {
		sonde_set_u64(&row, NUMBER, 1);
		sonde_set_u64(&row, BYTES, 42);
	}
	return 0;
}

#endif
