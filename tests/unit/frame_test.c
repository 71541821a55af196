/* The arena of rows: allocated before, full without a crash, grown between samples only. */
#include <stdlib.h>

#include <sonde/plugin.h>

#include "core/frame.h"
#include "core/records.h"
#include "core/schema.h"
#include "test.h"

const char suite[] = "frame";

static const struct sonde_column columns[] = {
	{ "n", SONDE_U64, SONDE_KEY, SONDE_NONE, .wrap = 0 },
	{ "s", SONDE_STR, SONDE_INFO, SONDE_NONE, .wrap = 0 },
	{ "i", SONDE_I64, SONDE_GAUGE, SONDE_BYTES, .wrap = 0 },
	{ "f", SONDE_F64, SONDE_GAUGE, SONDE_RATIO, .wrap = 0 },
};
static const struct sonde_table table = { "t", SONDE_ARRAY(columns), .rows = 2 };

static struct sonde_schema *schema;

static void open_frame(struct sonde_frame *frame, uint32_t rows, uint32_t max_rows)
{
	char why[200];

	*frame = (struct sonde_frame) { 0 };
	CU_ASSERT_EQUAL(schema_make(&table, &schema, why, sizeof why), 0);
	CU_ASSERT_EQUAL(frame_add_table(frame, schema, rows, max_rows), 0);
}

static void close_frame(struct sonde_frame *frame)
{
	frame_free(frame);
	schema_free(schema);
}

/* A row has no value until one is set, whatever the row before it in that place had. */
static void test_absent(void)
{
	struct sonde_frame frame;
	struct sonde_view view;
	struct sonde_row row;
	uint32_t length;

	open_frame(&frame, 1, 0);
	for (int round = 0; round < 2; round++) {
		CU_ASSERT_EQUAL(frame_begin(&frame), 0);
		CU_ASSERT_TRUE(frame_row(&frame, 0, &row));
		for (uint32_t slot = 0; slot < 4; slot++)
			CU_ASSERT_FALSE(sonde_has(&row, slot));
		sonde_set_u64(&row, 0, 7);
		sonde_set_str(&row, 1, "a b");
		sonde_set_i64(&row, 2, -1);
		sonde_set_f64(&row, 3, 0.25);
	}
	frame_views(&frame, &view);
	CU_ASSERT_EQUAL(view.nrows, 1);
	CU_ASSERT_EQUAL(sonde_view_have(&view, 0)[0], 15);
	CU_ASSERT_EQUAL(sonde_view_slots(&view, 0)[2], UINT64_MAX);
	CU_ASSERT_EQUAL(sonde_slot_f64(sonde_view_slots(&view, 0)[3]), 0.25);
	CU_ASSERT_EQUAL(
		memcmp(sonde_view_bytes(&view, sonde_view_slots(&view, 0)[1], &length), "a b", 3),
		0);
	CU_ASSERT_EQUAL(length, 3);
	close_frame(&frame);
}

/* Rows beyond the capacity are refused and counted; the next sample has room for them, up to max_rows. */
static void test_growth(void)
{
	struct sonde_frame frame;
	struct sonde_view view;
	struct sonde_row row;
	int got = 0;

	open_frame(&frame, 2, 10);
	for (int i = 0; i < 7; i++)
		got += frame_row(&frame, 0, &row);
	CU_ASSERT_EQUAL(got, 2);
	CU_ASSERT_EQUAL(frame.lost_rows, 5);
	frame_views(&frame, &view);
	CU_ASSERT_EQUAL(view.flags, SONDE_PARTIAL);
	CU_ASSERT_EQUAL(frame_begin(&frame), 0);
	for (int i = got = 0; i < 12; i++)
		got += frame_row(&frame, 0, &row);
	CU_ASSERT_EQUAL(got, 7);
	CU_ASSERT_EQUAL(frame_begin(&frame), 0);
	for (int i = got = 0; i < 12; i++)
		got += frame_row(&frame, 0, &row);
	CU_ASSERT_EQUAL(got, 10);
	CU_ASSERT_EQUAL(frame_begin(&frame), 0);
	frame_views(&frame, &view);
	CU_ASSERT_EQUAL(view.flags, 0);
	CU_ASSERT_FALSE(frame_row(&frame, 1, &row)); /* no such table */
	close_frame(&frame);
}

/* A string that does not fit is absent, not cut; there is room for it in the next sample. */
static void test_strings(void)
{
	struct sonde_frame frame;
	struct sonde_row row;
	char *text = calloc(1, 70001);

	memset(text, 'x', 70000);
	open_frame(&frame, 2, 0);
	CU_ASSERT_TRUE(frame_row(&frame, 0, &row));
	sonde_set_bytes(&row, 1, text, 5000);
	CU_ASSERT_FALSE(sonde_has(&row, 1));
	CU_ASSERT_EQUAL(frame.strings.lost, 5000);
	CU_ASSERT_EQUAL(frame_begin(&frame), 0);
	CU_ASSERT_TRUE(frame_row(&frame, 0, &row));
	sonde_set_bytes(&row, 1, text, 5000);
	CU_ASSERT_TRUE(sonde_has(&row, 1));
	sonde_set_bytes(&row, 1, text, 70000); /* longer than 65,535 is cut */
	CU_ASSERT_EQUAL(frame_begin(&frame), 0);
	CU_ASSERT_TRUE(frame_row(&frame, 0, &row));
	sonde_set_bytes(&row, 1, text, 70000);
	CU_ASSERT_EQUAL((uint32_t)row.slots[1], 65535);
	free(text);
	close_frame(&frame);
}

static const struct sonde_column named_columns[] = {
	{ "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .wrap = 0 },
	{ "n", SONDE_U64, SONDE_GAUGE, SONDE_NONE, .wrap = 0 },
};
static const struct sonde_table named_table = { "named", SONDE_ARRAY(named_columns), .rows = 1 };

static void open_named(struct sonde_frame *frame)
{
	char why[200];

	*frame = (struct sonde_frame) { 0 };
	CU_ASSERT_EQUAL(schema_make(&named_table, &schema, why, sizeof why), 0);
	CU_ASSERT_EQUAL(frame_add_table(frame, schema, 0, 0), 0);
}

static void add_named(struct sonde_frame *frame, const char *name, size_t length, uint64_t n)
{
	struct sonde_row row;

	if (!frame_row(frame, 0, &row))
		return;
	sonde_set_bytes(&row, 0, name, length);
	sonde_set_u64(&row, 1, n);
}

/* A row whose key found no room is none, and is counted; those around it stay in their order. */
static void test_nameless(void)
{
	struct sonde_frame frame;
	struct sonde_view view;
	char *text = calloc(1, 5000);

	open_named(&frame);
	for (int i = 0; i < 4; i++)
		add_named(&frame, "", 0, 0); /* four rows from the next sample on */
	CU_ASSERT_EQUAL(frame_begin(&frame), 0);
	frame.lost_rows = 0;
	add_named(&frame, "a", 1, 1);
	add_named(&frame, text, 5000, 2);
	add_named(&frame, "b", 1, 3);
	frame_end(&frame);
	frame_views(&frame, &view);
	CU_ASSERT_EQUAL_FATAL(view.nrows, 2);
	CU_ASSERT_EQUAL(sonde_view_slots(&view, 0)[1], 1);
	CU_ASSERT_EQUAL(sonde_view_slots(&view, 1)[1], 3);
	CU_ASSERT_EQUAL(view.flags, SONDE_PARTIAL);
	CU_ASSERT_EQUAL(frame.lost_rows, 1);
	CU_ASSERT_EQUAL(frame_begin(&frame), 0);
	add_named(&frame, text, 5000, 2);
	frame_end(&frame);
	CU_ASSERT_EQUAL(frame.tables[0].nrows, 1);
	CU_ASSERT_EQUAL(frame.lost_rows, 1);
	free(text);
	close_frame(&frame);
}

/* A thousand rows where there was room for one: in the sample after that all of them are there, by name. */
static void test_names_grow_with_rows(void)
{
	struct sonde_frame frame;
	char name[16];

	open_named(&frame);
	for (int round = 0; round < 2; round++) {
		CU_ASSERT_EQUAL(frame_begin(&frame), 0);
		for (unsigned i = 0; i < 1000; i++) {
			snprintf(name, sizeof name, "veth%08x", i);
			add_named(&frame, name, 12, i);
		}
		frame_end(&frame);
		CU_ASSERT_EQUAL(frame.tables[0].nrows, round ? 1000 : 1);
		CU_ASSERT_EQUAL(frame.lost_rows, 999);
	}
	close_frame(&frame);
}

/* The host's own rows are not lost: their arena grows at once. */
static void test_records(void)
{
	struct sonde_frame records;
	struct sonde_row row;
	char text[40];

	CU_ASSERT_EQUAL(records_make(&records), 0);
	for (int i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(records_row(&records, RECORD_NOTE, &row), 0);
		snprintf(text, sizeof text, "note %d, of a thousand", i);
		records_str(&records, &row, NOTE_TEXT, text);
		CU_ASSERT_TRUE(sonde_has(&row, NOTE_TEXT));
	}
	CU_ASSERT_EQUAL(records.tables[RECORD_NOTE].nrows, 1000);
	CU_ASSERT_EQUAL(records.lost_rows, 0);
	CU_ASSERT_TRUE(record_is("gap"));
	CU_ASSERT_FALSE(record_is("psi"));
	frame_free(&records);
}

CU_TestInfo tests[] = {
	{ "absent until set", test_absent },
	{ "growth between samples", test_growth },
	{ "strings", test_strings },
	{ "a row without its key is none", test_nameless },
	{ "names grow with rows", test_names_grow_with_rows },
	{ "records", test_records },
	CU_TEST_INFO_NULL,
};
