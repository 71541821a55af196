/* A collector built against older and newer headers: its values come through an option, a column and a state. */
#include <sonde/plugin.h>

struct conf {
	uint64_t first;
	struct sonde_list words;
};

struct state {
	uint64_t samples;
};

static const struct sonde_option options[] = {
	{ .key = "first",
	  .type = SONDE_OPT_U64,
	  .offset = offsetof(struct conf, first),
	  .initial = "1" },
	{ .key = "words",
	  .type = SONDE_OPT_LIST,
	  .offset = offsetof(struct conf, words),
	  .initial = "" },
};

enum { WORD, VALUE, SAMPLES };

static const struct sonde_column columns[] = {
	[WORD] = { "word", SONDE_STR, SONDE_KEY, SONDE_NONE, .help = "one of the words" },
	[VALUE] = { "value", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .help = "first, and its place" },
	[SAMPLES] = { "samples", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("samples"),
		      .help = "so far" },
};
static const struct sonde_table tables[] = {
	{ "before", SONDE_COLUMNS(columns), .rows = 1 },
	{ "grows", SONDE_COLUMNS(columns), .origin = "nowhere", .rows = 8 },
};

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct sonde_row row;

	state->samples++;
	for (uint32_t i = 0; i < conf->words.count && sonde_row(self, frame, 1, &row); i++) {
		sonde_set_str(&row, WORD, conf->words.items[i]);
		sonde_set_u64(&row, VALUE, conf->first + i);
		sonde_set_u64(&row, SAMPLES, state->samples);
	}
	return 0;
}

SONDE_COLLECTOR(grows, "built against another header", sample, .options = SONDE_OPTIONS(options),
		.tables = SONDE_TABLES(tables), .conf_size = sizeof(struct conf),
		.state_size = sizeof(struct state));
