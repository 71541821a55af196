/* The stream and the lane by clocks that are made up: suspends, steps of the wall clock, days that go by at once (cases 148,
 * 149, 151, 152; clock_gettime(2)). */
#include <stdlib.h>

#include "core/clock.h"
#include "host/lane.h"

static struct sonde_anchor clocks;

static uint64_t made_up(clockid_t clock)
{
	return clock == CLOCK_BOOTTIME ? clocks.boottime : clocks.monotonic;
}

static void made_up_anchor(struct sonde_anchor *anchor)
{
	*anchor = clocks;
}

#define clock_now    made_up
#define clock_read   made_up_anchor
#define clock_anchor made_up_anchor
#include "host/stream.c"
#include "live/lane.c"

#include "test.h"

const char suite[] = "stream";

static const uint64_t second = NS_PER_S;
static struct stream stream;
static struct ring *ring;

static void set_up(void)
{
	static const struct sonde_stream_header none = {
		.host = "h", .anchor = { .monotonic = 1000, .boottime = 1000, .realtime = 5000 }
	};
	struct sonde_stream_header *header = header_copy(&none);

	clocks = none.anchor;
	CU_ASSERT_PTR_NOT_NULL_FATAL(header);
	CU_ASSERT_FATAL(stream_init(&stream, header) == 0);
	ring = ring_new(1 << 20, true);
	CU_ASSERT_FATAL(ring && stream_attach(&stream, ring) == 0);
}

static void tear_down(void)
{
	stream_free(&stream);
	ring_free(ring);
}

/* All three clocks go on by so much, then there is a note to publish. */
static const struct instant *publish_after(uint64_t monotonic, uint64_t boottime, int64_t realtime)
{
	uint64_t lost;

	clocks.monotonic += monotonic;
	clocks.boottime += boottime;
	clocks.realtime += realtime;
	ring_take(ring);
	stream_note(&stream, SONDE_NOTICE, "", "", "here");
	stream_publish(&stream, NULL, 0, clocks.boottime, clocks.boottime);
	return ring_peek(ring, &lost);
}

static const struct sonde_view *find(const struct instant *instant, const char *name)
{
	for (uint32_t i = 0; instant && i < instant->nviews; i++)
		if (strcmp(instant->views[i].schema->name, name) == 0)
			return &instant->views[i];
	return NULL;
}

static uint64_t slot(const struct sonde_view *view, uint32_t column)
{
	return sonde_view_have(view, 0)[view->schema->nhave + view->schema->slot[column]];
}

/* Case 148: two hours asleep within one second awake. */
static void suspended(void)
{
	const uint64_t slept = 7200 * second;
	const struct instant *instant;
	const struct sonde_view *gap;

	set_up();
	instant = publish_after(second, second, (int64_t)second);
	CU_ASSERT_PTR_NULL(find(instant, "gap"));
	instant = publish_after(second, second + slept, (int64_t)(second + slept));
	gap = find(instant, "gap");
	CU_ASSERT_PTR_NOT_NULL_FATAL(gap);
	CU_ASSERT_EQUAL(gap->nrows, 1);
	CU_ASSERT_EQUAL(slot(gap, GAP_BEGIN), 1000 + second);
	CU_ASSERT_EQUAL(slot(gap, GAP_END), 1000 + 2 * second + slept);
	CU_ASSERT_EQUAL((uint32_t)slot(gap, GAP_REASON), strlen("suspended"));
	/* The wall clock went on meanwhile: it was not set. */
	CU_ASSERT_PTR_NULL(find(instant, "anchor"));
	CU_ASSERT_PTR_NULL(find(publish_after(second, second, (int64_t)second), "gap"));
	tear_down();
}

/* Cases 149, 151: set back by an hour; what comes after has the new wall-clock time, and the old one keeps its own. */
static void stepped(void)
{
	const int64_t hour = 3600 * (int64_t)second;
	const struct instant *instant;
	const struct sonde_view *anchor;

	set_up();
	instant = publish_after(second, second, (int64_t)second);
	CU_ASSERT_EQUAL(instant->realtime, 5000 + (int64_t)second);
	instant = publish_after(second, second, (int64_t)second - hour);
	anchor = find(instant, "anchor");
	CU_ASSERT_PTR_NOT_NULL_FATAL(anchor);
	CU_ASSERT_EQUAL((int64_t)slot(anchor, ANCHOR_REALTIME), 5000 + 2 * (int64_t)second - hour);
	CU_ASSERT_EQUAL(slot(anchor, ANCHOR_BOOTTIME), 1000 + 2 * second);
	CU_ASSERT_EQUAL(instant->realtime, 5000 + 2 * (int64_t)second - hour);
	CU_ASSERT_EQUAL(instant->begin, 1000 + 2 * second);
	CU_ASSERT_PTR_NULL(find(instant, "gap"));
	/* Told once. */
	instant = publish_after(second, second, (int64_t)second);
	CU_ASSERT_PTR_NULL(find(instant, "anchor"));
	CU_ASSERT_EQUAL(instant->realtime, 5000 + 3 * (int64_t)second - hour);
	tear_down();
}

/* Case 152: a day passes between two ticks at 100 Hz. The next tick is the next of the grid, and what lies between is counted. */
static void a_day_at_once(void)
{
	const uint64_t interval = second / 100, day = 86400 * second;
	struct instance instance = { .keys = { .interval = interval }, .next = 1000 };
	const struct lane lane = { .origin = 1000 };

	advance(&lane, &instance, 1000 + interval / 2);
	CU_ASSERT_EQUAL(instance.next, 1000 + interval);
	CU_ASSERT_EQUAL(instance.missed, 0);
	/* Woken a day late: that tick is sampled now, and 8,640,000 before it were not. */
	skip_late(&instance, 1000 + interval + day);
	advance(&lane, &instance, 1000 + interval + day + 1);
	CU_ASSERT_EQUAL(instance.missed, 8640000);
	CU_ASSERT_EQUAL(instance.next, 1000 + day + 2 * interval);
	/* A sample that took a day. */
	advance(&lane, &instance, instance.next + day + 1);
	CU_ASSERT_EQUAL(instance.missed, 2 * 8640000);
	CU_ASSERT_EQUAL(instance.next, 1000 + 2 * day + 3 * interval);
}

CU_TestInfo tests[] = {
	{ "a suspend is a gap", suspended },
	{ "a step is an anchor", stepped },
	{ "a day at once", a_day_at_once },
	CU_TEST_INFO_NULL,
};
