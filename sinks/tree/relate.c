/* Who belongs to the tree, whose children they are, and what each used: samples, exit records and what parents were told of
 * the children that they waited for (cutime of proc_pid_stat(5), and read_bytes of proc_pid_io(5), which holds theirs). */
#include <stdlib.h>
#include <string.h>

#include "tree.h"

/* Who had this number when that process lived; NONE. */
static int32_t living(const struct tree *tree, uint32_t pid, const struct life *child)
{
	int32_t i = pid && tree->buckets ? tree->buckets[pid % BUCKETS] : NONE;

	for (int steps = 0; i != NONE && steps < STEPS_MOST; steps++) {
		const struct life *life = &tree->lives[i];

		if (life->pid == pid && life != child && life->start <= child->start + SLACK_NS &&
		    (!life->end || life->end + SLACK_NS >= child->start))
			return i;
		i = life->older;
	}
	return NONE;
}

/* Whether `life` is above `below` or is it: then it is no child of it, whatever a damaged recording says. */
static bool is_above(const struct tree *tree, int32_t life, int32_t below)
{
	for (int steps = 0; below != NONE; steps++) {
		if (below == life || steps == DEPTH_MOST)
			return true;
		below = tree->lives[below].parent;
	}
	return false;
}

static void find_parents(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++)
		tree->lives[i].parent = tree->lives[i].child = tree->lives[i].sibling = NONE;
	for (uint32_t i = 0; i < tree->count; i++) {
		int32_t parent = living(tree, tree->lives[i].first_ppid, &tree->lives[i]);

		if (!is_above(tree, (int32_t)i, parent))
			tree->lives[i].parent = parent;
	}
}

/* What was sampled is of the tree; what only an exit record tells of, the machine's are all there, if its parent is, or who
 * takes the tree's orphans. */
static void find_members(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++)
		tree->lives[i].member = tree->lives[i].sampled;
	for (uint32_t i = 0; i < tree->count; i++) {
		int32_t top = (int32_t)i;

		while (!tree->lives[top].member && tree->lives[top].parent != NONE)
			top = tree->lives[top].parent;
		if (!tree->lives[top].member &&
		    (!tree->adopted || tree->lives[top].first_ppid != tree->recorder))
			continue;
		for (int32_t at = (int32_t)i; at != NONE && !tree->lives[at].member;
		     at = tree->lives[at].parent)
			tree->lives[at].member = true;
	}
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->lives[i].parent != NONE && !tree->lives[tree->lives[i].parent].member)
			tree->lives[i].parent = NONE;
}

static int by_start(const void *a, const void *b, void *context)
{
	const struct tree *tree = context;
	const struct life *x = &tree->lives[*(const uint32_t *)a];
	const struct life *y = &tree->lives[*(const uint32_t *)b];

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Children in the order of their start; then everybody, parents first. */
static bool put_in_order(struct tree *tree)
{
	int32_t roots = NONE, at;
	uint32_t *sorted = malloc((tree->count + 1) * sizeof *sorted);

	if (!tree->order)
		tree->order = malloc((tree->count + 1) * sizeof *tree->order);
	tree->members = 0;
	for (uint32_t i = 0; i < tree->count; i++)
		tree->lives[i].child = NONE;
	if (!sorted || !tree->order) {
		free(sorted);
		return false;
	}
	for (uint32_t i = 0; i < tree->count; i++)
		sorted[i] = i;
	qsort_r(sorted, tree->count, sizeof *sorted, by_start, tree);
	for (uint32_t i = tree->count; i-- > 0;) {
		struct life *life = &tree->lives[sorted[i]];
		int32_t *first = life->parent == NONE ? &roots : &tree->lives[life->parent].child;

		if (!life->member)
			continue;
		life->sibling = *first;
		*first = (int32_t)sorted[i];
	}
	free(sorted);
	for (at = roots; at != NONE;) {
		struct life *life = &tree->lives[at];

		life->place = tree->members;
		tree->order[tree->members++] = (uint32_t)at;
		at = life->child;
		while (at == NONE && life) {
			at = life->sibling;
			life = life->parent == NONE ? NULL : &tree->lives[life->parent];
		}
	}
	return true;
}

/* An orphan's time went to who took it over, not to its parent. */
static bool is_reaped_by_parent(const struct tree *tree, const struct life *life)
{
	return life->end && life->parent != NONE && tree->lives[life->parent].pid == life->ppid;
}

/* ---- when it lived ---- */

/* A record tells how long it lived and comes with the next sample: from a birth that is known the end is, and from an end. */
static void settle_times(const struct tree *tree, struct life *life)
{
	bool measured = life->told && known(life->etime);

	if (life->born)
		life->start = life->born;
	life->start_exact = life->born || life->sampled || (measured && life->ended_told);
	life->life_exact = measured || life->ended_told;
	if (measured && life->start_exact && !life->ended_told)
		life->end = life->start + (uint64_t)life->etime;
	if (life->end && life->end < life->start)
		life->end = life->start;
	/* Ends that were not told are seen by a sample's having no row more. */
	if (!life->end && life->sampled && life->last < tree->sampled_at)
		life->end = life->last;
	life->life_exact = life->life_exact || !life->end;
}

/* A child is born while its parent lives, and ends before it where that is its parent still. */
static void fit(const struct tree *tree, struct life *life)
{
	const struct life *parent = &tree->lives[life->parent];
	bool within = parent->end && is_reaped_by_parent(tree, life);
	uint64_t length = life->end ? life->end - life->start : 0;
	uint64_t room = within && life->life_exact && length < parent->end ? length : 0;

	if (parent->end && life->start > parent->end - room)
		life->start = parent->end - room;
	if (life->start < parent->start)
		life->start = parent->start;
	if (!life->end)
		return;
	life->end = life->start + length;
	if (within && life->end > parent->end)
		life->end = parent->end;
	if (life->end < life->start) /* of what a damaged recording says */
		life->end = life->start;
}

static double or_zero(double value)
{
	return known(value) ? value : 0;
}

static double since(double base, double value)
{
	return value < base ? 0 : value - base;
}

/* Born while it was recorded, it had used nothing before; else what its first row tells, and without one it is not known. */
static void settle_base(const struct tree *tree, struct life *life)
{
	life->earlier = life->start + (life->sampled ? TICKS_NS : SLACK_NS) < tree->first;
	if (!life->earlier)
		life->base = (struct counts) { 0 };
}

/* Each by itself: an exit record has all of a life, where sonde listened for all of it. */
static void settle_own(struct life *life)
{
	const struct use *row = &life->row.use, *base = &life->base.use, *told = &life->exit;
	/* Rows have these of the leader alone, records of all threads: no difference between the two. */
	double wait = life->earlier ? NAN : told->wait;
	double blocked = life->earlier ? NAN : told->blocked;
	double switches = life->earlier ? NAN : told->switches;

	life->use = (struct use) {
		.cpu = since(base->cpu, larger(row->cpu, told->cpu)),
		.wait = since(base->wait, larger(row->wait, wait)),
		.blocked = since(base->blocked, larger(row->blocked, blocked)),
		.rss = larger(row->rss, told->rss),
		.faults = since(base->faults, larger(row->faults, told->faults)),
		.major_faults =
			since(base->major_faults, larger(row->major_faults, told->major_faults)),
		.switches = since(base->switches, larger(row->switches, switches)),
	};
}

static double waited_for(const struct counts *counts)
{
	return or_zero(counts->children_user) + or_zero(counts->children_system);
}

/* Since its birth. */
static double own_cpu(const struct life *life)
{
	return or_zero(larger(life->row.use.cpu, life->exit.cpu));
}

static void adopt(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->members; i++) {
		const struct life *life = &tree->lives[tree->order[i]];
		int32_t reaper;

		if (!life->end || is_reaped_by_parent(tree, life))
			continue;
		reaper = living(tree, life->ppid, life);
		if (reaper != NONE)
			tree->lives[reaper].adopted += own_cpu(life) + waited_for(&life->row);
	}
}

/* Bytes since `base`. The row has too many: those of children. */
static double own_bytes(double told, double row, double base, double children)
{
	if (known(told))
		return since(base, told);
	return since(children, since(base, row));
}

/* From the leaves up: what children used, and what a parent was told of beyond that. It is told of their whole lives. */
static void settle_children(struct tree *tree)
{
	for (uint32_t i = tree->members; i-- > 0;) {
		struct life *life = &tree->lives[tree->order[i]];
		const struct use *row = &life->row.use, *base = &life->base.use;
		double before = waited_for(&life->base);
		double told = since(before, waited_for(&life->row));
		double cpu = life->adopted, read = 0, written = 0;

		for (int32_t c = life->child; c != NONE; c = tree->lives[c].sibling) {
			const struct life *child = &tree->lives[c];

			if (!is_reaped_by_parent(tree, child))
				continue;
			cpu += child->known;
			read += child->below_read;
			written += child->below_written;
		}
		life->short_lived = since(cpu, told);
		life->known = own_cpu(life) + before + larger(told, cpu);
		life->use.read = own_bytes(life->exit.read, row->read, base->read, read);
		life->use.written =
			own_bytes(life->exit.written, row->written, base->written, written);
		life->below_read = or_zero(base->read) + read + or_zero(life->use.read);
		life->below_written = or_zero(base->written) + written + or_zero(life->use.written);
	}
}

static int by_end(const void *a, const void *b, void *context)
{
	const struct tree *tree = context;
	const struct life *x = &tree->lives[*(const uint32_t *)a];
	const struct life *y = &tree->lives[*(const uint32_t *)b];

	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->order < y->order) - (x->order > y->order);
}

/* Backwards from a process's end, at each step the child that ended last before the step's begin: who waited for all waited
 * for that one. */
static void mark_children(struct tree *tree, const struct life *life, uint32_t *children)
{
	uint64_t until = life->end;
	uint32_t count = 0, order = UINT32_MAX;

	for (int32_t c = life->child; c != NONE; c = tree->lives[c].sibling)
		if (tree->lives[c].end)
			children[count++] = (uint32_t)c;
	qsort_r(children, count, sizeof *children, by_end, tree);
	for (uint32_t i = 0; i < count; i++) {
		struct life *child = &tree->lives[children[i]];

		/* Of records that came together the order is exact, the time is not. */
		if (child->end > until + (child->start_exact ? TICKS_NS : tree->interval) ||
		    (child->order && child->order >= order))
			continue;
		child->critical = true;
		order = child->order ? child->order : order;
		until = child->start;
	}
}

/* The chain of processes that set the time: the root, which is the command where there are others, and of each in it the children that it waited for. */
static bool mark_critical(struct tree *tree)
{
	uint32_t *children;
	struct life *root;

	if (!tree->members)
		return true;
	children = malloc(tree->members * sizeof *children);
	if (!children)
		return false;
	root = &tree->lives[tree->order[0]];
	for (uint32_t i = tree->members; i-- > 0;)
		if (tree->lives[tree->order[i]].parent == NONE &&
		    tree->lives[tree->order[i]].first_ppid == tree->recorder)
			root = &tree->lives[tree->order[i]];
	root->critical = root->end != 0;
	/* Parents come before children. */
	for (uint32_t i = 0; i < tree->members; i++)
		if (tree->lives[tree->order[i]].critical)
			mark_children(tree, &tree->lives[tree->order[i]], children);
	free(children);
	return true;
}

bool tree_relate(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++)
		settle_times(tree, &tree->lives[i]);
	find_parents(tree);
	find_members(tree);
	if (!put_in_order(tree))
		return false;
	for (uint32_t i = 0; i < tree->members; i++)
		if (tree->lives[tree->order[i]].parent != NONE)
			fit(tree, &tree->lives[tree->order[i]]);
	/* By the times that they have now. */
	if (!put_in_order(tree))
		return false;
	for (uint32_t i = 0; i < tree->members; i++) {
		settle_base(tree, &tree->lives[tree->order[i]]);
		settle_own(&tree->lives[tree->order[i]]);
	}
	adopt(tree);
	settle_children(tree);
	return lanes_close(tree) && mark_critical(tree);
}

static void add_time(struct totals *totals, const struct life *root)
{
	const struct counts *row = &root->row, *base = &root->base;

	totals->user = plus(totals->user, plus(since(base->user, row->user),
					       since(base->children_user, row->children_user)));
	totals->system =
		plus(totals->system, plus(since(base->system, row->system),
					  since(base->children_system, row->children_system)));
}

void tree_totals(const struct tree *tree, struct totals *totals)
{
	double split;

	*totals =
		(struct totals) { .use = use_unknown, .user = NAN, .system = NAN, .outside = NAN };
	for (uint32_t i = 0; i < tree->members; i++) {
		const struct life *life = &tree->lives[tree->order[i]];

		use_add(&totals->use, &life->use);
		totals->short_lived += life->short_lived;
		totals->unknown += isnan(life->use.cpu);
		if (!is_reaped_by_parent(tree, life))
			add_time(totals, life);
	}
	if (totals->short_lived > 0)
		totals->use.cpu = plus(totals->use.cpu, totals->short_lived);
	if (known(tree->tree_cpu) && known(tree->busy) && known(totals->use.cpu))
		totals->outside = larger(tree->busy - tree->busy_first - totals->use.cpu, 0);
	totals->largest = totals->use.rss;
	/* In ticks; the sum is known better. */
	split = totals->user + totals->system;
	totals->user = split > 0 ? totals->use.cpu * totals->user / split : NAN;
	totals->system = split > 0 ? totals->use.cpu * totals->system / split : NAN;
}

/* ---- programs ---- */

static int by_name(const void *a, const void *b)
{
	const struct program *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_weight(const void *a, const void *b)
{
	const struct program *x = a, *y = b;

	if (or_zero(x->use.cpu) != or_zero(y->use.cpu))
		return or_zero(x->use.cpu) > or_zero(y->use.cpu) ? -1 : 1;
	return by_name(a, b);
}

struct program *tree_programs(const struct tree *tree, uint32_t *count)
{
	struct program *programs = calloc(tree->members + 1, sizeof *programs);
	uint32_t n = 0;

	for (uint32_t i = 0; programs && i < tree->members; i++) {
		const struct life *life = &tree->lives[tree->order[i]];

		programs[i] = (struct program) { .name = life->comm ? life->comm : "?",
						 .count = 1,
						 .wall = lived_since(life, tree->first),
						 .use = life->use };
	}
	if (programs)
		qsort(programs, tree->members, sizeof *programs, by_name);
	for (uint32_t i = 0; programs && i < tree->members; i++) {
		if (!n || strcmp(programs[n - 1].name, programs[i].name) != 0) {
			programs[n++] = programs[i];
			continue;
		}
		programs[n - 1].count++;
		programs[n - 1].wall += programs[i].wall;
		use_add(&programs[n - 1].use, &programs[i].use);
	}
	if (programs)
		qsort(programs, n, sizeof *programs, by_weight);
	*count = n;
	return programs;
}

/* ---- phases ---- */

/* Shorter ones are below what samples can tell. */
enum { PHASE_NS = 100000000 };

static bool is_alone(const struct span *span)
{
	const double one = 1.15; /* of short stretches a clock or two were read late */
	double length = (double)(span->end - span->begin);

	/* What no lane has is counted in ticks. */
	return span->runnable >= length / 2 && span->runnable_most < one * length &&
	       !(span->cpu >= one * length + TICKS_NS);
}

static void insert(struct phase phases[PHASES_MOST], uint32_t *count, const struct phase *phase)
{
	uint32_t shortest = 0;

	if (*count < PHASES_MOST) {
		phases[(*count)++] = *phase;
		return;
	}
	for (uint32_t i = 1; i < *count; i++)
		if (phases[i].end - phases[i].begin < phases[shortest].end - phases[shortest].begin)
			shortest = i;
	if (phase->end - phase->begin <= phases[shortest].end - phases[shortest].begin)
		return;
	memmove(&phases[shortest], &phases[shortest + 1],
		(PHASES_MOST - 1 - shortest) * sizeof *phases);
	phases[PHASES_MOST - 1] = *phase;
}

uint32_t tree_phases(const struct tree *tree, struct phase phases[PHASES_MOST])
{
	uint64_t least = (tree->last - tree->first) / 20;
	uint32_t count = 0;

	least = least > PHASE_NS ? least : PHASE_NS;
	for (uint32_t i = 0; i < tree->nspans; i++) {
		struct phase phase = { .begin = tree->spans[i].begin };

		for (; i < tree->nspans && is_alone(&tree->spans[i]); i++)
			phase.end = tree->spans[i].end;
		if (!phase.end || phase.end - phase.begin < least)
			continue;
		phase.busiest = lanes_busiest(tree, phase.begin, phase.end);
		if (phase.busiest != NONE)
			insert(phases, &count, &phase);
	}
	return count;
}
