/* The collector `taskstats`: messages made by hand, byte by byte (netlink(7)), records of the lengths that kernels send.
 * Offsets were counted along include/uapi/linux/taskstats.h. */
/* clang-format off: the descriptor's settings stand before the first include of the header. */
#include "plugins/taskstats/taskstats.c"
/* clang-format on */
#include "plugins/taskstats/genl.c"
#include "plugins/taskstats/link.c"
#include "plugins/taskstats/lives.c"
#include "plugins/taskstats/perf.c"
#include "plugins/taskstats/standin.c"
#include "plugins/taskstats/stats.c"
#include "plugins/taskstats/table.c"

#include "fakehost.h"

enum { FAMILY = 0x1c, VERSION_8 = 328, VERSION_13 = 416, VERSION_14 = 432, VERSION_16 = 560 };

static struct message {
	char bytes[2048] __attribute__((aligned(8)));
	size_t length;
} next_message;

static void put16(size_t at, uint16_t value)
{
	memcpy(next_message.bytes + at, &value, sizeof value);
}

static void put32(size_t at, uint32_t value)
{
	memcpy(next_message.bytes + at, &value, sizeof value);
}

static void put64(size_t at, uint64_t value)
{
	memcpy(next_message.bytes + at, &value, sizeof value);
}

enum {
	RECORD = 16 + 4 + 4 + 8 + 4
}; /* message, family's header, aggregate, number, head of the record */

/* A message with a record of `length` bytes of pid 4711; the record is zeroed. */
static void begin(uint16_t aggregate, size_t length)
{
	memset(&next_message, 0, sizeof next_message);
	next_message.length = RECORD + length;
	put32(0, (uint32_t)next_message.length);
	put16(4, FAMILY);
	put16(20, (uint16_t)(4 + 8 + 4 + length));
	put16(22, aggregate);
	put16(24, 8);
	put16(26, aggregate == 4 ? 1 : 2);
	put32(28, 4711);
	put16(32, (uint16_t)(4 + length));
	put16(34, 3);
}

static void begin_task(size_t length)
{
	begin(4, length);
	put32(RECORD + 128, 4711);
}

static int parse(struct stats *stats)
{
	return link_parse(next_message.bytes, next_message.length, FAMILY, stats, LINK_RECORDS);
}

/* A row that stands alone. */
static struct {
	uint64_t slots[EXIT_COLUMNS], have[1];
	char bytes[128];
	struct sonde_strings strings;
	struct sonde_row row;
} alone;

static struct sonde_row *fresh(void)
{
	memset(&alone, 0, sizeof alone);
	alone.strings = (struct sonde_strings) { .bytes = alone.bytes, .size = sizeof alone.bytes };
	alone.row = (struct sonde_row) { alone.slots, alone.have, &alone.strings };
	return &alone.row;
}

static bool is(uint32_t slot, uint64_t value)
{
	return sonde_has(&alone.row, slot) && alone.slots[slot] == value;
}

static void record_of_a_task(void)
{
	struct stats stats;

	begin_task(VERSION_14);
	put32(RECORD + 4, 3 << 8);
	next_message.bytes[RECORD + 8] = 0x21;
	put64(RECORD + 16, 5);
	put64(RECORD + 24, 600);
	put64(RECORD + 40, 7);
	put64(RECORD + 64, 8000);
	memcpy(next_message.bytes + RECORD + 80, "name (x) \n", 10);
	put32(RECORD + 120, 1000);
	put32(RECORD + 132, 4700);
	put64(RECORD + 144, 123456);
	put64(RECORD + 152, 21);
	put64(RECORD + 320, 9);
	put64(RECORD + 344, 1796038882);
	put64(RECORD + 360, 10);
	put32(RECORD + 368, 4710);
	put64(RECORD + 408, 11);
	put64(RECORD + 424, 12);
	CU_ASSERT_EQUAL_FATAL(parse(&stats), 1);
	CU_ASSERT(stats.id == 4711 && !stats.group && stats.length == VERSION_14);
	CU_ASSERT_EQUAL(stats_layout(&stats), STATS_USUAL);
	stats_set_exit(&stats, STATS_USUAL, true, fresh());
	CU_ASSERT(is(EXIT_PID, 4711) && is(EXIT_TGID, 4710) && is(EXIT_PPID, 4700) &&
		  is(EXIT_UID, 1000));
	CU_ASSERT(is(EXIT_CODE, 768) && is(EXIT_FLAG, 0x21) && is(EXIT_BTIME, 1796038882));
	CU_ASSERT(is(EXIT_ETIME, 123456) && is(EXIT_UTIME, 21) && is(EXIT_CPU_RUN_REAL, 8000));
	CU_ASSERT(is(EXIT_DELAYS, 5) && is(EXIT_DELAYS + 1, 600) && is(EXIT_DELAYS + 3, 7));
	CU_ASSERT(is(EXIT_DELAYS + 7, 9) && is(EXIT_DELAYS + 11, 10)); /* reclaim, compaction */
	CU_ASSERT(is(EXIT_DELAYS + 13, 11) &&
		  is(EXIT_DELAYS + 15, 12)); /* copy on write, interrupts */
	CU_ASSERT(is(EXIT_COMM, 10) && memcmp(alone.bytes, "name (x) \n", 10) == 0);
	/* What is not counted is absent. */
	stats_set_exit(&stats, STATS_USUAL, false, fresh());
	CU_ASSERT(is(EXIT_DELAYS + 1, 600) && is(EXIT_ETIME, 123456) && is(EXIT_NVCSW, 0));
	for (uint32_t i = 2; i < 16; i++)
		CU_ASSERT(!sonde_has(&alone.row, EXIT_DELAYS + i));
	stats_set(&stats, STATS_USUAL, true, fresh());
	CU_ASSERT(is(STATS_DELAYS + 7, 9) && is(STATS_CPU_RUN_REAL, 8000) &&
		  !sonde_has(&alone.row, STATS_PID));
}

/* A field is there as far as the record goes; later kernels' are longer, and begin the same. */
static void lengths(void)
{
	struct stats stats;

	begin_task(VERSION_16);
	put64(RECORD + 424, 12);
	CU_ASSERT_EQUAL(parse(&stats), 1);
	stats_set(&stats, stats_layout(&stats), true, fresh());
	CU_ASSERT(is(STATS_DELAYS + 15, 12));
	begin_task(VERSION_13);
	CU_ASSERT_EQUAL(parse(&stats), 1);
	stats_set(&stats, stats_layout(&stats), true, fresh());
	CU_ASSERT(is(STATS_DELAYS + 13, 0) && !sonde_has(&alone.row, STATS_DELAYS + 15));
	begin_task(VERSION_8);
	CU_ASSERT_EQUAL(parse(&stats), 1);
	stats_set(&stats, stats_layout(&stats), true, fresh());
	CU_ASSERT(is(STATS_DELAYS + 7, 0) && !sonde_has(&alone.row, STATS_DELAYS + 8));
	begin_task(131); /* ends within ac_pid */
	CU_ASSERT_EQUAL(parse(&stats), 1);
	CU_ASSERT_EQUAL(stats_layout(&stats), STATS_UNKNOWN);
}

/* Version 15: a maximum and a minimum behind each sum. */
static void moved_fields(void)
{
	struct stats stats;

	begin(4, VERSION_16);
	put32(RECORD + 176, 4711);
	put64(RECORD + 24, 1);
	put64(RECORD + 32, 99);
	put64(RECORD + 56, 2);
	put64(RECORD + 112, 3);
	memcpy(next_message.bytes + RECORD + 128, "x", 2);
	CU_ASSERT_EQUAL(parse(&stats), 1);
	CU_ASSERT_EQUAL(stats_layout(&stats), STATS_VERSION_15);
	stats_set_exit(&stats, STATS_VERSION_15, true, fresh());
	CU_ASSERT(is(EXIT_DELAYS + 1, 1) && is(EXIT_DELAYS + 2, 0) && is(EXIT_DELAYS + 3, 2));
	CU_ASSERT(is(EXIT_CPU_RUN_REAL, 3) && is(EXIT_COMM, 1) && *alone.bytes == 'x');
}

static void record_of_a_group(void)
{
	struct stats stats;

	begin(5, VERSION_14);
	put64(RECORD + 24, 600);
	CU_ASSERT_EQUAL(parse(&stats), 1);
	CU_ASSERT(stats.group && stats.id == 4711);
	stats_set_exit(&stats, STATS_USUAL, true, fresh());
	CU_ASSERT(is(EXIT_GROUP, 1) && is(EXIT_TGID, 4711) && is(EXIT_DELAYS + 1, 600));
	CU_ASSERT(!sonde_has(&alone.row, EXIT_UID) && !sonde_has(&alone.row, EXIT_UTIME));
}

/* The kernel's refusal; and whatever is cut or lies about its length gives no record. */
static void errors(void)
{
	struct stats stats;

	memset(&next_message, 0, sizeof next_message);
	next_message.length = 36;
	put32(0, 36);
	put16(4, 2);
	put32(16, (uint32_t)-EPERM);
	CU_ASSERT_EQUAL(parse(&stats), -EPERM);
	begin_task(VERSION_14);
	for (next_message.length = 0; next_message.length < RECORD + VERSION_14;
	     next_message.length++)
		CU_ASSERT(parse(&stats) == 0);
	put32(0, 4);
	CU_ASSERT_EQUAL(parse(&stats), 0);
	put32(0, 16); /* no attributes */
	next_message.length = 16;
	CU_ASSERT_EQUAL(parse(&stats), 0);
	begin_task(VERSION_14);
	put16(32, 0xffff);
	CU_ASSERT_EQUAL(parse(&stats), 0);
	put16(32, 2);
	CU_ASSERT_EQUAL(parse(&stats), 0);
	begin_task(VERSION_14);
	put16(4, FAMILY + 1);
	CU_ASSERT_EQUAL(parse(&stats), 0);
}

static const char *denied, *overrun; /* names of calls that fail */

static int64_t answer(const char *name, int64_t (*call)(void *context, void *buffer, uint64_t size),
		      void *context, void *buffer, uint64_t size)
{
	(void)call, (void)context, (void)size;
	if (denied && strcmp(name, denied) == 0)
		return -EPERM;
	if (overrun && strcmp(name, overrun) == 0) {
		overrun = NULL;
		return -ENOBUFS;
	}
	if (strcmp(name, "taskstats family") == 0) {
		memset(&next_message, 0, sizeof next_message);
		put32(0, 28);
		put16(4, 16);
		put16(20, 6);
		put16(22, 1);
		put16(24, FAMILY);
		memcpy(buffer, next_message.bytes, 28);
		return 28;
	}
	if (strcmp(name, "taskstats exit") == 0 || strcmp(name, "taskstats listen") == 0)
		return -EAGAIN;
	begin_task(VERSION_14);
	put64(RECORD + 24, 77);
	memcpy(buffer, next_message.bytes, next_message.length);
	return (int64_t)next_message.length;
}

static struct conf conf;

static int begin_collector(const char *delayacct)
{
	conf = (struct conf) { .max = 2, .exits = true };
	fake.self.conf = &conf;
	fake.obtain = answer;
	put("/proc/5/stat", "5 (a) b) S 1 5 5 0 -1 4 9 0 0 0 20 1 0 0 20 0 3 0 400 4096 7\n");
	put("/proc/7/stat", "7 (c) S 1 5 5 0 -1 4 9 0 0 0 20 1 0 0 20 0 3 0 600 4096 7\n");
	put("/proc/sys/kernel/task_delayacct", delayacct);
	return fake_start("");
}

static void rows(void)
{
	CU_ASSERT_EQUAL(begin_collector("0\n"), 0);
	CU_ASSERT(strstr(fake.notes, "kernel.task_delayacct=1") != NULL);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("taskstats", "5 400", "cpu_delay_total", "77");
	IS("taskstats", "5 400", "comm", "a) b");
	IS("taskstats", "5 400", "blkio_delay_total", "-");
	IS("taskstats", "7 600", "cpu_delay_total", "77");
	CU_ASSERT(fake_rows("taskstats") == 2 && fake_rows("task_exit") == 0 &&
		  !fake.frame.partial);
	/* Switched on meanwhile. */
	put("/proc/sys/kernel/task_delayacct", "1\n");
	overrun = "taskstats exit";
	denied = "taskstats 7";
	CU_ASSERT_EQUAL(fake_sample(), 0);
	denied = NULL;
	IS("taskstats", "5 400", "blkio_delay_total", "0");
	CU_ASSERT(fake_rows("taskstats") == 1);
	CU_ASSERT(strstr(fake.gaps, "were lost") != NULL);
	put("/proc/9/stat", "9 (d) S 1 5 5 0 -1 4 9 0 0 0 20 1 0 0 20 0 3 0 700 4096 7\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(fake_rows("taskstats") == 2 && fake.frame.partial);
	CU_ASSERT(strstr(fake.notes, "max = 2") != NULL);
	fake_end();
}

static void unavailable(void)
{
	denied = "taskstats self";
	CU_ASSERT_EQUAL(begin_collector("1\n"), -ENODEV);
	CU_ASSERT(strstr(fake.unavailable, "CAP_NET_ADMIN") != NULL);
	fake_end();
	denied = "taskstats family";
	CU_ASSERT_EQUAL(begin_collector("1\n"), -ENODEV);
	CU_ASSERT(strstr(fake.unavailable, "not permitted") != NULL);
	fake_end();
	denied = NULL;
}

const char suite[] = "taskstats";
CU_TestInfo tests[] = {
	{ "record of a task", record_of_a_task },
	{ "lengths", lengths },
	{ "moved fields", moved_fields },
	{ "record of a group", record_of_a_group },
	{ "errors", errors },
	{ "rows", rows },
	{ "unavailable", unavailable },
	CU_TEST_INFO_NULL,
};
