/* sinks/report: numbers as people read them, wrapping, escaping, and a whole report from rows made by hand. */
#include "sinks/report/gather.c"
#include "sinks/report/page.c"
#include "sinks/report/text.c"
#include "sinks/report/report.c"

#include "core/records.h"
#include "core/schema.h"
#include "test.h"

const char suite[] = "report";

/* ---- numbers ---- */

static void value(double number, const char *unit, const char *counted, const char *expected)
{
	char text[80];

	say_value(text, sizeof text, number, unit, counted);
	CU_ASSERT_STRING_EQUAL(text, expected);
}

static void values(void)
{
	value(0.123456, "ratio", "", "12.3 %");
	value(0.00012, "ratio", "", "0.012 %");
	value(0, "ratio", "", "0.0 %");
	value(1, "ratio", "", "100.0 %");
	value(4200000, "ns", "", "4.20 ms");
	value(90e9, "ns", "", "90.0 s");
	value(999, "ns", "", "999 ns");
	value(3ull << 30, "bytes", "", "3.00 GiB");
	value(2097152, "bytes", "/s", "2.00 MiB/s");
	value(12345.6, "count", "faults/s", "12346 faults/s");
	value(0.5, "count", "tasks", "0.500 tasks");
	value(7, "none", "", "7.00");
	value(NAN, "ratio", "", "-");
}

static void durations_and_times(void)
{
	char text[64];

	say_duration(text, sizeof text, 5000000000);
	CU_ASSERT_STRING_EQUAL(text, "5.0 s");
	say_duration(text, sizeof text, 125000000000);
	CU_ASSERT_STRING_EQUAL(text, "2 min 5 s");
	say_duration(text, sizeof text, 86400000000000);
	CU_ASSERT_STRING_EQUAL(text, "24 h 0 min");
	/* date -u -d @1700000000: 2023-11-14 22:13:20 */
	say_time(text, sizeof text, 1700000000250000000, true);
	CU_ASSERT_STRING_EQUAL(text, "2023-11-14 22:13:20.2");
	say_time(text, sizeof text, -1, true);
	CU_ASSERT_STRING_EQUAL(text, "unknown");
}

/* ---- text ---- */

static void escaped(void)
{
	struct page page = { 0 };

	page_text(&page, "a\033[31m\n\xe2\x80\xae\xff");
	CU_ASSERT_EQUAL(page.used, strlen("a\\x1b[31m\\n\\u202e\\xff"));
	CU_ASSERT_EQUAL(memcmp(page.bytes, "a\\x1b[31m\\n\\u202e\\xff", page.used), 0);
	free(page.bytes);
}

/* No line is longer than the page but for a word that is. */
static void wrapped(void)
{
	struct page page = { 0 };
	size_t line = 0;

	for (int i = 0; i < 10; i++)
		page_print(&page, "x");
	page_wrapped(
		&page,
		"one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
		"fifteen sixteen seventeen eighteen nineteen twenty",
		10);
	for (size_t i = 0; i < page.used; i++) {
		line = page.bytes[i] == '\n' ? 0 : line + 1;
		CU_ASSERT(line <= WIDTH);
	}
	CU_ASSERT_PTR_NOT_NULL(memmem(page.bytes, page.used, "\n          ", 11));
	free(page.bytes);
}

/* ---- a report ---- */

static struct sonde_stream_header header = {
	.start_id = 1,
	.host = "db1",
	.kernel = "6.1.0",
	.arch = "x86_64",
	.label = "",
	.ncpus = 4,
	.online = "0-3",
	.nodes = "0",
	.version = "1",
};

static void feed(struct gathered *gathered, struct sonde_frame *frame, uint64_t sequence,
		 uint64_t time)
{
	struct sonde_view some[RECORD_TABLES] = { 0 };

	frame_views(frame, some);
	for (uint32_t i = 0; i < RECORD_TABLES; i++) {
		some[i].header = &header;
		some[i].instance = "";
		some[i].sequence = sequence;
		some[i].begin = some[i].end = time;
		some[i].realtime = 1700000000000000000 + (int64_t)time;
		gather_view(gathered, &some[i]);
	}
	frame_begin(frame);
}

static void finding(struct sonde_frame *frame, const char *about, const char *title)
{
	struct sonde_row row;

	records_row(frame, RECORD_FINDING, &row);
	records_str(frame, &row, FINDING_ID, "cpu.process_runq_wait");
	records_str(frame, &row, FINDING_ABOUT, about);
	records_str(frame, &row, FINDING_STATE, "holding");
	records_str(frame, &row, FINDING_SEVERITY, "critical");
	records_str(frame, &row, FINDING_TITLE, title);
	records_str(frame, &row, FINDING_WHY, "It was slower.");
	records_str(frame, &row, FINDING_ACTION, "renice -n -5 -p 7");
	sonde_set_u64(&row, FINDING_BEGIN, 5000000000);
	sonde_set_u64(&row, FINDING_END, 10000000000);
	sonde_set_u64(&row, FINDING_HELD, 5000000000);
	records_row(frame, RECORD_EVIDENCE, &row);
	records_str(frame, &row, EVIDENCE_ID, "cpu.process_runq_wait");
	records_str(frame, &row, EVIDENCE_ABOUT, about);
	records_str(frame, &row, EVIDENCE_NAME, "cpu.process_wait");
	sonde_set_f64(&row, EVIDENCE_VALUE, 0.667);
	records_str(frame, &row, EVIDENCE_UNIT, "ratio");
	records_str(frame, &row, EVIDENCE_COUNTED, "");
	records_str(frame, &row, EVIDENCE_ORIGIN, "/proc/PID/schedstat fields 1 2");
}

static void judgement(struct sonde_frame *frame, const char *id, const char *verdict,
		      const char *reason)
{
	struct sonde_row row;

	records_row(frame, RECORD_JUDGEMENT, &row);
	records_str(frame, &row, JUDGEMENT_ID, id);
	records_str(frame, &row, JUDGEMENT_TITLE, "title");
	records_str(frame, &row, JUDGEMENT_VERDICT, verdict);
	records_str(frame, &row, JUDGEMENT_REASON, reason);
}

static void note_and_gap(struct sonde_frame *frame)
{
	struct sonde_row row;

	for (int i = 0; i < 2; i++) {
		records_row(frame, RECORD_NOTE, &row);
		records_str(frame, &row, NOTE_INSTANCE, "psi");
		records_str(frame, &row, NOTE_LEVEL, "notice");
		records_str(frame, &row, NOTE_TEXT, "no PSI: boot with psi=1");
		for (int n = 0; n < 2; n++) {
			records_row(frame, RECORD_GAP, &row);
			records_str(frame, &row, GAP_INSTANCE, n ? "cpu" : "disk");
			records_str(frame, &row, GAP_REASON, "missed");
			sonde_set_u64(&row, GAP_BEGIN, 1000000000);
			sonde_set_u64(&row, GAP_END, 3000000000);
			sonde_set_u64(&row, GAP_LOST, 2);
		}
	}
}

static bool has(const struct page *page, const char *text)
{
	return memmem(page->bytes, page->used, text, strlen(text)) != NULL;
}

/* Two judgements: the second is the report. Its two findings give their advice once. */
static void whole_report(void)
{
	struct gathered gathered = { 0 };
	struct page page = { 0 };
	struct sonde_frame frame;

	CU_ASSERT_EQUAL_FATAL(records_make(&frame), 0);
	finding(&frame, "process 1 (gone)", "of the judgement before");
	feed(&gathered, &frame, 1, 1000000000);
	note_and_gap(&frame);
	feed(&gathered, &frame, 2, 2000000000);
	finding(&frame, "process 7 (a\033b)", "Process 7 waited 66.7 %");
	finding(&frame, "process 8 (c)", "Process 8 waited 66.7 %");
	judgement(&frame, "cpu.process_runq_wait", "found", "");
	judgement(&frame, "cpu.steal", "clear", "");
	judgement(&frame, "mem.pressure", "not_judged", "no psi in the recording");
	feed(&gathered, &frame, 3, 10000000000);
	report_text(&page, &gathered);
	CU_ASSERT_EQUAL(memcmp(page.bytes, "1 found, 1 clear, 1 not judged\n", 31), 0);
	CU_ASSERT(has(&page, "host      db1, Linux 6.1.0 x86_64, 4 CPUs (0-3), NUMA nodes 0\n"));
	CU_ASSERT(!has(&page, "judgement before"));
	CU_ASSERT(has(&page, "critical  Process 7 waited 66.7 %\n"));
	CU_ASSERT(has(&page, "about process 7 (a\\x1bb)\n"));
	CU_ASSERT(has(&page, "66.7 %  /proc/PID/schedstat fields 1 2\n"));
	CU_ASSERT(has(&page, "action    renice -n -5 -p 7\n"));
	CU_ASSERT(has(&page, "action    as above\n"));
	CU_ASSERT(has(&page, "clear     cpu.steal\n"));
	CU_ASSERT(has(&page, "  mem.pressure                no psi in the recording\n"));
	CU_ASSERT(has(&page,
		      "  gap       2 x missed in [disk] [cpu], 4.0 s in all, 4 instants lost\n"));
	CU_ASSERT_EQUAL(gathered.notes.count, 1);
	CU_ASSERT(has(&page, "  note      [psi] no PSI: boot with psi=1\n"));
	CU_ASSERT(!has(&page, "\033"));
	free(page.bytes);
	gather_free(&gathered);
	frame_free(&frame);
}

CU_TestInfo tests[] = {
	{ "values", values },
	{ "durations and times", durations_and_times },
	{ "foreign text is escaped", escaped },
	{ "lines are wrapped", wrapped },
	{ "a whole report", whole_report },
	CU_TEST_INFO_NULL,
};
