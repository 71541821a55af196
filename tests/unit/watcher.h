/* An analyzer of the tests' own, which keeps what its streams came to, and a table of processes. */
#ifndef WATCHER_H
#define WATCHER_H

#include <math.h>

#include "stage.h"
#include "test.h"

/* ---- an analyzer of the test's own, which keeps what its streams came to ---- */

enum { STREAMS_MOST = 10, SERIES_MOST = 8 };

struct conf {
	uint64_t unused;
	double threshold;
	uint64_t hold;
	double floor;
};

static struct {
	uint32_t count[STREAMS_MOST];
	struct sonde_series series[STREAMS_MOST][SERIES_MOST];
	char keys[STREAMS_MOST][SERIES_MOST][32], labels[STREAMS_MOST][SERIES_MOST][32];
	struct sonde_slice slices[STREAMS_MOST][512]; /* of the first series */
	uint32_t nslices[STREAMS_MOST];
	double sum[STREAMS_MOST];
	struct sonde_slice window;
} seen;

static uint32_t nstreams;

static inline int judge(struct sonde_instance *self)
{
	memset(&seen, 0, sizeof seen);
	seen.window = *sonde_window(self);
	for (uint32_t s = 0; s < nstreams; s++) {
		const struct sonde_series *series = sonde_series(self, s, &seen.count[s]);
		const struct sonde_slice *slices;

		for (uint32_t i = 0; i < seen.count[s]; i++) {
			seen.sum[s] += series[i].total.numerator;
			if (i >= SERIES_MOST)
				continue;
			seen.series[s][i] = series[i];
			snprintf(seen.keys[s][i], 32, "%s", series[i].key);
			snprintf(seen.labels[s][i], 32, "%s", series[i].label);
		}
		slices = sonde_slices(self, s, 0, &seen.nslices[s]);
		if (seen.nslices[s])
			memcpy(seen.slices[s], slices, seen.nslices[s] * sizeof *slices);
	}
	return 0;
}

static const struct sonde_host host = { .size = sizeof host, .analysis = &analysis_services };
static struct conf conf;
static struct sonde_instance instance = { .host = &host, .conf = &conf, .name = "analyzer:test" };
static struct sonde_analyzer_ops ops;

static inline void analyzer_of(struct stage *stage, const struct sonde_stream *streams,
			       uint32_t count, struct sonde_array catalogue)
{
	char why[128] = "";

	conf = (struct conf) { .threshold = 0.5, .hold = 2 * SECOND, .floor = 0.02 };
	ops = (struct sonde_analyzer_ops) { .streams = { streams, count, sizeof *streams },
					    .catalogue = catalogue,
					    .judge = judge };
	nstreams = count;
	CU_ASSERT_EQUAL_FATAL(analysis_add(stage->analysis, &instance, &ops, why, sizeof why), 0);
}

static inline void analyzer(struct stage *stage, const struct sonde_stream *streams, uint32_t count)
{
	analyzer_of(stage, streams, count, (struct sonde_array) { 0 });
}

/* The first note of the judgement, "" where there is none. */
static char first_note[256];

static inline void judged(struct stage *stage)
{
	struct sonde_frame records;
	struct sonde_view views[RECORD_TABLES] = { 0 };
	const struct sonde_view *notes = &views[RECORD_NOTE];
	uint32_t length = 0;
	const char *text = "";

	CU_ASSERT_EQUAL_FATAL(records_make(&records), 0);
	CU_ASSERT_EQUAL(analysis_judge(stage->analysis, &records), 0);
	frame_views(&records, views);
	if (notes->nrows)
		text = sonde_view_bytes(notes, sonde_view_slots(notes, 0)[NOTE_TEXT], &length);
	snprintf(first_note, sizeof first_note, "%.*s", (int)length, text);
	frame_free(&records);
}

#define NEAR(actual, expected) CU_ASSERT_DOUBLE_EQUAL(actual, expected, 1e-6)

static inline double mean(uint32_t stream, uint32_t series)
{
	const struct sonde_slice *total = &seen.series[stream][series].total;

	return total->denominator > 0 ? total->numerator / total->denominator : -1;
}

/* ---- processes ---- */

enum { PID, START, COMM, UTIME, RUN, WAIT };
static const struct sonde_column process_columns[] = {
	[PID] = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .help = "" },
	[START] = { "start_time", SONDE_U64, SONDE_KEY, SONDE_TICKS, .help = "" },
	[COMM] = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .help = "" },
	[UTIME] = { "utime", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .help = "" },
	[RUN] = { "sched_run", SONDE_U64, SONDE_COUNTER, SONDE_NS, .help = "" },
	[WAIT] = { "sched_wait", SONDE_U64, SONDE_COUNTER, SONDE_NS, .help = "" },
};
static const struct sonde_table process_table = { .name = "process",
						  .columns = SONDE_COLUMNS(process_columns) };

enum { P_CPU, P_WAIT, P_SUM };
static const struct sonde_stream process_streams[] = {
	[P_CPU] = { "cpu", "process", .plus = "utime", .over = "time" },
	[P_WAIT] = { "wait", "process", .plus = "sched_wait", .over = "sched_wait sched_run",
		     .threshold = offsetof(struct conf, threshold),
		     .hold = offsetof(struct conf, hold), .floor = offsetof(struct conf, floor) },
	[P_SUM] = { "sum", "process", .plus = "utime", .over = "time", .reduce = SONDE_SUM },
};

static inline void process_row(struct stage *stage, uint64_t pid, uint64_t start, const char *comm,
			       uint64_t utime, uint64_t run, uint64_t wait)
{
	struct sonde_row row = stage_row(stage, 0);

	sonde_set_u64(&row, PID, pid);
	sonde_set_u64(&row, START, start);
	sonde_set_str(&row, COMM, comm);
	sonde_set_u64(&row, UTIME, utime);
	sonde_set_u64(&row, RUN, run);
	sonde_set_u64(&row, WAIT, wait);
}

#endif
