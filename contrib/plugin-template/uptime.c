/* uptime: how long the machine runs, and how long its CPUs idled (/proc/uptime, proc(5)). */
#include <sonde/plugin.h>

enum { UP, IDLE };

static const struct sonde_column columns[] = {
	[UP] = { "up", SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 10000000, 1,
		 .origin = "first number", .help = "time since boot, suspended time included" },
	[IDLE] = { "idle", SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 10000000, 1,
		   .origin = "second number",
		   .help = "idle time of all CPUs added up: may grow faster than time passes" },
};
static const struct sonde_table tables[] = {
	{ "uptime", SONDE_COLUMNS(columns), .origin = "/proc/uptime", .help = "time since boot" },
};

struct state {
	struct sonde_file *file;
};

/* "3020.51 5843.02": hundredths of a second, kept as whole numbers. A short text leaves values absent, not zero. */
static void uptime_parse(const char *text, size_t length, struct sonde_row *row)
{
	struct cursor line = whole(text, length);
	uint64_t value;

	for (uint32_t slot = UP; slot <= IDLE && next_fixed(&line, 2, &value); slot++)
		sonde_set_u64(row, slot, value);
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;

	state->file = sonde_open(self, SONDE_KEEP, "/proc/uptime");
	return state->file ? 0 : sonde_unavailable(self, "no /proc/uptime; mount /proc");
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	struct sonde_row row;
	const char *text;
	int64_t length = sonde_read(self, state->file, &text);

	if (length >= 0 && sonde_row(self, frame, 0, &row))
		uptime_parse(text, (size_t)length, &row);
	return length < 0 ? (int)length : 0;
}

SONDE_COLLECTOR(uptime, "time since boot", sample, .tables = SONDE_TABLES(tables),
		.state_size = sizeof(struct state), .start = start);
