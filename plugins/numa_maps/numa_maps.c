/* numa_maps: on which nodes the memory of processes lies, by what is behind it and by policy (/proc/PID/numa_maps, numa(7)).
 *
 * The kernel walks every page of the process for it and holds its memory lock meanwhile. So: a few processes, the largest,
 * one after the other, as far as the budget of a sample goes; a process larger than the ceiling is sampled. */
#include "collect.h"

enum { PID, START_TIME, NODE, NODE_COMM, NODE_BYTES, NODE_BACKING };
enum {
	COMM = 2,
	METHOD,
	TAKEN,
	RESIDENT,
	BYTES,
	MAPPINGS,
	COUNTED,
	MAPMAX = COUNTED + COUNTS,
	ASKED,
	INTERVAL,
};
enum { POLICY = 2, POLICY_BYTES, POLICY_MAPPINGS };
enum { MAPPING = 3, MAPPING_BYTES };
enum { TABLE_NODE, TABLE_PROCESS, TABLE_POLICY, TABLE_MAPPING };

/* Of its memory a stretch has to be one part in so many to have a row. */
enum { SMALLEST_PART = 100 };
enum { PART = 32 << 10 }; /* bytes of text after which the clock is read */

/* clang-format off */
#define IDENTITY                                                                                                                                      \
	[PID]        = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "PID", .help = "with start_time the identity: the kernel reuses the number" }, \
	[START_TIME] = { "start_time", SONDE_U64, SONDE_KEY, SONDE_TICKS, .origin = "stat field 22", .help = "time after boot at which it started" }
#define NAME \
	{ "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "stat field 2", .help = "name of the leader thread", .sensitivity = SONDE_NAME }
#define MEMORY(name, from, text) \
	{ name, SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = from, .help = text }

static const struct sonde_column node_columns[] = {
	IDENTITY,
	[NODE]       = { "node", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "N<node>=", .help = "NUMA node" },
	[NODE_COMM]  = NAME,
	[NODE_BYTES] = MEMORY("bytes", "N<node>= x kernelpagesize_kB", "memory of the process on this node; shared pages count in each process; an estimate where numa_maps_process.method is sampled"),
	[NODE_BACKING + ANON]        = MEMORY("anon", "lines without file, heap, stack, huge", "of it in anonymous mappings"),
	[NODE_BACKING + HEAP]        = MEMORY("heap", "lines with heap", "of it in the heap (brk)"),
	[NODE_BACKING + STACK]       = MEMORY("stack", "lines with stack", "of it in the stack of the first thread"),
	[NODE_BACKING + FILE_OR_SHM] = MEMORY("file", "lines with file=", "of it in mappings of files and shared memory, private copies included"),
	[NODE_BACKING + HUGETLB]     = MEMORY("hugetlb", "lines with huge", "of it from the pools of huge pages, which resident memory does not hold"),
};

static const struct sonde_column process_columns[] = {
	IDENTITY,
	[COMM]     = NAME,
	[METHOD]   = { "method", SONDE_STR, SONDE_STATE, SONDE_NONE, .origin = "sonde", .help = "read: all of numa_maps; sampled: estimated from some addresses; none: not read so far, not permitted, or larger than the ceiling where it can't be sampled" },
	[TAKEN]    = { "taken", SONDE_U64, SONDE_INFO, SONDE_NS, .origin = "CLOCK_BOOTTIME", .help = "when that was finished; values stay until it is read again" },
	[RESIDENT] = MEMORY("resident", "stat field 24", "resident memory at this sample, without hugetlb; the kernel rounds it"),
	[BYTES]    = MEMORY("bytes", "all N<node>=", "memory found, on all nodes"),
	[MAPPINGS] = { "mappings", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("mappings"), .origin = "lines", .help = "mappings of the address space" },
	[COUNTED + COUNT_ANON]      = MEMORY("anon", "anon=", "anonymous pages, private copies of files included; absent where sampled"),
	[COUNTED + COUNT_DIRTY]     = MEMORY("dirty", "dirty=", "pages written to; absent where sampled"),
	[COUNTED + COUNT_SWAPCACHE] = MEMORY("swapcache", "swapcache=", "pages that have a copy in swap; absent where sampled"),
	[COUNTED + COUNT_WRITEBACK] = MEMORY("writeback", "writeback=", "pages being written out; absent where sampled"),
	[MAPMAX]   = { "mapmax", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("processes"), .origin = "mapmax=", .help = "most processes that map one and the same page; absent where none is shared" },
	[ASKED]    = { "sampled", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("addresses"), .origin = "move_pages(2)", .help = "addresses asked after; those without a page are among them" },
	[INTERVAL] = MEMORY("interval", "move_pages(2)", "address space between two of them: what each page found stands for"),
};

static const struct sonde_column policy_columns[] = {
	IDENTITY,
	[POLICY]          = { "policy", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "second word", .help = "memory policy as the kernel writes it: default, bind:1, prefer (many):0-1...; other: more than fifteen different ones" },
	[POLICY_BYTES]    = MEMORY("bytes", "N<node>=", "memory in mappings of this policy"),
	[POLICY_MAPPINGS] = { "mappings", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("mappings"), .origin = "lines", .help = "mappings of this policy" },
};

static const struct sonde_column mapping_columns[] = {
	IDENTITY,
	[NODE]          = { "node", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "N<node>=", .help = "NUMA node" },
	[MAPPING]       = { "mapping", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "file=, heap, stack, address", .help = "the file's path, as the kernel escapes it (the end of a long one); heap, stack; of anonymous memory the address at which it begins", .sensitivity = SONDE_PATH },
	[MAPPING_BYTES] = MEMORY("bytes", "N<node>= x kernelpagesize_kB", "memory of this mapping on this node, all mappings of one file together"),
};

static const struct sonde_table tables[] = {
	[TABLE_NODE] = { "numa_maps", SONDE_COLUMNS(node_columns), .origin = "/proc/PID/numa_maps",
			 .help = "memory of processes by NUMA node; the largest processes, those that the options choose", .rows = 256 },
	[TABLE_PROCESS] = { "numa_maps_process", SONDE_COLUMNS(process_columns), .origin = "/proc/PID/numa_maps",
			    .help = "how the memory of a process by node is known, and what numa_maps says of all of it", .rows = 64 },
	[TABLE_POLICY] = { "numa_maps_policy", SONDE_COLUMNS(policy_columns), .origin = "/proc/PID/numa_maps",
			   .help = "memory of processes by memory policy; not of those that are sampled", .rows = 256 },
	[TABLE_MAPPING] = { "numa_maps_mapping", SONDE_COLUMNS(mapping_columns), .origin = "/proc/PID/numa_maps",
			    .help = "the largest parts of a process's memory that one mapping has on one node: eight at most, each a hundredth of it and more", .rows = 256 },
};
/* clang-format on */

static const struct sonde_option options[] = {
	TARGETS_OPTIONS(conf, targets, "32"),
	{ "budget", SONDE_OPT_DURATION, offsetof(struct conf, budget), "20ms", NULL, 1e5, 60e9,
	  "time a sample may spend on memory: processes beyond it have their turn in the next" },
	{ "ceiling", SONDE_OPT_SIZE, offsetof(struct conf, ceiling), "1GiB", NULL, 0, 0,
	  "a process with more resident memory is sampled: 1 GiB of small pages locks it for 5 ms" },
	{ "samples", SONDE_OPT_U64, offsetof(struct conf, samples), "16384", NULL, 64, 1 << 20,
	  "of a process that is sampled: addresses asked after" },
	{ "full", SONDE_OPT_BOOL, offsetof(struct conf, full), "no", NULL, 0, 0,
	  "reads all of every process, however large" },
};

/* ---- One process */

static bool is_too_large(const struct conf *conf, const struct target *seat)
{
	return !conf->full && seat->resident > conf->ceiling;
}

static void tell_denied(struct sonde_instance *self, const char *what)
{
	struct state *state = self->state;

	if (!state->told_denied)
		sonde_note(self, "processes of other users can't be %s: it needs CAP_SYS_PTRACE",
			   what);
	state->told_denied = true;
}

/* Opens what is to be read of the process on a seat. False: nothing can be. */
static bool begin(struct sonde_instance *self, uint32_t seat)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	const struct target *one = &state->targets.seat[seat];
	struct walk *walk = &state->walk;
	bool sampled = is_too_large(conf, one);
	const char *file = sampled ? "maps" : "numa_maps";

	state->targets.seat[seat].read_at = state->targets.pass;
	if (sampled && *self->root) {
		if (!state->told_ceiling)
			sonde_note(self,
				   "processes larger than ceiling are not read under root =: "
				   "move_pages(2) knows only the processes of this namespace; "
				   "full = yes reads them");
		state->told_ceiling = true;
		return false;
	}
	walk->file = sonde_open(self, SONDE_FRESH, "/proc/%u/%s", one->pid, file);
	if (!walk->file && errno == EACCES)
		tell_denied(self, "read");
	walk->seat = seat;
	walk->nbatch = walk->nnames = 0;
	walk->result = (struct result) { .method = sampled ? SAMPLED : READ };
	if (sampled) {
		uint64_t space = state->result[seat].space;

		walk->result.interval = sampled_interval(space ? space : one->space, conf->samples,
							 state->targets.page_size);
	}
	return walk->file != NULL;
}

static void end(struct sonde_instance *self)
{
	struct walk *walk = &((struct state *)self->state)->walk;

	sonde_close(self, walk->file);
	walk->file = NULL;
}

/* Reads on in the process that is being read. */
static void go_on(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct walk *walk = &state->walk;
	struct result *result = &walk->result;
	const char *text;
	int64_t length = sonde_read_lines(self, walk->file, PART, &text);
	int err = length < 0 ? (int)length : 0;

	if (length > 0 && result->method == READ)
		pages_parse(text, (size_t)length, state->targets.page_size, &result->pages);
	else if (length > 0)
		err = sampled_part(self, walk, text, (size_t)length);
	else if (!err && result->method == SAMPLED)
		err = sampled_end(self, walk);
	if (err == -EPERM || err == -EACCES)
		tell_denied(self, result->method == READ ? "read" : "sampled");
	if (length > 0 && !err)
		return;
	/* Nothing at all: it ended, or executes another program just now. */
	if (!err && result->pages.mappings) {
		stretches_end(&result->pages.stretches);
		result->taken = sonde_now(self);
		state->result[walk->seat] = *result;
	}
	end(self);
}

static void read_some(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	int64_t seat;

	do {
		if (!state->walk.file) {
			seat = targets_next(&state->targets);
			if (seat < 0)
				return;
			if (!begin(self, (uint32_t)seat))
				continue;
		}
		go_on(self);
	} while (targets_time(self, &state->budget, conf->budget));
}

/* ---- Rows */

static void set_identity(struct sonde_row *row, const struct target *seat)
{
	sonde_set_u64(row, PID, seat->pid);
	sonde_set_u64(row, START_TIME, seat->start);
}

static void emit_node(struct sonde_instance *self, struct sonde_frame *frame,
		      const struct target *seat, const struct pages *pages, uint32_t n)
{
	struct sonde_row row;
	uint64_t bytes = 0;

	if (!sonde_row(self, frame, TABLE_NODE, &row))
		return;
	set_identity(&row, seat);
	sonde_set_u64(&row, NODE, pages->node[n]);
	sonde_set_bytes(&row, NODE_COMM, seat->comm, seat->comm_length);
	for (uint32_t i = 0; i < BACKINGS; i++) {
		sonde_set_u64(&row, NODE_BACKING + i, pages->bytes[n][i]);
		bytes += pages->bytes[n][i];
	}
	sonde_set_u64(&row, NODE_BYTES, bytes);
}

static void emit_policy(struct sonde_instance *self, struct sonde_frame *frame,
			const struct target *seat, const struct policy *policy)
{
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_POLICY, &row))
		return;
	set_identity(&row, seat);
	sonde_set_bytes(&row, POLICY, policy->text, policy->length);
	sonde_set_u64(&row, POLICY_BYTES, policy->bytes);
	sonde_set_u64(&row, POLICY_MAPPINGS, policy->mappings);
}

static void emit_stretch(struct sonde_instance *self, struct sonde_frame *frame,
			 const struct target *seat, const struct stretch *stretch)
{
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_MAPPING, &row))
		return;
	set_identity(&row, seat);
	sonde_set_u64(&row, NODE, stretch->node);
	sonde_set_bytes(&row, MAPPING, stretch->name.text, stretch->name.length);
	sonde_set_u64(&row, MAPPING_BYTES, stretch->bytes);
}

static void emit_process(struct sonde_instance *self, struct sonde_frame *frame,
			 const struct target *seat, const struct result *result)
{
	static const char *const methods[METHODS] = { "none", "read", "sampled" };
	const struct pages *pages = &result->pages;
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_PROCESS, &row))
		return;
	set_identity(&row, seat);
	sonde_set_bytes(&row, COMM, seat->comm, seat->comm_length);
	sonde_set_str(&row, METHOD, methods[result->method]);
	if (self->header->page_size)
		sonde_set_u64(&row, RESIDENT, seat->resident);
	if (result->method == NOT_READ)
		return;
	sonde_set_u64(&row, TAKEN, result->taken);
	sonde_set_u64(&row, BYTES, pages->total);
	sonde_set_u64(&row, MAPPINGS, pages->mappings);
	for (uint32_t i = 0; i < COUNTS && result->method == READ; i++)
		sonde_set_u64(&row, COUNTED + i, pages->counted[i]);
	if (pages->mapmax)
		sonde_set_u64(&row, MAPMAX, pages->mapmax);
	if (result->method != SAMPLED)
		return;
	sonde_set_u64(&row, ASKED, result->asked);
	sonde_set_u64(&row, INTERVAL, result->interval);
}

static void emit(struct sonde_instance *self, struct sonde_frame *frame, const struct target *seat,
		 const struct result *result)
{
	const struct pages *pages = &result->pages;

	emit_process(self, frame, seat, result);
	for (uint32_t i = 0; i < pages->nnodes; i++)
		emit_node(self, frame, seat, pages, i);
	for (uint32_t i = 0; i < POLICIES_MOST; i++)
		if (pages->policy[i].mappings)
			emit_policy(self, frame, seat, &pages->policy[i]);
	for (uint32_t i = 0; i < pages->stretches.count; i++)
		if (pages->stretches.item[i].bytes >= pages->total / SMALLEST_PART)
			emit_stretch(self, frame, seat, &pages->stretches.item[i]);
}

/* ---- Life */

static int check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	return targets_check(self, &conf->targets);
}

/* Of process 1, since it is always there, if it is to be seen at all. */
static bool has_numa_maps(struct sonde_instance *self)
{
	struct sonde_file *stat = sonde_open(self, SONDE_FRESH, "/proc/1/stat");
	struct sonde_file *maps = sonde_open(self, SONDE_FRESH, "/proc/1/numa_maps");
	bool has = !stat || maps || errno != ENOENT;

	sonde_close(self, stat);
	sonde_close(self, maps);
	return has;
}

static int start(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	int err = targets_start(self, &state->targets, &conf->targets);

	if (err)
		return err;
	if (!has_numa_maps(self))
		return sonde_unavailable(self,
					 "no /proc/PID/numa_maps: the kernel is built without "
					 "CONFIG_NUMA");
	return sonde_grow(self, &state->result, state->targets.nseats * sizeof *state->result);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct targets *targets = &state->targets;
	int err;

	err = targets_update(self, targets, &conf->targets);
	if (err)
		return err;
	for (uint32_t i = 0; i < targets->nseats; i++)
		if (targets->seat[i].fresh)
			state->result[i] = (struct result) { 0 };
	if (state->walk.file &&
	    (!targets->seat[state->walk.seat].pid || targets->seat[state->walk.seat].fresh))
		end(self);
	targets_begin(self, &state->budget);
	read_some(self);
	for (uint32_t i = 0; i < targets->nseats; i++)
		if (targets->seat[i].pid)
			emit(self, frame, &targets->seat[i], &state->result[i]);
	return 0;
}

static void stop(struct sonde_instance *self)
{
	end(self);
}

SONDE_COLLECTOR(numa_maps, "memory of processes by NUMA node and policy", sample,
		.options = SONDE_OPTIONS(options), .tables = SONDE_TABLES(tables),
		.conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
		.check = check, .start = start, .stop = stop);
