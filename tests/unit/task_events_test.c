/* What stands in for exit records: perf's records byte by byte (perf_event_open(2), "MMAP layout"), and lives made of events in
 * orders that the kernel has. */
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

/* ---- records */

static struct {
	char bytes[1024];
	uint64_t length;
} records;

static void put_record(uint32_t type, uint16_t misc, const void *body, size_t length, uint64_t time)
{
	const struct {
		uint32_t type;
		uint16_t misc, size;
	} head = { type, misc, (uint16_t)(16 + length) };
	char *at = records.bytes + records.length;

	memcpy(at, &head, 8);
	memcpy(at + 8, body, length);
	memcpy(at + 8 + length, &time, 8);
	records.length += 16 + length;
}

static void put_task(uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid,
		     uint64_t time)
{
	const uint32_t body[6] = { pid, ppid, tid, ptid };

	put_record(type, 0, body, sizeof body, time);
}

static void kinds_of_records(void)
{
	const struct {
		uint32_t pid, tid;
		char comm[16];
	} comm = { 7, 8, "fifteen-letters" };
	const struct {
		uint32_t pid, tid;
		uint64_t value;
	} count = { 7, 8, 3000001 };
	const uint64_t lost[2] = { 99, 12 };
	struct life_event e;
	uint64_t at = 0;

	records.length = 0;
	put_task(7, 7, 5, 8, 6, 100);
	put_task(4, 7, 5, 8, 6, 200);
	put_record(3, 0, &comm, sizeof comm, 300);
	put_record(3, 1 << 13, &comm, sizeof comm, 400);
	put_record(8, 0, &count, sizeof count, 500);
	put_record(2, 0, lost, sizeof lost, 600);
	put_record(5, 0, lost, sizeof lost, 700); /* PERF_RECORD_THROTTLE */
	CU_ASSERT_FATAL(perf_next(records.bytes, records.length, &at, &e));
	CU_ASSERT(e.what == LIFE_FORK && e.pid == 7 && e.parent == 5 && e.tid == 8 &&
		  e.parent_tid == 6 && e.time == 100);
	CU_ASSERT_FATAL(perf_next(records.bytes, records.length, &at, &e));
	CU_ASSERT(e.what == LIFE_EXIT && e.tid == 8 && e.time == 200 && !e.has_status);
	CU_ASSERT_FATAL(perf_next(records.bytes, records.length, &at, &e));
	CU_ASSERT(e.what == LIFE_NAME && e.tid == 8);
	CU_ASSERT_STRING_EQUAL(e.comm, "fifteen-letters");
	CU_ASSERT_FATAL(perf_next(records.bytes, records.length, &at, &e));
	CU_ASSERT(e.what == LIFE_EXEC && e.time == 400);
	CU_ASSERT_FATAL(perf_next(records.bytes, records.length, &at, &e));
	CU_ASSERT(e.what == LIFE_CPU && e.value == 3000001 && e.tid == 8);
	CU_ASSERT_FATAL(perf_next(records.bytes, records.length, &at, &e));
	CU_ASSERT(e.what == LIFE_LOST && e.value == 12);
	CU_ASSERT_FATAL(perf_next(records.bytes, records.length, &at, &e));
	CU_ASSERT(e.what == LIFE_NOTHING);
	CU_ASSERT_FALSE(perf_next(records.bytes, records.length, &at, &e));
}

/* What is cut, too short for its kind, or lies about its length. */
static void damaged_records(void)
{
	struct life_event e;
	uint64_t at;

	records.length = 0;
	put_task(7, 7, 5, 8, 6, 100);
	for (uint64_t length = 0; length < records.length; length++) {
		char *alone = malloc(length + 1);

		memcpy(alone, records.bytes, length);
		at = 0;
		CU_ASSERT_FALSE(perf_next(alone, length, &at, &e));
		CU_ASSERT_EQUAL(at, length);
		free(alone);
	}
	for (uint16_t size = 0; size < 40; size++) {
		memcpy(records.bytes + 6, &size, sizeof size);
		at = 0;
		CU_ASSERT_EQUAL(perf_next(records.bytes, records.length, &at, &e), size >= 16);
		CU_ASSERT(size < 16 || e.what == LIFE_NOTHING);
	}
}

/* ---- lives, through the collector: what CPU 0 and 1 hold is given out at the next sample. */

static struct {
	char bytes[2][4096];
	uint64_t length[2];
	uint64_t now;
	int opened;
} kernel;

static int64_t answer(const char *name, int64_t (*call)(void *context, void *buffer, uint64_t size),
		      void *context, void *buffer, uint64_t size)
{
	int cpu = name[strlen(name) - 1] - '0';
	int64_t n;

	(void)call, (void)context;
	if (strcmp(name, "clock") == 0) {
		memcpy(buffer, &kernel.now, 8);
		return 8;
	}
	if (strncmp(name, "task records open", 17) == 0)
		return kernel.opened++, 0;
	if (strncmp(name, "task records", 12) != 0)
		return -EPERM;
	n = (int64_t)kernel.length[cpu];
	if (!n)
		return -EAGAIN;
	CU_ASSERT_FATAL((uint64_t)n <= size);
	memcpy(buffer, kernel.bytes[cpu], (size_t)n);
	kernel.length[cpu] = 0;
	return n;
}

/* The records that were put, to a CPU. */
static void on_cpu(int cpu)
{
	memcpy(kernel.bytes[cpu] + kernel.length[cpu], records.bytes, records.length);
	kernel.length[cpu] += records.length;
	records.length = 0;
}

static const char *const command_pid[] = { "10" };
static struct conf conf;

static void begin_command(void)
{
	memset(&kernel, 0, sizeof kernel);
	records.length = 0;
	conf = (struct conf) { .pids = { command_pid, 1, 0 },
			       .max = 4096,
			       .exits = true,
			       .stand_in = STAND_IN_COMMAND };
	fake.self.conf = &conf;
	fake.obtain = answer;
	put("/sys/devices/system/cpu/online", "0-1\n");
	CU_ASSERT_EQUAL_FATAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(kernel.opened, 2);
	CU_ASSERT(strstr(fake.notes, "perf task records") != NULL);
}

static void put_comm(uint32_t pid, uint32_t tid, const char *name, bool exec, uint64_t time)
{
	struct {
		uint32_t pid, tid;
		char comm[16];
	} comm = { pid, tid, "" };

	strncpy(comm.comm, name, sizeof comm.comm - 1);
	put_record(3, exec ? 1 << 13 : 0, &comm, sizeof comm, time);
}

static void put_count(uint32_t pid, uint32_t tid, uint64_t ns, uint64_t time)
{
	const struct {
		uint32_t pid, tid;
		uint64_t value;
	} count = { pid, tid, ns };

	put_record(8, 0, &count, sizeof count, time);
}

static void take_at(uint64_t now)
{
	kernel.now = now;
	CU_ASSERT_EQUAL(fake_sample(), 0);
}

/* 10 becomes make; on CPU 1 its child 11 becomes cc, and ends on CPU 0, where the end comes first when CPUs are read one after
 * the other. CPU time of both CPUs is one sum. */
static void a_child_on_two_cpus(void)
{
	begin_command();
	put_comm(10, 10, "make", true, 1000);
	put_task(7, 11, 10, 11, 10, 2000);
	on_cpu(1);
	put_comm(11, 11, "cc", true, 3000);
	on_cpu(1);
	put_task(4, 11, 10, 11, 10, 5002000);
	put_count(11, 11, 1500000, 5003000);
	on_cpu(0);
	put_count(11, 11, 2500000, 5004000);
	on_cpu(1);
	take_at(6000000);
	CU_ASSERT_EQUAL(fake_rows("task_exit"), 1);
	IS("task_exit", "11", "tgid", "11");
	IS("task_exit", "11", "comm", "cc");
	IS("task_exit", "11", "forked_by", "10");
	IS("task_exit", "11", "ppid", "10");
	IS("task_exit", "11", "etime", "5000");
	IS("task_exit", "11", "ended", "5002000");
	IS("task_exit", "11", "execs", "1");
	IS("task_exit", "11", "task_clock", "4000000");
	IS("task_exit", "11", "flag", "32");
	IS("task_exit", "11", "exitcode", "-");
	IS("task_exit", "11", "hiwater_rss", "-");
	fake_end();
}

/* An end whose counts are yet to come waits for them, for one sample; what is younger than the sample's clock waits too. */
static void what_waits(void)
{
	begin_command();
	put_task(7, 11, 10, 11, 10, 1000);
	put_task(4, 11, 10, 11, 10, 2000);
	on_cpu(0);
	put_task(7, 12, 10, 12, 10, 9000);
	on_cpu(1);
	take_at(5000);
	CU_ASSERT_EQUAL(fake_rows("task_exit"), 0);
	put_count(11, 11, 7, 5500);
	on_cpu(1);
	put_task(4, 12, 10, 12, 10, 9500);
	on_cpu(0);
	take_at(10000);
	CU_ASSERT_EQUAL(fake_rows("task_exit"), 1);
	IS("task_exit", "11", "task_clock", "7");
	take_at(11000);
	IS("task_exit", "12", "task_clock", "-");
	IS("task_exit", "12", "flag", "33"); /* it never became another program */
	fake_end();
}

/* The leader of 20 ends before its thread 21; in 30 the thread 31 executes a program and takes the leader's number, as
 * de_thread() has it. Each process ends once. */
static void threads(void)
{
	begin_command();
	put_task(7, 20, 10, 20, 10, 1000);
	put_task(7, 20, 20, 21, 20, 1100);
	put_task(4, 20, 10, 20, 10, 1200);
	put_task(4, 20, 10, 21, 10, 1300);
	put_task(7, 30, 10, 30, 10, 2000);
	put_task(7, 30, 30, 31, 30, 2100);
	put_task(7, 30, 30, 32, 30, 2150);
	put_task(4, 30, 10, 32, 10, 2200);
	put_task(4, 30, 10, 30, 10, 2300);
	put_comm(30, 30, "new", true, 2400);
	put_task(7, 33, 30, 33, 30, 2500);
	put_task(4, 33, 30, 33, 30, 2600);
	on_cpu(0);
	take_at(3000);
	take_at(4000);
	CU_ASSERT_EQUAL(fake_rows("task_exit"), 5);
	IS("task_exit", "20", "flag", "1");
	IS("task_exit", "21", "flag", "33");
	IS("task_exit", "21", "tgid", "20");
	IS("task_exit", "32", "flag", "1");
	IS("task_exit", "30", "flag", "1"); /* the leader of then: the process goes on */
	IS("task_exit", "33", "comm", "new");
	put_task(4, 30, 10, 30, 10, 4100);
	on_cpu(0);
	take_at(5000);
	take_at(6000);
	CU_ASSERT_EQUAL(fake_rows("task_exit"), 1);
	IS("task_exit", "30", "flag", "32");
	IS("task_exit", "30", "comm", "new");
	fake_end();
}

/* 11 ended and another process got its number. */
static void a_number_used_again(void)
{
	begin_command();
	put_task(7, 11, 10, 11, 10, 1000);
	put_task(4, 11, 10, 11, 10, 2000000);
	put_count(11, 11, 5, 2000001);
	put_count(11, 11, 6, 2000002);
	put_task(7, 11, 10, 11, 10, 3000000);
	put_comm(11, 11, "second", true, 3000001);
	put_task(4, 11, 10, 11, 10, 4000000);
	put_count(11, 11, 7, 4000001);
	put_count(11, 11, 8, 4000002);
	on_cpu(0);
	take_at(5000000);
	CU_ASSERT_EQUAL(fake_rows("task_exit"), 2);
	IS("task_exit", "11", "task_clock", "11"); /* the first row */
	fake_end();
}

static void lost_records_are_a_gap(void)
{
	const uint64_t lost[2] = { 99, 12 };

	begin_command();
	put_record(2, 0, lost, sizeof lost, 600);
	on_cpu(1);
	put_task(4, 77, 70, 77, 70, 700); /* of whose birth nothing came */
	on_cpu(0);
	take_at(1000);
	CU_ASSERT(strstr(fake.gaps, "12 records") != NULL);
	take_at(2000);
	IS("task_exit", "77", "etime", "-");
	IS("task_exit", "77", "forked_by", "-");
	IS("task_exit", "77", "flag", "32");
	fake_end();
}

/* No task has an event on it; told once. One that goes and returns has its ring still. */
static void a_cpu_that_comes(void)
{
	begin_command();
	take_at(1000);
	CU_ASSERT_STRING_EQUAL(fake.gaps, "");
	put("/sys/devices/system/cpu/online", "0\n");
	take_at(2000);
	put("/sys/devices/system/cpu/online", "0-1\n");
	take_at(3000);
	CU_ASSERT_STRING_EQUAL(fake.gaps, "");
	put("/sys/devices/system/cpu/online", "0-1,5\n");
	take_at(4000);
	CU_ASSERT(strstr(fake.gaps, "CPU 5 came online") != NULL);
	fake.gaps[0] = '\0';
	take_at(5000);
	CU_ASSERT_STRING_EQUAL(fake.gaps, "");
	fake_end();
}

/* More tasks than there is room for: counted, and there is room from the next sample on. */
static void more_than_fit(void)
{
	struct lives *lives;

	begin_command();
	lives = &((struct state *)fake.self.state)->standin.lives;
	for (uint32_t tid = 100; tid < 100 + LIVES_AT_FIRST; tid++)
		lives_take(lives,
			   &(struct life_event) {
				   .what = LIFE_FORK, .tid = tid, .pid = tid, .parent = 10 });
	CU_ASSERT_EQUAL(lives->lost, 1); /* 10 has the first place */
	take_at(1000);
	lives_take(lives, &(struct life_event) { .what = LIFE_FORK, .tid = 99, .pid = 99 });
	CU_ASSERT_EQUAL(lives->lost, 1);
	fake_end();
}

/* Neither is permitted: it says so, with what would be. */
static int64_t refuse(const char *name, int64_t (*call)(void *context, void *buffer, uint64_t size),
		      void *context, void *buffer, uint64_t size)
{
	(void)name, (void)call, (void)context, (void)buffer, (void)size;
	return -EACCES;
}

static void nothing_is_permitted(void)
{
	conf = (struct conf) { .pids = { command_pid, 1, 0 }, .stand_in = STAND_IN_COMMAND };
	fake.self.conf = &conf;
	fake.obtain = refuse;
	put("/sys/devices/system/cpu/online", "0-1\n");
	put("/proc/sys/kernel/perf_event_paranoid", "4\n");
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	CU_ASSERT(strstr(fake.unavailable, "scanning /proc") != NULL);
	CU_ASSERT(strstr(fake.unavailable, "paranoid is 4") != NULL);
	CU_ASSERT(strstr(fake.unavailable, "Linux 6.6") != NULL);
	fake_end();
}

/* struct proc_event as cn_proc.h has it; an exit tells its status, a fork of a thread its process. */
static void events_of_the_connector(void)
{
	struct proc_event from = { .what = PROC_EVENT_EXIT, .timestamp_ns = 5 };
	struct life_event to;

	from.event_data.exit.process_pid = 8;
	from.event_data.exit.process_tgid = 7;
	from.event_data.exit.exit_code = 3 << 8;
	from.event_data.exit.parent_pid = 6;
	from.event_data.exit.parent_tgid = 5;
	CU_ASSERT(translate(&from, 100, &to));
	CU_ASSERT(to.what == LIFE_EXIT && to.tid == 8 && to.pid == 7 && to.parent == 5);
	CU_ASSERT(to.has_status && to.value == 768 && to.time == 105);
	from = (struct proc_event) { .what = PROC_EVENT_FORK };
	from.event_data.fork.parent_pid = 6;
	from.event_data.fork.parent_tgid = 5;
	from.event_data.fork.child_pid = 8;
	from.event_data.fork.child_tgid = 7;
	CU_ASSERT(translate(&from, 0, &to));
	CU_ASSERT(to.what == LIFE_FORK && to.tid == 8 && to.pid == 7 && to.parent_tid == 6 &&
		  to.parent == 5);
	from.what = PROC_EVENT_UID;
	CU_ASSERT_FALSE(translate(&from, 0, &to));
}

const char suite[] = "task_events";
CU_TestInfo tests[] = {
	{ "kinds of records", kinds_of_records },
	{ "damaged records", damaged_records },
	{ "a child on two CPUs", a_child_on_two_cpus },
	{ "what waits", what_waits },
	{ "threads", threads },
	{ "a number used again", a_number_used_again },
	{ "lost records are a gap", lost_records_are_a_gap },
	{ "a CPU that comes", a_cpu_that_comes },
	{ "more than fit", more_than_fit },
	{ "nothing is permitted", nothing_is_permitted },
	{ "events of the connector", events_of_the_connector },
	CU_TEST_INFO_NULL,
};
