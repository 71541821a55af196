/* Births and ends of processes from the process connector (include/uapi/linux/cn_proc.h). A birth is what an event says; an
 * end is what reading says (ESRCH), since a process that ended is there until it is waited for; only of those that are not
 * read the event is believed. */
#include <sonde/procevents.h>

#include "events.h"

/* As it goes into a capture: of the kernel's 76 bytes what is wanted. */
struct event {
	uint32_t what, pid, tgid;
};

enum { AT_ONCE = 256 };

static int64_t listen_call(void *context, void *buffer, uint64_t size)
{
	struct events *events = context;
	int s = procevents_open();

	(void)buffer, (void)size;
	events->socket = s;
	return s < 0 ? s : 0;
}

bool events_start(struct sonde_instance *self, struct events *events)
{
	events->socket = -1;
	events->asked = 3 * BIRTHS_MOST;
	if (sonde_grow(self, &events->numbers, events->asked * sizeof *events->numbers))
		return false;
	events->on =
		!*self->root && !sonde_obtain(self, "process events", listen_call, events, NULL, 0);
	return events->on;
}

void events_stop(struct events *events)
{
	if (events->on && events->socket >= 0)
		procevents_close(events->socket);
	events->on = false;
}

/* False where it is none of a process that is born or ends. */
static bool pack(const struct proc_event *from, struct event *event)
{
	event->what = (uint32_t)from->what;
	if (from->what == PROC_EVENT_FORK) {
		event->pid = (uint32_t)from->event_data.fork.child_pid;
		event->tgid = (uint32_t)from->event_data.fork.child_tgid;
	} else if (from->what == PROC_EVENT_EXIT) {
		event->pid = (uint32_t)from->event_data.exit.process_pid;
		event->tgid = (uint32_t)from->event_data.exit.process_tgid;
	} else {
		return false;
	}
	return event->pid == event->tgid; /* else a thread's */
}

/* What has come, packed; -ENOBUFS where the kernel had to drop some, -EAGAIN at the end. */
static int64_t receive(void *context, void *buffer, uint64_t size)
{
	const struct events *events = context;
	struct event *event = buffer;
	uint64_t used = 0;

	while (used + sizeof *event <= size) {
		struct proc_event next = { 0 };
		int n = procevents_next(events->socket, &next);

		if (n < 0 && (n != -EAGAIN || !used))
			return n;
		if (n < 0)
			break;
		if (n && pack(&next, event)) {
			event++;
			used += sizeof *event;
		}
	}
	return (int64_t)used;
}

static bool add_birth(struct events *events, uint32_t pid)
{
	uint32_t i = events->nbirths;

	if (i == BIRTHS_MOST)
		return false;
	/* Numbers mostly ascend. */
	for (; i && events->births[i - 1] > pid; i--)
		events->births[i] = events->births[i - 1];
	events->births[i] = pid;
	events->nbirths++;
	return true;
}

static bool take_events(struct sonde_instance *self, struct events *events, struct tasks *tasks)
{
	struct event event[AT_ONCE];
	int64_t n;

	while ((n = sonde_obtain(self, "process events", receive, events, event, sizeof event)) >
	       0) {
		for (size_t i = 0; i < (size_t)n / sizeof *event; i++) {
			struct task *task = tasks_find(tasks, event[i].pid);

			if (event[i].what == PROC_EVENT_FORK && !add_birth(events, event[i].pid))
				return false;
			if (event[i].what == PROC_EVENT_EXIT && task && !(task->flags & TASK_ROW))
				task->flags |= TASK_GONE;
		}
	}
	return n == -EAGAIN;
}

bool events_list(struct sonde_instance *self, struct events *events, struct tasks *tasks,
		 struct pids *pids)
{
	uint32_t need = tasks->count + BIRTHS_MOST, n = 0, born = 0;

	events->nbirths = 0;
	events->size = events->asked;
	if (need > events->asked &&
	    !sonde_grow(self, &events->numbers, (uint64_t)(need * 2) * sizeof *events->numbers))
		events->asked = need * 2;
	if (!take_events(self, events, tasks) || need > events->size || tasks->missed)
		return false;
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = &tasks->task[tasks->order[i]];

		for (; born < events->nbirths && events->births[born] <= task->pid; born++)
			if (events->births[born] < task->pid &&
			    (!n || events->numbers[n - 1] != events->births[born]))
				events->numbers[n++] = events->births[born];
		if (!(task->flags & TASK_GONE) || (born && events->births[born - 1] == task->pid))
			events->numbers[n++] = task->pid;
	}
	for (; born < events->nbirths; born++)
		if (!n || events->numbers[n - 1] != events->births[born])
			events->numbers[n++] = events->births[born];
	*pids = (struct pids) { .numbers = events->numbers, .left = n };
	return true;
}
