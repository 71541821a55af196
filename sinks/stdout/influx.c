/* InfluxDB line protocol (docs.influxdata.com, "Line protocol"): the table is the measurement, keys
 * are tags, values fields. What the protocol has no way to say becomes U+FFFD. */
#include <math.h>

#include <sonde/escape.h>

#include "format.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Inside a tag or a name a backslash escapes only what is special there: one that stands before
 * that, or at the end, can't be said. Line feeds and other hidden characters can't either. */
static void influx_name(struct out *out, const char *bytes, size_t length)
{
	const unsigned char *p = (const unsigned char *)bytes, *end = p + length;

	while (p < end) {
		uint32_t code;
		unsigned n = sonde_utf8(p, end, &code);
		bool special = n && (code == ',' || code == '=' || code == ' ');
		bool unsaid = code == '\\' && (p + 1 == end || memchr("\\,= ", p[1], 4));

		if (special)
			out_char(out, '\\');
		if (!n || sonde_hidden(code) || unsaid)
			out_add(out, REPLACEMENT, 3);
		else
			out_add(out, (const char *)p, n);
		p += n ? n : 1;
	}
}

/* A field's text: quotes and backslashes are escaped. */
static void influx_text(struct out *out, const char *bytes, size_t length)
{
	const unsigned char *p = (const unsigned char *)bytes, *end = p + length;

	out_char(out, '"');
	while (p < end) {
		uint32_t code;
		unsigned n = sonde_utf8(p, end, &code);

		if (n && (code == '"' || code == '\\'))
			out_char(out, '\\');
		if (n && !sonde_hidden(code))
			out_add(out, (const char *)p, n);
		else
			out_add(out, REPLACEMENT, 3);
		p += n ? n : 1;
	}
	out_char(out, '"');
}

/* A tag must not be empty: then it is left out. */
static void influx_tag(struct out *out, const char *name, const char *text)
{
	if (!*text)
		return;
	out_char(out, ',');
	influx_name(out, name, strlen(name));
	out_char(out, '=');
	influx_name(out, text, strlen(text));
}

/* What every row of the view begins with. A column of the same name stands in for what the sink
 * would say. */
static void influx_head(struct render *render, const struct sonde_view *view)
{
	const struct sonde_stream_header *header = view->header;

	render->head.used = 0;
	out_text(&render->head, view->schema->name);
	if (!has_column(view->schema, "host"))
		influx_tag(&render->head, "host", header->host);
	if (!has_column(view->schema, "instance"))
		influx_tag(&render->head, "instance", view->instance);
	for (uint32_t i = 0; i < header->ntags; i++)
		if (!has_column(view->schema, header->tags[i].name))
			influx_tag(&render->head, header->tags[i].name, header->tags[i].value);
}

static void influx_keys(struct render *render, const struct plan *plan,
			const struct sonde_view *view, const uint64_t *row)
{
	struct out *out = &render->out;
	struct value value;

	for (uint32_t i = 0; i < plan->nkeys; i++) {
		const struct plan_column *column = &plan->columns[i];

		if (!value_of(&render->plans, column, view, row, column->slot, &value) ||
		    (value.type == SONDE_STR && !value.length))
			continue;
		out_column(out, column, 0);
		out_char(out, '=');
		if (value.type == SONDE_STR)
			influx_name(out, value.bytes, value.length);
		else
			out_number(out, &value);
	}
}

static void influx_field(struct out *out, const struct value *value)
{
	out_char(out, '=');
	if (value->type == SONDE_STR)
		influx_text(out, value->bytes, value->length);
	else
		out_number(out, value);
	if (value->type == SONDE_U64)
		out_char(out, 'u');
	else if (value->type == SONDE_I64)
		out_char(out, 'i');
}

/* A field is never NaN or infinite. */
static bool influx_field_of(const struct render *render, const struct plan_column *column,
			    const struct sonde_view *view, const uint64_t *row, uint32_t n,
			    struct value *value)
{
	return value_of(&render->plans, column, view, row, column->slot + n, value) &&
	       (value->type != SONDE_F64 || isfinite(value->f64));
}

static void influx_fields(struct render *render, const struct plan *plan,
			  const struct sonde_view *view, const uint64_t *row)
{
	bool first = true;
	struct value value;

	for (uint32_t i = plan->nkeys; i < plan->ncolumns; i++) {
		const struct plan_column *column = &plan->columns[i];

		for (uint32_t n = 0; n < column_slots(column); n++) {
			if (!influx_field_of(render, column, view, row, n, &value))
				continue;
			if (first)
				out_char(&render->out, ' ');
			out_column(&render->out, column, first);
			first = false;
			out_bucket(&render->out, column, n);
			influx_field(&render->out, &value);
		}
	}
}

/* Whether the row has anything that a field can say: a point without one does not exist. */
static bool influx_has_field(const struct render *render, const struct plan *plan,
			     const struct sonde_view *view, const uint64_t *row)
{
	struct value value;

	for (uint32_t i = plan->nkeys; i < plan->ncolumns; i++) {
		const struct plan_column *column = &plan->columns[i];

		for (uint32_t n = 0; n < column_slots(column); n++)
			if (influx_field_of(render, column, view, row, n, &value))
				return true;
	}
	return false;
}

static void influx_view(struct render *render, struct plan *plan, const struct sonde_view *view)
{
	bool events = view->schema->flags & SONDE_EVENTS;
	uint32_t nrows = rows_of(render, view);

	if (nrows)
		influx_head(render, view);
	for (uint32_t i = 0; i < nrows; i++) {
		const uint64_t *row = row_of(render, view, i);

		if (!influx_has_field(render, plan, view, row))
			continue;
		out_add(&render->out, render->head.bytes, render->head.used);
		influx_keys(render, plan, view, row);
		influx_fields(render, plan, view, row);
		out_char(&render->out, ' ');
		/* Points of one series and time replace each other: events of one instant are a ns
		 * apart. */
		out_i64(&render->out, view->realtime + (events ? i : 0));
		out_char(&render->out, '\n');
	}
}

const struct format format_influx = {
	.before = ",",
	.after = "",
	.lines = true,
	.view = influx_view,
};
