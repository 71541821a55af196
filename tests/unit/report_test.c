/* sinks/report: numbers as people read them, wrapping, escaping, and a whole report from rows made by hand. */
#include <sonde/frame.h>

#include "sinks/report/gather.c"
#include "sinks/report/model.c"
#include "sinks/report/topology.c"
#include "sinks/report/use.c"
#include "sinks/report/text.c"
#include "sinks/report/markdown.c"
#include "sinks/report/json.c"

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
	value(3.2e9, "hz", "", "3.20 GHz");
	value(50, "hz", "", "50.0 Hz");
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
	say_time(text, sizeof text, 1700000000250000000, 0, true);
	CU_ASSERT_STRING_EQUAL(text, "2023-11-14 22:13:20.2");
	/* TZ=Asia/Kathmandu date -d @1700000000: 2023-11-15 03:58:20 */
	say_time(text, sizeof text, 1700000000250000000, 20700, true);
	CU_ASSERT_STRING_EQUAL(text, "2023-11-15 03:58:20.2");
	say_zone(text, sizeof text, 20700);
	CU_ASSERT_STRING_EQUAL(text, "+05:45");
	say_zone(text, sizeof text, -12600);
	CU_ASSERT_STRING_EQUAL(text, "-03:30");
	say_zone(text, sizeof text, 0);
	CU_ASSERT_STRING_EQUAL(text, "UTC");
	say_time(text, sizeof text, -1, 0, true);
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
		CU_ASSERT(line <= PAGE_WIDTH);
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
		gathered_view(gathered, &some[i]);
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
		/* The first sample failed. */
		records_row(frame, RECORD_GAP, &row);
		records_str(frame, &row, GAP_INSTANCE, "net");
		records_str(frame, &row, GAP_REASON, "error");
		sonde_set_u64(&row, GAP_END, 3000000000);
		if (i)
			continue;
		records_row(frame, RECORD_GAP, &row);
		records_str(frame, &row, GAP_INSTANCE, "psi");
		records_str(frame, &row, GAP_REASON, "error");
		sonde_set_u64(&row, GAP_END, 3000000000);
		records_row(frame, RECORD_GAP, &row);
		records_str(frame, &row, GAP_INSTANCE, "psi");
		records_str(frame, &row, GAP_REASON, "error");
		sonde_set_u64(&row, GAP_BEGIN, 1000000000);
		sonde_set_u64(&row, GAP_END, 3000000000);
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
	judgement(&frame, "cache.a", "not_judged", "no core (no PMU (as in a VM))");
	judgement(&frame, "cpu.x", "not_judged", "no a (off); no b (no PMU (as in a VM))");
	judgement(&frame, "cache.b", "not_judged", "no tlb (no PMU (as in a VM))");
	feed(&gathered, &frame, 3, 10000000000);
	report_text(&page, &gathered);
	CU_ASSERT(has(&page, "1 found in 2 places, 1 clear, 4 not judged\n\n"));
	CU_ASSERT(has(&page, "host      db1, Linux 6.1.0 x86_64, 4 CPUs (0-3), NUMA nodes 0\n"));
	CU_ASSERT(!has(&page, "judgement before"));
	CU_ASSERT(has(&page, "critical  Process 7 waited 66.7 %\n"));
	CU_ASSERT(has(&page, "about process 7 (a\\x1bb)\n"));
	CU_ASSERT(has(&page, "66.7 %  /proc/PID/schedstat fields 1 2\n"));
	CU_ASSERT(has(&page, "action    renice -n -5 -p 7\n"));
	CU_ASSERT(has(&page, "action    as above\n"));
	CU_ASSERT(has(&page, "clear     cpu.steal\n"));
	CU_ASSERT(has(&page, "  mem.pressure                no psi in the recording\n"));
	CU_ASSERT(has(&page, "  cache.a, cache.b\n    no PMU (as in a VM)\n"));
	CU_ASSERT(has(&page, "  cpu.x                       no a (off); no b (no PMU"));
	CU_ASSERT(has(&page,
		      "  gap       2 x missed in [disk] [cpu], 4.0 s in all, 4 instants lost\n"));
	CU_ASSERT(has(&page, "  gap       2 x error in [net], since when is not known\n"));
	CU_ASSERT(has(&page, "  gap       2 x error in [psi], more than 2.0 s in all\n"));
	CU_ASSERT_EQUAL(gathered.notes.count, 1);
	CU_ASSERT(has(&page, "  note      [psi] no PSI: boot with psi=1\n"));
	CU_ASSERT(!has(&page, "\033"));
	free(page.bytes);
	gathered_free(&gathered);
	frame_free(&frame);
}

/* ---- numbers over time ---- */

static void metric(struct sonde_frame *frame, const char *name, const char *about, double value)
{
	struct sonde_row row;

	records_row(frame, RECORD_METRIC, &row);
	records_str(frame, &row, METRIC_NAME, name);
	records_str(frame, &row, METRIC_ABOUT, about);
	sonde_set_f64(&row, METRIC_VALUE, value);
	records_str(frame, &row, METRIC_UNIT, "ratio");
	records_str(frame, &row, METRIC_COUNTED, "");
	records_str(frame, &row, METRIC_DIRECTION, "down");
	records_str(frame, &row, METRIC_ORIGIN, "/proc/a|b");
}

static void slice(struct sonde_frame *frame, const char *name, uint64_t second, double value)
{
	struct sonde_row row;

	records_row(frame, RECORD_SLICE, &row);
	records_str(frame, &row, SLICE_NAME, name);
	sonde_set_u64(&row, SLICE_BEGIN, second * 1000000000);
	sonde_set_u64(&row, SLICE_END, (second + 1) * 1000000000);
	sonde_set_f64(&row, SLICE_VALUE, value);
}

/* Four seconds from second 10 on, of which the third is missing: 0, 1/4 and 1 are the first, the third and the last of eight
 * heights. */
static void scene(struct gathered *gathered)
{
	struct sonde_frame frame;

	CU_ASSERT_EQUAL_FATAL(records_make(&frame), 0);
	metric(&frame, "cpu.utilisation", "", 0.4);
	metric(&frame, "io.busy", "disk sda", 0.1);
	metric(&frame, "io.busy", "disk sdb", NAN);
	metric(&frame, "io.queue", "disk sdb", 2);
	slice(&frame, "cpu.utilisation", 10, 0);
	slice(&frame, "cpu.utilisation", 11, 0.25);
	slice(&frame, "cpu.utilisation", 13, 1);
	slice(&frame, "io.busy", 10, 0.5);
	feed(gathered, &frame, 1, 14000000000);
	frame_free(&frame);
	gathered->first = 10000000000;
	gathered->last = 14000000000;
}

static void course(void)
{
	struct gathered gathered = { 0 };
	const struct metric *metrics;
	struct spark spark;
	uint32_t count;

	scene(&gathered);
	metrics = gathered.metrics.items;
	CU_ASSERT(sparkline(&gathered, &metrics[0], &spark));
	CU_ASSERT_STRING_EQUAL(spark.text, "▁▃ █");
	CU_ASSERT_EQUAL(spark.least, 0);
	CU_ASSERT_EQUAL(spark.most, 1);
	/* What is about a disk has no course of the host. */
	CU_ASSERT_PTR_NULL(slices_of(&gathered, &metrics[1], &count));
	CU_ASSERT(!sparkline(&gathered, &metrics[1], &spark));
	/* A day is as wide as forty seconds. */
	gathered.last = gathered.first + 86400000000000;
	CU_ASSERT(sparkline(&gathered, &metrics[0], &spark));
	CU_ASSERT_EQUAL(text_width(spark.text), SPARK_WIDTH);
	gathered_free(&gathered);
}

/* A line for each disk; one for a resource of which nothing is known. */
static void use_lines(void)
{
	struct gathered gathered = { 0 };
	struct use lines[USE_MOST];
	uint32_t count, disks = 0;

	scene(&gathered);
	count = use_table(&gathered, lines);
	CU_ASSERT_STRING_EQUAL(lines[0].resource, "CPU");
	CU_ASSERT_EQUAL(lines[0].cells[0]->value, 0.4);
	CU_ASSERT_PTR_NULL(lines[0].cells[1]);
	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(lines[i].resource, "disks") != 0)
			continue;
		CU_ASSERT_STRING_EQUAL(lines[i].about, disks ? "disk sdb" : "disk sda");
		CU_ASSERT_STRING_EQUAL(lines[i].cells[0]->name, "io.busy");
		CU_ASSERT_EQUAL(lines[i].cells[1] != NULL, disks == 1);
		disks++;
	}
	CU_ASSERT_EQUAL(disks, 2);
	CU_ASSERT_STRING_EQUAL(lines[count - 1].resource, "network");
	CU_ASSERT_STRING_EQUAL(lines[count - 1].about, "");
	gathered_free(&gathered);
}

/* What is markup in one document and data in the other. */
static void documents(void)
{
	struct gathered gathered = { 0 };
	struct page page = { 0 };

	scene(&gathered);
	report_markdown(&page, &gathered);
	CU_ASSERT(has(&page, "| cpu.utilisation | 40.0 % | down | ▁▃ █ | /proc/a\\|b |\n"));
	page.used = 0;
	report_text(&page, &gathered);
	CU_ASSERT(has(&page, " ▁▃ █  0.0 % to 100.0 %\n"));
	CU_ASSERT(has(&page, "\n  CPU               40.0 % cpu.utilisation "));
	/* One per cent of what it is: told by its mean. */
	((struct slice *)gathered.slices.items)[0].value = 0.995;
	((struct slice *)gathered.slices.items)[1].value = 0.995;
	page.used = 0;
	report_text(&page, &gathered);
	CU_ASSERT(!has(&page, "Over the window, from lowest"));
	page.used = 0;
	report_markdown(&page, &gathered);
	CU_ASSERT(has(&page, "| ▁▁ ▁ |"));
	((struct slice *)gathered.slices.items)[0].value = 0;
	((struct slice *)gathered.slices.items)[1].value = 0.25;
	page.used = 0;
	report_json(&page, &gathered);
	CU_ASSERT(has(&page, "\"origin\": \"/proc/a|b\""));
	CU_ASSERT(has(&page, "\"value\": null,\n"));
	CU_ASSERT(has(&page, "\"time\": [0.5, 1.5, 3.5],\n      \"value\": [0, 0.25, 1]\n"));
	free(page.bytes);
	gathered_free(&gathered);
}

static void filled(const char *frame, const char *json, const char *expected)
{
	struct page of = { 0 }, page = { 0 };

	page_print(&of, "%s", frame);
	page_print(&page, "%s", json);
	frame_fill(&of, &page);
	CU_ASSERT_EQUAL(page.used, strlen(expected));
	CU_ASSERT_EQUAL(memcmp(page.bytes, expected, page.used), 0);
	free(of.bytes);
	free(page.bytes);
}

/* Of the document only what HTML would read as markup is written otherwise. */
static void in_a_frame(void)
{
	filled("<a>@DOCUMENT@</a>", "{\"x\": 1}", "<a>{\"x\": 1}</a>");
	filled("@DOCUMENT@", "[\"</script><!--\", \"<\"]",
	       "[\"\\u003c/script>\\u003c!--\", \"\\u003c\"]");
	filled("a@DOCUMENT@b", "\"@DOCUMENT@\"", "a\"@DOCUMENT@\"b");
}

CU_TestInfo tests[] = {
	{ "values", values },
	{ "durations and times", durations_and_times },
	{ "foreign text is escaped", escaped },
	{ "lines are wrapped", wrapped },
	{ "a whole report", whole_report },
	{ "the course of a metric", course },
	{ "utilisation, saturation, errors", use_lines },
	{ "text, Markdown and JSON", documents },
	{ "a document in a page", in_a_frame },
	CU_TEST_INFO_NULL,
};
