/* Scheduling values summed over threads: each sample adds what every thread did since the one before, so that a thread's
 * end takes nothing away (proc_pid_task(5), Documentation/scheduler/sched-stats.rst). */
#include "threads.h"

enum { THREADS_MOST = 1 << 16 };

int threads_reserve(struct sonde_instance *self, struct threads *threads, uint32_t count)
{
	uint32_t want = count + count / 2 + 256;

	if (count <= threads->asked || threads->asked == THREADS_MOST)
		return 0;
	if (want > THREADS_MOST)
		want = THREADS_MOST;
	if (sonde_grow(self, &threads->now, (uint64_t)want * sizeof *threads->now) ||
	    sonde_grow(self, &threads->before, (uint64_t)want * sizeof *threads->before))
		return -ENOMEM;
	threads->asked = want;
	return 0;
}

void threads_begin(struct threads *threads)
{
	struct thread *now = threads->now;

	threads->now = threads->before;
	threads->before = now;
	threads->count = threads->missed = 0;
	threads->capacity = threads->asked;
}

/* 0; -ESRCH where it ended or has nothing counted; another errno where it lives, unread. */
static int read_thread(struct sonde_instance *self, uint32_t pid, uint32_t tid,
		       struct process_sched *sched)
{
	struct sonde_file *file =
		sonde_open(self, SONDE_KEEP, "/proc/%u/task/%u/schedstat", pid, tid);
	const char *text;
	int64_t length;
	int err;

	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	length = sonde_read(self, file, &text);
	err = length < 0 ? (int)length : 0;
	if (!err && !process_parse_schedstat(text, (size_t)length, sched))
		err = -ESRCH;
	sonde_close(self, file);
	return err;
}

/* The part of `now` that came after `before`; all of it where the number belongs to another thread by now. */
static void add_since(struct process_sched *sum, const struct process_sched *now,
		      const struct process_sched *before)
{
	static const struct process_sched none;

	if (now->run < before->run || now->wait < before->wait || now->slices < before->slices)
		before = &none;
	sum->run += now->run - before->run;
	sum->wait += now->wait - before->wait;
	sum->slices += now->slices - before->slices;
}

/* The sum while it runs: what the process had before is walked in step. */
struct summing {
	struct process_sched sum;
	const struct thread *before, *end;
	uint32_t first;
};

static void add_thread(struct threads *threads, struct summing *summing, uint32_t tid,
		       const struct process_sched *sched)
{
	static const struct process_sched none;
	const struct process_sched *past = &none;

	if (threads->count == threads->capacity) {
		threads->missed++;
		return;
	}
	while (summing->before < summing->end && summing->before->tid < tid)
		summing->before++;
	if (summing->before < summing->end && summing->before->tid == tid)
		past = &summing->before->sched;
	add_since(&summing->sum, sched, past);
	threads->now[threads->count++] = (struct thread) { .sched = *sched, .tid = tid };
}

static bool add_all(struct sonde_instance *self, struct threads *threads, struct summing *summing,
		    uint32_t pid)
{
	char path[48];
	const char *names;
	int64_t n;
	int err = 0;

	snprintf(path, sizeof path, "/proc/%u/task", pid);
	n = sonde_list(self, path, &names);
	for (int64_t i = 0; i < n; i++, names += strlen(names) + 1) {
		struct cursor c = whole(names, strlen(names));
		struct process_sched sched = { 0 };
		uint64_t tid;

		if (!next_u64(&c, &tid))
			continue;
		err = read_thread(self, pid, (uint32_t)tid, &sched);
		if (err == 0)
			add_thread(threads, summing, (uint32_t)tid, &sched);
		else if (err != -ESRCH)
			return false;
	}
	return n > 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

bool threads_sum(struct sonde_instance *self, struct threads *threads, struct task *task,
		 uint32_t sample, uint64_t num_threads, const struct process_sched *leader)
{
	bool continues = task->nthreads && task->threads_at + 1 == sample;
	uint32_t missed = threads->missed;
	struct summing summing = { .first = threads->count };
	struct process_sched *total = &task->threads;

	if (continues) {
		summing.before = threads->before + task->first_thread;
		summing.end = summing.before + task->nthreads;
		summing.sum = *total;
	}
	if (num_threads == 1 && leader)
		add_thread(threads, &summing, task->pid, leader);
	else if (!add_all(self, threads, &summing, task->pid))
		return false;
	task->first_thread = summing.first;
	task->nthreads = threads->count - summing.first;
	task->threads_at = sample;
	/* Past a sample in which they were not seen, the sum of those that live may be the smaller one. */
	total->run = larger(total->run, summing.sum.run);
	total->wait = larger(total->wait, summing.sum.wait);
	total->slices = larger(total->slices, summing.sum.slices);
	if (threads->missed != missed)
		task->nthreads = 0;
	return task->nthreads != 0;
}
