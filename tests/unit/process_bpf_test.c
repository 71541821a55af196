/* The collector `process` with source = bpf over a host in memory: records made by hand in place of the iterator's. Expected
 * values were worked out from fs/proc/array.c and kernel/sched/cputime.c. */
#include "process_plugin.h"

enum { TICK = 10000000, CPUS = 3 };

static struct made {
	struct record_task task;
	struct record_process process;
	record_u64 cpus[1];
} made;

static char stream[1 << 16] __attribute__((aligned(8)));
static size_t used;
static uint64_t more; /* bytes that the iterator had and that did not fit */
static int load_err;

static void add(const void *record, size_t size)
{
	memcpy(stream + used, record, size);
	used += size;
}

static int64_t give(const char *name, void *buffer, uint64_t size)
{
	struct record_total total = { used + more };

	if (strcmp(name, "bpf tasks") != 0)
		return strcmp(name, "bpf load") == 0 ? load_err : 0;
	CU_ASSERT_FATAL(sizeof total + used <= size);
	memcpy(buffer, &total, sizeof total);
	memcpy((char *)buffer + sizeof total, stream, used);
	return (int64_t)(sizeof total + used);
}

/* A process of one thread; a test changes what matters to it and then adds it. */
static void make(uint32_t pid, uint64_t start)
{
	made = (struct made) {
		.task = { .has = RECORD_LEADER | RECORD_MEMORY | RECORD_ADJUST | RECORD_SCHED |
				 RECORD_MEMS,
			  .pid = pid,
			  .tgid = pid,
			  .ppid = 1,
			  .state = 1,
			  .prio = 120,
			  .static_prio = 120,
			  .cpu = 2,
			  .start = start * TICK + 5,
			  .wait = 200,
			  .slices = 3,
			  .cpu_time = { .sum_exec = 1000 },
			  .comm = "task" },
		.process = { .pgrp = pid,
			     .session = 1,
			     .nr_threads = 1,
			     .uid = 5,
			     .total_vm = 10,
			     .mems = 1 },
		.cpus = { 5 },
	};
}

static void add_process(void)
{
	add(&made, sizeof made);
}

static void add_thread_of(uint32_t pid, uint32_t tid, uint64_t sum_exec)
{
	struct record_task thread = { .has = RECORD_ADJUST | RECORD_SCHED,
				      .pid = tid,
				      .tgid = pid,
				      .state = 0,
				      .prio = 120,
				      .static_prio = 120,
				      .start = 7 * TICK,
				      .cpu_time = { .sum_exec = sum_exec, .minflt = 2 } };

	thread.cpu_time.io.rchar = 100;
	add(&thread, sizeof thread);
}

static void add_idle(uint32_t pid, uint64_t start, uint64_t sum_exec)
{
	struct record_idle idle = {
		RECORD_LEADER | RECORD_SCHED | RECORD_IDLE, pid, start * TICK + 5, sum_exec, 200, 3
	};

	add(&idle, sizeof idle);
}

static struct conf begin_bpf(void)
{
	struct conf conf = defaults();

	conf.source = SOURCE_BPF;
	used = 0;
	more = 0;
	load_err = 0;
	return conf;
}

static int start_bpf(struct conf *conf)
{
	fake_begin(conf);
	fake.obtain = give;
	put("/sys/devices/system/cpu/possible", "0-2\n");
	put_process((struct process) { .pid = 1, .start = 2, .utime = 30, .comm = "init" });
	return sonde_plugin.start(&fake.self);
}

static void values(void)
{
	struct conf conf = begin_bpf();
	struct record_process *p = &made.process;

	CU_ASSERT_EQUAL(start_bpf(&conf), 0);
	make(20, 400);
	made.task.state = 0x402;
	made.task.prio = -1 + 100 - 50;
	made.task.static_prio = 115;
	made.task.rt_priority = 50;
	made.task.policy = 1;
	made.task.cpu_time = (struct record_cpu) {
		.utime = 3 * TICK, .stime = TICK, .sum_exec = 8 * TICK, .minflt = 6
	};
	made.task.cpu_time.io = (struct record_io) { 1, 2, 3, 4, 5, 6, 7 };
	p->ended = (struct record_cpu) { .minflt = 4, .prev_utime = TICK, .prev_stime = TICK };
	p->ended.io = (struct record_io) { 10, 20, 30, 40, 50, 60, 70 };
	p->cutime = 12 * TICK;
	p->cmajflt = 9;
	p->hiwater_vm = 9;
	p->locked_vm = 1;
	p->hiwater_rss = 100;
	p->pgtables_bytes = 8192;
	p->hugetlb_usage = 512;
	memcpy(p->rss, (long long[]) { 10, 20, 5, -3 }, sizeof p->rss);
	memcpy(p->approximate, (long long[]) { 11, -64, 5, 2 }, sizeof p->approximate);
	add_process();
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(nrows() == 2 && fake.nnotes == 0);
	/* The iterator had no record of the first process: /proc has. */
	CU_ASSERT(has_text(1, COMM, "init") && value(1, UTIME) == 30 && value(1, VM_RSS) == 28);
	CU_ASSERT(has_text(20, COMM, "task") && value(20, START_TIME) == 400 &&
		  has_text(20, STATE, "I"));
	CU_ASSERT(value(20, PRIORITY) == (uint64_t)-51 && value(20, NICE) == (uint64_t)-5);
	CU_ASSERT(value(20, RT_PRIORITY) == 50 && value(20, POLICY) == 1 &&
		  value(20, PROCESSOR) == 2);
	/* 8 ticks, of which samples gave a quarter to the kernel. */
	CU_ASSERT(value(20, UTIME) == 6 && value(20, STIME) == 2 && value(20, CUTIME) == 12);
	CU_ASSERT(value(20, MINFLT) == 10 && value(20, CMAJFLT) == 9 && value(20, VSIZE) == 40960);
	CU_ASSERT(value(20, RSS) == 13 && value(20, VM_RSS) == 120 && value(20, RSS_ANON) == 80);
	CU_ASSERT(value(20, RSS_FILE) == 40 && value(20, RSS_SHMEM) == 0 &&
		  value(20, VM_SWAP) == 20);
	CU_ASSERT(value(20, VM_HWM) == 400 && value(20, VM_PEAK) == 40 && value(20, VM_LCK) == 4);
	CU_ASSERT(value(20, VM_PTE) == 8 && value(20, HUGETLB_PAGES) == 2048 &&
		  value(20, UID) == 5);
	CU_ASSERT(has_text(20, CPUS_ALLOWED, "0,2") && has_text(20, MEMS_ALLOWED, "0"));
	CU_ASSERT(value(20, SCHED_RUN) == 8 * TICK && value(20, SCHED_WAIT) == 200);
	CU_ASSERT(value(20, RCHAR) == 11 && value(20, CANCELLED_WRITE_BYTES) == 77);
	/* The samples say otherwise now; what was told does not fall. */
	used = 0;
	made.task.cpu_time.utime = TICK;
	made.task.cpu_time.stime = 3 * TICK;
	made.task.cpu_time.sum_exec = 9 * TICK;
	add_process();
	fake_sample();
	CU_ASSERT(value(20, UTIME) == 6 && value(20, STIME) == 3);
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

static void kernel_threads_and_zombies(void)
{
	struct conf conf = begin_bpf();

	CU_ASSERT_EQUAL(start_bpf(&conf), 0);
	make(2, 0);
	made.task.has &= ~(uint32_t)RECORD_MEMORY;
	made.task.flags = PF_KTHREAD;
	made.task.cpu_time.sum_exec = made.task.wait = made.task.slices = 0;
	add_process();
	make(30, 9);
	made.task.has &= ~(uint32_t)RECORD_MEMORY;
	made.task.state = 0x80;
	made.task.exit_state = 0x20;
	add_process();
	fake_sample();
	CU_ASSERT(nrows() == 3 && value(2, KTHREAD) == 1 && !has(2, VM_RSS) && !has(2, VSIZE));
	CU_ASSERT(!has(2, SCHED_RUN) && has_text(30, STATE, "Z") && !has(30, RSS) &&
		  value(30, UID) == 5);
	fake_end();
}

static void threads_add_up(void)
{
	struct conf conf = begin_bpf();

	conf.threads = true;
	CU_ASSERT_EQUAL(start_bpf(&conf), 0);
	add_thread_of(20, 15, 50); /* the numbers wrapped */
	make(20, 400);
	made.process.nr_threads = 3;
	made.process.ended.sum_exec = 7 * TICK;
	add_process();
	add_thread_of(20, 31, TICK);
	fake_sample();
	CU_ASSERT(value(20, NUM_THREADS) == 3 && value(20, UTIME) == 8 && value(20, MINFLT) == 4);
	CU_ASSERT(value(20, RCHAR) == 200 && value(20, SCHED_RUN) == 1000);
	CU_ASSERT_EQUAL(value(20, THREADS_RUN), 1000 + 50 + TICK);
	CU_ASSERT_EQUAL(fake.frame.tables[TABLE_THREAD].nrows, 3);
	/* A thread ended in the middle: the sum would lack it, and the texts are read. */
	used = 0;
	add_process();
	add_thread_of(20, 31, TICK);
	put_process((struct process) { .pid = 20, .start = 400, .utime = 77, .threads = 3 });
	fake_sample();
	CU_ASSERT(value(20, UTIME) == 77 && value(20, START_TIME) == 400);
	fake_end();
}

/* Numbers wrap, and that of one who ended meanwhile comes again: each process has one row, its newest record's. */
static void in_any_order(void)
{
	static const uint32_t pids[] = { 30, 40, 20, 25, 22, 40 };
	struct conf conf = begin_bpf();

	CU_ASSERT_EQUAL(start_bpf(&conf), 0);
	for (uint32_t i = 0; i < sizeof pids / sizeof pids[0]; i++) {
		make(pids[i], 400 + i);
		made.process.uid = 100 + i;
		add_process();
	}
	fake_sample();
	CU_ASSERT(nrows() == 6 && value(30, UID) == 100 && value(20, UID) == 102);
	CU_ASSERT(value(25, UID) == 103 && value(22, UID) == 104);
	CU_ASSERT(value(40, UID) == 105 && value(40, START_TIME) == 405);
	fake_end();
}

/* Upper halves are kept too, below zero and above 32 bits; a row with more of them than find room is read again. */
static void wide_values(void)
{
	struct conf conf = begin_bpf();

	CU_ASSERT_EQUAL(start_bpf(&conf), 0);
	make(20, 400);
	made.task.prio = 80;
	made.process.total_vm = UINT64_C(1) << 30;
	made.task.cpu_time.sum_exec = UINT64_C(5) << 40;
	made.task.cpu_time.io.rchar = UINT64_C(7) << 33 | 9;
	add_process();
	make(21, 400);
	made.task.wait = made.task.nvcsw = made.task.nivcsw = UINT64_MAX / 2;
	memset(&made.task.cpu_time.io, 0x11, sizeof made.task.cpu_time.io);
	memset(&made.process.total_vm, 0x11, 7 * sizeof made.process.total_vm);
	made.process.ended.minflt = made.process.ended.majflt = UINT64_MAX / 2;
	made.process.cminflt = made.process.cmajflt = UINT64_MAX / 2;
	add_process();
	fake_sample();
	used = 0;
	add_idle(20, 400, UINT64_C(5) << 40);
	put_process((struct process) { .pid = 21, .start = 400, .utime = 66 });
	make(21, 400);
	add_idle(21, 400, 1000);
	fake_sample();
	CU_ASSERT(value(20, PRIORITY) == (uint64_t)-20 && value(20, VSIZE) == UINT64_C(4096) << 30);
	CU_ASSERT(value(20, SCHED_RUN) == UINT64_C(5) << 40 &&
		  value(20, RCHAR) == (UINT64_C(7) << 33 | 9));
	CU_ASSERT(value(20, SCHED_WAIT) == 200 && value(20, UID) == 5);
	CU_ASSERT_EQUAL(value(21, UTIME), 66);
	fake_end();
}

/* What is told as idle has the row of before, if its times agree; else the texts are read. */
static void idle(void)
{
	struct conf conf = begin_bpf();

	CU_ASSERT_EQUAL(start_bpf(&conf), 0);
	make(20, 400);
	add_process();
	make(21, 400);
	add_process();
	make(22, 400);
	add_process();
	fake_sample();
	used = 0;
	add_idle(20, 400, 1000);
	add_idle(21, 400, 1001);
	add_idle(22, 900, 1000); /* another process */
	put_process((struct process) { .pid = 21, .start = 400, .utime = 55 });
	put_process((struct process) { .pid = 22, .start = 900, .utime = 66 });
	fake_sample();
	CU_ASSERT(nrows() == 4 && value(20, UID) == 5 && has_text(20, CPUS_ALLOWED, "0,2"));
	CU_ASSERT(value(20, START_TIME) == 400 && value(20, UTIME) == 0 &&
		  has_text(20, COMM, "task"));
	CU_ASSERT(value(21, UTIME) == 55 && value(22, UTIME) == 66 && value(22, START_TIME) == 900);
	fake_end();
	CU_ASSERT_EQUAL(fake.open_now, 0);
}

/* The record says that it is in other groups; which, /proc tells, at once and not before. */
static void moved(void)
{
	struct conf conf = begin_bpf();

	CU_ASSERT_EQUAL(start_bpf(&conf), 0);
	make(20, 400);
	made.process.groups = 7;
	add_process();
	put("/proc/20/cgroup", "0::/a\n");
	fake_sample();
	CU_ASSERT(has_text(20, CGROUP, "/a"));
	put("/proc/20/cgroup", "0::/b\n");
	fake_sample();
	CU_ASSERT(has_text(20, CGROUP, "/a"));
	used = 0;
	made.process.groups = 9;
	add_process();
	fake_sample();
	CU_ASSERT(has_text(20, CGROUP, "/b"));
	fake_end();
}

/* No room, an end in the middle of a record, an error: /proc is read, for this sample or from then on. */
static void without_records(void)
{
	struct conf conf = begin_bpf();

	CU_ASSERT_EQUAL(start_bpf(&conf), 0);
	put_process((struct process) { .pid = 20, .start = 400, .utime = 77 });
	more = 1000000;
	fake_sample();
	CU_ASSERT(nrows() == 2 && value(20, UTIME) == 77 && fake.ngrows > 0);
	more = 0;
	make(20, 400);
	add_process();
	fake_sample();
	CU_ASSERT(nrows() == 2 && value(20, CPUS_ALLOWED) != UINT64_MAX);
	used -= 8;
	fake_sample();
	CU_ASSERT(nrows() == 2 && value(20, UTIME) == 77 && fake_noted("from here on"));
	fake_end();

	conf = begin_bpf();
	load_err = -EPERM;
	CU_ASSERT_EQUAL(start_bpf(&conf), 0);
	CU_ASSERT(fake_noted("not by BPF: it needs CAP_BPF and CAP_PERFMON"));
	fake_sample();
	CU_ASSERT(nrows() == 1 && has(1, UTIME));
	fake_end();
}

const char suite[] = "process_bpf";
CU_TestInfo tests[] = {
	{ "values", values },
	{ "kernel threads and zombies", kernel_threads_and_zombies },
	{ "threads add up", threads_add_up },
	{ "in any order", in_any_order },
	{ "wide values", wide_values },
	{ "idle", idle },
	{ "moved", moved },
	{ "without records", without_records },
	CU_TEST_INFO_NULL,
};
