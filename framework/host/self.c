/* [self]: what sonde itself costs and loses (getrusage(2), /proc/self/statm, /proc/self/smaps_rollup). */
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/clock.h"
#include "host/descriptor.h"
#include "host/pipeline_parts.h"
#include "host/self.h"

/* Proportional memory walks every page: once in that many ns. */
static const uint64_t pss_every = 60ull * NS_PER_S;

enum { SELF, SELF_INSTANCE, SELF_SINK, SELF_TABLES };
enum { CPU_USER, CPU_SYSTEM, RSS, PSS, THREADS };
enum { INSTANCE, SAMPLES, ERRORS, MISSED, LOST_ROWS, COST };
enum { SINK, PRODUCED, DELIVERED, DROPPED, REPLACED, QUEUED, BYTES, RETRIES, WAKEUPS };

#define INSTANTS SONDE_COUNT("instants")

/* clang-format off */
static const struct sonde_column self_columns[] = {
	[CPU_USER]   = { "cpu_user", SONDE_U64, SONDE_COUNTER, SONDE_US, .origin = "getrusage ru_utime", .help = "CPU time in user mode, workers included" },
	[CPU_SYSTEM] = { "cpu_system", SONDE_U64, SONDE_COUNTER, SONDE_US, .origin = "getrusage ru_stime", .help = "CPU time in the kernel, workers included" },
	[RSS]        = { "rss", SONDE_U64, SONDE_GAUGE, SONDE_BYTES, .origin = "/proc/self/statm field 2", .help = "resident memory; pages shared with others count whole" },
	[PSS]        = { "pss", SONDE_U64, SONDE_GAUGE, SONDE_KIB, .origin = "/proc/self/smaps_rollup Pss", .help = "resident memory, shared pages by their share; once a minute" },
	[THREADS]    = { "threads", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("threads"), .origin = "/proc/self/stat field 20", .help = "threads of the agent, without workers" },
};
static const struct sonde_column instance_columns[] = {
	[INSTANCE]  = { "instance", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "", .help = "section of the collector" },
	[SAMPLES]   = { "samples", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("samples"), .origin = "", .help = "samples taken, failed ones included" },
	[ERRORS]    = { "errors", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("samples"), .origin = "", .help = "samples that failed" },
	[MISSED]    = { "missed", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("ticks"), .origin = "", .help = "ticks skipped because the one before took too long or the machine was late" },
	[LOST_ROWS] = { "lost_rows", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("rows"), .origin = "", .help = "rows that found no room" },
	[COST]      = { "cost", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "CLOCK_MONOTONIC", .help = "time spent in sample(), waiting included" },
};
static const struct sonde_column sink_columns[] = {
	[SINK]      = { "sink", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "", .help = "section of the sink" },
	[PRODUCED]  = { "produced", SONDE_U64, SONDE_COUNTER, INSTANTS, .origin = "", .help = "instants for this sink; always delivered + dropped + replaced + queued" },
	[DELIVERED] = { "delivered", SONDE_U64, SONDE_COUNTER, INSTANTS, .origin = "", .help = "instants that the sink asserts as delivered" },
	[DROPPED]   = { "dropped", SONDE_U64, SONDE_COUNTER, INSTANTS, .origin = "", .help = "instants lost: the ring was full, or the sink failed" },
	[REPLACED]  = { "replaced", SONDE_U64, SONDE_COUNTER, INSTANTS, .origin = "", .help = "instants overwritten by a newer one before anybody fetched them" },
	[QUEUED]    = { "queued", SONDE_U64, SONDE_GAUGE, INSTANTS, .origin = "", .help = "instants that wait or are in flight" },
	[BYTES]     = { "bytes", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .origin = "", .help = "bytes handed to the sink, where the host packs them" },
	[RETRIES]   = { "retries", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("calls"), .origin = "", .help = "times that the sink was not ready" },
	[WAKEUPS]   = { "wakeups", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("wakeups"), .origin = "", .help = "wake-ups of the sink's thread" },
};
/* clang-format on */

static const struct sonde_table tables[SELF_TABLES] = {
	[SELF] = { .name = "self",
		   .columns = SONDE_ARRAY(self_columns),
		   .origin = "getrusage(2)",
		   .help = "what sonde itself costs" },
	[SELF_INSTANCE] = { .name = "self_instance",
			    .columns = SONDE_ARRAY(instance_columns),
			    .origin = "sonde",
			    .help = "what each collector did",
			    .rows = 16 },
	[SELF_SINK] = { .name = "self_sink",
			.columns = SONDE_ARRAY(sink_columns),
			.origin = "sonde",
			.help = "what became of the instants for each sink",
			.rows = 4 },
};

struct state {
	struct sonde_file *statm, *stat, *rollup;
	uint64_t pss, pss_at;
	long page_size;
};

/* A captured tree has no sonde in it: these are the agent's own, whatever the root. */
static int start(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (self->root[0])
		return sonde_unavailable(self, "under a root, sonde does not measure itself");
	state->page_size = sysconf(_SC_PAGESIZE);
	state->statm = sonde_open(self, SONDE_KEEP, "/proc/self/statm");
	state->stat = sonde_open(self, SONDE_KEEP, "/proc/self/stat");
	state->rollup = sonde_open(self, SONDE_KEEP, "/proc/self/smaps_rollup");
	return 0;
}

static uint64_t usec(const struct timeval *a, const struct timeval *b)
{
	return ((uint64_t)a->tv_sec + (uint64_t)b->tv_sec) * 1000000 + (uint64_t)a->tv_usec +
	       (uint64_t)b->tv_usec;
}

static void read_rss(struct sonde_instance *self, struct sonde_row *row)
{
	const struct state *state = self->state;
	const char *text;
	struct cursor line;
	uint64_t size, pages;
	int64_t length = state->statm ? sonde_read(self, state->statm, &text) : -1;

	if (length < 0)
		return;
	line = whole(text, (size_t)length);
	if (next_u64(&line, &size) && next_u64(&line, &pages))
		sonde_set_u64(row, RSS, pages * (uint64_t)state->page_size);
}

static void read_pss(struct sonde_instance *self, struct sonde_row *row)
{
	struct state *state = self->state;
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	const char *text;
	struct cursor line;
	int64_t length;

	if (state->rollup && (!state->pss_at || now - state->pss_at >= pss_every)) {
		length = sonde_read(self, state->rollup, &text);
		line = cursor(text, length > 0 ? (size_t)length : 0);
		while (next_line(&line))
			if (take(&line, "Pss:"))
				next_u64(&line, &state->pss);
		state->pss_at = now;
	}
	if (state->pss)
		sonde_set_u64(row, PSS, state->pss);
}

/* proc(5): the fields behind the last ")" begin with the third. */
static void read_threads(struct sonde_instance *self, struct sonde_row *row)
{
	const struct state *state = self->state;
	const char *text, *word;
	struct cursor line;
	int64_t length = state->stat ? sonde_read(self, state->stat, &text) : -1;
	const char *end = length > 0 ? memrchr(text, ')', (size_t)length) : NULL;

	if (!end)
		return;
	line = whole(end + 1, (size_t)(text + length - end - 1));
	for (int field = 3; field < 20; field++)
		next_word(&line, &word);
	take_u64(&line, row, THREADS);
}

static void emit_self(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct rusage own, workers;
	struct sonde_row row;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &workers);
	if (!sonde_row(self, frame, SELF, &row))
		return;
	sonde_set_u64(&row, CPU_USER, usec(&own.ru_utime, &workers.ru_utime));
	sonde_set_u64(&row, CPU_SYSTEM, usec(&own.ru_stime, &workers.ru_stime));
	read_rss(self, &row);
	read_pss(self, &row);
	read_threads(self, &row);
}

static void emit_instance(void *context, const struct instance *instance)
{
	struct sonde_frame *frame = context;
	const struct instance_counts *counts = &instance->counts;
	struct sonde_row row;

	if (!frame_row(frame, SELF_INSTANCE, &row))
		return;
	sonde_set_str(&row, INSTANCE, instance->self.name);
	sonde_set_u64(&row, SAMPLES, atomic_load(&counts->samples));
	sonde_set_u64(&row, ERRORS, atomic_load(&counts->errors));
	sonde_set_u64(&row, MISSED, atomic_load(&counts->missed));
	sonde_set_u64(&row, LOST_ROWS, atomic_load(&counts->lost_rows));
	sonde_set_u64(&row, COST, atomic_load(&counts->cost));
}

static void emit_sink(void *context, const struct instance *instance,
		      const struct delivery_counts *counts)
{
	struct sonde_frame *frame = context;
	struct sonde_row row;

	if (!frame_row(frame, SELF_SINK, &row))
		return;
	sonde_set_str(&row, SINK, instance->self.name);
	sonde_set_u64(&row, PRODUCED, counts->ring.produced);
	sonde_set_u64(&row, DELIVERED, counts->ring.settled[RING_DELIVERED]);
	sonde_set_u64(&row, DROPPED, counts->ring.settled[RING_DROPPED]);
	sonde_set_u64(&row, REPLACED, counts->ring.settled[RING_REPLACED]);
	sonde_set_u64(&row, QUEUED, counts->ring.queued);
	sonde_set_u64(&row, BYTES, counts->bytes);
	sonde_set_u64(&row, RETRIES, counts->retries);
	sonde_set_u64(&row, WAKEUPS, counts->ring.wakeups);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct pipeline *pipeline = instance_of(self)->pipeline;

	emit_self(self, frame);
	pipeline_each_collector(pipeline, emit_instance, frame);
	pipeline_each_sink(pipeline, emit_sink, frame);
	return 0;
}

static const struct sonde_collector_ops ops = { .sample = sample };

static const struct sonde_plugin descriptor = {
	.magic = SONDE_MAGIC,
	.abi_major = SONDE_ABI_MAJOR,
	.abi_minor = SONDE_ABI_MINOR,
	.size = sizeof(struct sonde_plugin),
	.host_need = SONDE_HOST_NEED,
	.kind = SONDE_KIND_COLLECTOR,
	.flags = SONDE_SINGLE,
	.name = "self",
	.version = "1.0",
	.summary = "what sonde itself costs, samples, misses and loses",
	.vendor = "sonde",
	.licence = "Apache-2.0",
	.tables = SONDE_ARRAY(tables),
	.state_size = sizeof(struct state),
	.start = start,
	.ops = &ops,
	.ops_size = sizeof ops,
};

static struct plugin plugin;

static void make_once(void)
{
	char why[256];

	if (descriptor_take(&plugin, &descriptor, why, sizeof why))
		abort(); /* a mistake in this file, or no memory for it */
}

const struct plugin *self_plugin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_once);
	return &plugin;
}
