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

enum { SELF, SELF_INSTANCE, SELF_SINK, SELF_SOURCE, SELF_TABLES };
enum { CPU_USER, CPU_SYSTEM, RSS, PSS, THREADS };
enum { INSTANCE, SAMPLES, ERRORS, MISSED, LOST_ROWS, COST };
enum { SINK, PRODUCED, DELIVERED, DROPPED, REPLACED, QUEUED, BYTES, RETRIES, WAKEUPS };

enum {
	SOURCE,
	RECEIVED,
	REFUSED,
	SENDERS,
	DATAGRAMS,
	LOST,
	REORDERED,
	LATE,
	DUPLICATES,
	UNKNOWN_TABLE,
	MALFORMED,
	CUT,
};

#define INSTANTS     SONDE_COUNT("instants")
#define OF_DATAGRAMS SONDE_COUNT("datagrams")

/* clang-format off */
static const struct sonde_column self_columns[] = {
	[CPU_USER]   = { "cpu_user", SONDE_U64, SONDE_COUNTER, SONDE_US, .origin = "getrusage ru_utime, /proc/PID/stat field 14", .help = "CPU time in user mode, workers included" },
	[CPU_SYSTEM] = { "cpu_system", SONDE_U64, SONDE_COUNTER, SONDE_US, .origin = "getrusage ru_stime, /proc/PID/stat field 15", .help = "CPU time in the kernel, workers included" },
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
static const struct sonde_column source_columns[] = {
	[SOURCE]        = { "source", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "", .help = "section of the source" },
	[RECEIVED]      = { "received", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("receives"), .origin = "", .help = "datagrams, or pieces of a stream, that the source handed on" },
	[REFUSED]       = { "refused", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("receives"), .origin = "", .help = "of these, those that were not sonde's, or beyond the limits" },
	[SENDERS]       = { "senders", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("senders"), .origin = "", .help = "starts of other sondes that are remembered; those that were silent for longest are forgotten" },
	[DATAGRAMS]     = { "datagrams", SONDE_U64, SONDE_COUNTER, OF_DATAGRAMS, .origin = "", .help = "datagrams of all senders, duplicates too" },
	[LOST]          = { "lost", SONDE_U64, SONDE_GAUGE, OF_DATAGRAMS, .origin = "", .help = "datagrams that did not come, by their numbers; one that comes after all is taken off" },
	[REORDERED]     = { "reordered", SONDE_U64, SONDE_COUNTER, OF_DATAGRAMS, .origin = "", .help = "datagrams that came after one of a higher number" },
	[LATE]          = { "late", SONDE_U64, SONDE_COUNTER, OF_DATAGRAMS, .origin = "", .help = "of these, those whose instant had been handed on: their rows are lost" },
	[DUPLICATES]    = { "duplicates", SONDE_U64, SONDE_COUNTER, OF_DATAGRAMS, .origin = "", .help = "datagrams that came again" },
	[UNKNOWN_TABLE] = { "unknown_table", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("rows"), .origin = "", .help = "rows given up because their table never came" },
	[MALFORMED]     = { "malformed", SONDE_U64, SONDE_COUNTER, OF_DATAGRAMS, .origin = "", .help = "datagrams whose content is not what docs/format.md says" },
	[CUT]           = { "cut", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("strings"), .origin = "", .help = "strings that a sender cut because they did not fit" },
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
	[SELF_SOURCE] = { .name = "self_source",
			  .columns = SONDE_ARRAY(source_columns),
			  .origin = "sonde",
			  .help = "what each source received",
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

static uint64_t usec(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
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
	struct workers *workers = instance_of(self)->pipeline->workers;
	struct worker_cpu cpu = { 0 };
	struct sonde_row row;
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	if (workers)
		cpu = workers_cpu(workers);
	if (!sonde_row(self, frame, SELF, &row))
		return;
	sonde_set_u64(&row, CPU_USER, usec(&own.ru_utime) + cpu.user_us);
	sonde_set_u64(&row, CPU_SYSTEM, usec(&own.ru_stime) + cpu.system_us);
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

static void emit_source(void *context, const struct instance *instance,
			const struct receiver_counts *counts)
{
	const struct datagram_counts *datagrams = &counts->datagrams;
	struct sonde_frame *frame = context;
	struct sonde_row row;

	if (!frame_row(frame, SELF_SOURCE, &row))
		return;
	sonde_set_str(&row, SOURCE, instance->self.name);
	sonde_set_u64(&row, RECEIVED, atomic_load(&instance->counts.samples));
	sonde_set_u64(&row, REFUSED, atomic_load(&instance->counts.errors));
	sonde_set_u64(&row, SENDERS, counts->senders);
	sonde_set_u64(&row, DATAGRAMS, datagrams->received);
	sonde_set_u64(&row, LOST, datagrams->lost);
	sonde_set_u64(&row, REORDERED, datagrams->reordered);
	sonde_set_u64(&row, LATE, datagrams->late);
	sonde_set_u64(&row, DUPLICATES, datagrams->duplicates);
	sonde_set_u64(&row, UNKNOWN_TABLE, datagrams->unknown_table);
	sonde_set_u64(&row, MALFORMED, datagrams->malformed);
	sonde_set_u64(&row, CUT, datagrams->cut);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct pipeline *pipeline = instance_of(self)->pipeline;

	emit_self(self, frame);
	pipeline_each_collector(pipeline, emit_instance, frame);
	pipeline_each_sink(pipeline, emit_sink, frame);
	pipeline_each_source(pipeline, emit_source, frame);
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
