/* Datagrams there and back: what was put in comes out, however they travel, and nothing else does. */
#include <lz4.h>

#include "stream.h"
#include "test.h"

#include "core/clock.h"
#include "wire/datagram.h"
#include "wire/format.h"
#include "wire/lz4.h"
#include "wire/pack.h"

const char suite[] = "datagram";

enum { MOST = 4096 };

/* What a writer sent. */
struct post {
	struct letter {
		unsigned char *bytes;
		size_t length;
	} letters[MOST];
	uint32_t count;
};

static int post_emit(void *context, const void *bytes, size_t length, uint32_t flags)
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

static int inbox_instant(struct outlet *outlet, const struct instant *instant)
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

static struct stage *stage_new(size_t size)
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

static void empty_post(struct stage *stage)
{
	for (uint32_t i = 0; i < stage->post.count; i++)
		free(stage->post.letters[i].bytes);
	stage->post.count = 0;
}

static void stage_free(struct stage *stage)
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

static void put(struct stage *stage, uint64_t sequence, uint64_t begin)
{
	struct instant instant = *scene_instant(&stage->scene, sequence, begin);

	instant.realtime = 1700000000000000000 + (int64_t)begin;
	text_instant(&stage->put, &instant);
	CU_ASSERT_EQUAL(datagram_instant(stage->writer, &instant), 0);
	for (uint32_t i = 0; i < stage->post.count; i++)
		CU_ASSERT(stage->post.letters[i].length <= (stage->size ? stage->size : 1400));
}

static int receive(struct stage *stage, uint64_t peer, uint32_t i)
{
	return datagram_receive(stage->reader, peer, stage->post.letters[i].bytes,
				stage->post.letters[i].length);
}

static void take_all(struct stage *stage)
{
	for (uint32_t i = 0; i < stage->post.count; i++)
		CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
}

static const struct datagram_counts *counts(struct stage *stage)
{
	return datagram_counts(stage->reader, 0);
}

/* `n` processes of 1,000 on, and a row of 150 numbers. */
static void many_rows(struct stage *stage, uint32_t n, uint64_t value)
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

/* ---- Values */

static void round_trip(void)
{
	struct stage *stage = stage_new(0);
	struct sonde_row row;

	frame_begin(&stage->scene.frame);
	frame_row(&stage->scene.frame, 0, &row);
	sonde_set_u64(&row, T_PID, UINT64_MAX);
	sonde_set_bytes(&row, T_COMM, "inner-job-\xe5\x90\x8c\xe6\xad", 15);
	sonde_set_u64(&row, T_TICKS, (uint64_t)1 << 63);
	sonde_set_i64(&row, T_DELTA, INT64_MIN);
	sonde_set_f64(&row, T_LOAD, 0.1);
	sonde_set_str(&row, T_STATE, "");
	for (uint32_t i = 0; i < 4; i++)
		sonde_set_u64(&row, T_HIST + i, UINT64_MAX - i);
	frame_row(&stage->scene.frame, 0, &row); /* nothing is there */
	frame_row(&stage->scene.frame, 0, &row);
	sonde_set_u64(&row, T_PID, 0);
	sonde_set_i64(&row, T_DELTA, INT64_MAX);
	sonde_set_f64(&row, T_LOAD, -0.0);
	sonde_set_u64(&row, T_HIST + 2, 0);
	put(stage, 7, 5000); /* vmstat has no row, and is said to have been read */
	take_all(stage);
	CU_ASSERT_STRING_EQUAL(stage->inbox.text.bytes, stage->put.bytes);
	CU_ASSERT_PTR_NOT_NULL(strstr(stage->inbox.text.bytes, "vmstat/wide\n"));
	CU_ASSERT_EQUAL(stage->inbox.realtime, 1700000000000005000);
	CU_ASSERT_STRING_EQUAL(stage->inbox.host, a_header.host);
	CU_ASSERT_STRING_EQUAL(stage->inbox.tag, "env=prod");
	CU_ASSERT_EQUAL(stage->inbox.gaps, 0);
	stage_free(stage);
}

/* Rows that are missing at the sender's are not ended at the receiver's. */
static void partial_views(void)
{
	struct stage *stage = stage_new(0);
	struct instant instant;

	many_rows(stage, 3, 1);
	instant = *scene_instant(&stage->scene, 1, 1000);
	stage->scene.views[0].flags = SONDE_PARTIAL;
	CU_ASSERT_EQUAL(datagram_instant(stage->writer, &instant), 0);
	take_all(stage);
	CU_ASSERT_EQUAL(stage->inbox.partial, 1);
	CU_ASSERT_EQUAL(stage->inbox.rows, 4);
	stage_free(stage);
}

/* Cases 154 and 155: no datagram is larger than asked, at any size, and all rows arrive whole. */
static void sizes(void)
{
	static const size_t at[] = { 512, 513, 548, 700, 1000, 1400, 1432, 1472, 8969, 65507 };

	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
		struct stage *stage = stage_new(at[i]);

		for (uint64_t n = 1; n <= 3; n++) {
			many_rows(stage, 200, n);
			put(stage, n, n * 1000000);
		}
		take_all(stage);
		CU_ASSERT_STRING_EQUAL(stage->inbox.text.bytes, stage->put.bytes);
		CU_ASSERT_EQUAL(stage->inbox.partial + stage->inbox.gaps, 0);
		stage_free(stage);
	}
}

static void too_small(void)
{
	struct stage *stage = stage_new(511);

	many_rows(stage, 1, 1);
	CU_ASSERT_EQUAL(datagram_instant(stage->writer, scene_instant(&stage->scene, 1, 1000)),
			-EMSGSIZE);
	CU_ASSERT_EQUAL(stage->post.count, 0);
	stage_free(stage);
}

/* 70,000 bytes of names (case 154): cut where they must be, told apart by a checksum of the whole, and flagged. */
static void long_strings(void)
{
	struct stage *stage = stage_new(512);
	char text[8000], head[24], tail[16];
	struct sonde_row row;

	memset(text, 'x', sizeof text);
	frame_begin(&stage->scene.frame);
	for (int i = 0; i < 9; i++) {
		frame_row(&stage->scene.frame, 0, &row);
		sonde_set_u64(&row, T_PID, 1);
		text[7999] = (char)('a' + i);
		for (size_t k = 0; k < 7999; k++) /* so that it does not compress */
			text[k] = (char)('A' + (k * k * 31 + k * 7 + k / 13) % 57);
		sonde_set_bytes(&row, T_COMM, text, sizeof text);
		sonde_set_u64(&row, T_TICKS, (uint64_t)i);
		sonde_set_bytes(&row, T_STATE, text, 8000);
	}
	text[7999] = 'a';
	put(stage, 1, 1000);
	take_all(stage);
	CU_ASSERT_EQUAL(stage->inbox.instants, 1);
	CU_ASSERT_EQUAL(stage->inbox.rows, 9);
	/* RFC 9923's FNV-1a of the first string, worked out here. */
	uint32_t hash = 2166136261u;
	for (size_t k = 0; k < sizeof text; k++)
		hash = (hash ^ (unsigned char)text[k]) * 16777619u;
	snprintf(tail, sizeof tail, "\xe2\x80\xa6#%08x", hash);
	CU_ASSERT_PTR_NOT_NULL(strstr(stage->inbox.text.bytes, tail));
	snprintf(head, sizeof head, "\"%.20s", text);
	CU_ASSERT_PTR_NOT_NULL(strstr(stage->inbox.text.bytes, head)); /* its beginning */
	CU_ASSERT(counts(stage)->cut >= 18);
	stage_free(stage);
}

/* ---- Ways */

/* Datagrams of 5 instants, `from` being where each begins; definitions and the first instant are taken. */
static struct stage *five(uint32_t from[6])
{
	struct stage *stage = stage_new(512);

	for (uint32_t n = 0; n < 5; n++) {
		from[n] = stage->post.count;
		many_rows(stage, 40, n + 1);
		put(stage, n + 1, 1000 + n);
	}
	from[5] = stage->post.count;
	for (uint32_t i = 0; i < from[1]; i++)
		CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
	CU_ASSERT_EQUAL(stage->inbox.instants, 1);
	CU_ASSERT(from[2] - from[1] >= 3);
	return stage;
}

static void reorder(void)
{
	uint32_t from[6], n = 0;
	struct stage *stage = five(from);

	for (uint32_t k = 1; k < 5; k++)
		for (uint32_t i = from[k + 1]; i-- > from[k]; n++)
			CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
	CU_ASSERT_STRING_EQUAL(stage->inbox.text.bytes, stage->put.bytes);
	CU_ASSERT_EQUAL(counts(stage)->reordered, n - 4);
	CU_ASSERT_EQUAL(counts(stage)->lost, 0);
	CU_ASSERT_EQUAL(counts(stage)->late, 0);
	CU_ASSERT_EQUAL(stage->inbox.gaps, 0);
	stage_free(stage);
}

/* The last datagram of an instant comes among those of the next one: nothing is lost. */
static void reorder_across(void)
{
	uint32_t from[6];
	struct stage *stage = five(from);

	for (uint32_t i = from[1]; i < from[5]; i++)
		if (i != from[2] - 1 && i != from[2])
			CU_ASSERT_EQUAL(receive(stage, 1, i), 0)
		else
			CU_ASSERT_EQUAL(receive(stage, 1, i == from[2] ? i - 1 : i + 1), 0)
	CU_ASSERT_STRING_EQUAL(stage->inbox.text.bytes, stage->put.bytes);
	CU_ASSERT_EQUAL(counts(stage)->reordered, 1);
	stage_free(stage);
}

/* Too late: time does not go back, and what that costs is said. */
static void late(void)
{
	uint32_t from[6], missing;
	struct stage *stage = five(from);

	missing = from[2] - 1;
	for (uint32_t i = from[1]; i < from[4]; i++)
		if (i != missing)
			CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
	CU_ASSERT_EQUAL(stage->inbox.instants, 4);
	CU_ASSERT_EQUAL(counts(stage)->lost, 1);
	CU_ASSERT(stage->inbox.partial > 0);
	CU_ASSERT_STRING_EQUAL(
		stage->inbox.gap,
		"of its datagrams 1 did not come, 0 came too late; 0 rows were of tables that did not come");
	CU_ASSERT_EQUAL(receive(stage, 1, missing), 0);
	CU_ASSERT_EQUAL(stage->inbox.instants, 4);
	for (uint32_t i = from[4]; i < from[5]; i++)
		CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
	CU_ASSERT_EQUAL(counts(stage)->lost, 0);
	CU_ASSERT_EQUAL(counts(stage)->late, 1);
	CU_ASSERT_EQUAL(stage->inbox.sequence, 5);
	CU_ASSERT_EQUAL(stage->inbox.gaps, 2);
	stage_free(stage);
}

static void duplicates(void)
{
	uint32_t from[6];
	struct stage *stage = five(from);

	for (uint32_t i = from[1]; i < from[5]; i++)
		for (int twice = 0; twice < 2; twice++)
			CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
	CU_ASSERT_STRING_EQUAL(stage->inbox.text.bytes, stage->put.bytes);
	CU_ASSERT_EQUAL(counts(stage)->duplicates, from[5] - from[1]);
	CU_ASSERT_EQUAL(counts(stage)->received, from[1] + 2 * (from[5] - from[1]));
	CU_ASSERT_EQUAL(counts(stage)->late + counts(stage)->reordered, 0);
	stage_free(stage);
}

/* Each datagram of an instant in turn: what comes is a part of what was sent, flagged, counted and told. */
static void loss(void)
{
	uint32_t from[6], ndatagrams = 1;

	for (uint32_t skip = 0; skip < ndatagrams; skip++) {
		struct stage *stage = five(from);
		char *line, *save = NULL;

		ndatagrams = from[2] - from[1];
		for (uint32_t i = from[1]; i < from[3]; i++)
			if (i != from[1] + skip)
				CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
		CU_ASSERT_EQUAL(counts(stage)->lost, 1);
		CU_ASSERT_EQUAL(stage->inbox.instants, 3);
		CU_ASSERT_EQUAL(stage->inbox.gaps, 1);
		CU_ASSERT(stage->inbox.partial > 0);
		for (line = strtok_r(stage->inbox.text.bytes, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			if (line[0] == ' ' && !strstr(line, " - ")) /* whole rows of `task` */
				CU_ASSERT_PTR_NOT_NULL(strstr(stage->put.bytes, line));
		stage_free(stage);
	}
}

/* ---- Definitions */

/* A receiver that came later: rows wait for their tables, which come again a second after the first time. */
static void tables_come_later(void)
{
	struct stage *stage = stage_new(512);
	uint32_t from;

	many_rows(stage, 2, 1);
	put(stage, 1, 1);
	empty_post(stage);
	stage->put.used = 0;
	for (uint64_t n = 2; n < 12; n++) {
		many_rows(stage, 2, n);
		put(stage, n, n * 50000000);
	}
	take_all(stage);
	CU_ASSERT_EQUAL(stage->inbox.instants, 0);
	from = stage->post.count;
	many_rows(stage, 2, 12);
	put(stage, 12, NS_PER_S + 1);
	for (uint32_t i = from; i < stage->post.count; i++)
		CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
	CU_ASSERT_EQUAL(stage->inbox.instants, 11);
	CU_ASSERT_STRING_EQUAL(stage->inbox.text.bytes, stage->put.bytes);
	CU_ASSERT_EQUAL(counts(stage)->lost + counts(stage)->unknown_table, 0);
	stage_free(stage);
}

/* They never come: 64 instants wait, the rest is counted. Two processes and a wide row that is split at this size. */
static void tables_never_come(void)
{
	struct stage *stage = stage_new(1400);
	uint64_t unknown;

	many_rows(stage, 2, 1);
	put(stage, 1, 1);
	empty_post(stage);
	for (uint64_t n = 2; n < 102; n++) {
		frame_begin(&stage->scene.frame);
		scene_task(&stage->scene, 0, 1, "a", n);
		scene_task(&stage->scene, 0, 2, "b", n);
		put(stage, n, n);
	}
	for (uint32_t i = 0; i < 64; i++)
		CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
	CU_ASSERT_EQUAL(counts(stage)->unknown_table, 0);
	for (uint32_t i = 64; i < 100; i++)
		CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
	unknown =
		counts(stage)
			->unknown_table; /* 3 objects an instant: two rows, and that vmstat had none */
	CU_ASSERT_EQUAL(unknown, 98 * 3);
	CU_ASSERT_EQUAL(stage->inbox.instants, 0);
	stage_free(stage);
}

/* A definition that was lost in part is whole after the next repetition. */
static void pieces(void)
{
	struct stage *stage = stage_new(512);
	uint32_t first;

	many_rows(stage, 1, 1);
	put(stage, 1, 1);
	first = stage->post.count;
	for (uint32_t i = 1; i < first; i += 2)
		CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
	for (uint64_t n = 2; n < 12; n++) {
		many_rows(stage, 1, n);
		put(stage, n, n * 40 * NS_PER_S);
	}
	for (uint32_t i = first; i < stage->post.count; i++)
		CU_ASSERT_EQUAL(receive(stage, 1, i), 0);
	CU_ASSERT_EQUAL(stage->inbox.sequence, 11);
	CU_ASSERT(stage->inbox.instants >= 8);
	stage_free(stage);
}

/* ---- Senders */

static void two_senders(void)
{
	struct stage *a = stage_new(0), *b = stage_new(0);

	for (uint64_t n = 1; n <= 3; n++) {
		many_rows(a, 5, n);
		put(a, n, n);
		many_rows(b, 7, n + 100);
		put(b, n, n);
	}
	for (uint32_t i = 0; i < a->post.count || i < b->post.count; i++) {
		if (i < a->post.count)
			receive(a, 1, i);
		if (i < b->post.count) /* into a's reader */
			datagram_receive(a->reader, 1, b->post.letters[i].bytes,
					 b->post.letters[i].length);
	}
	CU_ASSERT_EQUAL(a->inbox.instants, 6);
	CU_ASSERT_EQUAL(a->inbox.rows, 3 * 6 + 3 * 8);
	for (uint32_t i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(datagram_counts(a->reader, i)->lost +
					datagram_counts(a->reader, i)->duplicates,
				0);
	CU_ASSERT_PTR_NULL(datagram_counts(a->reader, 2));
	for (uint32_t i = 0; i < a->post.count; i++) /* the same start claimed from elsewhere */
		receive(a, 2, i);
	CU_ASSERT_EQUAL(a->inbox.instants, 9);
	CU_ASSERT_EQUAL(datagram_counts(a->reader, 2)->duplicates, 0);
	stage_free(a);
	stage_free(b);
}

/* Numbers and tables begin again, and nothing of the old start is taken for the new. */
static void restart(void)
{
	struct stage *stage = stage_new(0);

	many_rows(stage, 3, 1);
	put(stage, 1, 1);
	take_all(stage);
	empty_post(stage);
	datagram_writer_free(stage->writer);
	stage->writer = datagram_writer_new(
		&(struct datagram_options) { .emit = post_emit, .context = &stage->post });
	many_rows(stage, 3, 2);
	put(stage, 1, 2);
	take_all(stage);
	CU_ASSERT_STRING_EQUAL(stage->inbox.text.bytes, stage->put.bytes);
	CU_ASSERT_EQUAL(stage->inbox.gaps, 0);
	CU_ASSERT_PTR_NOT_NULL(datagram_counts(stage->reader, 1));
	stage_free(stage);
}

/* 256 senders at most: whoever was silent for the longest is forgotten. */
static void senders_are_bounded(void)
{
	struct stage *stage = stage_new(0);

	many_rows(stage, 3, 1);
	put(stage, 1, 1);
	for (uint64_t peer = 0; peer < 1000; peer++)
		for (uint32_t i = 0; i < stage->post.count; i++) {
			receive(stage, peer, i);
			if (peer) /* peer 0 is never silent */
				receive(stage, 0, i);
		}
	CU_ASSERT_EQUAL(stage->inbox.instants, 1000);
	CU_ASSERT_PTR_NOT_NULL(datagram_counts(stage->reader, 255));
	CU_ASSERT_PTR_NULL(datagram_counts(stage->reader, 256));
	stage_free(stage);
}

/* ---- Hostile bytes */

static void every_bit(void)
{
	struct stage *stage = stage_new(0);

	many_rows(stage, 4, 1);
	put(stage, 1, 1);
	for (uint32_t i = 0; i < stage->post.count; i++) {
		struct letter *letter = &stage->post.letters[i];

		for (size_t bit = 0; bit < letter->length * 8; bit++) {
			letter->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			CU_ASSERT_EQUAL(receive(stage, 1, i), -EBADMSG);
			letter->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
	}
	CU_ASSERT_PTR_NULL(counts(stage));
	take_all(stage);
	CU_ASSERT_STRING_EQUAL(stage->inbox.text.bytes, stage->put.bytes);
	stage_free(stage);
}

static void every_length(void)
{
	struct stage *stage = stage_new(0);
	unsigned char longer[2000] = { 0 };

	many_rows(stage, 4, 1);
	put(stage, 1, 1);
	for (uint32_t i = 0; i < stage->post.count; i++) {
		const struct letter *letter = &stage->post.letters[i];

		for (size_t n = 0; n < letter->length; n++)
			CU_ASSERT_EQUAL(datagram_receive(stage->reader, 1, letter->bytes, n),
					-EBADMSG);
		memcpy(longer, letter->bytes, letter->length);
		CU_ASSERT_EQUAL(datagram_receive(stage->reader, 1, longer, letter->length + 1),
				-EBADMSG);
	}
	CU_ASSERT_PTR_NULL(counts(stage));
	stage_free(stage);
}

/* A datagram with this content behind [5, 1, 9, number], all checksums right. */
static int receive_content(struct stage *stage, uint64_t number, const void *content, size_t length)
{
	static unsigned char out[1 << 20];
	struct lz4_encoder *encoder = lz4_encoder_new();
	struct pack pack;
	int64_t used;
	int err;

	pack_new(&pack, 200000);
	pack_raw(&pack, FORMAT_BLOCK_BEGIN, 2);
	pack_array(&pack, 4);
	pack_uint32(&pack, 5);
	pack_uint32(&pack, 1);
	pack_uint32(&pack, 9);
	pack_uint64(&pack, number);
	pack_raw(&pack, content, length);
	used = lz4_begin(encoder, out, sizeof out);
	used += lz4_block(encoder, pack.bytes, pack.used, out + used, sizeof out - (size_t)used);
	used += lz4_end(encoder, out + used, sizeof out - (size_t)used);
	err = datagram_receive(stage->reader, 1, out, (size_t)used);
	lz4_encoder_free(encoder);
	free(pack.bytes);
	return err;
}

/* Cases 182, 183, 185, 187: counts that lie, nesting without end. */
static void hostile_objects(void)
{
	static const struct {
		const char *bytes;
		size_t length;
	} objects[] = {
		{ "\xdd\xff\x00\x00\x00", 5 },
		{ "\xdf\x40\x00\x00\x00", 5 },
		{ "\xc6\xff\xff\xff\xff", 5 },
		{ "\xc1", 1 },
		{ "\x91\xa1x", 3 },
		{ "\x90", 1 },
		{ "\x96\x09\x00\x00\x00\xce\x7f\xff\xff\xff\xc4\x01x", 13 }, /* a piece of 2 GiB */
		{ "\x96\x09\x03\x00\x00\x01\xc4\x01x", 9 },             /* of an unknown kind */
		{ "\x96\x09\x01\xcd\x04\x00\x00\x01\xc4\x01x", 11 },    /* of table 1,024 */
		{ "\x96\x09\x00\x00\x05\x02\xc4\x01x", 9 },             /* behind its end */
		{ "\x96\x09\x00\x00\x00\x01\xc4\x01x", 9 },             /* a header that is none */
		{ "\x96\x09\x01\x00\x00\x01\xc4\x01x", 9 },             /* a table that is none */
		{ "\x98\x0a\x00\xcd\x40\x00\xc3\x00\x00\x00\x00", 11 }, /* part 16,384 */
		{ "\x98\x0a\x00\x7f\xc3\x00\x00\x00\x00",
		  9 }, /* part 127 of number less than that */
		{ "\x98\x0a\x00\x00\x01\x00\x00\x00\x00", 9 }, /* whose last is no boolean */
		{ "\x98\x0a\x00\x00\xc3\x00\x00\x00\x00\x93\x0b\xcd\x04\x00\x00",
		  15 }, /* table 1,024 */
		{ "\x98\x0a\x00\x00\xc3\x00\x00\x00\x00\x93\x0b\xd1\xfb\xfe\x00", 15 }, /* -1,026 */
		{ "\x98\x0a\x00\x00\xc3\x00\x00\x00\x00\x93\x0b", 11 },
	};
	struct stage *stage = stage_new(0);
	char nested[10000], sum[72001];

	for (uint64_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
		CU_ASSERT_EQUAL(receive_content(stage, i, objects[i].bytes, objects[i].length),
				-EBADMSG);
	memset(nested, 0x91, sizeof nested);
	CU_ASSERT_EQUAL(receive_content(stage, 50, nested, sizeof nested), -EBADMSG);
	for (size_t i = 0; i + 3 <= sizeof sum; i += 3)
		memcpy(sum + i, "\xdc\xff\xff", 3);
	CU_ASSERT_EQUAL(receive_content(stage, 51, sum, sizeof sum - 1), -EBADMSG);
	/* An object of a newer format is passed over. */
	CU_ASSERT_EQUAL(receive_content(stage, 52, "\x92\x63\x80", 3), 0);
	CU_ASSERT_EQUAL(stage->inbox.instants, 0);
	CU_ASSERT_EQUAL(counts(stage)->malformed, sizeof objects / sizeof objects[0] + 2);
	stage_free(stage);
}

/* Two parts that say different things of one instant; one that comes behind the last. */
static void contradictions(void)
{
	struct stage *stage = stage_new(0);

	CU_ASSERT_EQUAL(receive_content(stage, 10, "\x98\x0a\x00\x00\xc2\x01\x01\x00\x00", 9), 0);
	CU_ASSERT_EQUAL(receive_content(stage, 11, "\x98\x0a\x00\x01\xc2\x02\x01\x00\x00", 9),
			-EBADMSG);
	CU_ASSERT_EQUAL(receive_content(stage, 12, "\x98\x0a\x00\x02\xc3\x01\x01\x00\x00", 9), 0);
	CU_ASSERT_EQUAL(receive_content(stage, 13, "\x98\x0a\x00\x03\xc3\x01\x01\x00\x00", 9),
			-EBADMSG);
	CU_ASSERT_EQUAL(counts(stage)->malformed, 2);
	stage_free(stage);
}

unsigned LZ4_XXH32(const void *input, size_t length, unsigned seed); /* in liblz4.a */

/* Case 189: 64 KiB that would become 16 MiB. It is refused after 256 KiB. */
static void inflation(void)
{
	static char zeros[15 << 20];
	static unsigned char out[1 << 17];
	struct stage *stage = stage_new(0);
	struct lz4_encoder *encoder = lz4_encoder_new();
	size_t used = (size_t)lz4_begin(encoder, out, sizeof out);
	int n = LZ4_compress_default(zeros, (char *)out + used + 4, sizeof zeros,
				     (int)(sizeof out - used - 4));

	CU_ASSERT(n > 60000 && n < 65000);
	put_le32(out + used, (uint32_t)n);
	put_le32(out + used + 4 + n, LZ4_XXH32(out + used + 4, (size_t)n, 0));
	put_le32(out + used + 8 + n, 0);
	put_le32(out + used + 12 + n, LZ4_XXH32(zeros, sizeof zeros, 0));
	CU_ASSERT_EQUAL(datagram_receive(stage->reader, 1, out, used + 16 + (size_t)n), -EBADMSG);
	CU_ASSERT_PTR_NULL(counts(stage));
	lz4_encoder_free(encoder);
	stage_free(stage);
}

CU_TestInfo tests[] = {
	{ "every type at its limits, absent values, empty tables", round_trip },
	{ "partial views stay partial", partial_views },
	{ "no datagram is larger than asked", sizes },
	{ "a size that is too small", too_small },
	{ "long strings are cut and flagged", long_strings },
	{ "reordered within an instant", reorder },
	{ "reordered between instants", reorder_across },
	{ "too late", late },
	{ "duplicates", duplicates },
	{ "each datagram lost", loss },
	{ "tables come later", tables_come_later },
	{ "tables never come", tables_never_come },
	{ "pieces of definitions get lost", pieces },
	{ "two senders", two_senders },
	{ "a sender starts again", restart },
	{ "senders are bounded", senders_are_bounded },
	{ "every bit flipped", every_bit },
	{ "every length", every_length },
	{ "hostile objects", hostile_objects },
	{ "contradicting parts", contradictions },
	{ "inflation", inflation },
	CU_TEST_INFO_NULL,
};
