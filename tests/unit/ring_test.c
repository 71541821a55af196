/* The ring between sampling and a sink: order, bounds, what is held, and the law of the counts. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/ring.h"
#include "core/schema.h"
#include "test.h"

const char suite[] = "ring";

static const struct sonde_column columns[] = {
	{ "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "" },
	{ "value", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("things"), .origin = "" },
};
static const struct sonde_table table = { .name = "t", .columns = SONDE_ARRAY(columns) };
static const struct sonde_stream_header header = { .host = "h" };
static struct sonde_schema *schema;

enum { MAX_ROWS = 64, STRIDE = 3 };

/* An instant whose every row holds what its sequence number says. */
struct sample {
	uint64_t words[MAX_ROWS * STRIDE];
	char strings[MAX_ROWS * 24];
	struct sonde_view view;
	struct instant instant;
};

static void make(struct sample *s, uint64_t sequence, uint32_t rows)
{
	struct sonde_strings strings = { s->strings, 0, sizeof s->strings, 0, 0 };
	char why[200];

	if (!schema)
		CU_ASSERT_FATAL(schema_make(&table, &schema, why, sizeof why) == 0);
	memset(s, 0, sizeof *s);
	for (uint32_t i = 0; i < rows; i++) {
		struct sonde_row row = { s->words + i * STRIDE + 1, s->words + i * STRIDE,
					 &strings };
		char name[24];

		snprintf(name, sizeof name, "%llu.%u", (unsigned long long)sequence, i);
		sonde_set_str(&row, 0, name);
		sonde_set_u64(&row, 1, sequence * 1000 + i);
	}
	s->view = (struct sonde_view) { .schema = schema,
					.instance = "t",
					.words = s->words,
					.strings = s->strings,
					.nrows = rows,
					.stride = STRIDE };
	s->instant = (struct instant) { .header = &header,
					.views = &s->view,
					.nviews = 1,
					.sequence = sequence,
					.begin = sequence * 10 };
}

static void push(struct ring *ring, uint64_t sequence, uint32_t rows)
{
	struct sample s;

	make(&s, sequence, rows);
	ring_push(ring, &s.instant, sequence & 1);
}

/* What is read is what was put in, though the original is gone. */
static void check(const struct instant *instant)
{
	const struct sonde_view *view = &instant->views[0];

	CU_ASSERT_EQUAL_FATAL(instant->nviews, 1);
	CU_ASSERT_EQUAL(view->sequence, instant->sequence);
	CU_ASSERT_EQUAL(view->begin, instant->sequence * 10);
	CU_ASSERT_STRING_EQUAL(view->header->host, "h");
	CU_ASSERT_STRING_EQUAL(view->instance, "t");
	for (uint32_t i = 0; i < view->nrows; i++) {
		const uint64_t *slots = sonde_view_slots(view, i);
		char name[24];
		uint32_t length;
		const char *bytes = sonde_view_bytes(view, slots[0], &length);

		snprintf(name, sizeof name, "%llu.%u", (unsigned long long)instant->sequence, i);
		CU_ASSERT_EQUAL_FATAL(length, strlen(name));
		CU_ASSERT_EQUAL_FATAL(memcmp(bytes, name, length), 0);
		CU_ASSERT_EQUAL_FATAL(slots[1], instant->sequence * 1000 + i);
	}
}

static void law(struct ring *ring)
{
	struct ring_counts c;

	ring_counts(ring, &c);
	CU_ASSERT_EQUAL(c.produced, c.settled[RING_DELIVERED] + c.settled[RING_DROPPED] +
					    c.settled[RING_REPLACED] + c.queued);
}

static void order(void)
{
	struct ring *ring = ring_new(64 << 10, false);
	const struct instant *instant;
	uint64_t lost;

	for (uint64_t i = 1; i <= 5; i++)
		push(ring, i, (uint32_t)i);
	for (uint64_t i = 1; i <= 5; i++) {
		instant = ring_peek(ring, &lost);
		CU_ASSERT_PTR_NOT_NULL_FATAL(instant);
		CU_ASSERT_EQUAL(instant->sequence, i);
		CU_ASSERT_EQUAL(instant->views[0].nrows, i);
		CU_ASSERT_EQUAL(lost, 0);
		check(instant);
		CU_ASSERT_PTR_EQUAL(ring_peek(ring, &lost), instant);
		ring_take(ring);
	}
	CU_ASSERT_PTR_NULL(ring_peek(ring, &lost));
	CU_ASSERT_EQUAL(ring_in_flight(ring), 5);
	ring_settle(ring, RING_DELIVERED, 3);
	ring_settle(ring, RING_REPLACED, 100);
	CU_ASSERT_EQUAL(ring_in_flight(ring), 0);
	law(ring);
	ring_free(ring);
}

/* Nobody reads: the newest are kept, the rest is counted, and the count comes with the first that is read. */
static void drops_oldest(void)
{
	struct ring *ring = ring_new(8 << 10, false);
	const struct instant *instant;
	struct ring_counts c;
	uint64_t lost, read = 0, first = 0, last = 0;

	for (uint64_t i = 1; i <= 1000; i++)
		push(ring, i, 20);
	law(ring);
	while ((instant = ring_peek(ring, &lost))) {
		check(instant);
		if (!first) {
			first = instant->sequence;
			CU_ASSERT_EQUAL(lost, first - 1);
		} else {
			CU_ASSERT_EQUAL(instant->sequence, last + 1);
		}
		last = instant->sequence;
		ring_take(ring);
		read++;
	}
	CU_ASSERT_EQUAL(last, 1000);
	CU_ASSERT(read >= 4);
	ring_counts(ring, &c);
	CU_ASSERT_EQUAL(c.settled[RING_DROPPED], 1000 - read);
	CU_ASSERT_EQUAL(c.queued, read);
	ring_free(ring);
}

/* What the consumer holds stays whole while the ring goes round behind it many times. */
static void holds(void)
{
	struct ring *ring = ring_new(8 << 10, false);
	const struct instant *held;
	uint64_t lost;

	push(ring, 1, 20);
	push(ring, 2, 20);
	held = ring_peek(ring, &lost);
	for (uint64_t i = 3; i <= 500; i++) {
		push(ring, i, 5 + (uint32_t)(i * 7 % 20));
		check(held);
	}
	CU_ASSERT_EQUAL(held->sequence, 1);
	ring_take(ring);
	held = ring_peek(ring, &lost);
	CU_ASSERT_EQUAL(held->sequence, 2 + lost);
	check(held);
	law(ring);
	ring_free(ring);
}

static void too_large(void)
{
	struct ring *ring = ring_new(1024, false);
	struct ring_counts c;
	uint64_t lost;

	push(ring, 1, 1);
	push(ring, 2, MAX_ROWS);
	ring_counts(ring, &c);
	CU_ASSERT_EQUAL(c.settled[RING_DROPPED], 1);
	CU_ASSERT_EQUAL(ring_peek(ring, &lost)->sequence, 1);
	law(ring);
	ring_abandon(ring);
	ring_counts(ring, &c);
	CU_ASSERT_EQUAL(c.queued, 0);
	CU_ASSERT_EQUAL(c.settled[RING_DROPPED], 2);
	law(ring);
	ring_free(ring);
}

/* Every interleaving of a pushing and a reading side that a generator gives: nothing is torn, order and law hold. */
static void any_order(void)
{
	struct ring *ring = ring_new(8 << 10, false);
	const struct instant *instant = NULL;
	uint64_t seed = 88172645463325252u, sequence = 0, last = 0, lost;

	for (int step = 0; step < 20000; step++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; /* xorshift64 */
		if (seed % 3) {
			sequence++;
			push(ring, sequence, (uint32_t)(seed >> 8) % (MAX_ROWS - 1) + 1);
		} else if (instant) {
			check(instant);
			ring_take(ring);
			ring_settle(ring, (seed >> 9) % RING_OUTCOMES, (seed >> 13) % 3);
			instant = NULL;
		} else {
			instant = ring_peek(ring, &lost);
			if (instant) {
				CU_ASSERT_EQUAL(instant->sequence, last + 1 + lost);
				last = instant->sequence;
				check(instant);
			}
		}
	}
	law(ring);
	CU_ASSERT(last > 1000);
	ring_free(ring);
}

static void *consume(void *context)
{
	struct ring *ring = context;
	uint64_t last = 0, lost;

	while (last < 20000) {
		const struct instant *instant = ring_peek(ring, &lost);

		if (!instant) {
			ring_wait(ring, clock_now(CLOCK_MONOTONIC) + NS_PER_S);
			continue;
		}
		CU_ASSERT_EQUAL(instant->sequence, last + 1 + lost);
		last = instant->sequence;
		check(instant);
		ring_take(ring);
		ring_settle(ring, RING_DELIVERED, 1);
	}
	return NULL;
}

static void two_threads(void)
{
	struct ring *ring = ring_new(16 << 10, true);
	pthread_t thread;

	CU_ASSERT_FATAL(pthread_create(&thread, NULL, consume, ring) == 0);
	for (uint64_t i = 1; i <= 20000; i++)
		push(ring, i, (uint32_t)i % 30 + 1);
	pthread_join(thread, NULL);
	law(ring);
	ring_free(ring);
}

/* Woken for half a ring and not before, or when called. */
static void wakes(void)
{
	struct ring *ring = ring_new(16 << 10, false);
	struct ring_counts c;
	uint64_t now = clock_now(CLOCK_MONOTONIC);

	push(ring, 1, 1);
	ring_wait(ring, now + 1000000);
	CU_ASSERT(clock_now(CLOCK_MONOTONIC) >= now + 1000000);
	for (uint64_t i = 2; i < 12; i++)
		push(ring, i, 30);
	ring_wait(ring, 0);
	ring_wake(ring);
	ring_pause(ring, 0);
	ring_counts(ring, &c);
	CU_ASSERT_EQUAL(c.wakeups, 3);
	ring_free(ring);
}

/* Resident pages of this process, proc_pid_statm(5). */
static long resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long all, pages = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fscanf(file, "%ld %ld", &all, &pages), 2);
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) >> 10);
}

static void drain(struct ring *ring)
{
	uint64_t lost;

	for (const struct instant *next; (next = ring_peek(ring, &lost));) {
		check(next);
		ring_take(ring);
	}
}

/* What a consumer that stood still made the ring touch is the kernel's again once it has caught up. */
static void gives_back(void)
{
	struct ring *ring = ring_new(16 << 20, false);
	struct ring_counts counts;
	uint64_t i = 0;
	long before, full;

	push(ring, ++i, 1);
	drain(ring);
	before = resident();
	do {
		push(ring, ++i, 60);
		ring_counts(ring, &counts);
	} while (!counts.settled[RING_DROPPED]);
	full = resident();
	CU_ASSERT(full - before > 15 << 10);
	drain(ring);
	push(ring, ++i, 1);
	drain(ring);
	CU_ASSERT(full - resident() > 14 << 10);
	push(ring, ++i, 60);
	drain(ring);
	ring_free(ring);
}

CU_TestInfo tests[] = {
	{ "in order", order },
	{ "a full ring drops the oldest", drops_oldest },
	{ "what is held stays", holds },
	{ "larger than the ring", too_large },
	{ "any order of push and take", any_order },
	{ "two threads", two_threads },
	{ "wakes at half", wakes },
	{ "memory goes back", gives_back },
	CU_TEST_INFO_NULL,
};
