/* What the metrics of reports are made of: their streams, as analyzers declare them, and the columns that those read. */
#include "host/explain.h"
#include "host/must.h"

struct gathering {
	struct explained_metric *metrics;
	size_t count;
	const char *path;
};

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* A stream may stand there twice, with another threshold. */
static bool is_known(const struct gathering *all, const struct sonde_stream *stream)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct sonde_stream *s = &all->metrics[i].stream;

		if (same(s->name, stream->name) && same(s->table, stream->table) &&
		    same(s->where, stream->where) && same(s->plus, stream->plus) &&
		    same(s->minus, stream->minus) && same(s->over, stream->over))
			return true;
	}
	return false;
}

static void add_plugin(void *context, const char *file, const struct sonde_elf_note *note,
		       const char *why)
{
	struct gathering *all = context;
	const struct sonde_array *streams;
	const struct plugin *plugin;
	char sentence[1024];

	(void)file;
	(void)why;
	if (!note || note->kind != SONDE_KIND_ANALYZER ||
	    plugin_load(all->path, note->kind, note->name, &plugin, sentence, sizeof sentence))
		return;
	streams = &plugin->ops.analyzer.streams;
	for (uint32_t i = 0; i < streams->count; i++) {
		struct sonde_stream stream = { 0 };
		size_t size = streams->stride < sizeof stream ? streams->stride : sizeof stream;

		memcpy(&stream, (const char *)streams->items + (size_t)i * streams->stride, size);
		if (!stream.name || !stream.table || is_known(all, &stream))
			continue;
		all->metrics = must_grow(all->metrics, all->count, sizeof *all->metrics);
		all->metrics[all->count++] = (struct explained_metric) { plugin, stream };
	}
}

struct explained_metric *explain_metrics(const char *path, size_t *count)
{
	struct gathering all = { .path = path };

	plugin_each(path, add_plugin, &all);
	*count = all.count;
	return all.metrics;
}

/* "name?" may be absent, "name*" is every column of that beginning: the first tells where they come from. */
static const struct sonde_column *find_column(const struct sonde_schema *schema, const char *word,
					      size_t length)
{
	bool all = word[length - 1] == '*';
	size_t n = all || word[length - 1] == '?' ? length - 1 : length;

	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		const char *name = schema->columns[i].name;

		if (strncmp(name, word, n) == 0 && (all || !name[n]))
			return &schema->columns[i];
	}
	return NULL;
}

/* "some_total", "user, nice and system": without the marks of what may be absent. */
static void print_words(const char *words)
{
	const char *next;

	for (words += strspn(words, " "); *words; words = next) {
		size_t length = strcspn(words, " ");

		next = words + length + strspn(words + length, " ");
		printf("%.*s", (int)(length - (words[length - 1] == '?')), words);
		if (*next)
			fputs(next[strcspn(next, " ")] ? ", " : " and ", stdout);
	}
}

/* Each column once, whatever it is counted as. */
static void print_columns(const struct sonde_schema *schema, const struct sonde_stream *s)
{
	const char *const lists[] = { s->plus, s->minus, s->over };
	bool *told = must(calloc(schema->ncolumns + 1, sizeof *told));

	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		for (const char *at = lists[i] ? lists[i] : ""; *at; at += strspn(at, " ")) {
			size_t length = strcspn(at, " ");
			const struct sonde_column *c = find_column(schema, at, length);

			at += length;
			if (!c || told[c - schema->columns])
				continue;
			told[c - schema->columns] = true;
			printf("column    %s.%s: %s (%s%s%s)\n", schema->name, c->name, c->help,
			       schema->origin, *c->origin ? ", " : "", c->origin);
		}
	free(told);
}

void explain_metric(const struct explained_metric *metric, const struct explained *tables,
		    size_t ntables)
{
	const struct sonde_plugin *d = &metric->plugin->descriptor;
	const struct sonde_stream *s = &metric->stream;

	printf("%s: a metric, in reports and as evidence of findings\n\n", s->name);
	printf("from      analyzer %s: %s\n", d->name, d->summary);
	printf("counts    table %s: ", s->table);
	print_words(s->plus ? s->plus : "rows");
	if (s->minus) {
		fputs(", less ", stdout);
		print_words(s->minus);
	}
	if (s->over && strcmp(s->over, "time") != 0 && strcmp(s->over, "wall time") != 0) {
		fputs(", over ", stdout);
		print_words(s->over);
	} else if (s->over) {
		printf(", over %s", s->over);
	}
	printf("%s%s\n", s->where ? ", of rows with " : "", s->where ? s->where : "");
	for (size_t i = 0; i < ntables; i++) {
		if (strcmp(tables[i].schema->name, s->table) != 0)
			continue;
		print_columns(tables[i].schema, s);
		break;
	}
}
