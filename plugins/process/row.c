/* One process into one row: which of its files are read when, and what their errors mean. */
#include "collect.h"

enum { COMM_MOST = 64 }; /* a kernel thread's name in stat is longer than others' */

static const char *const file_names[TASK_FILES] = { "stat", "status", "schedstat", "io" };

/* The whole file, through the descriptor that the task keeps or through one for this read. */
static int64_t read_file(struct sonde_instance *self, struct task *task, uint32_t which,
			 const char **text)
{
	const struct state *state = self->state;
	struct sonde_file *file = task->file[which];
	bool keep = task->flags & TASK_KEPT || (state->tasks.saves && which == FILE_SCHEDSTAT);
	int64_t length;

	if (!file)
		file = sonde_open(self, SONDE_KEEP, "/proc/%u/%s", task->pid, file_names[which]);
	if (!file)
		return -errno;
	length = sonde_read(self, file, text);
	if (length < 0 || !keep) {
		sonde_close(self, file);
		file = NULL;
	}
	task->file[which] = file;
	return length;
}

/* Where the values of this sample come from: a record, or the texts of /proc. */
struct origin {
	bool is_record;
	struct record record;
	struct record_cpu sum;
};

/* stat as text: 0, or -ESRCH: gone; -EACCES: not to be seen; -EBADMSG. */
static int read_stat(struct sonde_instance *self, struct task *task, struct process_stat *stat)
{
	bool kept = task->file[FILE_STAT] != NULL;
	const char *text = "";
	int64_t length = read_file(self, task, FILE_STAT, &text);

	if (length < 0 && kept) {
		/* The process of the descriptor is gone; another may have its number by now. */
		task_close(self, task);
		length = read_file(self, task, FILE_STAT, &text);
	}
	if (length == -ENOENT || length == -ESRCH) {
		task->flags |= TASK_GONE;
		return -ESRCH;
	}
	if (length == -EPERM)
		return -EACCES;
	if (length < 0)
		return (int)length;
	return process_parse_stat(text, (size_t)length, stat) ? -EBADMSG : 0;
}

static int identify(struct sonde_instance *self, struct task *task, struct process_stat *stat,
		    struct origin *origin)
{
	struct state *state = self->state;
	const struct bpf *bpf = &state->bpf;
	struct record_told told = { 0 };
	bool known = task->flags & TASK_KNOWN, same;

	origin->is_record = bpf_find(bpf, task, &origin->record, &origin->sum);
	if (origin->is_record) {
		if (known && task->start == origin->record.task->start / bpf->form.tick)
			told = task->told;
		record_stat(&origin->record, &origin->sum, &bpf->form, &told, stat);
	} else {
		int err = read_stat(self, task, stat);

		if (err)
			return err;
	}
	same = task_is(task, stat);
	if (state->tasks.trees)
		tree_read(&state->tree, &state->tasks, task, stat);
	task_identify(&state->tasks, task, stat, state->sample);
	if (origin->is_record)
		task->told = told;
	if (!same && known && state->mode == SELECT_ALL)
		task->flags |= TASK_MEMBER;
	return 0;
}

int row_identify(struct sonde_instance *self, struct task *task, struct process_stat *stat)
{
	struct origin origin;

	return identify(self, task, stat, &origin);
}

/* The whole of a file that is seldom read; what it holds is none of the process's where it can't be. */
static int64_t read_once(struct sonde_instance *self, const struct task *task, const char *name,
			 const char **text)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/%u/%s", task->pid, name);
	int64_t length = file ? sonde_read(self, file, text) : 0;

	sonde_close(self, file);
	return length > 0 ? length : 0;
}

/* Where it finds no room now, it is due again. */
static void set_text(struct sonde_instance *self, struct task *task, uint32_t *id,
		     const char *bytes, size_t length)
{
	struct texts *texts = &((struct state *)self->state)->tasks.texts;

	if (!length)
		texts_drop(texts, id);
	else if (!texts_set(self, texts, id, bytes, length) && length <= TEXT_MOST)
		task->comm_length = COMM_UNSEEN;
}

void row_read_cgroup(struct sonde_instance *self, struct task *task)
{
	const char *text = "", *path = "";
	int64_t length = read_once(self, task, "cgroup", &text);

	size_t n = process_parse_cgroup(text, (size_t)length, &path);

	set_text(self, task, &task->cgroup, path, n);
}

static void read_cmdline(struct sonde_instance *self, struct task *task)
{
	const struct conf *conf = self->conf;
	char line[TEXT_MOST];
	const char *text = "";
	int64_t length = read_once(self, task, "cmdline", &text);

	set_text(self, task, &task->cmdline, line,
		 process_cmdline((enum process_cmdline)conf->cmdline, text, (size_t)length, line,
				 sizeof line));
}

static void set_sched(const struct process_sched *sched, struct sonde_row *row, uint32_t run)
{
	sonde_set_u64(row, run, sched->run);
	sonde_set_u64(row, run + 1, sched->wait);
	sonde_set_u64(row, run + 2, sched->slices);
}

/* False where it holds nothing. */
static bool take_sched(struct state *state, const char *text, int64_t length, struct sonde_row *row,
		       struct process_sched *sched)
{
	if (!process_parse_schedstat(text, (size_t)length, sched))
		return false;
	state->with_sched++;
	set_sched(sched, row, SCHED_RUN);
	return true;
}

/* The files behind stat. An error leaves their values absent; a process that ends meanwhile keeps what was read. True where
 * there is a `sched` of the leader. */
static bool take_files(struct sonde_instance *self, struct task *task, struct sonde_row *row,
		       struct process_sched *sched)
{
	struct state *state = self->state;
	bool counted = false;

	for (uint32_t which = FILE_STATUS; which < TASK_FILES; which++) {
		const char *text = NULL;
		int64_t length;

		if (!(state->files >> which & 1) || task->denied >> which & 1)
			continue;
		length = read_file(self, task, which, &text);
		if (length == -ESRCH)
			return counted;
		if (length == -EACCES || length == -EPERM || length == -ENOENT)
			task->denied |= (uint8_t)(1 << which);
		state->io_denied += which == FILE_IO && (length == -EACCES || length == -EPERM);
		if (length < 0)
			continue;
		if (which == FILE_STATUS)
			process_parse_status(text, (size_t)length, row);
		else if (which == FILE_SCHEDSTAT)
			counted = take_sched(state, text, length, row, sched);
		else
			process_parse_io(text, (size_t)length, row);
	}
	state->with_io += sonde_has(row, RCHAR);
	return counted;
}

/* What take_files() reads, from the record. */
static bool take_record(struct state *state, const struct origin *origin, struct sonde_row *row,
			struct process_sched *sched)
{
	bool counted = false;

	if (state->files >> FILE_STATUS & 1)
		record_set_status(&origin->record, &state->bpf.form, row);
	if (state->files >> FILE_SCHEDSTAT & 1 && record_sched(origin->record.task, sched)) {
		counted = true;
		state->with_sched++;
		set_sched(sched, row, SCHED_RUN);
	}
	if (state->files >> FILE_IO & 1) {
		state->with_io++;
		record_set_io(&origin->sum, row);
	}
	return counted;
}

static void take_threads(struct sonde_instance *self, struct sonde_frame *frame, struct task *task,
			 const struct origin *origin, const struct process_sched *leader,
			 struct sonde_row *row)
{
	struct state *state = self->state;
	struct threads *threads = &state->threads;
	uint64_t count = sonde_has(row, NUM_THREADS) ? row->slots[NUM_THREADS] : 0;
	bool known = origin->is_record ? threads_take_records(self, frame, threads, &state->bpf,
							      task, state->sample, origin->record)
				       : threads_take(self, frame, threads, task, state->sample,
						      count, leader);

	if (known)
		set_sched(&task->threads, row, THREADS_RUN);
}

/* Why there is no row of it; a process that ends or hides is nothing to complain of. */
static void pass_over(struct sonde_instance *self, struct sonde_frame *frame, struct task *task,
		      int err)
{
	struct state *state = self->state;

	if (err == -ESRCH) {
		state->vanished++;
	} else if (err == -EACCES) {
		state->hidden++;
	} else if (err) {
		sonde_log(self, SONDE_WARNING, "/proc/PID/stat: %s", strerror(-err));
		sonde_partial(self, frame);
	}
	if (err == -ESRCH && state->mode == SELECT_PIDS)
		task->flags &= (uint8_t)~TASK_MEMBER;
	if (!(task->flags & TASK_MEMBER)) {
		task->flags &= (uint8_t) ~(TASK_ROW | TASK_KEPT);
		task_close(self, task);
	}
}

/* Others can move it, which a record tells but for a rare coincidence of numbers; so it is looked at now and then. */
static bool may_have_moved(const struct state *state, struct task *task,
			   const struct origin *origin)
{
	enum { SELDOM = 1024, OFTEN = 64 };
	uint32_t groups = origin->is_record ? (uint32_t)origin->record.process->groups : 0;
	bool same = groups == task->groups;

	task->groups = groups;
	return !same || (task->pid + state->sample) % (groups ? SELDOM : OFTEN) == 0;
}

/* What does not change from tick to tick: read when the process is seen first, after exec, and where it moved. */
static void take_changed(struct sonde_instance *self, struct task *task, struct process_stat *stat,
			 const struct origin *origin, char *comm)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	bool changed = task->flags & TASK_CHANGED;

	if (!may_have_moved(state, task, origin) && !changed)
		return;
	/* The text of stat is there until the next read. */
	stat->comm_length = stat->comm_length < COMM_MOST ? stat->comm_length : COMM_MOST;
	stat->comm = memcpy(comm, stat->comm, stat->comm_length);
	task->flags &= (uint8_t)~TASK_CHANGED;
	row_read_cgroup(self, task);
	if (state->mode == SELECT_MATCH && !match_is_chosen(self, task))
		task->flags &= (uint8_t)~TASK_MEMBER;
	if (!changed)
		return;
	task->denied = 0;
	if (conf->cmdline != CMDLINE_NAME && !process_is_kthread(stat))
		read_cmdline(self, task);
}

/* What a thread says cheaply of its time on CPUs. */
static bool read_sched(struct sonde_instance *self, struct task *task, struct process_sched *sched)
{
	const struct bpf *bpf = &((struct state *)self->state)->bpf;
	const char *text = "";
	int64_t length;

	if (bpf->used)
		return bpf_is_idle(bpf, task, sched);
	length = read_file(self, task, FILE_SCHEDSTAT, &text);
	return length >= 0 && process_parse_schedstat(text, (size_t)length, sched);
}

/* Whether the row of the last reading stands for this sample: a single thread that has not run since changed nothing, and
 * in its turn all is read. */
static bool take_saved(struct sonde_instance *self, struct sonde_frame *frame, struct task *task,
		       uint32_t slot)
{
	struct state *state = self->state;
	const struct saved *saved = &state->tasks.saved[slot];
	struct process_sched sched;
	struct sonde_row row;

	if (!saved->have || (!state->bpf.used && (slot + state->sample) % state->period == 0))
		return false;
	if (!read_sched(self, task, &sched) || !saved_is_idle(saved, &sched))
		return false;
	if (!sonde_row(self, frame, TABLE_PROCESS, &row))
		return true;
	state->rows++;
	state->with_sched++;
	saved_put(&state->tasks.texts, saved, &row);
	state->with_io += sonde_has(&row, RCHAR);
	texts_put(&state->tasks.texts, task->cgroup, &row, CGROUP);
	texts_put(&state->tasks.texts, task->cmdline, &row, CMDLINE);
	return true;
}

void row_take(struct sonde_instance *self, struct sonde_frame *frame, uint32_t slot)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct task *task = &state->tasks.task[slot];
	struct process_sched sched;
	struct process_stat stat;
	struct origin origin;
	struct sonde_row row;
	char comm[COMM_MOST];
	bool counted;
	int err;

	if (state->tasks.saves && take_saved(self, frame, task, slot))
		return;
	err = identify(self, task, &stat, &origin);
	if (!err && task->flags & TASK_MEMBER)
		take_changed(self, task, &stat, &origin, comm);
	/* Without an error it may be another process by now, and none of the chosen. */
	if (err || !(task->flags & TASK_MEMBER)) {
		pass_over(self, frame, task, err);
		return;
	}
	if (!sonde_row(self, frame, TABLE_PROCESS, &row))
		return;
	state->rows++;
	sonde_set_u64(&row, PID, task->pid);
	process_set_stat(&stat, state->delays, &row);
	texts_put(&state->tasks.texts, task->cgroup, &row, CGROUP);
	texts_put(&state->tasks.texts, task->cmdline, &row, CMDLINE);
	counted = origin.is_record ? take_record(state, &origin, &row, &sched)
				   : take_files(self, task, &row, &sched);
	if (conf->threads)
		take_threads(self, frame, task, &origin, counted ? &sched : NULL, &row);
	if (state->tasks.saves)
		saved_keep(self, &state->tasks.texts, &state->tasks.saved[slot], &row);
}
