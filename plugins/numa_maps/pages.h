/* What /proc/PID/numa_maps says of a process, added up (numa(7), fs/proc/task_mmu.c). */
#ifndef NUMA_MAPS_PAGES_H
#define NUMA_MAPS_PAGES_H

#include <sonde/plugin.h>

#include "stretches.h"

/* What lies behind a mapping. */
enum backing { ANON, HEAP, STACK, FILE_OR_SHM, HUGETLB, BACKINGS };

/* Keys of a line that count pages of its mapping, whatever their node. */
enum counted { COUNT_ANON, COUNT_DIRTY, COUNT_SWAPCACHE, COUNT_WRITEBACK, COUNTS };

enum {
	NODES_MOST = 64,    /* nodes that hold memory of one process; their numbers may be any */
	POLICIES_MOST = 16, /* different ones of one process; the last stands for all others */
	POLICY_LENGTH = 48,
};

struct policy {
	char text[POLICY_LENGTH];
	uint32_t length;
	uint32_t mappings;
	uint64_t bytes;
};

/* All in bytes: lines count pages of kernelpagesize_kB. */
struct pages {
	uint64_t bytes[NODES_MOST][BACKINGS];
	uint32_t node[NODES_MOST]; /* numbers of the nodes, in the order in which they were met */
	struct policy policy[POLICIES_MOST];
	struct stretches stretches;
	uint64_t counted[COUNTS];
	uint64_t total;
	uint64_t mappings;
	uint64_t mapmax; /* most processes that map one page */
	uint32_t nnodes, npolicies;
};

/* Adds the lines of a text, which may be any whole lines of the file. Those of another form are passed over, and so are words
 * that are not known. `page_size`, bytes, is for old kernels, whose lines do not say it; 0: not known, they count for nothing. */
void pages_parse(const char *text, size_t length, uint64_t page_size, struct pages *pages);

/* Adds to one node. False: it is one node too many. */
bool pages_add(struct pages *pages, uint64_t node, enum backing backing, uint64_t bytes);

#endif
