/* What the files of the analyzer `io` share: its thresholds and its streams. */
#ifndef IO_H
#define IO_H

#include <sonde/judge.h>

struct conf {
	uint64_t limit;
	uint64_t hold;
	double pressure, not_iowait;
};

enum {
	NOT_IOWAIT,
	PRESSURE,
	PRESSURE_FULL,
	MEMORY,
	UTILISATION,
	PROCESS,
	BUSY,
	QUEUE,
	READ,
	WRITTEN,
	WAIT,
	TRAFFIC,
	DROPS,
	ERRORS,
	STREAMS
};

/* Whether the i-th of these disks is a partition of another one of them. */
bool io_is_part_of_another(const struct sonde_series *series, uint32_t count, uint32_t i);

void io_pressure(struct sonde_instance *self);

#endif
