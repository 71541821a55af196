/* process: CPU time, memory, faults, scheduling and I/O of processes (/proc/PID/{stat,status,schedstat,io}: proc(5),
 * Documentation/filesystems/proc.rst). */
#include "collect.h"

static const struct sonde_option options[] = {
	{ "pids", SONDE_OPT_LIST, offsetof(struct conf, pids), "", NULL, 0, 0,
	  "these processes, by id; without pids and subtree all processes" },
	{ "subtree", SONDE_OPT_LIST, offsetof(struct conf, subtree), "", NULL, 0, 0,
	  "these processes and all that descend from them, by id" },
	{ "files", SONDE_OPT_LIST, offsetof(struct conf, files), "stat status schedstat io", NULL,
	  0, 0, "of each process what is read; stat always" },
	{ "threads", SONDE_OPT_BOOL, offsetof(struct conf, threads), "no", NULL, 0, 0,
	  "scheduling values summed over all threads as well: one more read a thread" },
	{ "cmdline", SONDE_OPT_CHOICE, offsetof(struct conf, cmdline), "name", "name|redacted|full",
	  0, 0, "command line: none but the name, options without their values, or all" },
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

	if (conf->pids.count && conf->subtree.count) {
		sonde_log(self, SONDE_ERROR,
			  "pids and subtree exclude each other: "
			  "use two sections, [process a] and [process b]");
		return -EINVAL;
	}
	if (select_parse(self, "pids", &conf->pids, NULL) < 0 ||
	    select_parse(self, "subtree", &conf->subtree, NULL) < 0)
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
	state->delays = has_delays(self);
	if (!state->delays)
		sonde_note(self, "delayacct_blkio_ticks is absent: delay accounting is off; "
				 "sysctl kernel.task_delayacct=1 counts it from then on");
	if (conf->cmdline != CMDLINE_NAME)
		state->tasks.cmdline_size = CMDLINE_MOST;
	err = select_start(self);
	if (!err && conf->threads)
		err = threads_reserve(self, &state->threads, 2 * state->tasks.count);
	return err;
}

/* What a reader has to know of this sample, said once. */
static void tell(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

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
	if (state->files >> FILE_IO & 1 && state->with_io < state->rows)
		sonde_note(
			self,
			"I/O of %u of %u processes is not known: /proc/PID/io of other users needs "
			"CAP_SYS_PTRACE, and a kernel with CONFIG_TASK_IO_ACCOUNTING",
			state->rows - state->with_io, state->rows);
}

static void set_totals(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_PROCESSES, &row))
		return;
	sonde_set_u64(&row, TOTAL_LISTED, state->listed);
	sonde_set_u64(&row, TOTAL_ROWS, state->rows);
	sonde_set_u64(&row, TOTAL_HIDDEN, state->hidden);
	sonde_set_u64(&row, TOTAL_OMITTED, state->omitted);
	sonde_set_u64(&row, TOTAL_VANISHED, state->vanished);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	struct tasks *tasks = &state->tasks;
	int err;

	state->sample++;
	state->rows = state->hidden = state->with_sched = state->with_io = 0;
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
}

SONDE_COLLECTOR(process, "CPU time, memory, faults, scheduling and I/O of processes", sample,
		.options = SONDE_OPTIONS(options), .tables = SONDE_TABLES(process_tables),
		.conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
		.check = check, .start = start, .stop = stop);
