/* A collector with a constructor: third-party code that runs when it is loaded. */
#include <sonde/plugin.h>

static int loaded;

static void __attribute__((constructor)) early(void)
{
	loaded = 42;
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct sonde_row row;

	if (sonde_row(self, frame, 0, &row))
		sonde_set_u64(&row, 0, (uint64_t)loaded);
	return 0;
}

static const struct sonde_column columns[] = {
	{ "answer", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .help = "42 where the constructor ran" },
};
static const struct sonde_table table = { .name = "early", .columns = SONDE_ARRAY(columns) };

SONDE_COLLECTOR(early, "has a constructor", sample, .tables = { &table, 1, sizeof table });
