/* Datagrams there and back: what was put in comes out, however they travel. */
#include "datagrams.h"

#include "core/clock.h"

const char suite[] = "datagram";

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

	for (uint32_t i = from[1]; i < from[5]; i++) {
		uint32_t taken = i == from[2] ? i - 1 : i == from[2] - 1 ? i + 1 : i;

		CU_ASSERT_EQUAL(receive(stage, 1, taken), 0);
	}
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
	CU_TEST_INFO_NULL,
};
