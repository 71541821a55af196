/* A plugin with code that would run before sonde has looked at it. */
#include <stdlib.h>

#include "common.h"

static void __attribute__((constructor)) early(void)
{
	abort();
}

static const struct sonde_table table = { "constructor", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(constructor, "has a constructor", one_row, .tables = { &table, 1, sizeof table });
