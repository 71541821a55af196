/* Processes as a stream tells of them: rows of the table process, one at each sample, and of task_exit, one at each end. */
#include <stdlib.h>
#include <string.h>

#include "columns.h"

enum {
	PID,
	START,
	PPID,
	STATE,
	COMM,
	CMDLINE,
	UTIME,
	STIME,
	CUTIME,
	CSTIME,
	WAIT,
	THREADS_WAIT,
	READ,
	WRITTEN,
	RSS,
	RSS_PEAK,
	MINFLT,
	MAJFLT,
	VOLUNTARY,
	INVOLUNTARY,
	THREADS,
	RUN,
	THREADS_RUN,
	BLOCKED,
};
static const char *const process_fields[FIELDS_MOST] = {
	[PID] = "pid",
	[START] = "start_time",
	[PPID] = "ppid",
	[STATE] = "state",
	[COMM] = "comm",
	[CMDLINE] = "cmdline",
	[UTIME] = "utime",
	[STIME] = "stime",
	[CUTIME] = "cutime",
	[CSTIME] = "cstime",
	[WAIT] = "sched_wait",
	[THREADS_WAIT] = "threads_wait",
	[READ] = "read_bytes",
	[WRITTEN] = "write_bytes",
	[RSS] = "vm_rss",
	[RSS_PEAK] = "vm_hwm",
	[MINFLT] = "minflt",
	[MAJFLT] = "majflt",
	[VOLUNTARY] = "voluntary_ctxt_switches",
	[INVOLUNTARY] = "nonvoluntary_ctxt_switches",
	[THREADS] = "num_threads",
	[RUN] = "sched_run",
	[THREADS_RUN] = "threads_run",
	[BLOCKED] = "delayacct_blkio_ticks",
};

enum {
	EXIT_PID,
	EXIT_TGID,
	EXIT_PPID,
	EXIT_COMM,
	EXIT_GROUP,
	EXIT_CODE,
	EXIT_FLAG,
	EXIT_LIFE,
	EXIT_CPU,
	EXIT_WAIT,
	EXIT_BLOCKED,
	EXIT_SWAPIN,
	EXIT_READ,
	EXIT_WRITTEN,
	EXIT_RSS,
	EXIT_MINFLT,
	EXIT_MAJFLT,
	EXIT_VOLUNTARY,
	EXIT_INVOLUNTARY,
	EXIT_TASK_CLOCK,
	EXIT_FORKED_BY,
	EXIT_ENDED,
};
static const char *const exit_fields[FIELDS_MOST] = {
	[EXIT_PID] = "pid",
	[EXIT_TGID] = "tgid",
	[EXIT_PPID] = "ppid",
	[EXIT_COMM] = "comm",
	[EXIT_GROUP] = "group",
	[EXIT_CODE] = "exitcode",
	[EXIT_FLAG] = "flag",
	[EXIT_LIFE] = "etime",
	[EXIT_CPU] = "cpu_run_virtual_total", /* utime and stime count interrupts of the timer */
	[EXIT_WAIT] = "cpu_delay_total",
	[EXIT_BLOCKED] = "blkio_delay_total",
	[EXIT_SWAPIN] = "swapin_delay_total",
	[EXIT_READ] = "read_bytes",
	[EXIT_WRITTEN] = "write_bytes",
	[EXIT_RSS] = "hiwater_rss",
	[EXIT_MINFLT] = "minflt",
	[EXIT_MAJFLT] = "majflt",
	[EXIT_VOLUNTARY] = "nvcsw",
	[EXIT_INVOLUNTARY] = "nivcsw",
	[EXIT_TASK_CLOCK] = "task_clock",
	[EXIT_FORKED_BY] = "forked_by",
	[EXIT_ENDED] = "ended",
};

enum { BIRTH_PID, BIRTH_FORKED_BY, BIRTH_BORN };
static const char *const birth_fields[FIELDS_MOST] = {
	[BIRTH_PID] = "pid",
	[BIRTH_FORKED_BY] = "forked_by",
	[BIRTH_BORN] = "born",
};

enum { TOTAL_CPU, TOTAL_SUBTREE };
static const char *const total_fields[FIELDS_MOST] = {
	[TOTAL_CPU] = "subtree_cpu", [TOTAL_SUBTREE] = "subtree"
};

enum { OUT_PID, OUT_START, OUT_COMM, OUT_PROGRAM, OUT_CPU, OUT_CHILDREN };
static const char *const outsider_fields[FIELDS_MOST] = {
	[OUT_PID] = "pid",         [OUT_START] = "start_time", [OUT_COMM] = "comm",
	[OUT_PROGRAM] = "program", [OUT_CPU] = "cpu",          [OUT_CHILDREN] = "children_cpu",
};

/* Keeps a text; one that is there already, or an empty one, changes nothing. */
static void keep(struct tree *tree, char **text, const char *bytes, uint32_t length)
{
	char *copy;

	if (!length || (*text && strlen(*text) == length && memcmp(*text, bytes, length) == 0))
		return;
	copy = strndup(bytes, length);
	if (!copy) {
		tree->no_memory = true;
		return;
	}
	free(*text);
	*text = copy;
}

static void keep_at(struct tree *tree, char **text, const struct at *at, uint32_t field)
{
	uint32_t length;
	const char *bytes = bytes_at(at, field, &length);

	keep(tree, text, bytes, length);
}

/* ---- lives ---- */

static bool make_buckets(struct tree *tree)
{
	if (tree->buckets)
		return true;
	tree->buckets = malloc(BUCKETS * sizeof *tree->buckets);
	for (uint32_t i = 0; tree->buckets && i < BUCKETS; i++)
		tree->buckets[i] = NONE;
	tree->no_memory = tree->no_memory || !tree->buckets;
	return tree->buckets != NULL;
}

/* The newest with this number. */
static struct life *find(const struct tree *tree, uint32_t pid)
{
	int32_t i = tree->buckets ? tree->buckets[pid % BUCKETS] : NONE;

	for (int steps = 0; i != NONE && steps < STEPS_MOST; steps++) {
		if (tree->lives[i].pid == pid)
			return &tree->lives[i];
		i = tree->lives[i].older;
	}
	return NULL;
}

static struct life *add(struct tree *tree, uint32_t pid, uint64_t start)
{
	struct life *life;

	if (tree->count == LIVES_MOST) {
		tree->untold++;
		return NULL;
	}
	if (tree->count == tree->size) {
		uint32_t size = tree->size ? 2 * tree->size : 256;
		struct life *lives = realloc(tree->lives, size * sizeof *lives);

		tree->no_memory = tree->no_memory || !lives;
		if (!lives)
			return NULL;
		tree->lives = lives;
		if (tree->keeps_lanes && !lanes_grow(tree, size))
			return NULL;
		tree->size = size;
	}
	if (!make_buckets(tree))
		return NULL;
	life = &tree->lives[tree->count];
	*life = (struct life) { .pid = pid,
				.start = start,
				.last = start,
				.older = tree->buckets[pid % BUCKETS],
				.row = counts_unknown,
				.base = counts_unknown,
				.exit = use_unknown,
				.use = use_unknown,
				.exitcode = NAN,
				.etime = NAN };
	tree->buckets[pid % BUCKETS] = (int32_t)tree->count++;
	return life;
}

/* Numbers are used again after some ten thousand others: within this time it is the same process. */
enum { SAME_NS = 2000000000 };

static bool about(uint64_t a, uint64_t b)
{
	return a > b ? a - b <= SAME_NS : b - a <= SAME_NS;
}

/* ---- table process ---- */

/* With another name than before it executed something: the command line that is known is not its own any more. */
static void take_name(struct tree *tree, struct life *life, const struct at *at, uint32_t field)
{
	if (life->comm && !is_word(at, field, life->comm)) {
		free(life->command);
		life->command = NULL;
	}
	keep_at(tree, &life->comm, at, field);
}

static void take_counts(struct counts *row, const struct at *at)
{
	struct use *use = &row->use;

	row->user = number_at(at, UTIME);
	row->system = number_at(at, STIME);
	row->children_user = number_at(at, CUTIME);
	row->children_system = number_at(at, CSTIME);
	use->cpu = plus(row->user, row->system);
	use->wait = number_at(at, THREADS_WAIT);
	if (!known(use->wait))
		use->wait = number_at(at, WAIT);
	use->blocked = number_at(at, BLOCKED);
	use->read = larger(use->read, number_at(at, READ));
	use->written = larger(use->written, number_at(at, WRITTEN));
	use->rss = larger(use->rss, number_at(at, RSS_PEAK));
	use->faults = number_at(at, MINFLT);
	use->major_faults = number_at(at, MAJFLT);
	use->switches = plus(number_at(at, VOLUNTARY), number_at(at, INVOLUNTARY));
}

static void take_lane(struct tree *tree, const struct at *at, uint32_t index)
{
	uint32_t length;
	const struct clocks now = {
		.run = number_at(at, RUN),
		.wait = number_at(at, WAIT),
		.blocked = number_at(at, BLOCKED),
		.all_run = number_at(at, THREADS_RUN),
		.all_wait = number_at(at, THREADS_WAIT),
		.cpu = tree->lives[index].row.use.cpu,
		.threads = number_at(at, THREADS),
		.state = *bytes_at(at, STATE, &length),
	};

	lane_sample(tree, index, &now, at->view->end);
}

/* What was added since `before`; what it has from before it was seen first is of this span where it was born in it. */
static double grown(double before, double value, bool born)
{
	return value - (known(before) ? before : born ? 0 : NAN);
}

static void take_row(struct tree *tree, const struct at *at, struct span *span)
{
	uint32_t pid = id_at(at, PID);
	double ticks = number_at(at, START), cpu;
	uint64_t start = known(ticks) ? (uint64_t)ticks : 0;
	struct amounts *amounts = &span->amounts;
	struct life *life = find(tree, pid);
	struct counts *row;
	struct use before;
	bool born;

	/* An exit record may have come first, which knows the start less well. */
	if (!life || (life->sampled ? life->start != start : !about(life->start, start)))
		life = add(tree, pid, start);
	if (!life)
		return;
	life->start = start;
	life->last = at->view->end;
	life->ppid = id_at(at, PPID);
	if (!life->sampled && !life->first_ppid)
		life->first_ppid = life->ppid;
	if (!tree->recorder)
		tree->recorder = life->ppid;
	if (!life->end && is_word(at, STATE, "Z"))
		life->end = at->view->end;
	/* What was told was that it became another user, of whom the kernel does not tell. */
	if (life->told && at->view->begin > life->end && !is_word(at, STATE, "Z")) {
		life->end = 0;
		life->told = false;
	}
	take_name(tree, life, at, COMM);
	keep_at(tree, &life->command, at, CMDLINE);
	row = &life->row;
	before = row->use;
	take_counts(row, at);
	if (!life->sampled)
		life->base = *row;
	born = !life->sampled && start >= span->begin;
	cpu = grown(before.cpu, row->use.cpu, born);
	amounts->rss = plus(amounts->rss, number_at(at, RSS));
	amounts->faults = plus(amounts->faults, grown(before.faults, row->use.faults, born));
	amounts->major_faults = plus(amounts->major_faults,
				     grown(before.major_faults, row->use.major_faults, born));
	life->sampled = true;
	if (tree->lanes)
		take_lane(tree, at, (uint32_t)(life - tree->lives));
	span->cpu = plus(span->cpu, cpu);
}

/* Two and two become one. */
static void halve_spans(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->nspans / 2; i++) {
		const struct span *second = &tree->spans[2 * i + 1];
		struct span both = tree->spans[2 * i];

		both.end = second->end;
		both.cpu = plus(both.cpu, second->cpu);
		amounts_add(&both.amounts, &second->amounts);
		tree->spans[i] = both;
	}
	tree->nspans /= 2;
}

static void add_span(struct tree *tree, const struct span *span)
{
	if (tree->nspans == SPANS_MOST)
		halve_spans(tree);
	if (tree->nspans == tree->spans_size) {
		uint32_t size = tree->spans_size ? 2 * tree->spans_size : 256;
		struct span *spans = realloc(tree->spans, size * sizeof *spans);

		tree->no_memory = tree->no_memory || !spans;
		if (!spans)
			return;
		tree->spans = spans;
		tree->spans_size = size;
	}
	tree->spans[tree->nspans++] = *span;
}

static void take_processes(struct tree *tree, const struct sonde_view *view)
{
	struct span span = { .begin = tree->sampled_at,
			     .end = view->begin,
			     .cpu = NAN,
			     .amounts = amounts_unknown };

	bind_columns(&tree->process, view, process_fields);
	for (uint32_t i = 0; i < view->nrows; i++)
		take_row(tree, &(struct at) { view, &tree->process, i }, &span);
	tree->rss = larger(tree->rss, span.amounts.rss);
	if (tree->samples && span.end > span.begin) {
		amounts_add(&span.amounts, &tree->pending);
		tree->pending = amounts_unknown;
		add_span(tree, &span);
		if (!tree->interval || span.end - span.begin < tree->interval)
			tree->interval = span.end - span.begin;
	}
	tree->sampled_at = view->begin;
	tree->samples++;
}

struct amounts *amounts_of(struct tree *tree, const struct sonde_view *view)
{
	struct span *last = tree->nspans ? &tree->spans[tree->nspans - 1] : NULL;

	return last && last->end == view->begin ? &last->amounts : &tree->pending;
}

/* What a subtree used, with those whom no sample saw: of the span that its processes were just put into. */
static void take_total(struct tree *tree, const struct sonde_view *view)
{
	double before = tree->tree_cpu;

	bind_columns(&tree->total, view, total_fields);
	if (!view->nrows)
		return;
	tree->tree_cpu = number_at(&(struct at) { view, &tree->total, 0 }, TOTAL_CPU);
	if (id_at(&(struct at) { view, &tree->total, 0 }, TOTAL_SUBTREE))
		tree->recorder = id_at(&(struct at) { view, &tree->total, 0 }, TOTAL_SUBTREE);
	if (tree->nspans && tree->spans[tree->nspans - 1].end == view->begin && known(before) &&
	    known(tree->tree_cpu))
		tree->spans[tree->nspans - 1].cpu = tree->tree_cpu - before;
}

/* ---- table task_exit ---- */

/* That of a process with this number whose thread ended, the leader or another. Of several whose end was not told the leader's is
 * of the oldest that began about then; of those whose end was told, only one that ended just now. */
static struct life *life_of(struct tree *tree, uint32_t pid, uint64_t start, bool leader)
{
	struct life *newest = find(tree, pid), *best = NULL;
	int32_t i = newest ? (int32_t)(newest - tree->lives) : NONE;

	for (int steps = 0; leader && i != NONE && steps < STEPS_MOST; steps++) {
		struct life *life = &tree->lives[i];

		if (life->pid == pid && !life->told && about(life->start, start))
			best = life;
		i = life->older;
	}
	if (best)
		return best;
	if (newest && (newest->told ? about(newest->start, start) && start < newest->end
				    : newest->start <= start + SAME_NS))
		return newest;
	return add(tree, pid, start);
}

static void take_exit(struct tree *tree, const struct at *at)
{
	enum { LAST_OF_PROCESS = 32 };
	uint32_t pid = id_at(at, EXIT_PID), tgid = id_at(at, EXIT_TGID);
	uint32_t forked_by = id_at(at, EXIT_FORKED_BY);
	double span = number_at(at, EXIT_LIFE), ended = number_at(at, EXIT_ENDED);
	uint64_t end = known(ended) ? (uint64_t)ended : at->view->end;
	uint64_t flag = id_at(at, EXIT_FLAG);
	uint64_t start = known(span) && span < (double)end ? end - (uint64_t)span : end;
	const struct use use = {
		.cpu = larger(number_at(at, EXIT_CPU), number_at(at, EXIT_TASK_CLOCK)),
		.wait = number_at(at, EXIT_WAIT),
		.blocked = plus(number_at(at, EXIT_BLOCKED), number_at(at, EXIT_SWAPIN)),
		.read = number_at(at, EXIT_READ),
		.written = number_at(at, EXIT_WRITTEN),
		.rss = number_at(at, EXIT_RSS),
		.faults = number_at(at, EXIT_MINFLT),
		.major_faults = number_at(at, EXIT_MAJFLT),
		.switches = plus(number_at(at, EXIT_VOLUNTARY), number_at(at, EXIT_INVOLUNTARY)),
	};
	struct life *life;

	if (!pid || id_at(at, EXIT_GROUP)) /* of a group: a sum of what its threads told */
		return;
	tgid = tgid ? tgid : pid;
	life = life_of(tree, tgid, start, pid == tgid);
	if (!life)
		return;
	use_add(&life->exit, &use);
	if (pid == tgid) {
		life->ppid = id_at(at, EXIT_PPID);
		if (!life->ppid)
			life->ppid = forked_by;
		life->exitcode = number_at(at, EXIT_CODE);
		if (forked_by || !life->first_ppid)
			life->first_ppid = forked_by ? forked_by : life->ppid;
		if (!life->sampled)
			life->start = start;
		take_name(tree, life, at, EXIT_COMM);
	}
	if (flag & LAST_OF_PROCESS) {
		life->told = true;
		life->ended_told = known(ended);
		life->etime = pid == tgid && span < (double)end ? span : NAN;
		life->last = life->end = end;
		life->order = ++tree->ends;
	}
}

static void take_exits(struct tree *tree, const struct sonde_view *view)
{
	bind_columns(&tree->exits, view, exit_fields);
	for (uint32_t i = 0; i < view->nrows; i++)
		take_exit(tree, &(struct at) { view, &tree->exits, i });
}

/* ---- table task_birth ---- */

/* Who made it, which at its end, or when it was sampled first, may be another than its parent. */
static void take_births(struct tree *tree, const struct sonde_view *view)
{
	bind_columns(&tree->births, view, birth_fields);
	for (uint32_t i = 0; i < view->nrows; i++) {
		const struct at at = { view, &tree->births, i };
		double born = number_at(&at, BIRTH_BORN);
		uint32_t pid = id_at(&at, BIRTH_PID);
		struct life *life;

		if (!pid || !known(born))
			continue;
		life = find(tree, pid);
		if (!life || life->born || !about(life->start, (uint64_t)born))
			life = add(tree, pid, (uint64_t)born);
		if (!life)
			continue;
		life->born = (uint64_t)born;
		life->first_ppid = id_at(&at, BIRTH_FORKED_BY);
	}
}

/* ---- table outsider ---- */

/* One that has been told, or the first free place; NULL: there is none. */
static struct outsider *find_outsider(struct tree *tree, uint32_t pid, uint64_t start)
{
	uint32_t i = 0;

	while (i < tree->noutsiders &&
	       (tree->outsiders[i].pid != pid || tree->outsiders[i].start != start))
		i++;
	return i < OUTSIDERS_MOST ? &tree->outsiders[i] : NULL;
}

static void take_outsiders(struct tree *tree, const struct sonde_view *view)
{
	bind_columns(&tree->outside, view, outsider_fields);
	for (uint32_t i = 0; i < view->nrows; i++) {
		const struct at at = { view, &tree->outside, i };
		double start = number_at(&at, OUT_START);
		uint32_t pid = id_at(&at, OUT_PID);
		struct outsider *one = find_outsider(tree, pid, known(start) ? (uint64_t)start : 0);

		if (!one || !pid)
			continue;
		if (one == &tree->outsiders[tree->noutsiders]) {
			tree->noutsiders++;
			one->pid = pid;
			one->start = known(start) ? (uint64_t)start : 0;
		}
		one->cpu = number_at(&at, OUT_CPU);
		one->children = number_at(&at, OUT_CHILDREN);
		keep_at(tree, &one->comm, &at, OUT_COMM);
		keep_at(tree, &one->program, &at, OUT_PROGRAM);
	}
}

/* ---- the rest ---- */

static const struct {
	const char *table;
	void (*take)(struct tree *tree, const struct sonde_view *view);
} takers[] = {
	{ "process", take_processes },
	{ "processes", take_total },
	{ "task_birth", take_births },
	{ "task_exit", take_exits },
	{ "outsider", take_outsiders },
	{ "net", take_network },
	{ "end", take_end },
	{ "stat", take_machine },
	{ "vmstat", take_paging },
};

static void take_header(struct tree *tree, const struct sonde_stream_header *header)
{
	tree->tree_cpu = tree->rss = tree->received = tree->sent = tree->busy = NAN;
	tree->paged_in = tree->paged_out = NAN;
	tree->pending = amounts_unknown;
	keep(tree, &tree->host, header->host, (uint32_t)strlen(header->host));
	keep(tree, &tree->label, header->label, (uint32_t)strlen(header->label));
	keep(tree, &tree->kernel, header->kernel, (uint32_t)strlen(header->kernel));
	keep(tree, &tree->arch, header->arch, (uint32_t)strlen(header->arch));
	keep(tree, &tree->version, header->version, (uint32_t)strlen(header->version));
	tree->utc_offset = header->utc_offset;
	tree->cpus = header->ncpus;
}

/* Lanes take turns: a view may begin before those that came earlier. */
static void take_time(struct tree *tree, const struct sonde_view *view)
{
	if (!tree->any) {
		take_header(tree, view->header);
		tree->realtime = (int64_t)((uint64_t)view->realtime - view->begin);
	}
	if (!tree->any || view->begin < tree->first)
		tree->first = view->begin;
	if (view->end > tree->last)
		tree->last = view->end;
	if (!(view->schema->flags & SONDE_EVENTS) &&
	    (!tree->instants || view->sequence != tree->sequence)) {
		tree->sequence = view->sequence;
		tree->instants++;
	}
	tree->any = true;
}

void tree_view(struct tree *tree, const struct sonde_view *view)
{
	take_time(tree, view);
	for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++)
		if (strcmp(view->schema->name, takers[i].table) == 0)
			takers[i].take(tree, view);
}

void tree_free(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		free(tree->lives[i].comm);
		free(tree->lives[i].command);
	}
	lanes_free(tree);
	for (uint32_t i = 0; i < tree->noutsiders; i++) {
		free(tree->outsiders[i].comm);
		free(tree->outsiders[i].program);
	}
	free(tree->lives);
	free(tree->buckets);
	free(tree->order);
	free(tree->spans);
	free(tree->host);
	free(tree->label);
	free(tree->kernel);
	free(tree->arch);
	free(tree->version);
	*tree = (struct tree) { 0 };
}
