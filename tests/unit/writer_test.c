/* The writer of streams, read back: what was put in is what comes out. */
#include "stream.h"
#include "test.h"

const char suite[] = "writer";

static const uint8_t id[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

static struct writer *new_writer(struct bytes *bytes, uint32_t instants)
{
	struct writer_options options = { .emit = bytes_emit,
					  .context = bytes,
					  .segment_instants = instants };

	memcpy(options.id, id, sizeof id);
	return writer_new(&options);
}

/* A scene of both tables. */
struct stage {
	struct sonde_schema *task, *wide;
	struct scene scene;
	struct bytes bytes;
	struct writer *writer;
	struct text put;
};

static void stage_open(struct stage *stage, uint32_t instants)
{
	*stage = (struct stage) { .task = make_schema(&t_table), .wide = wide_schema() };
	scene_table(&stage->scene, stage->task, "process");
	scene_table(&stage->scene, stage->wide, "vmstat");
	stage->writer = new_writer(&stage->bytes, instants);
	text_add(&stage->put, "%s", "");
}

static void stage_begin(struct stage *stage)
{
	frame_begin(&stage->scene.frame);
}

static int stage_put(struct stage *stage, uint64_t sequence, uint64_t begin)
{
	const struct instant *instant = scene_instant(&stage->scene, sequence, begin);

	text_instant(&stage->put, instant);
	return writer_instant(stage->writer, instant);
}

/* Closes the stream and compares what a reader makes of it with what was put in. */
static void stage_check(struct stage *stage)
{
	struct reader_state state;
	struct text got;
	int end;

	CU_ASSERT_EQUAL(writer_close(stage->writer), 0);
	got = text_stream(&stage->bytes, &end, &state);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_EQUAL(state.damaged, 0);
	CU_ASSERT_EQUAL(state.torn, 0);
	CU_ASSERT_STRING_EQUAL(got.bytes, stage->put.bytes);
	free(got.bytes);
	free(stage->put.bytes);
	bytes_free(&stage->bytes);
	frame_free(&stage->scene.frame);
	schema_free(stage->task);
	schema_free(stage->wide);
}

static struct sonde_row add_row(struct stage *stage, uint32_t table)
{
	struct sonde_row row = { 0 };

	if (!frame_row(&stage->scene.frame, table, &row))
		abort();
	return row;
}

/* Every type at its limits; deltas that wrap; a have-bit that clears and comes back. */
static void test_values(void)
{
	static const uint64_t numbers[] = {
		0,   1,     UINT64_MAX, 5,          (uint64_t)1 << 63, 127, 128, 255,
		256, 65535, 65536,      UINT32_MAX, (uint64_t)1 << 32
	};
	static const double doubles[] = {
		0.0, -0.0, 1.5, 0.1, 1e300, -1e-300, 3.25e38, 16777217.0
	};
	struct stage stage;

	stage_open(&stage, 5);
	for (uint64_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		struct sonde_row row;

		stage_begin(&stage);
		row = add_row(&stage, 0);
		sonde_set_u64(&row, T_PID, 7);
		sonde_set_str(&row, T_COMM, "a b)");
		sonde_set_u64(&row, T_TICKS, numbers[i]);
		sonde_set_i64(&row, T_DELTA, i % 2 ? INT64_MIN : INT64_MAX);
		if (i % 3)
			sonde_set_f64(&row, T_LOAD, doubles[i % 8]);
		sonde_set_str(&row, T_STATE, i % 4 ? "S" : "R");
		sonde_set_u64(&row, T_HIST + i % 4, numbers[i]);
		CU_ASSERT_EQUAL(stage_put(&stage, i, 1000 + i * 1000000), 0);
	}
	stage_check(&stage);
}

/* Rows that come, go, come back, swap places, lose all their values, share their keys. */
static void test_rows(void)
{
	struct stage stage;
	uint64_t seed = 1;

	stage_open(&stage, 50);
	for (uint64_t i = 0; i < 400; i++) {
		stage_begin(&stage);
		for (uint64_t pid = 1; pid <= 40; pid++) {
			uint64_t p = i % 7 == 6 ? 41 - pid : pid;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			if (seed >> 33 & 3)
				scene_task(&stage.scene, 0, p, p % 5 ? "x" : "y", seed >> 50);
		}
		if (i % 11 == 0)
			scene_task(&stage.scene, 0, 3, "x", i); /* twice the same keys */
		if (i % 13 == 0)
			add_row(&stage, 0); /* no value at all */
		CU_ASSERT_EQUAL(stage_put(&stage, i, 1000 + i), 0);
	}
	stage_check(&stage);
}

static void test_wide(void)
{
	struct stage stage;

	stage_open(&stage, 0);
	for (uint64_t i = 0; i < 300; i++) {
		struct sonde_row row;

		stage_begin(&stage);
		row = add_row(&stage, 1);
		for (uint32_t slot = 0; slot < W_SLOTS; slot++)
			if ((slot + i) % 31)
				sonde_set_u64(&row, slot, i / (slot + 1));
		CU_ASSERT_EQUAL(stage_put(&stage, i, 1000 + i), 0);
		if (i % 20 == 19)
			CU_ASSERT_EQUAL(writer_flush(stage.writer), 0);
	}
	stage_check(&stage);
}

/* An instant of more than fits one object: 4,000 rows of long names. */
static void test_large(void)
{
	struct stage stage;
	char comm[200];

	stage_open(&stage, 0);
	for (uint64_t i = 0; i < 3; i++) {
		stage.scene.frame.strings.lost = 1 << 20; /* grows it */
		stage_begin(&stage);
		for (uint64_t pid = 0; pid < 4000; pid++) {
			snprintf(comm, sizeof comm, "%0150" PRIu64, pid * pid);
			scene_task(&stage.scene, 0, pid, comm, pid << i * 9);
		}
		CU_ASSERT_EQUAL(stage_put(&stage, i, 1000 + i), 0);
	}
	stage_check(&stage);
}

/* What LZ4 can't shrink it stores: 45,000 numbers of noise, several blocks. */
static void test_noise(void)
{
	struct stage stage;
	uint64_t seed = 7;

	stage_open(&stage, 0);
	for (uint64_t i = 0; i < 2; i++) {
		stage_begin(&stage);
		for (int r = 0; r < 300; r++) {
			struct sonde_row row = add_row(&stage, 1);

			for (uint32_t slot = 0; slot < W_SLOTS; slot++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				sonde_set_u64(&row, slot, seed ^ seed >> 29);
			}
		}
		CU_ASSERT_EQUAL(stage_put(&stage, i, 1000 + i), 0);
	}
	CU_ASSERT_TRUE(stage.bytes.length > 2 * 300 * W_SLOTS * 8);
	stage_check(&stage);
}

/* ---- What the taker of the bytes says */

static int put_task(struct stage *stage, uint64_t n)
{
	stage_begin(stage);
	scene_task(&stage->scene, 0, 1, "x", n * n);
	return stage_put(stage, n, 1000 * n);
}

/* -EAGAIN loses nothing: the same call may be made again, and what waits comes first. */
static void test_again(void)
{
	struct stage stage;
	size_t put;

	stage_open(&stage, 4);
	for (uint64_t n = 1; n <= 3; n++)
		CU_ASSERT_EQUAL(put_task(&stage, n), 0);
	stage.bytes.err = -EAGAIN;
	CU_ASSERT_EQUAL(writer_flush(stage.writer), -EAGAIN);
	CU_ASSERT_EQUAL(stage.bytes.length, 0);
	stage.bytes.err = -EAGAIN;
	put = stage.put.used;
	CU_ASSERT_EQUAL(put_task(&stage, 4), -EAGAIN);
	stage.put.used = put; /* not taken */
	stage.put.bytes[put] = '\0';
	CU_ASSERT_EQUAL(writer_flush(stage.writer), 0);
	CU_ASSERT_EQUAL(stage.bytes.flag_of[0], SONDE_FIRST);
	CU_ASSERT_EQUAL(put_task(&stage, 4), 0); /* ends the segment */
	stage.bytes.err = -EAGAIN;
	for (uint64_t n = 5; n <= 7; n++)
		CU_ASSERT_EQUAL(put_task(&stage, n), 0);
	CU_ASSERT_EQUAL(writer_flush(stage.writer), -EAGAIN);
	CU_ASSERT_EQUAL(writer_flush(stage.writer), 0);
	stage_check(&stage);
}

/* Another error loses the segment that was open; what comes next is whole again, and the reader names the gap. */
static void test_error(void)
{
	struct stage stage;
	struct reader_state state;
	struct text got;
	int end;

	stage_open(&stage, 100);
	CU_ASSERT_EQUAL(put_task(&stage, 1), 0);
	CU_ASSERT_EQUAL(writer_flush(stage.writer), 0);
	CU_ASSERT_EQUAL(put_task(&stage, 2), 0);
	stage.bytes.err = -ENOSPC;
	CU_ASSERT_EQUAL(writer_flush(stage.writer), -ENOSPC);
	CU_ASSERT_EQUAL(put_task(&stage, 3), 0);
	CU_ASSERT_EQUAL(writer_close(stage.writer), 0);
	got = text_stream(&stage.bytes, &end, &state);
	CU_ASSERT_EQUAL(end, 0);
	CU_ASSERT_EQUAL(state.instants, 2);
	CU_ASSERT_EQUAL(state.damaged, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.bytes, "#1 1000-1300\nprocess/task\n 1 \"x\" 1 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(got.bytes, "#3 3000-3300\nprocess/task\n 1 \"x\" 9 "));
	/* gap: instance, reason, begin 1300, end 3000, one lost */
	CU_ASSERT_PTR_NOT_NULL(strstr(got.bytes, " \"\" \"damaged\" 514 bb8 1 "));
	free(got.bytes);
	free(stage.put.bytes);
	bytes_free(&stage.bytes);
	frame_free(&stage.scene.frame);
	schema_free(stage.task);
	schema_free(stage.wide);
}

/* A restart makes a recording of its own of what follows: its parts can be read alone, and one after the other. */
static void test_restart(void)
{
	struct stage stage;
	struct bytes second = { 0 };
	struct text got;
	size_t length;
	uint32_t emits;
	int end;

	stage_open(&stage, 100);
	CU_ASSERT_EQUAL(put_task(&stage, 1), 0);
	CU_ASSERT_EQUAL(writer_restart(stage.writer), 0);
	CU_ASSERT_EQUAL(stage.bytes.flag_of[0], SONDE_FIRST | SONDE_LAST);
	length = stage.bytes.length;
	emits = stage.bytes.emits;
	CU_ASSERT_EQUAL(put_task(&stage, 2), 0);
	CU_ASSERT_EQUAL(writer_end_segment(stage.writer), 0);
	CU_ASSERT_EQUAL(stage.bytes.flag_of[emits], SONDE_FIRST | SONDE_LAST);
	/* mark: magic and length, then the id, which is another now */
	CU_ASSERT_EQUAL(memcmp(stage.bytes.data, stage.bytes.data + length, 8), 0);
	CU_ASSERT_EQUAL(memcmp(stage.bytes.data + 8, id, 16), 0);
	CU_ASSERT_NOT_EQUAL(memcmp(stage.bytes.data + length + 8, id, 16), 0);
	second.data = stage.bytes.data + length;
	second.length = stage.bytes.length - length;
	got = text_stream(&second, &end, NULL);
	CU_ASSERT_PTR_EQUAL(strstr(got.bytes, "#2 2000-2300\nprocess/task\n 1 \"x\" 4 "),
			    got.bytes);
	free(got.bytes);
	stage_check(&stage);
}

/* ---- Limits */

/* Events are rows of their instant alone, equal ones too. */
static void test_events(void)
{
	struct sonde_frame records;
	struct sonde_view views[RECORD_TABLES], note;
	struct bytes bytes = { 0 };
	struct writer *writer = new_writer(&bytes, 0);
	struct instant instant = { .header = &a_header, .views = &note, .nviews = 1 };
	struct text put = { 0 }, got;
	int end;

	CU_ASSERT_EQUAL(records_make(&records), 0);
	for (uint64_t n = 1; n <= 5; n++) {
		frame_begin(&records);
		for (uint64_t i = 0; i < n % 4; i++) {
			struct sonde_row row;

			CU_ASSERT_EQUAL(records_row(&records, RECORD_NOTE, &row), 0);
			records_str(&records, &row, NOTE_LEVEL, "warning");
			records_str(&records, &row, NOTE_TEXT, i < 2 ? "the same" : "another");
		}
		frame_views(&records, views);
		note = views[RECORD_NOTE];
		note.instance = "";
		instant.sequence = n;
		instant.begin = instant.end = n * 10;
		text_instant(&put, &instant);
		CU_ASSERT_EQUAL(writer_instant(writer, &instant), 0);
	}
	CU_ASSERT_EQUAL(writer_close(writer), 0);
	got = text_stream(&bytes, &end, NULL);
	CU_ASSERT_STRING_EQUAL(got.bytes, put.bytes);
	free(got.bytes);
	free(put.bytes);
	bytes_free(&bytes);
	frame_free(&records);
}

/* Rows that are missing from a partial table have not ended; those missing from a whole one have. */
static void test_partial(void)
{
	struct stage stage;
	struct reader_state state;
	struct text got;
	int end;

	stage_open(&stage, 0);
	stage_begin(&stage);
	scene_task(&stage.scene, 0, 1, "a", 10);
	scene_task(&stage.scene, 0, 2, "b", 20);
	CU_ASSERT_EQUAL(stage_put(&stage, 1, 1000), 0);
	stage_begin(&stage);
	scene_task(&stage.scene, 0, 2, "b", 21);
	stage.scene.frame.partial = true;
	CU_ASSERT_EQUAL(stage_put(&stage, 2, 2000), 0);
	stage_begin(&stage);
	scene_task(&stage.scene, 0, 1, "a", 12);
	CU_ASSERT_EQUAL(stage_put(&stage, 3, 3000), 0);
	CU_ASSERT_EQUAL(writer_close(stage.writer), 0);
	got = text_stream(&stage.bytes, &end, &state);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.bytes, "#2 2000-2300\nprocess/task partial\n"
						 " 1 \"a\" a - - - - - - -\n"
						 " 2 \"b\" 15 - - - - - - -\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(got.bytes, "#3 3000-3300\nprocess/task\n"
						 " 1 \"a\" c - - - - - - -\nvmstat"));
	free(got.bytes);
	free(stage.put.bytes);
	bytes_free(&stage.bytes);
	frame_free(&stage.scene.frame);
	schema_free(stage.task);
	schema_free(stage.wide);
}

/* Case 184: what a reader would refuse is not written. 110,000 rows of 150 slots are more words than it keeps. */
static void test_too_large(void)
{
	struct stage stage;
	struct sonde_view view = { 0 };
	struct instant instant = { .header = &a_header, .views = &view, .nviews = 1 };
	uint32_t stride = W_SLOTS + 3, nrows = 110000;
	uint64_t *words = calloc((size_t)nrows * stride, sizeof *words);

	stage_open(&stage, 0);
	CU_ASSERT_EQUAL(put_task(&stage, 1), 0);
	view.schema = stage.wide;
	view.instance = "vmstat";
	view.words = words;
	view.nrows = nrows;
	view.stride = stride;
	instant.sequence = 2;
	CU_ASSERT_EQUAL(writer_instant(stage.writer, &instant), -EFBIG);
	CU_ASSERT_EQUAL(put_task(&stage, 3), 0);
	free(words);
	stage_check(&stage); /* the first and the third, without damage */
}

static void test_same(void)
{
	struct stage one, two;

	stage_open(&one, 3);
	stage_open(&two, 3);
	for (uint64_t n = 1; n <= 20; n++) {
		CU_ASSERT_EQUAL(put_task(&one, n), 0);
		CU_ASSERT_EQUAL(put_task(&two, n), 0);
	}
	CU_ASSERT_EQUAL(writer_flush(one.writer), 0);
	CU_ASSERT_EQUAL(writer_flush(two.writer), 0);
	CU_ASSERT_EQUAL(one.bytes.length, two.bytes.length);
	CU_ASSERT_EQUAL(memcmp(one.bytes.data, two.bytes.data, one.bytes.length), 0);
	stage_check(&one);
	stage_check(&two);
}

/* 120 instants that span five minutes end a segment: at 1 Hz after 301, at 10 Hz after 3,001, every 10 s after 120. */
static void test_segments(void)
{
	static const struct {
		uint64_t interval, instants;
	} rates[] = { { 1000000000, 301 }, { 100000000, 3001 }, { 10000000000, 120 } };

	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		struct stage stage;
		uint64_t n = 0;

		stage_open(&stage, 0);
		while (!stage.bytes.length && n < 5000) {
			stage_begin(&stage);
			scene_task(&stage.scene, 0, 1, "x", n++);
			CU_ASSERT_EQUAL(stage_put(&stage, n, n * rates[i].interval), 0);
		}
		CU_ASSERT_EQUAL(n, rates[i].instants);
		stage_check(&stage);
	}
}

CU_TestInfo tests[] = {
	{ "every type at its limits", test_values },
	{ "rows come, go and move", test_rows },
	{ "a table wider than 64", test_wide },
	{ "an instant larger than an object", test_large },
	{ "what can't be compressed", test_noise },
	{ "a taker that is not ready", test_again },
	{ "a taker that fails", test_error },
	{ "a restart", test_restart },
	{ "events", test_events },
	{ "a partial table", test_partial },
	{ "more than a reader keeps", test_too_large },
	{ "same input, same bytes", test_same },
	{ "where segments end", test_segments },
	CU_TEST_INFO_NULL,
};
