/* What the report is made of, taken from the stream as it passes. Tables of data are only counted, so that the cost of a
 * recorded value is none. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

static char *keep(struct gathered *gathered, const char *bytes, size_t length)
{
	char *copy = strndup(bytes ? bytes : "", length);

	if (!copy)
		gathered->no_memory = true;
	return copy;
}

void *list_append(struct gathered *gathered, struct list *list, size_t size)
{
	char *items = realloc(list->items, (list->count + 1) * size);

	if (!items) {
		gathered->no_memory = true;
		return NULL;
	}
	list->items = items;
	memset(items + list->count * size, 0, size);
	return items + list->count++ * size;
}

/* ---- rows by column name: a recording of another version has other slots ---- */

/* A column that is taken: of a list's items, where it goes. */
struct field {
	const char *column;
	uint32_t type; /* enum sonde_type */
	size_t offset;
};

/* A row of a table whose columns are bound; columns by their place among the taker's fields. */
struct at {
	struct gathered *gathered;
	const struct sonde_view *view;
	const struct binding *binding;
	uint32_t row;
};

static bool has_value(const struct at *at, uint32_t column)
{
	int32_t slot = at->binding->slot[column];

	return slot >= 0 && sonde_view_has(at->view, at->row, (uint32_t)slot);
}

static uint64_t number_at(const struct at *at, uint32_t column)
{
	if (!has_value(at, column))
		return 0;
	return sonde_view_slots(at->view, at->row)[at->binding->slot[column]];
}

static const char *bytes_at(const struct at *at, uint32_t column, uint32_t *length)
{
	*length = 0;
	return has_value(at, column) ? sonde_view_bytes(at->view, number_at(at, column), length)
				     : "";
}

static char *text_at(const struct at *at, uint32_t column)
{
	uint32_t length;
	const char *bytes = bytes_at(at, column, &length);

	return keep(at->gathered, bytes, length);
}

static void bind_columns(struct binding *binding, const struct sonde_schema *schema,
			 const struct field *fields, uint32_t nfields)
{
	binding->of = (struct known) { schema, schema->hash, schema->nslots };
	for (uint32_t f = 0; f < nfields; f++) {
		binding->slot[f] = -1;
		for (uint32_t i = 0; i < schema->ncolumns; i++)
			if (strcmp(schema->columns[i].name, fields[f].column) == 0 &&
			    schema->columns[i].type == fields[f].type)
				binding->slot[f] = (int32_t)schema->slot[i];
	}
}

static bool is_known(const struct known *known, const struct sonde_schema *schema)
{
	return known->schema == schema && known->hash == schema->hash &&
	       known->nslots == schema->nslots;
}

/* ---- the host's own tables ---- */

static const struct field finding_fields[] = {
	{ "id", SONDE_STR, offsetof(struct finding, id) },
	{ "about", SONDE_STR, offsetof(struct finding, about) },
	{ "severity", SONDE_STR, offsetof(struct finding, severity) },
	{ "title", SONDE_STR, offsetof(struct finding, title) },
	{ "why", SONDE_STR, offsetof(struct finding, why) },
	{ "action", SONDE_STR, offsetof(struct finding, action) },
	{ "need", SONDE_STR, offsetof(struct finding, need) },
	{ "risk", SONDE_STR, offsetof(struct finding, risk) },
	{ "undo", SONDE_STR, offsetof(struct finding, undo) },
	{ "ignored", SONDE_STR, offsetof(struct finding, ignored) },
	{ "until", SONDE_STR, offsetof(struct finding, until) },
	{ "begin", SONDE_U64, offsetof(struct finding, begin) },
	{ "end", SONDE_U64, offsetof(struct finding, end) },
	{ "held", SONDE_U64, offsetof(struct finding, held) },
};

static const struct field evidence_fields[] = {
	{ "id", SONDE_STR, offsetof(struct evidence, id) },
	{ "about", SONDE_STR, offsetof(struct evidence, about) },
	{ "name", SONDE_STR, offsetof(struct evidence, name) },
	{ "unit", SONDE_STR, offsetof(struct evidence, unit) },
	{ "counted", SONDE_STR, offsetof(struct evidence, counted) },
	{ "origin", SONDE_STR, offsetof(struct evidence, origin) },
	{ "value", SONDE_F64, offsetof(struct evidence, value) },
};

static const struct field metric_fields[] = {
	{ "name", SONDE_STR, offsetof(struct metric, name) },
	{ "about", SONDE_STR, offsetof(struct metric, about) },
	{ "unit", SONDE_STR, offsetof(struct metric, unit) },
	{ "counted", SONDE_STR, offsetof(struct metric, counted) },
	{ "direction", SONDE_STR, offsetof(struct metric, direction) },
	{ "origin", SONDE_STR, offsetof(struct metric, origin) },
	{ "value", SONDE_F64, offsetof(struct metric, value) },
};

static const struct field slice_fields[] = {
	{ "name", SONDE_STR, offsetof(struct slice, name) },
	{ "begin", SONDE_U64, offsetof(struct slice, begin) },
	{ "end", SONDE_U64, offsetof(struct slice, end) },
	{ "value", SONDE_F64, offsetof(struct slice, value) },
};

static const struct field judgement_fields[] = {
	{ "id", SONDE_STR, offsetof(struct judgement, id) },
	{ "title", SONDE_STR, offsetof(struct judgement, title) },
	{ "verdict", SONDE_STR, offsetof(struct judgement, verdict) },
	{ "reason", SONDE_STR, offsetof(struct judgement, reason) },
};

enum { NOTES_INSTANCE, NOTES_TEXT };

static const struct field note_fields[] = {
	[NOTES_INSTANCE] = { "instance", SONDE_STR, 0 },
	[NOTES_TEXT] = { "text", SONDE_STR, 0 },
};

enum { GAPS_INSTANCE, GAPS_REASON, GAPS_TEXT, GAPS_BEGIN, GAPS_END, GAPS_LOST };

static const struct field gap_fields[] = {
	[GAPS_INSTANCE] = { "instance", SONDE_STR, 0 }, [GAPS_REASON] = { "reason", SONDE_STR, 0 },
	[GAPS_TEXT] = { "text", SONDE_STR, 0 },         [GAPS_BEGIN] = { "begin", SONDE_U64, 0 },
	[GAPS_END] = { "end", SONDE_U64, 0 },           [GAPS_LOST] = { "lost", SONDE_U64, 0 },
};

static const struct field end_fields[] = { { "reason", SONDE_STR, 0 } };

/* One item of a list. */
static void take_item(const struct at *at, struct list *list, size_t size,
		      const struct field *fields, uint32_t nfields)
{
	char *item = list_append(at->gathered, list, size);

	for (uint32_t i = 0; item && i < nfields; i++) {
		void *to = item + fields[i].offset;
		uint64_t number;

		if (fields[i].type == SONDE_STR) {
			*(char **)to = text_at(at, i);
		} else {
			number = number_at(at, i);
			memcpy(to, &number, sizeof number); /* of an F64, its bits */
		}
	}
}

/* What is ignored is no finding for whoever counts them. */
static void set_apart(struct gathered *gathered)
{
	struct finding *findings = gathered->findings.items, *apart;
	uint32_t last = gathered->findings.count - 1;

	if (!gathered->findings.count || !findings[last].ignored || !*findings[last].ignored)
		return;
	apart = list_append(gathered, &gathered->ignored, sizeof *apart);
	if (!apart)
		return;
	*apart = findings[last];
	gathered->findings.count = last;
}

static bool is_text(const char *text, const char *bytes, uint32_t length)
{
	return strlen(text) == length && memcmp(text, bytes, length) == 0;
}

/* Each note once. */
static void take_note(const struct at *at)
{
	struct gathered *gathered = at->gathered;
	uint32_t instance_length, length;
	const char *instance = bytes_at(at, NOTES_INSTANCE, &instance_length);
	const char *text = bytes_at(at, NOTES_TEXT, &length);
	struct note *notes = gathered->notes.items;

	for (uint32_t i = 0; i < gathered->notes.count; i++)
		if (is_text(notes[i].instance, instance, instance_length) &&
		    is_text(notes[i].text, text, length))
			return;
	if (gathered->notes.count == NOTES_MOST) {
		gathered->more_notes++;
		return;
	}
	notes = list_append(gathered, &gathered->notes, sizeof *notes);
	if (!notes)
		return;
	notes->instance = keep(gathered, instance, instance_length);
	notes->text = keep(gathered, text, length);
}

/* Gaps of one section and reason are one line. */
static void take_gap(const struct at *at)
{
	struct gathered *gathered = at->gathered;
	uint32_t instance_length, length;
	const char *instance = bytes_at(at, GAPS_INSTANCE, &instance_length);
	const char *reason = bytes_at(at, GAPS_REASON, &length);
	uint64_t begin = number_at(at, GAPS_BEGIN), end = number_at(at, GAPS_END);
	struct gaps *gaps = gathered->gaps.items;
	uint32_t i = 0;

	while (i < gathered->gaps.count && (!is_text(gaps[i].instance, instance, instance_length) ||
					    !is_text(gaps[i].reason, reason, length)))
		i++;
	if (i == GAPS_MOST) {
		gathered->more_gaps++;
		return;
	}
	if (i == gathered->gaps.count) {
		gaps = list_append(gathered, &gathered->gaps, sizeof *gaps);
		if (!gaps)
			return;
		gaps->instance = keep(gathered, instance, instance_length);
		gaps->reason = keep(gathered, reason, length);
		gaps->text = text_at(at, GAPS_TEXT);
	} else {
		gaps += i;
	}
	gaps->count++;
	gaps->lost += number_at(at, GAPS_LOST);
	/* Where the first sample fails there is none before it. */
	if (!has_value(at, GAPS_BEGIN))
		gaps->unbegun++;
	else if (end > begin)
		gaps->time += end - begin;
}

static void take_end(const struct at *at)
{
	free(at->gathered->end_reason);
	at->gathered->end_reason = text_at(at, 0);
}

/* A table, and what becomes of its rows: items of a list, of which the newest judgement's count, or `take`. */
struct taker {
	const char *table;
	const struct field *fields;
	uint32_t nfields;
	size_t list, size;
	void (*take)(const struct at *at);
};

#define FIELDS(fields)     fields, sizeof(fields) / sizeof(fields)[0]
#define JUDGED(list, item) offsetof(struct gathered, list), sizeof(struct item), NULL

static const struct taker takers[TAKERS] = {
	{ "finding", FIELDS(finding_fields), JUDGED(findings, finding) },
	{ "evidence", FIELDS(evidence_fields), JUDGED(evidence, evidence) },
	{ "metric", FIELDS(metric_fields), JUDGED(metrics, metric) },
	{ "metric_slice", FIELDS(slice_fields), JUDGED(slices, slice) },
	{ "judgement", FIELDS(judgement_fields), JUDGED(judgements, judgement) },
	{ "note", FIELDS(note_fields), .take = take_note },
	{ "gap", FIELDS(gap_fields), .take = take_gap },
	{ "end", FIELDS(end_fields), .take = take_end },
};

/* ---- freeing ---- */

/* Every list's items begin with this many texts. */
static void free_list(struct list *list, size_t size, size_t ntexts)
{
	for (uint32_t i = 0; i < list->count; i++) {
		char **texts = (char **)((char *)list->items + i * size);

		for (size_t t = 0; t < ntexts; t++)
			free(texts[t]);
	}
	free(list->items);
	*list = (struct list) { 0 };
}

static void free_judged(struct gathered *gathered)
{
	free_list(&gathered->findings, sizeof(struct finding), 11);
	free_list(&gathered->ignored, sizeof(struct finding), 11);
	free_list(&gathered->evidence, sizeof(struct evidence), 6);
	free_list(&gathered->metrics, sizeof(struct metric), 6);
	free_list(&gathered->slices, sizeof(struct slice), 1);
	free_list(&gathered->judgements, sizeof(struct judgement), 4);
}

static void free_header(struct gathered *gathered)
{
	free(gathered->host);
	free(gathered->kernel);
	free(gathered->arch);
	free(gathered->online);
	free(gathered->nodes);
	free(gathered->label);
	free(gathered->version);
	free(gathered->model);
}

void gathered_free(struct gathered *gathered)
{
	free_judged(gathered);
	free_list(&gathered->notes, sizeof(struct note), 2);
	free_list(&gathered->gaps, sizeof(struct gaps), 3);
	free_list(&gathered->node_list, sizeof(struct node), 2);
	free_list(&gathered->caches, sizeof(struct cache), 1);
	free_list(&gathered->governors, sizeof(struct governor), 2);
	free_list(&gathered->pools, sizeof(struct pool), 0);
	free_list(&gathered->settings, sizeof(struct setting), 2);
	free(gathered->thp_enabled);
	free(gathered->thp_defrag);
	free_header(gathered);
	free(gathered->end_reason);
	*gathered = (struct gathered) { 0 };
}

/* ---- views ---- */

static char *copy(struct gathered *gathered, const char *text)
{
	return keep(gathered, text, text ? strlen(text) : 0);
}

static void take_header(struct gathered *gathered, const struct sonde_stream_header *header)
{
	gathered->has_header = true;
	gathered->host = copy(gathered, header->host);
	gathered->kernel = copy(gathered, header->kernel);
	gathered->arch = copy(gathered, header->arch);
	gathered->online = copy(gathered, header->online);
	gathered->nodes = copy(gathered, header->nodes);
	gathered->label = copy(gathered, header->label);
	gathered->version = copy(gathered, header->version);
	gathered->ncpus = header->ncpus;
	gathered->utc_offset = header->utc_offset;
	gathered->began = header->anchor.boottime;
}

static void take_data(struct gathered *gathered, const struct sonde_view *view)
{
	if (gathered->has_time && view->sequence == gathered->sequence)
		return;
	if (!gathered->has_time || view->begin < gathered->first)
		gathered->first = view->begin;
	if (view->begin > gathered->last)
		gathered->last = view->begin;
	gathered->offset = (int64_t)((uint64_t)view->realtime - view->begin);
	gathered->sequence = view->sequence;
	gathered->has_time = true;
	gathered->instants++;
}

/* The column of a table of data, where this row has a value of it; NULL else. */
static const struct sonde_column *column_at(const struct sonde_view *view, uint32_t row,
					    const char *column, uint32_t type, uint32_t *slot)
{
	for (uint32_t i = 0; i < view->schema->ncolumns; i++) {
		const struct sonde_column *c = &view->schema->columns[i];

		*slot = view->schema->slot[i];
		if (c->type == type && strcmp(c->name, column) == 0 &&
		    sonde_view_has(view, row, *slot))
			return c;
	}
	return NULL;
}

double base_of(const struct sonde_view *view, uint32_t row, const char *column)
{
	uint32_t slot;
	const struct sonde_column *c = column_at(view, row, column, SONDE_U64, &slot);

	return c ? (double)sonde_view_slots(view, row)[slot] * c->scale_mul / c->scale_div : 0;
}

/* To base units, of the column with this slot. */
static double scale_of(const struct sonde_schema *schema, int32_t slot)
{
	for (uint32_t i = 0; i < schema->ncolumns; i++)
		if ((int32_t)schema->slot[i] == slot)
			return (double)schema->columns[i].scale_mul / schema->columns[i].scale_div;
	return 0;
}

static const struct field own_fields[] = { { "cpu_user", SONDE_U64, 0 },
					   { "cpu_system", SONDE_U64, 0 } };

char *bytes_of(struct gathered *gathered, const struct sonde_view *view, uint32_t row,
	       const char *column)
{
	uint32_t slot, length;
	const char *bytes;

	if (!column_at(view, row, column, SONDE_STR, &slot))
		return NULL;
	bytes = sonde_view_bytes(view, sonde_view_slots(view, row)[slot], &length);
	return keep(gathered, bytes, length);
}

/* CPU time that sonde itself used, of the table `self`. */
static void take_own(struct gathered *gathered, const struct sonde_view *view)
{
	struct at at = { .gathered = gathered, .view = view, .binding = &gathered->own };
	double used;

	if (!view->nrows)
		return;
	if (!is_known(&gathered->own.of, view->schema)) {
		bind_columns(&gathered->own, view->schema, FIELDS(own_fields));
		gathered->own_scale = scale_of(view->schema, gathered->own.slot[0]);
	}
	used = ((double)number_at(&at, 0) + (double)number_at(&at, 1)) * gathered->own_scale;
	if (!gathered->own_first)
		gathered->own_first = used;
	gathered->own_cpu = used - gathered->own_first;
}

static void take_rows(struct gathered *gathered, const struct sonde_view *view, uint32_t t)
{
	const struct taker *taker = &takers[t];
	struct binding *binding = &gathered->bindings[t];
	struct at at = { .gathered = gathered, .view = view, .binding = binding };

	if (!is_known(&binding->of, view->schema))
		bind_columns(binding, view->schema, taker->fields, taker->nfields);
	if (!taker->take && gathered->judged != view->sequence + 1) {
		free_judged(gathered);
		gathered->judged = view->sequence + 1;
	}
	for (; at.row < view->nrows; at.row++) {
		if (taker->take)
			taker->take(&at);
		else
			take_item(&at, (struct list *)((char *)gathered + taker->list), taker->size,
				  taker->fields, taker->nfields);
		if (taker->fields == finding_fields)
			set_apart(gathered);
	}
}

/* Of most tables nothing: their names are looked at once. */
static void take_table(struct gathered *gathered, const struct sonde_view *view)
{
	const struct sonde_schema *schema = view->schema;
	uint32_t at = schema->hash % PASSED;

	for (uint32_t i = 0; i < PASSED && gathered->passed[at].schema; i++) {
		if (is_known(&gathered->passed[at], schema))
			return;
		at = (at + 1) % PASSED;
	}
	if (strcmp(schema->name, "self") == 0) {
		take_own(gathered, view);
		return;
	}
	topology_view(gathered, view);
	gathered->passed[at] = (struct known) { schema, schema->hash, schema->nslots };
}

void gathered_view(struct gathered *gathered, const struct sonde_view *view)
{
	if (!gathered->has_header && view->header)
		take_header(gathered, view->header);
	if (!(view->schema->flags & SONDE_EVENTS)) {
		take_data(gathered, view);
		take_table(gathered, view);
		return;
	}
	for (uint32_t i = 0; view->nrows && i < TAKERS; i++)
		if (strcmp(view->schema->name, takers[i].table) == 0)
			take_rows(gathered, view, i);
}
