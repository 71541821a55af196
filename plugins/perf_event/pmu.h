/* PMUs as the kernel describes them (Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events). */
#ifndef PMU_H
#define PMU_H

#include "perf_event.h"

#define PMU_FOLDER "/sys/bus/event_source/devices"

/* The first line of a file, without its LF. False where it can't be read; cut to `size`. */
SONDE_PRINTF(4, 5)
bool pmu_line(struct sonde_instance *self, char *line, size_t size, const char *format, ...);

/* Reads a PMU by its name. 0, or -ENOENT. */
int pmu_load(struct sonde_instance *self, const char *name, struct pmu *pmu);

/* "config:0-7,32-35": the bits of a value, from the lowest on, into their places. False where the text is none such or the
 * value has more bits. */
bool pmu_place(const char *format, size_t length, uint64_t value, struct encoding *code);

/* "event=0x3c,umask=1" or the name of one of the PMU's own events into `code`; a name= in it into `column`, and what the
 * PMU says of its own event's unit into `meaning`. 0, or -EINVAL with why. */
int pmu_terms(struct sonde_instance *self, const struct pmu *pmu, const char *terms, size_t length,
	      struct encoding *code, struct meaning *meaning, char *column, char *why);

/* "2.3283064365386962890625e-10" and "Joules" as unit and scale of a column. */
void pmu_scale(const char *scale, const char *unit, struct meaning *meaning);

#endif
