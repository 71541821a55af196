/* The host's own tables: notes, gaps, findings and the like are rows of tables as everything else is, so that every
 * format, sink and reader has them without a line of its own. All are SONDE_EVENTS: a row is an occurrence. */
#ifndef CORE_RECORDS_H
#define CORE_RECORDS_H

#include "core/frame.h"

enum record_table {
	RECORD_NOTE,   /* something a reader has to know */
	RECORD_GAP,    /* data is missing, and why */
	RECORD_ANCHOR, /* the clocks, after a step of the wall clock */
	RECORD_CONFIG, /* the configuration changed while running */
	RECORD_MARK,   /* somebody marked a moment */
	RECORD_FINDING,
	RECORD_EVIDENCE, /* the values that a finding rests on */
	RECORD_METRIC,
	RECORD_SLICE,     /* a metric of the host over time */
	RECORD_JUDGEMENT, /* found, clear or not judged: one row for each finding of the catalogue */
	RECORD_END,       /* the sender stopped, and why */
	RECORD_TABLES,
};

/* Slots, in the order of the columns; docs/metrics.md is made from the tables themselves. */
enum { NOTE_INSTANCE, NOTE_LEVEL, NOTE_TEXT, NOTE_TABLES };
enum { GAP_INSTANCE, GAP_REASON, GAP_BEGIN, GAP_END, GAP_LOST, GAP_TEXT };
enum {
	ANCHOR_MONOTONIC,
	ANCHOR_BOOTTIME,
	ANCHOR_REALTIME,
	ANCHOR_OFFSET,
	ANCHOR_MAX_ERROR,
	ANCHOR_SYNCHRONISED
};
enum { CONFIG_TEXT };
enum { MARK_TEXT };
enum {
	FINDING_ID,
	FINDING_ABOUT,
	FINDING_STATE,
	FINDING_SEVERITY,
	FINDING_TITLE,
	FINDING_WHY,
	FINDING_ACTION,
	FINDING_NEED,
	FINDING_RISK,
	FINDING_UNDO,
	FINDING_BEGIN,
	FINDING_END,
	FINDING_HELD,
	FINDING_IGNORED,
	FINDING_UNTIL
};
enum {
	EVIDENCE_ID,
	EVIDENCE_ABOUT,
	EVIDENCE_NAME,
	EVIDENCE_VALUE,
	EVIDENCE_UNIT,
	EVIDENCE_COUNTED,
	EVIDENCE_ORIGIN
};
enum {
	METRIC_NAME,
	METRIC_ABOUT,
	METRIC_VALUE,
	METRIC_UNIT,
	METRIC_COUNTED,
	METRIC_DIRECTION,
	METRIC_ORIGIN
};
enum { SLICE_NAME, SLICE_BEGIN, SLICE_END, SLICE_VALUE };
enum { JUDGEMENT_ID, JUDGEMENT_TITLE, JUDGEMENT_VERDICT, JUDGEMENT_REASON };
enum { END_REASON, END_INSTANTS };

extern const struct sonde_table record_tables[RECORD_TABLES];

/* Whether a table of this name is one of the host's own. */
bool record_is(const char *table);

/* Whether a view is of this table with its columns in their slots: what is read or received may say anything of itself.
 * Tables only gain columns, so that an older version's is, and its newer columns are absent. */
bool record_view_is(const struct sonde_view *view, enum record_table table);

/* A text of a row, which is not terminated, and its length; "" where the row has none, and where an older table has no such column. */
const char *record_text(const struct sonde_view *view, uint32_t row, uint32_t slot,
			uint32_t *length);

/* An arena with all of the host's own tables, frame->tables[RECORD_x]. Its schemas are made once and live as long as
 * the process. 0 or -ENOMEM. Free with frame_free(). */
int records_make(struct sonde_frame *frame);

/* A row into such an arena, which grows at once where it is full: records are not made on the sampling path.
 * 0 or -ENOMEM. */
int records_row(struct sonde_frame *records, enum record_table table, struct sonde_row *row);

/* Text into a row of it, likewise. */
void records_str(struct sonde_frame *records, struct sonde_row *row, uint32_t slot,
		 const char *text);

/* The row that ends a stream, likewise: why (END_REASON), after how many instants. */
void records_end(struct sonde_frame *records, const char *reason, uint64_t instants);

/* Views of the tables that have rows, `views` has room for RECORD_TABLES; how many. They live as long as the rows. */
uint32_t record_views(const struct sonde_frame *records, struct sonde_view *views);

#endif
