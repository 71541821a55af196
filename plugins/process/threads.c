/* Threads, a row each, and their scheduling values summed: each sample adds what every thread did since the one before, so
 * that a thread's end takes nothing away (proc_pid_task(5), Documentation/scheduler/sched-stats.rst). */
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

/* The whole file; -ESRCH where the thread ended; another errno where it lives, unread. */
static int64_t read_file_of(struct sonde_instance *self, uint32_t pid, uint32_t tid,
			    const char *name, const char **text)
{
	struct sonde_file *file =
		sonde_open(self, SONDE_KEEP, "/proc/%u/task/%u/%s", pid, tid, name);
	int64_t length;

	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	length = sonde_read(self, file, text);
	sonde_close(self, file);
	return length;
}

/* The part of `now` that came after `before`. */
static void add_since(struct process_sched *sum, const struct process_sched *now,
		      const struct process_sched *before)
{
	sum->run += now->run - before->run;
	sum->wait += now->wait - before->wait;
	sum->slices += now->slices - before->slices;
}

/* The sum while it runs: what the process had before is walked in step. */
struct summing {
	struct process_sched sum;
	const struct thread *before, *end;
	uint32_t pid, first;
};

/* What it had at the sample before; NULL: it is new. Threads are asked for by ascending tid. */
static const struct thread *before(struct summing *summing, uint32_t tid, uint64_t start)
{
	while (summing->before < summing->end && summing->before->tid < tid)
		summing->before++;
	return summing->before < summing->end && summing->before->tid == tid &&
			       summing->before->start == start
		       ? summing->before
		       : NULL;
}

static void add_thread(struct threads *threads, struct summing *summing,
		       const struct thread *thread)
{
	static const struct process_sched none;
	const struct thread *past = before(summing, thread->tid, thread->start);

	if (threads->count == threads->capacity) {
		threads->missed++;
		return;
	}
	add_since(&summing->sum, &thread->sched, past ? &past->sched : &none);
	threads->now[threads->count++] = *thread;
}

/* What stat says; false: no room. */
static bool begin_row(struct sonde_instance *self, struct sonde_frame *frame,
		      const struct threads *threads, uint32_t pid, uint32_t tid,
		      const struct process_stat *stat, struct sonde_row *row)
{
	if (!sonde_row(self, frame, TABLE_THREAD, row))
		return false;
	sonde_set_u64(row, THREAD_PID, pid);
	sonde_set_u64(row, THREAD_TID, tid);
	process_set_thread(stat, threads->delays, row);
	return true;
}

static void set_counted(struct sonde_row *row, const struct process_sched *sched)
{
	sonde_set_u64(row, THREAD_RUN, sched->run);
	sonde_set_u64(row, THREAD_WAIT, sched->wait);
	sonde_set_u64(row, THREAD_SLICES, sched->slices);
}

/* The row, and what is to be added to the sum where it is counted. `sched` is what is known of it already, or NULL. 0, or
 * an errno as of read_file_of(). */
static int take_thread(struct sonde_instance *self, struct sonde_frame *frame,
		       struct threads *threads, struct summing *summing, uint32_t tid,
		       const struct process_sched *sched)
{
	struct thread thread = { .tid = tid };
	struct process_stat stat;
	struct sonde_row row;
	const char *text = "";
	int64_t length = read_file_of(self, summing->pid, tid, "stat", &text);
	bool room;

	if (length < 0)
		return (int)length;
	if (process_parse_stat(text, (size_t)length, &stat))
		return -EBADMSG;
	thread.start = stat.field[STAT_START_TIME];
	room = begin_row(self, frame, threads, summing->pid, tid, &stat, &row);
	if (!sched) {
		length = read_file_of(self, summing->pid, tid, "schedstat", &text);
		if (length < 0)
			return (int)length;
		if (!process_parse_schedstat(text, (size_t)length, &thread.sched))
			return -ESRCH;
	} else {
		thread.sched = *sched;
	}
	if (room)
		set_counted(&row, &thread.sched);
	add_thread(threads, summing, &thread);
	return 0;
}

static void take_thread_record(struct sonde_instance *self, struct sonde_frame *frame,
			       struct threads *threads, struct summing *summing,
			       const struct record_form *form, struct record record)
{
	const struct record_task *task = record.task;
	struct thread thread = { .tid = task->pid, .start = task->start / form->tick };
	const struct thread *past = before(summing, thread.tid, thread.start);
	struct process_stat stat;
	struct sonde_row row;
	bool counted = record_sched(task, &thread.sched);

	if (past)
		thread.told = past->told;
	record.process = NULL;
	record_stat(&record, &task->cpu_time, form, &thread.told, &stat);
	if (begin_row(self, frame, threads, summing->pid, thread.tid, &stat, &row) && counted)
		set_counted(&row, &thread.sched);
	if (counted)
		add_thread(threads, summing, &thread);
}

static bool take_all(struct sonde_instance *self, struct sonde_frame *frame,
		     struct threads *threads, struct summing *summing)
{
	char path[48];
	const char *names;
	bool known = true;
	int64_t n;

	snprintf(path, sizeof path, "/proc/%u/task", summing->pid);
	n = sonde_list(self, path, &names);
	for (int64_t i = 0; i < n; i++, names += strlen(names) + 1) {
		struct cursor c = whole(names, strlen(names));
		uint64_t tid;
		int err;

		if (!next_u64(&c, &tid))
			continue;
		err = take_thread(self, frame, threads, summing, (uint32_t)tid, NULL);
		known &= !err || err == -ESRCH;
	}
	return n > 0 && known;
}

static uint64_t more_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct summing begin_sum(const struct threads *threads, const struct task *task,
				uint32_t sample)
{
	struct summing summing = { .pid = task->pid, .first = threads->count };

	if (task->nthreads && task->threads_at + 1 == sample) {
		summing.before = threads->before + task->first_thread;
		summing.end = summing.before + task->nthreads;
		summing.sum = task->threads;
	}
	return summing;
}

/* `missed` as it was before. */
static bool finish_sum(const struct threads *threads, struct task *task, uint32_t sample,
		       const struct summing *summing, uint32_t missed)
{
	struct process_sched *total = &task->threads;

	task->first_thread = summing->first;
	task->nthreads = threads->count - summing->first;
	task->threads_at = sample;
	/* Past a sample in which they were not seen, the sum of those that live may be the smaller one. */
	total->run = more_of(total->run, summing->sum.run);
	total->wait = more_of(total->wait, summing->sum.wait);
	total->slices = more_of(total->slices, summing->sum.slices);
	if (threads->missed != missed)
		task->nthreads = 0;
	return task->nthreads != 0;
}

bool threads_take(struct sonde_instance *self, struct sonde_frame *frame, struct threads *threads,
		  struct task *task, uint32_t sample, uint64_t num_threads,
		  const struct process_sched *leader)
{
	struct summing summing = begin_sum(threads, task, sample);
	uint32_t missed = threads->missed;
	bool known = num_threads == 1 && leader
			     ? !take_thread(self, frame, threads, &summing, task->pid, leader)
			     : take_all(self, frame, threads, &summing);

	return known && finish_sum(threads, task, sample, &summing, missed);
}

bool threads_take_records(struct sonde_instance *self, struct sonde_frame *frame,
			  struct threads *threads, const struct bpf *bpf, struct task *task,
			  uint32_t sample, struct record leader)
{
	struct summing summing = begin_sum(threads, task, sample);
	uint32_t missed = threads->missed;

	do
		take_thread_record(self, frame, threads, &summing, &bpf->form, leader);
	while (bpf_next_thread(bpf, &leader));
	return finish_sum(threads, task, sample, &summing, missed);
}
