/* sonde explain: what a table, a column, a metric or a finding means, and where it comes from. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/run_metrics.h"
#include "core/schema.h"
#include "live/confined.h"
#include "host/explain.h"
#include "host/folders.h"
#include "host/must.h"

static const char help[] =
	"usage: sonde explain TABLE[.COLUMN]|METRIC|FINDING...\n"
	"       sonde explain --markdown\n\n"
	"Says of each table or column where it comes from, what it counts, in which unit, and what to beware of;\n"
	"of a finding what it is judged from, and its thresholds; of a metric of reports which columns it is made of.\n\n"
	"      --markdown   all tables, as docs/metrics.md\n"
	"  -h, --help       print this\n\n"
	"examples:\n"
	"  sonde explain psi\n"
	"  sonde explain psi.some_total\n"
	"  sonde explain cpu.saturation\n";

enum { OPT_MARKDOWN = 256 };

static const struct option options[] = {
	{ "markdown", no_argument, NULL, OPT_MARKDOWN },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct call {
	char **names; /* NULL: all, as Markdown */
	int count;
};

static void refused(const char *why)
{
	cli_error(EXIT_FAILED, "%s", why);
}

/* All that has a name. */
struct known {
	struct explained *tables;
	size_t ntables;
	struct explained_finding *findings;
	size_t nfindings;
	struct explained_metric *metrics;
	size_t nmetrics;
};

static const struct explained *find_table(const struct known *known, const char *name)
{
	size_t length = strcspn(name, ".");

	for (size_t i = 0; i < known->ntables; i++) {
		const char *table = known->tables[i].schema->name;

		if (strlen(table) == length && strncmp(table, name, length) == 0)
			return &known->tables[i];
	}
	return NULL;
}

/* Findings, metrics, and the columns of the table that is meant, or where there is none all tables. */
static int unknown(const char *name, const struct known *known, const struct explained *table)
{
	size_t most = known->nfindings + known->nmetrics + RUN_METRICS +
		      (table ? table->schema->ncolumns : known->ntables);
	char **words = must(calloc(most + 1, sizeof *words)), *dot = strchr(name, '.');
	const char *near;
	size_t count = 0;

	for (size_t i = 0; i < known->nfindings; i++)
		words[count++] = must_copy(known->findings[i].line.id);
	for (size_t i = 0; i < known->nmetrics; i++)
		words[count++] = must_copy(known->metrics[i].stream.name);
	for (int i = 0; i < RUN_METRICS; i++)
		words[count++] = must_copy(run_metrics[i].name);
	for (uint32_t i = 0; table && i < table->schema->ncolumns; i++) {
		if (asprintf(&words[count], "%s.%s", table->schema->name,
			     table->schema->columns[i].name) < 0)
			words[count] = NULL;
		must(words[count++]);
	}
	for (size_t i = 0; !table && i < known->ntables; i++)
		words[count++] = must_copy(known->tables[i].schema->name);
	near = nearest(name, (const char *const *)words, count);
	if (!near && !table && dot) {
		char *before = must(strndup(name, (size_t)(dot - name)));

		near = nearest(before, (const char *const *)words, count);
		free(before);
	}
	cli_error(EXIT_FAILED, "there is no table, column, metric or finding \"%s\"%s%s%s", name,
		  near    ? "; did you mean \""
		  : table ? "; `sonde explain TABLE` lists its columns"
			  : "; `sonde plugins NAME` lists those of a plugin",
		  near ? near : "", near ? "\"?" : "");
	while (count)
		free(words[--count]);
	free(words);
	return EXIT_FAILED;
}

static bool explain_its_metrics(const char *name, const struct known *known, bool told)
{
	for (size_t i = 0; i < known->nmetrics; i++) {
		if (strcmp(known->metrics[i].stream.name, name) != 0)
			continue;
		if (told)
			putchar('\n');
		explain_metric(&known->metrics[i], known->tables, known->ntables);
		told = true;
	}
	for (int i = 0; i < RUN_METRICS; i++) {
		const struct run_metric *metric = &run_metrics[i];

		if (strcmp(metric->name, name) != 0)
			continue;
		printf("%s: a metric of sonde compare and sonde ab\n\ncounts    %s%s%s\n", name,
		       *metric->counted ? "" : metric->unit, *metric->counted ? "" : ": ",
		       metric->help);
		told = true;
	}
	return told;
}

/* A column, a finding and a metric may have one name: then all of them. */
static int explain_one(const char *name, const struct known *known)
{
	const struct explained *table = find_table(known, name);
	const char *dot = strchr(name, '.');
	int index = table && dot ? schema_column(table->schema, dot + 1) : -1;
	bool told = index >= 0 || (table && !dot);

	if (table && !dot)
		explain_table(table);
	if (index >= 0)
		explain_column(table, &table->schema->columns[index]);
	for (size_t i = 0; i < known->nfindings; i++) {
		if (strcmp(known->findings[i].line.id, name) != 0)
			continue;
		if (told)
			putchar('\n');
		explain_finding(&known->findings[i]);
		told = true;
	}
	told = explain_its_metrics(name, known, told);
	return told ? EXIT_DONE : unknown(name, known, table);
}

/* In a child, since plugins are loaded. */
static int run(void *context)
{
	const struct call *call = context;
	char *path = plugin_path(NULL);
	struct known known = { 0 };
	int status = EXIT_DONE;

	if (!*path) {
		free(path);
		return cli_error(EXIT_FAILED, "%s", folders_nowhere);
	}
	known.tables = explain_tables(path, &known.ntables, refused);
	known.findings = explain_findings(path, &known.nfindings);
	known.metrics = explain_metrics(path, &known.nmetrics);
	if (!call->names)
		explain_markdown(known.tables, known.ntables);
	for (int i = 0; call->names && i < call->count; i++) {
		int one = explain_one(call->names[i], &known);

		status = one ? one : status;
		if (i + 1 < call->count)
			putchar('\n');
	}
	explain_free(known.tables, known.ntables);
	free(known.findings);
	free(known.metrics);
	free(path);
	return cli_flush(status);
}

int verb_explain(int argc, char **argv)
{
	struct call call = { 0 };
	bool markdown = false;
	char why[256];
	int status;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case OPT_MARKDOWN:
			markdown = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return cli_bad_option(argv, c);
		}
	}
	if (markdown == (optind < argc))
		return cli_misuse(
			"name a table, a column, a metric or a finding, such as psi.some_total, or give --markdown");
	if (!markdown)
		call = (struct call) { argv + optind, argc - optind };
	status = confined_run(run, &call, why, sizeof why);
	return status < 0 ? cli_error(EXIT_FAILED, "a plugin: %s", why) : status;
}
