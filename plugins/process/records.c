/* Records of the task iterator into values: what fs/proc/array.c and kernel/sched/cputime.c make of the same fields. */
#include "records.h"

static size_t size_of(uint32_t has, uint32_t ncpus)
{
	if (has & RECORD_IDLE)
		return sizeof(struct record_idle);
	if (has & RECORD_LEADER)
		return sizeof(struct record_task) + sizeof(struct record_process) +
		       (ncpus + 63) / 64 * sizeof(record_u64);
	return sizeof(struct record_task);
}

bool record_next(char **at, const char *end, uint32_t ncpus, struct record *record)
{
	size_t left = (size_t)(end - *at), size;
	uint32_t has;

	if (left < sizeof(struct record_idle))
		return false;
	memcpy(&has, *at, sizeof has);
	size = size_of(has, ncpus);
	if (left < size)
		return false;
	*record = (struct record) { .leader = has & RECORD_LEADER };
	if (has & RECORD_IDLE) {
		record->idle = (const struct record_idle *)*at;
		record->pid = record->idle->pid;
	} else {
		record->task = (struct record_task *)*at;
		record->pid = record->task->pid;
	}
	if (record->task && record->leader) {
		record->process = (struct record_process *)(*at + sizeof *record->task);
		record->cpus = (const uint64_t *)(record->process + 1);
	}
	*at += size;
	return true;
}

void record_add(struct record_cpu *sum, const struct record_cpu *thread)
{
	sum->utime += thread->utime;
	sum->stime += thread->stime;
	sum->gtime += thread->gtime;
	sum->sum_exec += thread->sum_exec;
	sum->minflt += thread->minflt;
	sum->majflt += thread->majflt;
	sum->io.rchar += thread->io.rchar;
	sum->io.wchar += thread->io.wchar;
	sum->io.syscr += thread->io.syscr;
	sum->io.syscw += thread->io.syscw;
	sum->io.read_bytes += thread->io.read_bytes;
	sum->io.write_bytes += thread->io.write_bytes;
	sum->io.cancelled_write_bytes += thread->io.cancelled_write_bytes;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* a * b / c. 32-bit machines have no wider type; there the last digits are lost. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
#ifdef __SIZEOF_INT128__
	return (uint64_t)((unsigned __int128)a * b / c);
#else
	return (uint64_t)((long double)a * (long double)b / (long double)c);
#endif
}

/* utime and stime are counts of timer interrupts: the kernel scales them so that their sum is the scheduler's, and keeps what
 * it told so that neither falls (cputime_adjust()). Reading by the iterator leaves no trace there, so it is kept here too. */
static void adjust(const struct record_cpu *cpu, struct record_told *told)
{
	uint64_t total = cpu->sum_exec, stime = cpu->stime, utime;
	struct record_told prev = { cpu->prev_utime, cpu->prev_stime };

	if (told->utime + told->stime > prev.utime + prev.stime)
		prev = *told;
	utime = prev.utime;
	if (prev.utime + prev.stime < total) {
		if (stime && !cpu->utime)
			stime = total;
		else if (stime)
			stime = scale(stime, total, stime + cpu->utime);
		stime = larger(stime, prev.stime);
		utime = total - stime;
		if (utime < prev.utime) {
			utime = prev.utime;
			stime = total - utime;
		}
	} else {
		stime = prev.stime;
	}
	told->utime = larger(told->utime, utime);
	told->stime = larger(told->stime, stime);
}

/* The bits of the state in their order, R for none; bits that mean another one are folded first (task_state_index()). */
static char state_of(const struct record_task *task)
{
	enum { REPORTED = 0x7f, IDLE = 0x402, RTLOCK_WAIT = 0x1000, FROZEN = 0x8000 };
	static const char letters[] = "RSDTtXZP";
	uint32_t all = task->state | task->exit_state, state = all & REPORTED;

	if ((all & IDLE) == IDLE)
		return 'I';
	if (all & (RTLOCK_WAIT | FROZEN))
		return 'D';
	return letters[state ? 32 - __builtin_clz(state) : 0];
}

static uint64_t not_negative(long long value)
{
	return value < 0 ? 0 : (uint64_t)value;
}

static void stat_of_process(const struct record *record, const struct record_form *form,
			    uint64_t *field)
{
	const struct record_process *process = record->process;

	field[STAT_PGRP] = process->pgrp;
	field[STAT_SESSION] = process->session;
	field[STAT_CMINFLT] = process->cminflt;
	field[STAT_CMAJFLT] = process->cmajflt;
	field[STAT_CUTIME] = process->cutime / form->tick;
	field[STAT_CSTIME] = process->cstime / form->tick;
	field[STAT_CGUEST_TIME] = process->cgtime / form->tick;
	field[STAT_NUM_THREADS] = process->nr_threads;
	if (!(record->task->has & RECORD_MEMORY))
		return;
	field[STAT_VSIZE] = process->total_vm * form->page;
	field[STAT_RSS] = not_negative(process->approximate[RECORD_FILE]) +
			  not_negative(process->approximate[RECORD_ANON]) +
			  not_negative(process->approximate[RECORD_SHMEM]);
	field[STAT_START_STACK] = process->start_stack;
}

void record_stat(const struct record *record, const struct record_cpu *sum,
		 const struct record_form *form, struct record_told *told,
		 struct process_stat *stat)
{
	enum { MAX_RT_PRIO = 100, DEFAULT_PRIO = 120 };
	const struct record_task *task = record->task;
	uint64_t *field;

	*stat = (struct process_stat) { .last = STAT_LAST, .comm = task->comm };
	field = stat->field;
	stat->comm_length = (uint32_t)strnlen(task->comm, sizeof task->comm);
	stat->state = state_of(task);
	field[STAT_PPID] = task->ppid;
	field[STAT_FLAGS] = task->flags;
	field[STAT_MINFLT] = sum->minflt;
	field[STAT_MAJFLT] = sum->majflt;
	if (task->has & RECORD_ADJUST)
		adjust(sum, told);
	else
		*told = (struct record_told) { sum->utime, sum->stime };
	field[STAT_UTIME] = told->utime / form->tick;
	field[STAT_STIME] = told->stime / form->tick;
	field[STAT_PRIORITY] = (uint64_t)((int64_t)(int32_t)task->prio - MAX_RT_PRIO);
	field[STAT_NICE] = (uint64_t)((int64_t)(int32_t)task->static_prio - DEFAULT_PRIO);
	field[STAT_START_TIME] = task->start / form->tick;
	field[STAT_PROCESSOR] = task->cpu;
	field[STAT_RT_PRIORITY] = task->rt_priority;
	field[STAT_POLICY] = task->policy;
	field[STAT_BLKIO] = task->blkio_delay / form->tick;
	field[STAT_GUEST_TIME] = sum->gtime / form->tick;
	if (record->process)
		stat_of_process(record, form, field);
}

bool record_sched(const struct record_task *task, struct process_sched *sched)
{
	*sched = (struct process_sched) { task->cpu_time.sum_exec, task->wait, task->slices };
	return task->has & RECORD_SCHED && (sched->run || sched->wait || sched->slices);
}

/* "0-3,8": room for the longest that 1,024 CPUs can have. */
enum { LIST_BYTES = 2560, RANGE_BYTES = 12 };

static size_t put_number(char *text, uint32_t number)
{
	char digits[10];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	for (size_t i = 0; i < n; i++)
		text[i] = digits[n - 1 - i];
	return n;
}

/* The first bit from `from` on that is set, or with invert = ~0 clear. */
static uint32_t find_bit(const uint64_t *words, uint32_t bits, uint32_t from, uint64_t invert)
{
	while (from < bits) {
		uint64_t rest = (words[from / 64] ^ invert) >> from % 64;

		if (rest)
			return from + (uint32_t)__builtin_ctzll(rest);
		from = (from / 64 + 1) * 64;
	}
	return bits;
}

static void set_list(struct sonde_row *row, uint32_t slot, const uint64_t *words, uint32_t bits)
{
	char text[LIST_BYTES];
	size_t used = 0;
	uint32_t from = find_bit(words, bits, 0, 0);

	while (from < bits && used < sizeof text - RANGE_BYTES) {
		uint32_t to = find_bit(words, bits, from, ~UINT64_C(0));

		to = to < bits ? to : bits;
		if (used)
			text[used++] = ',';
		used += put_number(text + used, from);
		if (to - from > 1) {
			text[used++] = '-';
			used += put_number(text + used, to - 1);
		}
		from = find_bit(words, bits, to, 0);
	}
	if (used)
		sonde_set_bytes(row, slot, text, used);
}

static void set_memory(const struct record_process *process, const struct record_form *form,
		       struct sonde_row *row)
{
	uint64_t kib = form->page / 1024;
	uint64_t anon = not_negative(process->rss[RECORD_ANON]);
	uint64_t file = not_negative(process->rss[RECORD_FILE]);
	uint64_t shmem = not_negative(process->rss[RECORD_SHMEM]);
	uint64_t rss = anon + file + shmem;

	sonde_set_u64(row, VM_PEAK, larger(process->hiwater_vm, process->total_vm) * kib);
	sonde_set_u64(row, VM_LCK, process->locked_vm * kib);
	sonde_set_u64(row, VM_PIN, process->pinned_vm * kib);
	sonde_set_u64(row, VM_HWM, larger(process->hiwater_rss, rss) * kib);
	sonde_set_u64(row, VM_RSS, rss * kib);
	sonde_set_u64(row, RSS_ANON, anon * kib);
	sonde_set_u64(row, RSS_FILE, file * kib);
	sonde_set_u64(row, RSS_SHMEM, shmem * kib);
	sonde_set_u64(row, VM_DATA, process->data_vm * kib);
	sonde_set_u64(row, VM_STK, process->stack_vm * kib);
	sonde_set_u64(row, VM_PTE, process->pgtables_bytes / 1024);
	sonde_set_u64(row, VM_SWAP, not_negative(process->rss[RECORD_SWAP]) * kib);
	sonde_set_u64(row, HUGETLB_PAGES, process->hugetlb_usage * kib);
}

void record_set_status(const struct record *record, const struct record_form *form,
		       struct sonde_row *row)
{
	const struct record_task *task = record->task;

	sonde_set_u64(row, UID, record->process->uid);
	if (task->has & RECORD_MEMORY)
		set_memory(record->process, form, row);
	set_list(row, CPUS_ALLOWED, record->cpus, form->ncpus);
	if (task->has & RECORD_MEMS) {
		uint64_t mems = record->process->mems;

		set_list(row, MEMS_ALLOWED, &mems, 64);
	}
	sonde_set_u64(row, VOLUNTARY_SWITCHES, task->nvcsw);
	sonde_set_u64(row, INVOLUNTARY_SWITCHES, task->nivcsw);
}

void record_set_io(const struct record_cpu *sum, struct sonde_row *row)
{
	sonde_set_u64(row, RCHAR, sum->io.rchar);
	sonde_set_u64(row, WCHAR, sum->io.wchar);
	sonde_set_u64(row, SYSCR, sum->io.syscr);
	sonde_set_u64(row, SYSCW, sum->io.syscw);
	sonde_set_u64(row, READ_BYTES, sum->io.read_bytes);
	sonde_set_u64(row, WRITE_BYTES, sum->io.write_bytes);
	sonde_set_u64(row, CANCELLED_WRITE_BYTES, sum->io.cancelled_write_bytes);
}
