/* numa: memory on other nodes than the work: findings of docs/findings.md that begin with "numa.". */
#include <errno.h>
#include <stdlib.h>

#include "numa.h"

/* clang-format off */
static const struct sonde_option options[] = {
	{ "limit", SONDE_OPT_U64, offsetof(struct conf, limit), "8", NULL, 1, 100,
	  "findings of one kind about processes or nodes, the worst first: more would hide the rest of a report" },
	SONDE_TIME("hold", hold, "2s",
		   "time without a break before a finding holds: a single burst is not a problem"),
	SONDE_THRESHOLD("misplaced", misplaced, "0.30", 1,
			"mismatch of where a process ran and where its memory lies, 0 where both are alike, 1 where nothing is: below a third the gain is small"),
	SONDE_THRESHOLD("misplaced_critical", misplaced_critical, "0.6", 1,
			"the same, where it is critical: more than half of its accesses cross"),
	SONDE_THRESHOLD("misplaced_cpu", misplaced_cpu, "0.05", 1e6,
			"CPUs that a process has to use on average: one that hardly runs loses nothing"),
	SONDE_THRESHOLD("misplaced_memory", misplaced_memory, "268435456", 1e15,
			"bytes that it has to have: less stays in caches, or is libraries that others brought in"),
	SONDE_THRESHOLD("remote_alloc", remote, "0.10", 1,
			"share of allocations on another node than the task's: a tenth is more than the fringe of moving tasks"),
	SONDE_THRESHOLD("remote_alloc_floor", remote_floor, "1000", 1e9,
			"pages a second that have to be allocated: 4 MB a second and less is hardly felt"),
	SONDE_THRESHOLD("nonlocal", nonlocal, "0.30", 1,
			"share of NUMA hint faults for memory of another node: with more than that balancing does not keep up, or is not let"),
	SONDE_THRESHOLD("nonlocal_floor", nonlocal_floor, "100", 1e9,
			"hint faults a second that there have to be: fewer are no sample of the accesses"),
	SONDE_THRESHOLD("node_used", used, "0.97", 1,
			"share of a node's memory that is in use: with less than 3 % free, allocations go to other nodes"),
	SONDE_THRESHOLD("node_cache", cache, "0.5", 1,
			"share of a node's memory that is page cache, from which on a full node is not told: that gives way"),
	SONDE_THRESHOLD("migrations", migrations, "10000", 1e9,
			"pages a second that balancing moves: 40 MB a second, each with a fault and a flush of other CPUs' TLBs"),
};

static const struct sonde_catalogue catalogue[] = {
	{ "numa.process_misplaced", "a process runs on one node and has its memory on another",
	  "numa_maps.bytes numa.cpulist thread.processor | numa_maps.bytes numa.cpulist process.processor",
	  "misplaced misplaced_critical misplaced_cpu misplaced_memory hold limit" },
	{ "numa.remote_alloc", "memory is allocated on other nodes than the task's", "numa.other_node numa.local_node",
	  "remote_alloc remote_alloc_floor hold" },
	{ "numa.access_locality", "tasks reach for memory of other nodes", "vmstat.numa_hint_faults vmstat.numa_hint_faults_local",
	  "nonlocal nonlocal_floor hold" },
	{ "numa.node_exhausted", "a node is out of free memory", "numa_meminfo.mem_free numa_meminfo.mem_total",
	  "node_used node_cache hold limit" },
	{ "numa.migration_storm", "balancing moves very many pages", "vmstat.numa_pages_migrated",
	  "migrations hold" },
	{ "numa.balancing_off", "nothing moves memory to where it is used", "sysctl.number numa.other_node",
	  "misplaced remote_alloc" },
	{ "numa.single_node", "the machine has one node", "numa.node",
	  "" },
};
/* clang-format on */

uint32_t numa_numbers(const char *key, uint64_t *values, uint32_t most)
{
	uint32_t n = 0;
	char *end;

	for (; n < most; n++, key = end) {
		values[n] = strtoull(key, &end, 10);
		if (end == key)
			break;
	}
	return n;
}

uint32_t numa_node(const struct nodes *nodes, uint64_t number)
{
	for (uint32_t i = 0; i < nodes->count; i++)
		if (nodes->number[i] == number)
			return i;
	return NODES_MOST;
}

/* The newest value of each node, into `to`. */
static void read_nodes(struct sonde_instance *self, const struct nodes *nodes, uint32_t stream,
		       double *to)
{
	uint32_t count, node;
	const struct sonde_series *series = sonde_series(self, stream, &count);
	uint64_t number;

	for (uint32_t i = 0; i < count; i++)
		if (numa_numbers(series[i].key, &number, 1) == 1 &&
		    (node = numa_node(nodes, number)) < NODES_MOST)
			to[node] = series[i].total.last;
}

bool numa_lacks_memory(const struct nodes *nodes, uint32_t node)
{
	return nodes->total[node] == 0 && *nodes->cpus[node];
}

/* What a GPU has a number for, with neither CPUs nor memory, is no place for anything. */
static void leave_out_empty(struct nodes *nodes)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < nodes->count; i++) {
		if (nodes->total[i] == 0 && !*nodes->cpus[i])
			continue;
		nodes->number[kept] = nodes->number[i];
		nodes->free[kept] = nodes->free[i];
		nodes->total[kept] = nodes->total[i];
		nodes->cpus[kept++] = nodes->cpus[i];
	}
	nodes->count = kept;
}

void numa_nodes(struct sonde_instance *self, struct nodes *nodes)
{
	uint32_t count, from, to;
	const struct sonde_series *series = sonde_series(self, NODES, &count);
	uint64_t values[2];

	*nodes = (struct nodes) { 0 };
	for (uint32_t i = 0; i < count && nodes->count < NODES_MOST; i++) {
		const char *blank = strchr(series[i].key, ' ');

		/* A list that changed makes the node appear twice: either tells of it. */
		if (!blank || numa_numbers(series[i].key, values, 1) != 1 ||
		    numa_node(nodes, values[0]) != NODES_MOST)
			continue;
		nodes->number[nodes->count] = (uint32_t)values[0];
		nodes->free[nodes->count] = nodes->total[nodes->count] = -1;
		nodes->cpus[nodes->count++] = blank + 1;
	}
	read_nodes(self, nodes, FREE, nodes->free);
	read_nodes(self, nodes, TOTAL, nodes->total);
	leave_out_empty(nodes);
	series = sonde_series(self, DISTANCES, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (numa_numbers(series[i].key, values, 2) != 2)
			continue;
		from = numa_node(nodes, values[0]);
		to = numa_node(nodes, values[1]);
		if (from < NODES_MOST && to < NODES_MOST)
			nodes->distance[from][to] = series[i].total.last;
	}
}

static int judge(struct sonde_instance *self)
{
	struct nodes *nodes = calloc(1, sizeof *nodes);
	bool misplaced;

	if (!nodes)
		return -ENOMEM;
	numa_nodes(self, nodes);
	misplaced = numa_misplaced(self, nodes);
	numa_findings(self, nodes, misplaced);
	numa_metrics(self, nodes);
	free(nodes);
	return 0;
}

static const struct sonde_analyzer_ops ops = {
	.streams = SONDE_STREAMS(numa_streams),
	.catalogue = SONDE_CATALOGUE(catalogue),
	.judge = judge,
};

SONDE_ANALYZER(numa, "memory on other nodes than the work", ops, .options = SONDE_OPTIONS(options),
	       .conf_size = sizeof(struct conf));
