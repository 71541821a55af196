/* A plugin that hides its descriptor: the test links it with a version script that has no global. */
#include "common.h"

static const struct sonde_table table = { "no_symbol", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(no_symbol, "exports nothing", one_row, .tables = { &table, 1, sizeof table });
