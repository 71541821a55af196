/* analyzers/cpu: each finding from rows made by hand; the expected values are worked out from them beside each test. The
 * tables are the collectors' own. Numbers in brackets name the cases, taken from public bug reports, that a test answers. */
#include "analyzers/cpu/cpu.c"
#include "analyzers/cpu/findings.c"
#include "analyzers/cpu/metrics.c"
#include "analyzers/cpu/streams.c"
#include "analyzers/cpu/waits.c"

#include "judged.h"
#include "test.h"

const char suite[] = "analyzer cpu";

/* ---- tables, with the columns that the collectors have ---- */

enum {
	CPU_ID,
	T_USER,
	T_NICE,
	T_SYSTEM,
	T_IDLE,
	T_IOWAIT,
	T_IRQ,
	T_SOFTIRQ,
	T_STEAL,
	T_GUEST,
	T_GUEST_NICE
};

#define TICKS(name_)                                                                               \
	{                                                                                          \
		.name = name_, .type = SONDE_U64, .semantics = SONDE_COUNTER,                      \
		.unit = SONDE_BASE_NS, .scale_mul = 0, .scale_div = 1                              \
	}
#define TIMES_OF_CPU                                                                               \
	TICKS("user"), TICKS("nice"), TICKS("system"), TICKS("idle"), TICKS("iowait"),             \
		TICKS("irq"), TICKS("softirq"), TICKS("steal"), TICKS("guest"),                    \
		TICKS("guest_nice")
#define NUMBER(name_, semantics_, unit_, mul_, what_)                                              \
	{                                                                                          \
		.name = name_, .type = SONDE_U64, .semantics = semantics_, .unit = unit_,          \
		.scale_mul = mul_, .scale_div = 1, .counted = what_                                \
	}

static const struct sonde_column cpu_columns[] = {
	NUMBER("cpu", SONDE_KEY, SONDE_BASE_NONE, 1, NULL),
	TIMES_OF_CPU,
};
static const struct sonde_column stat_columns[] = {
	TIMES_OF_CPU,
	NUMBER("ctxt", SONDE_COUNTER, SONDE_BASE_COUNT, 1, "switches"),
	NUMBER("processes", SONDE_COUNTER, SONDE_BASE_COUNT, 1, "forks"),
	NUMBER("procs_running", SONDE_GAUGE, SONDE_BASE_COUNT, 1, "tasks"),
};
static const struct sonde_column psi_columns[] = {
	{ .name = "resource",
	  .type = SONDE_STR,
	  .semantics = SONDE_KEY,
	  .unit = SONDE_BASE_NONE,
	  .scale_mul = 1,
	  .scale_div = 1 },
	NUMBER("some_total", SONDE_COUNTER, SONDE_BASE_NS, 1000, NULL),
};
static const struct sonde_column schedstat_columns[] = {
	NUMBER("cpu", SONDE_KEY, SONDE_BASE_NONE, 1, NULL),
	NUMBER("run_delay", SONDE_COUNTER, SONDE_BASE_NS, 1, NULL),
	NUMBER("pcount", SONDE_COUNTER, SONDE_BASE_COUNT, 1, "timeslices"),
};
enum { P_PID, P_START, P_COMM, P_RUN, P_WAIT, P_SLICES, P_VOLUNTARY, P_INVOLUNTARY };
static const struct sonde_column process_columns[] = {
	NUMBER("pid", SONDE_KEY, SONDE_BASE_NONE, 1, NULL),
	NUMBER("start_time", SONDE_KEY, SONDE_BASE_NS, 0, NULL),
	{ .name = "comm",
	  .type = SONDE_STR,
	  .semantics = SONDE_INFO,
	  .unit = SONDE_BASE_NONE,
	  .scale_mul = 1,
	  .scale_div = 1 },
	NUMBER("sched_run", SONDE_COUNTER, SONDE_BASE_NS, 1, NULL),
	NUMBER("sched_wait", SONDE_COUNTER, SONDE_BASE_NS, 1, NULL),
	NUMBER("sched_slices", SONDE_COUNTER, SONDE_BASE_COUNT, 1, "slices"),
	NUMBER("voluntary_ctxt_switches", SONDE_COUNTER, SONDE_BASE_COUNT, 1, "switches"),
	NUMBER("nonvoluntary_ctxt_switches", SONDE_COUNTER, SONDE_BASE_COUNT, 1, "switches"),
};

enum { ON_CPU, ON_STAT, ON_PSI, ON_SCHEDSTAT, ON_PROCESS, ON_TABLES };
static const struct sonde_table stage_tables[ON_TABLES] = {
	[ON_CPU] = { .name = "cpu", .columns = SONDE_COLUMNS(cpu_columns) },
	[ON_STAT] = { .name = "stat", .columns = SONDE_COLUMNS(stat_columns) },
	[ON_PSI] = { .name = "psi", .columns = SONDE_COLUMNS(psi_columns) },
	[ON_SCHEDSTAT] = { .name = "schedstat", .columns = SONDE_COLUMNS(schedstat_columns) },
	[ON_PROCESS] = { .name = "process", .columns = SONDE_COLUMNS(process_columns) },
};

static const struct sonde_host host = { .size = sizeof host, .analysis = &analysis_services };
static struct conf conf;
static struct sonde_instance instance = { .host = &host, .conf = &conf, .name = "analyzer:cpu" };
static struct stage stage;
static struct judged judged;

static void open_stage(void)
{
	char why[128];

	stage_open(&stage);
	for (uint32_t i = 0; i < ON_TABLES; i++) {
		stage_table(&stage, &stage_tables[i]);
		stage.omit[i] = true;
	}
	memset(&conf, 0, sizeof conf);
	judged_conf(options, sizeof options / sizeof options[0], &conf);
	CU_ASSERT_EQUAL_FATAL(analysis_add(stage.analysis, &instance, &ops, why, sizeof why), 0);
}

static void judge_and_close(void)
{
	judge_stage(&stage, &judged);
	stage_close(&stage);
}

#define NEAR(actual, expected) CU_ASSERT_DOUBLE_EQUAL(actual, expected, 1e-4)
#define AT(second)             ((1000 + (uint64_t)(second)) * SECOND)

/* Ticks since boot of one CPU, or of all (stat). */
static void times_row(uint32_t table, int64_t cpu, const uint64_t times[10])
{
	struct sonde_row row = stage_row(&stage, table);
	uint32_t at = 0;

	stage.omit[table] = false;
	if (cpu >= 0)
		sonde_set_u64(&row, at++, (uint64_t)cpu);
	for (uint32_t i = 0; i < 10; i++)
		sonde_set_u64(&row, at++, times[i]);
}

static void psi_row(uint64_t microseconds)
{
	struct sonde_row row = stage_row(&stage, ON_PSI);

	stage.omit[ON_PSI] = false;
	sonde_set_str(&row, 0, "cpu");
	sonde_set_u64(&row, 1, microseconds);
}

static void schedstat_row(uint64_t cpu, uint64_t delay, uint64_t slices)
{
	struct sonde_row row = stage_row(&stage, ON_SCHEDSTAT);

	stage.omit[ON_SCHEDSTAT] = false;
	sonde_set_u64(&row, 0, cpu);
	sonde_set_u64(&row, 1, delay);
	sonde_set_u64(&row, 2, slices);
}

struct process {
	uint64_t pid;
	const char *comm;
	uint64_t run, wait, slices, voluntary, involuntary;
};

static void process_row(const struct process *p)
{
	struct sonde_row row = stage_row(&stage, ON_PROCESS);
	const uint64_t values[] = { p->run, p->wait, p->slices, p->voluntary, p->involuntary };

	stage.omit[ON_PROCESS] = false;
	sonde_set_u64(&row, P_PID, p->pid);
	sonde_set_u64(&row, P_START, 100);
	sonde_set_str(&row, P_COMM, p->comm);
	for (uint32_t i = 0; i < 5; i++)
		sonde_set_u64(&row, P_RUN + i, values[i]);
}

/* ---- saturation ---- */

/* PSI 2 % of the time for 5 s, 80 % for 5 s: critical, in the second half alone, with its own mean; over the whole
 * window the mean is 41 %. */
static void saturation_in_one_half(void)
{
	const struct found *found;
	uint64_t total = 0;

	open_stage();
	for (int t = 0; t <= 10; t++) {
		total += t > 5 ? 800000 : t ? 20000 : 0;
		psi_row(total);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	found = judged_find(&judged, "cpu.saturation");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_STRING_EQUAL(found->severity, "critical");
	CU_ASSERT_STRING_EQUAL(found->about, "host");
	CU_ASSERT_STRING_EQUAL(found->title, "Tasks waited for a CPU 80.0 % of the time");
	CU_ASSERT_EQUAL(found->begin, AT(5));
	CU_ASSERT_EQUAL(found->end, AT(10));
	CU_ASSERT_EQUAL(found->held, 5 * SECOND);
	NEAR(judged_number(&judged, "cpu.saturation", "cpu.pressure"), 0.8);
	NEAR(judged_number(&judged, "cpu.saturation", "cpu.saturated_share"), 0.5);
	NEAR(judged_number(&judged, "", "cpu.pressure"), 0.41);
}

/* 80 % from 5.3 s to 9.6 s, sampled ten times a second: told to the sample, and its mean is not made smaller by the seconds
 * in which it began and ended. */
static void saturation_at_ten_hertz(void)
{
	const struct found *found;
	uint64_t total = 0;

	open_stage();
	for (uint64_t i = 0; i <= 150; i++) {
		total += i > 53 && i <= 96 ? 80000 : 0;
		psi_row(total);
		stage_tick(&stage, AT(0) + i * SECOND / 10);
	}
	judge_and_close();
	found = judged_find(&judged, "cpu.saturation");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_STRING_EQUAL(found->severity, "critical");
	CU_ASSERT_EQUAL(found->begin, AT(0) + 53 * SECOND / 10);
	/* The second from 9 to 10 s is at 48 %, below the critical half. */
	CU_ASSERT_EQUAL(found->end, AT(9));
	NEAR(judged_number(&judged, "cpu.saturation", "cpu.pressure"), 0.8);
}

/* 15 %: a warning. One second of 90 % in ten: nothing. */
static void saturation_levels(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		psi_row(t * 150000);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_PTR_NOT_NULL_FATAL(judged_find(&judged, "cpu.saturation"));
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "cpu.saturation")->severity, "warning");

	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		psi_row(t > 4 ? 900000 : 0);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_PTR_NULL(judged_find(&judged, "cpu.saturation"));
	CU_ASSERT_PTR_NOT_NULL(strstr(judged.clear, " cpu.saturation "));
}

/* No PSI: two CPUs on which tasks waited 300 ms and 500 ms of each second, 100 slices each: 0.8 tasks waiting, 4 ms a
 * slice. */
static void saturation_by_schedstat(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		schedstat_row(0, t * 300000000, t * 100);
		schedstat_row(1, t * 500000000, t * 100);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_PTR_NOT_NULL_FATAL(judged_find(&judged, "cpu.saturation"));
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "cpu.saturation")->severity, "warning");
	NEAR(judged_number(&judged, "cpu.saturation", "cpu.tasks_waiting"), 0.8);
	NEAR(judged_number(&judged, "cpu.saturation", "cpu.wait_per_slice") / 1e6, 4);
}

/* Neither: 7 tasks runnable on 2 CPUs; 3, the recorder being one of them, are not too many. */
static void saturation_by_runnable(void)
{
	for (uint64_t running = 3; running <= 7; running += 4) {
		open_stage();
		for (uint64_t t = 0; t <= 5; t++) {
			const uint64_t times[10] = { t * 100 };
			struct sonde_row row;

			times_row(ON_STAT, -1, times);
			row.have = stage.frame.tables[ON_STAT].words;
			row.slots = row.have + 1;
			sonde_set_u64(&row, 12, running);
			times_row(ON_CPU, 0, times);
			times_row(ON_CPU, 1, times);
			stage_tick(&stage, AT(t));
		}
		judge_and_close();
		CU_ASSERT_EQUAL(judged_find(&judged, "cpu.saturation") != NULL, running == 7);
	}
	NEAR(judged_number(&judged, "cpu.saturation", "cpu.tasks_runnable"), 7);
}

/* Nothing recorded but processes: what could not be judged is said, with what the collector said of itself. */
static void not_judged(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 3; t++) {
		stage_note(&stage, "psi", "no PSI: boot with psi=1");
		process_row(&(struct process) { .pid = 1, .comm = "x" });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_STRING_EQUAL(judged.not_judged,
			       " cpu.saturation cpu.imbalance cpu.steal cpu.iowait ");
	CU_ASSERT_STRING_EQUAL(judged.reason,
			       "no psi (no PSI: boot with psi=1); no schedstat in the "
			       "recording; no stat in the recording");
}

/* ---- processes ---- */

/* Six spinners of one name wait 2/3 of the time in seconds 5 to 10; a seventh process, alone of its name, 20 %; an eighth
 * waits 9 %, a ninth waits all of its 1 ms a second. One critical finding names the six, one warning the seventh. */
static void waits_in_one_half(void)
{
	const struct found *found;

	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		uint64_t busy = t > 5 ? t - 5 : 0;

		for (uint64_t pid = 101; pid <= 106; pid++)
			process_row(&(struct process) { pid, "spinner", busy * SECOND / 3,
							busy * SECOND * 2 / 3, busy * 10, 0, 0 });
		process_row(&(struct process) { 107, "seventh", busy * 800000000, busy * 200000000,
						busy, 0, 0 });
		process_row(
			&(struct process) { 108, "eighth", t * 910000000, t * 90000000, t, 0, 0 });
		process_row(&(struct process) { 109, "ninth", 0, t * 1000000, t, 0, 0 });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 2);
	found = &judged.found[0];
	CU_ASSERT_STRING_EQUAL(found->about, "processes spinner");
	CU_ASSERT_STRING_EQUAL(found->severity, "critical");
	CU_ASSERT_STRING_EQUAL(
		found->title,
		"6 processes spinner (101 102 103 104 105 106) waited for a CPU 66.7 % "
		"of the time that they could run");
	CU_ASSERT_EQUAL(found->begin, AT(5));
	CU_ASSERT_EQUAL(found->end, AT(10));
	CU_ASSERT_EQUAL(found->held, 5 * SECOND);
	NEAR(judged_number(&judged, "cpu.process_runq_wait", "process 103 (spinner)"), 2.0 / 3);
	found = &judged.found[1];
	CU_ASSERT_STRING_EQUAL(found->about, "process 107 (seventh)");
	CU_ASSERT_STRING_EQUAL(found->severity, "warning");
	CU_ASSERT_EQUAL(found->begin, AT(5));
}

/* A process that waits for all of 0.3 s a second, but for one second alone: too little evidence. */
static void too_little_evidence(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		process_row(&(struct process) { 1, "x", 0, t > 4 ? 300000000 : 0, 0, 0, 0 });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL(judged.nfound, 0);
}

/* A name that is hostile goes through as it is: what shows it escapes it. */
static void hostile_name(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		process_row(&(struct process) { 9, "a\033[2J\n)", t * SECOND / 2, t * SECOND / 2, t,
						0, 0 });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "process 9 (a\033[2J\n))");
}

/* ---- shares ---- */

/* 10 of 100 ticks stolen, 20 idle in iowait, on each of two CPUs. */
static void steal_and_iowait(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		const uint64_t times[10] = { t * 30, 0, 0, t * 40, t * 20, 0, 0, t * 10, 0, 0 };

		times_row(ON_CPU, 0, times);
		times_row(ON_CPU, 1, times);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 2);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cpu.steal");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "warning");
	NEAR(judged_number(&judged, "cpu.steal", "cpu.steal"), 0.1);
	CU_ASSERT_STRING_EQUAL(judged.found[1].id, "cpu.iowait");
	CU_ASSERT_STRING_EQUAL(judged.found[1].severity, "info");
	NEAR(judged_number(&judged, "cpu.iowait", "cpu.iowait"), 0.2);
}

/* [31] CPU 2's steal time falls by 8e8 each second while its idle time grows: no finding, for days. */
static void steal_that_goes_back(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		times_row(ON_CPU, 2,
			  (uint64_t[10]) { t * 5, 0, 0, t * 95, 0, 0, 0, 9100000000 - t * 800000000,
					   0, 0 });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_PTR_NULL(judged_find(&judged, "cpu.steal"));
}

/* [34] cpu 1000 50 200 5000 10 0 5 20 800 40 in one second: of 6285, guest not counted twice, 1255 are work. */
static void total_of_eight(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 1; t++) {
		times_row(ON_STAT, -1,
			  (uint64_t[10]) { t * 1000, t * 50, t * 200, t * 5000, t * 10, 0, t * 5,
					   t * 20, t * 800, t * 40 });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	NEAR(judged_number(&judged, "", "cpu.utilisation"), 1255.0 / 6285);
	NEAR(judged_number(&judged, "", "cpu.user"), 200.0 / 6285);
	NEAR(judged_number(&judged, "", "cpu.nice"), 10.0 / 6285);
	NEAR(judged_number(&judged, "", "cpu.guest"), 840.0 / 6285);
	NEAR(judged_number(&judged, "", "cpu.steal"), 20.0 / 6285);
}

/* ---- imbalance ---- */

/* CPU 1 has no idle tick, CPU 0 is idle for 90 of 100; with tasks waiting `waiting` us of each second. */
static void lopsided(uint64_t waiting)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		times_row(ON_CPU, 0, (uint64_t[10]) { t * 10, 0, 0, t * 90 });
		times_row(ON_CPU, 1, (uint64_t[10]) { t * 100, 0, 0, 0 });
		psi_row(t * waiting);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

static void imbalance_with_waiters(void)
{
	lopsided(80000);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cpu.imbalance");
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "cpu 1");
	CU_ASSERT_STRING_EQUAL(
		judged.found[0].title,
		"CPU 1 was 100 % busy with tasks waiting, while CPU 0 was 10 % busy");
	CU_ASSERT_EQUAL(judged.found[0].held, 10 * SECOND);
}

/* One single-threaded program is not an imbalance: nobody waits. */
static void one_busy_program(void)
{
	lopsided(1000);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(judged.clear, " cpu.imbalance "));
}

/* ---- switches ---- */

static void switches(uint64_t voluntary, uint64_t involuntary)
{
	open_stage();
	for (uint64_t t = 0; t <= 5; t++) {
		process_row(&(struct process) { 1, "quiet", 0, 0, 0, t, t });
		process_row(
			&(struct process) { 2, "noisy", 0, 0, 0, t * voluntary, t * involuntary });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

static void preemptions_and_blockings(void)
{
	switches(100, 1500);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cpu.preemption");
	NEAR(judged_number(&judged, "cpu.preemption", "cpu.preemption"), 1501);
	NEAR(judged_number(&judged, "cpu.preemption", "process 2 (noisy)"), 1500);
	/* As many as voluntary ones: no. */
	switches(1500, 1500);
	CU_ASSERT_EQUAL(judged.nfound, 0);
	switches(25000, 10);
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cpu.blocking");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "info");
}

/* Everything quiet: nothing found, and nothing left unsaid. */
static void quiet(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 60; t++) {
		times_row(ON_CPU, 0, (uint64_t[10]) { t * 2, 0, t, t * 97 });
		times_row(ON_CPU, 1, (uint64_t[10]) { t * 1, 0, t, t * 98 });
		times_row(ON_STAT, -1, (uint64_t[10]) { t * 3, 0, t * 2, t * 195 });
		psi_row(t * 5000);
		process_row(
			&(struct process) { 1, "x", t * 20000000, t * 100000, t * 5, t * 5, t });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL(judged.nfound, 0);
	CU_ASSERT_STRING_EQUAL(judged.not_judged, " ");
	CU_ASSERT_STRING_EQUAL(judged.clear, " cpu.saturation cpu.process_runq_wait cpu.imbalance "
					     "cpu.steal cpu.iowait cpu.preemption cpu.blocking ");
}

CU_TestInfo tests[] = {
	{ "saturation in one half", saturation_in_one_half },
	{ "saturation at ten samples a second", saturation_at_ten_hertz },
	{ "saturation: warning, and noise", saturation_levels },
	{ "saturation by schedstat", saturation_by_schedstat },
	{ "saturation by runnable tasks", saturation_by_runnable },
	{ "what could not be judged", not_judged },
	{ "processes that wait in one half", waits_in_one_half },
	{ "too little evidence", too_little_evidence },
	{ "a hostile name", hostile_name },
	{ "steal and iowait", steal_and_iowait },
	{ "steal that goes back [31]", steal_that_goes_back },
	{ "the total is eight columns [33, 34]", total_of_eight },
	{ "imbalance with waiters", imbalance_with_waiters },
	{ "one busy program is no imbalance", one_busy_program },
	{ "preemptions and blockings", preemptions_and_blockings },
	{ "all quiet", quiet },
	CU_TEST_INFO_NULL,
};
