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

/* Numbers of an option, each once, ascending. */
static int keep_numbers(struct sonde_instance *self, const char *key, const struct sonde_list *list)
{
	struct state *state = self->state;
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
	return 0;
}

static bool matches_any(const struct conf *conf)
{
	return conf->cgroup.count || conf->unit.count || conf->name.count;
}

static int parse_chosen(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	if (conf->subtree.count)
		state->mode = SELECT_SUBTREE;
	else if (matches_any(conf))
		state->mode = SELECT_MATCH;
	else if (conf->pids.count)
		state->mode = SELECT_PIDS;
	return conf->subtree.count ? keep_numbers(self, "subtree", &conf->subtree)
				   : keep_numbers(self, "pids", &conf->pids);
}

/* Whether no task began or ended since /proc was listed: /proc/loadavg has the number of tasks and the newest one's (proc(5)).
 * lxcfs puts a file in its place that may be some seconds old, so it's believed for a second at most. */
static bool is_unchanged(struct sonde_instance *self)
{
	struct state *state = self->state;
	uint64_t living = 0, newest = 0;
	const char *text, *word;
	int64_t length;
	struct cursor c;
	bool same;

	if (!state->loadavg)
		return false;
	length = sonde_read(self, state->loadavg, &text);
	c = whole(text, length > 0 ? (size_t)length : 0);
	for (int i = 0; i < 3; i++)
		next_word(&c, &word);
	if (!next_u64(&c, &living) || !take(&c, "/") || !next_u64(&c, &living) ||
	    !next_u64(&c, &newest))
		return false;
	same = living == state->living && newest == state->newest &&
	       state->sample - state->listed_at < state->period && !state->tasks.missed;
	state->living = living;
	state->newest = newest;
	return same;
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
	state->listed_at = state->sample;
	return n < 0 ? (int)n : 0;
}

/* As a tree's root; chosen as a process it is one like any other. */
static bool is_self(const struct sonde_instance *self, uint32_t pid)
{
	const struct state *state = self->state;

	return state->mode == SELECT_SUBTREE && !*self->root && pid == state->own;
}

uint32_t select_root(const struct state *state)
{
	for (uint32_t i = 0; i < state->nchosen; i++)
		if (state->chosen[i] == state->own)
			return state->own;
	return state->chosen[0];
}

static int64_t call_getpid(void *context, void *buffer, uint64_t size)
{
	const uint32_t pid = (uint32_t)getpid();

	(void)context, (void)size;
	memcpy(buffer, &pid, sizeof pid);
	return sizeof pid;
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

enum {
	AUTO_TASKS = 1000, /* fewer cost less than the program's loading */
	BPF_PERIOD = 8,    /* samples in which all is read of each task at least once */
};

/* Whether a chosen few are read makes no difference to what the iterator costs. */
static void choose_source(struct sonde_instance *self, uint32_t tasks)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	bool saves = !conf->threads && state->files >> FILE_SCHEDSTAT & 1;
	uint32_t period = state->period > BPF_PERIOD ? state->period : BPF_PERIOD;
	char why[256];

	if (conf->source == SOURCE_PROC ||
	    (conf->source == SOURCE_AUTO && (tasks < AUTO_TASKS || state->mode == SELECT_PIDS)))
		return;
	if (bpf_start(self, &state->bpf, tasks, saves ? period : 1, why, sizeof why))
		sonde_note(self, "tasks are read from /proc, not by BPF: %s", why);
	else
		state->tasks.saves = saves;
	if (state->bpf.on)
		events_stop(&state->events);
}

/* The newest task's number is of the reader's own namespace, not of the mount's. */
static void open_loadavg(struct sonde_instance *self)
{
	struct state *state = self->state;

	if (!*self->root && state->mode != SELECT_PIDS && state->period > 1)
		state->loadavg = sonde_open(self, SONDE_KEEP, "/proc/loadavg");
}

int select_start(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct pids pids;
	int err = parse_chosen(self);

	if (err)
		return err;
	if (state->mode == SELECT_SUBTREE &&
	    sonde_obtain(self, "own pid", call_getpid, NULL, &state->own, sizeof state->own) < 0)
		state->own = (uint32_t)getpid();
	state->period = self->interval && self->interval < 1000000000
				? (uint32_t)(1000000000 / self->interval)
				: 1;
	/* What is born from here on is in the events or in the list. */
	if (state->mode != SELECT_PIDS && !events_start(self, &state->events))
		open_loadavg(self);
	err = list(self, &pids);
	if (err || !pids.left)
		return sonde_unavailable(self, "no processes in /proc: mount -t proc proc /proc");
	choose_source(self, pids.left);
	state->tasks.trees = state->mode == SELECT_SUBTREE;
	err = tasks_reserve(self, &state->tasks, pids.left);
	if (!err)
		err = texts_start(self, &state->tasks.texts);
	if (err)
		return err;
	tasks_begin(&state->tasks);
	tasks_merge(self, &state->tasks, pids, state->mode == SELECT_ALL ? TASK_MEMBER : 0);
	if (!state->tasks.count)
		return sonde_unavailable(self, "no processes in /proc: mount -t proc proc /proc");
	if (state->mode == SELECT_PIDS || state->mode == SELECT_SUBTREE)
		return find_chosen(self);
	if (!*self->root && state->tasks.task[state->tasks.order[0]].pid != 1)
		sonde_note(
			self,
			"processes of other users are not visible: /proc is mounted with "
			"hidepid; seeing them needs CAP_SYS_PTRACE or the group of its option gid=");
	return 0;
}

/* One that is not chosen may become so: its number another's, or by a new name or group. Soon after its birth that is
 * likely, later it is looked at now and then. */
static bool is_due(const struct task *task, uint32_t sample)
{
	return !(task->flags & TASK_KNOWN) ||
	       (!(task->flags & TASK_MEMBER) &&
		(sample - task->seen_at < 4 || (task->pid + sample) % 16 == 0));
}

/* A member's name and group are looked at where it gets its row. */
static void match(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct tasks *tasks = &state->tasks;
	struct process_stat stat;

	for (uint32_t i = 0; i < tasks->count; i++) {
		struct task *task = &tasks->task[tasks->order[i]];

		if (task->flags & TASK_SELF || !is_due(task, state->sample) ||
		    row_identify(self, task, &stat))
			continue;
		if (conf->cgroup.count || conf->unit.count)
			row_read_cgroup(self, task);
		if (match_is_chosen(self, task))
			task->flags |= TASK_MEMBER;
	}
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

		if (task->flags & TASK_SELF || is_due(task, sample))
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

/* How many may keep the descriptors of all their files; where idle ones are told by schedstat, each keeps that one first. */
static uint32_t seats(const struct sonde_instance *self)
{
	const struct state *state = self->state;

	if (state->bpf.on)
		return 0;
	if (!self->descriptors)
		return UINT32_MAX;
	if (!state->tasks.saves)
		return self->descriptors / state->nfiles;
	return self->descriptors > state->members
		       ? (self->descriptors - state->members) / (state->nfiles - 1)
		       : 0;
}

static void seat(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct tasks *tasks = &state->tasks;
	uint32_t keep;

	state->members = 0;
	for (uint32_t i = 0; i < tasks->count; i++)
		state->members += (tasks->task[tasks->order[i]].flags & TASK_MEMBER) != 0;
	state->omitted = state->members > conf->max ? state->members - (uint32_t)conf->max : 0;
	keep = seats(self);
	if (state->omitted || state->members > keep) {
		tasks_seat(self, tasks, TASK_MEMBER, TASK_ROW, (uint32_t)conf->max);
		tasks_seat(self, tasks, TASK_MEMBER | TASK_ROW, TASK_KEPT, keep);
		return;
	}
	for (uint32_t i = 0; i < tasks->count; i++)
		if (tasks->task[tasks->order[i]].flags & TASK_MEMBER)
			tasks->task[tasks->order[i]].flags |= TASK_ROW | TASK_KEPT;
}

/* Of the records' processes those that are chosen by number. */
static void keep_chosen(struct state *state)
{
	struct bpf *bpf = &state->bpf;
	uint32_t n = 0, k = 0;

	for (uint32_t i = 0; i < bpf->npids; i++) {
		while (k < state->nchosen && state->chosen[k] < bpf->pids[i])
			k++;
		if (k < state->nchosen && state->chosen[k] == bpf->pids[i])
			bpf->pids[n++] = bpf->pids[i];
	}
	bpf->npids = n;
}

/* True where this sample has records. */
static bool update_by_bpf(struct sonde_instance *self, uint8_t flags)
{
	struct state *state = self->state;
	int err = state->bpf.on ? bpf_read(self, &state->bpf) : -ENODEV;

	if (err && err != -ENODEV && err != -ENOSPC) {
		sonde_note(self,
			   "tasks are read from /proc from here on: the BPF iterator failed: %s",
			   strerror(-err));
		bpf_stop(&state->bpf);
	}
	if (err)
		return false;
	if (state->mode == SELECT_PIDS)
		keep_chosen(state);
	tasks_merge(self, &state->tasks,
		    (struct pids) { .numbers = state->bpf.pids, .left = state->bpf.npids }, flags);
	bpf_assign(&state->bpf, &state->tasks);
	return true;
}

static int list_and_merge(struct sonde_instance *self, uint8_t flags)
{
	struct pids pids;
	int err = list(self, &pids);

	if (!err)
		tasks_merge(self, &((struct state *)self->state)->tasks, pids, flags);
	return err;
}

int select_update(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct tasks *tasks = &state->tasks;
	uint8_t flags = state->mode == SELECT_ALL ? TASK_MEMBER : 0;
	struct pids pids;
	int err = 0;

	tasks_begin(tasks);
	texts_grown(&tasks->texts);
	if (!update_by_bpf(self, flags)) {
		if (state->events.on && events_list(self, &state->events, tasks, &pids))
			tasks_merge(self, tasks, pids, flags);
		else if (state->events.on || !is_unchanged(self))
			err = list_and_merge(self, flags);
		if (err)
			return err;
	}
	state->listed = tasks->count + tasks->missed;
	if (matches_any(self->conf))
		match(self);
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
