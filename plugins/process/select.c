/* Whose files are read: all processes, chosen ones, or the descendants of some; within budgets of rows and descriptors the
 * busiest. */
#include <stdlib.h>
#include <unistd.h>

#include "collect.h"

static size_t next_item(const char **at, const char **item)
{
	*at += strspn(*at, ", \t");
	*item = *at;
	*at += strcspn(*at, ", \t");
	return (size_t)(*at - *item);
}

int64_t select_parse(struct sonde_instance *self, const char *key, const struct sonde_list *list,
		     uint32_t *numbers)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		const char *at = list->items[i], *item;
		size_t length;

		while ((length = next_item(&at, &item))) {
			struct cursor c = whole(item, length);
			uint64_t pid;

			if (!next_u64(&c, &pid) || c.at != c.end || !pid || pid > INT32_MAX) {
				sonde_log(self, SONDE_ERROR, "%s = %.*s: not a process id", key,
					  (int)length, item);
				return -EINVAL;
			}
			if (numbers)
				numbers[count] = (uint32_t)pid;
			count++;
		}
	}
	return count;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int parse_chosen(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	bool tree = conf->subtree.count != 0;
	const struct sonde_list *list = tree ? &conf->subtree : &conf->pids;
	const char *key = tree ? "subtree" : "pids";
	int64_t count = select_parse(self, key, list, NULL);
	uint32_t unique = 0;

	if (count <= 0)
		return (int)count;
	if (sonde_grow(self, &state->chosen, (uint64_t)count * sizeof *state->chosen))
		return -ENOMEM;
	select_parse(self, key, list, state->chosen);
	qsort(state->chosen, (size_t)count, sizeof *state->chosen, by_number);
	for (int64_t i = 0; i < count; i++)
		if (!unique || state->chosen[unique - 1] != state->chosen[i])
			state->chosen[unique++] = state->chosen[i];
	state->nchosen = unique;
	state->mode = tree ? SELECT_SUBTREE : SELECT_PIDS;
	return 0;
}

static int list(struct sonde_instance *self, struct pids *pids)
{
	struct state *state = self->state;
	int64_t n;

	*pids = (struct pids) { .numbers = state->chosen, .left = state->nchosen };
	if (state->mode == SELECT_PIDS)
		return 0;
	pids->numbers = NULL;
	n = sonde_list(self, "/proc", &pids->names);
	pids->left = n > 0 ? (uint32_t)n : 0;
	return n < 0 ? (int)n : 0;
}

/* As a tree's root; chosen as a process it is one like any other. */
static bool is_self(const struct sonde_instance *self, uint32_t pid)
{
	const struct state *state = self->state;

	return state->mode == SELECT_SUBTREE && !*self->root && pid == (uint32_t)getpid();
}

/* The chosen pids are those that live now: who gets such a number later is somebody else. */
static int find_chosen(struct sonde_instance *self)
{
	struct state *state = self->state;
	uint32_t found = 0;

	for (uint32_t i = 0; i < state->nchosen; i++) {
		struct task *task = tasks_find(&state->tasks, state->chosen[i]);
		struct process_stat stat;

		if (!task || row_identify(self, task, &stat) == -ESRCH) {
			sonde_note(self, "no process %u", state->chosen[i]);
			continue;
		}
		task->flags |= is_self(self, task->pid) ? TASK_SELF : TASK_MEMBER;
		found++;
	}
	return found ? 0 : sonde_unavailable(self, "none of the processes chosen lives");
}

int select_start(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct pids pids;
	int err = parse_chosen(self);

	if (err)
		return err;
	err = list(self, &pids);
	if (err || !pids.left)
		return sonde_unavailable(self, "no processes in /proc: mount -t proc proc /proc");
	err = tasks_reserve(self, &state->tasks, pids.left);
	if (err)
		return err;
	tasks_grown(&state->tasks);
	tasks_merge(self, &state->tasks, pids, state->mode == SELECT_ALL ? TASK_MEMBER : 0);
	if (!state->tasks.count)
		return sonde_unavailable(self, "no processes in /proc: mount -t proc proc /proc");
	if (state->mode != SELECT_ALL)
		return find_chosen(self);
	if (!*self->root && state->tasks.task[state->tasks.order[0]].pid != 1)
		sonde_note(
			self,
			"processes of other users are not visible: /proc is mounted with "
			"hidepid; seeing them needs CAP_SYS_PTRACE or the group of its option gid=");
	return 0;
}

static bool is_any(const struct tasks *tasks, uint32_t pid, uint8_t flags)
{
	const struct task *task = tasks_find(tasks, pid);

	return task && task->flags & flags;
}

/* Who is new belongs to the tree by its parent; or, where that one ended before it was seen, by the leader of its process
 * group or session. Who belongs stays, whoever becomes its parent. */
static void follow(struct sonde_instance *self)
{
	struct tasks *tasks = &((struct state *)self->state)->tasks;
	uint32_t sample = ((struct state *)self->state)->sample;
	struct process_stat stat;
	bool found;

	for (uint32_t i = 0; i < tasks->count; i++) {
		struct task *task = &tasks->task[tasks->order[i]];

		/* Now and then the others: one's number may have gone to a member's child. */
		if (!(task->flags & TASK_KNOWN) ||
		    (!(task->flags & TASK_MEMBER) && (task->pid + sample) % 16 == 0))
			row_identify(self, task, &stat);
	}
	do {
		found = false;
		for (uint32_t i = 0; i < tasks->count; i++) {
			struct task *task = &tasks->task[tasks->order[i]];

			if (!(task->flags & TASK_NEW) || task->flags & TASK_MEMBER ||
			    !(is_any(tasks, task->ppid, TASK_MEMBER | TASK_SELF) ||
			      is_any(tasks, task->pgrp, TASK_MEMBER) ||
			      is_any(tasks, task->session, TASK_MEMBER)))
				continue;
			task->flags |= TASK_MEMBER;
			found = true;
		}
	} while (found);
	for (uint32_t i = 0; i < tasks->count; i++)
		tasks->task[tasks->order[i]].flags &= (uint8_t)~TASK_NEW;
}

static void seat(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct tasks *tasks = &state->tasks;
	uint32_t keep = self->descriptors ? self->descriptors / state->nfiles : UINT32_MAX;

	state->members = 0;
	for (uint32_t i = 0; i < tasks->count; i++)
		state->members += (tasks->task[tasks->order[i]].flags & TASK_MEMBER) != 0;
	state->omitted = state->members > conf->max ? state->members - (uint32_t)conf->max : 0;
	if (state->omitted || state->members > keep) {
		tasks_seat(self, tasks, TASK_MEMBER, TASK_ROW, (uint32_t)conf->max);
		tasks_seat(self, tasks, TASK_MEMBER | TASK_ROW, TASK_KEPT, keep);
		return;
	}
	for (uint32_t i = 0; i < tasks->count; i++)
		if (tasks->task[tasks->order[i]].flags & TASK_MEMBER)
			tasks->task[tasks->order[i]].flags |= TASK_ROW | TASK_KEPT;
}

int select_update(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct tasks *tasks = &state->tasks;
	struct pids pids;
	int err;

	tasks_grown(tasks);
	err = list(self, &pids);
	if (err)
		return err;
	tasks_merge(self, tasks, pids, state->mode == SELECT_ALL ? TASK_MEMBER : 0);
	state->listed = tasks->count + tasks->missed;
	if (state->mode == SELECT_SUBTREE)
		follow(self);
	seat(self);
	return tasks_reserve(self, tasks, state->listed);
}

static bool is_outside(const struct task *task)
{
	return (task->flags & (TASK_MEMBER | TASK_ROW)) == TASK_MEMBER;
}

void select_probe(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct tasks *tasks = &state->tasks;
	uint64_t left = conf->max / 4 + 1;
	struct process_stat stat;

	for (uint32_t i = 0; i < tasks->count && left; i++) {
		struct task *task = &tasks->task[tasks->order[i]];

		if (is_outside(task) && !(task->flags & TASK_KNOWN)) {
			row_identify(self, task, &stat);
			left--;
		}
	}
	for (uint32_t i = 0; i < tasks->count && left; i++) {
		struct task *task = &tasks->task[tasks->order[state->probe_from++ % tasks->count]];

		if (is_outside(task)) {
			row_identify(self, task, &stat);
			left--;
		}
	}
}
