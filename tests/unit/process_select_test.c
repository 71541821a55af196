/* The collector `process` over a host in memory: who is chosen, who gets a row, whose descriptors are kept. Numbers are those
 * of the cases that broke other tools. */
#include "process_plugin.h"

/* Case 42: who belongs stays, whoever becomes its parent; who is not of the tree never gets a row. */
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

/* Case 138: more processes than `max`: the busiest get rows, the others are counted, and one that wakes up is found. */
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

static const char *const group[] = { "/a.slice/" }, *const unit[] = { "web" };
static const char *const name[] = { "post*" }, *const long_name[] = { "a-name-of-twenty-char" };

static void put_cgroup(uint32_t pid, const char *path)
{
	char file[32];

	snprintf(file, sizeof file, "/proc/%u/cgroup", pid);
	put(file, "0::%s\n", path);
}

static void put_services(void)
{
	put_process((struct process) { .pid = 1, .start = 1, .comm = "init" });
	put_process((struct process) { .pid = 20, .start = 2, .comm = "postmaster" });
	put_process((struct process) { .pid = 21, .start = 2, .comm = "nginx" });
	put_process((struct process) { .pid = 22, .start = 2, .comm = "a-name-of-twent" });
	put_cgroup(1, "/init.scope");
	put_cgroup(20, "/a.slice");
	put_cgroup(21, "/a.slice/web.service/worker:1");
	put_cgroup(22, "/a.slices/web.services");
}

static void chosen_by_what_they_are(void)
{
	struct conf conf = defaults(), bad = defaults();

	conf.cgroup = list_of(group);
	fake_begin(&conf);
	put_services();
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(nrows() == 2 && has_text(20, CGROUP, "/a.slice") &&
		  has_text(20, COMM, "postmaster"));
	CU_ASSERT(has_text(21, CGROUP, "/a.slice/web.service/worker:1"));
	CU_ASSERT_EQUAL(total(TOTAL_LISTED), 4);
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);

	conf = defaults();
	conf.unit = list_of(unit);
	fake_begin(&conf);
	put_services();
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(nrows() == 1 && has(21, CGROUP));
	fake_end();

	/* Any of several reasons is enough. */
	conf.name = list_of(long_name);
	fake_begin(&conf);
	put_services();
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(nrows() == 2 && has(21, CGROUP) && has(22, CGROUP));
	fake_end();

	bad.cgroup = list_of(name);
	fake_begin(&bad);
	CU_ASSERT_EQUAL(sonde_plugin.check(&fake.self), -EINVAL);
	bad = defaults();
	bad.name = bad.pids = list_of(name);
	CU_ASSERT_EQUAL(sonde_plugin.check(&fake.self), -EINVAL);
	CU_ASSERT_EQUAL(fake.nlogs, 2);
	fake_end();
}

/* A choice that fits nobody is told, before what the kernel does not count: what is missing is missing for that. */
static void nobody_is_chosen(void)
{
	static const char *const nobody[] = { "nosuchunit" }, *const where[] = { "/nosuch" };
	static const char first[] = "no process is in cgroup = /nosuch when this begins";
	struct conf conf = defaults();

	conf.unit = list_of(nobody);
	conf.cgroup = list_of(where);
	fake_begin(&conf);
	put_services();
	put("/proc/sys/kernel/task_delayacct", "0\n");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(nrows() == 0 && strncmp(fake.notes[0], first, strlen(first)) == 0);
	CU_ASSERT(fake_noted("no process is in unit = nosuchunit"));
	CU_ASSERT(fake_noted("kernel.task_delayacct=1"));
	CU_ASSERT_EQUAL(fake.nlogs, 2);
	fake_end();

	/* One of two choices fits: the other alone is told. */
	conf.cgroup = list_of(group);
	fake_begin(&conf);
	put_services();
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(nrows() == 2 && fake_noted("no process is in unit = nosuchunit"));
	CU_ASSERT(fake.nlogs == 1 && !fake_noted("in cgroup ="));
	fake_end();
}

/* Between fork and exec a process has its parent's name; a service may start later, and be moved. */
static void chosen_later(void)
{
	struct conf conf = defaults();

	conf.name = list_of(name);
	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1, .comm = "init" });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT_EQUAL(nrows(), 0);
	put_process((struct process) { .pid = 9, .start = 5, .comm = "sh" });
	fake_sample();
	CU_ASSERT_EQUAL(nrows(), 0);
	put_stat((struct process) { .pid = 9, .start = 5, .comm = "postgres" });
	fake_sample();
	CU_ASSERT(nrows() == 1 && has_text(9, COMM, "postgres"));
	put_stat((struct process) { .pid = 9, .start = 5, .comm = "sh" });
	fake_sample();
	CU_ASSERT(nrows() == 0 && fake.open_now == 0);
	/* Long after, it is looked at now and then. */
	for (int i = 0; i < 20; i++)
		fake_sample();
	put_stat((struct process) { .pid = 9, .start = 5, .comm = "postgres" });
	for (int i = 0; i < 16; i++)
		fake_sample();
	CU_ASSERT_EQUAL(nrows(), 1);
	fake_end();

	conf = defaults();
	conf.cgroup = list_of(group);
	fake_begin(&conf);
	put_process((struct process) { .pid = 9, .start = 5 });
	put_cgroup(9, "/b");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT_EQUAL(nrows(), 0);
	put_cgroup(9, "/a.slice/x");
	for (int i = 0; i < 16; i++)
		fake_sample();
	CU_ASSERT(nrows() == 1 && has_text(9, CGROUP, "/a.slice/x"));
	put_cgroup(9, "/b");
	for (int i = 0; i < 64; i++)
		fake_sample();
	CU_ASSERT_EQUAL(nrows(), 0);
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

/* Cases 43, 44: CPU time of the subtree, ticks, worked out by hand. Every process made by put_stat() has stime 1. */
static void time_of_the_subtree(void)
{
	static const char *const root[] = { "10" };
	struct conf conf = defaults();

	conf.subtree = list_of(root);
	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1, .cutime = 7 });
	put_process(
		(struct process) { .pid = 10, .ppid = 1, .start = 10, .utime = 4, .cutime = 20 });
	put_process((struct process) { .pid = 11, .ppid = 10, .start = 11, .utime = 9 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT_EQUAL(total(TOTAL_CPU), (4 + 1 + 20) + (9 + 1));
	/* 11 used 5 more, ended and was waited for; so was one that lived between the samples and used 3. */
	end(11);
	put_stat((struct process) {
		.pid = 10, .ppid = 1, .start = 10, .utime = 4, .cutime = 20 + 15 + 3 });
	fake_sample();
	CU_ASSERT_EQUAL(total(TOTAL_CPU), (4 + 1 + 20) + 15 + 3);
	/* 12 and its child end in one interval, and all that they used goes to 10. */
	put_process((struct process) { .pid = 12, .ppid = 10, .start = 12, .utime = 2 });
	put_process((struct process) { .pid = 13, .ppid = 12, .start = 13, .utime = 6 });
	fake_sample();
	CU_ASSERT_EQUAL(total(TOTAL_CPU), 43 + 3 + 7);
	end(12);
	end(13);
	put_stat((struct process) {
		.pid = 10, .ppid = 1, .start = 10, .utime = 4, .cutime = 38 + 12 });
	fake_sample();
	CU_ASSERT_EQUAL(total(TOTAL_CPU), 43 + 12);
	/* Its parent ignores SIGCHLD: what was seen of 14 stays; init's time is none of the tree's. */
	put_process((struct process) { .pid = 14, .ppid = 10, .start = 14, .utime = 100 });
	fake_sample();
	end(14);
	put_stat((struct process) { .pid = 1, .start = 1, .cutime = 360007 });
	fake_sample();
	CU_ASSERT_EQUAL(total(TOTAL_CPU), 55 + 101);
	/* The time comes before the child is seen to be gone: it answers ESRCH, or is a zombie no more at the next listing. */
	put_process((struct process) { .pid = 15, .ppid = 10, .start = 15, .utime = 30 });
	fake_sample();
	CU_ASSERT_EQUAL(total(TOTAL_CPU), 156 + 31);
	put_stat((struct process) {
		.pid = 10, .ppid = 1, .start = 10, .utime = 4, .cutime = 50 + 31 });
	fake_find("/proc/15/stat")->read_err = ESRCH;
	fake_sample();
	CU_ASSERT_EQUAL(total(TOTAL_CPU), 156 + 31);
	end(15);
	fake_sample();
	CU_ASSERT_EQUAL(total(TOTAL_CPU), 156 + 31);
	/* The root ends, its number goes to a stranger: the tree's time stands. */
	end(10);
	put_process((struct process) { .pid = 10, .ppid = 1, .start = 99, .utime = 5000 });
	fake_sample();
	fake_sample();
	CU_ASSERT(nrows() == 0 && total(TOTAL_CPU) == 187);
	fake_end();
}

static struct conf often(void)
{
	fake.self.interval = 100000000;
	return defaults();
}

/* Below a second only schedstat is read of what did not run; of each process all is read once a second, not at one tick. */
static void idle_ones_are_not_read(void)
{
	struct conf conf;
	uint32_t least = UINT32_MAX, most = 0, all = 0;

	fake_begin(&conf);
	conf = often();
	for (uint32_t pid = 1; pid <= 20; pid++)
		put_process((struct process) { .pid = pid, .start = pid, .utime = 3 });
	put_process((struct process) { .pid = 30, .start = 30, .threads = 2 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	for (int i = 0; i < 10; i++) {
		fake_sample();
		CU_ASSERT_EQUAL(nrows(), 21);
		CU_ASSERT(value(20, START_TIME) == 20 && value(20, UTIME) == 3);
		CU_ASSERT(has_text(20, COMM, "task") && has_text(20, STATE, "S"));
		CU_ASSERT(value(20, VM_RSS) == 28 && value(20, RCHAR) == 11 &&
			  value(20, SCHED_WAIT) == 200);
		least = fake.reads < least ? fake.reads : least;
		most = fake.reads > most ? fake.reads : most;
		all += fake.reads;
	}
	/* Twenty schedstats, of two all four files, and of the one with threads. */
	CU_ASSERT(least == 18 + 2 * 4 + 4 && most == least && all == 10 * least);
	/* One runs: it is read at once, whichever turn it is. */
	put("/proc/7/schedstat", "1001 200 4\n");
	put_stat((struct process) { .pid = 7, .start = 7, .utime = 4, .state = 'R' });
	put("/proc/7/io", "rchar: 12\n");
	fake_sample();
	CU_ASSERT(value(7, UTIME) == 4 && value(7, RCHAR) == 12 && value(7, SCHED_RUN) == 1001);
	CU_ASSERT(has_text(7, STATE, "R"));
	/* One that ended and another with its number. */
	end(8);
	put_process((struct process) { .pid = 8, .start = 900, .utime = 1 });
	end(9);
	fake_sample();
	CU_ASSERT(nrows() == 20 && value(8, START_TIME) == 900 && !fake_row_of(9));
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

/* /proc is not listed where /proc/loadavg says that no task began or ended, but once a second. */
static void no_listing_without_births(void)
{
	struct conf conf;

	fake_begin(&conf);
	conf = often();
	put_process((struct process) { .pid = 1, .start = 1 });
	put("/proc/loadavg", "0.00 0.01 0.05 1/70 1234\n");
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	put_process((struct process) { .pid = 5, .start = 5 }); /* unheard of */
	fake_sample();
	CU_ASSERT_EQUAL(nrows(), 1);
	put("/proc/loadavg", "0.00 0.01 0.05 2/71 1235\n");
	fake_sample();
	CU_ASSERT_EQUAL(nrows(), 2);
	put_process((struct process) { .pid = 6, .start = 5 });
	for (int i = 0; i < 10; i++)
		fake_sample();
	CU_ASSERT_EQUAL(nrows(), 3);
	put("/proc/loadavg", "0.00 0.01");
	end(6);
	fake_sample();
	CU_ASSERT(nrows() == 2 && total(TOTAL_LISTED) == 2);
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

static struct event told[8];
static size_t ntold;
static int told_err;

static int64_t tell_events(const char *what, void *buffer, uint64_t size)
{
	size_t length = ntold * sizeof told[0];

	if (strcmp(what, "process events") != 0)
		return -EPERM;
	if (!fake.sampling)
		return 0;
	if (!ntold)
		return told_err ? told_err : -EAGAIN;
	CU_ASSERT_FATAL(length <= size);
	memcpy(buffer, told, length);
	ntold = 0;
	return (int64_t)length;
}

static void tell_of(uint32_t what, uint32_t pid)
{
	told[ntold++] = (struct event) { what, pid, pid };
}

/* /proc is listed at the start, and when events were lost. */
static void births_by_events(void)
{
	static const char *const root[] = { "10" };
	struct conf conf = defaults();

	fake_begin(&conf);
	fake.obtain = tell_events;
	put_process((struct process) { .pid = 1, .start = 1 });
	put_process((struct process) { .pid = 10, .ppid = 1, .start = 10 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	put_process((struct process) { .pid = 12, .ppid = 10, .start = 12 });
	put_process((struct process) { .pid = 5, .ppid = 10, .start = 13 });
	put_process((struct process) { .pid = 99, .ppid = 10, .start = 14 }); /* unheard of */
	tell_of(PROC_EVENT_FORK, 12);
	tell_of(PROC_EVENT_FORK, 5); /* the numbers wrapped */
	tell_of(PROC_EVENT_FORK, 50);
	tell_of(PROC_EVENT_EXIT, 50);
	fake_sample();
	CU_ASSERT(nrows() == 4 && has(5, UTIME) && has(12, UTIME) && total(TOTAL_VANISHED) == 1);
	/* A zombie is there until it is waited for. */
	tell_of(PROC_EVENT_EXIT, 12);
	fake_sample();
	CU_ASSERT(nrows() == 4 && has(12, UTIME));
	end(12);
	fake_sample();
	CU_ASSERT_EQUAL(nrows(), 3);
	/* Its number goes to another one. */
	put_process((struct process) { .pid = 12, .ppid = 1, .start = 90 });
	tell_of(PROC_EVENT_FORK, 12);
	tell_of(PROC_EVENT_FORK, 12);
	fake_sample();
	CU_ASSERT(nrows() == 4 && value(12, START_TIME) == 90);
	end(12);
	put_process((struct process) { .pid = 12, .ppid = 1, .start = 95 });
	tell_of(PROC_EVENT_EXIT, 12);
	tell_of(PROC_EVENT_FORK, 12);
	fake_sample();
	CU_ASSERT(nrows() == 4 && value(12, START_TIME) == 95);
	told_err = -ENOBUFS;
	fake_sample();
	told_err = 0;
	CU_ASSERT(nrows() == 5 && has(99, UTIME) && !has(50, UTIME));
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);

	/* Of strangers, which are not read, an end is believed at once. */
	conf.subtree = list_of(root);
	fake_begin(&conf);
	fake.obtain = tell_events;
	put_process((struct process) { .pid = 1, .start = 1 });
	put_process((struct process) { .pid = 10, .ppid = 1, .start = 10 });
	put_process((struct process) { .pid = 11, .ppid = 1, .start = 10 });
	CU_ASSERT_EQUAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(nrows() == 1 && total(TOTAL_LISTED) == 3);
	tell_of(PROC_EVENT_EXIT, 11);
	tell_of(PROC_EVENT_FORK, 12);
	put_process((struct process) { .pid = 12, .ppid = 10, .start = 12 });
	fake_sample();
	CU_ASSERT(nrows() == 2 && total(TOTAL_LISTED) == 3 && has(12, UTIME));
	fake_end();
}

static const char *const tree_root[] = { "100" };

/* The child of one that is chosen by its name is of the tree as well; sonde itself, the root, is not. */
static void a_tree_and_a_name(void)
{
	static const char *const server[] = { "server" };
	struct conf conf = defaults();

	conf.subtree = list_of(tree_root);
	conf.name = list_of(server);
	fake_begin(&conf);
	put_process((struct process) { .pid = 1, .start = 1 });
	put_process((struct process) { .pid = 20, .ppid = 1, .start = 2, .comm = "server" });
	put_process((struct process) { .pid = 21, .ppid = 20, .start = 3, .comm = "worker" });
	put_process((struct process) { .pid = 22, .ppid = 1, .start = 3, .comm = "other" });
	put_process((struct process) { .pid = 100, .ppid = 1, .start = 5, .comm = "make" });
	put_process((struct process) { .pid = 101, .ppid = 100, .start = 6, .comm = "cc" });
	CU_ASSERT_EQUAL_FATAL(sonde_plugin.start(&fake.self), 0);
	fake_sample();
	CU_ASSERT(nrows() == 4 && has(20, UTIME) && has(21, UTIME) && has(100, UTIME) &&
		  has(101, UTIME));
	CU_ASSERT_EQUAL(total(TOTAL_SUBTREE), 100);
	/* One that starts later, and its child after that. */
	put_process((struct process) { .pid = 200, .ppid = 1, .start = 10, .comm = "server" });
	fake_sample();
	put_process((struct process) { .pid = 201, .ppid = 200, .start = 11, .comm = "worker" });
	fake_sample();
	CU_ASSERT(has(200, UTIME) && has(201, UTIME) && !fake_row_of(22));
	fake_end();
}

const char suite[] = "process_select";
CU_TestInfo tests[] = {
	{ "case 42: subtree", subtree },
	{ "chosen pids", chosen_pids },
	{ "chosen files", chosen_files },
	{ "case 138: more than max", more_than_max },
	{ "fewer descriptors", fewer_descriptors },
	{ "free place", free_place },
	{ "chosen by control group, unit, name", chosen_by_what_they_are },
	{ "nobody is chosen", nobody_is_chosen },
	{ "chosen later", chosen_later },
	{ "cases 43, 44: CPU time of the subtree", time_of_the_subtree },
	{ "idle ones are not read", idle_ones_are_not_read },
	{ "no listing without births", no_listing_without_births },
	{ "births by events", births_by_events },
	{ "a tree and a name", a_tree_and_a_name },
	CU_TEST_INFO_NULL,
};
