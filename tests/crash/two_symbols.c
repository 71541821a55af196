/* A plugin that exports a function besides its descriptor: the test links it without the version script. */
#include "common.h"

__attribute__((visibility("default"))) int file_reset(void);

int file_reset(void)
{
	return 1;
}

static const struct sonde_table table = { "two_symbols", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(two_symbols, "exports two symbols", one_row, .tables = { &table, 1, sizeof table });
