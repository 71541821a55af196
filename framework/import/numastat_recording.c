/* Tables of numastat as a recording: each print of them is an instant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <sonde/keyed.h>

#include "host/must.h"
#include "import/import.h"
#include "import/numastat.h"
#include "import/writing.h"

enum { TABLE_NUMA, TABLE_MEMINFO, TABLE_MAPS, TABLES_OF_NUMASTAT };
enum { MEMORY_MOST = 96, PROCESSES_MOST = 1024, PAGE = 4096 };

/* What is in each row of the two tables whose rows have fixed names. */
enum { COUNTS = 6, PARTS = 5 };

#define PAGES(name)                                                                                \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, SONDE_COUNT("pages"),                              \
			.origin = name, .help = "as numastat printed it"                           \
	}
#define MEMORY(name, row)                                                                          \
	{                                                                                          \
		name, SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = "numastat -p", .help = row    \
	}
#define NODE                                                                                       \
	{                                                                                          \
		"node", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "numastat",                    \
							  .help = "NUMA node"                      \
	}

/* clang-format off */
static const struct sonde_column numa_columns[1 + COUNTS] = {
	NODE, PAGES("numa_hit"), PAGES("numa_miss"), PAGES("numa_foreign"), PAGES("interleave_hit"), PAGES("local_node"), PAGES("other_node"),
};
static const struct sonde_column maps_columns[] = {
	{ "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "PID", .help = "process; when it started, the text does not say" },
	NODE,
	{ "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "numastat -p", .help = "its name, as far as it was printed", .sensitivity = SONDE_NAME },
	MEMORY("hugetlb", "Huge"),
	MEMORY("heap", "Heap"),
	MEMORY("stack", "Stack"),
	MEMORY("anon_and_file", "Private: the two in one"),
	MEMORY("bytes", "Total"),
};
static const char *const parts[PARTS] = { "Huge", "Heap", "Stack", "Private", "Total" };
enum { MAPS_PID, MAPS_NODE, MAPS_COMM, MAPS_PARTS };
/* clang-format on */

struct process {
	uint64_t pid;
	char comm[NUMASTAT_NAME];
	bool have[NUMASTAT_NODES];
	double value[NUMASTAT_NODES][PARTS]; /* below 0: not printed */
};

struct importing {
	struct writing writing;
	const struct import_options *options;

	/* Of all of the text. */
	bool has[TABLES_OF_NUMASTAT];
	uint32_t table[TABLES_OF_NUMASTAT];
	char name[MEMORY_MOST][KEYED_NAME], origin[MEMORY_MOST][NUMASTAT_NAME];
	uint32_t nnames;
	bool has_megabytes, has_pools;

	/* Of the print at hand; below 0: not printed. */
	double count[NUMASTAT_NODES][COUNTS];
	double memory[NUMASTAT_NODES][MEMORY_MOST];
	bool counted[NUMASTAT_NODES], told[NUMASTAT_NODES];
	struct process *process[PROCESSES_MOST];
	uint32_t nprocesses;
};

/* ---- Where a row belongs */

static uint32_t count_of(const char *name)
{
	uint32_t i = 0;

	while (i < COUNTS && strcasecmp(numa_columns[1 + i].name, name) != 0)
		i++;
	return i;
}

static uint32_t part_of(const char *name)
{
	uint32_t i = 0;

	while (i < PARTS && strcmp(parts[i], name) != 0)
		i++;
	return i;
}

/* MEMORY_MOST: it has no column. Pools of huge pages are printed as memory, and counted in pages of a size that is not told. */
static uint32_t memory_of(struct importing *im, const char *name, bool add)
{
	char column[KEYED_NAME];
	uint32_t i = 0;

	if (strncmp(name, "HugePages_", 10) == 0) {
		im->has_pools = true;
		return MEMORY_MOST;
	}
	if (!keyed_name(name, strlen(name), column))
		return MEMORY_MOST;
	while (i < im->nnames && strcmp(im->name[i], column) != 0)
		i++;
	if (i < im->nnames || !add || i == MEMORY_MOST)
		return i < im->nnames ? i : MEMORY_MOST;
	memcpy(im->name[i], column, KEYED_NAME);
	snprintf(im->origin[i], NUMASTAT_NAME, "%s", name);
	return im->nnames++;
}

static struct process *process_of(struct importing *im, uint64_t pid)
{
	struct process *process;

	for (uint32_t i = 0; i < im->nprocesses; i++)
		if (im->process[i]->pid == pid)
			return im->process[i];
	if (im->nprocesses == PROCESSES_MOST)
		return NULL;
	process = must(calloc(1, sizeof *process));
	process->pid = pid;
	return im->process[im->nprocesses++] = process;
}

/* ---- Learning */

static void learn_row(struct importing *im, const struct numastat_row *row)
{
	switch (row->kind) {
	case NUMASTAT_PAGES:
	case NUMASTAT_MEGABYTES:
		im->has[TABLE_NUMA] |= count_of(row->name) < COUNTS;
		im->has_megabytes |= row->kind == NUMASTAT_MEGABYTES;
		break;
	case NUMASTAT_MEMORY:
		im->has[TABLE_MEMINFO] |= memory_of(im, row->name, true) < MEMORY_MOST;
		break;
	default:
		im->has[TABLE_MAPS] = true;
	}
}

static int make_meminfo(struct importing *im)
{
	struct sonde_column columns[1 + MEMORY_MOST] = { NODE };
	const struct sonde_table table = {
		.name = "numa_meminfo",
		.columns = { columns, 1 + im->nnames, sizeof *columns },
		.origin = "numastat -m",
		.help = "Memory of each node by use, as numastat printed it."
	};

	for (uint32_t i = 0; i < im->nnames; i++)
		columns[1 + i] = (struct sonde_column) { im->name[i],
							 SONDE_U64,
							 SONDE_GAUGE,
							 SONDE_KIB,
							 .origin = im->origin[i],
							 .help = "as numastat printed it" };
	return writing_table(&im->writing, &table, "numa");
}

static int make_tables(struct importing *im)
{
	static const struct sonde_table numa = {
		.name = "numa",
		.columns = SONDE_ARRAY(numa_columns),
		.origin = "numastat",
		.help = "Where allocations of each node went, as numastat printed it."
	};
	static const struct sonde_table maps = {
		.name = "numa_maps",
		.columns = SONDE_ARRAY(maps_columns),
		.origin = "numastat -p",
		.help = "Memory of processes by node, as numastat printed it."
	};
	int err = 0;

	for (uint32_t t = 0; !err && t < TABLES_OF_NUMASTAT; t++) {
		if (!im->has[t])
			continue;
		im->table[t] = im->writing.frame.ntables;
		err = t == TABLE_NUMA      ? writing_table(&im->writing, &numa, "numa")
		      : t == TABLE_MEMINFO ? make_meminfo(im)
					   : writing_table(&im->writing, &maps, "numa_maps");
	}
	return err;
}

/* ---- A print */

static void forget(struct importing *im)
{
	memset(im->counted, 0, sizeof im->counted);
	memset(im->told, 0, sizeof im->told);
	while (im->nprocesses)
		free(im->process[--im->nprocesses]);
}

static void begin(double *values, uint32_t count, bool *have)
{
	for (uint32_t i = 0; !*have && i < count; i++)
		values[i] = -1;
	*have = true;
}

static int take_row(struct importing *im, const struct numastat_row *row)
{
	bool memory = row->kind == NUMASTAT_MEMORY, processes = row->kind >= NUMASTAT_PROCESS;
	struct process *process = processes ? process_of(im, row->pid) : NULL;
	uint32_t count = count_of(row->name), part = part_of(row->name),
		 column = memory ? memory_of(im, row->name, false) : 0;

	if (processes && !process)
		return -E2BIG;
	if (process)
		memcpy(process->comm, row->comm, sizeof process->comm);
	for (uint32_t i = 0; i < row->count; i++) {
		uint32_t node = row->node[i];
		double value = row->value[i];

		if (process && part < PARTS) {
			begin(process->value[node], PARTS, &process->have[node]);
			process->value[node][part] = value;
		} else if (memory && column < MEMORY_MOST) {
			begin(im->memory[node], MEMORY_MOST, &im->told[node]);
			im->memory[node][column] = value / 1024;
		} else if (!processes && !memory && count < COUNTS) {
			begin(im->count[node], COUNTS, &im->counted[node]);
			im->count[node][count] =
				row->kind == NUMASTAT_MEGABYTES ? value / PAGE : value;
		}
	}
	return 0;
}

static void set(struct sonde_row *row, uint32_t slot, const double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (values[i] >= 0)
			sonde_set_u64(row, slot + i, (uint64_t)(values[i] + 0.5));
}

static void add_process(struct importing *im, const struct process *process)
{
	struct sonde_row row;

	for (uint32_t node = 0; node < NUMASTAT_NODES; node++) {
		if (!process->have[node] ||
		    !frame_row(&im->writing.frame, im->table[TABLE_MAPS], &row))
			continue;
		sonde_set_u64(&row, MAPS_PID, process->pid);
		sonde_set_u64(&row, MAPS_NODE, node);
		sonde_set_str(&row, MAPS_COMM, process->comm);
		set(&row, MAPS_PARTS, process->value[node], PARTS);
	}
}

static void add_rows(struct writing *writing, void *context)
{
	struct importing *im = context;
	struct sonde_row row;

	for (uint32_t node = 0; node < NUMASTAT_NODES; node++) {
		if (im->counted[node] && frame_row(&writing->frame, im->table[TABLE_NUMA], &row)) {
			sonde_set_u64(&row, 0, node);
			set(&row, 1, im->count[node], COUNTS);
		}
		if (im->told[node] && frame_row(&writing->frame, im->table[TABLE_MEMINFO], &row)) {
			sonde_set_u64(&row, 0, node);
			set(&row, 1, im->memory[node], im->nnames);
		}
	}
	for (uint32_t i = 0; i < im->nprocesses; i++)
		add_process(im, im->process[i]);
}

static int write_all(struct importing *im, struct numastat_text numastat)
{
	double interval = im->options->interval > 0 ? im->options->interval : 1;
	struct numastat_row row;
	uint32_t snapshot = 0;
	int err = 0;

	while (!err && numastat_next(&numastat, &row) > 0) {
		if (row.snapshot != snapshot && row.snapshot * interval > 1e9)
			return -ERANGE;
		if (row.snapshot != snapshot) {
			err = writing_instant(&im->writing, snapshot * interval, false, add_rows,
					      im);
			forget(im);
		}
		snapshot = row.snapshot;
		if (!err)
			err = take_row(im, &row);
	}
	return err ? err : writing_instant(&im->writing, snapshot * interval, true, add_rows, im);
}

/* ---- What a reader has to know */

static int tell(struct importing *im, const struct numastat_text *numastat)
{
	struct writing *writing = &im->writing;
	int err = 0;

	if (!numastat->snapshot)
		err = writing_note(
			writing, "",
			"numastat was printed once, and nothing happens in one moment: print it several "
			"times into one file");
	else if (im->options->interval <= 0)
		err = writing_note(
			writing, "",
			"numastat did not say how long after each other it was printed: 1 s is taken; "
			"--interval says otherwise, and rates are as right as that");
	if (!err && numastat->unread)
		err = writing_note(
			writing, "",
			"%u lines of numastat, line %u first, have not the columns of their header: "
			"left out",
			numastat->unread, numastat->first_unread);
	if (!err && im->has_megabytes)
		err = writing_note(
			writing, "",
			"numastat -n prints pages as memory: taken as pages of 4 KiB, rounded as printed; "
			"exact without -n");
	if (!err && im->has_pools)
		err = writing_note(
			writing, "hugetlb",
			"numastat prints pools of huge pages as memory, and not of which size: HugePages_* "
			"are left out");
	return err;
}

static int import(struct importing *im, const char *text, size_t length, int fd, char *why,
		  size_t size)
{
	struct numastat_text numastat = numastat_text(text, length);
	struct numastat_row row;
	int err;

	while ((err = numastat_next(&numastat, &row)) > 0)
		learn_row(im, &row);
	snprintf(why, size, "%s", numastat.why);
	if (!err && !im->has[TABLE_NUMA] && !im->has[TABLE_MEMINFO] && !im->has[TABLE_MAPS]) {
		snprintf(why, size, "no row of it has a name that numastat gives");
		return -EBADMSG;
	}
	if (!err)
		err = make_tables(im);
	if (*im->writing.why) {
		snprintf(why, size, "%s", im->writing.why);
		return -EBADMSG;
	}
	if (!err)
		err = writing_start(&im->writing, fd);
	if (!err)
		err = tell(im, &numastat);
	if (!err)
		err = write_all(im, numastat_text(text, length));
	if (err != -E2BIG && err != -ERANGE)
		return err;
	snprintf(why, size,
		 err == -E2BIG ? "more than 1024 processes in one print: import fewer at once"
			       : "its prints are more than 30 years apart");
	return -EBADMSG;
}

int import_numastat(const char *text, size_t length, const struct import_options *options, int fd,
		    char *why, size_t size)
{
	struct importing *im = must(calloc(1, sizeof *im));
	int err;

	im->options = options;
	im->writing.tool = "numastat";
	err = writing_end(&im->writing, import(im, text, length, fd, why, size));
	forget(im);
	free(im);
	return err;
}
