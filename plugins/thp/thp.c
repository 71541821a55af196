/* thp: huge pages: how transparent ones are set up and used by size, and the hugetlb pools
 * (/sys/kernel/mm; Documentation/admin-guide/mm/transhuge.rst, hugetlbpage.rst). */
#include <sonde/plugin.h>

#include "columns.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

enum {
	SIZES = 32, /* more sizes than there are powers of two */
	MORE = 16,  /* counts of a size that only a newer kernel has */
	NODES = 1024,
	STAT_FILES = LENGTH(size_columns) - SIZE_STATS,
	POOL_FILES = LENGTH(pool_columns) - POOL_COUNTS,
	NODE_POOL_FILES = LENGTH(node_pool_columns) - NODE_POOL_COUNTS,
};

struct size {
	uint64_t size; /* KiB */
	struct sonde_file *enabled, *shmem_enabled, *stats[STAT_FILES], *more[MORE];
	bool used; /* or may be: its counts are read */
};

struct pool {
	uint64_t size, node;
	struct sonde_file *counts[POOL_FILES]; /* of a node: the first NODE_POOL_FILES */
};

struct state {
	struct sonde_file *thp[THP_FILES];
	struct size *sizes;
	struct pool *pools, *node_pools;
	uint32_t nsizes, npools, nnode_pools;
	char more[MORE]
		 [KEYED_NAME]; /* names of files under stats that have no column in thp_size */
	uint32_t nmore, more_table;
	bool has_thp;
};

/* "always [madvise] never" -> madvise: its length, 0 where no word is in brackets. */
static size_t thp_word(const char *text, size_t length, const char **word)
{
	const char *open = memchr(text, '[', length);
	const char *close = open ? memchr(open, ']', length - (size_t)(open - text)) : NULL;

	if (!close)
		return 0;
	*word = open + 1;
	return (size_t)(close - open - 1);
}

/* "123\n". */
static bool thp_number(const char *text, size_t length, uint64_t *value)
{
	struct cursor c = whole(text, whole_words(text, length));

	return next_u64(&c, value);
}

/* "hugepages-2048kB" -> 2048. False: another name. */
static bool thp_size(const char *name, uint64_t *size)
{
	struct cursor c = whole(name, strlen(name));

	return take(&c, "hugepages-") && next_u64(&c, size) && take_word(&c, "kB");
}

static bool read_number(struct sonde_instance *self, struct sonde_file *file, uint64_t *value)
{
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;

	return length >= 0 && thp_number(text, (size_t)length, value);
}

/* The number in a file into the slot; whether there was one. */
static bool take_number(struct sonde_instance *self, struct sonde_file *file, struct sonde_row *row,
			uint32_t slot)
{
	uint64_t value;

	if (!read_number(self, file, &value))
		return false;
	sonde_set_u64(row, slot, value);
	return true;
}

/* The chosen word of a policy file into the slot; whether there is one, and another than never. */
static bool take_policy(struct sonde_instance *self, struct sonde_file *file, struct sonde_row *row,
			uint32_t slot)
{
	const char *text, *word;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;
	size_t n = length > 0 ? thp_word(text, (size_t)length, &word) : 0;

	if (!n)
		return false;
	sonde_set_bytes(row, slot, word, n);
	return n != 5 || memcmp(word, "never", 5) != 0;
}

/* Sizes that have a folder under this one, smallest first; how many. */
static uint32_t list_sizes(struct sonde_instance *self, const char *folder, uint64_t sizes[SIZES])
{
	const char *name;
	int64_t left = sonde_list(self, folder, &name);
	uint32_t count = 0;
	uint64_t size;

	for (; left > 0 && count < SIZES; left--, name += strlen(name) + 1) {
		uint32_t at = count;

		if (!thp_size(name, &size))
			continue;
		for (; at && sizes[at - 1] > size; at--)
			sizes[at] = sizes[at - 1];
		sizes[at] = size;
		count++;
	}
	return count;
}

/* Opens one count of a size; whether it is not 0. */
static bool open_count(struct sonde_instance *self, const struct size *size, const char *path,
		       struct sonde_file **file)
{
	uint64_t value;

	*file = sonde_open(self, SONDE_KEEP, THP "/hugepages-%llukB/%s",
			   (unsigned long long)size->size, path);
	return read_number(self, *file, &value) && value;
}

/* Opens the counts of a size; whether any is not 0. */
static bool open_stats(struct sonde_instance *self, const struct state *state, struct size *size)
{
	char path[KEYED_NAME + 8];
	bool any = false;

	for (uint32_t i = 0; i < STAT_FILES; i++)
		any |= open_count(self, size, size_columns[SIZE_STATS + i].origin, &size->stats[i]);
	for (uint32_t i = 0; i < state->nmore; i++) {
		snprintf(path, sizeof path, "stats/%s", state->more[i]);
		any |= open_count(self, size, path, &size->more[i]);
	}
	return any;
}

static void close_stats(struct sonde_instance *self, const struct state *state, struct size *size)
{
	for (uint32_t i = 0; i < STAT_FILES; i++) {
		sonde_close(self, size->stats[i]);
		size->stats[i] = NULL;
	}
	for (uint32_t i = 0; i < state->nmore; i++) {
		sonde_close(self, size->more[i]);
		size->more[i] = NULL;
	}
}

/* A size that is switched off and was never used has counts of 0: two dozen files, each summed up over all CPUs by the
 * kernel at each read. They are read from when it is switched on. */
static void open_size(struct sonde_instance *self, const struct state *state, struct size *size)
{
	unsigned long long kib = size->size;

	size->enabled = sonde_open(self, SONDE_KEEP, THP "/hugepages-%llukB/enabled", kib);
	size->shmem_enabled =
		sonde_open(self, SONDE_KEEP, THP "/hugepages-%llukB/shmem_enabled", kib);
	size->used = open_stats(self, state, size);
	if (!size->used)
		close_stats(self, state, size);
}

/* Counts that thp_size has no column for, of the largest size: those of a newer kernel, into a table beside it. */
static int learn_more(struct sonde_instance *self, struct state *state, uint64_t size)
{
	struct sonde_column columns[1 + MORE] = { size_columns[SIZE] };
	struct sonde_table table = tables[TABLE_SIZE];
	struct keyed_more more = { .count = 0 };
	char path[4096];
	const char *name;
	int64_t left;
	int err;

	snprintf(path, sizeof path, THP "/hugepages-%llukB/stats", (unsigned long long)size);
	left = sonde_list(self, path, &name);
	for (; left > 0 && more.count < MORE; left--, name += strlen(name) + 1) {
		int n = snprintf(path, sizeof path, "stats/%s", name);

		if (keyed_column(&table.columns, path, (size_t)n) < 0 &&
		    keyed_unknown(&more, name, strlen(name), false) >= 0)
			snprintf(state->more[more.count - 1], KEYED_NAME, "%s", name);
	}
	if (!more.count)
		return 0;
	memcpy(columns + 1, more.columns, more.count * sizeof columns[0]);
	table.name = "thp_size_more";
	table.help = "Counts that this version of sonde does not know.";
	table.columns = (struct sonde_array) { columns, 1 + more.count, sizeof columns[0] };
	err = sonde_add_table(self, &table);
	if (err < 0)
		return err;
	state->more_table = (uint32_t)err;
	state->nmore = more.count;
	return 0;
}

static int start_thp(struct sonde_instance *self, struct state *state)
{
	uint64_t sizes[SIZES];
	int err;

	for (uint32_t i = 0; i < THP_FILES; i++) {
		state->thp[i] = sonde_open(self, SONDE_KEEP, THP "/%s", thp_columns[i].origin);
		state->has_thp |= state->thp[i] != NULL;
	}
	state->nsizes = list_sizes(self, THP, sizes);
	err = sonde_grow(self, &state->sizes, state->nsizes * sizeof state->sizes[0]);
	if (!err && state->nsizes)
		err = learn_more(self, state, sizes[state->nsizes - 1]);
	if (err) {
		state->nsizes = 0;
		return err;
	}
	for (uint32_t i = 0; i < state->nsizes; i++) {
		state->sizes[i].size = sizes[i];
		open_size(self, state, &state->sizes[i]);
	}
	return 0;
}

static uint32_t list_nodes(struct sonde_instance *self, uint32_t nodes[NODES])
{
	const char *name;
	int64_t left = sonde_list(self, SYSTEM_NODES, &name);
	uint32_t count = 0;
	uint64_t node;

	for (; left > 0 && count < NODES; left--, name += strlen(name) + 1) {
		struct cursor c = whole(name, strlen(name));

		if (take(&c, "node") && next_u64(&c, &node) && c.at == c.end)
			nodes[count++] = (uint32_t)node;
	}
	return count;
}

static int start_pools(struct sonde_instance *self, struct state *state)
{
	uint32_t nodes[NODES], nnodes = list_nodes(self, nodes), n = 0;
	uint64_t sizes[SIZES] = { 0 };
	char folder[64];
	int err;

	state->npools = list_sizes(self, POOLS, sizes);
	snprintf(folder, sizeof folder, SYSTEM_NODES "/node%u/hugepages", nnodes ? nodes[0] : 0);
	if (!state->npools)
		state->npools = list_sizes(self, folder, sizes);
	err = sonde_grow(self, &state->pools, state->npools * sizeof state->pools[0]);
	if (!err)
		err = sonde_grow(self, &state->node_pools,
				 (uint64_t)state->npools * nnodes * sizeof state->node_pools[0]);
	if (err) {
		state->npools = 0;
		return err;
	}
	for (uint32_t s = 0; s < state->npools; s++) {
		state->pools[s].size = sizes[s];
		for (uint32_t i = 0; i < POOL_FILES; i++)
			state->pools[s].counts[i] = sonde_open(
				self, SONDE_KEEP, POOLS "/hugepages-%llukB/%s",
				(unsigned long long)sizes[s], pool_columns[POOL_COUNTS + i].origin);
	}
	for (; n < nnodes * state->npools; n++) {
		struct pool *pool = &state->node_pools[n];

		pool->node = nodes[n / state->npools];
		pool->size = sizes[n % state->npools];
		for (uint32_t i = 0; i < NODE_POOL_FILES; i++)
			pool->counts[i] = sonde_open(
				self, SONDE_KEEP,
				SYSTEM_NODES "/node%llu/hugepages/hugepages-%llukB/%s",
				(unsigned long long)pool->node, (unsigned long long)pool->size,
				node_pool_columns[NODE_POOL_COUNTS + i].origin);
	}
	state->nnode_pools = n;
	return 0;
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;
	int err = start_thp(self, state);

	if (!err)
		err = start_pools(self, state);
	if (err)
		return err;
	if (!state->has_thp && !state->npools)
		return sonde_unavailable(self, "no huge pages: the kernel is built without "
					       "CONFIG_TRANSPARENT_HUGEPAGE and CONFIG_HUGETLBFS");
	if (!state->has_thp)
		sonde_note(self, "transparent huge pages are not supported here "
				 "(CONFIG_TRANSPARENT_HUGEPAGE): table thp is empty");
	return 0;
}

static void sample_thp(struct sonde_instance *self, struct sonde_frame *frame,
		       const struct state *state)
{
	struct sonde_row row;

	if (!state->has_thp || !sonde_row(self, frame, TABLE_THP, &row))
		return;
	for (uint32_t i = 0; i < THP_FILES; i++) {
		if (thp_columns[i].type == SONDE_STR)
			take_policy(self, state->thp[i], &row, i);
		else
			take_number(self, state->thp[i], &row, i);
	}
}

static void sample_size(struct sonde_instance *self, struct sonde_frame *frame,
			const struct state *state, struct size *size)
{
	struct sonde_row row;
	bool on;

	if (!sonde_row(self, frame, TABLE_SIZE, &row))
		return;
	sonde_set_u64(&row, SIZE, size->size);
	on = take_policy(self, size->enabled, &row, SIZE_ENABLED);
	on |= take_policy(self, size->shmem_enabled, &row, SIZE_SHMEM_ENABLED);
	if (on && !size->used) {
		open_stats(self, state, size);
		size->used = true;
	}
	if (!size->used)
		return;
	for (uint32_t i = 0; i < STAT_FILES; i++)
		take_number(self, size->stats[i], &row, SIZE_STATS + i);
	if (!state->nmore || !sonde_row(self, frame, state->more_table, &row))
		return;
	sonde_set_u64(&row, SIZE, size->size);
	for (uint32_t i = 0; i < state->nmore; i++)
		take_number(self, size->more[i], &row, 1 + i);
}

static void sample_pool(struct sonde_instance *self, struct sonde_frame *frame,
			const struct pool *pool, bool node)
{
	uint32_t first = node ? NODE_POOL_COUNTS : POOL_COUNTS;
	uint32_t count = node ? NODE_POOL_FILES : POOL_FILES;
	struct sonde_row row;

	if (!pool->counts[0] || !sonde_row(self, frame, node ? TABLE_NODE_POOL : TABLE_POOL, &row))
		return;
	if (node)
		sonde_set_u64(&row, NODE, pool->node);
	sonde_set_u64(&row, first - 1, pool->size);
	for (uint32_t i = 0; i < count; i++)
		take_number(self, pool->counts[i], &row, first + i);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;

	sample_thp(self, frame, state);
	for (uint32_t i = 0; i < state->nsizes; i++)
		sample_size(self, frame, state, &state->sizes[i]);
	for (uint32_t i = 0; i < state->npools; i++)
		sample_pool(self, frame, &state->pools[i], false);
	for (uint32_t i = 0; i < state->nnode_pools; i++)
		sample_pool(self, frame, &state->node_pools[i], true);
	return 0;
}

SONDE_COLLECTOR(thp, "huge pages: transparent ones by size, and hugetlb pools", sample,
		.tables = SONDE_TABLES(tables), .state_size = sizeof(struct state), .start = start);
