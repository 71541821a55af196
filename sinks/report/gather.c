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

static void *append(struct gathered *gathered, struct list *list, size_t size)
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

static int slot_of(const struct sonde_view *view, const char *column, uint32_t type)
{
	for (uint32_t i = 0; i < view->schema->ncolumns; i++)
		if (strcmp(view->schema->columns[i].name, column) == 0)
			return view->schema->columns[i].type == type ? (int)view->schema->slot[i]
								     : -1;
	return -1;
}

static const char *bytes_at(const struct sonde_view *view, uint32_t row, const char *column,
			    uint32_t *length)
{
	int slot = slot_of(view, column, SONDE_STR);

	*length = 0;
	if (slot < 0 || !sonde_view_has(view, row, (uint32_t)slot))
		return "";
	return sonde_view_bytes(view, sonde_view_slots(view, row)[slot], length);
}

static char *text_at(struct gathered *gathered, const struct sonde_view *view, uint32_t row,
		     const char *column)
{
	uint32_t length;
	const char *bytes = bytes_at(view, row, column, &length);

	return keep(gathered, bytes, length);
}

static uint64_t number_at(const struct sonde_view *view, uint32_t row, const char *column)
{
	int slot = slot_of(view, column, SONDE_U64);

	if (slot < 0 || !sonde_view_has(view, row, (uint32_t)slot))
		return 0;
	return sonde_view_slots(view, row)[slot];
}

static double value_at(const struct sonde_view *view, uint32_t row, const char *column)
{
	int slot = slot_of(view, column, SONDE_F64);

	if (slot < 0 || !sonde_view_has(view, row, (uint32_t)slot))
		return 0;
	return sonde_slot_f64(sonde_view_slots(view, row)[slot]);
}

/* ---- the host's own tables ---- */

static void take_finding(struct gathered *gathered, const struct sonde_view *view, uint32_t row)
{
	struct finding *finding = append(gathered, &gathered->findings, sizeof *finding);

	if (!finding)
		return;
	finding->id = text_at(gathered, view, row, "id");
	finding->about = text_at(gathered, view, row, "about");
	finding->severity = text_at(gathered, view, row, "severity");
	finding->title = text_at(gathered, view, row, "title");
	finding->why = text_at(gathered, view, row, "why");
	finding->action = text_at(gathered, view, row, "action");
	finding->need = text_at(gathered, view, row, "need");
	finding->risk = text_at(gathered, view, row, "risk");
	finding->undo = text_at(gathered, view, row, "undo");
	finding->begin = number_at(view, row, "begin");
	finding->end = number_at(view, row, "end");
	finding->held = number_at(view, row, "held");
}

static void take_evidence(struct gathered *gathered, const struct sonde_view *view, uint32_t row)
{
	struct evidence *evidence = append(gathered, &gathered->evidence, sizeof *evidence);

	if (!evidence)
		return;
	evidence->id = text_at(gathered, view, row, "id");
	evidence->about = text_at(gathered, view, row, "about");
	evidence->name = text_at(gathered, view, row, "name");
	evidence->value = value_at(view, row, "value");
	evidence->unit = text_at(gathered, view, row, "unit");
	evidence->counted = text_at(gathered, view, row, "counted");
	evidence->origin = text_at(gathered, view, row, "origin");
}

static void take_metric(struct gathered *gathered, const struct sonde_view *view, uint32_t row)
{
	struct metric *metric = append(gathered, &gathered->metrics, sizeof *metric);

	if (!metric)
		return;
	metric->name = text_at(gathered, view, row, "name");
	metric->about = text_at(gathered, view, row, "about");
	metric->value = value_at(view, row, "value");
	metric->unit = text_at(gathered, view, row, "unit");
	metric->counted = text_at(gathered, view, row, "counted");
	metric->direction = text_at(gathered, view, row, "direction");
	metric->origin = text_at(gathered, view, row, "origin");
}

static void take_judgement(struct gathered *gathered, const struct sonde_view *view, uint32_t row)
{
	struct judgement *judgement = append(gathered, &gathered->judgements, sizeof *judgement);

	if (!judgement)
		return;
	judgement->id = text_at(gathered, view, row, "id");
	judgement->title = text_at(gathered, view, row, "title");
	judgement->verdict = text_at(gathered, view, row, "verdict");
	judgement->reason = text_at(gathered, view, row, "reason");
}

static bool is_text(const char *text, const char *bytes, uint32_t length)
{
	return strlen(text) == length && memcmp(text, bytes, length) == 0;
}

/* Each note once. */
static void take_note(struct gathered *gathered, const struct sonde_view *view, uint32_t row)
{
	uint32_t instance_length, length;
	const char *instance = bytes_at(view, row, "instance", &instance_length);
	const char *text = bytes_at(view, row, "text", &length);
	struct note *notes = gathered->notes.items;

	for (uint32_t i = 0; i < gathered->notes.count; i++)
		if (is_text(notes[i].instance, instance, instance_length) &&
		    is_text(notes[i].text, text, length))
			return;
	if (gathered->notes.count == NOTES_MOST) {
		gathered->more_notes++;
		return;
	}
	notes = append(gathered, &gathered->notes, sizeof *notes);
	if (!notes)
		return;
	notes->instance = keep(gathered, instance, instance_length);
	notes->text = keep(gathered, text, length);
}

/* Gaps of one section and reason are one line. */
static void take_gap(struct gathered *gathered, const struct sonde_view *view, uint32_t row)
{
	uint32_t instance_length, length;
	const char *instance = bytes_at(view, row, "instance", &instance_length);
	const char *reason = bytes_at(view, row, "reason", &length);
	uint64_t begin = number_at(view, row, "begin"), end = number_at(view, row, "end");
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
		gaps = append(gathered, &gathered->gaps, sizeof *gaps);
		if (!gaps)
			return;
		gaps->instance = keep(gathered, instance, instance_length);
		gaps->reason = keep(gathered, reason, length);
		gaps->text = text_at(gathered, view, row, "text");
		gaps->begin = begin;
	} else {
		gaps += i;
	}
	gaps->count++;
	gaps->lost += number_at(view, row, "lost");
	if (end > gaps->end)
		gaps->end = end;
	if (end > begin)
		gaps->time += end - begin;
}

static void take_end(struct gathered *gathered, const struct sonde_view *view, uint32_t row)
{
	free(gathered->end_reason);
	gathered->end_reason = text_at(gathered, view, row, "reason");
}

struct taker {
	const char *table;
	void (*take)(struct gathered *gathered, const struct sonde_view *view, uint32_t row);
	bool judged; /* part of a judgement: the newest one counts */
};

static const struct taker takers[] = {
	{ "finding", take_finding, true }, { "evidence", take_evidence, true },
	{ "metric", take_metric, true },   { "judgement", take_judgement, true },
	{ "note", take_note, false },      { "gap", take_gap, false },
	{ "end", take_end, false },
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
	free_list(&gathered->findings, sizeof(struct finding), 9);
	free_list(&gathered->evidence, sizeof(struct evidence), 6);
	free_list(&gathered->metrics, sizeof(struct metric), 6);
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
}

void gather_free(struct gathered *gathered)
{
	free_judged(gathered);
	free_list(&gathered->notes, sizeof(struct note), 2);
	free_list(&gathered->gaps, sizeof(struct gaps), 3);
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
}

static void take_data(struct gathered *gathered, const struct sonde_view *view)
{
	if (gathered->has_time && view->sequence == gathered->sequence)
		return;
	if (!gathered->has_time || view->begin < gathered->first)
		gathered->first = view->begin;
	if (view->begin > gathered->last)
		gathered->last = view->begin;
	gathered->offset = view->realtime - (int64_t)view->begin;
	gathered->sequence = view->sequence;
	gathered->has_time = true;
	gathered->instants++;
}

/* A number in base units. */
static double scaled_at(const struct sonde_view *view, uint32_t row, const char *column)
{
	for (uint32_t i = 0; i < view->schema->ncolumns; i++) {
		const struct sonde_column *c = &view->schema->columns[i];

		if (strcmp(c->name, column) == 0)
			return (double)number_at(view, row, column) * c->scale_mul / c->scale_div;
	}
	return 0;
}

/* CPU time that sonde itself used, of the table `self`. */
static void take_own(struct gathered *gathered, const struct sonde_view *view)
{
	double used;

	if (!view->nrows)
		return;
	used = scaled_at(view, 0, "cpu_user") + scaled_at(view, 0, "cpu_system");
	if (!gathered->own_first)
		gathered->own_first = used;
	gathered->own_cpu = used - gathered->own_first;
}

void gather_view(struct gathered *gathered, const struct sonde_view *view)
{
	if (!gathered->has_header && view->header)
		take_header(gathered, view->header);
	if (!(view->schema->flags & SONDE_EVENTS)) {
		take_data(gathered, view);
		if (strcmp(view->schema->name, "self") == 0)
			take_own(gathered, view);
		return;
	}
	for (size_t i = 0; view->nrows && i < sizeof takers / sizeof takers[0]; i++) {
		if (strcmp(view->schema->name, takers[i].table) != 0)
			continue;
		if (takers[i].judged && gathered->judged != view->sequence + 1) {
			free_judged(gathered);
			gathered->judged = view->sequence + 1;
		}
		for (uint32_t row = 0; row < view->nrows; row++)
			takers[i].take(gathered, view, row);
	}
}
