/* The machine as text: nodes, caches, frequency, huge pages, settings, and what was found of them. */
#include <string.h>

#include "report.h"

enum { INDENT = 10, NAME_WIDTH = 42 };

/* The name of a part before its first line. */
static void begin(struct page *page, const char **name)
{
	page_print(page, "%-*s", INDENT, *name);
	*name = "";
}

static void say_bytes(char *to, size_t size, double bytes)
{
	say_value(to, size, bytes, "bytes", "");
}

static void print_nodes(struct page *page, const struct gathered *gathered)
{
	const struct node *nodes = gathered->node_list.items;
	const char *name = "nodes";

	for (uint32_t i = 0; i < gathered->node_list.count; i++) {
		char memory[40] = "no memory";

		begin(page, &name);
		if (nodes[i].memory > 0)
			say_bytes(memory, sizeof memory, nodes[i].memory);
		page_print(page, "%llu: ", (unsigned long long)nodes[i].id);
		if (nodes[i].cpus && *nodes[i].cpus) {
			page_print(page, "CPUs ");
			page_text(page, nodes[i].cpus);
		} else {
			page_print(page, "no CPUs");
		}
		page_print(page, ", %s", memory);
		if (nodes[i].distance) {
			page_print(page, ", distances ");
			page_text(page, nodes[i].distance);
		}
		page_print(page, "\n");
	}
}

static void print_caches(struct page *page, const struct gathered *gathered)
{
	const struct cache *caches = gathered->caches.items;
	const char *name = "caches";

	for (uint32_t i = 0; i < gathered->caches.count; i++) {
		char size[40] = "size not known";

		begin(page, &name);
		if (caches[i].size > 0)
			say_bytes(size, sizeof size, caches[i].size);
		page_print(page, "L%llu ", (unsigned long long)caches[i].level);
		page_text(page, caches[i].type ? caches[i].type : "");
		page_print(page, ": %llu of %s, for %llu CPU%s each\n",
			   (unsigned long long)caches[i].count, size,
			   (unsigned long long)caches[i].shared, caches[i].shared == 1 ? "" : "s");
	}
}

static void print_governors(struct page *page, const struct gathered *gathered)
{
	const struct governor *governors = gathered->governors.items;
	const char *name = "frequency";

	for (uint32_t i = 0; i < gathered->governors.count; i++) {
		begin(page, &name);
		page_text(page, governors[i].governor);
		if (governors[i].driver) {
			page_print(page, " of ");
			page_text(page, governors[i].driver);
		}
		page_print(page, ": %llu CPUs\n", (unsigned long long)governors[i].cpus);
	}
}

static void print_huge_pages(struct page *page, const struct gathered *gathered)
{
	const struct pool *pools = gathered->pools.items;
	const char *name = "huge";

	if (gathered->thp_enabled) {
		begin(page, &name);
		page_print(page, "transparent: enabled ");
		page_text(page, gathered->thp_enabled);
		if (gathered->thp_defrag) {
			page_print(page, ", defrag ");
			page_text(page, gathered->thp_defrag);
		}
		page_print(page, "\n");
	}
	for (uint32_t i = 0; i < gathered->pools.count; i++) {
		char size[40];

		begin(page, &name);
		say_bytes(size, sizeof size, pools[i].size);
		page_print(page, "pool of %s: %llu pages, %llu free, %llu of these reserved\n",
			   size, (unsigned long long)pools[i].pages,
			   (unsigned long long)pools[i].unused,
			   (unsigned long long)pools[i].reserved);
	}
}

static void print_settings(struct page *page, const struct gathered *gathered)
{
	const struct setting *settings = gathered->settings.items;

	for (uint32_t i = 0; i < gathered->settings.count; i++) {
		if (!settings[i].name || !settings[i].value)
			continue;
		page_print(page, i ? "  " : "\nSettings\n  ");
		page_text(page, settings[i].name);
		page_pad(page, text_width(settings[i].name), NAME_WIDTH);
		page_print(page, "  ");
		page_text(page, settings[i].value);
		page_print(page, "\n");
	}
}

/* Of settings alone: what needs time is for a recording. */
static void print_not_judged(struct page *page, const struct gathered *gathered)
{
	const struct judgement *judgements = gathered->judgements.items;
	const char *name = "unknown";

	for (uint32_t i = 0; i < gathered->judgements.count; i++) {
		if (strncmp(judgements[i].id, "config.", 7) != 0 ||
		    strcmp(judgements[i].verdict, "not_judged") != 0)
			continue;
		if (*name)
			page_print(page, "\n");
		begin(page, &name);
		page_text(page, judgements[i].id);
		page_print(page, ": ");
		page_text(page, judgements[i].reason);
		page_print(page, "\n");
	}
}

void report_machine(struct page *page, const struct gathered *gathered)
{
	text_host(page, gathered);
	print_nodes(page, gathered);
	print_caches(page, gathered);
	print_governors(page, gathered);
	print_huge_pages(page, gathered);
	findings_each(page, gathered, text_setting);
	print_not_judged(page, gathered);
	print_settings(page, gathered);
}
