/* Clocks of recordings: suspends and steps are seen for what they are, and wall-clock time follows the machine's own. */
#include <string.h>

#include "core/clock.h"
#include "wire/clock.h"

#include "test.h"

const char suite[] = "clock";

enum { HOUR_S = 3600, READING_CALLS = 4 };

/* A machine that interrupts each reading of its clocks for so long; CLOCK_BOOTTIME is an hour ahead, CLOCK_REALTIME a day. */
static uint64_t disturbed[5], clock_of_all;
static int calls;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	const uint64_t ahead = clock == CLOCK_BOOTTIME   ? HOUR_S
			       : clock == CLOCK_REALTIME ? 24 * HOUR_S
							 : 0;

	if (++calls % READING_CALLS == 0)
		clock_of_all += disturbed[(calls / READING_CALLS - 1) % 5];
	*now = clock_timespec(clock_of_all + ahead * NS_PER_S);
	return 0;
}

static const struct sonde_anchor before = {
	.monotonic = 100 * (uint64_t)NS_PER_S,
	.boottime = 500 * (uint64_t)NS_PER_S,
	.realtime = 1700000000 * (int64_t)NS_PER_S,
};

/* The clocks after `ran` seconds of running and `slept` of suspend, the wall clock set by `stepped`. */
static struct sonde_anchor after(uint64_t ran, uint64_t slept, int64_t stepped)
{
	struct sonde_anchor anchor = before;

	anchor.monotonic += ran * NS_PER_S;
	anchor.boottime += (ran + slept) * NS_PER_S;
	anchor.realtime += ((int64_t)(ran + slept) + stepped) * NS_PER_S;
	return anchor;
}

/* Case 148: CLOCK_BOOTTIME 7,200 s on, CLOCK_MONOTONIC 1 s: a suspend, and no step of the wall clock. */
static void suspended(void)
{
	struct sonde_anchor now = after(1, 2 * HOUR_S - 1, 0);
	struct clock_change change = clock_compare(&before, &now);

	CU_ASSERT_EQUAL(change.suspended, (2 * HOUR_S - 1) * (uint64_t)NS_PER_S);
	CU_ASSERT_EQUAL(change.stepped, 0);
}

/* Case 151: the wall clock goes back by a second. */
static void stepped_back(void)
{
	struct sonde_anchor now = after(10, 0, -1);
	struct clock_change change = clock_compare(&before, &now);

	CU_ASSERT_EQUAL(change.suspended, 0);
	CU_ASSERT_EQUAL(change.stepped, -(int64_t)NS_PER_S);
	now = after(10, 0, 24 * HOUR_S);
	CU_ASSERT_EQUAL(clock_compare(&before, &now).stepped, 24 * HOUR_S * (int64_t)NS_PER_S);
}

static void nothing_happened(void)
{
	struct sonde_anchor now = after(10, 0, 0);
	struct clock_change change = clock_compare(&before, &now);

	CU_ASSERT_EQUAL(change.suspended, 0);
	CU_ASSERT_EQUAL(change.stepped, 0);
}

/* Case 149: time of day is that of CLOCK_BOOTTIME, which goes on in a suspend, so it does not drift by one. */
static void after_a_suspend(void)
{
	struct sonde_anchor now = after(1, 2 * HOUR_S, 0);

	CU_ASSERT_EQUAL(clock_realtime(&before, now.boottime), now.realtime);
	CU_ASSERT_EQUAL(anchor_realtime(&before, now.boottime), now.realtime);
	/* Of what was before the anchor too; and of a stream without an anchor there is none. */
	CU_ASSERT_EQUAL(clock_realtime(&now, before.boottime), before.realtime);
	CU_ASSERT_EQUAL(clock_realtime(&(struct sonde_anchor) { 0 }, now.boottime), 0);
}

/* What a reading took is what its clocks may be apart. */
static void the_tightest_reading(void)
{
	static const uint64_t times[] = { 900000, 300000, 200000, 500000, 700000 };
	struct sonde_anchor anchor;

	memcpy(disturbed, times, sizeof times);
	calls = 0;
	clock_of_all = 10 * (uint64_t)NS_PER_S;
	clock_read(&anchor);
	CU_ASSERT_EQUAL(calls, 5 * READING_CALLS);
	CU_ASSERT_EQUAL(anchor.monotonic, 10 * (uint64_t)NS_PER_S + 1200000 + 100000);
	CU_ASSERT_EQUAL(anchor.boottime, (10 + HOUR_S) * (uint64_t)NS_PER_S + 1200000);
	CU_ASSERT_EQUAL(anchor.realtime, (10 + 24 * HOUR_S) * (int64_t)NS_PER_S + 1200000);
	/* One that nothing disturbed is not read again. */
	memset(disturbed, 0, sizeof disturbed);
	disturbed[1] = 20000;
	disturbed[0] = 2000000;
	calls = 0;
	clock_read(&anchor);
	CU_ASSERT_EQUAL(calls, 2 * READING_CALLS);
}

CU_TestInfo tests[] = {
	{ "a suspend", suspended },
	{ "the wall clock is set back", stepped_back },
	{ "nothing happened", nothing_happened },
	{ "time of day after a suspend", after_a_suspend },
	{ "the tightest reading counts", the_tightest_reading },
	CU_TEST_INFO_NULL,
};
