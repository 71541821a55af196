/* capture = raw: the text of every file that an instance reads, and the bytes of every call of its own. Rows are made at once, whatever memory that takes: who
 * captures does not measure. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/schema.h"
#include "host/capture.h"
#include "host/log.h"

/* What one STR slot holds, and how much of one sample is kept. */
enum { PART = 65535, MOST_BYTES = 256 << 20 };

#define TEXT(name_, sensitivity_, help_)                                                           \
	{                                                                                          \
		.name = name_, .type = SONDE_STR, .semantics = SONDE_INFO,                         \
		.unit = SONDE_BASE_NONE, .scale_mul = 1, .scale_div = 1, .help = help_,            \
		.sensitivity = sensitivity_                                                        \
	}
#define NUMBER(name_, help_)                                                                       \
	{                                                                                          \
		.name = name_, .type = SONDE_U64, .semantics = SONDE_STATE,                        \
		.unit = SONDE_BASE_NONE, .scale_mul = 1, .scale_div = 1, .help = help_             \
	}

static const struct sonde_column columns[] = {
	[RAW_INSTANCE] = TEXT("instance", SONDE_PUBLIC, "section that read it"),
	[RAW_CALL] = TEXT("call", SONDE_PUBLIC,
			  "open, read or list of a file; obtain: bytes that no file holds"),
	[RAW_PATH] = TEXT("path", SONDE_PATH,
			  "as the collector asked for it, without the root; of obtain its name"),
	[RAW_ERROR] = NUMBER("error", "errno where it failed; absent: it did not"),
	[RAW_PART] = NUMBER("part", "from 0, where the bytes need several rows"),
	[RAW_BYTES] = TEXT("bytes", SONDE_ARGUMENT, "what was read; of a list, names ended by NUL"),
};

const struct sonde_table raw_table = {
	.name = "raw",
	.columns = SONDE_ARRAY(columns),
	.origin = "sonde",
	.help = "the text of the files that collectors read, and what else they read, where capture = raw",
	.flags = SONDE_EVENTS,
	.rows = 16,
};

static struct sonde_schema *schema;
static struct sonde_host services;

/* ---- Rows */

static bool make_room(struct sonde_frame *raw, size_t bytes)
{
	struct frame_table *table = &raw->tables[0];
	struct sonde_strings *strings = &raw->strings;

	if (table->nrows == table->capacity) {
		uint32_t capacity = table->capacity * 2;
		uint64_t *words =
			realloc(table->words, (size_t)capacity * table->stride * sizeof *words);

		if (!words)
			return false;
		table->words = words;
		table->capacity = capacity;
	}
	if (bytes > strings->size - strings->used) {
		size_t size = ((size_t)strings->size + bytes) * 2;
		char *more = size < MOST_BYTES ? realloc(strings->bytes, size) : NULL;

		if (!more)
			return false;
		strings->bytes = more;
		strings->size = (uint32_t)size;
	}
	return true;
}

static void add_row(struct instance *instance, const char *call, const char *path, int64_t error,
		    uint64_t part, const char *bytes, size_t length)
{
	const char *name = instance->self.name;
	struct sonde_row row;

	if (!make_room(&instance->raw, strlen(name) + strlen(call) + strlen(path) + length) ||
	    !frame_row(&instance->raw, 0, &row)) {
		log_line(SONDE_WARNING, name, "capture: no room for %s", path);
		return;
	}
	sonde_set_str(&row, RAW_INSTANCE, name);
	sonde_set_str(&row, RAW_CALL, call);
	sonde_set_str(&row, RAW_PATH, path);
	if (error)
		sonde_set_u64(&row, RAW_ERROR, (uint64_t)error);
	sonde_set_u64(&row, RAW_PART, part);
	if (bytes)
		sonde_set_bytes(&row, RAW_BYTES, bytes, length);
}

/* What a call gave: `result` bytes, or a negative errno. */
static void add(struct instance *instance, const char *call, const char *path, const char *bytes,
		int64_t result)
{
	uint64_t part = 0;

	if (result < 0) {
		add_row(instance, call, path, -result, 0, NULL, 0);
		return;
	}
	do {
		size_t length = result < PART ? (size_t)result : PART;

		add_row(instance, call, path, 0, part++, bytes, length);
		bytes += length;
		result -= (int64_t)length;
	} while (result > 0);
}

/* ---- The services in its way */

static struct sonde_file *captured_open(struct sonde_instance *self, uint32_t mode,
					const char *path)
{
	struct sonde_file *file = host_services.open(self, mode, path);
	int err = errno;

	add(instance_of(self), "open", path, NULL, file ? 0 : -err);
	errno = err;
	return file;
}

static int64_t add_read(struct sonde_file *file, const char *text, int64_t length)
{
	struct files *files = file_owner(file);

	add((struct instance *)((char *)files - offsetof(struct instance, files)), "read",
	    file_path(file), text, length);
	return length;
}

static int64_t captured_read(struct sonde_file *file, const char **text)
{
	int64_t length = host_services.read(file, text);

	return add_read(file, *text, length);
}

static int64_t captured_read_lines(struct sonde_file *file, uint64_t limit, const char **text)
{
	int64_t length = host_services.read_lines(file, limit, text);

	return add_read(file, *text, length);
}

static int64_t captured_list(struct sonde_instance *self, const char *path, const char **names)
{
	int64_t count = host_services.list(self, path, names);
	const char *end = *names;

	for (int64_t i = 0; i < count; i++)
		end += strlen(end) + 1;
	add(instance_of(self), "list", path, *names, count < 0 ? count : end - *names);
	return count;
}

static int64_t captured_obtain(struct sonde_instance *self, const char *name,
			       int64_t (*call)(void *context, void *buffer, uint64_t size),
			       void *context, void *buffer, uint64_t size)
{
	int64_t length = call(context, buffer, size);

	add(instance_of(self), "obtain", name, buffer, length);
	return length;
}

static void make_once(void)
{
	char why[256];

	if (schema_make(&raw_table, &schema, why, sizeof why))
		abort(); /* a mistake in this file, or no memory for it */
	services = host_services;
	services.open = captured_open;
	services.read = captured_read;
	services.list = captured_list;
	services.obtain = captured_obtain;
	services.read_lines = captured_read_lines;
}

/* As it must stand to be read back: a dollar sign is doubled, the interval is its own. */
void capture_tell_section(const struct instance *instance)
{
	const struct config_section *section = instance->section;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	fprintf(out, "[%s]\n", section->name);
	for (size_t i = 0; i < section->nkeys; i++) {
		const struct config_key *key = &section->keys[i];

		if (strcmp(key->name, "interval") == 0)
			continue;
		fprintf(out, "%s = ", key->name);
		for (const char *c = key->value; *c; c++)
			fprintf(out, *c == '$' ? "$$" : "%c", *c);
		fputc('\n', out);
	}
	fprintf(out, "interval = %lluns\n", (unsigned long long)instance->keys.interval);
	if (fclose(out) == 0)
		stream_config(instance->stream, text);
	free(text);
}

int capture_begin(struct instance *instance)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int err;

	pthread_once(&once, make_once);
	err = frame_add_table(&instance->raw, schema, raw_table.rows, 0);
	if (err)
		return err;
	instance->self.host = &services;
	capture_tell_section(instance);
	return 0;
}

uint32_t capture_views(const struct instance *instance, struct sonde_view *view)
{
	if (!instance->raw.ntables || !instance->raw.tables[0].nrows)
		return 0;
	frame_views(&instance->raw, view);
	view->instance = "sonde";
	return 1;
}

void capture_taken(struct instance *instance)
{
	frame_begin(&instance->raw);
}
