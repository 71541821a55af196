/* A collector that uses an lz4 of its own: LZ4_NAME is the plugin's name, the library is what the test links. */
#include <sonde/plugin.h>

#ifndef LZ4_NAME
#define LZ4_NAME lz4_user
#endif
#define TEXT_OF(x) #x
#define NAME_OF(x) TEXT_OF(x)

int LZ4_versionNumber(void);

enum { VERSION };

static const struct sonde_column columns[] = {
	[VERSION] = { "version", SONDE_U64, SONDE_GAUGE, SONDE_NONE,
		      .help = "of the lz4 it reaches" },
};
static const struct sonde_table tables[] = { { NAME_OF(LZ4_NAME), SONDE_COLUMNS(columns),
					       .rows = 1 } };

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct sonde_row row;

	if (sonde_row(self, frame, 0, &row))
		sonde_set_u64(&row, VERSION, (uint64_t)LZ4_versionNumber());
	return 0;
}

static const struct sonde_collector_ops ops = { .sample = sample };

SONDE_DESCRIBE(SONDE_KIND_COLLECTOR, NAME_OF(LZ4_NAME), "uses lz4", ops,
	       .tables = SONDE_TABLES(tables));
