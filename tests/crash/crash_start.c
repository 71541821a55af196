/* A plugin that crashes in start(). */
#include <stdlib.h>

#include "common.h"

static int start(struct sonde_instance *self)
{
	(void)self;
	abort();
}

static const struct sonde_table table = { "crash_start", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(crash_start, "crashes in start", one_row, .tables = { &table, 1, sizeof table },
		.start = start);
