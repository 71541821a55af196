/* Formulas that a recording brings along: <sonde/formula.h>, and window/formulas.c from rows made by hand. Expected values are worked out
 * beside them. Numbers in brackets name the cases, taken from public bug reports, that a test answers. */
#include <sonde/formula.h>
#include <sonde/plugin.h>

#include "made.h"
#include "test.h"

const char suite[] = "formulas";

/* ---- The language */

/* a is 6, b 3, zero 0, and x is not known. */
static double value_of(void *context, const char *name, size_t length)
{
	(void)context;
	return length == 1 && *name == 'a'                        ? 6
	       : length == 1 && *name == 'b'                      ? 3
	       : length == 4 && memcmp(name, "zero", length) == 0 ? 0
								  : NAN;
}

static bool reads(const char *text, double *value)
{
	return sonde_formula(text, strlen(text), value_of, NULL, value);
}

static void values(void)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {
		{ "a", 6 },
		{ "a / b", 2 },
		{ "2.5*a-b", 12 },
		{ "1000 * b / (6 * a)", 3000.0 / 36 },
		{ "(a - b) / (a + b)", 3.0 / 9 },
		{ "a - b - 1", 2 },
		{ "a / b / 2", 1 },
		{ "((a))", 6 },
		{ " a ", 6 },
	};
	static const char *const unknown[] = { "a / zero", "x", "a + x / b", "a / (b - b)" };
	static const char *const bad[] = { "",   " ",      "a b",   "a +",     "* a",   "(a",
					   "a)", "a // b", "1.2.3", "2a",      "a % b", "A",
					   ".",  "a()",    "a,b",   "a / b /", "()",    "-a" };
	double value;
	char deep[2 * 40 + 2];

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		CU_ASSERT_TRUE(reads(good[i].text, &value));
		NEAR(value, good[i].value);
	}
	for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
		CU_ASSERT(reads(unknown[i], &value) && isnan(value));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CU_ASSERT_FALSE(reads(bad[i], &value));
	/* A NUL ends nothing. */
	CU_ASSERT_FALSE(sonde_formula("a\0", 2, value_of, NULL, &value));
	memset(deep, '(', 40);
	deep[40] = 'a';
	memset(deep + 41, ')', 40);
	deep[81] = '\0';
	CU_ASSERT_FALSE(reads(deep, &value));
}

/* ---- Of a recording */

enum { METRICS, CORE, PROCESS, TABLES };

static const struct sonde_column metric_columns[] = {
	KEY_TEXT("group"), KEY_TEXT("metric"), KEY_TEXT("pmu"), TEXT("table"),
	TEXT("formula"),   TEXT("unit"),       TEXT("by"),
};
static const struct sonde_column core_columns[] = {
	KEY_TEXT("pmu"),
	KEY("cpu"),
	EVENTS("cycles"),
	EVENTS("instructions"),
	EVENTS("stalls"),
	MADE("read", SONDE_U64, SONDE_COUNTER, SONDE_BASE_BYTES, 64, NULL),
	NANOSECONDS("time_running"),
};
static const struct sonde_column process_columns[] = {
	KEY_TEXT("pmu"), KEY("pid"),       KEY("start_time"),
	TEXT("comm"),    EVENTS("cycles"), EVENTS("instructions"),
};
static const struct sonde_table tables[TABLES] = {
	[METRICS] = { .name = "perf_event_metric", .columns = SONDE_COLUMNS(metric_columns) },
	[CORE] = { .name = "perf_event_core", .columns = SONDE_COLUMNS(core_columns) },
	[PROCESS] = { .name = "perf_event_core_process",
		      .columns = SONDE_COLUMNS(process_columns) },
};

static const struct sonde_host host = { .size = sizeof host, .analysis = &analysis_services };
static struct sonde_instance instance = { .host = &host, .name = "analyzer", .conf = "" };
static struct stage stage;
static struct judged judged;

#define FORMULA(metric, pmu, table, text, unit)                                                    \
	ROW(METRICS, WORD("core"), WORD(metric), WORD(pmu), WORD(table), WORD(text), WORD(unit),   \
	    NOTHING)

static void judge_and_close(void)
{
	judge_stage(&stage, &judged);
	stage_close(&stage);
}

static double number_of(const char *about, const char *name)
{
	for (uint32_t i = 0; i < judged.nnumbers; i++)
		if (strcmp(judged.numbers[i].about, about) == 0 &&
		    strcmp(judged.numbers[i].name, name) == 0)
			return judged.numbers[i].value;
	return -1;
}

/* CPU 0 grew by 300 cycles, 100 stalls, 5 reads of 64 bytes a second and ran half of the time; CPU 1 by 100, 100 and none.
 * [125] What CPU 1 is denied, instructions, leaves its cycles out as well: 600 instructions over the 300 cycles of CPU 0. */
static void sums_of_rows_that_have_all(void)
{
	made_stage(&stage, tables, TABLES);
	for (uint64_t t = 0; t <= 4; t++) {
		FORMULA("ipc", "cpu", "perf_event_core", "instructions / cycles", "per cycle");
		FORMULA("stalled", "cpu", "perf_event_core", "(cycles - stalls) / (2 * cycles)",
			"share");
		FORMULA("rate", "cpu", "perf_event_core", "1000000000 * read / time_running",
			"bytes");
		FORMULA("none", "cpu", "perf_event_core", "missing / cycles", "share");
		FORMULA("broken", "cpu", "perf_event_core", "cycles /", "share");
		ROW(CORE, WORD("cpu"), NUMBER(0), NUMBER(t * 300), NUMBER(t * 600), NUMBER(t * 100),
		    NUMBER(t * 5), NUMBER(t * SECOND / 2));
		ROW(CORE, WORD("cpu"), NUMBER(1), NUMBER(t * 100), NOTHING, NUMBER(t * 100),
		    NUMBER(0), NUMBER(t * SECOND / 2));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	NEAR(number_of("", "perf_event_core.ipc"), 2);
	NEAR(number_of("", "perf_event_core.stalled"), (400.0 - 200) / 800);
	NEAR(number_of("", "perf_event_core.rate"),
	     5.0 * 64 / 1); /* 320 bytes in two halves of a second */
	CU_ASSERT_EQUAL(judged.nnumbers, 3);
	CU_ASSERT_STRING_EQUAL(judged.numbers[0].origin, "perf_event_core instructions / cycles");
}

/* [131] Each PMU of a hybrid CPU has a result of its own; [127] 668,753 instructions in 0 cycles have none; [114] nor has what never ran. */
static void by_pmu(void)
{
	made_stage(&stage, tables, TABLES);
	for (uint64_t t = 0; t <= 4; t++) {
		static const char *const pmus[] = { "cpu_core", "cpu_atom", "cpu_odd", "cpu_off" };

		for (int i = 0; i < 4; i++)
			FORMULA("ipc", pmus[i], "perf_event_core", "instructions / cycles",
				"per cycle");
		ROW(CORE, WORD("cpu_core"), NUMBER(0), NUMBER(t * 100), NUMBER(t * 300));
		ROW(CORE, WORD("cpu_atom"), NUMBER(1), NUMBER(t * 100), NUMBER(t * 50));
		ROW(CORE, WORD("cpu_odd"), NUMBER(2), NUMBER(0), NUMBER(t * 668753));
		ROW(CORE, WORD("cpu_off"), NUMBER(3), NOTHING, NOTHING);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	NEAR(number_of("cpu_core", "perf_event_core.ipc"), 3);
	NEAR(number_of("cpu_atom", "perf_event_core.ipc"), 0.5);
	CU_ASSERT_EQUAL(judged.nnumbers, 2);
}

static void by_process(void)
{
	made_stage(&stage, tables, TABLES);
	for (uint64_t t = 0; t <= 4; t++) {
		ROW(METRICS, WORD("core"), WORD("ipc"), WORD("cpu"),
		    WORD("perf_event_core_process"), WORD("instructions / cycles"),
		    WORD("per cycle"), WORD("pid start_time"));
		for (uint64_t pid = 7; pid < 9; pid++)
			ROW(PROCESS, WORD("cpu"), NUMBER(pid), NUMBER(1),
			    WORD(pid == 7 ? "a" : "b"), NUMBER(t * 100), NUMBER(t * pid * 10));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	NEAR(number_of("process 7 (a)", "perf_event_core_process.ipc"), 0.7);
	NEAR(number_of("process 8 (b)", "perf_event_core_process.ipc"), 0.8);
}

/* A recording that brings thousands along is anybody's: the first have room, 256 of two columns. */
static void thousands(void)
{
	char name[32];

	made_stage(&stage, tables, TABLES);
	for (uint64_t t = 0; t <= 2; t++) {
		for (int i = 0; i < 4000; i++) {
			snprintf(name, sizeof name, "m%d", i);
			FORMULA(name, "cpu", "perf_event_core", "instructions / cycles", "a");
		}
		ROW(CORE, WORD("cpu"), NUMBER(0), NUMBER(t * 100), NUMBER(t * 300));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL(judged.nnumbers, 128); /* the test's own room */
	NEAR(number_of("", "perf_event_core.m0"), 3);
	NEAR(number_of("", "perf_event_core.m127"), 3);
}

/* What an analyzer makes of the same columns has its name for it: the number is not told twice. */
static void not_told_twice(void)
{
	static const struct sonde_stream streams[] = {
		{ "cache.ipc", "perf_event_core", .plus = "instructions", .over = "cycles",
		  .reduce = SONDE_SUM },
		{ "cache.stalls", "perf_event_core", .plus = "absent? stalls?", .over = "cycles",
		  .reduce = SONDE_SUM },
		{ "cache.both", "perf_event_core", .plus = "cycles stalls", .over = "instructions",
		  .reduce = SONDE_SUM },
	};
	static const struct sonde_analyzer_ops ops = { .streams = SONDE_STREAMS(streams) };
	char why[128];

	made_stage(&stage, tables, TABLES);
	CU_ASSERT_EQUAL_FATAL(analysis_add(stage.analysis, &instance, &ops, why, sizeof why), 0);
	for (uint64_t t = 0; t <= 4; t++) {
		FORMULA("ipc", "cpu", "perf_event_core", "1000 * instructions / cycles", "a");
		FORMULA("stalled", "cpu", "perf_event_core", "stalls / cycles", "share");
		FORMULA("cpi", "cpu", "perf_event_core", "cycles / instructions", "b");
		FORMULA("odd", "cpu", "perf_event_core", "(instructions - 1) / cycles", "c");
		ROW(CORE, WORD("cpu"), NUMBER(0), NUMBER(t * 100), NUMBER(t * 300), NUMBER(t * 10));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL(judged.nnumbers, 2);
	NEAR(number_of("", "perf_event_core.cpi"), 1.0 / 3);
	CU_ASSERT(number_of("", "perf_event_core.odd") > 0);
}

CU_TestInfo tests[] = {
	{ "values", values },
	{ "case 125: sums of rows that have all", sums_of_rows_that_have_all },
	{ "cases 114, 127, 131: by PMU", by_pmu },
	{ "by process", by_process },
	{ "thousands", thousands },
	{ "not told twice", not_told_twice },
	CU_TEST_INFO_NULL,
};
