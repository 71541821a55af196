/* One process into one row: which of its files are read when, and what their errors mean. */
#include "collect.h"

static const char *const file_names[TASK_FILES] = { "stat", "status", "schedstat", "io" };

/* The whole file, through the descriptor that the task keeps or through one for this read. */
static int64_t read_file(struct sonde_instance *self, struct task *task, uint32_t which,
			 const char **text)
{
	struct sonde_file *file = task->file[which];
	int64_t length;

	if (!file)
		file = sonde_open(self, SONDE_KEEP, "/proc/%u/%s", task->pid, file_names[which]);
	if (!file)
		return -errno;
	length = sonde_read(self, file, text);
	if (length < 0 || !(task->flags & TASK_KEPT)) {
		sonde_close(self, file);
		file = NULL;
	}
	task->file[which] = file;
	return length;
}

int row_identify(struct sonde_instance *self, struct task *task, struct process_stat *stat)
{
	struct state *state = self->state;
	bool kept = task->file[FILE_STAT] != NULL;
	const char *text = "";
	int64_t length = read_file(self, task, FILE_STAT, &text);
	bool known = task->flags & TASK_KNOWN;

	if (length < 0 && kept) {
		/* The process of the descriptor is gone; another may have its number by now. */
		task_close(self, task);
		length = read_file(self, task, FILE_STAT, &text);
	}
	if (length == -ENOENT)
		return -ESRCH;
	if (length == -EPERM)
		return -EACCES;
	if (length < 0)
		return (int)length;
	if (process_parse_stat(text, (size_t)length, stat))
		return -EBADMSG;
	if (task_identify(task, stat, state->sample) && known && state->mode == SELECT_ALL)
		task->flags |= TASK_MEMBER;
	return 0;
}

/* What only another program or name can change is read again when either is seen to have changed. */
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

static void read_cmdline(struct sonde_instance *self, struct task *task, char *line)
{
	const struct conf *conf = self->conf;
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/%u/cmdline", task->pid);
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : 0;

	task->cmdline_length = 0;
	if (length > 0)
		task->cmdline_length = (uint16_t)process_cmdline(
			conf->cmdline, text, (size_t)length, line, CMDLINE_MOST);
	sonde_close(self, file);
}

static void take_sched(struct sonde_instance *self, struct task *task, const char *text,
		       int64_t length, struct sonde_row *row)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct process_sched sched;
	bool counted = length > 0 && process_parse_schedstat(text, (size_t)length, &sched);
	uint64_t threads = sonde_has(row, NUM_THREADS) ? row->slots[NUM_THREADS] : 0;

	if (counted) {
		state->with_sched++;
		sonde_set_u64(row, SCHED_RUN, sched.run);
		sonde_set_u64(row, SCHED_WAIT, sched.wait);
		sonde_set_u64(row, SCHED_SLICES, sched.slices);
	}
	if (conf->threads && threads_sum(self, &state->threads, task, state->sample, threads,
					 counted ? &sched : NULL)) {
		sonde_set_u64(row, THREADS_RUN, task->threads.run);
		sonde_set_u64(row, THREADS_WAIT, task->threads.wait);
		sonde_set_u64(row, THREADS_SLICES, task->threads.slices);
	}
}

/* The files behind stat. An error leaves their values absent; a process that ends meanwhile keeps what was read. */
static void take_files(struct sonde_instance *self, struct task *task, struct sonde_row *row)
{
	struct state *state = self->state;

	for (uint32_t which = FILE_STATUS; which < TASK_FILES; which++) {
		const char *text = NULL;
		int64_t length;

		if (!(state->files >> which & 1) || task->denied >> which & 1)
			continue;
		length = read_file(self, task, which, &text);
		if (length == -ESRCH)
			return;
		if (length == -EACCES || length == -EPERM || length == -ENOENT)
			task->denied |= (uint8_t)(1 << which);
		if (length < 0)
			continue;
		if (which == FILE_STATUS)
			process_parse_status(text, (size_t)length, row);
		else if (which == FILE_SCHEDSTAT)
			take_sched(self, task, text, length, row);
		else
			process_parse_io(text, (size_t)length, row);
	}
	state->with_io += sonde_has(row, RCHAR);
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

static void take_cmdline(struct sonde_instance *self, uint32_t slot, bool changed,
			 struct sonde_row *row)
{
	struct tasks *tasks = &((struct state *)self->state)->tasks;
	struct task *task = &tasks->task[slot];
	char *line = tasks->cmdline + (size_t)slot * tasks->cmdline_size;

	if (changed && !row->slots[KTHREAD])
		read_cmdline(self, task, line);
	if (task->cmdline_length)
		sonde_set_bytes(row, CMDLINE, line, task->cmdline_length);
}

void row_take(struct sonde_instance *self, struct sonde_frame *frame, uint32_t slot)
{
	struct state *state = self->state;
	struct task *task = &state->tasks.task[slot];
	struct process_stat stat;
	struct sonde_row row;
	bool changed;
	int err = row_identify(self, task, &stat);

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
	changed = is_changed(task, &stat);
	if (changed)
		task->denied = 0;
	take_files(self, task, &row);
	if (state->tasks.cmdline_size)
		take_cmdline(self, slot, changed, &row);
}
