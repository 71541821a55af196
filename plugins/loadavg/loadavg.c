/* loadavg: load averages and tasks (/proc/loadavg, Documentation/filesystems/proc.rst). */
#include <sonde/plugin.h>

enum { LOAD1, LOAD5, LOAD15, RUNNABLE, TASKS, LAST_PID };

#define AVERAGE(minutes)                                                                           \
	SONDE_U64, SONDE_GAUGE, SONDE_COUNT_CENTI("tasks"),                                        \
		.help = "Tasks that run, wait for a CPU or sleep uninterruptibly (disk, mutex), "  \
			"averaged over " minutes

static const struct sonde_column columns[] = {
	[LOAD1] = { "load1", AVERAGE("1 minute"), .origin = "word 1" },
	[LOAD5] = { "load5", AVERAGE("5 minutes"), .origin = "word 2" },
	[LOAD15] = { "load15", AVERAGE("15 minutes"), .origin = "word 3" },
	[RUNNABLE] = { "runnable", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("tasks"),
		       .origin = "word 4, before the slash",
		       .help = "Tasks that run or wait for a CPU at this instant; the reader is one" },
	[TASKS] = { "tasks", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("tasks"),
		    .origin = "word 4, behind the slash",
		    .help = "Tasks that exist: threads, not processes" },
	[LAST_PID] = { "last_pid", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "word 5",
		       .help = "Newest PID of the reader's PID namespace; wraps at kernel.pid_max" },
};

static const struct sonde_table tables[] = {
	{ "loadavg", SONDE_COLUMNS(columns), .origin = "/proc/loadavg",
	  .help = "Load averages: demand for CPUs and disks in one number; psi tells them apart." },
};

struct state {
	struct sonde_file *file;
};

/* "0.20 0.18 0.12 1/80 11206". 0, or -EBADMSG where the text is not of this form; what was read before stays. */
static int loadavg_parse(const char *text, size_t length, struct sonde_row *row)
{
	struct cursor line = cursor(text, whole_words(text, length));
	uint64_t value;

	next_line(&line);
	for (uint32_t slot = LOAD1; slot <= LOAD15; slot++) {
		if (!next_fixed(&line, 2, &value))
			return -EBADMSG;
		sonde_set_u64(row, slot, value);
	}
	if (!take_u64(&line, row, RUNNABLE) || !take(&line, "/") || !take_u64(&line, row, TASKS) ||
	    !take_u64(&line, row, LAST_PID))
		return -EBADMSG;
	return 0;
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;

	state->file = sonde_open(self, SONDE_KEEP, "/proc/loadavg");
	return state->file ? 0
			   : sonde_unavailable(self, "no /proc/loadavg: /proc is not mounted here");
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	struct sonde_row row;
	const char *text;
	int64_t length = sonde_read(self, state->file, &text);

	if (length < 0)
		return (int)length;
	return sonde_row(self, frame, 0, &row) ? loadavg_parse(text, (size_t)length, &row) : 0;
}

SONDE_COLLECTOR(loadavg, "load averages and tasks", sample, .tables = SONDE_TABLES(tables),
		.state_size = sizeof(struct state), .start = start);
