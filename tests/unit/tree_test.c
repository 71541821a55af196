/* sinks/tree: lives and what they used, from rows made by hand; the expected values are worked out beside them. A tick is
 * 10 ms. */
#include "sinks/tree/gather.c"
#include "sinks/tree/lanes.c"
#include "sinks/tree/machine.c"
#include "sinks/tree/outsiders.c"
#include "sinks/tree/relate.c"

#include "made.h"
#include "sink_host.h"

const char suite[] = "tree";

/* ---- tables, with the columns that the collectors have ---- */

#define TICKS(name_)  MADE(name_, SONDE_U64, SONDE_COUNTER, SONDE_BASE_NS, 0, NULL)
#define MICROS(name_) MADE(name_, SONDE_U64, SONDE_GAUGE, SONDE_BASE_NS, 1000, NULL)

static const struct sonde_column process_columns[] = {
	KEY("pid"),          MADE("start_time", SONDE_U64, SONDE_KEY, SONDE_BASE_NS, 0, NULL),
	TEXT("comm"),        STATE("ppid"),
	TICKS("utime"),      TICKS("cutime"),
	BYTES("read_bytes"), KIBIBYTES("vm_rss"),
};
static const struct sonde_table process = { .name = "process",
					    .columns = SONDE_COLUMNS(process_columns) };

static const struct sonde_column exit_columns[] = {
	KEY("pid"),        STATE("tgid"), STATE("ppid"),   TEXT("comm"),
	STATE("exitcode"), STATE("flag"), MICROS("etime"), NANOSECONDS("cpu_run_virtual_total"),
};
static const struct sonde_table task_exit = { .name = "task_exit",
					      .columns = SONDE_COLUMNS(exit_columns) };

static const struct sonde_column end_columns[] = { TEXT("reason") };
static const struct sonde_table end = { .name = "end", .columns = SONDE_COLUMNS(end_columns) };

enum { CELLS_MOST = 8 };

struct tick_row {
	struct cell cells[CELLS_MOST];
};

static const struct sonde_stream_header header = {
	.host = "h", .label = "", .kernel = "", .arch = "", .version = "", .user_hz = 100
};

/* A table's rows, read so many ms after the boot. */
static void give(struct tree *tree, const struct sonde_table *table, uint64_t ms, uint32_t columns,
		 const struct tick_row *rows, uint32_t count)
{
	struct sample sample;

	sample_make(&sample, table);
	for (uint32_t i = 0; i < count; i++) {
		struct sonde_row row = sample_row(&sample);

		for (uint32_t c = 0; c < columns; c++) {
			if (rows[i].cells[c].text)
				sonde_set_str(&row, c, rows[i].cells[c].text);
			else
				sonde_set_u64(&row, c, rows[i].cells[c].number);
		}
	}
	sample_view(&sample, "test");
	sample.view.header = &header;
	sample.view.begin = sample.view.end = ms * 1000000;
	tree_view(tree, &sample.view);
	sample_free(&sample);
}

#define SAMPLE(tree, ms, ...)                                                                      \
	give(tree, &process, ms, 8, (const struct tick_row[]) { __VA_ARGS__ },                     \
	     sizeof((const struct tick_row[]) { __VA_ARGS__ }) / sizeof(struct tick_row))
#define EXITS(tree, ms, ...)                                                                       \
	give(tree, &task_exit, ms, 8, (const struct tick_row[]) { __VA_ARGS__ },                   \
	     sizeof((const struct tick_row[]) { __VA_ARGS__ }) / sizeof(struct tick_row))
#define P(pid, start, comm, ppid, utime, cutime, read, rss)                                        \
	{                                                                                          \
		{                                                                                  \
			NUMBER(pid), NUMBER(start), WORD(comm), NUMBER(ppid), NUMBER(utime),       \
				NUMBER(cutime), NUMBER(read), NUMBER(rss)                          \
		}                                                                                  \
	}
#define E(pid, tgid, ppid, comm, code, flag, us, ns)                                               \
	{                                                                                          \
		{                                                                                  \
			NUMBER(pid), NUMBER(tgid), NUMBER(ppid), WORD(comm), NUMBER(code),         \
				NUMBER(flag), NUMBER(us), NUMBER(ns)                               \
		}                                                                                  \
	}

static const struct life *life_with(const struct tree *tree, uint32_t pid)
{
	const struct life *life = find(tree, pid);

	CU_ASSERT_PTR_NOT_NULL_FATAL(life);
	return life;
}

#define NEAR_NS(value, seconds) CU_ASSERT_DOUBLE_EQUAL(value, (seconds)*1e9, 1)

/* make (0.1 s of its own) waited for cc (sampled with 0.3 s, of which it read all of make's 900 bytes but 100) and was told of
 * 1 s in all: 0.7 s are of children that nobody saw, or of cc after its last sample. */
static void what_nobody_saw(void)
{
	struct tree tree = { 0 };
	struct totals totals;

	SAMPLE(&tree, 1000, P(10, 95, "make", 5, 0, 0, 0, 100));
	SAMPLE(&tree, 1100, P(10, 95, "make", 5, 5, 0, 100, 100),
	       P(11, 104, "cc", 10, 30, 0, 800, 300));
	SAMPLE(&tree, 1200, P(10, 95, "make", 5, 10, 100, 900, 100));
	CU_ASSERT_FATAL(tree_relate(&tree));
	tree_totals(&tree, &totals);
	NEAR_NS(life_with(&tree, 10)->use.cpu, 0.1);
	NEAR_NS(life_with(&tree, 10)->short_lived, 0.7);
	NEAR_NS(totals.use.cpu, 1.1);
	CU_ASSERT_EQUAL(life_with(&tree, 10)->use.read, 100);
	CU_ASSERT_EQUAL(life_with(&tree, 11)->use.read, 800);
	CU_ASSERT_EQUAL(totals.use.read, 900);
	CU_ASSERT_EQUAL(tree.rss, 400 * 1024);
	/* Without vm_hwm the peak of one process is not known: not 0. */
	CU_ASSERT(isnan(totals.largest));
	tree_free(&tree);
}

/* Of threads 21 and 22 of process 21: 30 + 20 ms. 31 is of a tree that is not watched; 23 was told only at its end. */
static void what_ends_told(void)
{
	struct tree tree = { 0 };

	SAMPLE(&tree, 1000, P(20, 95, "sh", 5, 0, 0, 0, 100));
	EXITS(&tree, 1100, E(22, 21, 20, "worker", 0, 0, 40000, 20000000),
	      E(21, 21, 20, "cc", 256 * 3, 32, 50000, 30000000),
	      E(23, 23, 20, "true", 9, 32, 1000, 1000000),
	      E(31, 31, 30, "other", 0, 32, 1000, 9000000));
	SAMPLE(&tree, 1200, P(20, 95, "sh", 5, 0, 0, 0, 100));
	CU_ASSERT_FATAL(tree_relate(&tree));
	CU_ASSERT_EQUAL(tree.members, 3);
	NEAR_NS(life_with(&tree, 21)->use.cpu, 0.05);
	CU_ASSERT_EQUAL(life_with(&tree, 21)->exitcode, 256 * 3);
	CU_ASSERT_STRING_EQUAL(life_with(&tree, 21)->comm, "cc");
	CU_ASSERT_EQUAL(life_with(&tree, 23)->exitcode, 9);
	CU_ASSERT_EQUAL(tree.lives[life_with(&tree, 23)->parent].pid, 20);
	CU_ASSERT_FALSE(life_with(&tree, 31)->member);
	tree_free(&tree);
}

/* A daemon of 900 s of CPU, told of 40 s of children, works 2 s, and a child of 30 s (25 of them before) ends, of which it is
 * told: 31 s more, so 1 s is of somebody else. A process that begins meanwhile counts from its birth. */
static void what_was_before_the_recording(void)
{
	struct tree tree = { 0 };
	struct totals totals;
	uint32_t count;
	struct program *programs;

	SAMPLE(&tree, 100000, P(80, 95, "daemon", 1, 90000, 4000, 7000, 1),
	       P(81, 5000, "child", 80, 2500, 0, 500, 1));
	SAMPLE(&tree, 101000, P(80, 95, "daemon", 1, 90100, 4000, 7000, 1),
	       P(81, 5000, "child", 80, 3000, 0, 600, 1), P(82, 10050, "new", 1, 20, 0, 40, 1));
	SAMPLE(&tree, 102000, P(80, 95, "daemon", 1, 90200, 7100, 7620, 1),
	       P(82, 10050, "new", 1, 30, 0, 40, 1));
	CU_ASSERT_FATAL(tree_relate(&tree));
	tree_totals(&tree, &totals);
	NEAR_NS(life_with(&tree, 80)->use.cpu, 2);
	NEAR_NS(life_with(&tree, 81)->use.cpu, 5);
	NEAR_NS(life_with(&tree, 82)->use.cpu, 0.3);
	NEAR_NS(life_with(&tree, 80)->short_lived, 1);
	NEAR_NS(totals.use.cpu, 2 + 5 + 0.3 + 1);
	/* Of the daemon's 620 bytes the child had read 600, in its whole life. */
	CU_ASSERT_EQUAL(life_with(&tree, 80)->use.read, 20);
	CU_ASSERT_EQUAL(life_with(&tree, 81)->use.read, 100);
	CU_ASSERT_EQUAL(life_with(&tree, 82)->use.read, 40);
	programs = tree_programs(&tree, &count);
	CU_ASSERT_PTR_NOT_NULL_FATAL(programs);
	CU_ASSERT_STRING_EQUAL(programs[1].name, "daemon");
	NEAR_NS(programs[1].wall, 2);
	free(programs);
	tree_free(&tree);
}

/* Of a process that no sample saw and that is older than the recording, nobody knows what it used meanwhile. */
static void an_end_of_one_that_nobody_saw(void)
{
	struct tree tree = { 0 };

	SAMPLE(&tree, 100000, P(83, 95, "sh", 1, 0, 0, 0, 1));
	EXITS(&tree, 101000, E(84, 84, 83, "old", 0, 32, 90000000, 900000000));
	CU_ASSERT_FATAL(tree_relate(&tree));
	CU_ASSERT(isnan(life_with(&tree, 84)->use.cpu));
	tree_free(&tree);
}

/* 41's parent 40 ended; who started the tree, 5, took it over: of the tree where that was sonde. */
static void orphans(void)
{
	static const struct tick_row command = { { WORD("command") } };

	for (int ours = 0; ours < 2; ours++) {
		struct tree tree = { 0 };

		SAMPLE(&tree, 1000, P(40, 95, "sh", 5, 0, 0, 0, 100));
		EXITS(&tree, 1100, E(41, 41, 5, "daemon", 0, 32, 1000, 1000000));
		if (ours)
			give(&tree, &end, 1200, 1, &command, 1);
		CU_ASSERT_FATAL(tree_relate(&tree));
		CU_ASSERT_EQUAL(tree.members, ours ? 2 : 1);
		tree_free(&tree);
	}
}

/* The same number at another start is another process; children are of the one that lived then. */
static void a_number_used_again(void)
{
	struct tree tree = { 0 };

	SAMPLE(&tree, 900, P(5, 80, "init", 0, 0, 0, 0, 1));
	SAMPLE(&tree, 10000, P(50, 100, "first", 5, 7, 0, 0, 1),
	       P(51, 200, "child", 50, 1, 0, 0, 1));
	SAMPLE(&tree, 20000, P(50, 1500, "second", 5, 1, 0, 0, 1));
	CU_ASSERT_FATAL(tree_relate(&tree));
	CU_ASSERT_EQUAL(tree.members, 4);
	CU_ASSERT_STRING_EQUAL(life_with(&tree, 50)->comm, "second");
	CU_ASSERT_STRING_EQUAL(tree.lives[life_with(&tree, 51)->parent].comm, "first");
	NEAR_NS(tree.lives[life_with(&tree, 51)->parent].use.cpu, 0.07);
	tree_free(&tree);
}

/* What no kernel says: each other's parents. Both are there, once. */
static void a_circle(void)
{
	struct tree tree = { 0 };

	SAMPLE(&tree, 1000, P(60, 95, "a", 61, 1, 0, 0, 1), P(61, 95, "b", 60, 1, 0, 0, 1));
	CU_ASSERT_FATAL(tree_relate(&tree));
	CU_ASSERT_EQUAL(tree.members, 2);
	tree_free(&tree);
}

/* 72 ended last before 70 did, 71 last before 72 began; 73 ran beside them and ended before. */
static void what_set_the_time(void)
{
	struct tree tree = { 0 };

	SAMPLE(&tree, 1000, P(70, 95, "sh", 5, 0, 0, 0, 1), P(71, 96, "long", 70, 0, 0, 0, 1),
	       P(73, 96, "short", 70, 0, 0, 0, 1));
	SAMPLE(&tree, 2000, P(70, 95, "sh", 5, 0, 0, 0, 1), P(71, 96, "long", 70, 0, 0, 0, 1));
	SAMPLE(&tree, 3000, P(70, 95, "sh", 5, 0, 0, 0, 1), P(72, 250, "last", 70, 0, 0, 0, 1));
	SAMPLE(&tree, 4000, P(80, 350, "after", 5, 0, 0, 0, 1));
	CU_ASSERT_FATAL(tree_relate(&tree));
	CU_ASSERT(life_with(&tree, 70)->critical);
	CU_ASSERT(life_with(&tree, 71)->critical);
	CU_ASSERT(life_with(&tree, 72)->critical);
	CU_ASSERT_FALSE(life_with(&tree, 73)->critical);
	CU_ASSERT_FALSE(life_with(&tree, 80)->critical);
	tree_free(&tree);
}

/* ---- lanes: columns of their own, in the order of lane_columns; ns but for utime ---- */

static const struct sonde_column lane_columns[] = {
	KEY("pid"),
	MADE("start_time", SONDE_U64, SONDE_KEY, SONDE_BASE_NS, 0, NULL),
	TEXT("comm"),
	TEXT("state"),
	STATE("num_threads"),
	TICKS("utime"),
	NANOSECONDS("sched_run"),
	NANOSECONDS("sched_wait"),
};
static const struct sonde_table lane_table = { .name = "process",
					       .columns = SONDE_COLUMNS(lane_columns) };

#define MS(n) NUMBER((n)*1000000ull)
#define L(pid, start, state, threads, utime, run, wait)                                            \
	{                                                                                          \
		{                                                                                  \
			NUMBER(pid), NUMBER(start), WORD("a"), WORD(state), NUMBER(threads),       \
				NUMBER(utime), MS(run), MS(wait)                                   \
		}                                                                                  \
	}
#define LANES(tree, ms, ...)                                                                       \
	give(tree, &lane_table, ms, 8, (const struct tick_row[]) { __VA_ARGS__ },                  \
	     sizeof((const struct tick_row[]) { __VA_ARGS__ }) / sizeof(struct tick_row))

/* The stretches of a life, as "until(ms):running/waiting/blocked", - where that is not known. */
static const char *lane_of(struct tree *tree, uint32_t pid)
{
	static char text[1024];
	const struct lane *lane;
	size_t used = 0;

	CU_ASSERT_FATAL(tree_relate(tree));
	free(tree->order);
	tree->order = NULL;
	tree->members = 0;
	lane = &tree->lanes[life_with(tree, pid) - tree->lives];
	used += (size_t)snprintf(text, sizeof text, "%llu",
				 (unsigned long long)lane->begin / 1000000);
	for (uint32_t i = 0; i < lane->count && used < sizeof text; i++) {
		const struct stretch *s = &lane->stretches[i];
		const uint32_t shares[] = { s->running, s->waiting, s->blocked };

		used += (size_t)snprintf(text + used, sizeof text - used,
					 " %llu:", (unsigned long long)s->until / 1000000);
		for (int of = 0; of < 3 && used < sizeof text; of++)
			used += (size_t)(shares[of] == UNKNOWN
						 ? snprintf(text + used, sizeof text - used, "-")
						 : snprintf(text + used, sizeof text - used, "%s%g",
							    of ? "/" : "",
							    shares[of] * 100.0 / THREAD));
	}
	return text;
}

/* On a busy machine: 90 alone from 1 to 3 s, which waits for half of the first; with 91 from 3 to 4 s, each on half a CPU; 91
 * alone from 4 to 5 s; then none. */
static void phases_without_parallelism(void)
{
	struct tree tree = { .keeps_lanes = true };
	struct phase phases[PHASES_MOST];

	LANES(&tree, 1000, L(90, 95, "R", 1, 0, 0, 0));
	LANES(&tree, 2000, L(90, 95, "R", 1, 50, 500, 500));
	LANES(&tree, 3000, L(90, 95, "R", 1, 150, 1500, 500));
	LANES(&tree, 4000, L(90, 95, "S", 1, 200, 2000, 1000), L(91, 300, "R", 1, 50, 500, 500));
	LANES(&tree, 5000, L(90, 95, "S", 1, 200, 2000, 1000), L(91, 300, "R", 1, 100, 1000, 1000));
	LANES(&tree, 6000, L(90, 95, "S", 1, 200, 2000, 1000));
	CU_ASSERT_FATAL(tree_relate(&tree));
	CU_ASSERT_EQUAL_FATAL(tree_phases(&tree, phases), 2);
	CU_ASSERT_EQUAL(phases[0].begin, 1 * SECOND);
	CU_ASSERT_EQUAL(phases[0].end, 3 * SECOND);
	CU_ASSERT_EQUAL(tree.lives[phases[0].busiest].pid, 90);
	CU_ASSERT_EQUAL(phases[1].begin, 4 * SECOND);
	CU_ASSERT_EQUAL(phases[1].end, 5 * SECOND);
	CU_ASSERT_EQUAL(tree.lives[phases[1].busiest].pid, 91);
	tree_free(&tree);
}

/* It ran 60 ms of the first 100 and waited 30; slept for 200, in which nothing changed; then was found in D, having run 20 ms.
 * Of 31, older than the recording, what was before is not in it. 32 was born at 1230 and used 10 ms until it was seen. */
static void what_it_did(void)
{
	struct tree tree = { .keeps_lanes = true };

	LANES(&tree, 1000, L(30, 95, "S", 1, 7, 70, 10), L(31, 10, "S", 1, 900, 9000, 500));
	LANES(&tree, 1100, L(30, 95, "R", 1, 13, 130, 40), L(31, 10, "S", 1, 900, 9000, 500));
	LANES(&tree, 1200, L(30, 95, "S", 1, 13, 130, 40), L(31, 10, "S", 1, 900, 9000, 500));
	LANES(&tree, 1300, L(30, 95, "S", 1, 13, 130, 40), L(31, 10, "S", 1, 901, 9010, 500),
	      L(32, 123, "R", 1, 1, 7, 35));
	LANES(&tree, 1400, L(30, 95, "D", 1, 15, 150, 40));
	CU_ASSERT_STRING_EQUAL(lane_of(&tree, 30), "1000 1100:60/30/0 1300:0/0/0 1400:20/0/80");
	CU_ASSERT_STRING_EQUAL(lane_of(&tree, 31), "1000 1200:0/0/0 1300:10/0/0");
	CU_ASSERT_STRING_EQUAL(lane_of(&tree, 32), "1230 1300:10/50/0");
	CU_ASSERT_DOUBLE_EQUAL(tree.spans[0].amounts.wait, 30e6, 1);
	CU_ASSERT_DOUBLE_EQUAL(tree.spans[1].amounts.wait, 0, 1);
	CU_ASSERT_DOUBLE_EQUAL(tree.spans[2].amounts.wait, 35e6, 1e5);
	CU_ASSERT_DOUBLE_EQUAL(tree.spans[3].amounts.blocked, 80e6, 1);
	tree_free(&tree);
}

/* A wait of 150 ms is counted when it is over, at 1300: it began at 1150, and the thread did not sleep until then but until 1150. */
static void a_wait_longer_than_an_interval(void)
{
	struct tree tree = { .keeps_lanes = true };

	LANES(&tree, 1000, L(30, 95, "S", 1, 0, 0, 0));
	LANES(&tree, 1200, L(30, 95, "R", 1, 0, 0, 0));
	LANES(&tree, 1300, L(30, 95, "R", 1, 0, 0, 150));
	LANES(&tree, 1400, L(30, 95, "S", 1, 0, 0, 150));
	LANES(&tree, 1500, L(30, 95, "S", 1, 0, 0, 150));
	LANES(&tree, 1600, L(30, 95, "S", 1, 0, 0, 150));
	CU_ASSERT_STRING_EQUAL(lane_of(&tree, 30), "1000 1150:0/0/0 1300:0/100/0 1600:0/0/0");
	CU_ASSERT_DOUBLE_EQUAL(tree.spans[0].amounts.wait, 50e6, 1);
	CU_ASSERT_DOUBLE_EQUAL(tree.spans[1].amounts.wait, 100e6, 1);
	CU_ASSERT_DOUBLE_EQUAL(tree.spans[3].amounts.wait, 0, 1);
	tree_free(&tree);
}

/* Two threads: the leader's own clock is not the process's. Without any clock nothing is known: not that it slept. */
static void threads_and_what_is_not_known(void)
{
	struct tree tree = { .keeps_lanes = true };

	LANES(&tree, 1000, L(30, 95, "S", 2, 10, 20, 0));
	LANES(&tree, 1100, L(30, 95, "S", 2, 26, 30, 0));
	CU_ASSERT_STRING_EQUAL(lane_of(&tree, 30), "1000 1100:160/0/0");
	tree_free(&tree);
	tree = (struct tree) { .keeps_lanes = true };
	give(&tree, &lane_table, 1000, 3, (const struct tick_row[]) { L(30, 95, "S", 1, 0, 0, 0) },
	     1);
	give(&tree, &lane_table, 1100, 3, (const struct tick_row[]) { L(30, 95, "S", 1, 0, 0, 0) },
	     1);
	CU_ASSERT_STRING_EQUAL(lane_of(&tree, 30), "1000 1100:---");
	tree_free(&tree);
}

/* Its record has 50 ms of CPU in a life of 180 ms: 10 ms in the last 50. 34 was never sampled: 5 ms of 20, while its parent
 * lived. */
static void how_it_ended(void)
{
	struct tree tree = { .keeps_lanes = true };

	LANES(&tree, 1000, L(33, 92, "R", 1, 2, 20, 0));
	LANES(&tree, 1050, L(33, 92, "R", 1, 4, 40, 0));
	EXITS(&tree, 1200, E(33, 33, 5, "a", 0, 32, 180000, 50000000),
	      E(34, 34, 33, "b", 0, 32, 20000, 5000000));
	CU_ASSERT_STRING_EQUAL(lane_of(&tree, 33), "1000 1050:40/0/0 1100:20--");
	CU_ASSERT_STRING_EQUAL(lane_of(&tree, 34), "1080 1100:25--");
	tree_free(&tree);
}

/* More stretches than are kept become coarser, and their sums stay. */
static void too_many_stretches(void)
{
	struct tree tree = { .keeps_lanes = true };
	struct clocks clocks = { .all_run = NAN, .all_wait = NAN, .threads = 1 };
	double ran = 0;
	uint64_t ms = 1000;
	const struct lane *lane;

	CU_ASSERT_PTR_NOT_NULL_FATAL(add(&tree, 30, 0));
	tree.first = ms * 1000000;
	for (; tree.grain < 400000000 && ms < 1000000000; ms += 100) {
		tree.last = ms * 1000000;
		clocks.run += (double)(ms / 100 * 7919 % 101) * 1e6;
		lane_sample(&tree, 0, &clocks, tree.last);
	}
	CU_ASSERT_FATAL(tree_relate(&tree));
	lane = tree.lanes;
	CU_ASSERT(tree.stretches <= STRETCHES_MOST && tree.stretches == lane->count);
	CU_ASSERT_EQUAL(lane->stretches[lane->count - 1].until, tree.last);
	for (uint32_t i = 0; i < lane->count; i++) {
		uint64_t begin = i ? lane->stretches[i - 1].until : lane->begin;

		ran += lane->stretches[i].running * (double)(lane->stretches[i].until - begin) /
		       THREAD;
	}
	CU_ASSERT_DOUBLE_EQUAL(ran / clocks.run, 1, 0.01);
	tree_free(&tree);
}

static const struct sonde_column outsider_columns[] = {
	KEY("pid"),   MADE("start_time", SONDE_U64, SONDE_KEY, SONDE_BASE_NS, 0, NULL),
	TEXT("comm"), TEXT("program"),
	TICKS("cpu"), TICKS("children_cpu"),
};
static const struct sonde_table outsider = { .name = "outsider",
					     .columns = SONDE_COLUMNS(outsider_columns) };
static const struct sonde_column stat_columns[] = { TICKS("user") };
static const struct sonde_table stat_table = { .name = "stat",
					       .columns = SONDE_COLUMNS(stat_columns) };
static const struct sonde_column total_columns[] = { TICKS("subtree_cpu"), STATE("subtree") };
static const struct sonde_table processes = { .name = "processes",
					      .columns = SONDE_COLUMNS(total_columns) };

#define O(pid, start, comm, cmdline, cpu, children)                                                \
	{                                                                                          \
		{                                                                                  \
			NUMBER(pid), NUMBER(start), WORD(comm), WORD(cmdline), NUMBER(cpu),        \
				NUMBER(children)                                                   \
		}                                                                                  \
	}

/* The machine used 10 s, the tree `ticks` hundredths of a second: the command 10 of sonde 5, and 7, older, that --also chose. */
static void give_machine(struct tree *tree, uint64_t ticks)
{
	const struct tick_row busy[] = { { { NUMBER(5000) } }, { { NUMBER(6000) } } };
	const struct tick_row total = { { NUMBER(ticks), NUMBER(5) } };
	const struct tick_row others[] = {
		O(7, 3, "server", "server", 9, 0),
		O(8, 4, "java", "GradleDaemon", 300, 0),
		O(9, 4, "sccache", "sccache", 1, 199),
		O(9, 2, "before", "before", 1, 0),
	};

	give(tree, &stat_table, 100000, 1, &busy[0], 1);
	SAMPLE(tree, 100000, P(7, 3, "server", 1, 500, 0, 0, 1),
	       P(10, 9999, "make", 5, 0, 0, 0, 1));
	give(tree, &processes, 100000, 2, &total, 1);
	SAMPLE(tree, 105000, P(7, 3, "server", 1, 500, 0, 0, 1),
	       P(10, 9999, "make", 5, ticks, 0, 0, 1));
	give(tree, &processes, 105000, 2, &total, 1);
	SAMPLE(tree, 106000, P(7, 3, "server", 1, 500, 0, 0, 1));
	give(tree, &stat_table, 106000, 1, &busy[1], 1);
	give(tree, &outsider, 106000, 6, others, 4);
	CU_ASSERT_FATAL(tree_relate(tree));
}

static void who_is_outside(void)
{
	struct tree tree = { 0 };
	struct totals totals;
	struct outsiders outsiders;

	give_machine(&tree, 400);
	tree_totals(&tree, &totals);
	CU_ASSERT_FATAL(tree_outsiders(&tree, &totals, &outsiders));
	CU_ASSERT_DOUBLE_EQUAL(outsiders.share, 0.6, 1e-9);
	CU_ASSERT_EQUAL_FATAL(outsiders.count, 3);
	CU_ASSERT_EQUAL(outsiders.told[0]->pid, 8);
	CU_ASSERT_STRING_EQUAL(tree_service(outsiders.told[0]), "Gradle daemon");
	CU_ASSERT_STRING_EQUAL(tree_service(outsiders.told[1]), "compile cache");
	CU_ASSERT_STRING_EQUAL(outsiders.told[2]->comm, "before");
	CU_ASSERT_PTR_NULL(tree_service(outsiders.told[2]));
	NEAR_NS(outsiders.rest, 6 - 3 - 2 - 0.01);
	/* The command sets the time, whoever is older. */
	CU_ASSERT(life_with(&tree, 10)->critical && !life_with(&tree, 7)->critical);
	tree_free(&tree);
}

static void hardly_anything_is_outside(void)
{
	struct tree tree = { 0 };
	struct totals totals;
	struct outsiders outsiders;

	give_machine(&tree, 901);
	tree_totals(&tree, &totals);
	CU_ASSERT_FALSE(tree_outsiders(&tree, &totals, &outsiders));
	tree_free(&tree);
}

/* 111's parent 110, which no sample saw, made it and ended; at its end it was 10's child. 112 got 111's number within the second. */
static const struct sonde_column birth_columns[] = { KEY("pid"), STATE("forked_by"),
						     NANOSECONDS("born") };
static const struct sonde_table task_birth = { .name = "task_birth",
					       .columns = SONDE_COLUMNS(birth_columns) };

static void who_made_it(void)
{
	const struct tick_row births[] = {
		{ { NUMBER(110), NUMBER(10), NUMBER(1010000000) } },
		{ { NUMBER(111), NUMBER(110), NUMBER(1020000000) } },
		{ { NUMBER(111), NUMBER(10), NUMBER(1050000000) } },
	};
	struct tree tree = { 0 };
	const struct life *second;

	SAMPLE(&tree, 1000, P(10, 95, "sh", 5, 0, 0, 0, 100));
	give(&tree, &task_birth, 1100, 3, births, 3);
	EXITS(&tree, 1100, E(110, 110, 10, "daemon", 0, 32, 15000, 1000000),
	      E(111, 111, 10, "first", 0, 32, 10000, 2000000),
	      E(111, 111, 10, "second", 0, 32, 30000, 3000000));
	SAMPLE(&tree, 1200, P(10, 95, "sh", 5, 0, 0, 0, 100));
	CU_ASSERT_FATAL(tree_relate(&tree));
	CU_ASSERT_EQUAL(tree.members, 4);
	second = life_with(&tree, 111);
	CU_ASSERT_STRING_EQUAL(second->comm, "second");
	CU_ASSERT_EQUAL(tree.lives[second->parent].pid, 10);
	CU_ASSERT_STRING_EQUAL(tree.lives[second->older].comm, "first");
	CU_ASSERT_EQUAL(tree.lives[tree.lives[second->older].parent].pid, 110);
	NEAR_NS(second->use.cpu, 0.003);
	tree_free(&tree);
}

/* The kernel told an end, and it lives on: it became another user. */
static void an_end_that_was_none(void)
{
	struct tree tree = { 0 };

	SAMPLE(&tree, 1000, P(10, 95, "sh", 5, 0, 0, 0, 100), P(11, 99, "su", 10, 1, 0, 0, 1));
	EXITS(&tree, 1050, E(11, 11, 10, "su", 0, 32, 50000, 1000000));
	SAMPLE(&tree, 1100, P(10, 95, "sh", 5, 0, 0, 0, 100), P(11, 99, "su", 10, 3, 0, 0, 1));
	SAMPLE(&tree, 1200, P(10, 95, "sh", 5, 0, 0, 0, 100), P(11, 99, "su", 10, 4, 0, 0, 1));
	CU_ASSERT_FATAL(tree_relate(&tree));
	CU_ASSERT_EQUAL(life_with(&tree, 11)->end, 0);
	NEAR_NS(life_with(&tree, 11)->use.cpu, 0.04);
	tree_free(&tree);
}

/* Time 0 is a time: 10 ms of CPU from there to the next sample are counted. */
static void from_time_zero(void)
{
	struct tree tree = { 0 };

	CU_ASSERT_FALSE(tree.any);
	SAMPLE(&tree, 0, P(10, 0, "make", 5, 0, 0, 0, 100));
	CU_ASSERT(tree.any);
	CU_ASSERT_EQUAL(tree.last, 0);
	SAMPLE(&tree, 100, P(10, 0, "make", 5, 1, 0, 0, 100));
	CU_ASSERT_EQUAL_FATAL(tree.nspans, 1);
	CU_ASSERT_EQUAL(tree.spans[0].end - tree.spans[0].begin, 100000000);
	NEAR_NS(tree.spans[0].cpu, 0.01);
	tree_free(&tree);
}

CU_TestInfo tests[] = {
	{ "what nobody saw", what_nobody_saw },
	{ "what ends told", what_ends_told },
	{ "what was before the recording", what_was_before_the_recording },
	{ "an end of one that nobody saw", an_end_of_one_that_nobody_saw },
	{ "orphans", orphans },
	{ "a number used again", a_number_used_again },
	{ "a circle", a_circle },
	{ "what set the time", what_set_the_time },
	{ "phases without parallelism", phases_without_parallelism },
	{ "what it did", what_it_did },
	{ "a wait longer than an interval", a_wait_longer_than_an_interval },
	{ "threads, and what is not known", threads_and_what_is_not_known },
	{ "how it ended", how_it_ended },
	{ "too many stretches", too_many_stretches },
	{ "who is outside", who_is_outside },
	{ "hardly anything is outside", hardly_anything_is_outside },
	{ "who made it", who_made_it },
	{ "an end that was none", an_end_that_was_none },
	{ "from time zero", from_time_zero },
	CU_TEST_INFO_NULL,
};
