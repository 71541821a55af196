/* The host's own tables. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/records.h"
#include "core/schema.h"

#define TEXT(name_, help_)                                                                         \
	{                                                                                          \
		.name = name_, .type = SONDE_STR, .semantics = SONDE_INFO,                         \
		.unit = SONDE_BASE_NONE, .scale_mul = 1, .scale_div = 1, .help = help_             \
	}
#define KEY(name_, help_)                                                                          \
	{                                                                                          \
		.name = name_, .type = SONDE_STR, .semantics = SONDE_KEY, .unit = SONDE_BASE_NONE, \
		.scale_mul = 1, .scale_div = 1, .help = help_                                      \
	}
#define TIME(name_, type_, help_)                                                                  \
	{                                                                                          \
		.name = name_, .type = type_, .semantics = SONDE_GAUGE, .unit = SONDE_BASE_NS,     \
		.scale_mul = 1, .scale_div = 1, .help = help_                                      \
	}

static const struct sonde_column note_columns[] = {
	[NOTE_INSTANCE] = TEXT("instance", "section that it is about; empty: the host"),
	[NOTE_LEVEL] = TEXT("level", "error, warning or notice"),
	[NOTE_TEXT] = TEXT("text", "what a reader of the recording has to know"),
	[NOTE_TABLES] =
		TEXT("tables", "tables of that section, NAME_* for all that begin so: where one is "
			       "not there, this may be why"),
};
static const struct sonde_column gap_columns[] = {
	[GAP_INSTANCE] = TEXT("instance", "section whose data is missing; empty: all"),
	[GAP_REASON] = TEXT(
		"reason",
		"missed, dropped, error, rows, crashed, stuck, suspended, damaged, disk_full or lost"),
	[GAP_BEGIN] = TIME("begin", SONDE_U64, "CLOCK_BOOTTIME of the last instant before it"),
	[GAP_END] = TIME("end", SONDE_U64, "CLOCK_BOOTTIME of the first instant after it"),
	[GAP_LOST] = { .name = "lost",
		       .type = SONDE_U64,
		       .semantics = SONDE_GAUGE,
		       .unit = SONDE_BASE_COUNT,
		       .scale_mul = 1,
		       .scale_div = 1,
		       .counted = "instants",
		       .help = "instants that are missing, where it is known" },
	[GAP_TEXT] = TEXT("text", "the reason in words"),
};
static const struct sonde_column anchor_columns[] = {
	[ANCHOR_MONOTONIC] = TIME("monotonic", SONDE_U64, "CLOCK_MONOTONIC at this instant"),
	[ANCHOR_BOOTTIME] = TIME("boottime", SONDE_U64, "CLOCK_BOOTTIME at this instant"),
	[ANCHOR_REALTIME] =
		TIME("realtime", SONDE_I64, "CLOCK_REALTIME at this instant, since 1970"),
	[ANCHOR_OFFSET] = TIME("offset", SONDE_I64, "adjtimex offset"),
	[ANCHOR_MAX_ERROR] = TIME("max_error", SONDE_U64, "adjtimex maxerror"),
	[ANCHOR_SYNCHRONISED] = { .name = "synchronised",
				  .type = SONDE_U64,
				  .semantics = SONDE_STATE,
				  .unit = SONDE_BASE_NONE,
				  .scale_mul = 1,
				  .scale_div = 1,
				  .help = "1: adjtimex has no STA_UNSYNC" },
};
static const struct sonde_column config_columns[] = {
	[CONFIG_TEXT] = TEXT("text", "sections that started, stopped or changed"),
};
static const struct sonde_column mark_columns[] = {
	[MARK_TEXT] = TEXT("text", "what was said about this moment"),
};
static const struct sonde_column finding_columns[] = {
	[FINDING_ID] = KEY("id", "name of the finding in docs/findings.md"),
	[FINDING_ABOUT] = KEY("about", "host, or the process, CPU, node, cgroup or device"),
	[FINDING_STATE] = TEXT("state", "opened, holding or closed"),
	[FINDING_SEVERITY] = TEXT("severity", "info, warning or critical"),
	[FINDING_TITLE] = TEXT("title", "what is the matter"),
	[FINDING_WHY] = TEXT("why", "why that hurts"),
	[FINDING_ACTION] = TEXT("action", "what to do about it"),
	[FINDING_NEED] = TEXT("need", "what the action needs"),
	[FINDING_RISK] = TEXT("risk", "what it may break"),
	[FINDING_UNDO] = TEXT("undo", "how to take it back"),
	[FINDING_BEGIN] = TIME("begin", SONDE_U64, "CLOCK_BOOTTIME at which it began to hold"),
	[FINDING_END] = TIME("end", SONDE_U64, "CLOCK_BOOTTIME until which it held"),
	[FINDING_HELD] = TIME("held", SONDE_U64, "time in between for which it held"),
	[FINDING_IGNORED] =
		TEXT("ignored", "why the configuration has it ignored; absent: it has not"),
	[FINDING_UNTIL] = TEXT("until", "the last day on which it is ignored, or never"),
};
static const struct sonde_column evidence_columns[] = {
	[EVIDENCE_ID] = KEY("id", "finding that it belongs to"),
	[EVIDENCE_ABOUT] = KEY("about", "as in the finding"),
	[EVIDENCE_NAME] = KEY("name", "name of the value"),
	[EVIDENCE_VALUE] = { .name = "value",
			     .type = SONDE_F64,
			     .semantics = SONDE_GAUGE,
			     .unit = SONDE_BASE_NONE,
			     .scale_mul = 1,
			     .scale_div = 1,
			     .help = "the value, in the unit that the next columns name" },
	[EVIDENCE_UNIT] = TEXT("unit", "base unit of the value"),
	[EVIDENCE_COUNTED] = TEXT("counted", "what is counted, where the unit is count"),
	[EVIDENCE_ORIGIN] = TEXT("origin", "kernel file and field that it comes from"),
};
static const struct sonde_column metric_columns[] = {
	[METRIC_NAME] = KEY("name", "name of the metric"),
	[METRIC_ABOUT] = KEY("about", "what it is a metric of; empty: the host"),
	[METRIC_VALUE] = { .name = "value",
			   .type = SONDE_F64,
			   .semantics = SONDE_GAUGE,
			   .unit = SONDE_BASE_NONE,
			   .scale_mul = 1,
			   .scale_div = 1,
			   .help = "the value, in the unit that the next columns name" },
	[METRIC_UNIT] = TEXT("unit", "base unit of the value"),
	[METRIC_COUNTED] = TEXT("counted", "what is counted, where the unit is count"),
	[METRIC_DIRECTION] = TEXT("direction", "up, down or neither: which way is better"),
	[METRIC_ORIGIN] = TEXT("origin", "kernel file and field that it comes from"),
};
static const struct sonde_column slice_columns[] = {
	[SLICE_NAME] = KEY("name", "metric of the host that it is a part of: its unit is there"),
	[SLICE_BEGIN] = TIME("begin", SONDE_U64, "CLOCK_BOOTTIME of the first instant"),
	[SLICE_END] = TIME("end", SONDE_U64, "CLOCK_BOOTTIME of the last instant"),
	[SLICE_VALUE] = { .name = "value",
			  .type = SONDE_F64,
			  .semantics = SONDE_GAUGE,
			  .unit = SONDE_BASE_NONE,
			  .scale_mul = 1,
			  .scale_div = 1,
			  .help = "the metric over this time" },
};
static const struct sonde_column judgement_columns[] = {
	[JUDGEMENT_ID] = KEY("id", "name of the finding"),
	[JUDGEMENT_TITLE] = TEXT("title", "what it is about"),
	[JUDGEMENT_VERDICT] = TEXT("verdict", "found, clear, not_judged or ignored"),
	[JUDGEMENT_REASON] =
		TEXT("reason",
		     "why it could not be judged, and what would provide it; why it is ignored"),
};
static const struct sonde_column end_columns[] = {
	[END_REASON] = TEXT(
		"reason",
		"why it ended: duration, frames, signal, command, pid, error; rotation: it goes on elsewhere"),
	[END_INSTANTS] = { .name = "instants",
			   .type = SONDE_U64,
			   .semantics = SONDE_GAUGE,
			   .unit = SONDE_BASE_COUNT,
			   .scale_mul = 1,
			   .scale_div = 1,
			   .counted = "instants",
			   .help = "instants sampled since the start" },
};

#define RECORDS(name_, columns_, help_)                                                            \
	{                                                                                          \
		.name = name_, .columns = SONDE_ARRAY(columns_), .origin = "sonde", .help = help_, \
		.flags = SONDE_EVENTS, .rows = 32                                                  \
	}

const struct sonde_table record_tables[RECORD_TABLES] = {
	[RECORD_NOTE] =
		RECORDS("note", note_columns, "something that a reader of the stream has to know"),
	[RECORD_GAP] = RECORDS("gap", gap_columns, "data that is missing, and why"),
	[RECORD_ANCHOR] = RECORDS("anchor", anchor_columns,
				  "the clocks at one instant, after a step of the wall clock"),
	[RECORD_CONFIG] =
		RECORDS("config", config_columns, "the configuration changed while running"),
	[RECORD_MARK] = RECORDS("mark", mark_columns, "somebody marked a moment"),
	[RECORD_FINDING] =
		RECORDS("finding", finding_columns, "what is wrong, why, and what to do"),
	[RECORD_EVIDENCE] =
		RECORDS("evidence", evidence_columns, "the values that a finding rests on"),
	[RECORD_METRIC] = RECORDS("metric", metric_columns, "a value computed from recorded ones"),
	[RECORD_SLICE] = RECORDS(
		"metric_slice", slice_columns,
		"a metric of the host over time, at most 512 slices of equal width; in reports"),
	[RECORD_JUDGEMENT] = RECORDS(
		"judgement", judgement_columns,
		"whether a finding of the catalogue was found, clear, ignored or not judged"),
	[RECORD_END] = RECORDS("end", end_columns, "the sender stopped"),
};

static struct sonde_schema *schemas[RECORD_TABLES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_schemas(void)
{
	char why[256];

	for (int i = 0; i < RECORD_TABLES; i++)
		if (schema_make(&record_tables[i], &schemas[i], why, sizeof why))
			return; /* no memory: the tables behind it have none either */
}

bool record_is(const char *table)
{
	for (int i = 0; i < RECORD_TABLES; i++)
		if (strcmp(record_tables[i].name, table) == 0)
			return true;
	return false;
}

bool record_view_is(const struct sonde_view *view, enum record_table table)
{
	const struct sonde_schema *seen = view->schema;
	const struct sonde_column *own = record_tables[table].columns.items;
	uint32_t ncolumns = record_tables[table].columns.count;

	if (!(seen->flags & SONDE_EVENTS) || strcmp(seen->name, record_tables[table].name) != 0)
		return false;
	for (uint32_t i = 0; i < ncolumns && i < seen->ncolumns; i++)
		if (seen->columns[i].type != own[i].type ||
		    strcmp(seen->columns[i].name, own[i].name) != 0)
			return false;
	return true;
}

const char *record_text(const struct sonde_view *view, uint32_t row, uint32_t slot,
			uint32_t *length)
{
	*length = 0;
	if (slot >= view->schema->nslots || !sonde_view_has(view, row, slot))
		return "";
	return sonde_view_bytes(view, sonde_view_slots(view, row)[slot], length);
}

int records_make(struct sonde_frame *frame)
{
	pthread_once(&once, make_schemas);
	*frame = (struct sonde_frame) { 0 };
	for (int i = 0; i < RECORD_TABLES; i++) {
		if (!schemas[i] || frame_add_table(frame, schemas[i], record_tables[i].rows, 0)) {
			frame_free(frame);
			return -ENOMEM;
		}
	}
	return 0;
}

int records_row(struct sonde_frame *records, enum record_table index, struct sonde_row *row)
{
	struct frame_table *table = &records->tables[index];

	if (table->nrows == table->capacity) {
		uint32_t capacity = table->capacity * 2;
		uint64_t *words =
			realloc(table->words, (size_t)capacity * table->stride * sizeof *words);

		if (!words)
			return -ENOMEM;
		table->words = words;
		table->capacity = capacity;
	}
	return frame_row(records, index, row) ? 0 : -ENOMEM;
}

void records_str(struct sonde_frame *records, struct sonde_row *row, uint32_t slot,
		 const char *text)
{
	struct sonde_strings *strings = &records->strings;
	size_t length = strlen(text ? text : "");

	if (length > strings->size - strings->used) {
		size_t size = (strings->size + length) * 2;
		char *bytes = realloc(strings->bytes, size);

		if (bytes) {
			strings->bytes = bytes;
			strings->size = (uint32_t)size;
		}
	}
	sonde_set_bytes(row, slot, text ? text : "", length);
}

void records_end(struct sonde_frame *records, const char *reason, uint64_t instants)
{
	struct sonde_row row;

	if (records_row(records, RECORD_END, &row))
		return;
	records_str(records, &row, END_REASON, reason);
	sonde_set_u64(&row, END_INSTANTS, instants);
}

uint32_t record_views(const struct sonde_frame *records, struct sonde_view *views)
{
	struct sonde_view all[RECORD_TABLES];
	uint32_t n = 0;

	frame_views(records, all);
	for (uint32_t i = 0; i < records->ntables; i++) {
		if (!all[i].nrows)
			continue;
		views[n] = all[i];
		views[n++].instance = "sonde";
	}
	return n;
}
