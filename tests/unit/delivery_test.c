/* Deliveries of a stream: what a sink loses is counted, and what comes after it can be read. */
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/schema.h"
#include "host/delivery.h"
#include "test.h"
#include "wire/reader.h"

const char suite[] = "delivery";

static const struct sonde_column columns[] = {
	{ "value", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("samples"), .origin = "" },
};
static const struct sonde_table table = { .name = "t", .columns = SONDE_ARRAY(columns) };

/* What the sink of these tests was given, and how often it is to fail, or to be busy, from now on. */
static struct {
	char bytes[1 << 20];
	size_t length, read;
	atomic_int fail, busy, flushes;
} sink;

static int take_bytes(struct sonde_instance *self, const void *bytes, uint64_t length,
		      uint32_t flags)
{
	(void)self;
	(void)flags;
	if (atomic_load(&sink.busy) > 0) {
		atomic_fetch_sub(&sink.busy, 1);
		return -EAGAIN;
	}
	if (atomic_load(&sink.fail) > 0) {
		atomic_fetch_sub(&sink.fail, 1);
		return -EIO;
	}
	CU_ASSERT_FATAL(sink.length + length <= sizeof sink.bytes);
	memcpy(sink.bytes + sink.length, bytes, length);
	sink.length += length;
	return 0;
}

static int flush_sink(struct sonde_instance *self)
{
	(void)self;
	atomic_fetch_add(&sink.flushes, 1);
	return 0;
}

static struct stream stream;
static struct instance instance;
static struct plugin plugin;
static struct delivery *delivery;
static struct sonde_schema *schema;

static void set_up(void)
{
	static const struct sonde_stream_header none = { .start_id = 1, .host = "h" };
	struct sonde_stream_header *header = header_copy(&none);
	char why[200];
	int err;

	CU_ASSERT_PTR_NOT_NULL_FATAL(header);
	clock_anchor(&header->anchor);
	CU_ASSERT_FATAL(stream_init(&stream, header) == 0);
	if (!schema)
		CU_ASSERT_FATAL(schema_make(&table, &schema, why, sizeof why) == 0);
	memset(&sink, 0, sizeof sink);
	plugin = (struct plugin) { .descriptor.kind = SONDE_KIND_SINK,
				   .ops.sink = { .intake = SONDE_TAKES_STREAM,
						 .assertion = SONDE_HANDED,
						 .bytes = take_bytes,
						 .flush = flush_sink } };
	instance = (struct instance) { .plugin = &plugin, .stream = &stream };
	instance.self.name = "sink:test";
	instance.keys.ring = 1 << 20;
	instance.keys.tags = "";
	delivery = delivery_new(&instance, true, &err, why, sizeof why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(delivery);
	CU_ASSERT_FATAL(delivery_start(delivery, NULL, NULL) == 0);
}

static struct delivery_counts counts(void)
{
	struct delivery_counts counted;

	delivery_counts(delivery, &counted);
	CU_ASSERT_EQUAL(counted.ring.produced,
			counted.ring.settled[RING_DELIVERED] + counted.ring.settled[RING_DROPPED] +
				counted.ring.settled[RING_REPLACED] + counted.ring.queued);
	return counted;
}

static void publish(uint64_t value)
{
	uint64_t words[2] = { 1, value };
	struct sonde_view view = { .schema = schema,
				   .instance = "t",
				   .words = words,
				   .strings = "",
				   .nrows = 1,
				   .stride = 2 };
	uint64_t now = clock_now(CLOCK_BOOTTIME);

	stream_publish(&stream, &view, 1, now, now);
	for (uint64_t end = now + 10ull * NS_PER_S;
	     counts().ring.queued && clock_now(CLOCK_BOOTTIME) < end;)
		sched_yield();
	CU_ASSERT_EQUAL(counts().ring.queued, 0);
}

static void stop(void)
{
	delivery_ask_stop(delivery, clock_now(CLOCK_MONOTONIC) + NS_PER_S);
	CU_ASSERT_EQUAL(delivery_join(delivery), 0);
	CU_ASSERT_EQUAL(counts().ring.queued, 0);
}

static void tear_down(void)
{
	delivery_free(delivery);
	stream_free(&stream);
}

static int64_t read_back(void *context, void *buffer, size_t size)
{
	size_t n = sink.length - sink.read < size ? sink.length - sink.read : size;

	(void)context;
	memcpy(buffer, sink.bytes + sink.read, n);
	sink.read += n;
	return (int64_t)n;
}

/* Values of the table t in what the sink was given, as bits. */
static uint64_t values(void)
{
	struct reader *reader = reader_new(&(struct reader_options) { .read = read_back });
	const struct instant *instant;
	uint64_t seen = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
	while (reader_next(reader, &instant) > 0)
		for (uint32_t i = 0; i < instant->nviews; i++)
			if (strcmp(instant->views[i].schema->name, "t") == 0)
				seen |= (uint64_t)1 << sonde_view_slots(&instant->views[i], 0)[0];
	reader_free(reader);
	return seen;
}

static void delivered(void)
{
	set_up();
	for (uint64_t i = 1; i <= 5; i++)
		publish(i);
	stop();
	CU_ASSERT_EQUAL(counts().ring.settled[RING_DELIVERED], 5);
	CU_ASSERT_EQUAL(counts().bytes, sink.length);
	CU_ASSERT(atomic_load(&sink.flushes) >= 5);
	CU_ASSERT_EQUAL(values(), 0x3e);
	tear_down();
}

/* The same bytes are offered until they are taken: nothing is lost, nothing comes twice. */
static void busy(void)
{
	set_up();
	publish(1);
	atomic_store(&sink.busy, 3);
	publish(2);
	publish(3);
	stop();
	CU_ASSERT_EQUAL(counts().retries, 3);
	CU_ASSERT_EQUAL(counts().ring.settled[RING_DELIVERED], 3);
	CU_ASSERT_EQUAL(values(), 0xe);
	tear_down();
}

/* An error loses an instant, which is counted; those before and after it are read. */
static void failed(void)
{
	set_up();
	publish(1);
	publish(2);
	atomic_store(&sink.fail, 1);
	publish(3);
	publish(4);
	publish(5);
	stop();
	CU_ASSERT_EQUAL(counts().failures, 1);
	CU_ASSERT_EQUAL(counts().ring.settled[RING_DROPPED], 1);
	CU_ASSERT_EQUAL(counts().ring.settled[RING_DELIVERED], 4);
	CU_ASSERT_EQUAL(values(), 0x36);
	tear_down();
}

/* Busy for ever: the end comes all the same, and what waits counts as dropped. */
static void never_ready(void)
{
	uint64_t begin = clock_now(CLOCK_MONOTONIC);
	uint64_t words[2] = { 1, 1 };
	struct sonde_view view = { .schema = schema,
				   .instance = "t",
				   .words = words,
				   .strings = "",
				   .nrows = 1,
				   .stride = 2 };

	set_up();
	atomic_store(&sink.busy, 1 << 30);
	view.schema = schema;
	for (int i = 0; i < 4; i++)
		stream_publish(&stream, &view, 1, begin, begin);
	stop();
	CU_ASSERT_EQUAL(counts().ring.settled[RING_DROPPED], 4);
	CU_ASSERT(clock_now(CLOCK_MONOTONIC) - begin < 3ull * NS_PER_S);
	tear_down();
}

/* Memory that is in use; what a ring does not touch counts as well. */
static size_t memory_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Case 160: an hour at 10 Hz, and the sink takes nothing. Neither samples nor notes, which come by the same ring, take more memory
 * than it had at first; the oldest are gone, and counted: the newest are there when the sink is back. */
static void refused_for_an_hour(void)
{
	enum { INSTANTS = 36000, FIRST = 3000 };
	uint64_t words[2] = { 1, 0 };
	struct sonde_view view = {
		.instance = "t", .words = words, .strings = "", .nrows = 1, .stride = 2
	};
	size_t memory = 0;

	set_up();
	view.schema = schema;
	atomic_store(&sink.busy, 1 << 30);
	for (uint64_t i = 1; i <= INSTANTS; i++) {
		words[1] = i > INSTANTS - 10 ? 40 : 1;
		stream_publish(&stream, &view, 1, i, i);
		if (i % 10 == 0) {
			stream_note(&stream, SONDE_INFO, "t", "", "one in ten");
			stream_speak(&stream);
		}
		if (i == FIRST)
			memory = memory_in_use();
	}
	/* What the sink's thread has in hand comes and goes; what 33,000 instants take is megabytes. */
	CU_ASSERT(memory_in_use() <= memory + (256 << 10));
	CU_ASSERT_EQUAL(counts().ring.produced, INSTANTS + INSTANTS / 10);
	CU_ASSERT(counts().ring.queued < FIRST);
	CU_ASSERT(counts().ring.settled[RING_DROPPED] > INSTANTS - FIRST);
	CU_ASSERT_EQUAL(counts().ring.settled[RING_DELIVERED], 0);
	atomic_store(&sink.busy, 0);
	publish(41);
	stop();
	CU_ASSERT(counts().ring.settled[RING_DELIVERED] > 10);
	CU_ASSERT_EQUAL(values() & (uint64_t)3 << 40, (uint64_t)3 << 40);
	tear_down();
}

CU_TestInfo tests[] = {
	{ "case 160: refused for an hour", refused_for_an_hour },
	{ "delivered", delivered },
	{ "busy", busy },
	{ "failed", failed },
	{ "never ready", never_ready },
	CU_TEST_INFO_NULL,
};
