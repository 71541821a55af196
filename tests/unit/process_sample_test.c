/* The collector `process` over a host in memory: who gets a row, when files are opened, what comes of processes that end,
 * hide, or take another's number. Numbers are those of the cases that broke other tools. */
#include <stdio.h>
#include "process_plugin.h"

static void rows_of_all_files(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 2, .utime = 30, .comm = "init" });
	put_process((struct process) { .pid = 10, .ppid = 1, .start = 400 });
	put_process((struct process) { .pid = 9, .ppid = 1, .start = 300 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	CU_ASSERT_EQUAL(fake.open_now, 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(nrows(), 3);
	CU_ASSERT(has_text(1, COMM, "init") && value(1, START_TIME) == 2 && value(1, UTIME) == 30);
	CU_ASSERT(value(10, PPID) == 1 && value(9, UID) == 5 && value(9, VM_RSS) == 28);
	CU_ASSERT(value(9, SCHED_RUN) == 1000 && value(9, SCHED_WAIT) == 200);
	CU_ASSERT(value(9, SCHED_SLICES) == 3 && value(9, RCHAR) == 11 && value(9, SYSCW) == 14);
	CU_ASSERT(!has(9, WRITE_BYTES) && !has(9, CMDLINE) && !has(9, THREADS_RUN));
	CU_ASSERT(total(TOTAL_LISTED) == 3 && total(TOTAL_ROWS) == 3 && total(TOTAL_HIDDEN) == 0);
	CU_ASSERT(!fake.frame.partial);
	CU_ASSERT_EQUAL(fake.nnotes, 0);
	/* Descriptors are kept: nothing is opened, and each file is read once. */
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake.opened, 0);
	CU_ASSERT_EQUAL(fake.reads, 12);
	CU_ASSERT_EQUAL(nrows(), 3);
	end(9);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(nrows() == 2 && fake.open_now == 8);
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

/* Case 41: another process under the same number within one interval. Case 44: what it did before it was seen first is in its row. */
static void pid_reused(void)
{
	struct conf conf = defaults();

	conf.cmdline = CMDLINE_FULL;
	fake_begin(&conf);
	put_process((struct process) { .pid = 700, .start = 1000, .utime = 500 });
	put("/proc/700/cmdline", "old");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(value(700, START_TIME) == 1000 && value(700, UTIME) == 500);
	CU_ASSERT(has_text(700, CMDLINE, "old"));
	end(700);
	put_process((struct process) { .pid = 700, .start = 9000, .utime = 3 });
	put("/proc/700/cmdline", "new");
	put_process((struct process) { .pid = 701, .start = 9001, .utime = 80 });
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(nrows(), 2);
	CU_ASSERT(value(700, START_TIME) == 9000 && value(700, UTIME) == 3);
	CU_ASSERT(value(700, RCHAR) == 11 && has_text(700, CMDLINE, "new"));
	CU_ASSERT(value(701, START_TIME) == 9001 && value(701, UTIME) == 80);
	CU_ASSERT_EQUAL(fake.nlogs, 0);
	CU_ASSERT_EQUAL(fake.open_now, 8);
	fake_end();
}

/* Case 40: a process that ends between listing and reading is no error. One that ends later keeps what was read. */
static void ends_while_read(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 2 });
	put_process((struct process) { .pid = 5, .start = 2 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	put("/proc/8/status", "Name:\tx\n");
	fake_find("/proc/5/status")->read_err = ESRCH;
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(nrows() == 2 && !fake_row_of(8));
	CU_ASSERT(value(5, UTIME) == 0 && !has(5, VM_RSS) && !has(5, RCHAR));
	CU_ASSERT_EQUAL(total(TOTAL_VANISHED), 1);
	CU_ASSERT(fake.nlogs == 0 && !fake.frame.partial);
	CU_ASSERT_EQUAL(fake.nnotes,
			0); /* its I/O is not known for want of itself, not of rights */
	fake_end();
}

/* What is wrong with sonde, not with the process, is told: here there are no descriptors left. */
static void no_descriptors(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 2 });
	put_process((struct process) { .pid = 5, .start = 2 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_find("/proc/5/stat")->err = EMFILE;
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(nrows() == 1 && fake.frame.partial && fake.nlogs == 1);
	CU_ASSERT(total(TOTAL_VANISHED) == 0 && total(TOTAL_HIDDEN) == 0);
	fake_find("/proc/5/stat")->err = 0;
	fake_find("/proc/5/io")->err = EMFILE;
	fake_sample();
	CU_ASSERT(nrows() == 2 && !has(5, RCHAR));
	fake_find("/proc/5/io")->err = 0;
	fake_sample();
	CU_ASSERT_EQUAL(value(5, RCHAR), 11);
	fake_end();
}

/* Case 46: hidepid=1 lists what it does not let be read. */
static void hidden(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 2 });
	put_process((struct process) { .pid = 5, .start = 2 });
	put_process((struct process) { .pid = 6, .start = 2 });
	fake_find("/proc/1/stat")->err = EACCES;
	fake_find("/proc/6/stat")->err = EPERM;
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(nrows() == 1 && has(5, UTIME));
	CU_ASSERT_EQUAL(total(TOTAL_HIDDEN), 2);
	CU_ASSERT(fake_noted("2 processes are not visible"));
	CU_ASSERT(!fake.frame.partial && fake.nlogs == 0);
	fake_sample();
	CU_ASSERT_EQUAL(fake.nnotes, 1);
	fake_end();

	/* hidepid=2 does not even list them. */
	fake_begin(&conf);
	put_process((struct process) { .pid = 5, .start = 2 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	CU_ASSERT(fake_noted("hidepid"));
	fake_end();
}

/* io of another user's process is absent, and is not tried at every sample; exec may have changed that. */
static void denied(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 2, .comm = "su" });
	fake_find("/proc/1/io")->err = EACCES;
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(!has(1, RCHAR) && value(1, VM_RSS) == 28);
	CU_ASSERT(fake_noted("I/O of 1 of 1 processes"));
	fake_find("/proc/1/io")->err = 0;
	fake_sample();
	CU_ASSERT(!has(1, RCHAR) && fake.opened == 0);
	put_stat((struct process) { .pid = 1, .start = 2, .comm = "id" });
	fake_sample();
	CU_ASSERT_EQUAL(value(1, RCHAR), 11);
	fake_end();
}

/* A kernel without CONFIG_TASK_IO_ACCOUNTING has the file of no process. */
static void io_not_built_in(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 2 });
	fake_find("/proc/1/io")->err = ENOENT;
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(fake_noted("CONFIG_TASK_IO_ACCOUNTING") && !fake_noted("CAP_SYS_PTRACE"));
	fake_end();
}

/* Case 47: the leader thread is a zombie, the process lives: its memory is not known. */
static void zombie_leader(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 2 });
	put_process((struct process) { .pid = 800, .start = 2, .state = 'Z', .threads = 4 });
	put("/proc/800/status", "Name:\tx\nState:\tZ (zombie)\nUid:\t5\t5\t5\t5\nThreads:\t4\n");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(has_text(800, STATE, "Z") && value(800, NUM_THREADS) == 4 &&
		  value(800, UID) == 5);
	CU_ASSERT(!has(800, VM_RSS));
	fake_end();
}

/* Case 43: time of children that were waited for has columns of its own. */
static void children_time_apart(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 2, .utime = 7, .cutime = 10 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	put_stat((struct process) { .pid = 1, .start = 2, .utime = 7, .cutime = 360010 });
	fake_sample();
	CU_ASSERT(value(1, UTIME) == 7 && value(1, CUTIME) == 360010);
	fake_end();
}

static void put_thread(uint32_t pid, uint32_t tid, uint64_t start, const char *schedstat)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%u/task/%u/schedstat", pid, tid);
	put(path, "%s\n", schedstat);
	snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, tid);
	put(path,
	    "%u (worker) R 1 1 1 0 -1 4194368 9 0 0 0 20 1 0 0 20 0 3 0 %llu 4096 7 18446744073709551615 1 1 1 "
	    "0 0 0 0 0 0 0 0 0 17 3 0 0 2 0 0\n",
	    tid, (unsigned long long)start);
}

/* UINT64_MAX where there is no such row or value. */
static uint64_t thread_value(uint32_t pid, uint32_t tid, uint32_t slot)
{
	const struct frame_table *table = &fake.frame.tables[TABLE_THREAD];

	for (uint32_t i = 0; i < table->nrows; i++) {
		const uint64_t *have = table->words + (size_t)i * table->stride, *slots = have + 1;

		if (slots[THREAD_PID] == pid && slots[THREAD_TID] == tid && *have >> slot & 1)
			return slots[slot];
	}
	return UINT64_MAX;
}

/* Case 73: all threads are summed, and one that ends takes nothing away. */
static void threads(void)
{
	struct conf conf = defaults();

	conf.threads = true;
	fake_begin(&conf);
	put_process((struct process) { .pid = 5, .start = 1, .threads = 3 });
	put_process((struct process) { .pid = 6, .start = 1 });
	put_thread(5, 5, 1, "1000 200 3");
	put_thread(5, 70, 4, "50 60 2");
	put_thread(5, 8, 2, "10493764364074 508452504298 149067570");
	put_thread(6, 6, 1, "0 0 0");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(value(5, SCHED_RUN) == 1000 && value(5, SCHED_WAIT) == 200);
	CU_ASSERT_EQUAL(value(5, THREADS_RUN), 10493764365124);
	CU_ASSERT_EQUAL(value(5, THREADS_WAIT), 508452504558);
	CU_ASSERT_EQUAL(value(5, THREADS_SLICES), 149067575);
	CU_ASSERT(value(6, THREADS_RUN) == 1000 && value(6, THREADS_SLICES) == 3);
	/* 8 ended, 71 was born, 70 ran 25 ns more, and the leader 1. */
	CU_ASSERT_EQUAL(fake.frame.tables[TABLE_THREAD].nrows, 4);
	CU_ASSERT(thread_value(5, 70, THREAD_START_TIME) == 4 &&
		  thread_value(5, 70, THREAD_UTIME) == 20);
	CU_ASSERT(thread_value(5, 70, THREAD_WAIT) == 60 &&
		  thread_value(5, 70, THREAD_PROCESSOR) == 3);
	CU_ASSERT(thread_value(5, 8, THREAD_RUN) == 10493764364074 &&
		  thread_value(5, 5, THREAD_SLICES) == 3);
	/* Of a process with one thread schedstat is read once. */
	CU_ASSERT(thread_value(6, 6, THREAD_RUN) == 1000 && thread_value(6, 6, THREAD_UTIME) == 20);
	fake_find("/proc/5/task/8/stat")->read_err = ESRCH;
	put_thread(5, 71, 9, "7 0 1");
	put_thread(5, 70, 4, "75 61 3");
	put_thread(5, 5, 1, "1001 200 3");
	fake_sample();
	CU_ASSERT_EQUAL(value(5, THREADS_RUN), 10493764365124 + 7 + 25 + 1);
	CU_ASSERT_EQUAL(value(5, THREADS_WAIT), 508452504558 + 1);
	CU_ASSERT_EQUAL(value(5, THREADS_SLICES), 149067575 + 1 + 1);
	CU_ASSERT(fake.frame.tables[TABLE_THREAD].nrows == 4 &&
		  thread_value(5, 8, THREAD_RUN) == UINT64_MAX);
	/* Another thread has the number 71: what it did is added, though it is less. */
	put_thread(5, 71, 30, "6 0 1");
	fake_sample();
	CU_ASSERT_EQUAL(value(5, THREADS_RUN), 10493764365124 + 7 + 25 + 1 + 6);
	/* Only the leader is left. */
	put_stat((struct process) { .pid = 5, .start = 1, .threads = 1 });
	put("/proc/5/schedstat", "1011 200 3\n");
	fake_sample();
	CU_ASSERT_EQUAL(value(5, THREADS_RUN), 10493764365124 + 7 + 25 + 11 + 6);
	/* One that lives but can't be read makes the sum unknown, and is not counted twice afterwards. */
	put_stat((struct process) { .pid = 5, .start = 1, .threads = 2 });
	fake_find("/proc/5/task/70/stat")->err = EMFILE;
	fake_sample();
	CU_ASSERT(!has(5, THREADS_RUN) && value(5, SCHED_RUN) == 1011);
	fake_find("/proc/5/task/70/stat")->err = 0;
	fake_sample();
	CU_ASSERT_EQUAL(value(5, THREADS_RUN), 10493764365124 + 7 + 25 + 11 + 6);
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

/* Case 74: no schedstat at all, or one that counts nothing. */
static void sched_unknown(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1 });
	put_process((struct process) { .pid = 2, .start = 1 });
	fake_find("/proc/1/schedstat")->err = ENOENT;
	put("/proc/2/schedstat", "0 0 0\n");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(!has(1, SCHED_RUN) && !has(1, SCHED_WAIT) && !has(2, SCHED_WAIT));
	CU_ASSERT(value(1, RCHAR) == 11 && value(2, RCHAR) == 11);
	CU_ASSERT(fake_noted("how long processes wait for a CPU is not known"));
	fake_end();
}

static void delays(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1 });
	put("/proc/sys/kernel/task_delayacct", "0\n");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(fake_noted("kernel.task_delayacct=1"));
	CU_ASSERT(!has(1, BLKIO_DELAY) && value(1, GUEST_TIME) == 0);
	fake_end();
	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1 });
	put("/proc/sys/kernel/task_delayacct", "1\n");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT_EQUAL(value(1, BLKIO_DELAY), 2);
	fake_end();
}

/* Sampling does not allocate: who finds no room has a row in the next sample. */
static void many_at_once(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	for (uint32_t pid = 2; pid <= 120; pid++)
		put_stat((struct process) { .pid = pid, .start = 1 });
	fake_sample();
	/* Room was made for the two entries of /proc at start, half as many more, and 64. */
	CU_ASSERT(nrows() == 67 && fake.frame.partial && total(TOTAL_LISTED) == 120);
	fake_sample();
	CU_ASSERT(nrows() == 120 && !fake.frame.partial && value(120, START_TIME) == 1);
	for (uint32_t pid = 2; pid <= 119; pid++)
		end(pid);
	fake_sample();
	CU_ASSERT(nrows() == 2 && has(120, UTIME));
	/* What was freed serves again. */
	for (uint32_t pid = 200; pid < 310; pid++)
		put_stat((struct process) { .pid = pid, .start = 1 });
	fake_sample();
	CU_ASSERT(nrows() == 112 && fake.ngrows == 0);
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
	CU_ASSERT(sizeof(struct task) + 3 * sizeof(uint32_t) + sizeof(struct text) <= 1024);
}

/* The command line is read once, and again after exec, which shows by the name or by the stack's new address. */
static void command_line(void)
{
	struct conf conf = defaults();

	conf.cmdline = CMDLINE_REDACTED;
	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1, .comm = "sh", .stack = 4096 });
	put("/proc/1/cmdline", "sh --token=secret");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(has_text(1, CMDLINE, "sh --token=*"));
	put("/proc/1/cmdline", "ignored");
	fake_sample();
	CU_ASSERT(has_text(1, CMDLINE, "sh --token=*") && fake.opened == 0);
	put_stat((struct process) { .pid = 1, .start = 1, .comm = "sh", .stack = 8192 });
	fake_sample();
	CU_ASSERT(has_text(1, CMDLINE, "ignored"));
	put("/proc/1/cmdline", "make");
	put_stat((struct process) { .pid = 1, .start = 1, .comm = "make", .stack = 8192 });
	fake_sample();
	CU_ASSERT(has_text(1, CMDLINE, "make") && has_text(1, COMM, "make"));
	put_stat((struct process) { .pid = 1, .start = 1, .comm = "zombie", .stack = 0 });
	put("/proc/1/cmdline", "%s", "");
	fake_sample();
	CU_ASSERT(!has(1, CMDLINE));
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

/* Each text stands once, however many processes have it; without room it is tried again in the next sample. */
static void texts_are_shared(void)
{
	enum { ROOM = 4095 };
	static uint32_t ids[ROOM + 2];
	struct conf conf = defaults();
	struct texts texts = { 0 };
	char text[TEXT_MOST + 1] = "";
	uint32_t twin = 0;

	fake_begin(&conf);
	CU_ASSERT_EQUAL(texts_start(&fake.self, &texts), 0);
	fake.sampling = true;
	for (uint32_t i = 0; i < ROOM; i++) {
		snprintf(text, sizeof text, "text %u", i);
		CU_ASSERT(texts_set(&fake.self, &texts, &ids[i], text, strlen(text)));
	}
	CU_ASSERT(texts_set(&fake.self, &texts, &twin, "text 7", 6) && twin == ids[7]);
	CU_ASSERT(!texts_set(&fake.self, &texts, &ids[ROOM], "one more", 8) && !ids[ROOM]);
	CU_ASSERT_EQUAL(fake.ngrows, 1);
	texts_drop(&texts, &ids[7]);
	CU_ASSERT(!texts_set(&fake.self, &texts, &ids[ROOM], "one more", 8)); /* its twin has it */
	texts_drop(&texts, &twin);
	CU_ASSERT(texts_set(&fake.self, &texts, &ids[ROOM], "one more", 8) && ids[ROOM]);
	CU_ASSERT(texts_set(&fake.self, &texts, &ids[3], "text 4", 6) && ids[3] == ids[4]);
	CU_ASSERT(!texts_set(&fake.self, &texts, &ids[4], text, TEXT_MOST + 1) && !ids[4]);
	grow_now(fake.grows[0].block, fake.grows[0].size);
	texts_grown(&texts);
	for (uint32_t i = 0; i < 2; i++)
		CU_ASSERT(texts_set(&fake.self, &texts, &ids[ROOM + i], i ? "a" : "b", 1));
	CU_ASSERT_EQUAL(texts.text[ids[5]].length, 6);
	fake.sampling = false;
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), -ENODEV);
	fake_end();
}

static void no_proc(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), -ENODEV);
	CU_ASSERT(strstr(fake.unavailable, "no processes in /proc") != NULL);
	fake_end();
}

const char suite[] = "process_sample";
CU_TestInfo tests[] = {
	{ "rows of all files", rows_of_all_files },
	{ "cases 41, 44: pid reused", pid_reused },
	{ "case 40: ends while read", ends_while_read },
	{ "no descriptors left", no_descriptors },
	{ "case 46: hidden", hidden },
	{ "denied", denied },
	{ "io not built in", io_not_built_in },
	{ "case 47: zombie leader", zombie_leader },
	{ "case 43: children's time apart", children_time_apart },
	{ "case 73: threads", threads },
	{ "case 74: run-queue wait unknown", sched_unknown },
	{ "delay accounting", delays },
	{ "many at once", many_at_once },
	{ "command line", command_line },
	{ "texts are shared", texts_are_shared },
	{ "no /proc", no_proc },
	CU_TEST_INFO_NULL,
};
