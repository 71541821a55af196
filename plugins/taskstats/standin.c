/* The ladder below exit records, and the process connector as a source of events. */
#include <time.h>

#include <sonde/procevents.h>

#include "standin.h"

enum { AT_ONCE = 256 };

/* ---- the process connector */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* timestamp_ns is CLOCK_MONOTONIC's. The name that PROC_EVENT_COMM has is written by the task itself. */
static bool translate(const struct proc_event *from, uint64_t offset, struct life_event *to)
{
	*to = (struct life_event) { .time = from->timestamp_ns + offset };
	switch ((uint32_t)from->what) {
	case PROC_EVENT_FORK:
		to->what = LIFE_FORK;
		to->tid = (uint32_t)from->event_data.fork.child_pid;
		to->pid = (uint32_t)from->event_data.fork.child_tgid;
		to->parent_tid = (uint32_t)from->event_data.fork.parent_pid;
		to->parent = (uint32_t)from->event_data.fork.parent_tgid;
		return true;
	case PROC_EVENT_EXEC:
		to->what = LIFE_EXEC;
		to->tid = (uint32_t)from->event_data.exec.process_pid;
		to->pid = (uint32_t)from->event_data.exec.process_tgid;
		return true;
	case PROC_EVENT_COMM:
		to->what = LIFE_NAME;
		to->tid = (uint32_t)from->event_data.comm.process_pid;
		to->pid = (uint32_t)from->event_data.comm.process_tgid;
		memcpy(to->comm, from->event_data.comm.comm,
		       strnlen(from->event_data.comm.comm, sizeof to->comm));
		return true;
	case PROC_EVENT_EXIT:
		to->what = LIFE_EXIT;
		to->tid = (uint32_t)from->event_data.exit.process_pid;
		to->pid = (uint32_t)from->event_data.exit.process_tgid;
		to->parent = (uint32_t)from->event_data.exit.parent_tgid;
		to->value = from->event_data.exit.exit_code;
		to->has_status = true;
		return true;
	default:
		return false;
	}
}

static int64_t call_open(void *context, void *buffer, uint64_t size)
{
	struct standin *standin = context;
	int s = procevents_open();

	(void)buffer, (void)size;
	standin->socket = s < 0 ? -1 : s;
	return s < 0 ? s : 0;
}

static int64_t call_receive(void *context, void *buffer, uint64_t size)
{
	const struct standin *standin = context;
	uint64_t offset = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC), used = 0;
	struct life_event *event = buffer;

	while (used + sizeof *event <= size) {
		struct proc_event next = { 0 };
		int n = procevents_next(standin->socket, &next);

		if (n < 0 && (n != -EAGAIN || !used))
			return n;
		if (n < 0)
			break;
		if (n && translate(&next, offset, event)) {
			event++;
			used += sizeof *event;
		}
	}
	return (int64_t)used;
}

static void take_connector(struct sonde_instance *self, struct standin *standin)
{
	struct life_event event[AT_ONCE];
	int64_t n;

	while ((n = sonde_obtain(self, "process events", call_receive, standin, event,
				 sizeof event)) > 0)
		for (size_t i = 0; i < (size_t)n / sizeof *event; i++)
			lives_take(&standin->lives, &event[i]);
	if (n == -ENOBUFS)
		sonde_gap(self, "births and ends of tasks were lost: more than the socket holds "
				"between two samples; a shorter interval loses none");
}

/* ---- the ladder */

void standin_init(struct standin *standin)
{
	standin->socket = -1;
}

static void why_no_connector(int err, char *why, size_t size)
{
	if (err == -ENOTUNIQ)
		snprintf(why, size, "this is not the machine's first pid namespace");
	else if (err == -EPERM || err == -EACCES)
		snprintf(why, size, "it needs CAP_NET_ADMIN, or Linux 6.6");
	else
		snprintf(why, size, "%s", strerror(-err));
}

int standin_start(struct sonde_instance *self, struct standin *standin, enum stand_in whose,
		  const uint32_t *pids, uint32_t npids, const char *why)
{
	char no_perf[160] = "they are of a command only", no_connector[96];
	int err = lives_start(self, &standin->lives);

	if (err)
		return err;
	for (uint32_t i = 0; i < npids; i++)
		lives_seed(&standin->lives, pids[i]);
	if (whose == STAND_IN_COMMAND && npids) {
		err = perf_start(self, &standin->perf, pids[0], true);
		if (err)
			perf_why(self, &standin->perf, err, no_perf, sizeof no_perf);
		standin->by = err ? BY_NOTHING : BY_PERF;
	}
	if (standin->by == BY_PERF) {
		standin->lives.reads = standin->perf.counts ? standin->perf.nrings : 0;
		sonde_note(
			self,
			"processes that no sample saw are known by perf task records: births, execs, "
			"ends%s of each; exit records would tell peak RSS, I/O and exit status too: %s",
			standin->perf.counts ? " and CPU time" : "", why);
		return 0;
	}
	standin->lives.rooted = whose == STAND_IN_COMMAND;
	err = (int)sonde_obtain(self, "process events open", call_open, standin, NULL, 0);
	if (!err) {
		standin->by = BY_CONNECTOR;
		sonde_note(
			self,
			"processes that no sample saw are known by the process connector: births, "
			"ends and exit status of each, CPU time in sum; not by perf task records: "
			"%s; not by exit records: %s",
			no_perf, why);
		return 0;
	}
	why_no_connector(err, no_connector, sizeof no_connector);
	return sonde_unavailable(
		self,
		"processes are found by scanning /proc: of those that no sample saw only the CPU time "
		"is known, in sum; no exit records: %s; no perf task records: %s; no process "
		"connector: %s",
		why, no_perf, no_connector);
}

int standin_births(struct sonde_instance *self, struct standin *standin, uint32_t pid)
{
	int err = lives_start(self, &standin->lives);

	if (err)
		return err;
	lives_seed(&standin->lives, pid);
	standin->lives.births = true;
	if (!perf_start(self, &standin->perf, pid, false))
		standin->by = BY_PERF;
	return 0;
}

void standin_stop(struct standin *standin)
{
	perf_stop(&standin->perf);
	if (standin->socket >= 0)
		procevents_close(standin->socket);
	standin->socket = -1;
}

void standin_take(struct sonde_instance *self, struct sonde_frame *frame, struct standin *standin)
{
	/* A record that another CPU writes just now may be older than one that is read: it comes before this. */
	uint64_t now = sonde_now(self);

	lives_begin(&standin->lives);
	if (standin->by == BY_PERF)
		perf_take(self, &standin->perf, &standin->lives, now);
	else
		take_connector(self, standin);
	lives_tell(self, frame, &standin->lives, standin->taken);
	standin->taken = now;
	if (standin->lives.lost)
		sonde_gap(self, "%llu births or ends of tasks found no room; there is more now",
			  (unsigned long long)standin->lives.lost);
}
