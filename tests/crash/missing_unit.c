/* A plugin with a column that does not say in what it is measured. */
#include "common.h"

static const struct sonde_column no_unit[] = {
	{ "number", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "of the row" },
	{ .name = "size", .type = SONDE_U64, .semantics = SONDE_GAUGE, .scale_div = 1 },
};
static const struct sonde_table table = { "missing_unit", SONDE_COLUMNS(no_unit), .rows = 1 };

SONDE_COLLECTOR(missing_unit, "has a column without a unit", one_row,
		.tables = { &table, 1, sizeof table });
