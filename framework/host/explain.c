/* What tables, columns and plugins say of themselves. */
#include "core/records.h"
#include "core/schema.h"
#include "host/agent_options.h"
#include "host/capture.h"
#include "host/explain.h"
#include "host/folders.h"
#include "host/must.h"
#include "host/options.h"
#include "host/self.h"

static const char *const meanings[] = {
	[SONDE_KEY] = "names the row",
	[SONDE_COUNTER] = "only grows, until a reset or a wrap",
	[SONDE_GAUGE] = "goes up and down",
	[SONDE_STATE] = "one of a set; its average means nothing",
	[SONDE_INFO] = "describes the row, changes seldom",
};

static const char *const sensitivities[] = {
	[SONDE_NAME] = "a name",
	[SONDE_PATH] = "a path",
	[SONDE_ARGUMENT] = "what a user typed",
	[SONDE_ADDRESS] = "an address",
};

/* ---- gathering ---- */

struct gathering {
	struct explained *tables;
	size_t count;
	const char *path;
	void (*refused)(const char *why);
};

static void add_plugin(struct gathering *all, const struct plugin *plugin)
{
	for (size_t i = 0; i < plugin->ntables; i++) {
		all->tables = must_grow(all->tables, all->count, sizeof *all->tables);
		all->tables[all->count++] = (struct explained) { plugin, plugin->schemas[i] };
	}
}

/* The host's own tables; their schemas are made for this. */
static void add_host(struct gathering *all, const struct sonde_table *table)
{
	struct sonde_schema *schema;
	char why[256];

	if (schema_make(table, &schema, why, sizeof why))
		return;
	all->tables = must_grow(all->tables, all->count, sizeof *all->tables);
	all->tables[all->count++] = (struct explained) { NULL, schema };
}

static void add_file(void *context, const char *file, const struct sonde_elf_note *note,
		     const char *why)
{
	struct gathering *all = context;
	const struct plugin *plugin;
	char sentence[1024];

	if (!note) {
		snprintf(sentence, sizeof sentence, "%s: %s", file, why);
		all->refused(sentence);
	} else if (plugin_load(all->path, note->kind, note->name, &plugin, sentence,
			       sizeof sentence)) {
		all->refused(sentence);
	} else {
		add_plugin(all, plugin);
	}
}

static int by_name(const void *a, const void *b)
{
	const struct explained *x = a, *y = b;
	int order = strcmp(x->schema->name, y->schema->name);

	if (order || !x->plugin || !y->plugin)
		return order ? order : !x->plugin - !y->plugin;
	return strcmp(x->plugin->descriptor.name, y->plugin->descriptor.name);
}

struct explained *explain_tables(const char *path, size_t *count, void (*refused)(const char *why))
{
	struct gathering all = { .path = path, .refused = refused };

	for (size_t i = 0; i < RECORD_TABLES; i++)
		add_host(&all, &record_tables[i]);
	add_host(&all, &raw_table);
	add_plugin(&all, self_plugin());
	plugin_each(path, add_file, &all);
	qsort(all.tables, all.count, sizeof *all.tables, by_name);
	*count = all.count;
	return all.tables;
}

void explain_free(struct explained *tables, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!tables[i].plugin)
			schema_free((struct sonde_schema *)tables[i].schema);
	free(tables);
}

/* ---- words ---- */

static const char *owner(const struct explained *table, char *text, size_t size)
{
	if (table->plugin)
		snprintf(text, size, "%s %s", kind_name(table->plugin->descriptor.kind),
			 table->plugin->descriptor.name);
	else
		snprintf(text, size, "the host");
	return text;
}

/* "bytes, in units of 1024 bytes", "count of pages", "ns, in ticks of 1/USER_HZ s". */
static const char *unit_text(const struct sonde_column *c, char *text, size_t size)
{
	const char *unit = unit_name(c->unit);
	char counted[96] = "";

	if (c->unit == SONDE_BASE_COUNT)
		snprintf(counted, sizeof counted, " of %s", c->counted);
	if (!c->scale_mul)
		snprintf(text, size, "%s, in ticks of 1/USER_HZ s", unit);
	else if (c->scale_div != 1)
		snprintf(text, size, "%s%s, in units of %u/%u", unit, counted, c->scale_mul,
			 c->scale_div);
	else if (c->scale_mul != 1)
		snprintf(text, size, "%s%s, in units of %u%s%s", unit, counted, c->scale_mul,
			 *counted ? "" : " ", *counted ? "" : unit);
	else
		snprintf(text, size, "%s%s", unit, counted);
	return text;
}

static const char *type_text(const struct sonde_column *c, char *text, size_t size)
{
	if (c->type == SONDE_HIST)
		snprintf(text, size, "histogram of %u buckets", c->slots);
	else
		snprintf(text, size, "%s", type_name(c->type));
	return text;
}

static const char *wrap_text(const struct sonde_column *c, char *text, size_t size)
{
	if (c->wrap)
		snprintf(text, size, "after %u bits", c->wrap);
	else
		snprintf(text, size, "never; where it goes back, it began anew");
	return text;
}

/* ---- text ---- */

static void print_lasting(const struct sonde_schema *schema)
{
	printf("rows      %s\n", schema->flags & SONDE_EVENTS ? "each is an occurrence, sent once"
							      : "each is a state that lasts");
}

void explain_table(const struct explained *table)
{
	const struct sonde_schema *s = table->schema;
	int width = 0;
	char text[128];

	printf("%s: %s\n\n", s->name, s->help);
	printf("origin    %s\nfrom      %s\n", s->origin, owner(table, text, sizeof text));
	print_lasting(s);
	printf("identity  %016llx\n\n", (unsigned long long)s->hash);
	for (uint32_t i = 0; i < s->ncolumns; i++) {
		int n = (int)strlen(s->columns[i].name);

		width = n > width ? n : width;
	}
	for (uint32_t i = 0; i < s->ncolumns; i++)
		printf("  %-*s  %-7s  %s\n", width, s->columns[i].name,
		       semantics_name(s->columns[i].semantics),
		       *s->columns[i].help ? s->columns[i].help
					   : unit_text(&s->columns[i], text, sizeof text));
}

void explain_column(const struct explained *table, const struct sonde_column *c)
{
	const struct sonde_schema *s = table->schema;
	char text[128];

	printf("%s.%s%s%s\n\n", s->name, c->name, *c->help ? ": " : "", c->help);
	printf("origin    %s%s%s\n", s->origin, *c->origin ? ", " : "", c->origin);
	printf("meaning   %s: %s\n", semantics_name(c->semantics), meanings[c->semantics]);
	printf("type      %s\n", type_text(c, text, sizeof text));
	printf("unit      %s\n", unit_text(c, text, sizeof text));
	if (c->semantics == SONDE_COUNTER)
		printf("wraps     %s\n", wrap_text(c, text, sizeof text));
	if (c->sensitivity)
		printf("privacy   %s\n", sensitivities[c->sensitivity]);
	printf("table     %s: %s\nfrom      %s\n", s->name, s->help,
	       owner(table, text, sizeof text));
}

/* Of an analyzer: what it can judge, and from what. */
static void print_catalogue(const struct sonde_array *catalogue)
{
	if (catalogue->count)
		printf("\nfindings:\n");
	for (uint32_t i = 0; i < catalogue->count; i++) {
		const struct sonde_catalogue *c =
			(const void *)((const char *)catalogue->items + i * catalogue->stride);

		printf("  %s: %s; from %s\n", c->id, c->title, c->needs ? c->needs : "every table");
	}
}

/* The keys that the host has for every section of a kind. */
static void print_host_keys(uint32_t kind)
{
	size_t count, more = kind == SONDE_KIND_SINK ? filter_nkeys : 0;
	const struct sonde_option *keys = section_options(kind, &count);
	struct sonde_option *all = must(calloc(count + more, sizeof *all));

	memcpy(all, keys, count * sizeof *all);
	memcpy(all + count, filter_keys, more * sizeof *all);
	printf("\nkeys of any %s:\n", kind_name(kind));
	options_print(all, count + more);
	free(all);
}

void explain_agent(void)
{
	printf("keys of [agent]:\n");
	options_print(agent_options, agent_noptions);
}

void explain_plugin(const struct plugin *plugin)
{
	const struct sonde_plugin *d = &plugin->descriptor;

	printf("%s %s %s: %s\n\n", kind_name(d->kind), d->name, d->version, d->summary);
	printf("file          %s\n", plugin->path ? plugin->path : "in sonde itself");
	printf("vendor        %s\n", d->vendor && *d->vendor ? d->vendor : "unknown");
	printf("licence       %s\n", d->licence && *d->licence ? d->licence : "unknown");
	printf("capabilities  %s\n",
	       d->capabilities && *d->capabilities ? d->capabilities : "none");
	printf("devices       %s\n", d->devices && *d->devices ? d->devices : "none");
	printf("\nkeys of [%s%s%s]:\n", d->kind == SONDE_KIND_COLLECTOR ? "" : kind_name(d->kind),
	       d->kind == SONDE_KIND_COLLECTOR ? "" : ":", d->name);
	options_print(plugin->options, plugin->noptions);
	if (!plugin->noptions)
		printf("  none of its own\n");
	print_host_keys(d->kind);
	if (d->kind == SONDE_KIND_ANALYZER)
		print_catalogue(&plugin->ops.analyzer.catalogue);
	for (size_t i = 0; i < plugin->ntables; i++) {
		printf("\ntable ");
		explain_table(&(struct explained) { plugin, plugin->schemas[i] });
	}
}

/* ---- Markdown ---- */

/* Text into a cell of a table. */
static void put(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (strchr("|\\<>*`_", text[i]))
			putchar('\\');
		putchar(text[i] == '\n' ? ' ' : text[i]);
	}
}

static void cell(const char *text)
{
	put(text, strlen(text));
}

/* The same as a sentence of several, with its full stop. */
static void sentence(const char *text)
{
	size_t length = strlen(text);

	while (length && text[length - 1] == '.')
		length--;
	put(text, length);
	if (length)
		printf(". ");
}

static void markdown_column(const struct sonde_column *c)
{
	char text[128];

	printf("| `%s` | ", c->name);
	cell(*c->origin ? c->origin : "");
	printf(" | %s | %s | ", type_text(c, text, sizeof text), semantics_name(c->semantics));
	cell(unit_text(c, text, sizeof text));
	printf(" | ");
	sentence(c->help);
	if (c->wrap)
		printf("Wraps after %u bits. ", c->wrap);
	if (c->sensitivity)
		printf("May give away %s. ", sensitivities[c->sensitivity]);
	printf("|\n");
}

void explain_markdown(const struct explained *tables, size_t count)
{
	char text[128];

	printf("# Metrics\n\n"
	       "Every table and column, as the plugins declare them: made by `sonde explain "
	       "--markdown`.\n"
	       "A value that the kernel does not give is absent, never 0. Values stand in the "
	       "kernel's own units; *unit* is what they are in once scaled.\n"
	       "A counter only grows, until a reset or a wrap; a gauge goes up and down; a state is "
	       "one of a set; info describes its row; a key names it.\n"
	       "The kernel brings a counter of time up to date a little before or behind the moment "
	       "that an interval ends at, so in a short one it may have grown by more than the clock: "
	       "reports tell a share of time as 1 at most, and timelines no more CPUs than there are.\n");
	for (size_t i = 0; i < count; i++) {
		const struct sonde_schema *s = tables[i].schema;

		printf("\n## %s\n\n", s->name);
		sentence(s->help);
		printf("From %s", owner(&tables[i], text, sizeof text));
		if (*s->origin) {
			printf(": ");
			cell(s->origin);
		}
		printf(".%s\n\n", s->flags & SONDE_EVENTS ? " Each row is an occurrence." : "");
		printf("| column | origin | type | is a | unit | meaning |\n|---|---|---|---|---|---|\n");
		for (uint32_t c = 0; c < s->ncolumns; c++)
			markdown_column(&s->columns[c]);
	}
}
