/* A plugin that sets a text as a number: an offset and a length far beyond all texts. */
#include <sonde/plugin.h>

enum { NAME };

static const struct sonde_column columns[] = {
	[NAME] = { "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .help = "of the row" },
};

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct sonde_row row;

	if (sonde_row(self, frame, 0, &row))
		sonde_set_f64(&row, NAME, 1.0);
	return 0;
}

static const struct sonde_table table = { "wrong_type", SONDE_COLUMNS(columns), .rows = 1 };

SONDE_COLLECTOR(wrong_type, "sets a text as a number", sample,
		.tables = { &table, 1, sizeof table });
