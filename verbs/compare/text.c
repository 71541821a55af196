/* The comparison as text. */
#include "compare.h"

enum { NAME_WIDTH = 28, VALUE_WIDTH = 16, SOURCES_MOST = 3 };

static void print_side(struct page *page, const char *name, const struct side *side)
{
	page_print(page, "%-8s", name);
	if (side->name) {
		page_text(page, side->name);
		page_print(page, side->count == 1 ? " (%zu run)\n" : " (%zu runs)\n", side->count);
		return;
	}
	if (side->count > SOURCES_MOST)
		page_print(page, "%zu runs, from ", side->count);
	for (size_t i = 0; i < side->count; i++) {
		if (side->count > SOURCES_MOST && i && i + 1 < side->count)
			continue;
		page_print(page, !i ? "" : side->count > SOURCES_MOST ? " to " : ", ");
		page_text(page, side->runs[i].source);
		page_print(page, " (%.1f s)", side->runs[i].seconds);
	}
	page_print(page, "\n");
}

static void print_right(struct page *page, const char *text, size_t width)
{
	page_pad(page, text_width(text), width);
	page_text(page, text);
	page_print(page, "  ");
}

static void print_name(struct page *page, const struct delta *delta)
{
	page_print(page, "%-8s", verdict_name(delta->verdict));
	page_text(page, delta->metric->name);
	page_pad(page, text_width(delta->metric->name), NAME_WIDTH);
	page_print(page, " ");
}

static void print_delta(struct page *page, const struct delta *delta)
{
	struct words words;

	say_delta(&words, delta);
	print_name(page, delta);
	print_right(page, words.before, VALUE_WIDTH);
	print_right(page, words.after, VALUE_WIDTH);
	print_right(page, words.change, VALUE_WIDTH);
	print_right(page, words.percent, 10);
	print_right(page, words.p, 6);
	page_text(page, words.effect);
	if (*delta->metric->about) {
		page_print(page, "  ");
		page_text(page, delta->metric->about);
	}
	page_print(page, "\n");
}

static void print_table(struct page *page, const struct comparison *comparison, const char *title,
			size_t (*deltas)(struct page *page, const struct comparison *comparison,
					 tell_delta *tell))
{
	if (!deltas(page, comparison, NULL))
		return;
	page_print(page, "\n%-8s%-*s %*s  %*s  %*s  %10s  %6s  %s\n", "", NAME_WIDTH, title,
		   VALUE_WIDTH, "before", VALUE_WIDTH, "after", VALUE_WIDTH, "change", "percent",
		   "p", "effect");
	deltas(page, comparison, print_delta);
}

void compare_text(struct page *page, const struct comparison *comparison)
{
	char outcome[OUTCOME_MOST];

	say_outcome(outcome, sizeof outcome, comparison);
	page_print(page, "%s\n\n", outcome);
	print_side(page, "before", comparison->before);
	print_side(page, "after", comparison->after);
	for (size_t i = 0; i < comparison->nwarnings; i++) {
		page_print(page, "%-8s", "warning");
		page_wrapped(page, comparison->warnings[i], 8);
	}
	print_table(page, comparison, "the command", deltas_of_run);
	print_table(page, comparison, "metric", deltas_else);
}
