/* JSON lines (RFC 8259, one object a line): a row is an object of its own; sinks/stdout/stdout.md
 * has its form. */
#include <math.h>

#include <sonde/escape.h>

#include "format.h"

static bool json_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void json_string(struct out *out, const char *bytes, size_t length)
{
	const char *p = bytes, *end = p + length;

	out_char(out, '"');
	while (p < end) {
		const char *run = p;

		while (p < end && json_plain((unsigned char)*p))
			p++;
		out_add(out, run, (size_t)(p - run));
		if (p < end) {
			out_need(out, SONDE_JSON_MOST);
			out->used += sonde_json_next(&p, end, out->bytes + out->used);
		}
	}
	out_char(out, '"');
}

static void json_text(struct out *out, const char *text)
{
	json_string(out, text, strlen(text));
}

static void json_value(struct render *render, const struct value *value)
{
	struct out *out = &render->out;

	if (value->type == SONDE_STR) {
		json_string(out, value->bytes, value->length);
	} else if (value->type == SONDE_F64 && !isfinite(value->f64)) {
		out_text(out, "null");
	} else if (value->type != SONDE_F64 && render->integers_as_text) {
		out_char(out, '"');
		out_number(out, value);
		out_char(out, '"');
	} else {
		out_number(out, value);
	}
}

static void json_histogram(struct render *render, const struct plan_column *column,
			   const struct sonde_view *view, const uint64_t *row)
{
	struct value value;

	for (uint32_t i = 0; i < column->slots; i++) {
		out_char(&render->out, i ? ',' : '[');
		if (value_of(&render->plans, column, view, row, column->slot + i, &value))
			json_value(render, &value);
		else
			out_text(&render->out, "null");
	}
	out_char(&render->out, ']');
}

/* Members of an object; those that are absent are left out. */
static void json_columns(struct render *render, const struct plan *plan, uint32_t from, uint32_t to,
			 const struct sonde_view *view, const uint64_t *row)
{
	unsigned comma = 1; /* before the first there is none */
	struct value value;

	for (uint32_t i = from; i < to; i++) {
		const struct plan_column *column = &plan->columns[i];

		if (column->slots) {
			if (!column_has(&render->plans, column, view, row))
				continue;
			out_column(&render->out, column, comma);
			json_histogram(render, column, view, row);
		} else {
			if (!value_of(&render->plans, column, view, row, column->slot, &value))
				continue;
			out_column(&render->out, column, comma);
			json_value(render, &value);
		}
		comma = 0;
	}
}

static void json_head_number(struct render *render, const char *name, const struct value *value)
{
	const char *quote = render->integers_as_text ? "\"" : "";

	out_text(&render->head, name);
	out_text(&render->head, quote);
	out_number(&render->head, value);
	out_text(&render->head, quote);
}

static void json_head_text(struct render *render, const char *name, const char *text)
{
	out_text(&render->head, name);
	json_text(&render->head, text);
}

static void json_head_tags(struct render *render, const struct sonde_stream_header *header)
{
	for (uint32_t i = 0; i < header->ntags; i++) {
		out_text(&render->head, i ? "," : ",\"tags\":{");
		json_text(&render->head, header->tags[i].name);
		out_char(&render->head, ':');
		json_text(&render->head, header->tags[i].value);
	}
	if (header->ntags)
		out_char(&render->head, '}');
}

static void json_head(struct render *render, const struct sonde_view *view)
{
	struct value realtime = { .type = SONDE_I64, .i64 = view->realtime };
	struct value boottime = { .type = SONDE_U64, .u64 = view->begin };
	struct value sequence = { .type = SONDE_U64, .u64 = view->sequence };

	render->head.used = 0;
	json_head_number(render, "{\"time\":", &realtime);
	json_head_number(render, ",\"boottime\":", &boottime);
	json_head_text(render, ",\"host\":", view->header->host);
	json_head_text(render, ",\"boot\":", view->header->boot_id);
	json_head_tags(render, view->header);
	json_head_text(render, ",\"instance\":", view->instance);
	json_head_number(render, ",\"sequence\":", &sequence);
	json_head_text(render, ",\"table\":", view->schema->name);
	out_text(&render->head, ",\"hash\":\"");
	out_hash(&render->head, view->schema->hash);
	out_text(&render->head, "\",\"keys\":{");
}

static void json_view(struct render *render, struct plan *plan, const struct sonde_view *view)
{
	uint32_t nrows = rows_of(render, view);

	if (nrows)
		json_head(render, view);
	for (uint32_t i = 0; i < nrows; i++) {
		const uint64_t *row = row_of(render, view, i);

		out_add(&render->out, render->head.bytes, render->head.used);
		json_columns(render, plan, 0, plan->nkeys, view, row);
		out_text(&render->out, "},\"values\":{");
		json_columns(render, plan, plan->nkeys, plan->ncolumns, view, row);
		out_text(&render->out, "}}\n");
	}
}

const struct format format_json = {
	.before = ",\"",
	.after = "\":",
	.lines = true,
	.view = json_view,
};
