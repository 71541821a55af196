/* The largest stretches of a process's memory: what one mapping has on one node. All mappings of one file, and all of the heap, are
 * one; anonymous mappings are apart, by the address at which they begin. */
#ifndef NUMA_MAPS_STRETCHES_H
#define NUMA_MAPS_STRETCHES_H

#include <sonde/plugin.h>

enum {
	STRETCHES_MOST = 8,
	MAPPING_LENGTH = 80, /* of a longer path the end */
	MAPPING_NODES = 8,   /* on which one mapping is told to lie */
};

struct mapping_name {
	char text[MAPPING_LENGTH];
	uint32_t length;
};

struct stretch {
	struct mapping_name name;
	uint64_t node, bytes;
};

struct stretches {
	struct stretch item[STRETCHES_MOST];
	uint32_t count;
	/* The mapping that is being added, whose sum is known when the next begins. */
	struct mapping_name name;
	uint64_t node[MAPPING_NODES], bytes[MAPPING_NODES];
	uint32_t nnodes;
};

bool mapping_same(const struct mapping_name *a, const struct mapping_name *b);
void mapping_set(struct mapping_name *name, const char *text, size_t length);

/* Adds bytes of the mapping of this name; those of one mapping follow one another. */
void stretches_add(struct stretches *stretches, const struct mapping_name *name, uint64_t node,
		   uint64_t bytes);

/* After the last. */
void stretches_end(struct stretches *stretches);

#endif
