/* A collector beside the bare minimum: sample() with the host's real file service and arena, and one pread(2) of each of the
 * files that it reads, descriptors kept, one warm buffer. It is told that a sample is a second, so that what is read anew every few
 * seconds (limits of cgroups) counts on its side as it does in an agent at 1 Hz, and on the other not at all. Prints values and files a sample, ratio, smallest and largest of 11
 * alternating pairs, microseconds of CPU time of a sample of ours and of the bare reads.
 * Usage: live PLUGIN.so */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sonde/plugin.h>

#include "core/frame.h"
#include "core/schema.h"
#include "host/files.h"
#include "host/options.h"

enum { PAIRS = 11, TABLES = 16, BLOCKS = 32, FILES = 8192, PROBES = 20, ENOUGH_NS = 30000000 };

static struct files files;
static struct sonde_frame frame;
static struct sonde_schema *schemas[TABLES];
static struct {
	void **block;
	uint64_t size;
} blocks[BLOCKS];
static uint32_t nblocks;
static bool probing;
static struct {
	char *path;
	uint32_t count; /* of reads in all probes */
} reads[FILES];
static uint32_t nreads;
static int descriptors[FILES];
static uint32_t ndescriptors;

static void on_log(struct sonde_instance *self, uint32_t level, const char *message)
{
	if (level == SONDE_ERROR)
		fprintf(stderr, "%s: %s\n", self->name, message);
}

static void on_note(struct sonde_instance *self, const char *message)
{
	(void)self, (void)message;
}

static int on_unavailable(struct sonde_instance *self, const char *reason)
{
	fprintf(stderr, "%s: %s\n", self->name, reason);
	return -ENODEV;
}

static struct sonde_file *on_open(struct sonde_instance *self, uint32_t mode, const char *path)
{
	(void)self;
	return file_open(&files, mode, path);
}

static void count_read(const char *path)
{
	uint32_t i = 0;

	while (i < nreads && strcmp(reads[i].path, path) != 0)
		i++;
	if (i == FILES)
		return;
	if (i == nreads) {
		reads[nreads++].path = strdup(path);
	}
	reads[i].count++;
}

static int64_t on_read(struct sonde_file *file, const char **text)
{
	if (probing)
		count_read(file_path(file));
	return file_read(file, text);
}

static int64_t on_list(struct sonde_instance *self, const char *path, const char **names)
{
	(void)self;
	return file_list(&files, path, names);
}

static int on_add_table(struct sonde_instance *self, const struct sonde_table *table)
{
	uint32_t n = frame.ntables;
	char why[256] = "too many tables";

	(void)self;
	if (n == TABLES || schema_make(table, &schemas[n], why, sizeof why) ||
	    frame_add_table(&frame, schemas[n], table->rows, table->max_rows)) {
		fprintf(stderr, "%s: %s\n", table->name, why);
		exit(1);
	}
	return (int)n;
}

/* At once, with what is there already. */
static int on_grow(struct sonde_instance *self, void **block, uint64_t size)
{
	uint32_t i = 0;
	char *bytes;

	(void)self;
	while (i < nblocks && blocks[i].block != block)
		i++;
	if (i == BLOCKS || size <= blocks[i].size)
		return i == BLOCKS ? -ENOMEM : 0;
	nblocks += i == nblocks;
	bytes = calloc(1, size);
	if (!bytes)
		return -ENOMEM;
	if (blocks[i].size)
		memcpy(bytes, *block, blocks[i].size);
	free(*block);
	*block = bytes;
	blocks[i].block = block;
	blocks[i].size = size;
	return 0;
}

static void on_partial(struct sonde_frame *of)
{
	of->partial = true;
}

static const struct sonde_host services = {
	.size = sizeof services,
	.log = on_log,
	.note = on_note,
	.unavailable = on_unavailable,
	.add_table = on_add_table,
	.grow = on_grow,
	.open = on_open,
	.read = on_read,
	.close = file_close,
	.list = on_list,
	.row = frame_row,
	.partial = on_partial,
};

static const struct sonde_plugin *plugin;
static struct sonde_instance self = {
	.host = &services, .root = "", .label = "", .interval = 1000000000
};

static void take_sample(void)
{
	const struct sonde_collector_ops *ops = plugin->ops;

	if (frame_begin(&frame) || ops->sample(&self, &frame))
		exit(1);
}

static void read_bare(void)
{
	static char buffer[1 << 20];

	for (uint32_t i = 0; i < ndescriptors; i++)
		if (pread(descriptors[i], buffer, sizeof buffer, 0) < 0)
			continue;
}

/* CPU time of one call, ns, of so many. */
static double cost(void (*call)(void), int rounds)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (int i = 0; i < rounds; i++)
		call();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
	       rounds;
}

/* The files that it reads each time; what it reads only now and then is its own affair. */
static void probe(void)
{
	for (int i = 0; i < PROBES; i++)
		take_sample();
	probing = true;
	for (int i = 0; i < PROBES; i++)
		take_sample();
	probing = false;
	for (uint32_t i = 0; i < nreads; i++) {
		for (uint32_t n = 0; n < reads[i].count / PROBES && ndescriptors < FILES; n++) {
			descriptors[ndescriptors] = open(reads[i].path, O_RDONLY | O_CLOEXEC);
			ndescriptors += descriptors[ndescriptors] >= 0;
		}
	}
}

static uint64_t values(void)
{
	uint64_t count = 0;

	for (uint32_t t = 0; t < frame.ntables; t++)
		for (uint32_t r = 0; r < frame.tables[t].nrows; r++)
			for (uint32_t i = 0; i < schemas[t]->nhave; i++)
				count += (uint64_t)__builtin_popcountll(
					frame.tables[t]
						.words[(size_t)r * frame.tables[t].stride + i]);
	return count;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void measure(void)
{
	double ours[PAIRS], bare[PAIRS], ratios[PAIRS];
	int rounds = (int)(ENOUGH_NS / (cost(take_sample, 10) + 1)) + 10;

	for (int i = 0; i < PAIRS; i++) {
		if (i % 2)
			bare[i] = cost(read_bare, rounds);
		ours[i] = cost(take_sample, rounds);
		if (!(i % 2))
			bare[i] = cost(read_bare, rounds);
		ratios[i] = ours[i] / bare[i];
	}
	qsort(ratios, PAIRS, sizeof ratios[0], by_value);
	qsort(ours, PAIRS, sizeof ours[0], by_value);
	qsort(bare, PAIRS, sizeof bare[0], by_value);
	printf("%s %llu %u %.3f %.3f %.3f %.2f %.2f\n", plugin->name, (unsigned long long)values(),
	       ndescriptors, ratios[PAIRS / 2], ratios[0], ratios[PAIRS - 1], ours[PAIRS / 2] / 1e3,
	       bare[PAIRS / 2] / 1e3);
}

int main(int argc, char **argv)
{
	static const struct sonde_stream_header header = { .user_hz = 100, .page_size = 4096 };
	struct options_memory *memory = NULL;
	void *object = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	char why[256];

	plugin = object ? dlsym(object, "sonde_plugin") : NULL;
	if (!plugin || files_open(&files, "")) {
		fprintf(stderr, "usage: live PLUGIN.so\n");
		return 2;
	}
	files_budget(4096);
	self.name = plugin->name;
	self.header = &header;
	self.state = calloc(1, plugin->state_size + 1);
	self.conf = calloc(1, plugin->conf_size + 1);
	for (uint32_t i = 0; i < plugin->options.count; i++)
		if (option_default((const struct sonde_option *)plugin->options.items + i,
				   self.conf, &memory, why, sizeof why))
			return 1;
	for (uint32_t i = 0; i < plugin->tables.count; i++)
		on_add_table(&self, (const struct sonde_table *)plugin->tables.items + i);
	if (plugin->start && plugin->start(&self))
		return 77;
	probe();
	measure();
	return 0;
}
