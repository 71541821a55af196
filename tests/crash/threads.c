/* A collector that says it starts threads. */
#define SONDE_PLUGIN_FLAGS SONDE_THREADS

#include "common.h"

static const struct sonde_table table = { "threads", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(threads, "starts threads", one_row, .tables = { &table, 1, sizeof table });
