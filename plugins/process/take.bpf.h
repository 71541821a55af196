/* A task's record as the BPF programs make it. Of the kernel's structs only what is read stands here; where that lies in the
 * running kernel libbpf finds in its BTF. Where it goes the including program says: put(). */
#ifndef TAKE_BPF_H
#define TAKE_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "record.h"

typedef record_u64 u64;
typedef record_u32 u32;

#define NULL ((void *)0)
typedef _Bool bool;

enum { PIDTYPE_PGID = 2, PIDTYPE_SID = 3, KTHREAD = 0x200000 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct atomic {
	u64 counter;
};
struct upid {
	int nr;
};
struct pid {
	struct upid numbers[1];
};
struct prev_cputime {
	u64 utime, stime;
};
struct task_io_accounting {
	u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};
struct signal_struct {
	int nr_threads;
	struct pid *pids[4];
	u64 utime, stime, gtime, cutime, cstime, cgtime, sum_sched_runtime;
	struct prev_cputime prev_cputime;
	unsigned long min_flt, maj_flt, cmin_flt, cmaj_flt;
	struct task_io_accounting ioac;
};
struct percpu_counter {
	long long count;
	int *counters;
};
typedef struct {
	long counter;
} atomic_long_t;
typedef struct {
	long long counter;
} atomic64_t;
struct mm_rss_stat {
	atomic_long_t count[RECORD_COUNTERS];
};
struct mm_struct {
	unsigned long start_stack;
	unsigned long total_vm, hiwater_vm, locked_vm, hiwater_rss, data_vm, stack_vm;
	atomic64_t pinned_vm;
	atomic_long_t pgtables_bytes, hugetlb_usage;
	struct percpu_counter rss_stat[RECORD_COUNTERS];
};
struct mm_struct___before_6_2 {
	struct mm_rss_stat rss_stat;
};
typedef struct {
	u32 val;
} kuid_t;
struct cred {
	kuid_t uid;
};
struct sched_info {
	unsigned long pcount;
	u64 run_delay, last_arrival;
};
struct sched_entity {
	u64 sum_exec_runtime;
};
struct css_set;
struct task_delay_info {
	u64 blkio_delay, swapin_delay;
};
struct thread_info {
	u32 cpu;
};
typedef struct {
	unsigned long bits[1];
} cpumask_t;
typedef struct {
	unsigned long bits[1];
} nodemask_t;
struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int prio, static_prio;
	unsigned int rt_priority, policy;
	struct sched_entity se;
	cpumask_t cpus_mask;
	struct sched_info sched_info;
	struct mm_struct *mm;
	int exit_state;
	int pid, tgid;
	struct task_struct *real_parent;
	u64 utime, stime, gtime;
	struct prev_cputime prev_cputime;
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	u64 start_boottime;
	const struct cred *real_cred;
	char comm[16];
	struct signal_struct *signal;
	struct css_set *cgroups;
	struct task_io_accounting ioac;
	nodemask_t mems_allowed;
	struct task_delay_info *delays;
};
struct task_struct___before_5_14 {
	long state;
};
struct task_struct___before_5_16 {
	u32 cpu;
};
struct bpf_array {
	void *pptrs[1];
};

#pragma clang attribute pop

const volatile struct record_constants constants;

/* Of the including program: adds to what it tells. */
static __always_inline void put(void *out, const void *bytes, u32 size);

static __always_inline void take_io(struct record_io *out, struct task_io_accounting *io)
{
	if (!bpf_core_field_exists(io->rchar))
		return;
	out->rchar = io->rchar;
	out->wchar = io->wchar;
	out->syscr = io->syscr;
	out->syscw = io->syscw;
	out->read_bytes = io->read_bytes;
	out->write_bytes = io->write_bytes;
	out->cancelled_write_bytes = io->cancelled_write_bytes;
}

static __noinline void write_task(void *out, struct task_struct *t)
{
	struct task_struct___before_5_14 *old_state = (void *)t;
	struct task_struct___before_5_16 *old_cpu = (void *)t;
	struct record_task r = {};

	r.pid = t->pid;
	r.tgid = t->tgid;
	r.ppid = t->real_parent->tgid;
	r.state = bpf_core_field_exists(old_state->state) ? old_state->state : t->__state;
	r.exit_state = t->exit_state;
	r.flags = t->flags;
	r.prio = t->prio;
	r.static_prio = t->static_prio;
	r.rt_priority = t->rt_priority;
	r.policy = t->policy;
	r.cpu = bpf_core_field_exists(old_cpu->cpu) ? old_cpu->cpu : t->thread_info.cpu;
	r.start = t->start_boottime;
	r.nvcsw = t->nvcsw;
	r.nivcsw = t->nivcsw;
	r.cpu_time.utime = t->utime;
	r.cpu_time.stime = t->stime;
	r.cpu_time.gtime = t->gtime;
	r.cpu_time.sum_exec = t->se.sum_exec_runtime;
	r.cpu_time.minflt = t->min_flt;
	r.cpu_time.majflt = t->maj_flt;
	take_io(&r.cpu_time.io, &t->ioac);
	if (t->pid == t->tgid)
		r.has |= RECORD_LEADER;
	if (t->mm && !(r.flags & KTHREAD))
		r.has |= RECORD_MEMORY;
	if (bpf_core_field_exists(t->prev_cputime)) {
		r.has |= RECORD_ADJUST;
		r.cpu_time.prev_utime = t->prev_cputime.utime;
		r.cpu_time.prev_stime = t->prev_cputime.stime;
	}
	if (bpf_core_field_exists(t->sched_info.run_delay)) {
		r.has |= RECORD_SCHED;
		r.wait = t->sched_info.run_delay;
		r.slices = t->sched_info.pcount;
	}
	if (bpf_core_field_exists(t->mems_allowed))
		r.has |= RECORD_MEMS;
	if (bpf_core_field_exists(t->delays) && t->delays)
		r.blkio_delay = t->delays->blkio_delay + t->delays->swapin_delay;
	bpf_probe_read_kernel(r.comm, sizeof r.comm, t->comm);
	put(out, &r, sizeof r);
}

static __always_inline void take_ended(struct record_process *r, struct signal_struct *signal)
{
	r->ended.utime = signal->utime;
	r->ended.stime = signal->stime;
	r->ended.gtime = signal->gtime;
	r->ended.sum_exec = signal->sum_sched_runtime;
	r->ended.minflt = signal->min_flt;
	r->ended.majflt = signal->maj_flt;
	if (bpf_core_field_exists(signal->prev_cputime)) {
		r->ended.prev_utime = signal->prev_cputime.utime;
		r->ended.prev_stime = signal->prev_cputime.stime;
	}
	take_io(&r->ended.io, &signal->ioac);
	r->cutime = signal->cutime;
	r->cstime = signal->cstime;
	r->cgtime = signal->cgtime;
	r->cminflt = signal->cmin_flt;
	r->cmajflt = signal->cmaj_flt;
	r->nr_threads = signal->nr_threads;
	r->pgrp = signal->pids[PIDTYPE_PGID]->numbers[0].nr;
	r->session = signal->pids[PIDTYPE_SID]->numbers[0].nr;
}

/* A per-CPU variable whose address is known on each CPU: so far apart lie those of every other. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} ruler SEC(".maps");

static u64 offsets[RECORD_EXACT_CPUS];

/* The verifier lets a pointer become a number where it is stored and read again. */
static __always_inline u64 number_of(void *pointer)
{
	*(void *volatile *)&offsets[0] = pointer;
	return *(volatile u64 *)&offsets[0];
}

static __noinline void measure(void)
{
	u64 array = number_of(&ruler) + bpf_core_field_offset(struct bpf_array, pptrs), base = 0;
	u32 key = 0;

	bpf_probe_read_kernel(&base, sizeof base, (const void *)array);
	/* The first one last: it is where numbers are made, and tells that all are there. */
	for (u32 i = 1; i <= RECORD_EXACT_CPUS; i++) {
		u32 cpu = i % RECORD_EXACT_CPUS;
		void *value = cpu < constants.ncpus ? bpf_map_lookup_percpu_elem(&ruler, &key, cpu)
						    : NULL;

		if (value)
			offsets[cpu] = number_of(value) - base;
	}
}

/* The four counters are allocated together (percpu_counter_init_many()). */
static __always_inline void sum_over_cpus(struct record_process *r, struct mm_struct *mm)
{
	u64 first = (u64)mm->rss_stat[0].counters;
	int part[RECORD_COUNTERS];

	if (!constants.exact || (u64)mm->rss_stat[1].counters != first + sizeof part[0])
		return;
	if (!offsets[0])
		measure();
	for (u32 cpu = 0; cpu < RECORD_EXACT_CPUS && cpu < constants.ncpus; cpu++) {
		if (bpf_probe_read_kernel(part, sizeof part, (const void *)(first + offsets[cpu])))
			break;
		for (int i = 0; i < RECORD_COUNTERS; i++)
			r->rss[i] += part[i];
	}
}

/* An index that is no constant would count in structs of the size that they have here. */
#define COUNT(i) (r->rss[i] = r->approximate[i] = mm->rss_stat[i].count)

static __always_inline void take_memory(struct record_process *r, struct mm_struct *mm)
{
	struct mm_struct___before_6_2 *old = (void *)mm;

	r->start_stack = mm->start_stack;
	r->total_vm = mm->total_vm;
	r->hiwater_vm = mm->hiwater_vm;
	r->locked_vm = mm->locked_vm;
	r->pinned_vm = mm->pinned_vm.counter;
	r->hiwater_rss = mm->hiwater_rss;
	r->data_vm = mm->data_vm;
	r->stack_vm = mm->stack_vm;
	r->pgtables_bytes = mm->pgtables_bytes.counter;
	if (bpf_core_field_exists(mm->hugetlb_usage))
		r->hugetlb_usage = mm->hugetlb_usage.counter;
	if (bpf_core_field_exists(old->rss_stat.count)) {
		bpf_probe_read_kernel(r->rss, sizeof r->rss, &old->rss_stat.count);
		__builtin_memcpy(r->approximate, r->rss, sizeof r->rss);
	} else {
		COUNT(0), COUNT(1), COUNT(2), COUNT(3);
		sum_over_cpus(r, mm);
	}
}

/* An address is nobody's business; that it is another one is. */
static __always_inline u64 scramble(u64 address)
{
	static u64 salt;

	if (!salt)
		salt = (u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32() | 1;
	return (address * salt) >> 32 | 1;
}

static __noinline void write_process(void *out, struct task_struct *t)
{
	struct signal_struct *signal = t->signal;
	struct mm_struct *mm = t->mm;
	struct record_process r = {};

	r.uid = t->real_cred->uid.val;
	if (signal)
		take_ended(&r, signal);
	if (mm && !(t->flags & KTHREAD))
		take_memory(&r, mm);
	if (bpf_core_field_exists(t->mems_allowed))
		bpf_probe_read_kernel(&r.mems, sizeof r.mems, &t->mems_allowed);
	if (bpf_core_field_exists(t->cgroups))
		r.groups = scramble((u64)BPF_CORE_READ(t, cgroups));
	put(out, &r, sizeof r);
}

static __noinline void write_cpus(void *out, struct task_struct *t)
{
	u64 cpus[RECORD_CPU_WORDS] = {};
	u32 size = (constants.ncpus + 63) / 64 * 8;

	if (size > sizeof cpus)
		size = sizeof cpus;
	bpf_probe_read_kernel(cpus, size, &t->cpus_mask);
	put(out, cpus, size);
}

/* By the clock of the run queues: when the reader came onto its CPU for this pass and for the one before. */
static u64 this_pass, last_pass;
static u32 turn;

static __always_inline void begin_pass(void)
{
	struct task_struct *reader = (void *)bpf_get_current_task();

	last_pass = this_pass;
	this_pass = BPF_CORE_READ(reader, sched_info.last_arrival);
	turn++;
}

/* Who was on a CPU during the last pass and left it since is told wrongly; its times say so. */
static __always_inline bool is_idle(struct task_struct *t)
{
	enum { SLACK = 1000000 }; /* ns: clocks of two CPUs */

	return constants.period > 1 && bpf_core_field_exists(t->sched_info.last_arrival) &&
	       bpf_core_field_exists(t->on_cpu) && !t->on_cpu &&
	       t->sched_info.last_arrival + SLACK < last_pass && t->pid == t->tgid &&
	       (t->pid + turn) % constants.period && t->signal && t->signal->nr_threads == 1;
}

static __noinline void write_idle(void *out, struct task_struct *t)
{
	struct record_idle r = {
		.has = RECORD_LEADER | RECORD_SCHED | RECORD_IDLE,
		.pid = t->pid,
		.start = t->start_boottime,
		.sum_exec = t->se.sum_exec_runtime,
		.wait = t->sched_info.run_delay,
		.slices = t->sched_info.pcount,
	};

	put(out, &r, sizeof r);
}

static __always_inline void take(void *out, struct task_struct *task)
{
	if (is_idle(task)) {
		write_idle(out, task);
		return;
	}
	write_task(out, task);
	if (task->pid == task->tgid) {
		write_process(out, task);
		write_cpus(out, task);
	}
}

#endif
