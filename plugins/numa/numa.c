/* numa: memory by node: its use, where allocations went, and how far the nodes are from each other
 * (/sys/devices/system/node; Documentation/ABI/stable/sysfs-devices-node, Documentation/admin-guide/numastat.rst). */
#include <sonde/plugin.h>
#include <sonde/set.h>

#include "meminfo.h"
#include "vmstat.h"

enum {
	NODE,
	CPULIST,
	HAS_MEMORY,
	TIER,
	READ_LATENCY,
	WRITE_LATENCY,
	READ_BANDWIDTH,
	WRITE_BANDWIDTH
};
enum { FROM, TO, DISTANCE };

#define PAGES(key, text)                                                                           \
	{                                                                                          \
#key, SONDE_U64, SONDE_COUNTER, SONDE_COUNT("pages"), .origin = #key, .help = text \
	}

/* clang-format off */
static const struct sonde_column numa_columns[] = {
	[NODE] = { "node", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "nodeN", .help = "NUMA node; numbers may have gaps" },
	[CPULIST] = { "cpulist", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "cpulist", .help = "CPUs of the node that are online, as a list; empty: memory without CPUs" },
	[HAS_MEMORY] = { "has_memory", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "../has_memory", .help = "1: the node has memory; absent where the kernel does not say" },
	[TIER] = { "tier", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "/sys/devices/virtual/memory_tiering/memory_tierN/nodelist", .help = "Tier of its memory: demotion moves pages to nodes of a higher number, which is slower; since 6.1" },
	[READ_LATENCY] = { "read_latency", SONDE_U64, SONDE_INFO, SONDE_NS, .origin = "access0/initiators/read_latency", .help = "From the nearest CPUs, as the firmware says (ACPI HMAT)" },
	[WRITE_LATENCY] = { "write_latency", SONDE_U64, SONDE_INFO, SONDE_NS, .origin = "access0/initiators/write_latency", .help = "Likewise" },
	[READ_BANDWIDTH] = { "read_bandwidth", SONDE_U64, SONDE_INFO, SONDE_MIB, .origin = "access0/initiators/read_bandwidth", .help = "In a second, from the nearest CPUs, as the firmware says" },
	[WRITE_BANDWIDTH] = { "write_bandwidth", SONDE_U64, SONDE_INFO, SONDE_MIB, .origin = "access0/initiators/write_bandwidth", .help = "Likewise" },
	PAGES(numa_hit, "Allocated here as wanted"),
	PAGES(numa_miss, "Allocated here although another node was wanted, which was short of memory"),
	PAGES(numa_foreign, "Wanted here, allocated on another node: this one was short of memory"),
	PAGES(interleave_hit, "Allocated here as an interleaving policy wanted"),
	PAGES(local_node, "Allocated here by a task that ran here"),
	PAGES(other_node, "Allocated here by a task that ran on another node; wanted or not"),
};

static const struct sonde_column distance_columns[] = {
	[FROM] = { "node", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "nodeN", .help = "From this node" },
	[TO] = { "to", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "../online", .help = "To this node: the file has one number for each node that is online, not for each number" },
	[DISTANCE] = { "distance", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "distance", .help = "As the firmware says; 10 is the node itself" },
};
/* clang-format on */

enum { TABLE_NUMA, TABLE_MEMINFO, TABLE_VMSTAT, TABLE_DISTANCE };

#define NODES_FOLDER "/sys/devices/system/node"

static const struct sonde_table tables[] = {
	[TABLE_NUMA] = { "numa", SONDE_COLUMNS(numa_columns),
			 .origin = NODES_FOLDER "/nodeN/numastat",
			 .help = "NUMA nodes: their CPUs, and where allocations went.",
			 .rows = 16 },
	[TABLE_MEMINFO] = { "numa_meminfo", SONDE_COLUMNS(meminfo_columns),
			    .origin = NODES_FOLDER "/nodeN/meminfo",
			    .help = "Memory of each node by use; the parts overlap.", .rows = 16 },
	[TABLE_VMSTAT] = { "numa_vmstat", SONDE_COLUMNS(vmstat_columns),
			   .origin = NODES_FOLDER "/nodeN/vmstat",
			   .help = "Pages of each node by use, and reclaim's work on them.",
			   .rows = 16 },
	[TABLE_DISTANCE] = { "numa_distance", SONDE_COLUMNS(distance_columns),
			     .origin = NODES_FOLDER "/nodeN/distance",
			     .help = "How far nodes are from each other.", .rows = 64 },
};

enum { NODES = 1024, TIERS = 64 }; /* MAX_NUMNODES at most */

struct node {
	uint32_t id;
	uint32_t skip; /* length of "Node N ", with which the lines of its meminfo begin */
	bool online;
	uint64_t info[WRITE_BANDWIDTH +
		      1]; /* from TIER on; what does not change while it is online */
	uint32_t known;   /* bits of those that are there */
	struct sonde_file *numastat, *meminfo, *vmstat, *cpulist, *distance;
};

/* One of the files of each node: its keys, as the first node has them that has it, and what it was in the sample before. */
struct kind {
	struct keyed keyed;
	void *last;
};

struct state {
	struct sonde_file *online_file, *has_memory_file;
	struct node *nodes;
	uint32_t count, capacity;
	struct set online;
	struct kind numastat, meminfo, vmstat;
};

/* "10 21 21": one number for each node that is online, in order. Each into `distance` at the node's number; returns how many,
 * or -EBADMSG where the text has more or fewer than there are such nodes: the two were not read at one moment. */
static int distance_parse(const char *text, size_t length, const struct set *online,
			  uint64_t distance[NODES])
{
	struct cursor c = cursor(text, whole_words(text, length));
	const char *more;
	int count = 0;

	next_line(&c);
	for (EACH_IN_SET(node, online)) {
		if (node >= NODES || !next_u64(&c, &distance[node]))
			return -EBADMSG;
		count++;
	}
	return next_word(&c, &more) ? -EBADMSG : count;
}

static bool read_set(struct sonde_instance *self, struct sonde_file *file, struct set *set)
{
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;

	return length >= 0 && list_parse(text, (size_t)length, set);
}

static void close_node(struct sonde_instance *self, struct node *node)
{
	sonde_close(self, node->numastat);
	sonde_close(self, node->meminfo);
	sonde_close(self, node->vmstat);
	sonde_close(self, node->cpulist);
	sonde_close(self, node->distance);
}

/* How fast its memory is for the CPUs nearest to it (Documentation/admin-guide/mm/numaperf.rst). */
static void read_access(struct sonde_instance *self, struct node *node)
{
	for (uint32_t i = READ_LATENCY; i <= WRITE_BANDWIDTH; i++) {
		struct sonde_file *file = sonde_open(self, SONDE_FRESH, NODES_FOLDER "/node%u/%s",
						     node->id, numa_columns[i].origin);
		const char *text;
		int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;
		struct cursor c = whole(length > 0 ? text : "", length > 0 ? (size_t)length : 0);

		sonde_close(self, file);
		if (next_u64(&c, &node->info[i]))
			node->known |= 1u << i;
	}
}

static void open_node(struct sonde_instance *self, struct node *node, uint32_t id)
{
	node->id = id;
	node->skip = (uint32_t)snprintf(NULL, 0, "Node %u ", id);
	node->online = true;
	node->numastat = sonde_open(self, SONDE_KEEP, NODES_FOLDER "/node%u/numastat", id);
	node->meminfo = sonde_open(self, SONDE_KEEP, NODES_FOLDER "/node%u/meminfo", id);
	node->vmstat = sonde_open(self, SONDE_KEEP, NODES_FOLDER "/node%u/vmstat", id);
	node->cpulist = sonde_open(self, SONDE_KEEP, NODES_FOLDER "/node%u/cpulist", id);
	node->distance = sonde_open(self, SONDE_KEEP, NODES_FOLDER "/node%u/distance", id);
	read_access(self, node);
}

/* Ids of the folders nodeN: they are the nodes, whatever their numbers. */
static void list_nodes(struct sonde_instance *self, struct set *set)
{
	const char *name;
	int64_t left = sonde_list(self, NODES_FOLDER, &name);
	uint64_t id;

	*set = (struct set) { { 0 } };
	for (; left > 0; left--, name += strlen(name) + 1) {
		struct cursor c = whole(name, strlen(name));

		if (take(&c, "node") && next_u64(&c, &id) && c.at == c.end)
			add_to_set(set, id);
	}
}

static struct node *find_node(struct state *state, uint32_t id)
{
	for (uint32_t i = 0; i < state->count; i++)
		if (state->nodes[i].id == id)
			return &state->nodes[i];
	return NULL;
}

/* The tier that a node's memory belongs to, into its info. */
static void read_tiers(struct sonde_instance *self, struct state *state)
{
	static const char folder[] = "/sys/devices/virtual/memory_tiering";
	uint64_t tiers[TIERS], count = 0;
	const char *name;
	int64_t left = sonde_list(self, folder, &name);

	for (; left > 0 && count < TIERS; left--, name += strlen(name) + 1) {
		struct cursor c = whole(name, strlen(name));

		count += take(&c, "memory_tier") && next_u64(&c, &tiers[count]) && c.at == c.end;
	}
	for (uint64_t t = 0; t < count; t++) {
		struct sonde_file *file =
			sonde_open(self, SONDE_FRESH, "%s/memory_tier%llu/nodelist", folder,
				   (unsigned long long)tiers[t]);
		struct set nodes;
		bool read = read_set(self, file, &nodes);

		sonde_close(self, file);
		for (uint32_t i = 0; read && i < state->count; i++) {
			if (!in_set(&nodes, state->nodes[i].id))
				continue;
			state->nodes[i].info[TIER] = tiers[t];
			state->nodes[i].known |= 1u << TIER;
		}
	}
}

/* Opens what came online, and anew what had gone: files of a node that went away stay dead when it returns. */
static void scan(struct sonde_instance *self, struct state *state)
{
	struct set present;

	list_nodes(self, &present);
	for (uint32_t id = 0; id < NODES; id++) {
		bool online = in_set(&present, id) && in_set(&state->online, id);
		struct node *node = find_node(state, id);

		if (node && node->online && !online) {
			close_node(self, node);
			*node = (struct node) { .id = id };
		} else if (online && node && !node->online) {
			open_node(self, node, id);
		} else if (online && !node && state->count < state->capacity) {
			open_node(self, &state->nodes[state->count++], id);
		}
	}
	read_tiers(self, state);
}

/* Learns the keys of one file of a node, unless they are known. */
static int learn(struct sonde_instance *self, struct kind *kind, uint32_t table,
		 struct sonde_file *file, size_t skip)
{
	const struct state *state = self->state;
	const char *text;
	int64_t length = kind->keyed.count || !file ? 0 : sonde_read(self, file, &text);
	int err;

	if (length <= 0)
		return 0;
	err = keyed_start(self, &kind->keyed, &tables[table], text, (size_t)length, skip);
	return err ? err : keyed_keep(self, &kind->keyed, &kind->last, state->capacity);
}

static int learn_all(struct sonde_instance *self, struct state *state)
{
	int err = 0;

	for (uint32_t i = 0; i < state->count && !err; i++) {
		struct node *node = &state->nodes[i];

		err = learn(self, &state->numastat, TABLE_NUMA, node->numastat, 0);
		if (!err)
			err = learn(self, &state->meminfo, TABLE_MEMINFO, node->meminfo,
				    node->skip);
		if (!err)
			err = learn(self, &state->vmstat, TABLE_VMSTAT, node->vmstat, 0);
	}
	return err;
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct set present, possible;
	struct sonde_file *file = sonde_open(self, SONDE_KEEP, NODES_FOLDER "/possible");
	int err;

	list_nodes(self, &present);
	state->capacity = set_count(&present);
	if (!state->capacity)
		return sonde_unavailable(self, "no " NODES_FOLDER ": the kernel is built without "
					       "CONFIG_NUMA, all memory is one node");
	if (read_set(self, file, &possible) && set_count(&possible) > state->capacity)
		state->capacity = set_count(&possible);
	sonde_close(self, file);
	err = sonde_grow(self, &state->nodes, state->capacity * sizeof state->nodes[0]);
	if (err)
		return err;
	state->online_file = sonde_open(self, SONDE_KEEP, NODES_FOLDER "/online");
	state->has_memory_file = sonde_open(self, SONDE_KEEP, NODES_FOLDER "/has_memory");
	if (!read_set(self, state->online_file, &state->online))
		state->online = present;
	scan(self, state);
	return learn_all(self, state);
}

static struct keyed_last last_of(const struct state *state, const struct kind *kind,
				 const struct node *node)
{
	return keyed_last(&kind->keyed, kind->last, (uint32_t)(node - state->nodes));
}

static void sample_numa(struct sonde_instance *self, struct sonde_frame *frame,
			const struct state *state, const struct node *node,
			const struct set *has_memory)
{
	struct sonde_row row;
	const char *text;
	int64_t length;

	if (!sonde_row(self, frame, TABLE_NUMA, &row))
		return;
	sonde_set_u64(&row, NODE, node->id);
	if (has_memory)
		sonde_set_u64(&row, HAS_MEMORY, in_set(has_memory, node->id));
	for (uint32_t i = TIER; i <= WRITE_BANDWIDTH; i++)
		if (node->known >> i & 1)
			sonde_set_u64(&row, i, node->info[i]);
	length = node->cpulist ? sonde_read(self, node->cpulist, &text) : -ENOENT;
	if (length > 0 && text[length - 1] == '\n')
		length--;
	if (length >= 0)
		sonde_set_bytes(&row, CPULIST, text, (size_t)length);
	length = node->numastat ? sonde_read(self, node->numastat, &text) : -ENOENT;
	if (length >= 0)
		keyed_parse(&state->numastat.keyed, last_of(state, &state->numastat, node), text,
			    (size_t)length, 0, &row, NULL);
}

/* Of one file of a node. Where it is there and cannot be read just now, its row has not ended. */
static void sample_keyed(struct sonde_instance *self, struct sonde_frame *frame,
			 const struct kind *kind, uint32_t table, const struct node *node,
			 struct sonde_file *file, size_t skip)
{
	const struct state *state = self->state;
	uint64_t key = node->id;
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;

	if (length >= 0)
		keyed_rows(self, frame, &kind->keyed, last_of(state, kind, node), table, &key, text,
			   (size_t)length, skip);
	else if (file)
		sonde_partial(self, frame);
}

static void sample_distance(struct sonde_instance *self, struct sonde_frame *frame,
			    const struct state *state, const struct node *node)
{
	uint64_t distance[NODES];
	struct sonde_row row;
	const char *text;
	int64_t length = node->distance ? sonde_read(self, node->distance, &text) : -ENOENT;

	if (length < 0 || distance_parse(text, (size_t)length, &state->online, distance) < 0)
		return;
	for (EACH_IN_SET(to, &state->online)) {
		if (!sonde_row(self, frame, TABLE_DISTANCE, &row))
			continue;
		sonde_set_u64(&row, FROM, node->id);
		sonde_set_u64(&row, TO, to);
		sonde_set_u64(&row, DISTANCE, distance[to]);
	}
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	struct set online, has_memory;
	bool knows_memory;

	if (read_set(self, state->online_file, &online) &&
	    memcmp(&online, &state->online, sizeof online) != 0) {
		state->online = online;
		scan(self, state);
	}
	knows_memory = read_set(self, state->has_memory_file, &has_memory);
	for (uint32_t i = 0; i < state->count; i++) {
		const struct node *node = &state->nodes[i];

		if (!node->online)
			continue;
		sample_numa(self, frame, state, node, knows_memory ? &has_memory : NULL);
		sample_keyed(self, frame, &state->meminfo, TABLE_MEMINFO, node, node->meminfo,
			     node->skip);
		sample_keyed(self, frame, &state->vmstat, TABLE_VMSTAT, node, node->vmstat, 0);
		sample_distance(self, frame, state, node);
	}
	return 0;
}

SONDE_COLLECTOR(numa, "memory by NUMA node", sample, .tables = SONDE_TABLES(tables),
		.state_size = sizeof(struct state), .start = start);
