/* One of two plugins whose inner names are the same, not static, and those of functions elsewhere. */
#include <sonde/plugin.h>

int collect(void);
int file_reset(void);
const char *zlibVersion(void);

int collect(void)
{
	return file_reset() * 10 + 2;
}

int file_reset(void)
{
	return 2;
}

/* A name that a library in the process may have. */
const char *zlibVersion(void)
{
	return "two";
}

enum { VALUE, TEXT };

static const struct sonde_column columns[] = {
	[VALUE] = { "value", SONDE_U64, SONDE_GAUGE, SONDE_NONE,
		    .help = "what its own function says" },
	[TEXT] = { "text", SONDE_STR, SONDE_INFO, SONDE_NONE, .help = "likewise" },
};
static const struct sonde_table tables[] = { { "same_two", SONDE_COLUMNS(columns), .rows = 1 } };

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct sonde_row row;

	if (sonde_row(self, frame, 0, &row)) {
		sonde_set_u64(&row, VALUE, (uint64_t)collect());
		sonde_set_str(&row, TEXT, zlibVersion());
	}
	return 0;
}

SONDE_COLLECTOR(same_two, "has inner names of another", sample, .tables = SONDE_TABLES(tables));
