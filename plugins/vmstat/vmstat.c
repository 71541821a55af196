/* vmstat: what memory is used for, and how often what happened to it (/proc/vmstat, mm/vmstat.c). */
#include <sonde/plugin.h>

#include "columns.h"

static const struct sonde_table tables[] = {
	{ "vmstat", SONDE_COLUMNS(columns), .origin = "/proc/vmstat",
	  .help = "Virtual memory: pages by use, and events since boot." },
};

struct state {
	struct sonde_file *file;
	struct keyed keyed;
	void *last;
};

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;
	const char *text;
	int64_t length;
	int err;

	state->file = sonde_open(self, SONDE_KEEP, "/proc/vmstat");
	if (!state->file)
		return sonde_unavailable(
			self, "no /proc/vmstat: CONFIG_VM_EVENT_COUNTERS or /proc is missing");
	length = sonde_read(self, state->file, &text);
	if (length < 0)
		return (int)length;
	err = keyed_start(self, &state->keyed, &tables[0], text, (size_t)length, 0);
	return err ? err : keyed_keep(self, &state->keyed, &state->last, 1);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	const char *text;
	int64_t length = sonde_read(self, state->file, &text);

	if (length < 0)
		return (int)length;
	keyed_rows(self, frame, &state->keyed, keyed_last(&state->keyed, state->last, 0), 0, NULL,
		   text, (size_t)length, 0);
	return 0;
}

SONDE_COLLECTOR(vmstat, "virtual memory: pages by use and events since boot", sample,
		.tables = SONDE_TABLES(tables), .state_size = sizeof(struct state), .start = start);
