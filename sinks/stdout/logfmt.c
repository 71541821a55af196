/* logfmt: name=value pairs, a row a line; values between quotes, as JSON has them, where they are
 * not plain words. */
#include <sonde/escape.h>

#include "format.h"

/* A word that needs no quotes: no blank, no `=`, no quote, nothing hidden, and not empty. */
static bool logfmt_is_word(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] <= ' ' || bytes[i] >= 0x7f || strchr("=\"\\", bytes[i]))
			return false;
	return length > 0;
}

static void logfmt_text(struct out *out, const char *bytes, size_t length)
{
	if (logfmt_is_word(bytes, length))
		out_add(out, bytes, length);
	else
		json_string(out, bytes, length);
}

static void logfmt_pair(struct out *out, const char *name, const char *text)
{
	out_text(out, name);
	logfmt_text(out, text, strlen(text));
}

/* A tag's name is the configuration's, or a peer's: what no name may have becomes `_`. */
static void logfmt_tag(struct out *out, const struct sonde_tag *tag)
{
	out_text(out, " tags.");
	for (const char *p = tag->name; *p; p++)
		out_char(out, logfmt_is_word(p, 1) ? *p : '_');
	logfmt_pair(out, "=", tag->value);
}

/* What every row of the view begins with. A column of the same name stands in for what the sink
 * would say. */
static void logfmt_head(struct render *render, const struct sonde_view *view)
{
	struct out *out = &render->head;

	out->used = 0;
	out_text(out, "time=");
	out_i64(out, view->realtime);
	out_text(out, " boottime=");
	out_u64(out, view->begin);
	logfmt_pair(out, " host=", view->header->host);
	logfmt_pair(out, " boot=", view->header->boot_id);
	for (uint32_t i = 0; i < view->header->ntags; i++)
		logfmt_tag(out, &view->header->tags[i]);
	if (!has_column(view->schema, "instance"))
		logfmt_pair(out, " instance=", view->instance);
	out_text(out, " sequence=");
	out_u64(out, view->sequence);
	logfmt_pair(out, " table=", view->schema->name);
	out_text(out, " hash=");
	out_hash(out, view->schema->hash);
}

/* Columns are pairs of their own, buckets of a histogram too: wait_0=1 wait_1=5. */
static void logfmt_columns(struct render *render, const struct plan *plan,
			   const struct sonde_view *view, const uint64_t *row)
{
	struct out *out = &render->out;
	struct value value;

	for (uint32_t i = 0; i < plan->ncolumns; i++) {
		const struct plan_column *column = &plan->columns[i];

		for (uint32_t n = 0; n < column_slots(column); n++) {
			if (!value_of(&render->plans, column, view, row, column->slot + n, &value))
				continue;
			out_column(out, column, 0);
			out_bucket(out, column, n);
			out_char(out, '=');
			if (value.type == SONDE_STR)
				logfmt_text(out, value.bytes, value.length);
			else
				out_number(out, &value);
		}
	}
}

static void logfmt_view(struct render *render, struct plan *plan, const struct sonde_view *view)
{
	uint32_t nrows = rows_of(render, view);

	if (nrows)
		logfmt_head(render, view);
	for (uint32_t i = 0; i < nrows; i++) {
		out_add(&render->out, render->head.bytes, render->head.used);
		logfmt_columns(render, plan, view, row_of(render, view, i));
		out_char(&render->out, '\n');
	}
}

const struct format format_logfmt = {
	.before = " ",
	.after = "",
	.lines = true,
	.view = logfmt_view,
};
