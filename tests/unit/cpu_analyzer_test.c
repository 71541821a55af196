/* analyzers/cpu: each finding from rows made by hand; the expected values are worked out from them beside each test. The
 * tables are the collectors' own. Numbers in brackets name the cases, taken from public bug reports, that a test answers. */
#include "cpu_analyzer.h"

const char suite[] = "analyzer cpu";

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

/* Two CPUs busy all the time, PSI 60 %, a process that waits half of the time; of the 200 ticks a second that are used, the
 * watched tree uses so many. */
static void judge_a_tree(uint64_t ticks)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		const uint64_t times[10] = { 150 * t, 0, 50 * t };

		tree_row(ticks * t);
		psi_row(600000 * t);
		times_row(ON_STAT, -1, times);
		process_row(&(struct process) {
			.pid = 7, .comm = "cc1", .run = t * SECOND / 2, .wait = t * SECOND / 2 });
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
}

static const char *origin_of(const char *id, const char *name)
{
	for (uint32_t i = 0; i < judged.nnumbers; i++)
		if (strcmp(judged.numbers[i].id, id) == 0 &&
		    strcmp(judged.numbers[i].name, name) == 0)
			return judged.numbers[i].origin;
	return "";
}

/* 190 of 200 are 95 %: the command's processes wait for one another. 100 of 200: for others too. */
static void a_tree_waits_for_itself(void)
{
	judge_a_tree(190);
	CU_ASSERT_PTR_NOT_NULL_FATAL(judged_find(&judged, "cpu.parallelism"));
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "cpu.parallelism")->severity, "info");
	NEAR(judged_number(&judged, "cpu.parallelism", "cpu.tree_share"), 0.95);
	CU_ASSERT_PTR_NULL(judged_find(&judged, "cpu.saturation"));
	CU_ASSERT_PTR_NULL(judged_find(&judged, "cpu.process_runq_wait"));

	judge_a_tree(100);
	CU_ASSERT_PTR_NULL(judged_find(&judged, "cpu.parallelism"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(judged_find(&judged, "cpu.saturation"));
	CU_ASSERT_STRING_EQUAL(judged_find(&judged, "cpu.saturation")->severity, "critical");
	NEAR(judged_number(&judged, "cpu.saturation", "cpu.tree_share"), 0.5);
	/* Not the host's. */
	CU_ASSERT_STRING_EQUAL(origin_of("cpu.saturation", "cpu.processes_waiting"),
			       "/proc/PID/schedstat field 2, of 1 process recorded");
	CU_ASSERT_PTR_NOT_NULL(judged_find(&judged, "cpu.process_runq_wait"));
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

/* What a finding is at exactly its thresholds: above the first, from the second on. Ten seconds of so many us, PSI's own unit; a process
 * that waits so many of 1,000 ms in which it could run. */
static void levels(void)
{
	static const struct {
		uint64_t us, wait;
		const char *saturation, *process;
	} cases[] = {
		{ 100000, 100, "", "" },
		{ 100001, 101, "warning", "warning" },
		{ 499999, 299, "warning", "warning" },
		{ 500000, 300, "critical", "critical" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct found *found;

		open_stage();
		for (uint64_t t = 0; t <= 10; t++) {
			psi_row(cases[i].us * t);
			process_row(&(struct process) { .pid = 7,
							.comm = "a",
							.run = t * (1000 - cases[i].wait) * 1000000,
							.wait = t * cases[i].wait * 1000000 });
			stage_tick(&stage, AT(t));
		}
		judge_and_close();
		found = judged_find(&judged, "cpu.saturation");
		CU_ASSERT_STRING_EQUAL(found ? found->severity : "", cases[i].saturation);
		CU_ASSERT_EQUAL(judged_in(judged.clear, "cpu.saturation"), !found);
		found = judged_find(&judged, "cpu.process_runq_wait");
		CU_ASSERT_STRING_EQUAL(found ? found->severity : "", cases[i].process);
	}
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
	CU_ASSERT_STRING_EQUAL(
		judged.not_judged,
		" cpu.saturation cpu.parallelism cpu.imbalance cpu.slow_cores cpu.thermal "
		"cpu.irq_imbalance cpu.steal cpu.iowait ");
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

/* A thread of the kernel that waits two thirds of its time is no critical matter, and nobody is told to renice it. */
static void a_kernel_thread_waits(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		struct sonde_row row = process_row(&(struct process) {
			7, "kworker/1:1H", t * SECOND / 3, t * SECOND * 2 / 3, t, 0, 0 });

		sonde_set_u64(&row, P_KTHREAD, 1);
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "process 7 (kworker/1:1H)");
	CU_ASSERT_STRING_EQUAL(judged.found[0].severity, "warning");
	CU_ASSERT_PTR_NULL(strstr(judged.found[0].action, "renice"));
}

/* Of a process that waits for half of its time, thread 12 waits for three quarters of its own; thread 13 for all of 10 ms, which
 * says nothing; 14 is another process's. */
static void the_worst_thread(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		process_row(
			&(struct process) { 11, "pool", t * SECOND / 2, t * SECOND / 2, t, 0, 0 });
		ROW(ON_THREAD, NUMBER(11), NUMBER(11), NUMBER(1), WORD("pool"),
		    NUMBER(t * SECOND / 2), NUMBER(t * SECOND / 10));
		ROW(ON_THREAD, NUMBER(11), NUMBER(12), NUMBER(1), WORD("worker"),
		    NUMBER(t * SECOND / 10), NUMBER(t * SECOND * 3 / 10));
		ROW(ON_THREAD, NUMBER(11), NUMBER(13), NUMBER(1), WORD("idle"), NUMBER(0),
		    NUMBER(t * 1000000));
		ROW(ON_THREAD, NUMBER(111), NUMBER(14), NUMBER(1), WORD("other"), NUMBER(0),
		    NUMBER(t * SECOND));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_EQUAL_FATAL(judged.nfound, 1);
	NEAR(judged_number(&judged, "cpu.process_runq_wait", "thread 12 (worker)"), 0.75);
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

/* CPU 0 spends 80 of 100 ticks on softirqs, CPU 1 two; with 40 on CPU 0 it is none. */
static void interrupts_on_one_cpu(void)
{
	for (uint64_t ticks = 40; ticks <= 80; ticks += 40) {
		open_stage();
		for (uint64_t t = 0; t <= 5; t++) {
			times_row(ON_CPU, 0,
				  (uint64_t[10]) { 0, 0, 0, t * (100 - ticks), 0, 0, t * ticks });
			times_row(ON_CPU, 1, (uint64_t[10]) { 0, 0, 0, t * 98, 0, 0, t * 2 });
			ROW(ON_IRQ_CPU, WORD("LOC"), NUMBER(0), NUMBER(t * 100));
			ROW(ON_IRQ_CPU, WORD("33"), NUMBER(0), NUMBER(t * 5000));
			ROW(ON_IRQ_CPU, WORD("34"), NUMBER(1), NUMBER(t * 9000));
			stage_tick(&stage, AT(t));
		}
		judge_and_close();
		CU_ASSERT_EQUAL(judged.nfound, ticks == 80);
	}
	CU_ASSERT_STRING_EQUAL(judged.found[0].id, "cpu.irq_imbalance");
	CU_ASSERT_STRING_EQUAL(judged.found[0].about, "cpu 0");
	CU_ASSERT_STRING_EQUAL(judged.found[0].title,
			       "CPU 0 spent 80 % of its time on interrupts, CPU 1 2 %");
	NEAR(judged_number(&judged, "cpu.irq_imbalance", "cpu.irq_busiest"), 0.8);
	NEAR(judged_number(&judged, "cpu.irq_imbalance", "interrupt 33"), 5000);
}

/* The same CPU is overloaded, with tasks waiting: one finding, which says that it is interrupts. */
static void interrupts_that_overload(void)
{
	open_stage();
	for (uint64_t t = 0; t <= 10; t++) {
		times_row(ON_CPU, 0, (uint64_t[10]) { t * 20, 0, 0, 0, 0, 0, t * 80 });
		times_row(ON_CPU, 1, (uint64_t[10]) { t * 2, 0, 0, t * 98 });
		psi_row(t * 200000);
		ROW(ON_IRQ_CPU, WORD("33"), NUMBER(0), NUMBER(t * 5000));
		stage_tick(&stage, AT(t));
	}
	judge_and_close();
	CU_ASSERT_PTR_NOT_NULL(judged_find(&judged, "cpu.imbalance"));
	CU_ASSERT_PTR_NULL(judged_find(&judged, "cpu.irq_imbalance"));
	NEAR(judged_number(&judged, "cpu.imbalance", "cpu.irq_busiest"), 0.8);
	NEAR(judged_number(&judged, "cpu.imbalance", "interrupt 33"), 5000);
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

/* Everything quiet: nothing found, and nothing left unsaid but for kinds of cores and heat, which nobody told. */
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
	CU_ASSERT_STRING_EQUAL(judged.not_judged, " cpu.slow_cores cpu.thermal ");
	CU_ASSERT_STRING_EQUAL(
		judged.clear,
		" cpu.saturation cpu.parallelism cpu.process_runq_wait cpu.imbalance cpu.irq_imbalance "
		"cpu.steal cpu.iowait cpu.preemption cpu.blocking ");
}

CU_TestInfo tests[] = {
	{ "saturation in one half", saturation_in_one_half },
	{ "saturation at ten samples a second", saturation_at_ten_hertz },
	{ "saturation: warning, and noise", saturation_levels },
	{ "a tree waits for itself", a_tree_waits_for_itself },
	{ "exactly at the thresholds", levels },
	{ "saturation by schedstat", saturation_by_schedstat },
	{ "saturation by runnable tasks", saturation_by_runnable },
	{ "what could not be judged", not_judged },
	{ "processes that wait in one half", waits_in_one_half },
	{ "a kernel thread waits", a_kernel_thread_waits },
	{ "the worst thread", the_worst_thread },
	{ "too little evidence", too_little_evidence },
	{ "a hostile name", hostile_name },
	{ "imbalance with waiters", imbalance_with_waiters },
	{ "one busy program is no imbalance", one_busy_program },
	{ "interrupts on one CPU", interrupts_on_one_cpu },
	{ "interrupts that overload a CPU", interrupts_that_overload },
	{ "preemptions and blockings", preemptions_and_blockings },
	{ "all quiet", quiet },
	CU_TEST_INFO_NULL,
};
