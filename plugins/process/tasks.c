/* The processes that the collector knows. Listing and own order are both by pid, so a merge keeps them in step. */
#include "tasks.h"

int tasks_reserve(struct sonde_instance *self, struct tasks *tasks, uint32_t count)
{
	uint32_t want = count + count / 2 + 64;

	if (count + count / 8 <= tasks->asked)
		return 0;
	if (sonde_grow(self, &tasks->task, (uint64_t)want * sizeof *tasks->task) ||
	    sonde_grow(self, &tasks->order, (uint64_t)want * sizeof *tasks->order) ||
	    sonde_grow(self, &tasks->next_order, (uint64_t)want * sizeof *tasks->next_order) ||
	    sonde_grow(self, &tasks->unused, (uint64_t)want * sizeof *tasks->unused) ||
	    (tasks->cmdline_size &&
	     sonde_grow(self, &tasks->cmdline, (uint64_t)want * tasks->cmdline_size)))
		return -ENOMEM;
	tasks->asked = want;
	return 0;
}

void tasks_grown(struct tasks *tasks)
{
	/* The lowest slots are taken first. */
	uint32_t more = tasks->asked - tasks->capacity;

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

static void drop(const struct sonde_instance *self, struct tasks *tasks, uint32_t slot)
{
	task_close(self, &tasks->task[slot]);
	tasks->unused[tasks->nunused++] = slot;
}

void tasks_merge(const struct sonde_instance *self, struct tasks *tasks, struct pids pids,
		 uint8_t flags)
{
	uint32_t *order = tasks->order, *next = tasks->next_order;
	uint32_t i = 0, n = 0, pid;

	tasks->missed = 0;
	while (next_pid(&pids, &pid)) {
		while (i < tasks->count && tasks->task[order[i]].pid < pid)
			drop(self, tasks, order[i++]);
		if (i < tasks->count && tasks->task[order[i]].pid == pid) {
			next[n++] = order[i++];
		} else if (tasks->nunused) {
			next[n] = tasks->unused[--tasks->nunused];
			tasks->task[next[n++]] = (struct task) { .pid = pid,
								 .flags = flags,
								 .comm_length = COMM_UNSEEN };
		} else {
			tasks->missed++;
		}
	}
	while (i < tasks->count)
		drop(self, tasks, order[i++]);
	tasks->next_order = order;
	tasks->order = next;
	tasks->count = n;
}

struct task *tasks_find(const struct tasks *tasks, uint32_t pid)
{
	uint32_t low = 0, high = tasks->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct task *task = &tasks->task[tasks->order[middle]];

		if (task->pid == pid)
			return task;
		if (task->pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
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

bool task_identify(struct task *task, const struct process_stat *stat, uint32_t sample)
{
	uint64_t cpu = stat->field[STAT_UTIME] + stat->field[STAT_STIME];
	bool same = task->flags & TASK_KNOWN && task->start == stat->field[STAT_START_TIME];

	if (!same) {
		uint8_t flags = task->flags & TASK_KNOWN ? task->flags & (uint8_t)~TASK_MEMBER
							 : task->flags;
		struct task fresh = { .pid = task->pid,
				      .flags = flags | TASK_KNOWN | TASK_NEW,
				      .comm_length = COMM_UNSEEN };

		memcpy(fresh.file, task->file, sizeof fresh.file);
		*task = fresh;
		task->start = stat->field[STAT_START_TIME];
	}
	task->activity = activity(task->activity, cpu > task->cpu ? cpu - task->cpu : 0,
				  same ? sample - task->read_at : 1);
	task->cpu = cpu;
	task->read_at = sample;
	task->ppid = positive(stat->field[STAT_PPID]);
	task->pgrp = positive(stat->field[STAT_PGRP]);
	task->session = positive(stat->field[STAT_SESSION]);
	return !same;
}
