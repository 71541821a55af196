/* CSV (RFC 4180), a row a line: hidden characters are escaped, so that a line is a row to every
 * tool. A header line, which begins with #, stands before the first row of a table and wherever its
 * columns change. */
#include <sonde/escape.h>

#include "format.h"

/* Between quotes where it has to be. What acts on the text around it, a backslash and what is not
 * UTF-8 are escaped. */
static void csv_string(struct out *out, const char *bytes, size_t length)
{
	const char *end = bytes + length;
	bool quote = memchr(bytes, ',', length) || memchr(bytes, '"', length);

	if (quote)
		out_char(out, '"');
	while (bytes < end) {
		out_need(out, SONDE_ESCAPE_MOST + 1);
		if (*bytes == '"')
			out->bytes[out->used++] = '"';
		out->used += sonde_escape_next(&bytes, end, out->bytes + out->used);
	}
	if (quote)
		out_char(out, '"');
}

static void csv_text(struct out *out, const char *text)
{
	csv_string(out, text, strlen(text));
}

static void csv_header_line(struct out *out, const struct plan *plan)
{
	out_char(out, '#');
	out_text(out, plan->table);
	out_text(out, ",time,boottime,host,boot,tags,instance,sequence,hash");
	for (uint32_t i = 0; i < plan->ncolumns; i++) {
		const struct plan_column *column = &plan->columns[i];

		for (uint32_t n = 0; n < column_slots(column); n++) {
			out_add(out, column->text, column->length);
			out_bucket(out, column, n);
		}
	}
	out_char(out, '\n');
}

/* All in one cell, put together in a place of its own: `env=prod;dc=fra1`. */
static void csv_tags(struct out *out, struct out *cell, const struct sonde_stream_header *header)
{
	cell->used = 0;
	for (uint32_t i = 0; i < header->ntags; i++) {
		if (i)
			out_char(cell, ';');
		out_text(cell, header->tags[i].name);
		out_char(cell, '=');
		out_text(cell, header->tags[i].value);
	}
	csv_string(out, cell->bytes, cell->used);
}

static void csv_head(struct render *render, const struct sonde_view *view)
{
	struct out *out = &render->head;

	out->used = 0;
	out_text(out, view->schema->name);
	out_char(out, ',');
	out_i64(out, view->realtime);
	out_char(out, ',');
	out_u64(out, view->begin);
	out_char(out, ',');
	csv_text(out, view->header->host);
	out_char(out, ',');
	csv_text(out, view->header->boot_id);
	out_char(out, ',');
	csv_tags(out, &render->cells, view->header);
	out_char(out, ',');
	csv_text(out, view->instance);
	out_char(out, ',');
	out_u64(out, view->sequence);
	out_char(out, ',');
	out_hash(out, view->schema->hash);
}

static void csv_row(struct render *render, const struct plan *plan, const struct sonde_view *view,
		    const uint64_t *row)
{
	struct out *out = &render->out;
	struct value value;

	out_add(out, render->head.bytes, render->head.used);
	for (uint32_t i = 0; i < plan->ncolumns; i++) {
		const struct plan_column *column = &plan->columns[i];

		for (uint32_t n = 0; n < column_slots(column); n++) {
			out_char(out, ',');
			if (!value_of(&render->plans, column, view, row, column->slot + n, &value))
				continue;
			if (value.type == SONDE_STR && !value.length)
				out_text(out, "\"\""); /* there, and empty */
			else if (value.type == SONDE_STR)
				csv_string(out, value.bytes, value.length);
			else
				out_number(out, &value);
		}
	}
	out_char(out, '\n');
}

static void csv_view(struct render *render, struct plan *plan, const struct sonde_view *view)
{
	uint32_t nrows = rows_of(render, view);

	if (!nrows)
		return;
	if (!plan->headed) {
		csv_header_line(&render->out, plan);
		plan_headed(&render->plans, plan);
	}
	csv_head(render, view);
	for (uint32_t i = 0; i < nrows; i++)
		csv_row(render, plan, view, row_of(render, view, i));
}

const struct format format_csv = { .before = ",", .after = "", .lines = true, .view = csv_view };
