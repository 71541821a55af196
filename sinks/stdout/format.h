/* What a format is: how it surrounds a column's name, and how it writes a view. */
#ifndef STDOUT_FORMAT_H
#define STDOUT_FORMAT_H

#include <sonde/plugin.h>

#include "out.h"
#include "plan.h"

struct render {
	struct out out;   /* to the descriptor */
	struct out head;  /* what all rows of a view begin with */
	struct out cells; /* format table: the text of a view's cells */
	struct plans plans;
	bool integers_as_text; /* JSON: "123", for readers that keep doubles only */
	bool only_changed;
};

struct format {
	const char *before, *after; /* JSON: `,"` and `":` */
	bool lines;                 /* each row ends with a line feed */
	void (*view)(struct render *render, struct plan *plan, const struct sonde_view *view);
};

/* In the order of the option `format`; stdout.c has the names. */
extern const struct format format_json, format_msgpack, format_csv, format_logfmt, format_influx,
	format_table;

/* How many rows of a view are written, and which one the i-th is. */
static inline uint32_t rows_of(const struct render *render, const struct sonde_view *view)
{
	return render->only_changed && view->changed ? view->nchanged : view->nrows;
}

static inline const uint64_t *row_of(const struct render *render, const struct sonde_view *view,
				     uint32_t i)
{
	bool listed = render->only_changed && view->changed;

	return sonde_view_have(view, listed ? view->changed[i] : i);
}

/* A text between quotes, as JSON has it (RFC 8259); logfmt quotes the same way. Hidden characters
 * are escaped too, and what is not UTF-8 becomes U+FFFD. */
void json_string(struct out *out, const char *bytes, size_t length);

/* What stands before a value, less its first `skip` bytes, and room for a number behind it. */
static inline void out_column(struct out *out, const struct plan_column *column, unsigned skip)
{
	out_need(out, column->length + PUT_F64);
	memcpy(out->bytes + out->used, column->text + skip, column->length - skip);
	out->used += column->length - skip;
}

/* The number of a histogram's bucket behind its column's name. */
static inline void out_bucket(struct out *out, const struct plan_column *column, uint32_t bucket)
{
	if (column->slots) {
		out_char(out, '_');
		out_u64(out, bucket);
	}
}

/* Whether a column has a name that the sink uses itself: tables note and gap have `instance`. */
static inline bool has_column(const struct sonde_schema *schema, const char *name)
{
	for (uint32_t i = 0; i < schema->ncolumns; i++)
		if (strcmp(schema->columns[i].name, name) == 0)
			return true;
	return false;
}

static inline void out_number(struct out *out, const struct value *value)
{
	if (value->type == SONDE_U64)
		out_u64(out, value->u64);
	else if (value->type == SONDE_I64)
		out_i64(out, value->i64);
	else
		out_f64(out, value->f64);
}

#endif
