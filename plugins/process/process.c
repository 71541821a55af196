/* process: CPU time, memory, faults, scheduling and I/O of processes (/proc/PID/{stat,status,schedstat,io}: proc(5),
 * Documentation/filesystems/proc.rst). */
#include "collect.h"

static const struct sonde_option options[] = {
	{ "pids", SONDE_OPT_LIST, offsetof(struct conf, pids), "", NULL, 0, 0,
	  "these processes, by id; without this and the four below all processes" },
	{ "subtree", SONDE_OPT_LIST, offsetof(struct conf, subtree), "", NULL, 0, 0,
	  "these processes and all that descend from them, by id; with cgroup, unit or name also those and "
	  "their descendants" },
	{ "cgroup", SONDE_OPT_LIST, offsetof(struct conf, cgroup), "", NULL, 0, 0,
	  "processes of this control group and those below it, a path as in /proc/PID/cgroup" },
	{ "unit", SONDE_OPT_LIST, offsetof(struct conf, unit), "", NULL, 0, 0,
	  "processes of this systemd unit: nginx, user-1000.slice" },
	{ "name", SONDE_OPT_LIST, offsetof(struct conf, name), "", NULL, 0, 0,
	  "processes whose name (comm) is like this pattern: postgres, kworker*" },
	{ "files", SONDE_OPT_LIST, offsetof(struct conf, files), "stat status schedstat io", NULL,
	  0, 0, "of each process what is read; stat always" },
	{ "threads", SONDE_OPT_BOOL, offsetof(struct conf, threads), "no", NULL, 0, 0,
	  "a row for each thread, and scheduling values summed over them: two more reads a thread" },
	{ "cmdline", SONDE_OPT_CHOICE, offsetof(struct conf, cmdline), "name", "name|redacted|full",
	  0, 0, "command line: none but the name, with secrets masked, or all" },
	{ "source", SONDE_OPT_CHOICE, offsetof(struct conf, source), "auto", "auto|bpf|proc", 0, 0,
	  "a BPF task iterator, or the texts of /proc; auto: BPF from 1,000 processes on" },
	{ "max", SONDE_OPT_U64, offsetof(struct conf, max), "4096", NULL, 1, 1000000,
	  "rows at most; the busiest processes, the others are counted" },
};

static int parse_files(struct sonde_instance *self, uint32_t *files)
{
	static const char *const names[] = {
		[FILE_STAT] = "stat",
		[FILE_STATUS] = "status",
		[FILE_SCHEDSTAT] = "schedstat",
		[FILE_IO] = "io",
	};
	const struct conf *conf = self->conf;

	*files = 1 << FILE_STAT;
	for (uint32_t i = 0; i < conf->files.count; i++) {
		struct cursor c = whole(conf->files.items[i], strlen(conf->files.items[i]));

		for (skip_blanks(&c); c.at < c.end; skip_blanks(&c)) {
			uint32_t which = 0;

			while (which < TASK_FILES && !take_word(&c, names[which]))
				which++;
			if (which == TASK_FILES) {
				sonde_log(
					self, SONDE_ERROR,
					"files = %s: not stat, status, schedstat or io, separated by blanks",
					conf->files.items[i]);
				return -EINVAL;
			}
			*files |= 1u << which;
		}
	}
	return 0;
}

static int check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	uint32_t files;

	if (conf->pids.count &&
	    (conf->subtree.count || conf->cgroup.count || conf->unit.count || conf->name.count)) {
		sonde_log(self, SONDE_ERROR,
			  "pids excludes subtree, cgroup, unit and name: "
			  "use two sections, [process a] and [process b]");
		return -EINVAL;
	}
	if (select_parse(self, "pids", &conf->pids, NULL) < 0 ||
	    select_parse(self, "subtree", &conf->subtree, NULL) < 0 || match_check(self))
		return -EINVAL;
	return parse_files(self, &files);
}

/* Since Linux 5.14 delay accounting is off unless asked for, and the field 0; before, it was on and had no switch. */
static bool has_delays(struct sonde_instance *self)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/sys/kernel/task_delayacct");
	const char *text;
	bool on = !file || sonde_read(self, file, &text) < 1 || *text != '0';

	sonde_close(self, file);
	return on;
}

static int start(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	int err = check(self);

	if (err)
		return err;
	parse_files(self, &state->files);
	state->nfiles = (uint32_t)__builtin_popcount(state->files);
	state->delays = state->threads.delays = has_delays(self);
	state->tasks.saves = self->interval && self->interval < 1000000000 && !conf->threads &&
			     state->files >> FILE_SCHEDSTAT & 1;
	err = select_start(self);
	if (!err && conf->threads)
		err = threads_reserve(self, &state->threads, 2 * state->tasks.count);
	return err;
}

/* What is missing in a recording is put down to what is noted first: that nobody was chosen, if so, and not to what the kernel
 * does not count. */
static void tell_first(struct sonde_instance *self)
{
	const struct state *state = self->state;

	if (!state->rows)
		match_tell(self);
	if (!state->delays)
		sonde_note(self, "delayacct_blkio_ticks is absent: delay accounting is off; "
				 "sysctl kernel.task_delayacct=1 counts it from then on");
	if (state->rows)
		match_tell(self);
}

/* What a reader has to know of this sample, said once. */
static void tell(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	if (state->sample == 1)
		tell_first(self);
	if (state->hidden && !state->told_hidden) {
		state->told_hidden = true;
		sonde_note(self,
			   "%u processes are not visible: /proc is mounted with hidepid; "
			   "it needs CAP_SYS_PTRACE or the group of gid=",
			   state->hidden);
	}
	if (state->omitted && !state->told_omitted) {
		state->told_omitted = true;
		sonde_note(self, "%u of %u processes are left out, the idlest: max = %llu",
			   state->omitted, state->members, (unsigned long long)conf->max);
	}
	if (!state->rows || state->told_absent)
		return;
	state->told_absent = true;
	if (state->files >> FILE_SCHEDSTAT & 1 && !state->with_sched)
		sonde_note(self,
			   "how long processes wait for a CPU is not known: /proc/PID/schedstat "
			   "is missing or 0 0 0; it needs a kernel with CONFIG_SCHED_INFO");
	if (!(state->files >> FILE_IO & 1))
		return;
	/* A file that is not there is of a process that ended meanwhile, unless no process has it. */
	if (state->io_denied)
		sonde_note(self,
			   "I/O of %u of %u processes is not known: /proc/PID/io of other users "
			   "needs CAP_SYS_PTRACE",
			   state->io_denied, state->rows);
	else if (!state->with_io)
		sonde_note(self, "I/O of processes is not known: /proc/PID/io is missing; "
				 "it needs a kernel with CONFIG_TASK_IO_ACCOUNTING");
}

static void set_totals(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_PROCESSES, &row))
		return;
	sonde_set_u64(&row, TOTAL_LISTED, state->listed);
	sonde_set_u64(&row, TOTAL_ROWS, state->rows);
	sonde_set_u64(&row, TOTAL_HIDDEN, state->hidden);
	sonde_set_u64(&row, TOTAL_OMITTED, state->omitted);
	sonde_set_u64(&row, TOTAL_VANISHED, state->vanished);
	if (state->mode != SELECT_SUBTREE)
		return;
	sonde_set_u64(&row, TOTAL_CPU, tree_total(&state->tree, &state->tasks));
	sonde_set_u64(&row, TOTAL_SUBTREE, select_root(state));
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	struct tasks *tasks = &state->tasks;
	int err;

	state->sample++;
	state->rows = state->hidden = state->with_sched = state->with_io = state->io_denied = 0;
	threads_begin(&state->threads);
	err = select_update(self);
	if (err)
		return err;
	for (uint32_t i = 0; i < tasks->count; i++) {
		uint32_t slot = tasks->order[i];

		if (tasks->task[slot].flags & TASK_ROW)
			row_take(self, frame, slot);
	}
	if (state->omitted)
		select_probe(self);
	if (state->omitted || tasks->missed)
		sonde_partial(self, frame);
	set_totals(self, frame);
	tell(self);
	return threads_reserve(self, &state->threads, state->threads.count + state->threads.missed);
}

static void stop(struct sonde_instance *self)
{
	struct tasks *tasks = &((struct state *)self->state)->tasks;

	for (uint32_t i = 0; i < tasks->count; i++)
		task_close(self, &tasks->task[tasks->order[i]]);
	sonde_close(self, ((struct state *)self->state)->loadavg);
	bpf_stop(&((struct state *)self->state)->bpf);
	events_stop(&((struct state *)self->state)->events);
}

SONDE_COLLECTOR(process, "CPU time, memory, faults, scheduling and I/O of processes", sample,
		.options = SONDE_OPTIONS(options), .tables = SONDE_TABLES(process_tables),
		.conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
		.check = check, .start = start, .stop = stop);
