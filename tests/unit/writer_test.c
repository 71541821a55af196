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

CU_TestInfo tests[] = {
	{ "every type at its limits", test_values },
	{ "rows come, go and move", test_rows },
	{ "a table wider than 64", test_wide },
	{ "an instant larger than an object", test_large },
	CU_TEST_INFO_NULL,
};
