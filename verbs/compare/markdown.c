/* The comparison as Markdown, for a pull request. */
#include <sonde/markdown.h>

#include "compare.h"

static void mark_side(struct page *page, const char *name, const struct side *side)
{
	page_print(page, "- **%s:** ", name);
	if (side->name) {
		page_markdown(page, side->name);
		page_print(page, side->count == 1 ? " (%zu run)\n" : " (%zu runs)\n", side->count);
		return;
	}
	for (size_t i = 0; i < side->count; i++) {
		page_print(page, i ? ", " : "");
		page_markdown(page, side->runs[i].source);
		page_print(page, " (%.1f s)", side->runs[i].seconds);
	}
	page_print(page, "\n");
}

static void mark_delta(struct page *page, const struct delta *delta)
{
	struct words words;

	say_delta(&words, delta);
	page_print(page, "| %s | ", verdict_name(delta->verdict));
	page_markdown(page, delta->metric->name);
	if (*delta->metric->about) {
		page_print(page, ", ");
		page_markdown(page, delta->metric->about);
	}
	page_print(page, " | ");
	page_markdown(page, words.before);
	page_print(page, " | ");
	page_markdown(page, words.after);
	page_print(page, " | ");
	page_markdown(page, words.change);
	page_print(page, " | ");
	page_print(page, "%s | %s | ", words.percent, words.p);
	page_markdown(page, words.effect);
	page_print(page, " |\n");
}

static void mark_table(struct page *page, const struct comparison *comparison, const char *title,
		       size_t (*deltas)(struct page *page, const struct comparison *comparison,
					tell_delta *tell))
{
	if (!deltas(page, comparison, NULL))
		return;
	page_print(page,
		   "\n| | %s | before | after | change | percent | p | effect |\n"
		   "|---|---|---:|---:|---:|---:|---:|---|\n",
		   title);
	deltas(page, comparison, mark_delta);
}

void compare_markdown(struct page *page, const struct comparison *comparison)
{
	char outcome[OUTCOME_MOST];

	say_outcome(outcome, sizeof outcome, comparison);
	page_print(page, "# %s\n\n", outcome);
	mark_side(page, "before", comparison->before);
	mark_side(page, "after", comparison->after);
	for (size_t i = 0; i < comparison->nwarnings; i++) {
		page_print(page, "- **warning:** ");
		page_markdown(page, comparison->warnings[i]);
		page_print(page, "\n");
	}
	mark_table(page, comparison, "the command", deltas_of_run);
	mark_table(page, comparison, "metric", deltas_else);
}
