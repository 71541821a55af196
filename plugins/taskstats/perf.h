/* Births, execs, names, ends and CPU time of a command's tasks as records of perf events that all of them inherit
 * (perf_event_open(2): "MMAP layout", attr.task, attr.comm_exec, attr.inherit_stat). An ordinary user may, where
 * kernel.perf_event_paranoid is 2 or less. */
#ifndef PERF_H
#define PERF_H

#include <sonde/set.h>

#include "lives.h"

/* One CPU's records. What came after the moment up to which they are taken waits in `bytes`. */
struct perf_ring {
	uint32_t cpu;
	int fd;       /* -1: a recording is read back */
	void *mapped; /* NULL likewise */
	uint64_t used, at;
	char *bytes; /* of perf->bytes */
};

struct perf {
	struct sonde_file *online;
	struct set cpus; /* that have a ring, or of which was told that they have none */
	struct perf_ring *ring;
	char *bytes;
	uint32_t nrings, pages; /* pages: of each buffer */
	uint64_t room;          /* of each ring's bytes */
	bool counts;            /* CPU time too */
	bool locked;            /* an error was the buffer's */
};

/* The next record of those at *at into an event; `what` is LIFE_NOTHING for what is not known. False at the end, and where a
 * length is not true: then *at is the end. */
bool perf_next(const char *bytes, uint64_t length, uint64_t *at, struct life_event *event);

/* Only in start(): opens them for a process that waits for its exec; `counts`: CPU time too, where that costs little. 0 or a
 * negative errno. */
int perf_start(struct sonde_instance *self, struct perf *perf, uint32_t pid, bool counts);
void perf_stop(struct perf *perf);

/* All that came up to `until`, in the order of time. What is missing is a gap: records that were lost, and those of a CPU that came
 * online after the start, for which no task has an event. */
void perf_take(struct sonde_instance *self, struct perf *perf, struct lives *lives, uint64_t until);

/* What the error means and what would help, one line. */
void perf_why(struct sonde_instance *self, const struct perf *perf, int err, char *why,
	      size_t size);

#endif
