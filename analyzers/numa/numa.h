/* What the files of the analyzer `numa` share: its thresholds and its streams. */
#ifndef NUMA_H
#define NUMA_H

#include <sonde/judge.h>

struct conf {
	uint64_t limit; /* findings about processes and nodes */
	uint64_t hold;
	double misplaced, misplaced_critical, misplaced_cpu, misplaced_memory;
	double remote, remote_floor;
	double nonlocal, nonlocal_floor;
	double used, cache;
	double migrations;
};

enum {
	REMOTE,
	POLICY_MISS,
	NONLOCAL,
	MIGRATED,
	USED,
	FREE,
	TOTAL,
	CACHED,
	NODES,
	DISTANCES,
	BALANCING,
	PAGES,
	POLICIES,
	MAPPINGS,
	RAN_PROCESS,
	RAN_THREADS,
	STREAMS
};

extern const struct sonde_stream numa_streams[STREAMS];

enum { NODES_MOST = 64 }; /* of one machine: what numa_maps tells of at most, too */

/* The nodes that have CPUs or memory: their CPUs, and how far they are from one another; 0 where that is not known. */
struct nodes {
	uint32_t count;
	uint32_t number[NODES_MOST];
	const char *cpus[NODES_MOST]; /* a list as the kernel writes it */
	double free[NODES_MOST];      /* bytes, newest; -1: not known */
	double total[NODES_MOST];     /* likewise; 0: CPUs without memory */
	double distance[NODES_MOST][NODES_MOST];
};

/* The numbers that a series' key begins with; how many. */
uint32_t numa_numbers(const char *key, uint64_t *values, uint32_t most);
void numa_nodes(struct sonde_instance *self, struct nodes *nodes);
/* The index of the node of this number; NODES_MOST: there is none. */
uint32_t numa_node(const struct nodes *nodes, uint64_t number);

/* Whether a node with CPUs has no memory: whatever they allocate is another node's. */
bool numa_lacks_memory(const struct nodes *nodes, uint32_t node);

/* A process: where it has its memory, and where it ran. */
struct place {
	uint64_t pid, start;
	const char *label;
	double bytes, memory[NODES_MOST]; /* on each node: bytes, then the share */
	double time, ran[NODES_MOST];     /* on a CPU of each: ns, then the share */
	double explicit_bytes;            /* under a policy that somebody chose */
	double mismatch, distance, remote;
	struct sonde_held held;
};

enum { MAPPINGS_TOLD = 3 };

/* The mappings that have most of what lies where the process does not run, with their share of its memory, whose shares by node
 * `place` has. `names` keeps their names. */
void numa_prove_mappings(struct sonde_instance *self, const struct nodes *nodes,
			 const struct place *place, struct sonde_proof *proof,
			 struct sonde_words names[MAPPINGS_TOLD]);

/* Judges the processes. Whether one was found to be misplaced. */
bool numa_misplaced(struct sonde_instance *self, const struct nodes *nodes);
void numa_findings(struct sonde_instance *self, const struct nodes *nodes, bool misplaced);
void numa_metrics(struct sonde_instance *self, const struct nodes *nodes);

#endif
