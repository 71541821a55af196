/* For tests of streams: a table with every type of column, instants of rows that the test sets, bytes in memory, and rows
 * as text, which is what tests compare. */
#ifndef STREAM_H
#define STREAM_H

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sonde/plugin.h>

#include "core/frame.h"
#include "core/instant.h"
#include "core/records.h"
#include "core/schema.h"
#include "shadow.h"
#include "wire/reader.h"
#include "wire/writer.h"

/* Bytes that a writer emitted, or that a reader is to read. */
struct bytes {
	unsigned char *data;
	size_t length, at;
	uint32_t emits;
	size_t ends[4096];      /* length after each emission */
	uint32_t flag_of[4096]; /* its flags */
	int err;                /* to be returned by the next emission */
};

static inline int bytes_emit(void *context, const void *data, size_t length, uint32_t flags)
{
	struct bytes *bytes = context;
	int err = bytes->err;

	if (err) {
		bytes->err = 0;
		return err;
	}
	bytes->data = realloc(bytes->data, bytes->length + length);
	memcpy(bytes->data + bytes->length, data, length);
	bytes->length += length;
	bytes->flag_of[bytes->emits % 4096] = flags;
	bytes->ends[bytes->emits++ % 4096] = bytes->length;
	return 0;
}

static inline int64_t bytes_read(void *context, void *buffer, size_t size)
{
	struct bytes *bytes = context;
	size_t n = bytes->length - bytes->at < size ? bytes->length - bytes->at : size;

	if (n)
		memcpy(buffer, bytes->data + bytes->at, n);
	bytes->at += n;
	return (int64_t)n;
}

static inline int64_t bytes_seek(void *context, int64_t offset, int whence)
{
	struct bytes *bytes = context;
	int64_t at = whence == SEEK_SET   ? offset
		     : whence == SEEK_CUR ? (int64_t)bytes->at + offset
					  : (int64_t)bytes->length + offset;

	if (at < 0 || (size_t)at > bytes->length)
		return -EINVAL;
	bytes->at = (size_t)at;
	return at;
}

static inline void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	memset(bytes, 0, sizeof *bytes);
}

/* A table of processes: pid and comm name a row. T_HIST has four slots. */
enum { T_PID, T_COMM, T_TICKS, T_DELTA, T_LOAD, T_STATE, T_HIST, T_SLOTS = T_HIST + 4 };

static const struct sonde_column t_columns[] = {
	{ "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "field 1", .help = "process" },
	{ "comm", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "field 2", .help = "name",
	  .sensitivity = SONDE_NAME },
	{ "ticks", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "field 14", .help = "time",
	  .wrap = 64 },
	{ "delta", SONDE_I64, SONDE_GAUGE, SONDE_COUNT("pages"), .origin = "field 24",
	  .help = "may be negative" },
	{ "load", SONDE_F64, SONDE_GAUGE, SONDE_RATIO, .origin = "load", .help = "a double" },
	{ "state", SONDE_STR, SONDE_STATE, SONDE_NONE, .origin = "field 3", .help = "a letter" },
	{ "waits", SONDE_HIST, SONDE_COUNTER, SONDE_COUNT("waits"), .origin = "hist",
	  .help = "histogram", .slots = 4 },
};
static const struct sonde_table t_table = { "task", SONDE_ARRAY(t_columns),
					    .origin = "/proc/PID/stat", .help = "processes",
					    .rows = 4 };

/* A table wider than 64 slots, with one row and no key. */
enum { W_SLOTS = 150 };

static inline struct sonde_schema *make_schema(const struct sonde_table *table)
{
	struct sonde_schema *schema = NULL;
	char why[200] = "";

	if (schema_make(table, &schema, why, sizeof why)) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	return schema;
}

static inline struct sonde_schema *wide_schema(void)
{
	static struct sonde_column columns[W_SLOTS];
	static char names[W_SLOTS][16];

	for (int i = 0; i < W_SLOTS; i++) {
		snprintf(names[i], sizeof names[i], "nr_%d", i);
		columns[i] = (struct sonde_column) { names[i],           SONDE_U64,
						     SONDE_GAUGE,        SONDE_COUNT("pages"),
						     .origin = names[i], .help = "help" };
	}
	return make_schema(&(struct sonde_table) {
		"wide", SONDE_ARRAY(columns), .origin = "/proc/vmstat", .help = "many numbers" });
}

static const struct sonde_tag a_tag = { "env", "prod" };
static const struct sonde_stream_header a_header = {
	.start_id = 0x1122334455667788u,
	.host = "h\xc3\xb6st",
	.machine_id = "m1",
	.boot_id = "b1",
	.kernel = "6.1.0",
	.arch = "x86_64",
	.label = "",
	.tags = &a_tag,
	.anchor = { .monotonic = 900,
		    .boottime = 1000,
		    .realtime = 1700000000000000000,
		    .offset = -5,
		    .max_error = 7,
		    .synchronised = 1 },
	.ntags = 1,
	.user_hz = 100,
	.page_size = 4096,
	.ncpus = 2,
	.online = "0-1",
	.nodes = "0",
	.version = "1.0",
};

/* What a writer is given: a frame of rows, and the instant around it. */
struct scene {
	struct sonde_frame frame;
	struct sonde_view views[16];
	struct instant instant;
	const char *instances[16];
};

static inline void scene_table(struct scene *scene, const struct sonde_schema *schema,
			       const char *instance)
{
	scene->instances[scene->frame.ntables] = instance;
	frame_add_table(&scene->frame, schema, 4096, 0);
}

/* Rows set before scene_views(); the instant is number `sequence`, begun at `begin`. */
static inline const struct instant *scene_instant(struct scene *scene, uint64_t sequence,
						  uint64_t begin)
{
	frame_views(&scene->frame, scene->views);
	scene->instant = (struct instant) { .header = &a_header,
					    .views = scene->views,
					    .nviews = scene->frame.ntables,
					    .sequence = sequence,
					    .begin = begin,
					    .end = begin + 300 };
	for (uint32_t i = 0; i < scene->frame.ntables; i++) {
		scene->views[i].header = &a_header;
		scene->views[i].instance = scene->instances[i];
		scene->views[i].sequence = sequence;
		scene->views[i].begin = begin;
		scene->views[i].end = begin + 300;
	}
	return &scene->instant;
}

static inline void scene_task(struct scene *scene, uint32_t table, uint64_t pid, const char *comm,
			      uint64_t ticks)
{
	struct sonde_row row;

	if (!frame_row(&scene->frame, table, &row))
		abort();
	sonde_set_u64(&row, T_PID, pid);
	sonde_set_str(&row, T_COMM, comm);
	sonde_set_u64(&row, T_TICKS, ticks);
}

/* Text of rows, one a line, in order of their text. */
struct text {
	char *bytes;
	size_t used, size;
};

__attribute__((format(printf, 2, 3))) static inline void text_add(struct text *text,
								  const char *format, ...)
{
	va_list args;
	int n;

	if (text->size - text->used < 70000) {
		text->size = text->size * 2 + 140000;
		text->bytes = realloc(text->bytes, text->size);
	}
	va_start(args, format);
	n = vsnprintf(text->bytes + text->used, text->size - text->used, format, args);
	va_end(args);
	text->used += (size_t)n;
}

static inline void text_value(struct text *text, const struct sonde_view *view, uint32_t row,
			      uint32_t column)
{
	const struct sonde_column *c = &view->schema->columns[column];
	uint32_t slot = view->schema->slot[column], n = c->type == SONDE_HIST ? c->slots : 1;
	const uint64_t *slots = sonde_view_slots(view, row);
	uint32_t length;
	const char *bytes;

	for (uint32_t i = slot; i < slot + n; i++) {
		if (!sonde_view_has(view, row, i)) {
			text_add(text, " -");
		} else if (c->type == SONDE_STR) {
			bytes = sonde_view_bytes(view, slots[i], &length);
			text_add(text, " \"%.*s\"", (int)length, bytes);
		} else {
			text_add(text, " %" PRIx64, slots[i]);
		}
	}
}

static inline int text_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void text_instant(struct text *text, const struct instant *instant)
{
	text_add(text, "#%" PRIu64 " %" PRIu64 "-%" PRIu64 "\n", instant->sequence, instant->begin,
		 instant->end);
	for (uint32_t v = 0; v < instant->nviews; v++) {
		const struct sonde_view *view = &instant->views[v];
		char **lines = calloc(view->nrows + 1, sizeof *lines);

		text_add(text, "%s/%s%s\n", view->instance, view->schema->name,
			 view->flags & SONDE_PARTIAL ? " partial" : "");
		for (uint32_t r = 0; r < view->nrows; r++) {
			struct text line = { 0 };

			for (uint32_t c = 0; c < view->schema->ncolumns; c++)
				text_value(&line, view, r, c);
			lines[r] = line.bytes;
		}
		qsort(lines, view->nrows, sizeof *lines, text_order);
		for (uint32_t r = 0; r < view->nrows; r++) {
			text_add(text, "%s\n", lines[r]);
			free(lines[r]);
		}
		free(lines);
	}
}

/* All instants of a stream, as text, and a line more where the reader did not tell of all that changed. The reader's last answer comes back in *end, its state in *state. */
static inline struct text text_stream(struct bytes *bytes, int *end, struct reader_state *state)
{
	struct reader_options options = { .read = bytes_read, .context = bytes };
	struct reader *reader = reader_new(&options);
	const struct instant *instant;
	struct shadows shadows = { 0 };
	struct text text = { 0 };

	bytes->at = 0;
	text_add(&text, "%s", "");
	while ((*end = reader_next(reader, &instant)) == 1) {
		text_instant(&text, instant);
		if (!shadow_instant(&shadows, instant))
			text_add(&text, "more has changed than is told\n");
	}
	shadows_free(&shadows);
	if (state)
		*state = *reader_state(reader);
	reader_free(reader);
	return text;
}

#endif
