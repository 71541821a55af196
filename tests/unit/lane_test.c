/* Lanes, and the stream that they publish to: ticks on a grid, one instant a tick, failures told as gaps. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/schema.h"
#include "host/lane.h"
#include "test.h"

const char suite[] = "lane";

static const struct sonde_column columns[] = {
	{ "value", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("samples"), .origin = "" },
};
static const struct sonde_table table = { .name = "t", .columns = SONDE_ARRAY(columns) };

/* A collector whose n-th sample fails where bit n of `fails` is set. */
struct fake {
	struct instance instance;
	struct plugin plugin;
	uint64_t samples, fails, sleep_at, sleep_ns;
	int error; /* that it fails with; 0: -EIO */
};

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct fake *fake = (struct fake *)instance_of(self);
	struct timespec pause = clock_timespec(fake->sleep_ns);
	struct sonde_row row;
	uint64_t n = fake->samples++;

	if (fake->sleep_ns && n == fake->sleep_at)
		nanosleep(&pause, NULL);
	if (fake->fails >> n & 1)
		return fake->error ? fake->error : -EIO;
	if (frame_row(frame, 0, &row))
		sonde_set_u64(&row, 0, n);
	return 0;
}

static struct stream stream;
static struct ring *ring;
static struct lane *lane;
static struct sonde_schema *schema;

static void happened(void *context, struct lane *which)
{
	(void)which;
	atomic_fetch_add((atomic_int *)context, 1);
}

static void set_up(atomic_int *calls)
{
	static const struct sonde_stream_header none = { .host = "h" };
	struct sonde_stream_header *header = header_copy(&none);
	char why[200];

	CU_ASSERT_PTR_NOT_NULL_FATAL(header);
	clock_anchor(&header->anchor);
	CU_ASSERT_FATAL(stream_init(&stream, header) == 0);
	ring = ring_new(1 << 20, false);
	CU_ASSERT_FATAL(stream_attach(&stream, ring) == 0);
	if (!schema)
		CU_ASSERT_FATAL(schema_make(&table, &schema, why, sizeof why) == 0);
	lane = lane_new("main", &stream);
	lane->happened = happened;
	lane->context = calls;
}

static void add(struct fake *fake, const char *name, uint64_t interval)
{
	fake->plugin = (struct plugin) { .ops.collector.sample = sample };
	fake->instance.plugin = &fake->plugin;
	fake->instance.sample = sample;
	fake->instance.self.name = name;
	fake->instance.keys.interval = interval;
	CU_ASSERT_FATAL(frame_add_table(&fake->instance.frame, schema, 1, 0) == 0);
	CU_ASSERT_FATAL(lane_add(lane, &fake->instance) == 0);
}

static void run(uint64_t instants)
{
	lane->max_instants = instants;
	CU_ASSERT_FATAL(lane_start(lane) == 0);
	CU_ASSERT_FATAL(lane_join(lane, clock_now(CLOCK_MONOTONIC) + 20ull * NS_PER_S) == 0);
}

static void tear_down(struct fake *fakes, int count)
{
	for (int i = 0; i < count; i++)
		frame_free(&fakes[i].instance.frame);
	lane_free(lane);
	stream_free(&stream);
	ring_free(ring);
}

/* Gap rows of an instant: how many, the last one's lost and reason. */
static unsigned find_gaps(const struct instant *instant, uint64_t *lost, char *reason, size_t size)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < instant->nviews; i++) {
		const struct sonde_view *view = &instant->views[i];

		for (uint32_t r = 0; strcmp(view->schema->name, "gap") == 0 && r < view->nrows;
		     r++) {
			uint32_t length;
			const char *text = sonde_view_bytes(
				view, sonde_view_slots(view, r)[GAP_REASON], &length);

			snprintf(reason, size, "%.*s", (int)length, text);
			*lost = sonde_view_has(view, r, GAP_LOST)
					? sonde_view_slots(view, r)[GAP_LOST]
					: 0;
			found++;
		}
	}
	return found;
}

static void grid(void)
{
	struct fake fakes[2] = { { .samples = 0 } };
	atomic_int calls = 0;
	const struct instant *instant;
	uint64_t lost, both = 0, count = 0;

	set_up(&calls);
	add(&fakes[0], "fast", 5000000);
	add(&fakes[1], "slow", 20000000);
	run(21);
	while ((instant = ring_peek(ring, &lost))) {
		CU_ASSERT_EQUAL(instant->sequence, ++count);
		CU_ASSERT_STRING_EQUAL(instant->views[0].header->host, "h");
		both += instant->nviews >= 2;
		ring_take(ring);
	}
	CU_ASSERT_EQUAL(count, 21);
	CU_ASSERT_EQUAL(fakes[0].samples, 21);
	/* Every fourth tick; a late one may skip it, then it is counted. */
	CU_ASSERT_EQUAL(fakes[1].samples + atomic_load(&fakes[1].instance.counts.missed) > 5, 1);
	CU_ASSERT(fakes[1].samples <= 8);
	CU_ASSERT(both >= fakes[1].samples);
	/* Told after its first instant, and after the last. */
	CU_ASSERT_EQUAL(atomic_load(&calls), 2);
	CU_ASSERT_EQUAL(atomic_load(&lane->wakeups), 21);
	tear_down(fakes, 2);
}

/* Of eight samples those whose bits are set fail, three in a row: no rows, one gap at once, one for the other two. */
static void fail(uint64_t which)
{
	struct fake fake = { .fails = which };
	atomic_int calls = 0;
	const struct instant *instant;
	uint64_t dropped, lost = 0, told = 0;
	unsigned gaps = 0;
	char reason[32] = "";

	set_up(&calls);
	add(&fake, "fails", 50000000);
	run(8);
	/* What is told when the lane has ended is in the end's instant. */
	stream_speak(&stream);
	while ((instant = ring_peek(ring, &dropped))) {
		unsigned n = find_gaps(instant, &lost, reason, sizeof reason);

		if (n && strcmp(reason, "error") == 0) {
			gaps += n;
			told += lost;
		}
		ring_take(ring);
	}
	CU_ASSERT_EQUAL(gaps, 2);
	CU_ASSERT_EQUAL(told, 3);
	CU_ASSERT_EQUAL(atomic_load(&fake.instance.counts.errors), 3);
	CU_ASSERT_EQUAL(atomic_load(&fake.instance.counts.samples), 8);
	tear_down(&fake, 1);
}

static void failures(void)
{
	fail(7 << 2);
}

static void failures_until_the_end(void)
{
	fail(7 << 5);
}

/* What no errno is is told as what it is. */
static void positive(void)
{
	struct fake fake = { .fails = 1, .error = 5 };
	const struct instant *instant;
	uint64_t dropped;
	uint32_t length = 0;
	const char *text = "";
	atomic_int calls = 0;

	set_up(&calls);
	add(&fake, "positive", 5000000);
	run(1);
	instant = ring_peek(ring, &dropped);
	CU_ASSERT_PTR_NOT_NULL_FATAL(instant);
	for (uint32_t i = 0; i < instant->nviews; i++)
		if (strcmp(instant->views[i].schema->name, "gap") == 0)
			text = sonde_view_bytes(&instant->views[i],
						sonde_view_slots(&instant->views[i], 0)[GAP_TEXT],
						&length);
	CU_ASSERT(length > 20);
	CU_ASSERT_NSTRING_EQUAL(text, "it returned a positive number", 29);
	tear_down(&fake, 1);
}

/* The third sample takes 100 ms of ticks of 10 ms: at least nine are skipped, counted and told, none is made up for. */
static void missed(void)
{
	struct fake fake = { .sleep_at = 2, .sleep_ns = 100000000 };
	atomic_int calls = 0;
	const struct instant *instant;
	uint64_t dropped, lost = 0, told = 0, begin[8] = { 0 };
	char reason[32] = "";
	int n = 0;

	set_up(&calls);
	add(&fake, "late", 10000000);
	run(6);
	while ((instant = ring_peek(ring, &dropped))) {
		if (find_gaps(instant, &lost, reason, sizeof reason))
			told += lost;
		if (n < 8)
			begin[n++] = instant->begin;
		ring_take(ring);
	}
	CU_ASSERT_STRING_EQUAL(reason, "missed");
	CU_ASSERT(told >= 9);
	CU_ASSERT_EQUAL(told, atomic_load(&fake.instance.counts.missed));
	/* One at the next tick of the grid, not several at once. */
	CU_ASSERT(begin[3] - begin[2] >= 100000000);
	tear_down(&fake, 1);
}

/* Case 152: a tick that was due a day ago, or at boot, at 100 Hz. Millions are counted and told in one gap, and not walked through:
 * all is over long before a thousandth of them could be sampled. */
static void a_day_missed(void)
{
	struct fake fake = { .samples = 0 };
	atomic_int calls = 0;
	const struct instant *instant;
	uint64_t day = 86400ull * NS_PER_S, dropped, lost = 0;
	unsigned gaps = 0;
	char reason[32] = "";

	set_up(&calls);
	add(&fake, "late", 10000000);
	lane->origin = clock_now(CLOCK_MONOTONIC) > day ? clock_now(CLOCK_MONOTONIC) - day : 1;
	fake.instance.next = lane->origin;
	day = (clock_now(CLOCK_MONOTONIC) - lane->origin) / 10000000;
	run(3);
	while ((instant = ring_peek(ring, &dropped))) {
		gaps += find_gaps(instant, &lost, reason, sizeof reason);
		ring_take(ring);
	}
	CU_ASSERT(gaps >= 1);
	CU_ASSERT_STRING_EQUAL(reason, "missed");
	CU_ASSERT(atomic_load(&fake.instance.counts.missed) >= day);
	CU_ASSERT_EQUAL(fake.samples, 3);
	tear_down(&fake, 1);
}

/* How many samples there are where the first, of an hour's interval, was a moment ago. */
static uint64_t samples_with(enum last_sample last)
{
	struct fake fake = { .samples = 0 };
	atomic_int calls = 0;

	set_up(&calls);
	add(&fake, "once", 3600ull * NS_PER_S);
	CU_ASSERT_FATAL(lane_start(lane) == 0);
	while (!atomic_load(&calls))
		sched_yield();
	lane_ask_stop(lane, last);
	CU_ASSERT_FATAL(lane_join(lane, clock_now(CLOCK_MONOTONIC) + 20ull * NS_PER_S) == 0);
	tear_down(&fake, 1);
	return (uint64_t)fake.samples;
}

/* The end of what was watched is news, however soon it came: a command of 10 ms would be seen only before its start. */
static void last_sample(void)
{
	CU_ASSERT_EQUAL(samples_with(LAST_NONE), 1);
	CU_ASSERT_EQUAL(samples_with(LAST_IF_OLD), 1);
	CU_ASSERT_EQUAL(samples_with(LAST_ALWAYS), 2);
}

CU_TestInfo tests[] = {
	{ "one instant a tick", grid },
	{ "failures are gaps", failures },
	{ "a positive number is no error's", positive },
	{ "failures until the end are told there", failures_until_the_end },
	{ "missed ticks", missed },
	{ "case 152: a day of missed ticks", a_day_missed },
	{ "a last sample only where there is news", last_sample },
	CU_TEST_INFO_NULL,
};
