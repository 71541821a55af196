/* What each process did over time, from what the kernel counts of it since its birth: running, waiting for a CPU, blocked on
 * disk. Memory is bounded: a stretch that is like the one before makes it longer, and where there are too many, each becomes
 * at least `grain` long. */
#include <stdlib.h>
#include <string.h>

#include "tree.h"

enum { STRETCHES_MOST = 1 << 19 };

static const struct clocks birth = { .threads = 1 };

/* ns, between two moments. */
struct spent {
	double running, waiting, blocked;
};

bool lanes_grow(struct tree *tree, uint32_t size)
{
	struct lane *lanes = realloc(tree->lanes, size * sizeof *lanes);

	tree->no_memory = tree->no_memory || !lanes;
	if (!lanes)
		return false;
	memset(lanes + tree->size, 0, (size - tree->size) * sizeof *lanes);
	tree->lanes = lanes;
	return true;
}

void lanes_free(struct tree *tree)
{
	for (uint32_t i = 0; tree->lanes && i < tree->count; i++)
		free(tree->lanes[i].stretches);
	free(tree->lanes);
}

/* ---- stretches ---- */

static uint32_t share(double ns, uint64_t length)
{
	double of = length ? ns * THREAD / (double)length : NAN;

	return !known(of) ? UNKNOWN : of >= UNKNOWN - 1 ? UNKNOWN - 1 : (uint32_t)(of + 0.5);
}

static bool is_like(const struct stretch *a, const struct stretch *b)
{
	return a->running == b->running && a->waiting == b->waiting && a->blocked == b->blocked;
}

static bool has_room(struct tree *tree, struct lane *lane)
{
	uint32_t size = lane->size ? 2 * lane->size : 4;
	struct stretch *stretches;

	if (lane->count < lane->size)
		return true;
	stretches = realloc(lane->stretches, size * sizeof *stretches);
	tree->no_memory = tree->no_memory || !stretches;
	if (!stretches)
		return false;
	lane->stretches = stretches;
	lane->size = size;
	return true;
}

static void add_stretch(struct tree *tree, struct lane *lane, const struct stretch *stretch)
{
	if (lane->count && is_like(&lane->stretches[lane->count - 1], stretch)) {
		lane->stretches[lane->count - 1].until = stretch->until;
		return;
	}
	if (!has_room(tree, lane))
		return;
	lane->stretches[lane->count++] = *stretch;
	tree->stretches++;
}

/* ---- waits ---- */

/* Two in the place of one: the first ends at that moment. */
static bool split(struct tree *tree, struct lane *lane, uint32_t place, uint64_t moment)
{
	if (!has_room(tree, lane))
		return false;
	memmove(&lane->stretches[place + 1], &lane->stretches[place],
		(lane->count - place) * sizeof *lane->stretches);
	lane->stretches[place].until = moment;
	lane->count++;
	tree->stretches++;
	return true;
}

/* The thread's time in which it did nothing that is known of, as shares are; 0 where something is not known. */
static uint32_t rest_of(const struct stretch *stretch)
{
	uint64_t sum = (uint64_t)stretch->running + stretch->waiting + stretch->blocked;

	return sum < THREAD ? (uint32_t)(THREAD - sum) : 0;
}

static uint32_t *wait_in(struct stretch *stretch, bool blocked)
{
	return blocked ? &stretch->blocked : &stretch->waiting;
}

/* The kernel counts a wait when it is over: what is longer than the stretch it ended in began in those before, where the thread
 * seemed to sleep. From the newest on backwards. */
static void carry_back(struct tree *tree, struct lane *lane, double ns, bool blocked)
{
	for (uint32_t i = lane->count; i-- > 0 && ns >= 1;) {
		struct stretch *stretch = &lane->stretches[i];
		uint64_t length = stretch->until - (i ? lane->stretches[i - 1].until : lane->begin);
		uint32_t rest = rest_of(stretch);
		double room = (double)rest * (double)length / THREAD;

		if (!rest)
			return;
		if (room > ns) {
			if (!split(tree, lane, i, stretch->until - (uint64_t)(ns * THREAD / rest)))
				return;
			stretch = &lane->stretches[i + 1];
		}
		*wait_in(stretch, blocked) = *wait_in(stretch, blocked) + rest;
		ns -= room;
	}
}

/* Of one thread: no more than the stretch is long. */
static void settle_waits(struct tree *tree, struct lane *lane)
{
	double length = (double)(lane->at - lane->open_since);
	double excess = lane->running + lane->waiting + lane->blocked - length, waited, held;

	if (lane->threads != 1 || !(excess > length / 100))
		return;
	waited = excess < lane->waiting ? excess : lane->waiting;
	held = excess - waited < lane->blocked ? excess - waited : lane->blocked;
	lane->waiting -= waited;
	lane->blocked -= held;
	carry_back(tree, lane, waited, false);
	carry_back(tree, lane, held, true);
}

static void close_stretch(struct tree *tree, struct lane *lane)
{
	uint64_t length = lane->at - lane->open_since;

	if (lane->at <= lane->open_since)
		return;
	add_stretch(tree, lane,
		    &(struct stretch) { .until = lane->at,
					.running = share(lane->running, length),
					.waiting = share(lane->waiting, length),
					.blocked = share(lane->blocked, length) });
	lane->running = lane->waiting = lane->blocked = 0;
	lane->open_since = lane->at;
}

static double time_of(uint32_t share, uint64_t length)
{
	return share == UNKNOWN ? NAN : (double)share * (double)length / THREAD;
}

/* Stretches of at least `grain` in the place of shorter ones. What is not known of a part is not known of the whole. */
static void coarsen_lane(struct tree *tree, struct lane *lane)
{
	const struct lane fine = *lane;
	uint64_t begin = lane->begin, at = lane->at;

	tree->stretches -= lane->count;
	lane->count = 0;
	lane->at = lane->open_since = begin;
	lane->running = lane->waiting = lane->blocked = 0;
	/* Written behind what was read. */
	for (uint32_t i = 0; i < fine.count; i++) {
		const struct stretch stretch = fine.stretches[i];
		uint64_t length = stretch.until - begin;

		lane->running += time_of(stretch.running, length);
		lane->waiting += time_of(stretch.waiting, length);
		lane->blocked += time_of(stretch.blocked, length);
		lane->at = begin = stretch.until;
		if (lane->at - lane->open_since >= tree->grain || i == fine.count - 1)
			close_stretch(tree, lane);
	}
	lane->at = at;
	lane->open_since = fine.open_since;
	lane->running = fine.running;
	lane->waiting = fine.waiting;
	lane->blocked = fine.blocked;
}

static void coarsen(struct tree *tree)
{
	uint64_t shortest = tree->interval ? tree->interval : 1000000;

	while (tree->stretches > STRETCHES_MOST / 2 && tree->grain < tree->last - tree->first) {
		tree->grain = tree->grain ? 2 * tree->grain : 2 * shortest;
		for (uint32_t i = 0; i < tree->count; i++)
			coarsen_lane(tree, &tree->lanes[i]);
	}
	/* Each lane has one at least. */
	tree->coarsen_at = 2 * tree->stretches;
}

/* What it did since the sample before. */
static void spend(struct tree *tree, struct lane *lane, uint64_t moment, const struct spent *time)
{
	lane->running += time->running;
	lane->waiting += time->waiting;
	lane->blocked += time->blocked;
	lane->at = moment;
	if (moment - lane->open_since >= tree->grain) {
		settle_waits(tree, lane);
		close_stretch(tree, lane);
	}
	if (tree->stretches > STRETCHES_MOST && tree->stretches > tree->coarsen_at)
		coarsen(tree);
}

/* ---- clocks ---- */

/* NAN where one is not known; a clock that went back stood still. */
static double passed(double from, double to)
{
	return to < from ? 0 : to - from;
}

/* The scheduler's clock of the leader is exact, but only where there is no other thread it is the process's. */
static double ran(const struct clocks *from, const struct clocks *to)
{
	double all = passed(from->all_run, to->all_run), one = passed(from->run, to->run);

	if (known(all))
		return all;
	return known(one) && from->threads == 1 && to->threads == 1 ? one
								    : passed(from->cpu, to->cpu);
}

static double waited(const struct clocks *from, const struct clocks *to)
{
	double all = passed(from->all_wait, to->all_wait);

	return known(all) ? all : passed(from->wait, to->wait);
}

/* Where the kernel does not count it (kernel.task_delayacct), what is left of the time, if the process was found in state D. */
static double was_blocked(const struct clocks *from, const struct clocks *to, double rest)
{
	double counted = passed(from->blocked, to->blocked);

	if (known(counted))
		return counted;
	return !to->state ? NAN : to->state != 'D' || rest < 0 ? 0 : rest;
}

static bool is_born_in(const struct tree *tree, const struct life *life)
{
	return life->start + TICKS_NS >= tree->first;
}

/* Born while it was recorded, its clocks began with it. */
static void begin_lane(const struct tree *tree, struct lane *lane, const struct life *life,
		       uint64_t moment)
{
	uint64_t start = life->start > tree->first ? life->start : tree->first;
	bool born = is_born_in(tree, life) && start < moment;

	lane->begin = lane->at = lane->open_since = born ? start : moment;
	lane->threads = NAN;
	lane->now = birth;
}

/* Of a task that has not run yet the kernel has no times. */
static bool is_unborn(const struct clocks *before, const struct clocks *now)
{
	return !known(now->run) && now->cpu == 0 && before->run == 0;
}

void lane_sample(struct tree *tree, uint32_t index, const struct clocks *now, uint64_t moment)
{
	const struct life *life = &tree->lives[index];
	struct lane *lane = &tree->lanes[index];
	struct spent time;

	if (life->end && lane->at && life->end < moment)
		return; /* a zombie */
	if (!lane->at)
		begin_lane(tree, lane, life, moment);
	lane->threads = larger(lane->threads, now->threads);
	if (moment > lane->at) {
		time.running = ran(&lane->now, now);
		time.waiting = waited(&lane->now, now);
		time.blocked = was_blocked(
			&lane->now, now, (double)(moment - lane->at) - time.running - time.waiting);
		spend(tree, lane, moment, &time);
	}
	if (!is_unborn(&lane->now, now))
		lane->now = *now;
}

/* The last of its threads has ended, and life->exit is whole. */
static void end_lane(struct tree *tree, uint32_t index)
{
	const struct life *life = &tree->lives[index];
	struct lane *lane = &tree->lanes[index];
	/* Its record has all threads, and of a leader's clocks what no other thread did. */
	const struct clocks end = { .run = life->exit.cpu,
				    .wait = life->exit.wait,
				    .blocked = life->exit.blocked,
				    .all_run = life->exit.cpu,
				    .all_wait = life->exit.wait,
				    .cpu = life->exit.cpu,
				    .threads = 1 };
	struct spent time = { NAN, NAN, NAN };

	if (!lane->at) {
		if (!is_born_in(tree, life))
			return; /* nobody knows what of it was before */
		begin_lane(tree, lane, life, life->end);
	}
	if (life->end <= lane->at)
		return;
	if (!known(lane->threads) || lane->threads == 1) {
		time.running = ran(&lane->now, &end);
		time.waiting = waited(&lane->now, &end);
		time.blocked = passed(lane->now.blocked, end.blocked);
	} else if (is_born_in(tree, life)) {
		time.running = passed(lane->now.cpu, end.cpu);
	}
	spend(tree, lane, life->end, &time);
}

/* A record tells the end more exactly than the sample that saw a zombie, and an event the birth. */
static void trim(struct lane *lane, uint64_t start, uint64_t end)
{
	if (lane->count && lane->begin < start && start < lane->stretches[0].until)
		lane->begin = start;
	while (end && lane->count && lane->stretches[lane->count - 1].until > end) {
		uint64_t from =
			lane->count > 1 ? lane->stretches[lane->count - 2].until : lane->begin;

		if (from < end)
			lane->stretches[lane->count - 1].until = end;
		else
			lane->count--;
	}
}

/* ---- what ran and waited in each span ---- */

/* Sums over lanes, by span: of stretches that begin or end in it, and the change of what goes through all of it. */
enum { SUM_WAITED, SUM_BLOCKED, SUM_RUNNABLE, SUM_RUNNABLE_MOST, SUMS };
struct sums {
	double part[SUMS], change[SUMS]; /* thread-ns, threads */
	int64_t known[SUMS];             /* stretches that tell of it: the change too */
};

/* The span in which a moment lies. */
static uint32_t span_at(const struct tree *tree, uint64_t moment)
{
	uint32_t low = 0, high = tree->nspans - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (tree->spans[middle].end > moment)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void add_share(const struct tree *tree, struct sums *sums, uint64_t from, uint64_t until,
		      int of, uint32_t share)
{
	uint64_t begin = tree->spans[0].begin, end = tree->spans[tree->nspans - 1].end;
	double threads = (double)share / THREAD;
	uint32_t first, last;

	from = from > begin ? from : begin;
	until = until < end ? until : end;
	if (share == UNKNOWN || from >= until)
		return;
	first = span_at(tree, from);
	last = span_at(tree, until - 1);
	sums[first].known[of]++;
	if (last + 1 < tree->nspans)
		sums[last + 1].known[of]--;
	if (first == last) {
		sums[first].part[of] += threads * (double)(until - from);
		return;
	}
	sums[first].part[of] += threads * (double)(tree->spans[first].end - from);
	sums[last].part[of] += threads * (double)(until - tree->spans[last].begin);
	sums[first + 1].change[of] += threads;
	sums[last].change[of] -= threads;
}

static uint32_t known_share(uint32_t share)
{
	return share == UNKNOWN ? 0 : share;
}

/* Of a wait that is not known: what it may have been at most is what is left of one thread. */
static uint32_t runnable_most(const struct stretch *stretch)
{
	uint32_t running = known_share(stretch->running);

	if (stretch->waiting != UNKNOWN && stretch->running != UNKNOWN)
		return running + stretch->waiting;
	return running > THREAD ? running : THREAD;
}

static void add_stretch_to(const struct tree *tree, struct sums *sums, uint64_t from,
			   const struct stretch *stretch)
{
	const uint32_t shares[SUMS] = {
		[SUM_WAITED] = stretch->waiting,
		[SUM_BLOCKED] = stretch->blocked,
		[SUM_RUNNABLE] = known_share(stretch->running) + known_share(stretch->waiting),
		[SUM_RUNNABLE_MOST] = runnable_most(stretch),
	};

	for (int of = 0; of < SUMS; of++)
		add_share(tree, sums, from, stretch->until, of, shares[of]);
}

/* From the lanes, and not as it was counted: a wait is of the time in which it was. */
static bool tell_spans(struct tree *tree)
{
	struct sums *sums = tree->nspans ? calloc(tree->nspans, sizeof *sums) : NULL;
	double through[SUMS] = { 0 };
	int64_t tell[SUMS] = { 0 };

	if (!tree->nspans)
		return true;
	if (!sums)
		return false;
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct lane *lane = &tree->lanes[i];

		for (uint32_t n = 0; n < lane->count && tree->lives[i].member; n++)
			add_stretch_to(tree, sums, n ? lane->stretches[n - 1].until : lane->begin,
				       &lane->stretches[n]);
	}
	for (uint32_t i = 0; i < tree->nspans; i++) {
		struct span *span = &tree->spans[i];
		double *const to[SUMS] = { &span->amounts.wait, &span->amounts.blocked,
					   &span->runnable, &span->runnable_most };
		double length = (double)(span->end - span->begin);

		for (int of = 0; of < SUMS; of++) {
			through[of] += sums[i].change[of];
			tell[of] += sums[i].known[of];
			*to[of] =
				tell[of] ? sums[i].part[of] + larger(through[of], 0) * length : NAN;
		}
	}
	free(sums);
	return true;
}

bool lanes_close(struct tree *tree)
{
	if (!tree->lanes)
		return true;
	for (uint32_t i = 0; i < tree->count; i++) {
		if (tree->lives[i].told)
			end_lane(tree, i);
		close_stretch(tree, &tree->lanes[i]);
		trim(&tree->lanes[i], tree->lives[i].start, tree->lives[i].end);
	}
	return !tree->no_memory && tell_spans(tree);
}

/* Threads times ns that it was runnable in this time. */
static double runnable_in(const struct lane *lane, uint64_t begin, uint64_t end)
{
	double sum = 0;

	for (uint32_t n = 0; n < lane->count; n++) {
		const struct stretch *stretch = &lane->stretches[n];
		uint64_t from = n ? lane->stretches[n - 1].until : lane->begin;
		uint64_t until = stretch->until < end ? stretch->until : end;

		from = from > begin ? from : begin;
		if (from < until)
			sum += (double)(until - from) *
			       (known_share(stretch->running) + known_share(stretch->waiting));
	}
	return sum;
}

int32_t lanes_busiest(const struct tree *tree, uint64_t begin, uint64_t end)
{
	int32_t busiest = NONE;
	double most = 0;

	for (uint32_t i = 0; tree->lanes && i < tree->members; i++) {
		uint32_t index = tree->order[i];
		double runnable = runnable_in(&tree->lanes[index], begin, end);

		if (!(runnable > most) || !tree->lives[index].comm)
			continue;
		most = runnable;
		busiest = (int32_t)index;
	}
	return busiest;
}
