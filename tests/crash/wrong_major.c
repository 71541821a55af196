/* A plugin of an ABI that does not exist yet. */
#include "common.h"

#undef SONDE_ABI_MAJOR
#define SONDE_ABI_MAJOR 2

static const struct sonde_table table = { "wrong_major", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(wrong_major, "is of ABI 2", one_row, .tables = { &table, 1, sizeof table });
