/* For tests of datagrams: what a writer sends, what a reader hands on, and rows to send. */
#ifndef DATAGRAMS_H
#define DATAGRAMS_H

#include "stream.h"
#include "test.h"

#include "wire/datagram.h"

enum { MOST = 4096 };

/* What a writer sent. */
struct post {
	struct letter {
		unsigned char *bytes;
		size_t length;
	} letters[MOST];
	uint32_t count;
};

static inline int post_emit(void *context, const void *bytes, size_t length, uint32_t flags)
{
	struct post *post = context;

	(void)flags;
	if (post->count == MOST)
		abort();
	post->letters[post->count].bytes = malloc(length);
	memcpy(post->letters[post->count].bytes, bytes, length);
	post->letters[post->count++].length = length;
	return 0;
}

/* What a reader handed on. */
struct inbox {
	struct outlet outlet;
	struct text text; /* without gaps */
	uint32_t instants, partial, gaps, rows;
	uint64_t sequence;
	int64_t realtime;
	char host[64], tag[64], gap[200];
};

static inline int inbox_instant(struct outlet *outlet, const struct instant *instant)
{
	struct inbox *inbox = (struct inbox *)outlet;
	struct instant own = *instant;

	for (uint32_t i = 0; i < instant->nviews; i++) {
		const struct sonde_view *view = &instant->views[i];
		uint32_t length;
		const char *bytes;

		if (strcmp(view->schema->name, "gap") == 0) {
			inbox->gaps++;
			bytes = sonde_view_bytes(view, sonde_view_slots(view, 0)[GAP_TEXT],
						 &length);
			snprintf(inbox->gap, sizeof inbox->gap, "%.*s", (int)length, bytes);
			own.nviews--;
			continue;
		}
		inbox->partial += view->flags & SONDE_PARTIAL;
		inbox->rows += view->nrows;
		CU_ASSERT_EQUAL(view->sequence, instant->sequence);
		CU_ASSERT_PTR_EQUAL(view->header, instant->header);
	}
	inbox->instants++;
	inbox->sequence = instant->sequence;
	inbox->realtime = instant->realtime;
	snprintf(inbox->host, sizeof inbox->host, "%s", instant->header->host);
	snprintf(inbox->tag, sizeof inbox->tag, "%s=%s", instant->header->tags[0].name,
		 instant->header->tags[0].value);
	text_instant(&inbox->text, &own);
	return 0;
}

struct stage {
	struct sonde_schema *task, *wide;
	struct scene scene;
	struct post post;
	struct datagram_writer *writer;
	struct datagram_reader *reader;
	struct inbox inbox;
	struct text put;
	size_t size;
};

static inline struct stage *stage_new(size_t size)
{
	struct stage *stage = calloc(1, sizeof *stage);

	stage->task = make_schema(&t_table);
	stage->wide = wide_schema();
	scene_table(&stage->scene, stage->task, "process");
	scene_table(&stage->scene, stage->wide, "vmstat");
	stage->size = size;
	stage->writer = datagram_writer_new(&(struct datagram_options) {
		.emit = post_emit, .context = &stage->post, .size = size });
	stage->inbox.outlet.instant = inbox_instant;
	stage->reader = datagram_reader_new(&stage->inbox.outlet);
	text_add(&stage->put, "%s", "");
	text_add(&stage->inbox.text, "%s", "");
	return stage;
}

static inline void empty_post(struct stage *stage)
{
	for (uint32_t i = 0; i < stage->post.count; i++)
		free(stage->post.letters[i].bytes);
	stage->post.count = 0;
}

static inline void stage_free(struct stage *stage)
{
	empty_post(stage);
	datagram_writer_free(stage->writer);
	datagram_reader_free(stage->reader);
	frame_free(&stage->scene.frame);
	schema_free(stage->task);
	schema_free(stage->wide);
	free(stage->put.bytes);
	free(stage->inbox.text.bytes);
	free(stage);
}

static inline void put(struct stage *stage, uint64_t sequence, uint64_t begin)
{
	struct instant instant = *scene_instant(&stage->scene, sequence, begin);

	instant.realtime = 1700000000000000000 + (int64_t)begin;
	text_instant(&stage->put, &instant);
	CU_ASSERT_EQUAL(datagram_instant(stage->writer, &instant), 0);
	for (uint32_t i = 0; i < stage->post.count; i++)
		CU_ASSERT(stage->post.letters[i].length <= (stage->size ? stage->size : 1400));
}

static inline int receive(struct stage *stage, uint64_t peer, uint32_t i)
{
	return datagram_receive(stage->reader, peer, stage->post.letters[i].bytes,
				stage->post.letters[i].length);
}

static inline void take_all(struct stage *stage)
{
	for (uint32_t i = 0; i < stage->post.count; i++)
		CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
}

static inline const struct datagram_counts *counts(struct stage *stage)
{
	return datagram_counts(stage->reader, 0);
}

/* `n` processes of 1,000 on, and a row of 150 numbers. */
static inline void many_rows(struct stage *stage, uint32_t n, uint64_t value)
{
	struct sonde_row row;
	char name[32];

	frame_begin(&stage->scene.frame);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "worker %u", i * 7919u);
		scene_task(&stage->scene, 0, 1000 + i, name, value * i * 2654435761u);
	}
	frame_row(&stage->scene.frame, 1, &row);
	for (uint32_t i = 0; i < W_SLOTS; i++)
		if (i % 10 != 9)
			sonde_set_u64(&row, i, (i + value) * 0x9e3779b97f4a7c15u);
}

#endif
