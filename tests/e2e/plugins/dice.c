/* A collector for tests: what it obtains is never twice the same, so that only a record of it can repeat it. */
#include <sys/random.h>

#define SONDE_USE_MINOR 1
#include <sonde/plugin.h>

enum { MANY = 150000 }; /* more than one row of a capture holds */

enum { VALUE, LENGTH, SUM, ERROR };

static const struct sonde_column columns[] = {
	[VALUE] = { "value", SONDE_U64, SONDE_STATE, SONDE_NONE },
	[LENGTH] = { "length", SONDE_U64, SONDE_STATE, SONDE_NONE },
	[SUM] = { "sum", SONDE_U64, SONDE_STATE, SONDE_NONE },
	[ERROR] = { "error", SONDE_U64, SONDE_STATE, SONDE_NONE },
};
static const struct sonde_table tables[] = { { "dice", SONDE_COLUMNS(columns) } };

struct state {
	unsigned char bytes[MANY];
};

static int64_t throw(void *context, void *buffer, uint64_t size)
{
	unsigned char *byte = buffer;

	(void)context;
	for (uint64_t i = 0; i < size; i += 256)
		if (getrandom(byte + i, size - i < 256 ? size - i : 256, 0) < 0)
			return -errno;
	return (int64_t)size;
}

static int64_t fail(void *context, void *buffer, uint64_t size)
{
	(void)context, (void)buffer, (void)size;
	return -EPERM;
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	struct sonde_row row;
	uint64_t value = 0, sum = 0;
	int64_t length;

	if (!sonde_row(self, frame, 0, &row))
		return 0;
	sonde_obtain(self, "one", throw, NULL, &value, sizeof value);
	sonde_set_u64(&row, VALUE, value);
	length = sonde_obtain(self, "many", throw, NULL, state->bytes, MANY);
	sonde_set_u64(&row, LENGTH, (uint64_t)length);
	for (int64_t i = 0; i < length; i++)
		sum += state->bytes[i];
	sonde_set_u64(&row, SUM, sum);
	sonde_set_u64(&row, ERROR, (uint64_t)-sonde_obtain(self, "none", fail, NULL, NULL, 0));
	return 0;
}

SONDE_COLLECTOR(dice, "random numbers", sample, .tables = SONDE_TABLES(tables),
		.state_size = sizeof(struct state));
