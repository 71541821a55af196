/* What of the stream a sink gets. */
#include "core/records.h"
#include "core/schema.h"
#include "host/filter.h"
#include "host/filter_rules.h"
#include "host/filter_table.h"
#include "host/must.h"

#define AT(field) .offset = offsetof(struct filter_options, field)

/* clang-format off */
const struct sonde_option filter_keys[] = {
	{ .key = "tables", .type = SONDE_OPT_LIST, AT(tables), .initial = "",
	  .help = "tables that it gets: cpu, node_*; with ! those that it does not get; default: all" },
	{ .key = "columns", .type = SONDE_OPT_LIST, AT(columns), .initial = "",
	  .help = "columns that it gets, likewise: vmstat.pgfault, process.*; keys always" },
	{ .key = "kinds", .type = SONDE_OPT_LIST, AT(kinds), .initial = "",
	  .help = "data, notes, gaps, findings, metrics, marks; default: all" },
	{ .key = "privacy", .type = SONDE_OPT_LIST, AT(privacy), .initial = "",
	  .help = "name, path, argument, address: such text is redacted, or left out with =drop" },
	{ .key = "every", .type = SONDE_OPT_DURATION, AT(every), .initial = "0s", .max = 86400e9,
	  .help = "the newest rows no oftener than this; 0s: all" },
	{ .key = "values", .type = SONDE_OPT_CHOICE, AT(values), .initial = "raw", .choices = "raw|rate",
	  .help = "rate: counters as rates per second, resets and wraps told apart" },
};
/* clang-format on */
const size_t filter_nkeys = sizeof filter_keys / sizeof filter_keys[0];

enum { TABLES_MOST = 4096 }; /* of all senders; the one unused for longest goes */

struct known {
	struct filter_table *table;
	uint64_t used; /* filter->clock when it last came by */
	bool broken;   /* there was a suspend since */
};

struct filter {
	struct filter_rules rules;
	bool idle; /* nothing to do */
	struct known *known;
	size_t nknown, cursor;
	uint64_t clock;
	struct sonde_view *views;
	uint32_t capacity;
	struct instant out;
};

void filter_check(struct config *config, const struct config_section *section)
{
	for (size_t i = 0; i < section->nkeys; i++) {
		const struct config_key *key = &section->keys[i];
		const char *const value = key->value;
		const struct sonde_list one = { &value, 1, 0 };
		struct filter_options options = { 0 };
		struct filter_rules rules;
		char why[256];

		if (strcmp(key->name, "tables") == 0)
			options.tables = one;
		else if (strcmp(key->name, "columns") == 0)
			options.columns = one;
		else if (strcmp(key->name, "kinds") == 0)
			options.kinds = one;
		else if (strcmp(key->name, "privacy") == 0)
			options.privacy = one;
		if (rules_make(&rules, &options, why, sizeof why))
			config_error(config, key->file, key->line, "%s: %s", key->name, why);
		rules_free(&rules);
	}
}

int filter_new(const struct filter_options *options, struct filter **out, char *why, size_t size)
{
	struct filter *filter = must(calloc(1, sizeof *filter));
	struct filter_rules *rules = &filter->rules;
	int err = rules_make(rules, options, why, size);

	if (err) {
		filter_free(filter);
		return err;
	}
	filter->idle = !rules->tables.count && !rules->columns.count && !rules->kinds &&
		       !rules->private && !rules->every && rules->values == FILTER_RAW;
	*out = filter;
	return 0;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->nknown; i++)
		filter_table_free(filter->known[i].table);
	free(filter->known);
	free(filter->views);
	rules_free(&filter->rules);
	free(filter);
}

/* A place for one table more; at the bound that of the table unused for longest. */
static struct known *new_place(struct filter *filter)
{
	size_t oldest = 0;

	if (filter->nknown < TABLES_MOST) {
		filter->known = must_grow(filter->known, filter->nknown, sizeof *filter->known);
		return &filter->known[filter->nknown++];
	}
	for (size_t i = 1; i < filter->nknown; i++)
		if (filter->known[i].used < filter->known[oldest].used)
			oldest = i;
	filter_table_free(filter->known[oldest].table);
	return &filter->known[oldest];
}

/* Tables come by in the same order again and again. */
static struct known *find(struct filter *filter, const struct sonde_view *view)
{
	struct known *known;

	for (size_t n = 0; n < filter->nknown; n++) {
		known = &filter->known[filter->cursor++ % filter->nknown];
		if (filter_table_is(known->table, view))
			return known;
	}
	known = new_place(filter);
	*known = (struct known) { .table = filter_table_new(&filter->rules, view) };
	return known;
}

/* A machine that slept counted nothing meanwhile: rates across it would be too low. */
static bool tells_of_suspend(const struct sonde_view *view)
{
	static const char reason[] = "suspended";

	if (!record_view_is(view, RECORD_GAP))
		return false;
	for (uint32_t i = 0; i < view->nrows; i++) {
		const uint64_t *slots = sonde_view_slots(view, i);
		const char *bytes;
		uint32_t length;

		if (!sonde_view_has(view, i, GAP_REASON))
			continue;
		bytes = sonde_view_bytes(view, slots[GAP_REASON], &length);
		if (length == sizeof reason - 1 && memcmp(bytes, reason, length) == 0)
			return true;
	}
	return false;
}

static int make_views(struct filter *filter, const struct instant *in)
{
	for (uint32_t i = 0; i < in->nviews; i++)
		if (tells_of_suspend(&in->views[i]))
			for (size_t n = 0; n < filter->nknown; n++)
				filter->known[n].broken = true;
	filter->out.nviews = 0;
	for (uint32_t i = 0; i < in->nviews; i++) {
		struct known *known = find(filter, &in->views[i]);
		int got = filter_table_view(known->table, &in->views[i], known->broken,
					    &filter->views[filter->out.nviews]);

		known->used = filter->clock;
		if (got < 0)
			return got;
		if (got) {
			known->broken = false;
			filter->out.nviews++;
		}
	}
	return 0;
}

int filter_instant(struct filter *filter, const struct instant *in, const struct instant **out)
{
	int err;

	*out = in;
	if (filter->idle)
		return 0;
	if (in->nviews > filter->capacity) {
		struct sonde_view *views = realloc(filter->views, in->nviews * sizeof *views);

		if (!views)
			return -ENOMEM;
		filter->views = views;
		filter->capacity = in->nviews;
	}
	filter->clock++;
	filter->out = *in;
	filter->out.views = filter->views;
	err = make_views(filter, in);
	*out = !err && filter->out.nviews ? &filter->out : NULL;
	return err;
}

/* ---- Before anything has come by */

static void match_all(struct filter_rules *rules, const struct sonde_schema *const *schemas,
		      size_t count)
{
	char path[2 * SCHEMA_MAX_NAME + 2];

	for (size_t i = 0; i < count; i++) {
		patterns_want(&rules->tables, schemas[i]->name, NULL);
		for (uint32_t c = 0; c < schemas[i]->ncolumns; c++) {
			const char *column = schemas[i]->columns[c].name;

			snprintf(path, sizeof path, "%s.%s", schemas[i]->name, column);
			patterns_want(&rules->columns, path, column);
		}
	}
}

/* The table, the column or the table.column that is nearest to a pattern, to be freed; NULL where none is near. */
static char *nearest_of(const char *pattern, bool columns,
			const struct sonde_schema *const *schemas, size_t count)
{
	char **names = NULL, *near;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		for (uint32_t c = 0; c < (columns ? schemas[i]->ncolumns : 1); c++) {
			const char *column = columns ? schemas[i]->columns[c].name : "";
			bool both = columns && strchr(pattern, '.');

			names = must_grow(names, n, sizeof *names);
			if (asprintf(&names[n], "%s%s%s", both || !columns ? schemas[i]->name : "",
				     both ? "." : "", column) < 0)
				names[n] = NULL;
			must(names[n++]);
		}
	}
	near = (char *)nearest(pattern, (const char *const *)names, n);
	near = near ? must_copy(near) : NULL;
	while (n)
		free(names[--n]);
	free(names);
	return near;
}

void filter_each_unmatched(const struct config_section *section,
			   const struct sonde_schema *const *schemas, size_t count,
			   void (*each)(void *context, const struct config_key *key,
					const char *pattern, const char *near),
			   void *context)
{
	for (size_t i = 0; i < section->nkeys; i++) {
		const struct config_key *key = &section->keys[i];
		bool columns = strcmp(key->name, "columns") == 0;
		const char *const value = key->value;
		const struct sonde_list one = { &value, 1, 0 };
		struct filter_options options = { 0 };
		struct filter_rules rules;
		const struct patterns *patterns;
		char why[256];

		if (columns)
			options.columns = one;
		else if (strcmp(key->name, "tables") == 0)
			options.tables = one;
		if (rules_make(&rules, &options, why, sizeof why) == 0)
			match_all(&rules, schemas, count);
		patterns = columns ? &rules.columns : &rules.tables;
		for (size_t p = 0; p < patterns->count; p++) {
			char *near;

			if (patterns->items[p].matched)
				continue;
			near = nearest_of(patterns->items[p].text, columns, schemas, count);
			each(context, key, patterns->items[p].text, near);
			free(near);
		}
		rules_free(&rules);
	}
}

/* ---- After all of it has */

static const char *unmatched(const struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (!patterns->items[i].matched)
			return patterns->items[i].text;
	return NULL;
}

const char *filter_unmatched(const struct filter *filter)
{
	const char *text = unmatched(&filter->rules.tables);

	return text ? text : unmatched(&filter->rules.columns);
}
