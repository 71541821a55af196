/* vmstat: what memory is used for, and how often what happened to it (/proc/vmstat, mm/vmstat.c). */
#include <sonde/plugin.h>

#include "columns.h"

static const struct sonde_table tables[] = {
	{ "vmstat", SONDE_COLUMNS(columns), .origin = "/proc/vmstat",
	  .help = "Virtual memory: pages by use, and events since boot." },
};

static int start(struct sonde_instance *self)
{
	return keyed_file_start(self, self->state, "/proc/vmstat", &tables[0],
				"CONFIG_VM_EVENT_COUNTERS or /proc is missing");
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	return keyed_file_sample(self, frame, self->state);
}

SONDE_COLLECTOR(vmstat, "virtual memory: pages by use and events since boot", sample,
		.tables = SONDE_TABLES(tables), .state_size = sizeof(struct keyed_file),
		.start = start);
