/* The CPU time of a subtree. What a process used after its last sample, and what children used whose life lay between two
 * samples, is in cutime and cstime of the parent that waited for them (proc_pid_stat(5), wait(2)); for one that nobody of
 * the tree waited for, what was seen last counts, and what it did after that is lost. */
#include "tree.h"

void tree_read(struct tree *tree, struct tasks *tasks, const struct task *task,
	       const struct process_stat *stat)
{
	struct kin *kin = &tasks->kin[tasks_slot(tasks, task)];
	uint64_t cutime = stat->field[STAT_CUTIME], cstime = stat->field[STAT_CSTIME];
	uint64_t children = (int64_t)cutime < 0 || (int64_t)cstime < 0 ? 0 : cutime + cstime;

	if (task_is(task, stat)) {
		kin->came += children > kin->children ? children - kin->children : 0;
		kin->children = children;
		return;
	}
	/* Another process has its number: the one before ended, and whose child it was is known no longer. */
	if (task->flags & TASK_KNOWN && task->flags & TASK_MEMBER)
		tree->ended += task->cpu + kin->children;
	*kin = (struct kin) { 0 };
}

/* The nearest that lives of those from whom a process that ended descends; NULL where that is nobody of the tree. */
static const struct task *heir(const struct tasks *tasks, const struct task *task)
{
	for (uint32_t steps = 0; steps <= tasks->ngone; steps++) {
		const struct task *parent = tasks_find(tasks, task->ppid);

		if (!parent)
			parent = tasks_find_gone(tasks, task->ppid);
		else if (parent->flags & (TASK_MEMBER | TASK_SELF))
			return parent;
		if (!parent || !(parent->flags & TASK_MEMBER))
			return NULL;
		task = parent;
	}
	return NULL;
}

static void bury(struct tree *tree, struct tasks *tasks)
{
	for (uint32_t i = 0; i < tasks->ngone; i++) {
		const struct task *task = &tasks->task[tasks->next_order[i]];
		uint64_t time = task->cpu + tasks->kin[tasks->next_order[i]].children;
		const struct task *parent;

		if (!(task->flags & TASK_MEMBER))
			continue;
		parent = heir(tasks, task);
		if (parent)
			tasks->kin[tasks_slot(tasks, parent)].due += time;
		else
			tree->ended += time;
	}
}

/* A parent's time may be read one sample before or after its child is seen to be gone. Of sonde itself as the parent only
 * the children count that are of the tree: what came for them, which is at least what was seen. */
static void settle(struct tree *tree, struct kin *kin, bool member)
{
	uint64_t there = kin->came + kin->spare, due = kin->due;

	if (!member && due)
		tree->ended += due > there ? due : there;
	else if (due > there)
		tree->ended += due - there;
	there = there > due && (member || !due) ? there - due : 0;
	kin->spare = there < kin->came ? there : kin->came;
	kin->came = kin->due = 0;
}

uint64_t tree_total(struct tree *tree, struct tasks *tasks)
{
	uint64_t sum = 0;

	bury(tree, tasks);
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = &tasks->task[tasks->order[i]];
		struct kin *kin = &tasks->kin[tasks->order[i]];

		if (!(task->flags & (TASK_MEMBER | TASK_SELF)))
			continue;
		settle(tree, kin, task->flags & TASK_MEMBER);
		if ((task->flags & (TASK_MEMBER | TASK_GONE)) == TASK_MEMBER)
			sum += task->cpu + kin->children;
	}
	sum += tree->ended;
	if (sum > tree->total)
		tree->total = sum;
	return tree->total;
}
