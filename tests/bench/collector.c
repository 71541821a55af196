/* A collector without its reads: start() on this machine, then sample() again and again on the texts that its files had. Prints
 * values a sample, nanoseconds a sample and a value, median of 11. Under callgrind, two runs with different ROUNDS give the
 * instructions of a sample, which do not vary.
 * Usage: collector PLUGIN.so [ROUNDS] */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sonde/plugin.h>

#include "core/frame.h"
#include "core/schema.h"

enum { RUNS = 11, TABLES = 16, LIST = 1 << 16 };

struct sonde_file {
	char *text;
	size_t length;
};

static struct {
	struct sonde_frame frame;
	struct sonde_schema *schemas[TABLES];
	char names[LIST];
} bench;

static void on_log(struct sonde_instance *self, uint32_t level, const char *message)
{
	(void)self, (void)level, (void)message;
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

/* The file with the text that it has now. */
static struct sonde_file *on_open(struct sonde_instance *self, uint32_t mode, const char *path)
{
	struct sonde_file *file;
	size_t size = 1 << 20;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	(void)self, (void)mode;
	if (fd < 0)
		return NULL;
	file = calloc(1, sizeof *file);
	if (!file || !(file->text = malloc(size)))
		abort();
	while ((n = read(fd, file->text + file->length, size - file->length)) > 0)
		file->length += (size_t)n;
	close(fd);
	return file;
}

static int64_t on_read(struct sonde_file *file, const char **text)
{
	*text = file->text;
	return (int64_t)file->length;
}

static void on_close(struct sonde_file *file)
{
	free(file->text);
	free(file);
}

static int64_t on_list(struct sonde_instance *self, const char *path, const char **names)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort), count = 0;
	size_t used = 0;

	(void)self;
	for (int i = 0; i < n; i++) {
		size_t length = strlen(entries[i]->d_name) + 1;

		if (entries[i]->d_name[0] != '.' && used + length <= LIST) {
			memcpy(bench.names + used, entries[i]->d_name, length);
			used += length;
			count++;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	*names = bench.names;
	return n < 0 ? -ENOENT : count;
}

static int on_add_table(struct sonde_instance *self, const struct sonde_table *table)
{
	uint32_t n = bench.frame.ntables;
	char why[256] = "too many tables";

	(void)self;
	if (n == TABLES || schema_make(table, &bench.schemas[n], why, sizeof why) ||
	    frame_add_table(&bench.frame, bench.schemas[n], table->rows, 4096)) {
		fprintf(stderr, "%s: %s\n", table->name, why);
		exit(1);
	}
	return (int)n;
}

static int on_grow(struct sonde_instance *self, void **block, uint64_t size)
{
	(void)self;
	*block = calloc(1, size + 1);
	return *block ? 0 : -ENOMEM;
}

static void on_partial(struct sonde_frame *frame)
{
	frame->partial = true;
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
	.close = on_close,
	.list = on_list,
	.row = frame_row,
	.partial = on_partial,
};

static uint64_t values(void)
{
	uint64_t count = 0;

	for (uint32_t t = 0; t < bench.frame.ntables; t++) {
		const struct frame_table *table = &bench.frame.tables[t];
		const uint64_t *row = table->words;

		for (uint32_t r = 0; r < table->nrows; r++, row += table->stride)
			for (uint32_t i = 0; i < bench.schemas[t]->nhave; i++)
				count += (uint64_t)__builtin_popcountll(row[i]);
	}
	return count;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int measure(struct sonde_instance *self, const struct sonde_plugin *plugin, int rounds)
{
	const struct sonde_collector_ops *ops = plugin->ops;
	double ns[RUNS];

	for (int run = 0; run < RUNS; run++) {
		double begin = now_ns();

		for (int i = 0; i < rounds; i++)
			if (frame_begin(&bench.frame) || ops->sample(self, &bench.frame))
				return 1;
		ns[run] = (now_ns() - begin) / rounds;
	}
	qsort(ns, RUNS, sizeof ns[0], by_value);
	printf("%-10s %5llu values %8.0f ns a sample %6.2f ns a value\n", plugin->name,
	       (unsigned long long)values(), ns[RUNS / 2], ns[RUNS / 2] / (double)values());
	return 0;
}

int main(int argc, char **argv)
{
	static const struct sonde_stream_header header = { .user_hz = 100, .page_size = 4096 };
	struct sonde_instance self = {
		.host = &services, .header = &header, .root = "", .label = ""
	};
	void *object = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	const struct sonde_plugin *plugin = object ? dlsym(object, "sonde_plugin") : NULL;

	if (!plugin) {
		fprintf(stderr, "usage: collector PLUGIN.so [ROUNDS]\n");
		return 2;
	}
	self.name = plugin->name;
	self.state = calloc(1, plugin->state_size + 1);
	self.conf = calloc(1, plugin->conf_size + 1);
	for (uint32_t i = 0; i < plugin->tables.count; i++)
		on_add_table(&self, (const struct sonde_table *)plugin->tables.items + i);
	if (plugin->start && plugin->start(&self))
		return 1;
	return measure(&self, plugin, argc > 2 ? atoi(argv[2]) : 2000);
}
