/* A plugin whose first bytes are not sonde's. */
#include "common.h"

#undef SONDE_MAGIC
#define SONDE_MAGIC 0x12345678u

static const struct sonde_table table = { "wrong_magic", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(wrong_magic, "has another magic", one_row, .tables = { &table, 1, sizeof table });
