/* A host in memory for the collector `process`: files are texts that a test puts and takes away, with the kernel's rules for
 * /proc/PID: a descriptor belongs to the process for which it was opened, and answers ESRCH once that has ended. */
#ifndef PROCESS_HOST_H
#define PROCESS_HOST_H

#include <stdarg.h>
#include <stdlib.h>

#include <sonde/plugin.h>

#include "core/frame.h"
#include "core/schema.h"

enum { FAKE_FILES = 512, FAKE_NOTES = 16, FAKE_GROWS = 16 };

struct fake_file {
	char path[64];
	char text[2048];
	size_t length;
	int err;         /* of open(2); 0: it can be opened */
	int read_err;    /* of read(2) */
	uint64_t birth;  /* of its process */
	uint32_t opened; /* ever */
};

struct sonde_file {
	char path[64];
	uint64_t birth;
};

static struct fake_host {
	struct fake_file files[FAKE_FILES];
	uint32_t nfiles;
	uint64_t births;
	uint32_t open_now, opened, reads;
	char names[FAKE_FILES * 16];
	char notes[FAKE_NOTES][512];
	uint32_t nnotes, nlogs; /* logs: warnings and errors */
	char unavailable[512];
	struct {
		void **block;
		uint64_t size;
	} grows[FAKE_GROWS]; /* asked for in sample(), done before the next */
	uint32_t ngrows;
	struct {
		void *block;
		uint64_t size;
	} blocks[FAKE_GROWS];
	bool sampling;
	/* What a call of the plugin's own gives; NULL: it may not be made. */
	int64_t (*obtain)(const char *name, void *buffer, uint64_t size);
	struct sonde_frame frame;
	struct sonde_schema *schemas[PROCESS_TABLES];
	struct sonde_instance self;
	struct sonde_stream_header header;
} fake;

static struct fake_file *fake_find(const char *path)
{
	for (uint32_t i = 0; i < fake.nfiles; i++)
		if (strcmp(fake.files[i].path, path) == 0)
			return &fake.files[i];
	return NULL;
}

/* The file holds this text from now on. */
SONDE_PRINTF(2, 3)
static void put(const char *path, const char *format, ...)
{
	struct fake_file *file = fake_find(path);
	va_list args;

	if (!file) {
		if (fake.nfiles == FAKE_FILES)
			abort();
		file = &fake.files[fake.nfiles++];
		*file = (struct fake_file) { .birth = fake.births };
		snprintf(file->path, sizeof file->path, "%s", path);
	}
	va_start(args, format);
	file->length = (size_t)vsnprintf(file->text, sizeof file->text, format, args);
	va_end(args);
}

/* The process and its files are gone. */
static inline void end(uint32_t pid)
{
	char prefix[32];
	uint32_t kept = 0;

	snprintf(prefix, sizeof prefix, "/proc/%u/", pid);
	for (uint32_t i = 0; i < fake.nfiles; i++)
		if (strncmp(fake.files[i].path, prefix, strlen(prefix)) != 0)
			fake.files[kept++] = fake.files[i];
	fake.nfiles = kept;
	fake.births++;
}

/* What was read is valid until the next read of any file. */
static int64_t fake_read(struct sonde_file *file, const char **text)
{
	static char last[sizeof(((struct fake_file *)0)->text)];
	struct fake_file *found = fake_find(file->path);

	fake.reads++;
	if (!found || found->birth != file->birth)
		return -ESRCH;
	if (found->read_err)
		return -found->read_err;
	memset(last, '#', sizeof last - 1);
	*text = memcpy(last, found->text, found->length + 1);
	return (int64_t)found->length;
}

static struct sonde_file *fake_open(struct sonde_instance *self, uint32_t mode, const char *path)
{
	struct fake_file *found = fake_find(path);
	struct sonde_file *file;

	(void)self, (void)mode;
	if (!found || found->err) {
		errno = found ? found->err : ENOENT;
		return NULL;
	}
	file = calloc(1, sizeof *file);
	snprintf(file->path, sizeof file->path, "%s", path);
	file->birth = found->birth;
	found->opened++;
	fake.opened++;
	fake.open_now++;
	return file;
}

static void fake_close(struct sonde_file *file)
{
	fake.open_now--;
	free(file);
}

static int by_value(const void *a, const void *b)
{
	unsigned long x = strtoul(*(char *const *)a, NULL, 10),
		      y = strtoul(*(char *const *)b, NULL, 10);

	return (x > y) - (x < y);
}

static int64_t fake_list(struct sonde_instance *self, const char *path, const char **names)
{
	static char found[FAKE_FILES][16];
	char *sorted[FAKE_FILES], *at = fake.names;
	size_t n = strlen(path), count = 0;

	(void)self;
	for (uint32_t i = 0; i < fake.nfiles; i++) {
		const char *name = fake.files[i].path + n + 1;
		bool seen = false;

		if (strncmp(fake.files[i].path, path, n) != 0 || fake.files[i].path[n] != '/' ||
		    *name < '0' || *name > '9')
			continue;
		snprintf(found[count], sizeof found[count], "%.*s", (int)strcspn(name, "/"), name);
		for (size_t k = 0; k < count; k++)
			seen |= strcmp(found[k], found[count]) == 0;
		count += !seen;
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = found[i];
	qsort(sorted, count, sizeof *sorted, by_value);
	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, sorted[i]) + 1;
	strcpy(at, "cpuinfo"); /* as in /proc: names after the numbers */
	*names = fake.names;
	return (int64_t)count + 1;
}

static void fake_log(struct sonde_instance *self, uint32_t level, const char *message)
{
	(void)self, (void)message;
	fake.nlogs += level <= SONDE_WARNING;
}

static void fake_note(struct sonde_instance *self, const char *message)
{
	(void)self;
	if (fake.nnotes < FAKE_NOTES)
		snprintf(fake.notes[fake.nnotes++], sizeof fake.notes[0], "%s", message);
}

static int fake_unavailable(struct sonde_instance *self, const char *reason)
{
	(void)self;
	snprintf(fake.unavailable, sizeof fake.unavailable, "%s", reason);
	return -ENODEV;
}

static void grow_now(void **block, uint64_t size)
{
	uint32_t i = 0;
	void *more;

	while (i < FAKE_GROWS && fake.blocks[i].block != *block)
		i++;
	if (!*block)
		for (i = 0; fake.blocks[i].block;)
			i++;
	more = calloc(1, size);
	if (*block)
		memcpy(more, *block, fake.blocks[i].size);
	free(*block);
	fake.blocks[i].block = *block = more;
	fake.blocks[i].size = size;
}

static int fake_grow(struct sonde_instance *self, void **block, uint64_t size)
{
	(void)self;
	if (!fake.sampling) {
		grow_now(block, size);
		return 0;
	}
	if (fake.ngrows == FAKE_GROWS)
		abort();
	fake.grows[fake.ngrows].block = block;
	fake.grows[fake.ngrows++].size = size;
	return 0;
}

static bool fake_row(struct sonde_frame *frame, uint32_t table, struct sonde_row *row)
{
	return frame_row(frame, table, row);
}

static int64_t fake_obtain(struct sonde_instance *self, const char *name,
			   int64_t (*call)(void *context, void *buffer, uint64_t size),
			   void *context, void *buffer, uint64_t size)
{
	(void)self, (void)call, (void)context;
	return fake.obtain ? fake.obtain(name, buffer, size) : -EPERM;
}

static void fake_partial(struct sonde_frame *frame)
{
	frame->partial = true;
}

static const struct sonde_host fake_services = {
	.size = sizeof fake_services,
	.log = fake_log,
	.note = fake_note,
	.unavailable = fake_unavailable,
	.grow = fake_grow,
	.open = fake_open,
	.read = fake_read,
	.close = fake_close,
	.list = fake_list,
	.row = fake_row,
	.partial = fake_partial,
	.obtain = fake_obtain,
};

/* A host without files and an instance of the collector with this configuration. */
static void fake_begin(struct conf *conf)
{
	memset(&fake, 0, sizeof fake);
	fake.self = (struct sonde_instance) {
		.host = &fake_services,
		.conf = conf,
		.state = calloc(1, sonde_plugin.state_size),
		.name = "process",
		.label = "",
		.root = "",
		.header = &fake.header,
	};
	fake.header.kernel = "6.18.0";
	fake.header.user_hz = 100;
	fake.header.page_size = 4096;
	for (uint32_t i = 0; i < PROCESS_TABLES; i++) {
		char why[256] = "";

		if (schema_make(&process_tables[i], &fake.schemas[i], why, sizeof why) ||
		    frame_add_table(&fake.frame, fake.schemas[i], process_tables[i].rows, 0)) {
			fprintf(stderr, "%s\n", why);
			abort();
		}
	}
}

static int fake_sample(void)
{
	int err;

	for (uint32_t i = 0; i < fake.ngrows; i++)
		grow_now(fake.grows[i].block, fake.grows[i].size);
	fake.ngrows = fake.opened = fake.reads = 0;
	frame_begin(&fake.frame);
	fake.sampling = true;
	err = sonde_ops_.sample(&fake.self, &fake.frame);
	fake.sampling = false;
	return err;
}

static void fake_end(void)
{
	sonde_plugin.stop(&fake.self);
	for (uint32_t i = 0; i < FAKE_GROWS; i++)
		free(fake.blocks[i].block);
	for (uint32_t i = 0; i < PROCESS_TABLES; i++)
		schema_free(fake.schemas[i]);
	frame_free(&fake.frame);
	free(fake.self.state);
}

static bool fake_noted(const char *part)
{
	for (uint32_t i = 0; i < fake.nnotes; i++)
		if (strstr(fake.notes[i], part))
			return true;
	return false;
}

/* The row of this process, or NULL: its have-bits, then its slots. */
static const uint64_t *fake_row_of(uint32_t pid)
{
	const struct frame_table *table = &fake.frame.tables[TABLE_PROCESS];

	for (uint32_t i = 0; i < table->nrows; i++) {
		const uint64_t *words = table->words + (size_t)i * table->stride;

		if (words[table->schema->nhave + PID] == pid)
			return words;
	}
	return NULL;
}

static bool has(uint32_t pid, uint32_t slot)
{
	const uint64_t *words = fake_row_of(pid);

	return words && words[slot / 64] >> slot % 64 & 1;
}

/* UINT64_MAX where it is absent. */
static uint64_t value(uint32_t pid, uint32_t slot)
{
	return has(pid, slot) ? fake_row_of(pid)[fake.schemas[TABLE_PROCESS]->nhave + slot]
			      : UINT64_MAX;
}

static bool has_text(uint32_t pid, uint32_t slot, const char *text)
{
	uint64_t at = value(pid, slot);

	return has(pid, slot) && (uint32_t)at == strlen(text) &&
	       memcmp(fake.frame.strings.bytes + (at >> 32), text, strlen(text)) == 0;
}

static inline uint64_t total(uint32_t slot)
{
	const struct frame_table *table = &fake.frame.tables[TABLE_PROCESSES];

	return table->nrows == 1 ? table->words[table->schema->nhave + slot] : UINT64_MAX;
}

static uint32_t nrows(void)
{
	return fake.frame.tables[TABLE_PROCESS].nrows;
}

#endif
