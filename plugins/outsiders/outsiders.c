/* outsiders: who used CPU time without descending from some processes, the busiest since the first sample (/proc/PID/stat:
 * proc_pid_stat(5)). Cheap enough to stand beside a recording of a tree: one stat of each process, seldom. */
#define SONDE_USE_MINOR 1
#include <sonde/targets.h>

#include "program.h"

enum { PID, START_TIME, COMM, PROGRAM, PPID, CPU, CHILDREN, COLUMNS };

enum { AT_FIRST = 512, TREES_MOST = 64, PROGRAM_MOST = 64 };

struct conf {
	struct sonde_list tree;
	uint64_t max;
};

/* A process as it was seen last. CPU times are ticks. */
struct outsider {
	struct target is;
	uint64_t cpu_base, children_base; /* at the first sample; later ones began with 0 */
	bool inside;                      /* one of the trees' roots, or a descendant of one */
};

struct state {
	struct outsider *now, *before; /* ascending by pid */
	uint32_t *busiest;             /* indices of now */
	uint32_t nnow, nbefore, capacity, asked;
	uint32_t missed; /* processes without room in this sample */
	uint32_t tree[TREES_MOST], ntrees;
	uint64_t newest; /* start of the newest at the first sample */
	bool begun;      /* the first sample was */
};

static const struct sonde_option options[] = {
	{ "tree", SONDE_OPT_LIST, offsetof(struct conf, tree), "", NULL, 0, 0,
	  "processes, by id, that are not told, nor what descends from them" },
	{ "max", SONDE_OPT_U64, offsetof(struct conf, max), "32", NULL, 1, 4096,
	  "rows at most, those of the busiest" },
};

/* clang-format off */
static const struct sonde_column columns[COLUMNS] = {
	[PID]        = { "pid", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "stat field 1", .help = "with start_time the identity: the kernel reuses the number" },
	[START_TIME] = { "start_time", SONDE_U64, SONDE_KEY, SONDE_TICKS, .origin = "stat field 22", .help = "time after boot at which it started" },
	[COMM]       = { "comm", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "stat field 2", .help = "name of the leader thread, raw bytes", .sensitivity = SONDE_NAME },
	[PROGRAM]    = { "program", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "cmdline", .help = "of java, node, python and other runtimes what they run: the last part of a class, an archive or a script; no other argument", .sensitivity = SONDE_NAME },
	[PPID]       = { "ppid", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "stat field 4", .help = "parent" },
	[CPU]        = { "cpu", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat fields 14 15", .help = "CPU time of all its threads since the first sample, or since its birth after that" },
	[CHILDREN]   = { "children_cpu", SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "stat fields 16 17", .help = "CPU time likewise of children that ended and that it waited for" },
};
static const struct sonde_table tables[] = {
	{ "outsider", SONDE_COLUMNS(columns), .origin = "/proc/PID", .help = "the busiest processes since the first sample that do not descend from some", .rows = 32, .max_rows = 4096 },
};
/* clang-format on */

/* ---- start */

static int make_room(struct sonde_instance *self, uint32_t count)
{
	struct state *state = self->state;

	if (sonde_grow(self, &state->now, (uint64_t)count * sizeof *state->now) ||
	    sonde_grow(self, &state->before, (uint64_t)count * sizeof *state->before) ||
	    sonde_grow(self, &state->busiest, (uint64_t)count * sizeof *state->busiest))
		return -ENOMEM;
	state->asked = count;
	return 0;
}

static int check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	int64_t count = targets_parse(self, "tree", &conf->tree, 0, NULL);

	if (count > TREES_MOST)
		sonde_log(self, SONDE_ERROR, "tree: more than %d processes", TREES_MOST);
	return count < 0 || count > TREES_MOST ? -EINVAL : 0;
}

static int start(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct target named[TREES_MOST] = { 0 };
	const char *names;
	int64_t n;
	int err = check(self);

	if (err)
		return err;
	state->ntrees = (uint32_t)targets_parse(self, "tree", &conf->tree, 0, named);
	for (uint32_t i = 0; i < state->ntrees; i++)
		state->tree[i] = named[i].pid;
	n = sonde_list(self, "/proc", &names);
	if (n <= 0)
		return sonde_unavailable(self, "no processes in /proc: mount -t proc proc /proc");
	return make_room(self, (uint32_t)(n + n / 2 + AT_FIRST));
}

/* ---- a pass over /proc */

static struct outsider *outsider_with(struct outsider *in, uint32_t count, uint32_t pid)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (in[middle].is.pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && in[low].is.pid == pid ? &in[low] : NULL;
}

/* All that is there before is base, all that comes later begins with nothing. */
static void set_base(struct state *state, struct outsider *one)
{
	const struct outsider *same = outsider_with(state->before, state->nbefore, one->is.pid);

	if (same && same->is.start == one->is.start) {
		one->cpu_base = same->cpu_base;
		one->children_base = same->children_base;
	} else if (!state->begun || one->is.start < state->newest) {
		one->cpu_base = one->is.cpu;
		one->children_base = one->is.children;
	}
	if (!state->begun && one->is.start > state->newest)
		state->newest = one->is.start;
}

static bool lives(struct state *state, const struct outsider *one)
{
	const struct outsider *same = outsider_with(state->now, state->nnow, one->is.pid);

	return same && same->is.start == one->is.start;
}

/* Who lives of those from whom it descends; NULL: nobody that is known. */
static struct outsider *living_parent(struct state *state, const struct outsider *gone)
{
	for (uint32_t steps = 0; gone && steps <= state->nbefore; steps++) {
		const struct outsider *parent =
			outsider_with(state->before, state->nbefore, gone->is.ppid);

		if (parent && lives(state, parent))
			return outsider_with(state->now, state->nnow, parent->is.pid);
		gone = parent;
	}
	return NULL;
}

/* What a child had used before the first sample is none of what its parent's children used since. */
static void forget_gone(struct state *state)
{
	for (uint32_t i = 0; i < state->nbefore; i++) {
		const struct outsider *gone = &state->before[i];
		struct outsider *parent = lives(state, gone) ? NULL : living_parent(state, gone);

		if (parent)
			parent->children_base += gone->cpu_base + gone->children_base;
	}
}

static bool is_root(const struct state *state, uint32_t pid)
{
	for (uint32_t i = 0; i < state->ntrees; i++)
		if (state->tree[i] == pid)
			return true;
	return false;
}

/* A parent may have the higher number. */
static void mark_inside(struct state *state)
{
	bool found;

	for (uint32_t i = 0; i < state->nnow; i++)
		state->now[i].inside = is_root(state, state->now[i].is.pid);
	do {
		found = false;
		for (uint32_t i = 0; i < state->nnow; i++) {
			struct outsider *one = &state->now[i];
			const struct outsider *parent =
				one->inside ? NULL
					    : outsider_with(state->now, state->nnow, one->is.ppid);

			if (!parent || !parent->inside)
				continue;
			one->inside = found = true;
		}
	} while (found);
}

static uint64_t grown(uint64_t base, uint64_t value)
{
	return value > base ? value - base : 0;
}

static uint64_t used_since(const struct outsider *one)
{
	return grown(one->cpu_base, one->is.cpu) + grown(one->children_base, one->is.children);
}

/* The `most` busiest, the busiest first, into state->busiest. */
static uint32_t choose(struct state *state, uint64_t most)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < state->nnow; i++) {
		uint32_t at = count;

		if (state->now[i].inside || !used_since(&state->now[i]))
			continue;
		while (at &&
		       used_since(&state->now[state->busiest[at - 1]]) < used_since(&state->now[i]))
			at--;
		if (at == most)
			continue;
		count += count < most;
		memmove(&state->busiest[at + 1], &state->busiest[at],
			(count - at - 1) * sizeof *state->busiest);
		state->busiest[at] = i;
	}
	return count;
}

/* ---- rows */

/* What it runs, where it is a runtime and that may be seen. */
static void set_program(struct sonde_instance *self, uint32_t pid, struct sonde_row *row)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/%u/cmdline", pid);
	const char *text = "", *program = "";
	int64_t length = file ? sonde_read(self, file, &text) : 0;
	size_t n = length > 0 ? program_of(text, (size_t)length, &program) : 0;

	sonde_close(self, file);
	if (n)
		sonde_set_bytes(row, PROGRAM, program,
				(uint32_t)(n < PROGRAM_MOST ? n : PROGRAM_MOST));
}

static void take_outsider(struct sonde_instance *self, struct sonde_frame *frame,
			  const struct outsider *one)
{
	struct sonde_row row;

	if (!sonde_row(self, frame, 0, &row))
		return;
	sonde_set_u64(&row, PID, one->is.pid);
	sonde_set_u64(&row, START_TIME, one->is.start);
	sonde_set_bytes(&row, COMM, one->is.comm, one->is.comm_length);
	sonde_set_u64(&row, PPID, one->is.ppid);
	sonde_set_u64(&row, CPU, grown(one->cpu_base, one->is.cpu));
	sonde_set_u64(&row, CHILDREN, grown(one->children_base, one->is.children));
	set_program(self, one->is.pid, &row);
}

static int read_all(struct sonde_instance *self)
{
	struct state *state = self->state;
	const char *names;
	int64_t n = sonde_list(self, "/proc", &names);
	uint64_t pid;

	state->nnow = state->missed = 0;
	/* Numbers come before names. */
	for (int64_t left = n; left > 0; left--, names += strlen(names) + 1) {
		struct cursor c = whole(names, strlen(names));
		struct outsider one = { 0 };

		if (!next_u64(&c, &pid))
			break;
		if (!target_read(self, (uint32_t)pid, 0, &one.is))
			continue;
		set_base(state, &one);
		if (state->nnow < state->capacity)
			state->now[state->nnow++] = one;
		else
			state->missed++;
	}
	return n < 0 ? (int)n : 0;
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct outsider *last = state->now;
	uint32_t count;
	int err;

	/* The two take turns; what was asked for is there now. */
	state->now = state->before;
	state->before = last;
	state->nbefore = state->nnow;
	state->capacity = state->asked;
	err = read_all(self);
	if (err)
		return err;
	forget_gone(state);
	mark_inside(state);
	state->begun = true;
	count = choose(state, conf->max);
	for (uint32_t i = 0; i < count; i++)
		take_outsider(self, frame, &state->now[state->busiest[i]]);
	if (!state->missed)
		return 0;
	sonde_partial(self, frame);
	return make_room(self, 2 * (state->nnow + state->missed));
}

SONDE_COLLECTOR(outsiders, "who used CPU time without descending from some processes", sample,
		.options = SONDE_OPTIONS(options), .tables = SONDE_TABLES(tables),
		.conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
		.check = check, .start = start);
