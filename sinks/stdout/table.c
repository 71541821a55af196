/* Aligned text for people: a block a view. Rows with keys make a grid, others a list, one value a
 * line. Everything foreign is escaped (<sonde/escape.h>). */
#include <sonde/escape.h>

#include "format.h"

/* What a unit is called: as a column states it (<sonde/table.h>), and as its base is with
 * `scaled`. */
static const struct {
	uint32_t unit, mul, div;
	const char *name;
} units[] = {
	{ SONDE_BASE_BYTES, 1, 1, "B" },
	{ SONDE_BASE_BYTES, 1024, 1, "KiB" },
	{ SONDE_BASE_BYTES, 512, 1, "sectors" },
	{ SONDE_BASE_NS, 1, 1, "ns" },
	{ SONDE_BASE_NS, 1000, 1, "us" },
	{ SONDE_BASE_NS, 1000000, 1, "ms" },
	{ SONDE_BASE_NS, 1000000000, 1, "s" },
	{ SONDE_BASE_NS, 0, 1, "ticks" },
	{ SONDE_BASE_HZ, 1, 1, "Hz" },
	{ SONDE_BASE_HZ, 1000, 1, "kHz" },
	{ SONDE_BASE_RATIO, 1, 100, "%" },
	{ SONDE_BASE_RATIO, 1, 10000, "%" }, /* written with two decimals */
	{ SONDE_BASE_CELSIUS, 1, 1, "Cel" },
	{ SONDE_BASE_CELSIUS, 1, 1000, "mCel" },
	{ SONDE_BASE_JOULE, 1, 1, "J" },
	{ SONDE_BASE_JOULE, 1, 1000000, "uJ" },
	{ SONDE_BASE_WATT, 1, 1, "W" },
	{ SONDE_BASE_WATT, 1, 1000000, "uW" },
	{ SONDE_BASE_VOLT, 1, 1, "V" },
	{ SONDE_BASE_VOLT, 1, 1000, "mV" },
	{ SONDE_BASE_AMPERE, 1, 1, "A" },
	{ SONDE_BASE_AMPERE, 1, 1000, "mA" },
};

static const char *table_unit(const struct render *render, const struct sonde_column *column)
{
	uint32_t mul = render->plans.scaled ? 1 : column->scale_mul;
	uint32_t div = render->plans.scaled ? 1 : column->scale_div;

	/* "ways[ways]" says nothing that "ways" does not. */
	if (column->unit == SONDE_BASE_COUNT)
		return column->counted && strcmp(column->counted, column->name) != 0
			       ? column->counted
			       : "";
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (units[i].unit == column->unit && units[i].mul == mul && units[i].div == div)
			return units[i].name;
	return "";
}

/* "12.34" of the kernel, kept as 1234. */
static bool two_decimals(const struct render *render, const struct sonde_column *column,
			 const struct value *value)
{
	return !render->plans.scaled && value->type == SONDE_U64 && column->scale_mul == 1 &&
	       ((column->unit == SONDE_BASE_RATIO && column->scale_div == 10000) ||
		(column->unit == SONDE_BASE_COUNT && column->scale_div == 100));
}

static void table_text(struct out *out, const char *bytes, size_t length)
{
	const char *end = bytes + length;

	while (bytes < end) {
		out_need(out, SONDE_ESCAPE_MOST);
		out->used += sonde_escape_next(&bytes, end, out->bytes + out->used);
	}
}

/* The text of a value, or of a histogram's buckets, into render->cells. Absent is `-`. */
static void table_cell(struct render *render, const struct plan *plan, uint32_t index,
		       const struct sonde_view *view, const uint64_t *row)
{
	const struct plan_column *column = &plan->columns[index];
	struct out *out = &render->cells;
	struct value value;

	out->used = 0;
	for (uint32_t n = 0; n < column_slots(column); n++) {
		if (n)
			out_char(out, ' ');
		if (!value_of(&render->plans, column, view, row, column->slot + n, &value)) {
			out_char(out, '-');
		} else if (value.type == SONDE_STR) {
			table_text(out, value.bytes, value.length);
		} else if (two_decimals(render, &view->schema->columns[index], &value)) {
			out_u64(out, value.u64 / 100);
			out_char(out, '.');
			out_char(out, (char)('0' + value.u64 / 10 % 10));
			out_char(out, (char)('0' + value.u64 % 10));
		} else {
			out_number(out, &value);
		}
	}
}

/* In characters: bytes that continue one are not counted. */
static uint32_t table_width(const char *bytes, size_t length)
{
	uint32_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += (bytes[i] & 0xc0) != 0x80;
	return count;
}

static void table_pad(struct out *out, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		out_char(out, ' ');
}

/* Numbers stand at the right of their column, text at the left. */
static void table_aligned(struct out *out, const struct plan_column *column, const char *bytes,
			  size_t length)
{
	uint32_t own = table_width(bytes, length);
	bool right = column->source != SONDE_STR;

	out_text(out, "  ");
	if (right)
		table_pad(out, own, column->width);
	out_add(out, bytes, length);
	if (!right)
		table_pad(out, own, column->width);
}

/* Into render->cells: "some_total[us]". */
static void table_heading(struct render *render, const struct plan *plan, uint32_t index,
			  const struct sonde_view *view)
{
	const struct plan_column *column = &plan->columns[index];
	const char *unit = table_unit(render, &view->schema->columns[index]);

	render->cells.used = 0;
	out_add(&render->cells, column->name, column->name_length);
	if (*unit) {
		out_char(&render->cells, '[');
		table_text(&render->cells, unit, strlen(unit));
		out_char(&render->cells, ']');
	}
}

static void table_grid(struct render *render, struct plan *plan, const struct sonde_view *view)
{
	uint32_t nrows = rows_of(render, view);

	for (uint32_t i = 0; i < plan->ncolumns; i++) {
		struct plan_column *column = &plan->columns[i];

		table_heading(render, plan, i, view);
		column->width = table_width(render->cells.bytes, render->cells.used);
		for (uint32_t n = 0; n < nrows; n++) {
			uint32_t own;

			table_cell(render, plan, i, view, row_of(render, view, n));
			own = table_width(render->cells.bytes, render->cells.used);
			column->width = own > column->width ? own : column->width;
		}
	}
	for (uint32_t i = 0; i < plan->ncolumns; i++) {
		table_heading(render, plan, i, view);
		table_aligned(&render->out, &plan->columns[i], render->cells.bytes,
			      render->cells.used);
	}
	out_char(&render->out, '\n');
	for (uint32_t n = 0; n < nrows; n++) {
		for (uint32_t i = 0; i < plan->ncolumns; i++) {
			table_cell(render, plan, i, view, row_of(render, view, n));
			table_aligned(&render->out, &plan->columns[i], render->cells.bytes,
				      render->cells.used);
		}
		out_char(&render->out, '\n');
	}
}

static void table_list(struct render *render, const struct plan *plan,
		       const struct sonde_view *view, const uint64_t *row)
{
	struct out *out = &render->out;
	uint32_t widest = 0;

	for (uint32_t i = 0; i < plan->ncolumns; i++)
		if (plan->columns[i].name_length > widest)
			widest = plan->columns[i].name_length;
	for (uint32_t i = 0; i < plan->ncolumns; i++) {
		const struct plan_column *column = &plan->columns[i];
		const char *unit = table_unit(render, &view->schema->columns[i]);

		if (!column_has(&render->plans, column, view, row))
			continue;
		table_cell(render, plan, i, view, row);
		out_text(out, "  ");
		out_add(out, column->name, column->name_length);
		table_pad(out, column->name_length, widest + 2);
		out_add(out, render->cells.bytes, render->cells.used);
		if (*unit)
			out_char(out, ' ');
		table_text(out, unit, strlen(unit));
		out_char(out, '\n');
	}
}

static void table_title(struct render *render, const struct sonde_view *view)
{
	struct out *out = &render->out;

	out_text(out, view->schema->name);
	out_text(out, "  ");
	/* As importers tell of a text without a date. */
	if (view->realtime == (int64_t)view->begin)
		out_text(out, "no date");
	else
		out_time(out, view->realtime);
	out_text(out, "  ");
	table_text(out, view->header->host, strlen(view->header->host));
	if (*view->instance && strcmp(view->instance, view->schema->name) != 0) {
		out_text(out, "  [");
		table_text(out, view->instance, strlen(view->instance));
		out_char(out, ']');
	}
	out_char(out, '\n');
}

static void table_view(struct render *render, struct plan *plan, const struct sonde_view *view)
{
	bool as_grid = plan->nkeys && !(view->schema->flags & SONDE_EVENTS);
	uint32_t nrows = rows_of(render, view);

	if (!nrows)
		return;
	table_title(render, view);
	if (as_grid)
		table_grid(render, plan, view);
	for (uint32_t n = 0; n < nrows && !as_grid; n++)
		table_list(render, plan, view, row_of(render, view, n));
	out_char(&render->out, '\n');
}

const struct format format_table = {
	.before = "",
	.after = "",
	.lines = true,
	.view = table_view,
};
