/* psi: time that tasks were stalled for want of CPU, memory, I/O or interrupts (/proc/pressure,
 * Documentation/accounting/psi.rst). */
#include <sonde/plugin.h>

enum {
	RESOURCE,
	SOME_TOTAL,
	SOME_AVG10,
	SOME_AVG60,
	SOME_AVG300,
	FULL_TOTAL,
	FULL_AVG10,
	FULL_AVG60,
	FULL_AVG300,
};

#define TOTAL(name, text)                                                                          \
	name "_total", SONDE_U64, SONDE_COUNTER, SONDE_US, .origin = name " total=", .help = text
#define AVERAGE(name, span)                                                                        \
	name "_avg" span, SONDE_U64, SONDE_GAUGE, SONDE_PERCENT_CENTI,                             \
		.origin = name " avg" span "=",                                                    \
		.help = "The kernel's average over " span " s, refreshed every 2 s; "              \
			"the totals are exact"

static const struct sonde_column columns[] = {
	[RESOURCE] = { "resource", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "name of the file",
		       .help = "cpu, memory, io or irq" },
	[SOME_TOTAL] = { TOTAL("some", "Wall time in which at least one task was stalled") },
	[SOME_AVG10] = { AVERAGE("some", "10") },
	[SOME_AVG60] = { AVERAGE("some", "60") },
	[SOME_AVG300] = { AVERAGE("some", "300") },
	[FULL_TOTAL] = { TOTAL("full",
			       "Wall time in which all tasks that were not idle were stalled; "
			       "for cpu absent before 5.13, later present and always 0: undefined "
			       "for the whole system") },
	[FULL_AVG10] = { AVERAGE("full", "10") },
	[FULL_AVG60] = { AVERAGE("full", "60") },
	[FULL_AVG300] = { AVERAGE("full", "300") },
};

static const struct sonde_table tables[] = {
	{ "psi", SONDE_COLUMNS(columns), .origin = "/proc/pressure/RESOURCE",
	  .help = "Pressure: wall time in which work stood still for want of a resource.",
	  .rows = 4 },
};

static const char *const resources[] = { "cpu", "memory", "io", "irq" };

enum { RESOURCES = sizeof resources / sizeof resources[0] };

struct state {
	struct sonde_file *file[RESOURCES];
};

/* "avg10=0.00 avg60=0.00 avg300=0.00 total=0" of one kind, whose columns begin at `total`. */
static bool psi_values(struct cursor *line, struct sonde_row *row, uint32_t total)
{
	static const char *const averages[] = { "avg10=", "avg60=", "avg300=" };
	uint64_t value;

	for (uint32_t i = 0; i < sizeof averages / sizeof averages[0]; i++) {
		if (!find_key(line, averages[i]) || !next_fixed(line, 2, &value))
			return false;
		sonde_set_u64(row, total + SOME_AVG10 - SOME_TOTAL + i, value);
	}
	return find_key(line, "total=") && take_u64(line, row, total);
}

/* Lines that it does not know are a newer kernel's: passed over. 0, or -EBADMSG where a line that it knows lacks a value. */
static int psi_parse(const char *text, size_t length, struct sonde_row *row)
{
	struct cursor line = cursor(text, whole_words(text, length));

	while (next_line(&line)) {
		bool some = take_word(&line, "some");

		if (!some && !take_word(&line, "full"))
			continue;
		if (!psi_values(&line, row, some ? SOME_TOTAL : FULL_TOTAL))
			return -EBADMSG;
	}
	return 0;
}

/* Whether PSI is on shows only when it is read: where it is off by default the files are there and answer EOPNOTSUPP. */
static int start(struct sonde_instance *self)
{
	struct state *state = self->state;
	bool off = false;
	int found = 0;
	const char *text;

	for (int i = 0; i < RESOURCES; i++) {
		struct sonde_file *file =
			sonde_open(self, SONDE_KEEP, "/proc/pressure/%s", resources[i]);
		int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;

		off |= length == -EOPNOTSUPP || (!file && errno == EOPNOTSUPP);
		if (length >= 0) {
			state->file[i] = file;
			found++;
		} else {
			sonde_close(self, file);
		}
	}
	if (found)
		return 0;
	if (off)
		return sonde_unavailable(self, "PSI is off by default here: boot with psi=1");
	return sonde_unavailable(self, "no /proc/pressure: the kernel is older than 4.20, built "
				       "without CONFIG_PSI, or booted with psi=0");
}

/* A resource that cannot be read leaves the others as they are. */
static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	int err = 0, good = 0;

	for (int i = 0; i < RESOURCES; i++) {
		struct sonde_row row;
		const char *text;
		int64_t length;

		if (!state->file[i])
			continue;
		length = sonde_read(self, state->file[i], &text);
		if (length >= 0 && sonde_row(self, frame, 0, &row)) {
			sonde_set_str(&row, RESOURCE, resources[i]);
			length = psi_parse(text, (size_t)length, &row);
		}
		if (length < 0)
			err = (int)length;
		else
			good++;
	}
	if (!err || !good)
		return err;
	sonde_partial(self, frame);
	return 0;
}

SONDE_COLLECTOR(psi, "pressure stall information", sample, .tables = SONDE_TABLES(tables),
		.state_size = sizeof(struct state), .start = start);
