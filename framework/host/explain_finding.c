/* What findings say of themselves: their line in their analyzer's catalogue, and the keys that decide them. */
#include "host/explain.h"
#include "host/must.h"
#include "host/options.h"
#include "window/needs.h"

struct gathering {
	struct explained_finding *findings;
	size_t count;
	const char *path;
};

/* A plugin may be older than the newest field. */
static struct sonde_catalogue line_of(const struct sonde_array *catalogue, uint32_t index)
{
	struct sonde_catalogue line = { 0 };
	size_t size = catalogue->stride < sizeof line ? catalogue->stride : sizeof line;

	memcpy(&line, (const char *)catalogue->items + (size_t)index * catalogue->stride, size);
	return line;
}

static void add_plugin(void *context, const char *file, const struct sonde_elf_note *note,
		       const char *why)
{
	struct gathering *all = context;
	const struct sonde_array *catalogue;
	const struct plugin *plugin;
	char sentence[1024];

	(void)file;
	(void)why;
	if (!note || note->kind != SONDE_KIND_ANALYZER ||
	    plugin_load(all->path, note->kind, note->name, &plugin, sentence, sizeof sentence))
		return;
	catalogue = &plugin->ops.analyzer.catalogue;
	for (uint32_t i = 0; i < catalogue->count; i++) {
		all->findings = must_grow(all->findings, all->count, sizeof *all->findings);
		all->findings[all->count++] =
			(struct explained_finding) { plugin, line_of(catalogue, i) };
	}
}

struct explained_finding *explain_findings(const char *path, size_t *count)
{
	struct gathering all = { .path = path };

	plugin_each(path, add_plugin, &all);
	*count = all.count;
	return all.findings;
}

/* "psi.some_total, or stat.procs_running stat.ctxt" */
static void print_needs(const char *needs)
{
	printf("needs     ");
	if (!needs)
		printf("no column for certain");
	for (; needs && *needs; needs += strspn(needs, " |")) {
		size_t length = strcspn(needs, " |");
		size_t blanks = strspn(needs + length, " ");

		printf("%.*s%s", (int)length, needs,
		       needs[length + blanks] == '|' ? ", or "
		       : needs[length]               ? " and "
						     : "");
		needs += length;
	}
	printf("\n");
}

/* Those that its line names; where it names none, all of its analyzer. */
static void print_keys(const struct explained_finding *finding)
{
	const struct plugin *plugin = finding->plugin;
	struct sonde_option *chosen = must(calloc(plugin->noptions + 1, sizeof *chosen));
	size_t count = 0;

	for (size_t i = 0; i < plugin->noptions; i++)
		if (needs_key(&finding->line, plugin->options[i].key))
			chosen[count++] = plugin->options[i];
	if (count)
		printf("\nthresholds, keys of [analyzer:%s]:\n", plugin->descriptor.name);
	options_print(chosen, count);
	free(chosen);
}

void explain_finding(const struct explained_finding *finding)
{
	const struct sonde_plugin *d = &finding->plugin->descriptor;

	printf("%s: %s\n\n", finding->line.id, finding->line.title);
	printf("from      analyzer %s: %s\n", d->name, d->summary);
	print_needs(finding->line.needs);
	printf("page      docs/findings.md, %s\n", finding->line.id);
	print_keys(finding);
}
