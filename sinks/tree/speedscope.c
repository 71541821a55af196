/* The tree as speedscope.app opens it (its file format, src/lib/file-format-spec.ts there): stacks are chains of processes, the
 * root first. CPU time and waiting are weights; the third profile is the chain of processes that set the time, as it passed. */
#include <stdlib.h>

#include <sonde/json.h>

#include "tree.h"

enum { STACK_MOST = 128 }; /* of a deeper one the end that is the process's own */

/* frame[i] of the life i; `names` different ones, each first met in order[first[i]]. */
struct frames {
	uint32_t *frame, *sorted, *first;
	uint32_t names;
};

static const char *name_in(const struct tree *tree, uint32_t index)
{
	const struct life *life = &tree->lives[index];

	return life->comm && *life->comm ? life->comm : "?";
}

static int by_comm(const void *a, const void *b, void *context)
{
	return strcmp(name_in(context, *(const uint32_t *)a),
		      name_in(context, *(const uint32_t *)b));
}

static void free_frames(struct frames *frames)
{
	free(frames->frame);
	free(frames->sorted);
	free(frames->first);
}

/* One for each name, in the order of the names. */
static bool make_frames(const struct tree *tree, struct frames *frames)
{
	frames->frame = calloc(tree->count + 1, sizeof *frames->frame);
	frames->sorted = malloc((tree->members + 1) * sizeof *frames->sorted);
	frames->first = malloc((tree->members + 1) * sizeof *frames->first);
	if (!frames->frame || !frames->sorted || !frames->first)
		return false;
	memcpy(frames->sorted, tree->order, tree->members * sizeof *frames->sorted);
	qsort_r(frames->sorted, tree->members, sizeof *frames->sorted, by_comm, (void *)tree);
	for (uint32_t i = 0; i < tree->members; i++) {
		uint32_t index = frames->sorted[i];

		if (!i || strcmp(name_in(tree, index), name_in(tree, frames->sorted[i - 1])) != 0)
			frames->first[frames->names++] = index;
		frames->frame[index] = frames->names - 1;
	}
	return true;
}

static void give_frame(struct json *json, const char *name)
{
	json_open(json, NULL, '{');
	json->flat = true;
	json_text(json, "name", name);
	json_close(json, '}');
	json->flat = false;
}

/* Behind the names: the one for those whom nobody saw, then a frame for each of the chain, by its command line. */
static void give_frames(struct json *json, const struct tree *tree, const struct frames *frames)
{
	json_open(json, "shared", '{');
	json_open(json, "frames", '[');
	for (uint32_t i = 0; i < frames->names; i++)
		give_frame(json, name_in(tree, frames->first[i]));
	give_frame(json, "(short-lived, not attributed)");
	for (uint32_t i = 0; i < tree->members; i++) {
		const struct life *life = &tree->lives[tree->order[i]];

		if (life->critical)
			give_frame(json,
				   life->command ? life->command : name_in(tree, tree->order[i]));
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void open_profile(struct json *json, const char *type, const char *name, double end)
{
	json_open(json, NULL, '{');
	json_text(json, "type", type);
	json_text(json, "name", name);
	json_text(json, "unit", "seconds");
	json_count(json, "startValue", 0);
	json_number(json, "endValue", end);
}

/* ---- sampled ---- */

static void give_stack(struct json *json, const struct tree *tree, const struct frames *frames,
		       int32_t index, bool short_lived)
{
	uint32_t stack[STACK_MOST];
	uint32_t depth = 0;

	for (; index != NONE && depth < STACK_MOST; index = tree->lives[index].parent)
		stack[depth++] = frames->frame[index];
	json_open(json, NULL, '[');
	json->flat = true;
	while (depth)
		json_count(json, NULL, stack[--depth]);
	if (short_lived)
		json_count(json, NULL, frames->names);
	json_close(json, ']');
	json->flat = false;
}

static double cpu_of(const struct life *life)
{
	return life->use.cpu / 1e9;
}

static double short_lived_of(const struct life *life)
{
	return life->short_lived / 1e9;
}

static double wait_of(const struct life *life)
{
	return life->use.wait / 1e9;
}

static double blocked_of(const struct life *life)
{
	return life->use.blocked / 1e9;
}

/* What is summed, in seconds, and of those whom nobody saw, or NULL. */
struct weighed {
	const char *name;
	double (*own)(const struct life *life);
	double (*below)(const struct life *life);
};

static void give_samples(struct json *json, const struct tree *tree, const struct frames *frames,
			 const struct weighed *weighed)
{
	json_open(json, "samples", '[');
	for (uint32_t i = 0; i < tree->members; i++) {
		int32_t index = (int32_t)tree->order[i];

		if (weighed->own(&tree->lives[index]) > 0)
			give_stack(json, tree, frames, index, false);
		if (weighed->below && weighed->below(&tree->lives[index]) > 0)
			give_stack(json, tree, frames, index, true);
	}
	json_close(json, ']');
}

/* Their sum; given where there is a document. */
static double give_weights(struct json *json, const struct tree *tree,
			   const struct weighed *weighed)
{
	double sum = 0;

	for (uint32_t i = 0; i < tree->members; i++) {
		const struct life *life = &tree->lives[tree->order[i]];
		double both[] = { weighed->own(life), weighed->below ? weighed->below(life) : 0 };

		for (int of = 0; of < 2; of++) {
			if (!(both[of] > 0))
				continue;
			sum += both[of];
			if (json)
				json_number(json, NULL, both[of]);
		}
	}
	return sum;
}

static void give_sampled(struct json *json, const struct tree *tree, const struct frames *frames,
			 const struct weighed *weighed)
{
	double sum = give_weights(NULL, tree, weighed);

	if (!(sum > 0))
		return; /* nothing to show, and what is not known is not 0 */
	open_profile(json, "sampled", weighed->name, sum);
	give_samples(json, tree, frames, weighed);
	json_open(json, "weights", '[');
	json->flat = true;
	give_weights(json, tree, weighed);
	json_close(json, ']');
	json->flat = false;
	json_close(json, '}');
}

/* ---- evented ---- */

/* A frame that is open, and of which life. */
struct open {
	int32_t life;
	uint32_t frame;
	double until;
};

static void give_event(struct json *json, const char *type, uint32_t frame, double at)
{
	json_open(json, NULL, '{');
	json->flat = true;
	json_text(json, "type", type);
	json_count(json, "frame", frame);
	json_number(json, "at", at);
	json_close(json, '}');
	json->flat = false;
}

static double close_open(struct json *json, const struct open *open, double at)
{
	at = open->until > at ? open->until : at;
	give_event(json, "C", open->frame, at);
	return at;
}

/* Parents come before children, and children in the order of their start. */
static void give_chain(struct json *json, const struct tree *tree, const struct frames *frames)
{
	struct open *stack = malloc((tree->members + 1) * sizeof *stack);
	uint32_t depth = 0, frame = frames->names;
	double at = 0;

	json->page->no_memory = json->page->no_memory || !stack;
	for (uint32_t i = 0; stack && i < tree->members; i++) {
		int32_t index = (int32_t)tree->order[i];
		const struct life *life = &tree->lives[index];
		double until = since_first(tree, life->end);

		if (!life->critical)
			continue;
		while (depth && stack[depth - 1].life != life->parent)
			at = close_open(json, &stack[--depth], at);
		at = larger(at, since_first(tree, life->start));
		if (depth && stack[depth - 1].until < until)
			until = stack[depth - 1].until;
		at = depth && stack[depth - 1].until < at ? stack[depth - 1].until : at;
		stack[depth++] = (struct open) { index, ++frame, until };
		give_event(json, "O", frame, at);
	}
	while (depth)
		at = close_open(json, &stack[--depth], at);
	free(stack);
}

void timeline_speedscope(struct page *page, const struct tree *tree)
{
	static const struct weighed profiles[] = {
		{ "CPU time", cpu_of, short_lived_of },
		{ "waiting for a CPU", wait_of, NULL },
		{ "blocked on disk", blocked_of, NULL },
	};
	struct json json = { .page = page };
	struct frames frames = { 0 };
	bool chain = tree->members && tree->lives[tree->order[0]].critical;

	page->no_memory = page->no_memory || !make_frames(tree, &frames);
	if (page->no_memory) {
		free_frames(&frames);
		return;
	}
	json_open(&json, NULL, '{');
	json_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(&json, "exporter", "sonde");
	json_text(&json, "name", tree->label && *tree->label ? tree->label : "sonde timeline");
	give_frames(&json, tree, &frames);
	json_open(&json, "profiles", '[');
	for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
		give_sampled(&json, tree, &frames, &profiles[i]);
	if (chain) {
		open_profile(&json, "evented", "the chain that set the time",
			     since_first(tree, tree->last));
		json_open(&json, "events", '[');
		give_chain(&json, tree, &frames);
		json_close(&json, ']');
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	free_frames(&frames);
}
