/* The collector's state and its three parts: the round of processes and the rows (numa_maps.c), adding up what the kernel
 * says of one (pages.c), and asking after some of its addresses where that would cost too much (sampled.c). */
#ifndef NUMA_MAPS_COLLECT_H
#define NUMA_MAPS_COLLECT_H

#define SONDE_USE_MINOR    1
#define SONDE_PLUGIN_FLAGS SONDE_COSTLY
#include <sonde/plugin.h>
#include <sonde/targets.h>

#include "pages.h"

enum { BATCH = 512, BATCH_MAPPINGS = 64 };

/* How what is known of a process came about. */
enum method { NOT_READ, READ, SAMPLED, METHODS };

struct conf {
	struct targets_conf targets;
	uint64_t budget;  /* ns */
	uint64_t ceiling; /* bytes */
	uint64_t samples; /* addresses asked after */
	uint32_t full;    /* bool */
};

/* What is known of the process on one seat. */
struct result {
	struct pages pages;
	uint64_t taken;    /* CLOCK_BOOTTIME, ns */
	uint64_t asked;    /* of SAMPLED: addresses */
	uint64_t interval; /* of SAMPLED: bytes of address space for which each stands */
	uint64_t space;    /* of SAMPLED: bytes of address space that may hold pages */
	enum method method;
};

/* The process that is being read: in parts, over several samples where the budget ends before it does. */
struct walk {
	struct sonde_file *file; /* NULL: there is none */
	uint32_t seat;
	struct result result;
	/* Of SAMPLED: what waits to be asked. */
	uint32_t nbatch;
	void *address[BATCH];
	uint8_t backing[BATCH], mapping[BATCH];
	struct mapping_name name[BATCH_MAPPINGS];
	uint32_t nnames;
};

struct state {
	struct targets targets;
	struct result *result; /* of each seat */
	struct walk walk;
	struct targets_budget budget;
	bool told_denied, told_ceiling;
};

/* Adds the mappings of a text of /proc/PID/maps: asks after one address in each interval. 0, or -EPERM, -ESRCH. */
int sampled_part(struct sonde_instance *self, struct walk *walk, const char *text, size_t length);

/* What still waits to be asked. 0, or -EPERM, -ESRCH. */
int sampled_end(struct sonde_instance *self, struct walk *walk);

/* The interval for the next time: `samples` addresses over a space of so many bytes. */
uint64_t sampled_interval(uint64_t space, uint64_t samples, uint64_t page_size);

/* "7f0000000000-7f0000200000 rw-p 00000000 00:00 0 [heap]": false where the mapping can hold no pages, or the line is none. */
bool sampled_mapping(struct cursor *line, uint64_t *start, uint64_t *end, enum backing *backing,
		     struct mapping_name *name);

#endif
