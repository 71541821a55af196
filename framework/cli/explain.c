/* sonde explain: what a table or a column means, and where it comes from. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/schema.h"
#include "host/confined.h"
#include "host/explain.h"

static const char help[] =
	"usage: sonde explain TABLE[.COLUMN]...\n"
	"       sonde explain --markdown\n\n"
	"Says of each table or column where it comes from, what it counts, in which unit, and what to beware of.\n\n"
	"      --markdown   all of them, as docs/metrics.md\n"
	"  -h, --help       print this\n\n"
	"examples:\n"
	"  sonde explain psi\n"
	"  sonde explain psi.some_total\n";

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

/* The nearest of the tables, or of one table's columns. */
static int unknown(const char *name, const struct explained *tables, size_t count,
		   const struct sonde_schema *of)
{
	size_t n = of ? of->ncolumns : count;
	const char **words = calloc(n ? n : 1, sizeof *words);
	const char *near;

	for (size_t i = 0; words && i < n; i++)
		words[i] = of ? of->columns[i].name : tables[i].schema->name;
	near = words ? nearest(name, words, n) : NULL;
	free(words);
	if (of)
		return cli_error(EXIT_FAILED, "table %s has no column \"%s\"%s%s%s", of->name, name,
				 near ? "; did you mean \"" : "; `sonde explain TABLE` lists them",
				 near ? near : "", near ? "\"?" : "");
	return cli_error(EXIT_FAILED, "there is no table \"%s\"%s%s%s", name,
			 near ? "; did you mean \""
			      : "; `sonde plugins NAME` lists those of a plugin",
			 near ? near : "", near ? "\"?" : "");
}

static int explain_one(const char *name, const struct explained *tables, size_t count)
{
	size_t length = strcspn(name, ".");
	const char *column = name[length] ? name + length + 1 : NULL;
	char table[SCHEMA_MAX_NAME];
	int index;

	snprintf(table, sizeof table, "%.*s", (int)length, name);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(tables[i].schema->name, table) != 0)
			continue;
		if (!column) {
			explain_table(&tables[i]);
			return EXIT_DONE;
		}
		index = schema_column(tables[i].schema, column);
		if (index < 0)
			return unknown(column, tables, count, tables[i].schema);
		explain_column(&tables[i], &tables[i].schema->columns[index]);
		return EXIT_DONE;
	}
	return unknown(table, tables, count, NULL);
}

/* In a child, since plugins are loaded. */
static int run(void *context)
{
	const struct call *call = context;
	char *path = plugin_path(NULL);
	size_t count;
	struct explained *tables = explain_tables(path, &count, refused);
	int status = EXIT_DONE;

	if (!call->names)
		explain_markdown(tables, count);
	for (int i = 0; call->names && i < call->count; i++) {
		int one = explain_one(call->names[i], tables, count);

		status = one ? one : status;
		if (i + 1 < call->count)
			putchar('\n');
	}
	explain_free(tables, count);
	free(path);
	return status;
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
			"name a table or a column, such as psi.some_total, or give --markdown");
	if (!markdown)
		call = (struct call) { argv + optind, argc - optind };
	status = confined_run(run, &call, why, sizeof why);
	return status < 0 ? cli_error(EXIT_FAILED, "a plugin: %s", why) : status;
}
