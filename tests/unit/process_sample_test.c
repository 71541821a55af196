/* The collector `process` over a host in memory: who gets a row, when files are opened, what comes of processes that end,
 * hide, or take another's number. Numbers are those of the cases that broke other tools. */
#include <stdio.h>

#include "plugins/process/parse.c"
#include "plugins/process/process.c"
#include "plugins/process/row.c"
#include "plugins/process/select.c"
#include "plugins/process/table.c"
#include "plugins/process/tasks.c"
#include "plugins/process/threads.c"
#include "process_host.h"
#include "test.h"

static const char *const all_files[] = { "stat status schedstat io" };

static struct conf defaults(void)
{
	return (struct conf) { .files = { all_files, 1, 0 }, .max = 4096 };
}

static struct sonde_list list_of(const char *const *item)
{
	return (struct sonde_list) { item, 1, 0 };
}

/* What a test says of a process; the rest is made up. */
struct process {
	uint32_t pid, ppid, pgrp, threads;
	uint64_t start, utime, cutime, stack;
	const char *comm;
	char state;
};

static void put_stat(struct process p)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%u/stat", p.pid);
	put(path,
	    "%u (%s) %c %u %u 1 0 -1 4194304 9 0 0 0 %llu 1 %llu 0 20 0 %u 0 %llu 4096 7 18446744073709551615 1 1 %llu "
	    "0 0 0 0 0 0 0 0 0 17 3 0 0 2 0 0\n",
	    p.pid, p.comm ? p.comm : "task", p.state ? p.state : 'S', p.ppid,
	    p.pgrp ? p.pgrp : p.pid, (unsigned long long)p.utime, (unsigned long long)p.cutime,
	    p.threads ? p.threads : 1, (unsigned long long)p.start, (unsigned long long)p.stack);
}

static void put_process(struct process p)
{
	char path[32];

	put_stat(p);
	snprintf(path, sizeof path, "/proc/%u/status", p.pid);
	put(path, "Name:\tx\nUid:\t5\t5\t5\t5\nVmRSS:\t 28 kB\nvoluntary_ctxt_switches:\t4\n");
	snprintf(path, sizeof path, "/proc/%u/schedstat", p.pid);
	put(path, "1000 200 3\n");
	snprintf(path, sizeof path, "/proc/%u/io", p.pid);
	put(path, "rchar: 11\nwchar: 12\nsyscr: 13\nsyscw: 14\nread_bytes: 15\n");
}

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

/* 41: another process under the same number within one interval. 44: what it did before it was seen first is in its row. */
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

/* 40: a process that ends between listing and reading is no error. One that ends later keeps what was read. */
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

/* 46: hidepid=1 lists what it does not let be read. */
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

/* 47: the leader thread is a zombie, the process lives: its memory is not known. */
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

/* 43: time of children that were waited for has columns of its own. */
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

/* 42: who belongs stays, whoever becomes its parent; who is not of the tree never gets a row. */
static void subtree(void)
{
	static const char *const root[] = { "880" };
	struct conf conf = defaults();

	conf.subtree = list_of(root);
	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1 });
	put_process((struct process) { .pid = 2, .start = 1 });
	put_process((struct process) { .pid = 880, .ppid = 1, .start = 10 });
	put_process((struct process) { .pid = 900, .ppid = 880, .start = 20 });
	put_process(
		(struct process) { .pid = 50, .ppid = 900, .start = 30 }); /* the numbers wrapped */
	put_process((struct process) { .pid = 40, .ppid = 50, .start = 31 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(nrows() == 4 && has(880, UTIME) && has(900, UTIME) && has(50, UTIME));
	CU_ASSERT(has(40, UTIME));
	/* The root ends, a subreaper takes the orphan; a member's child is born; so is a stranger. */
	end(880);
	put_stat((struct process) { .pid = 900, .ppid = 2, .start = 20 });
	put_process((struct process) { .pid = 950, .ppid = 900, .start = 40 });
	put_process((struct process) { .pid = 951, .ppid = 2, .start = 40 });
	fake_sample();
	CU_ASSERT(nrows() == 4 && value(900, PPID) == 2 && value(900, START_TIME) == 20);
	CU_ASSERT(has(950, UTIME) && !fake_row_of(951));
	/* Its parent ended before the sample; the process group's leader is known. */
	put_process((struct process) { .pid = 960, .ppid = 1, .pgrp = 900, .start = 50 });
	fake_sample();
	CU_ASSERT(has(960, UTIME));
	/* A stranger gets a member's number. */
	end(950);
	put_process((struct process) { .pid = 950, .ppid = 1, .start = 60 });
	fake_sample();
	fake_sample();
	CU_ASSERT(!fake_row_of(950) && nrows() == 4);
	/* A member's child gets a stranger's number: it is found within 16 samples. */
	end(951);
	put_process((struct process) { .pid = 951, .ppid = 900, .start = 70 });
	for (int i = 0; i < 16; i++)
		fake_sample();
	CU_ASSERT(has(951, UTIME));
	/* The number of a stranger's parent that ended goes to a member's child: that makes the stranger no member. */
	put_process((struct process) { .pid = 970, .ppid = 1, .start = 80 });
	put_process((struct process) { .pid = 971, .ppid = 970, .start = 81 });
	fake_sample();
	end(970);
	fake_sample();
	put_process((struct process) { .pid = 970, .ppid = 900, .start = 90 });
	fake_sample();
	CU_ASSERT(has(970, UTIME) && !fake_row_of(971));
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

static void chosen_pids(void)
{
	static const char *const pids[] = { "7, 9 7" }, *const none[] = { "77" };
	static const char *const bad[] = { "7, x9" }, *const big[] = { "4294967296" };
	struct conf conf = defaults();

	conf.pids = list_of(pids);
	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1 });
	put_process((struct process) { .pid = 7, .ppid = 1, .start = 10 });
	put_process((struct process) { .pid = 8, .ppid = 7, .start = 10 });
	CU_ASSERT_EQUAL(sonde_plugin.check(&fake.self), 0);
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	CU_ASSERT(fake_noted("no process 9"));
	fake_sample();
	CU_ASSERT(nrows() == 1 && has(7, UTIME) && total(TOTAL_LISTED) == 2);
	end(7);
	fake_sample();
	CU_ASSERT(nrows() == 0 && total(TOTAL_VANISHED) == 1);
	/* Another one with this number was not chosen. */
	put_process((struct process) { .pid = 7, .ppid = 1, .start = 90 });
	fake_sample();
	CU_ASSERT(nrows() == 0 && fake.reads == 0);
	fake_end();

	conf.pids = list_of(none);
	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), -ENODEV);
	CU_ASSERT(strstr(fake.unavailable, "none of the processes") != NULL);
	conf.pids = list_of(bad);
	CU_ASSERT_EQUAL(sonde_plugin.check(&fake.self), -EINVAL);
	conf.pids = list_of(big);
	CU_ASSERT_EQUAL(sonde_plugin.check(&fake.self), -EINVAL);
	conf.subtree = list_of(none);
	conf.pids = list_of(pids);
	CU_ASSERT_EQUAL(sonde_plugin.check(&fake.self), -EINVAL);
	CU_ASSERT_EQUAL(fake.nlogs, 3);
	fake_end();
}

static void chosen_files(void)
{
	static const char *const some[] = { "io" }, *const bad[] = { "stat statm" };
	struct conf conf = defaults();

	conf.files = list_of(some);
	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(has(1, UTIME) && has(1, RCHAR) && !has(1, VM_RSS) && !has(1, SCHED_RUN));
	CU_ASSERT(fake.reads == 2 && fake.nnotes == 0);
	conf.files = list_of(bad);
	CU_ASSERT_EQUAL(sonde_plugin.check(&fake.self), -EINVAL);
	fake_end();
}

/* 73: all threads are summed, and one that ends takes nothing away. */
static void threads(void)
{
	struct conf conf = defaults();

	conf.threads = true;
	fake_begin(&conf);
	put_process((struct process) { .pid = 5, .start = 1, .threads = 3 });
	put_process((struct process) { .pid = 6, .start = 1 });
	put("/proc/5/task/5/schedstat", "1000 200 3\n");
	put("/proc/5/task/70/schedstat", "50 60 2\n");
	put("/proc/5/task/8/schedstat", "10493764364074 508452504298 149067570\n");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(value(5, SCHED_RUN) == 1000 && value(5, SCHED_WAIT) == 200);
	CU_ASSERT_EQUAL(value(5, THREADS_RUN), 10493764365124);
	CU_ASSERT_EQUAL(value(5, THREADS_WAIT), 508452504558);
	CU_ASSERT_EQUAL(value(5, THREADS_SLICES), 149067575);
	CU_ASSERT(value(6, THREADS_RUN) == 1000 && value(6, THREADS_SLICES) == 3);
	/* 8 ended, 71 was born, 70 ran 25 ns more, and the leader 1. */
	fake_find("/proc/5/task/8/schedstat")->read_err = ESRCH;
	put("/proc/5/task/71/schedstat", "7 0 1\n");
	put("/proc/5/task/70/schedstat", "75 61 3\n");
	put("/proc/5/task/5/schedstat", "1001 200 3\n");
	fake_sample();
	CU_ASSERT_EQUAL(value(5, THREADS_RUN), 10493764365124 + 7 + 25 + 1);
	CU_ASSERT_EQUAL(value(5, THREADS_WAIT), 508452504558 + 1);
	CU_ASSERT_EQUAL(value(5, THREADS_SLICES), 149067575 + 1 + 1);
	/* Only the leader is left. */
	put_stat((struct process) { .pid = 5, .start = 1, .threads = 1 });
	put("/proc/5/schedstat", "1011 200 3\n");
	fake_sample();
	CU_ASSERT_EQUAL(value(5, THREADS_RUN), 10493764365124 + 7 + 25 + 11);
	/* One that lives but can't be read makes the sum unknown, and is not counted twice afterwards. */
	put_stat((struct process) { .pid = 5, .start = 1, .threads = 2 });
	fake_find("/proc/5/task/70/schedstat")->err = EMFILE;
	fake_sample();
	CU_ASSERT(!has(5, THREADS_RUN) && value(5, SCHED_RUN) == 1011);
	fake_find("/proc/5/task/70/schedstat")->err = 0;
	fake_sample();
	CU_ASSERT_EQUAL(value(5, THREADS_RUN), 10493764365124 + 7 + 25 + 11);
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

/* 74: no schedstat at all, or one that counts nothing. */
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
	CU_ASSERT(fake_noted("kernel.task_delayacct=1"));
	fake_sample();
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

/* 138: more processes than `max`: the busiest get rows, the others are counted, and one that wakes up is found. */
static void more_than_max(void)
{
	struct conf conf = defaults();

	conf.max = 3;
	fake_begin(&conf);
	for (uint32_t pid = 1; pid <= 20; pid++)
		put_process((struct process) { .pid = pid, .start = 1 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(nrows() == 3 && fake.frame.partial);
	CU_ASSERT(total(TOTAL_LISTED) == 20 && total(TOTAL_ROWS) == 3 &&
		  total(TOTAL_OMITTED) == 17);
	CU_ASSERT(fake_noted("17 of 20 processes are left out"));
	/* A bound on what a sample costs: three rows of four files, and one stat more. */
	CU_ASSERT(fake.reads <= 3 * 4 + 1);
	/* Once all have been looked at and found idle, 14 and 18 wake up. */
	for (int i = 0; i < 100; i++)
		fake_sample();
	for (uint64_t tick = 100; tick <= 40 * 100; tick += 100) {
		put_stat((struct process) { .pid = 14, .start = 1, .utime = tick });
		put_stat((struct process) { .pid = 18, .start = 1, .utime = tick });
		fake_sample();
	}
	CU_ASSERT(nrows() == 3 && value(14, UTIME) == 4000 && value(18, UTIME) == 4000);
	CU_ASSERT_EQUAL(fake.open_now, 3 * 4);
	CU_ASSERT_EQUAL(fake.nnotes, 1);
	/* With 17 of them gone there is room for all. */
	for (uint32_t pid = 1; pid <= 17; pid++)
		end(pid);
	fake_sample();
	CU_ASSERT(nrows() == 3 && !fake.frame.partial && has(19, UTIME) && has(20, UTIME));
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

/* With fewer descriptors than files the busiest processes keep theirs. */
static void fewer_descriptors(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	fake.self.descriptors = 8;
	for (uint32_t pid = 1; pid <= 5; pid++)
		put_process((struct process) { .pid = pid, .start = 1 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(nrows() == 5 && fake.open_now == 8 && !fake.frame.partial);
	for (uint64_t tick = 100; tick <= 300; tick += 100) {
		put_stat((struct process) { .pid = 4, .start = 1, .utime = tick });
		put_stat((struct process) { .pid = 5, .start = 1, .utime = tick });
		fake_sample();
		CU_ASSERT(nrows() == 5 && fake.open_now == 8);
	}
	CU_ASSERT_EQUAL(fake.opened, 3 * 4);
	CU_ASSERT(value(4, UTIME) == 300 && value(1, RCHAR) == 11);
	for (uint32_t i = 0; i < fake.nfiles; i++)
		fake.files[i].opened = 0;
	fake_sample();
	CU_ASSERT(fake_find("/proc/4/stat")->opened == 0 && fake_find("/proc/5/io")->opened == 0);
	CU_ASSERT(fake_find("/proc/1/stat")->opened == 1 && fake_find("/proc/3/io")->opened == 1);
	/* One of two places is free: one process takes it. */
	end(4);
	fake_sample();
	CU_ASSERT(nrows() == 4 && fake.open_now == 8);
	/* What was busy long ago gives way to what is a little busy now. */
	for (uint64_t tick = 1; tick <= 60; tick++) {
		put_stat((struct process) { .pid = 2, .start = 1, .utime = tick });
		put_stat((struct process) { .pid = 3, .start = 1, .utime = tick });
		fake_sample();
	}
	CU_ASSERT_EQUAL(fake.opened, 2 * 4);
	for (uint32_t i = 0; i < fake.nfiles; i++)
		fake.files[i].opened = 0;
	fake_sample();
	CU_ASSERT(fake_find("/proc/2/stat")->opened == 0 && fake_find("/proc/3/stat")->opened == 0);
	CU_ASSERT(fake_find("/proc/1/stat")->opened == 1 && fake_find("/proc/5/stat")->opened == 1);
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

/* Among equals the place that one left goes to one other; who has a place keeps it. */
static void free_place(void)
{
	struct conf conf = defaults();

	fake_begin(&conf);
	fake.self.descriptors = 8;
	for (uint32_t pid = 1; pid <= 5; pid++)
		put_process((struct process) { .pid = pid, .start = 1 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	end(1);
	fake_sample();
	CU_ASSERT(nrows() == 4 && fake.open_now == 8);
	for (uint32_t i = 0; i < fake.nfiles; i++)
		fake.files[i].opened = 0;
	fake_sample();
	CU_ASSERT(fake_find("/proc/2/stat")->opened == 0 && fake_find("/proc/3/stat")->opened == 0);
	CU_ASSERT(fake_find("/proc/4/stat")->opened == 1 && fake_find("/proc/5/stat")->opened == 1);
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
	CU_ASSERT(sizeof(struct task) + 3 * sizeof(uint32_t) + CMDLINE_MOST <= 1024);
}

/* The command line is read once, and again after exec, which shows by the name or by the stack's new address. */
static void command_line(void)
{
	struct conf conf = defaults();

	conf.cmdline = CMDLINE_REDACTED;
	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1, .comm = "sh", .stack = 4096 });
	put("/proc/1/cmdline", "sh -c secret");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(has_text(1, CMDLINE, "sh *"));
	put("/proc/1/cmdline", "ignored");
	fake_sample();
	CU_ASSERT(has_text(1, CMDLINE, "sh *") && fake.opened == 0);
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
	{ "pid reused (41, 44)", pid_reused },
	{ "ends while read (40)", ends_while_read },
	{ "no descriptors left", no_descriptors },
	{ "hidden (46)", hidden },
	{ "denied", denied },
	{ "zombie leader (47)", zombie_leader },
	{ "children's time apart (43)", children_time_apart },
	{ "subtree (42)", subtree },
	{ "chosen pids", chosen_pids },
	{ "chosen files", chosen_files },
	{ "threads (73)", threads },
	{ "run-queue wait unknown (74)", sched_unknown },
	{ "delay accounting", delays },
	{ "more than max (138)", more_than_max },
	{ "fewer descriptors", fewer_descriptors },
	{ "free place", free_place },
	{ "many at once", many_at_once },
	{ "command line", command_line },
	{ "no /proc", no_proc },
	CU_TEST_INFO_NULL,
};
