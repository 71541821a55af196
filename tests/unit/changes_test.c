/* The analysis of a recording looks only at what changed. It comes to the same as one that looks at everything: random
 * processes come, go, change their names and counters, lose values and get them back. */
#include "stream.h"
#include "watcher.h"

const char suite[] = "changes";

/* ---- what is recorded ---- */

enum { PROCESSES = 24, INSTANTS = 2400, RSS = WAIT + 1 };

static const struct sonde_column columns[] = {
	[PID] = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "" },
	[START] = { "start_time", SONDE_U64, SONDE_KEY, SONDE_TICKS, .help = "" },
	[COMM] = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .help = "" },
	[UTIME] = { "utime", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[RUN] = { "sched_run", SONDE_U64, SONDE_COUNTER, SONDE_NS, .help = "" },
	[WAIT] = { "sched_wait", SONDE_U64, SONDE_COUNTER, SONDE_NS, .help = "" },
	[RSS] = { "rss", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .help = "" },
};
static const struct sonde_table table = { .name = "process", .columns = SONDE_COLUMNS(columns) };

/* By key and reduced, of counters and of a gauge, one that leaves rows out. */
static const struct sonde_stream streams[] = {
	{ "cpu", "process", .plus = "utime", .over = "time" },
	{ "wait", "process", .plus = "sched_wait", .over = "sched_wait sched_run",
	  .threshold = offsetof(struct conf, threshold), .hold = offsetof(struct conf, hold) },
	{ "sum", "process", .plus = "utime", .over = "time", .reduce = SONDE_SUM },
	{ "most", "process", .plus = "sched_wait", .over = "time", .reduce = SONDE_MAX },
	{ "rss", "process", .plus = "rss", .key = "comm" },
	{ "where", "process", .where = "comm=b", .plus = "sched_run", .over = "time" },
	{ "each", "process", .plus = "rss" },
	/* As the two before, and as "sum", but for `also`: they are told at once. */
	{ "where", "process", .where = "comm=b", .plus = "sched_run", .over = "time", .also = 2 },
	{ "each", "process", .plus = "rss", .also = 2 },
	{ "sum", "process", .plus = "utime", .over = "time", .reduce = SONDE_SUM, .also = 2 },
};

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % n;
}

struct process {
	uint64_t start, utime, run, wait, rss;
	const char *comm;
	bool alive, has_sched;
};

/* One step of its life. Most processes of a machine do nothing most of the time. */
static void live(struct process *process, uint64_t now, bool forever)
{
	static const char *const names[] = { "a", "b", "c" };

	if (!process->alive) {
		if (!random_below(8))
			*process = (struct process) { .start = now / 10000000,
						      .comm = names[random_below(3)],
						      .alive = true,
						      .has_sched = true };
		return;
	}
	if (!random_below(15) && !forever)
		process->alive = false;
	if (random_below(3))
		return;
	process->utime += random_below(3);
	process->run += random_below(20000000);
	process->wait = random_below(40) ? process->wait + random_below(30000000) : 0;
	process->rss = random_below(2) ? process->rss : random_below(1 << 20);
	if (!random_below(30))
		process->comm = names[random_below(3)];
	if (!random_below(20))
		process->has_sched = !process->has_sched;
}

static void put_process(struct scene *scene, uint64_t pid, const struct process *process)
{
	struct sonde_row row;

	if (!process->alive || !frame_row(&scene->frame, 0, &row))
		return;
	sonde_set_u64(&row, PID, pid);
	sonde_set_u64(&row, START, process->start);
	sonde_set_str(&row, COMM, process->comm);
	sonde_set_u64(&row, UTIME, process->utime);
	sonde_set_u64(&row, RSS, process->rss);
	if (!process->has_sched)
		return;
	sonde_set_u64(&row, RUN, process->run);
	sonde_set_u64(&row, WAIT, process->wait);
}

static void record(struct bytes *bytes)
{
	struct writer_options options = { .emit = bytes_emit,
					  .context = bytes,
					  .segment_instants = 97 };
	struct sonde_schema *schema = make_schema(&table);
	struct writer *writer = writer_new(&options);
	struct process processes[PROCESSES] = { 0 };
	struct scene scene = { 0 };
	uint64_t now = 10 * SECOND;

	scene_table(&scene, schema, "process");
	for (uint64_t i = 0; i < INSTANTS; i++, now += SECOND / 2) {
		frame_begin(&scene.frame);
		for (uint64_t pid = 0; pid < PROCESSES; pid++) {
			if (i / 10 % 3) /* now and then nobody does anything */
				live(&processes[pid], now, pid < 4);
			put_process(&scene, pid, &processes[pid]);
		}
		CU_ASSERT_EQUAL(writer_instant(writer, scene_instant(&scene, i, now)), 0);
	}
	CU_ASSERT_EQUAL(writer_close(writer), 0);
	frame_free(&scene.frame);
	schema_free(schema);
}

/* ---- what it comes to ---- */

static void analyse(struct bytes *bytes, bool changes_known)
{
	struct reader_options options = { .read = bytes_read, .context = bytes };
	struct reader *reader = reader_new(&options);
	struct stage stage;
	const struct instant *instant;

	stage_open(&stage);
	analyzer(&stage, streams, sizeof streams / sizeof streams[0]);
	bytes->at = 0;
	while (reader_next(reader, &instant) == 1) {
		struct instant as_is = *instant;

		if (!changes_known)
			as_is.changes = NULL;
		CU_ASSERT_EQUAL(analysis_instant(stage.analysis, &as_is), 0);
	}
	CU_ASSERT_EQUAL(reader_state(reader)->instants, INSTANTS);
	judged(&stage);
	stage_close(&stage);
	reader_free(reader);
}

static void forget_texts(void)
{
	for (uint32_t s = 0; s < STREAMS_MOST; s++)
		for (uint32_t i = 0; i < SERIES_MOST; i++)
			seen.series[s][i].key = seen.series[s][i].label = NULL;
}

static void as_if_all_were_looked_at(void)
{
	static __typeof__(seen) known;
	struct bytes bytes = { 0 };

	random_state = 7;
	record(&bytes);
	analyse(&bytes, true);
	forget_texts();
	known = seen;
	analyse(&bytes, false);
	forget_texts();
	CU_ASSERT(seen.sum[0] > 0 && seen.sum[1] > 0 && seen.count[4] == 3 && seen.count[5] > 1);
	for (uint32_t s = 0; s < STREAMS_MOST; s++) {
		CU_ASSERT_EQUAL(known.count[s], seen.count[s]);
		CU_ASSERT_EQUAL(memcmp(known.keys[s], seen.keys[s], sizeof seen.keys[s]), 0);
		CU_ASSERT_EQUAL(memcmp(known.labels[s], seen.labels[s], sizeof seen.labels[s]), 0);
		CU_ASSERT_EQUAL(memcmp(known.series[s], seen.series[s], sizeof seen.series[s]), 0);
		CU_ASSERT_EQUAL(memcmp(known.slices[s], seen.slices[s], sizeof seen.slices[s]), 0);
		CU_ASSERT_EQUAL(known.sum[s], seen.sum[s]);
	}
	bytes_free(&bytes);
}

static void same(uint32_t a, uint32_t b)
{
	CU_ASSERT(seen.count[a] > 0 && seen.count[a] == seen.count[b]);
	CU_ASSERT(seen.nslices[a] > 100 && seen.nslices[a] == seen.nslices[b]);
	CU_ASSERT_EQUAL(memcmp(seen.keys[a], seen.keys[b], sizeof seen.keys[a]), 0);
	CU_ASSERT_EQUAL(memcmp(seen.series[a], seen.series[b], sizeof seen.series[a]), 0);
	CU_ASSERT_EQUAL(memcmp(seen.slices[a], seen.slices[b], sizeof seen.slices[a]), 0);
	CU_ASSERT_EQUAL(seen.sum[a], seen.sum[b]);
}

/* Streams of rows that stand still are told later what they had. */
static void as_if_all_were_told_at_once(void)
{
	struct bytes bytes = { 0 };

	random_state = 8;
	record(&bytes);
	analyse(&bytes, true);
	forget_texts();
	same(5, 7);
	same(6, 8);
	same(2, 9);
	bytes_free(&bytes);
}

CU_TestInfo tests[] = {
	{ "as if all rows were looked at", as_if_all_were_looked_at },
	{ "as if all streams were told at once", as_if_all_were_told_at_once },
	CU_TEST_INFO_NULL,
};
