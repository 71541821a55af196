/* What the tests of sinks share: a host that remembers what it was told, and views made of a few
 * rows. */
#ifndef SINK_HOST_H
#define SINK_HOST_H

#include <stdlib.h>

#include <sonde/plugin.h>

#include "core/frame.h"
#include "core/schema.h"

#include "test.h"

static struct {
	char log[16384]; /* a line a message */
	unsigned messages, restarts, received;
	uint64_t peer;
	char bytes[65536];
	uint64_t length;
} told;

static inline void told_log(struct sonde_instance *self, uint32_t level, const char *message)
{
	size_t used = strlen(told.log);

	(void)self;
	if (level > SONDE_NOTICE)
		return;
	told.messages++;
	snprintf(told.log + used, sizeof told.log - used, "%s\n", message);
}

static inline int told_restart(struct sonde_instance *self)
{
	(void)self;
	told.restarts++;
	return 0;
}

static inline int told_receive(struct sonde_instance *self, uint32_t carriage, uint64_t peer,
			       const void *bytes, uint64_t length)
{
	(void)self;
	(void)carriage;
	told.received++;
	told.peer = peer;
	told.length = length;
	memcpy(told.bytes, bytes, length < sizeof told.bytes ? length : sizeof told.bytes);
	return 0;
}

/* The test's end frees it. */
static inline int told_grow(struct sonde_instance *self, void **block, uint64_t size)
{
	(void)self;
	*block = calloc(1, size);
	return *block ? 0 : -ENOMEM;
}

static const struct sonde_host told_host = { .size = sizeof told_host,
					     .log = told_log,
					     .grow = told_grow,
					     .restart = told_restart,
					     .receive = told_receive };

static const struct sonde_tag some_tags[] = { { "env", "prod" }, { "dc", "fra 1" } };
static const struct sonde_stream_header some_header = {
	.start_id = 1, .host = "web1", .boot_id = "b-1", .tags = some_tags, .user_hz = 100
};

/* An instance of the plugin in this test: conf and state are the caller's, zeroed here. */
static inline struct sonde_instance told_instance(void *conf, size_t conf_size, void *state,
						  size_t state_size)
{
	memset(&told, 0, sizeof told);
	memset(conf, 0, conf_size);
	memset(state, 0, state_size);
	return (struct sonde_instance) { .host = &told_host,
					 .conf = conf,
					 .state = state,
					 .name = "test",
					 .label = "",
					 .root = "",
					 .header = &some_header,
					 .interval = 1000000000 };
}

/* A table and its rows of one instant. */
struct sample {
	struct sonde_schema *schema;
	struct sonde_frame frame;
	struct sonde_view view;
};

static inline void sample_make(struct sample *sample, const struct sonde_table *table)
{
	char why[256] = "";

	memset(sample, 0, sizeof *sample);
	CU_ASSERT_EQUAL_FATAL(schema_make(table, &sample->schema, why, sizeof why), 0);
	CU_ASSERT_EQUAL_FATAL(frame_add_table(&sample->frame, sample->schema, 64, 0), 0);
}

static inline struct sonde_row sample_row(struct sample *sample)
{
	struct sonde_row row;

	CU_ASSERT_FATAL(frame_row(&sample->frame, 0, &row));
	return row;
}

/* Read at 1700000000.000000001 s, 5000000007 ns after the boot, as the 3rd instant. */
static inline const struct sonde_view *sample_view(struct sample *sample, const char *instance)
{
	frame_views(&sample->frame, &sample->view);
	sample->view.header = &some_header;
	sample->view.instance = instance;
	sample->view.sequence = 3;
	sample->view.begin = 5000000007u;
	sample->view.end = 5000000009u;
	sample->view.realtime = 1700000000000000001;
	return &sample->view;
}

static inline void sample_free(struct sample *sample)
{
	frame_free(&sample->frame);
	schema_free(sample->schema);
}

/* A file's whole text, terminated; static. */
static inline const char *text_of(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;

	if (file)
		fclose(file);
	text[length] = '\0';
	return text;
}

#endif
