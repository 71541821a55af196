/* Processes over time in the Trace Event Format, which ui.perfetto.dev opens ("Trace Event Format", its JSON object form;
 * perfetto.dev/docs/getting-started/other-formats). A process is a track: one slice as long as its life, and in it one for each
 * stretch of a state. Slices of a track only nest. Times in microseconds since the recording's begin. */
#include <sonde/json.h>

#include "tree.h"

/* No process has such a number: the kernel gives less than PID_MAX_LIMIT (include/linux/threads.h). */
enum { PID_MAX_LIMIT = 1 << 22, CHARTS = PID_MAX_LIMIT };

static void give_us(struct json *json, const char *key, uint64_t ns)
{
	json_member(json, key);
	page_print(json->page, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

static void open_event(struct json *json, const char *phase, const char *name, uint64_t track)
{
	json_open(json, NULL, '{');
	json->flat = true;
	json_text(json, "ph", phase);
	json_text(json, "name", name);
	json_count(json, "pid", track);
	json_count(json, "tid", track);
}

static void close_event(struct json *json)
{
	json_close(json, '}');
	json->flat = false;
}

static void give_metadata(struct json *json, uint64_t track, const char *what)
{
	open_event(json, "M", what, track);
	json_open(json, "args", '{');
}

static void name_track(struct json *json, uint64_t track, const char *name, uint64_t place)
{
	give_metadata(json, track, "process_name");
	json_text(json, "name", name);
	json_close(json, '}');
	close_event(json);
	give_metadata(json, track, "process_sort_index");
	json_count(json, "sort_index", place);
	json_close(json, '}');
	close_event(json);
}

static void give_slice(struct json *json, const char *category, uint64_t from, uint64_t until)
{
	json_text(json, "cat", category);
	give_us(json, "ts", from);
	give_us(json, "dur", until - from);
}

/* ---- states ---- */

/* ns of each in one slice. */
struct states {
	double running, waiting, blocked, sleeping, unknown;
};

static double at_least_0(double value)
{
	return value > 0 ? value : 0;
}

static struct states states_of(const struct stretch *stretch, double length)
{
	bool whole = stretch->running != UNKNOWN && stretch->waiting != UNKNOWN &&
		     stretch->blocked != UNKNOWN;
	double running = stretch->running == UNKNOWN ? 0 : stretch->running * length / THREAD;
	double waiting = stretch->waiting == UNKNOWN ? 0 : stretch->waiting * length / THREAD;
	double blocked = stretch->blocked == UNKNOWN ? 0 : stretch->blocked * length / THREAD;
	double rest = at_least_0(length - running - waiting - blocked);

	return (struct states) { running, waiting, blocked, whole ? rest : 0, whole ? 0 : rest };
}

static const char *state_of(const struct states *states)
{
	const double most[] = { states->running, states->waiting, states->blocked, states->sleeping,
				states->unknown };
	static const char *const names[] = { "running", "waiting for a CPU", "blocked on disk",
					     "sleeping", "unknown" };
	size_t found = 0;

	for (size_t i = 1; i < sizeof most / sizeof most[0]; i++)
		if (most[i] > most[found])
			found = i;
	return names[found];
}

static void give_state(struct json *json, uint64_t track, const struct states *states,
		       uint64_t from, uint64_t until)
{
	open_event(json, "X", state_of(states), track);
	give_slice(json, "state", from, until);
	json_open(json, "args", '{');
	json_rounded(json, "running_ms", states->running / 1e6, 6);
	json_rounded(json, "waiting_ms", states->waiting / 1e6, 6);
	json_rounded(json, "blocked_ms", states->blocked / 1e6, 6);
	json_rounded(json, "sleeping_ms", states->sleeping / 1e6, 6);
	json_rounded(json, "unknown_ms", states->unknown / 1e6, 6);
	json_close(json, '}');
	close_event(json);
}

/* Stretches that are mostly of one state are one slice. */
static void give_states(struct json *json, const struct tree *tree, uint64_t track,
			const struct lane *lane)
{
	uint64_t from = lane->begin - tree->first, begin = from;
	struct states sum = { 0 };

	for (uint32_t i = 0; i < lane->count; i++) {
		uint64_t until = lane->stretches[i].until - tree->first;
		struct states one = states_of(&lane->stretches[i], (double)(until - begin));

		if (begin > from && state_of(&sum) != state_of(&one)) {
			give_state(json, track, &sum, from, begin);
			sum = (struct states) { 0 };
			from = begin;
		}
		sum.running += one.running;
		sum.waiting += one.waiting;
		sum.blocked += one.blocked;
		sum.sleeping += one.sleeping;
		sum.unknown += one.unknown;
		begin = until;
	}
	if (begin > from)
		give_state(json, track, &sum, from, begin);
}

/* ---- processes ---- */

/* Its own number, unless another one has it already. */
static uint64_t track_of(const struct tree *tree, uint32_t index)
{
	int32_t older = tree->lives[index].older;

	for (int steps = 0; older != NONE && steps < STEPS_MOST; steps++) {
		if (tree->lives[older].pid == tree->lives[index].pid)
			return CHARTS + 1 + (uint64_t)index;
		older = tree->lives[older].older;
	}
	return tree->lives[index].pid;
}

static void give_process(struct json *json, const struct tree *tree, uint32_t place)
{
	uint32_t index = tree->order[place];
	const struct life *life = &tree->lives[index];
	const char *name = life->comm && *life->comm ? life->comm : "?";
	uint64_t track = track_of(tree, index),
		 from = life->start > tree->first ? life->start : tree->first;
	uint64_t until = life->end ? life->end : life->last;

	name_track(json, track, name, place + 1);
	if (until <= from)
		return;
	open_event(json, "X", name, track);
	give_slice(json, "process", from - tree->first, until - tree->first);
	json_open(json, "args", '{');
	give_life(json, tree, index);
	json_close(json, '}');
	close_event(json);
	give_states(json, tree, track, &tree->lanes[index]);
}

/* ---- charts ---- */

static bool is_known(const struct tree *tree, const struct span *span, uint32_t first, uint32_t end)
{
	for (uint32_t s = first; s < end; s++)
		if (known(tree_charted(tree, &tree_series[s], span)))
			return true;
	return false;
}

/* One event for the lines of one chart. */
static void give_counters(struct json *json, const struct tree *tree, uint32_t first, uint32_t end)
{
	for (uint32_t i = 0; i < tree->nspans; i++) {
		if (!is_known(tree, &tree->spans[i], first, end))
			continue;
		open_event(json, "C", tree_series[first].chart, CHARTS);
		give_us(json, "ts", tree->spans[i].begin - tree->first);
		json_open(json, "args", '{');
		for (uint32_t s = first; s < end; s++)
			if (is_known(tree, &tree->spans[i], s, s + 1))
				json_rounded(json, tree_series[s].title,
					     tree_charted(tree, &tree_series[s], &tree->spans[i]),
					     6);
		json_close(json, '}');
		close_event(json);
	}
}

void timeline_perfetto(struct page *page, const struct tree *tree)
{
	struct json json = { .page = page };
	uint32_t first = 0;

	json_open(&json, NULL, '{');
	json_text(&json, "displayTimeUnit", "ms");
	give_meta(&json, tree, "sonde timeline --perfetto");
	json_open(&json, "traceEvents", '[');
	name_track(&json, CHARTS, "charts", 0);
	for (uint32_t s = 1; s <= SERIES; s++) {
		if (s < SERIES && strcmp(tree_series[s].chart, tree_series[first].chart) == 0)
			continue;
		give_counters(&json, tree, first, s);
		first = s;
	}
	for (uint32_t i = 0; i < tree->members; i++)
		give_process(&json, tree, i);
	json_close(&json, ']');
	json_close(&json, '}');
}
