/* The processes that the collector knows. Listing and own order are both by pid, so a merge keeps them in step. */
#include "saved.h"
#include "tasks.h"
#include "tree.h"

int tasks_reserve(struct sonde_instance *self, struct tasks *tasks, uint32_t count)
{
	uint32_t want = count + count / 2 + 64;

	if (count + count / 8 <= tasks->asked)
		return 0;
	if (sonde_grow(self, &tasks->task, (uint64_t)want * sizeof *tasks->task) ||
	    sonde_grow(self, &tasks->order, (uint64_t)want * sizeof *tasks->order) ||
	    sonde_grow(self, &tasks->next_order, (uint64_t)want * sizeof *tasks->next_order) ||
	    sonde_grow(self, &tasks->unused, (uint64_t)want * sizeof *tasks->unused) ||
	    (tasks->trees && sonde_grow(self, &tasks->kin, (uint64_t)want * sizeof *tasks->kin)) ||
	    (tasks->saves &&
	     sonde_grow(self, &tasks->saved, (uint64_t)want * sizeof *tasks->saved)))
		return -ENOMEM;
	tasks->asked = want;
	return 0;
}

void tasks_begin(struct tasks *tasks)
{
	/* The lowest slots are taken first. */
	uint32_t more = tasks->asked - tasks->capacity;

	while (tasks->ngone)
		tasks->unused[tasks->nunused++] = tasks->next_order[--tasks->ngone];
	if (!more)
		return;
	memmove(tasks->unused + more, tasks->unused, tasks->nunused * sizeof *tasks->unused);
	for (uint32_t i = 0; i < more; i++)
		tasks->unused[i] = tasks->asked - 1 - i;
	tasks->nunused += more;
	tasks->capacity = tasks->asked;
}

void task_close(const struct sonde_instance *self, struct task *task)
{
	for (uint32_t i = 0; i < TASK_FILES; i++) {
		sonde_close(self, task->file[i]);
		task->file[i] = NULL;
	}
}

static bool next_pid(struct pids *pids, uint32_t *pid)
{
	uint32_t n = 0;

	if (!pids->left)
		return false;
	pids->left--;
	if (pids->numbers) {
		*pid = *pids->numbers++;
		return true;
	}
	for (; (unsigned char)(*pids->names - '0') < 10; pids->names++)
		n = n * 10 + (unsigned char)(*pids->names - '0');
	*pid = n;
	/* Numbers come before names: at the first name it is over. */
	return !*pids->names++ && n;
}

static void forget_texts(struct tasks *tasks, uint32_t slot)
{
	texts_drop(&tasks->texts, &tasks->task[slot].cgroup);
	texts_drop(&tasks->texts, &tasks->task[slot].cmdline);
	if (tasks->saves)
		saved_drop(&tasks->texts, &tasks->saved[slot]);
}

static void begin(struct tasks *tasks, uint32_t slot, uint32_t pid, uint8_t flags)
{
	tasks->task[slot] =
		(struct task) { .pid = pid, .flags = flags, .comm_length = COMM_UNSEEN };
	if (tasks->trees)
		tasks->kin[slot] = (struct kin) { 0 };
}

void tasks_merge(const struct sonde_instance *self, struct tasks *tasks, struct pids pids,
		 uint8_t flags)
{
	uint32_t *order = tasks->order, *next = tasks->next_order;
	uint32_t i = 0, n = 0, gone = 0, pid;
	bool more = true;

	tasks->missed = 0;
	while (more) {
		more = next_pid(&pids, &pid);
		while (i < tasks->count && (!more || tasks->task[order[i]].pid < pid)) {
			task_close(self, &tasks->task[order[i]]);
			forget_texts(tasks, order[i]);
			order[gone++] = order[i++];
		}
		if (!more)
			break;
		if (i < tasks->count && tasks->task[order[i]].pid == pid) {
			next[n++] = order[i++];
		} else if (tasks->nunused) {
			next[n] = tasks->unused[--tasks->nunused];
			begin(tasks, next[n++], pid, flags);
		} else {
			tasks->missed++;
		}
	}
	tasks->next_order = order;
	tasks->order = next;
	tasks->count = n;
	tasks->ngone = gone;
}

static struct task *find(const struct tasks *tasks, const uint32_t *slots, uint32_t count,
			 uint32_t pid)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct task *task = &tasks->task[slots[middle]];

		if (task->pid == pid)
			return task;
		if (task->pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct task *tasks_find(const struct tasks *tasks, uint32_t pid)
{
	return find(tasks, tasks->order, tasks->count, pid);
}

struct task *tasks_find_gone(const struct tasks *tasks, uint32_t pid)
{
	return find(tasks, tasks->next_order, tasks->ngone, pid);
}

/* 0 for idle, else the magnitude: coarse, so that seats do not change hands at every tick. */
static uint32_t rank(const struct task *task)
{
	return task->activity ? 32 - (uint32_t)__builtin_clz(task->activity) : 0;
}

enum { RANKS = 33 };

void tasks_seat(const struct sonde_instance *self, struct tasks *tasks, uint8_t among, uint8_t flag,
		uint32_t seats)
{
	uint32_t all[RANKS] = { 0 }, holders[RANKS] = { 0 };
	uint32_t cut = RANKS, newcomers = 0;

	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = &tasks->task[tasks->order[i]];

		if ((task->flags & among) != among)
			continue;
		all[rank(task)]++;
		holders[rank(task)] += (task->flags & flag) != 0;
	}
	while (cut && all[cut - 1] <= seats)
		seats -= all[--cut];
	/* Ranks from `cut` on all sit; of the next lower one `seats`, holders before newcomers. */
	if (cut && seats > holders[cut - 1])
		newcomers = seats - holders[cut - 1];
	for (uint32_t i = 0; i < tasks->count; i++) {
		struct task *task = &tasks->task[tasks->order[i]];
		uint32_t *left = task->flags & flag ? &seats : &newcomers;
		bool sits = (task->flags & among) == among &&
			    (rank(task) >= cut || (rank(task) + 1 == cut && *left && (*left)--));

		if (sits) {
			task->flags |= flag;
		} else if (task->flags & flag) {
			task->flags &= (uint8_t)~flag;
			task_close(self, task);
		}
	}
}

static uint32_t positive(uint64_t value)
{
	return value > INT32_MAX ? 0 : (uint32_t)value;
}

/* Keeps seven eighths of the past for each sample that went by; a tick counts 64, so that a quiet task does not look busy
 * for long. */
static uint32_t activity(uint32_t past, uint64_t ticks, uint32_t samples)
{
	uint64_t now = ticks / (samples ? samples : 1) * 64;

	for (; samples && past; samples--)
		past -= (past + 7) / 8;
	return now > UINT32_MAX / 2 ? UINT32_MAX / 2 : past + (uint32_t)now;
}

/* What only another program or name can change is due to be read when either is seen to have changed. */
static bool is_changed(struct task *task, const struct process_stat *stat)
{
	uint8_t length = (uint8_t)(stat->comm_length < sizeof task->comm ? stat->comm_length
									 : sizeof task->comm);
	uint64_t stack = stat->last >= STAT_START_STACK ? stat->field[STAT_START_STACK] : 0;

	if (task->comm_length == length && memcmp(task->comm, stat->comm, length) == 0 &&
	    task->stack == stack)
		return false;
	memcpy(task->comm, stat->comm, length);
	task->comm_length = length;
	task->stack = stack;
	return true;
}

bool task_is(const struct task *task, const struct process_stat *stat)
{
	return task->flags & TASK_KNOWN && task->start == stat->field[STAT_START_TIME];
}

void task_identify(struct tasks *tasks, struct task *task, const struct process_stat *stat,
		   uint32_t sample)
{
	uint64_t cpu = stat->field[STAT_UTIME] + stat->field[STAT_STIME];
	bool same = task_is(task, stat);

	if (!same) {
		uint32_t slot = tasks_slot(tasks, task), pid = task->pid;
		struct sonde_file *file[TASK_FILES];
		uint8_t flags = task->flags;

		if (flags & TASK_KNOWN)
			flags &= (uint8_t)~TASK_MEMBER;
		memcpy(file, task->file, sizeof file);
		forget_texts(tasks, slot);
		begin(tasks, slot, pid, flags | TASK_KNOWN | TASK_NEW);
		memcpy(task->file, file, sizeof file);
		task->start = stat->field[STAT_START_TIME];
		task->seen_at = sample;
	}
	task->activity = activity(task->activity, cpu > task->cpu ? cpu - task->cpu : 0,
				  same ? sample - task->read_at : 1);
	task->cpu = cpu;
	task->read_at = sample;
	task->ppid = positive(stat->field[STAT_PPID]);
	task->pgrp = positive(stat->field[STAT_PGRP]);
	task->session = positive(stat->field[STAT_SESSION]);
	if (is_changed(task, stat))
		task->flags |= TASK_CHANGED;
	task->flags &= (uint8_t)~TASK_GONE;
}
