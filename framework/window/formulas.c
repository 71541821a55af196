/* Metrics that a recording brings along. A formula has a stream for each of its columns, over all of them: so it sums what the column
 * grew by in those rows, and at those times, in which every one of them was counted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <sonde/formula.h>

#include "core/schema.h"
#include "window/formulas.h"

enum {
	ROWS_MOST = 1024,   /* that are looked at */
	STREAMS_MOST = 512, /* of all formulas: each has its slices, whoever wrote the recording */
	NAMES_MOST = 16,
	TOLD_MOST = 8, /* keys of one formula, the heaviest */
	TEXT = 256
};

enum text { TABLE, METRIC, FORMULA, UNIT, BY, PMU, PARTS };

struct formula {
	char text[PARTS][TEXT];
	char name[2 * TEXT], where[TEXT + 8], over[2 * TEXT];
	char columns[NAMES_MOST][TEXT];
	struct stream *streams; /* one for each column */
	uint32_t ncolumns, nstreams;
};

/* ---- Taking ---- */

static bool find_parts(const struct sonde_schema *schema, uint32_t slots[PARTS])
{
	static const char *const names[PARTS] = {
		"table", "metric", "formula", "unit", "by", "pmu"
	};

	for (int i = 0; i < PARTS; i++) {
		int column = schema_column(schema, names[i]);

		if (column < 0 || schema->columns[column].type != SONDE_STR)
			return false;
		slots[i] = schema->slot[column];
	}
	return true;
}

static bool read_part(const struct sonde_view *view, uint32_t row, uint32_t slot, char to[TEXT])
{
	uint32_t length;
	const char *text;

	to[0] = '\0';
	if (!sonde_view_has(view, row, slot))
		return true;
	text = sonde_view_bytes(view, sonde_view_slots(view, row)[slot], &length);
	if (length >= TEXT || memchr(text, '\0', length))
		return false;
	memcpy(to, text, length);
	to[length] = '\0';
	return true;
}

static double any_value(void *context, const char *name, size_t length)
{
	(void)context, (void)name, (void)length;
	return 1;
}

/* Its columns, each once. False: it is no formula, or one of more than there is room for. */
static bool find_columns(struct formula *formula)
{
	const char *at = formula->text[FORMULA], *end = at + strlen(at), *name;
	double value;
	size_t length;

	if (!sonde_formula(at, strlen(at), any_value, NULL, &value))
		return false;
	while ((length = sonde_formula_next_name(&at, end, &name)) != 0) {
		uint32_t i = 0;
		size_t used = strlen(formula->over);

		while (i < formula->ncolumns && (strlen(formula->columns[i]) != length ||
						 memcmp(formula->columns[i], name, length) != 0))
			i++;
		if (i < formula->ncolumns)
			continue;
		if (i == NAMES_MOST || used + length + 2 > sizeof formula->over)
			return false;
		memcpy(formula->columns[formula->ncolumns++], name, length);
		snprintf(formula->over + used, sizeof formula->over - used, "%s%.*s",
			 used ? " " : "", (int)length, name);
	}
	return formula->ncolumns != 0;
}

/* Whether each name in these bytes fits a word of the list, and each word that needs its column is one of them. */
static bool same_columns(const char *at, const char *end, const char *list)
{
	const char *name, *begin = at;
	size_t length;

	while ((length = sonde_formula_next_name(&at, end, &name)) != 0) {
		char text[TEXT];
		const char *word = list;
		bool fits = false;

		snprintf(text, sizeof text, "%.*s", (int)length, name);
		for (size_t n; *word && !fits; word += n + (word[n] == ' ')) {
			n = strcspn(word, " ");
			fits = column_fits(word, n, text);
		}
		if (!fits)
			return false;
	}
	for (size_t n; *list; list += n + (list[n] == ' ')) {
		bool there = false;

		n = strcspn(list, " ");
		if (!n || list[n - 1] == '?' || list[n - 1] == '*')
			continue;
		at = begin;
		while (!there && (length = sonde_formula_next_name(&at, end, &name)) != 0)
			there = length == n && memcmp(name, list, n) == 0;
		if (!there)
			return false;
	}
	return true;
}

/* Whether an analyzer has a stream of the same columns over the same: then the number is its to tell, by the name that it has for it. */
static bool is_told(const struct formula *formula, const struct formulas_among *among)
{
	const char *text = formula->text[FORMULA], *over = strchr(text, '/');

	if (!over || strpbrk(text, "+-") || strchr(over + 1, '/'))
		return false;
	for (uint32_t i = 0; i < among->nstreams; i++) {
		const struct sonde_stream *declared = &among->streams[i]->declared;

		if (strcmp(declared->table, formula->text[TABLE]) == 0 && !declared->minus &&
		    declared->over && same_columns(text, over, declared->plus) &&
		    same_columns(over, text + strlen(text), declared->over))
			return true;
	}
	return false;
}

static int make_streams(struct formula *formula, const struct formulas_among *among)
{
	snprintf(formula->name, sizeof formula->name, "%s.%s", formula->text[TABLE],
		 formula->text[METRIC]);
	formula->streams = calloc(formula->ncolumns, sizeof *formula->streams);
	if (!formula->streams)
		return -ENOMEM;
	snprintf(formula->where, sizeof formula->where, "pmu=%s", formula->text[PMU]);
	for (; formula->nstreams < formula->ncolumns; formula->nstreams++) {
		struct stream *stream = &formula->streams[formula->nstreams];
		const bool summed = !formula->text[BY][0];
		int err;

		stream->declared = (struct sonde_stream) {
			.name = formula->name,
			.table = formula->text[TABLE],
			.where = formula->where,
			.plus = formula->columns[formula->nstreams],
			.over = formula->over,
			.key = summed ? NULL : formula->text[BY],
			.reduce = summed ? SONDE_SUM : SONDE_PER_KEY,
		};
		err = store_init(&stream->store, among->names, among->base, 64);
		if (err)
			return err;
	}
	return 0;
}

static bool is_taken(const struct formulas *formulas, const struct formula *formula)
{
	static const int parts[] = { TABLE, METRIC, PMU };

	for (uint32_t i = 0; i < formulas->count; i++) {
		size_t same = 0;

		while (same < 3 && strcmp(formulas->items[i]->text[parts[same]],
					  formula->text[parts[same]]) == 0)
			same++;
		if (same == 3)
			return true;
	}
	return false;
}

static void free_formula(struct formula *formula)
{
	for (uint32_t i = 0; i < formula->nstreams; i++)
		store_free(&formula->streams[i].store);
	free(formula->streams);
	free(formula);
}

static int add(struct formulas *formulas, struct formula *formula,
	       const struct formulas_among *among)
{
	struct formula **items =
		realloc(formulas->items, (formulas->count + 1) * sizeof(struct formula *));
	int err;

	if (!items)
		return -ENOMEM;
	formulas->items = items;
	err = make_streams(formula, among);
	if (!err) {
		items[formulas->count++] = formula;
		formulas->nstreams += formula->nstreams;
	}
	return err;
}

int formulas_take(struct formulas *formulas, const struct sonde_view *view,
		  const struct formulas_among *among)
{
	uint32_t slots[PARTS];
	int err = 0;

	if (!find_parts(view->schema, slots))
		return 0;
	for (uint32_t row = 0; row < view->nrows && row < ROWS_MOST && !err; row++) {
		struct formula *formula = calloc(1, sizeof *formula);
		bool good = formula != NULL;

		if (!formula)
			return -ENOMEM;
		for (int i = 0; i < PARTS && good; i++)
			good = read_part(view, row, slots[i], formula->text[i]);
		good = good && find_columns(formula) &&
		       formulas->nstreams + formula->ncolumns <= STREAMS_MOST &&
		       !is_taken(formulas, formula) && !is_told(formula, among);
		err = good ? add(formulas, formula, among) : 0;
		if (!good || err)
			free_formula(formula);
	}
	return err;
}

struct stream *formulas_streams(struct formulas *formulas, uint32_t i, uint32_t *count)
{
	*count = formulas->items[i]->nstreams;
	return formulas->items[i]->streams;
}

/* ---- Telling ---- */

struct operands {
	const struct formula *formula;
	struct series_list lists[NAMES_MOST];
	const char *key;
};

static double operand(void *context, const char *name, size_t length)
{
	const struct operands *operands = context;
	const struct formula *formula = operands->formula;

	for (uint32_t i = 0; i < formula->ncolumns; i++) {
		const struct series_list *list = &operands->lists[i];

		if (strlen(formula->columns[i]) != length ||
		    memcmp(formula->columns[i], name, length) != 0)
			continue;
		for (uint32_t s = 0; s < list->count; s++)
			if (strcmp(list->series[s].key, operands->key) == 0)
				return list->series[s].total.numerator;
	}
	return NAN;
}

/* Whether another PMU has a metric of this name: then both say whose they are. */
static bool is_ambiguous(const struct formulas *formulas, const struct formula *formula)
{
	uint32_t same = 0;

	for (uint32_t i = 0; i < formulas->count; i++)
		same += strcmp(formulas->items[i]->name, formula->name) == 0;
	return same > 1;
}

static const char *about(const struct formulas *formulas, const struct formula *formula,
			 const struct sonde_series *series, char *text, size_t size)
{
	const char *pmu = is_ambiguous(formulas, formula) ? formula->text[PMU] : "";
	const char *by = formula->text[BY];

	if (!*by)
		return pmu;
	if (strncmp(by, "pid", 3) == 0)
		snprintf(text, size, "process %.*s (%s)", (int)strcspn(series->key, " "),
			 series->key, series->label);
	else
		snprintf(text, size, "%s %s", by, series->key);
	if (*pmu)
		snprintf(text + strlen(text), size - strlen(text), ", %s", pmu);
	return text;
}

static void set_unit(struct sonde_metric *metric, const char *unit)
{
	static const struct {
		const char *word;
		uint32_t base;
	} bases[] = {
		{ "share", SONDE_BASE_RATIO }, { "bytes", SONDE_BASE_BYTES },
		{ "ns", SONDE_BASE_NS },       { "hz", SONDE_BASE_HZ },
		{ "joule", SONDE_BASE_JOULE }, { "watt", SONDE_BASE_WATT },
	};

	metric->unit = SONDE_BASE_COUNT;
	metric->counted = unit;
	for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
		if (strcmp(unit, bases[i].word) != 0)
			continue;
		metric->unit = bases[i].base;
		metric->counted = NULL;
	}
}

static void tell(struct formulas *formulas, struct operands *operands, struct verdicts *verdicts)
{
	const struct formula *formula = operands->formula;
	const struct series_list *first = &operands->lists[0];
	const char *text = formula->text[FORMULA];
	char origin[3 * TEXT], whose[2 * TEXT];

	snprintf(origin, sizeof origin, "%s %s", formula->text[TABLE], text);
	for (uint32_t i = 0, told = 0; i < first->count && told < TOLD_MOST; i++) {
		struct sonde_metric metric = { .name = formula->name, .origin = origin };

		operands->key = first->series[i].key;
		if (strcmp(operands->key, "other") == 0 ||
		    !sonde_formula(text, strlen(text), operand, operands, &metric.value) ||
		    !isfinite(metric.value))
			continue;
		metric.about = about(formulas, formula, &first->series[i], whose, sizeof whose);
		set_unit(&metric, formula->text[UNIT]);
		verdicts_metric(verdicts, &metric, NULL, 0);
		told++;
	}
}

int formulas_tell(struct formulas *formulas, struct verdicts *verdicts)
{
	int err = 0;

	for (uint32_t i = 0; i < formulas->count && !err; i++) {
		struct formula *formula = formulas->items[i];
		struct operands operands = { .formula = formula };

		for (uint32_t k = 0; k < formula->nstreams && !err; k++)
			err = store_list(&formula->streams[k].store, &operands.lists[k]);
		if (!err)
			tell(formulas, &operands, verdicts);
		for (uint32_t k = 0; k < formula->nstreams; k++)
			series_list_free(&operands.lists[k]);
	}
	return err;
}

void formulas_free(struct formulas *formulas)
{
	for (uint32_t i = 0; i < formulas->count; i++)
		free_formula(formulas->items[i]);
	free(formulas->items);
	*formulas = (struct formulas) { 0 };
}
