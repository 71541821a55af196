/* What the collector perf_event costs beside the bare minimum: 16 software events on each CPU in two groups of eight, one read(2)
 * a group. Usage: perf_event PLUGIN.so. Prints ratio, smallest and largest of 11 alternating pairs, microseconds of CPU time of
 * a sample of ours, of the bare reads, of as many reads of single events, and the number of CPUs. */
#include <dlfcn.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugins/perf_event/counts.h"
#include "plugins/perf_event/perf_event.h"

#include "core/frame.h"
#include "core/schema.h"
#include "host/files.h"

#include <stdlib.h>

enum { PAIRS = 11, ROUNDS = 400, TABLES = 8, BLOCKS = 8, FDS = 1 << 16, GROUPS = 2, EVENTS = 8 };

static struct files files;
static struct sonde_frame frame;
static struct {
	void **block;
	uint64_t size;
} blocks[BLOCKS];
static int groups[FDS], ngroups, singles[FDS], nsingles;
static const struct sonde_plugin *plugin;

/* The first number is PERF_COUNT_SW_*; the names are those of the section. */
static const uint64_t events[EVENTS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static const char *const sections[GROUPS] = {
	"a = {cpu-clock,task-clock,page-faults,context-switches,cpu-migrations,minor-faults,"
	"major-faults,alignment-faults}",
	"b = {cpu-clock,task-clock,page-faults,context-switches,cpu-migrations,minor-faults,"
	"major-faults,alignment-faults}",
};
static struct conf conf = { .group = { sections, GROUPS, 0 }, .group_path = "" };

/* ---- The host: its file service and arena */

static struct sonde_file *host_open(struct sonde_instance *self, uint32_t mode, const char *path)
{
	(void)self;
	return file_open(&files, mode, path);
}

static int64_t host_list(struct sonde_instance *self, const char *path, const char **names)
{
	(void)self;
	return file_list(&files, path, names);
}

static void host_log(struct sonde_instance *self, uint32_t level, const char *message)
{
	(void)self, (void)level;
	fprintf(stderr, "%s\n", message);
}

static void host_note(struct sonde_instance *self, const char *message)
{
	host_log(self, SONDE_NOTICE, message);
}

static int host_unavailable(struct sonde_instance *self, const char *reason)
{
	host_log(self, SONDE_ERROR, reason);
	return -ENODEV;
}

static int host_add_table(struct sonde_instance *self, const struct sonde_table *table)
{
	struct sonde_schema *schema;
	char why[256];

	(void)self;
	if (schema_make(table, &schema, why, sizeof why) ||
	    frame_add_table(&frame, schema, table->rows, table->max_rows))
		return -EINVAL;
	return (int)frame.ntables - 1;
}

static int host_grow(struct sonde_instance *self, void **block, uint64_t size)
{
	int i = 0;

	(void)self;
	while (i < BLOCKS && blocks[i].block && blocks[i].block != block)
		i++;
	if (i == BLOCKS)
		return -ENOMEM;
	blocks[i].block = block;
	*block = realloc(*block, size);
	memset((char *)*block + blocks[i].size, 0, size - blocks[i].size);
	blocks[i].size = size;
	return 0;
}

static int64_t host_obtain(struct sonde_instance *self, const char *name,
			   int64_t (*call)(void *context, void *buffer, uint64_t size),
			   void *context, void *buffer, uint64_t size)
{
	(void)self, (void)name;
	return call(context, buffer, size);
}

static const struct sonde_host host = {
	.size = sizeof host,
	.log = host_log,
	.note = host_note,
	.unavailable = host_unavailable,
	.add_table = host_add_table,
	.grow = host_grow,
	.open = host_open,
	.read = file_read,
	.close = file_close,
	.list = host_list,
	.row = frame_row,
	.obtain = host_obtain,
};
static struct sonde_instance self = {
	.host = &host, .conf = &conf, .name = "perf_event", .root = ""
};

/* ---- The three sides */

static void sample_ours(void)
{
	const struct sonde_collector_ops *ops = plugin->ops;

	if (frame_begin(&frame) || ops->sample(&self, &frame))
		exit(1);
}

static void read_all(const int *fds, int n)
{
	uint64_t buffer[COUNTS_BYTES / sizeof(uint64_t)];

	for (int i = 0; i < n; i++)
		if (read(fds[i], buffer, sizeof buffer) <= 0)
			exit(1);
}

static void sample_groups(void)
{
	read_all(groups, ngroups);
}

static void sample_singles(void)
{
	read_all(singles, nsingles);
}

static int open_event(uint64_t config, int cpu, int leader)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof attr,
					.config = config,
					.read_format = PERF_FORMAT_GROUP |
						       PERF_FORMAT_TOTAL_TIME_ENABLED |
						       PERF_FORMAT_TOTAL_TIME_RUNNING };

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

/* On each CPU that there is. */
static int open_bare(void)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int cpu = 0; cpu < cpus; cpu++) {
		for (int g = 0; g < GROUPS; g++) {
			groups[ngroups] = open_event(events[0], cpu, -1);
			for (int e = 0; e < EVENTS; e++) {
				if (e && open_event(events[e], cpu, groups[ngroups]) < 0)
					return -1;
				singles[nsingles] = open_event(events[e], cpu, -1);
				if (singles[nsingles++] < 0)
					return -1;
			}
			ngroups++;
		}
	}
	return cpus;
}

static double cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double cost(void (*side)(void))
{
	double begin = cpu_us();

	for (int i = 0; i < ROUNDS; i++)
		side();
	return (cpu_us() - begin) / ROUNDS;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double middle(double *values)
{
	qsort(values, PAIRS, sizeof *values, by_value);
	return values[PAIRS / 2];
}

static void compare(int cpus)
{
	double ratio[PAIRS], ours[PAIRS], bare[PAIRS], single[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		if (i % 2)
			bare[i] = cost(sample_groups);
		ours[i] = cost(sample_ours);
		if (i % 2 == 0)
			bare[i] = cost(sample_groups);
		single[i] = cost(sample_singles);
		ratio[i] = ours[i] / bare[i];
	}
	middle(ratio);
	printf("%.3f %.3f %.3f %.2f %.2f %.2f %d\n", ratio[PAIRS / 2], ratio[0], ratio[PAIRS - 1],
	       middle(ours), middle(bare), middle(single), cpus);
}

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int cpus;

	plugin = library ? dlsym(library, "sonde_plugin") : NULL;
	if (!plugin) {
		fprintf(stderr, "usage: perf_event PLUGIN.so%s%s\n", argc == 2 ? ": " : "",
			argc == 2 ? dlerror() : "");
		return 2;
	}
	self.state = calloc(1, plugin->state_size);
	if (!self.state || files_open(&files, ""))
		return 1;
	for (uint32_t i = 0; i < plugin->tables.count; i++)
		if (host_add_table(&self, (const struct sonde_table *)plugin->tables.items + i) < 0)
			return 1;
	if (plugin->start(&self))
		return 1;
	cpus = open_bare();
	if (cpus < 0) {
		perror("perf_event_open");
		return 1;
	}
	/* The strings' arena grows twice at most. */
	for (int i = 0; i < 3; i++)
		sample_ours();
	compare(cpus);
	return 0;
}
