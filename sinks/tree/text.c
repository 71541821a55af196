/* The tree and its summary as text, for people. */
#include <stdlib.h>

#include "tree.h"

enum { CELL = 32, INDENT_MOST = 24, PROGRAMS_TOLD = 20 };

static void cell(struct page *page, double value, const char *unit, const char *counted, int width)
{
	char text[CELL];

	say_value(text, sizeof text, value, unit, counted);
	page_print(page, "%*s", width, text);
}

/* "0", "3", "SIGKILL" is 9: as wait(2) has it. */
static void say_exit(char *to, size_t size, double exitcode)
{
	unsigned code = known(exitcode) ? (unsigned)exitcode : 0;

	if (!known(exitcode))
		snprintf(to, size, "-");
	else if (code & 0x7f)
		snprintf(to, size, "sig %u", code & 0x7f);
	else
		snprintf(to, size, "%u", code >> 8 & 0xff);
}

static const char *name_of(const struct life *life)
{
	return life->comm ? life->comm : "?";
}

/* ---- tree ---- */

/* What is known to an interval only has a ~ before it. */
static void put_times(struct page *page, const struct tree *tree, const struct life *life)
{
	char text[CELL], length[CELL];
	int before = snprintf(text, sizeof text, "%s", life->start_exact ? "" : "~");

	if (life->start >= tree->first)
		snprintf(text + before, sizeof text - (size_t)before, "%.2f s",
			 (double)(life->start - tree->first) / 1e9);
	else
		snprintf(text, sizeof text, "before");
	before = snprintf(length, sizeof length, "%s", life->life_exact ? "" : "~");
	say_value(length + before, sizeof length - (size_t)before, lived(life), "ns", "");
	page_print(page, "%11s%9s", text, length);
}

static void put_life(struct page *page, const struct tree *tree, const struct life *life,
		     unsigned depth)
{
	char status[CELL];

	page_print(page, "%c", life->critical ? '*' : ' ');
	put_times(page, tree, life);
	cell(page, life->use.cpu, "ns", "", 9);
	cell(page, life->use.rss, "bytes", "", 10);
	cell(page, life->use.read, "bytes", "", 10);
	cell(page, life->use.written, "bytes", "", 10);
	say_exit(status, sizeof status, life->exitcode);
	page_print(page, "%7s  %*s", life->end ? status : "runs",
		   (int)(2 * (depth < INDENT_MOST ? depth : INDENT_MOST)), "");
	page_text(page, life->command ? life->command : name_of(life));
	page_print(page, "  [%u]\n", life->pid);
}

static void put_short_lived(struct page *page, const struct life *life, unsigned depth)
{
	if (!(life->short_lived > 0))
		return;
	page_print(page, " %11s%9s", "", "");
	cell(page, life->short_lived, "ns", "", 9);
	page_print(page, "%37s  %*s(short-lived, not attributed)\n", "",
		   (int)(2 * (depth < INDENT_MOST ? depth : INDENT_MOST)), "");
}

static unsigned depth_of(const struct tree *tree, const struct life *life)
{
	unsigned depth = 0;

	while (life->parent != NONE) {
		life = &tree->lives[life->parent];
		depth++;
	}
	return depth;
}

static void put_nobody(struct page *page)
{
	page_print(page, "No processes are in the recording; sonde record and sonde profile have "
			 "them, an agent with [process]\n");
}

void tree_text(struct page *page, const struct tree *tree)
{
	if (!tree->members) {
		put_nobody(page);
		return;
	}
	page_print(page, " %11s%9s%9s%10s%10s%10s%7s  %s\n", "start", "life", "CPU", "peak RSS",
		   "read", "written", "exit", "command [pid]; * set the time that all took");
	for (uint32_t i = 0; i < tree->members; i++) {
		const struct life *life = &tree->lives[tree->order[i]];
		unsigned depth = depth_of(tree, life);

		put_life(page, tree, life, depth);
		put_short_lived(page, life, depth + 1);
	}
	if (tree->untold)
		page_print(page, "%u processes more are left out\n", tree->untold);
}

/* ---- summary ---- */

static void put_program(struct page *page, const char *name, uint32_t count, double wall,
			const struct use *use)
{
	if (count)
		page_print(page, "%9u", count);
	else
		page_print(page, "%9s", "");
	cell(page, use->cpu, "ns", "", 10);
	cell(page, wall, "ns", "", 10);
	cell(page, use->wait, "ns", "", 10);
	cell(page, use->rss, "bytes", "", 10);
	page_print(page, "  ");
	page_text(page, name);
	page_print(page, "\n");
}

static void put_programs(struct page *page, const struct tree *tree, const struct totals *totals)
{
	struct use rest = use_unknown;
	uint32_t count, left = 0;
	struct program *programs = tree_programs(tree, &count);
	double wall = 0;

	if (!programs) {
		page->no_memory = true;
		return;
	}
	page_print(page, "%9s%10s%10s%10s%10s  %s\n", "processes", "CPU", "lived", "waited",
		   "peak RSS", "program");
	for (uint32_t i = 0; i < count; i++) {
		if (i < PROGRAMS_TOLD) {
			put_program(page, programs[i].name, programs[i].count, programs[i].wall,
				    &programs[i].use);
			continue;
		}
		use_add(&rest, &programs[i].use);
		left += programs[i].count;
		wall += programs[i].wall;
	}
	if (left)
		put_program(page, "(other programs)", left, wall, &rest);
	rest = use_unknown;
	rest.cpu = totals->short_lived;
	if (totals->short_lived > 0)
		put_program(page, "(short-lived, not attributed)", 0, NAN, &rest);
	free(programs);
}

static void put_phases(struct page *page, const struct tree *tree)
{
	struct phase phases[PHASES_MOST];
	uint32_t count = tree_phases(tree, phases);

	if (!count)
		return;
	page_print(page, "\nNothing ran in parallel\n");
	for (uint32_t i = 0; i < count; i++) {
		char length[CELL];

		say_duration(length, sizeof length, phases[i].end - phases[i].begin);
		page_print(page, "  from %.1f s, for %s",
			   (double)(phases[i].begin - tree->first) / 1e9, length);
		page_print(page, ": ");
		page_text(page, name_of(&tree->lives[phases[i].busiest]));
		page_print(page, "\n");
	}
}

static void put_outsiders(struct page *page, const struct tree *tree, const struct totals *totals)
{
	struct outsiders outsiders;

	if (!tree_outsiders(tree, totals, &outsiders))
		return;
	page_print(page, "\nOutside of the tree: %.0f %% of the CPU time used meanwhile\n",
		   100 * outsiders.share);
	for (uint32_t i = 0; i < outsiders.count; i++) {
		const struct outsider *one = outsiders.told[i];
		const char *service = tree_service(one);

		cell(page, plus(one->cpu, one->children), "ns", "", 12);
		page_print(page, "  ");
		page_text(page, one->comm ? one->comm : "?");
		if (one->program) {
			page_print(page, " ");
			page_text(page, one->program);
		}
		page_print(page, " [%u]%s%s\n", one->pid, service ? ", " : "",
			   service ? service : "");
	}
	cell(page, outsiders.rest, "ns", "", 12);
	page_print(
		page,
		"  others, and what ended meanwhile\n"
		"  sonde profile --also NAME|PID|CGROUP records what works for the command without "
		"descending from it\n");
}

static void amount(struct page *page, const char *name, double value)
{
	if (known(value))
		page_print(page, "  %-26s %.0f\n", name, value);
	else
		page_print(page, "  %-26s -\n", name);
}

static void line(struct page *page, const char *name, double value, const char *unit,
		 const char *counted)
{
	char text[CELL];

	say_value(text, sizeof text, value, unit, counted);
	page_print(page, "  %-26s %s\n", name, text);
}

static void put_totals(struct page *page, const struct tree *tree, const struct totals *totals)
{
	double duration = (double)(tree->last - tree->first);

	line(page, "duration", duration, "ns", "");
	amount(page, "instants", (double)tree->instants);
	amount(page, "processes", tree->members);
	if (totals->unknown)
		amount(page, "  CPU time not known", totals->unknown);
	line(page, "CPU time", totals->use.cpu, "ns", "");
	line(page, "  user", totals->user, "ns", "");
	line(page, "  system", totals->system, "ns", "");
	line(page, "CPUs busy, mean", tree_cpus(tree, totals->use.cpu / duration), "none", "");
	if (known(totals->outside))
		line(page, "CPU time of others", totals->outside, "ns", "");
	line(page, "waited for a CPU", totals->use.wait, "ns", "");
	line(page, "peak RSS at one instant", tree->rss, "bytes", "");
	line(page, "  of the largest process", totals->largest, "bytes", "");
	line(page, "read from disk", totals->use.read, "bytes", "");
	line(page, "written to disk", totals->use.written, "bytes", "");
	amount(page, "page faults", totals->use.faults);
	amount(page, "  that waited for I/O", totals->use.major_faults);
	amount(page, "context switches", totals->use.switches);
	if (known(tree->received)) {
		line(page, "received, the whole host", tree->received - tree->received_first,
		     "bytes", "");
		line(page, "sent, the whole host", tree->sent - tree->sent_first, "bytes", "");
	}
}

void brief_text(struct page *page, const struct tree *tree)
{
	struct totals totals;

	tree_totals(tree, &totals);
	line(page, "waited for a CPU", totals.use.wait, "ns", "");
	line(page, "read from disk", totals.use.read, "bytes", "");
	line(page, "written to disk", totals.use.written, "bytes", "");
	amount(page, "processes", tree->members);
}

void summary_text(struct page *page, const struct tree *tree)
{
	struct totals totals;

	tree_totals(tree, &totals);
	if (tree->label) {
		page_text(page, tree->label);
		page_print(page, "\n\n");
	}
	if (tree->members)
		put_programs(page, tree, &totals);
	else
		put_nobody(page);
	put_phases(page, tree);
	put_outsiders(page, tree, &totals);
	page_print(page, "\n");
	put_totals(page, tree, &totals);
}
