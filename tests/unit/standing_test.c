/* What stood before the stretch that a reader is asked for: in its first instant, as it was read last. */
#include "stream.h"
#include "test.h"

const char suite[] = "standing";

enum { INSTANTS = 12, EACH = 3, STEP = 1000 };

/* Process 7 is read at every instant; section `once` at the first, and as something changed, at the fifth. A note at the second.
 * `starts` senders one after the other, each with all of that. */
static struct bytes record(uint32_t starts)
{
	struct sonde_schema *task = make_schema(&t_table);
	struct scene scene = { 0 };
	struct sonde_stream_header header = a_header;
	struct bytes bytes = { 0 };
	struct writer_options options = {
		.emit = bytes_emit, .context = &bytes, .segment_instants = EACH, .id = "what stands"
	};
	struct writer *writer = writer_new(&options);
	struct sonde_frame records;
	struct sonde_view views[RECORD_TABLES];

	scene_table(&scene, task, "process");
	scene_table(&scene, task, "once");
	CU_ASSERT_EQUAL_FATAL(records_make(&records), 0);
	for (uint64_t n = 1; n <= (uint64_t)INSTANTS * starts; n++) {
		uint64_t of_start = (n - 1) % INSTANTS + 1;
		struct sonde_row row;

		frame_begin(&scene.frame);
		frame_begin(&records);
		scene_task(&scene, 0, 7, "seven", n);
		if (frame_row(&scene.frame, 1, &row)) {
			sonde_set_u64(&row, T_PID, n);
			sonde_set_str(&row, T_COMM, "setting");
			sonde_set_u64(&row, T_TICKS, 100 * n);
			sonde_set_i64(&row, T_DELTA, -1);
			sonde_set_str(&row, T_STATE, of_start == 1 ? "first" : "changed");
			sonde_set_u64(&row, T_HIST + 2, 5);
		}
		if (of_start == 2 && records_row(&records, RECORD_NOTE, &row) == 0) {
			records_str(&records, &row, NOTE_INSTANCE, "psi");
			records_str(&records, &row, NOTE_LEVEL, "notice");
			records_str(&records, &row, NOTE_TEXT, "no PSI");
			records_str(&records, &row, NOTE_TABLES, "psi");
		}
		header.start_id = n > INSTANTS ? 2 : 1;
		scene_instant(&scene, n, n * STEP);
		scene.instant.header = &header;
		scene.instant.nviews = of_start == 1 || of_start == 5 ? 2 : 1;
		frame_views(&records, views);
		if (views[RECORD_NOTE].nrows) {
			views[RECORD_NOTE].instance = "sonde";
			scene.views[scene.instant.nviews++] = views[RECORD_NOTE];
		}
		CU_ASSERT_EQUAL(writer_instant(writer, &scene.instant), 0);
		if (of_start == INSTANTS && n < (uint64_t)INSTANTS * starts)
			CU_ASSERT_EQUAL(writer_restart(writer), 0);
	}
	CU_ASSERT_EQUAL(writer_close(writer), 0);
	frame_free(&records);
	frame_free(&scene.frame);
	schema_free(task);
	return bytes;
}

/* All that is delivered from instant `since` on. */
static struct text deliver(struct bytes *bytes, uint64_t since, bool standing)
{
	struct reader_options options = { .read = bytes_read,
					  .seek = bytes_seek,
					  .context = bytes,
					  .since = since * STEP,
					  .standing = standing };
	struct reader *reader = reader_new(&options);
	const struct instant *instant;
	struct shadows shadows = { 0 };
	struct text text = { 0 };

	bytes->at = 0;
	text_add(&text, "%s", "");
	while (reader_next(reader, &instant) == 1) {
		text_instant(&text, instant);
		CU_ASSERT_TRUE(shadow_instant(&shadows, instant));
	}
	shadows_free(&shadows);
	reader_free(reader);
	return text;
}

/* The first instant, which is this one, has these lines behind its own; the rest is as without. */
static void begins_with(struct bytes *bytes, uint64_t since, const char *lines)
{
	struct text with = deliver(bytes, since, true), without = deliver(bytes, since, false);
	size_t own = strcspn(without.bytes + 1, "#") + 1, more = strlen(lines);

	CU_ASSERT_EQUAL_FATAL(with.used, without.used + more);
	CU_ASSERT_EQUAL(strncmp(with.bytes, without.bytes, own), 0);
	CU_ASSERT_EQUAL(strncmp(with.bytes + own, lines, more), 0);
	CU_ASSERT_STRING_EQUAL(with.bytes + own + more, without.bytes + own);
	free(with.bytes);
	free(without.bytes);
}

#define NOTE "sonde/note\n \"psi\" \"notice\" \"no PSI\" \"psi\"\n"

/* Of the first segment, of the one before the last, and of that in which the stretch begins; counters were not read then. */
static void as_read_last(void)
{
	struct bytes bytes = record(1);

	begins_with(&bytes, 2,
		    "once/task\n 1 \"setting\" - ffffffffffffffff - \"first\" - - - -\n");
	begins_with(&bytes, 4,
		    "once/task\n 1 \"setting\" - ffffffffffffffff - \"first\" - - - -\n" NOTE);
	begins_with(&bytes, 6,
		    "once/task\n 5 \"setting\" - ffffffffffffffff - \"changed\" - - - -\n" NOTE);
	begins_with(&bytes, 12,
		    "once/task\n 5 \"setting\" - ffffffffffffffff - \"changed\" - - - -\n" NOTE);
	bytes_free(&bytes);
}

/* What is read at this instant is not told twice, and before the beginning nothing stood. */
static void as_read_now(void)
{
	struct bytes bytes = record(1);

	begins_with(&bytes, 5, NOTE);
	begins_with(&bytes, 1, "");
	bytes_free(&bytes);
}

/* What one sender said of itself holds for no other. */
static void another_start(void)
{
	struct bytes bytes = record(2);

	begins_with(&bytes, INSTANTS + 1, "");
	begins_with(&bytes, INSTANTS + 3,
		    "once/task\n d \"setting\" - ffffffffffffffff - \"first\" - - - -\n" NOTE);
	bytes_free(&bytes);
}

CU_TestInfo tests[] = {
	{ "as it was read last", as_read_last },
	{ "as it is read at this instant", as_read_now },
	{ "another start of the sender", another_start },
	CU_TEST_INFO_NULL,
};
