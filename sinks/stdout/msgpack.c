/* msgpack (github.com/msgpack/msgpack, spec.md), one map a row with the names that JSON has. Texts
 * that are UTF-8 are str, others bin, so that no byte is lost. */
#include <sonde/msgpack.h>

#include "format.h"

static int pack_append(void *out, const char *bytes, size_t length)
{
	out_add(out, bytes, length);
	return 0;
}

static void pack_value(msgpack_packer *packer, const struct value *value)
{
	if (value->type == SONDE_STR)
		sonde_pack_bytes(packer, value->bytes, value->length);
	else if (value->type == SONDE_U64)
		msgpack_pack_uint64(packer, value->u64);
	else if (value->type == SONDE_I64)
		msgpack_pack_int64(packer, value->i64);
	else
		msgpack_pack_double(packer, value->f64);
}

static void pack_column(msgpack_packer *packer, const struct render *render,
			const struct plan_column *column, const struct sonde_view *view,
			const uint64_t *row)
{
	struct value value;

	msgpack_pack_str(packer, column->name_length);
	msgpack_pack_str_body(packer, column->name, column->name_length);
	if (column->slots)
		msgpack_pack_array(packer, column->slots);
	for (uint32_t n = 0; n < column_slots(column); n++) {
		if (value_of(&render->plans, column, view, row, column->slot + n, &value))
			pack_value(packer, &value);
		else
			msgpack_pack_nil(packer);
	}
}

/* A map of the columns that are there. */
static void pack_columns(msgpack_packer *packer, const struct render *render,
			 const struct plan *plan, uint32_t from, uint32_t to,
			 const struct sonde_view *view, const uint64_t *row)
{
	uint32_t count = 0;

	for (uint32_t i = from; i < to; i++)
		count += column_has(&render->plans, &plan->columns[i], view, row);
	msgpack_pack_map(packer, count);
	for (uint32_t i = from; i < to; i++)
		if (column_has(&render->plans, &plan->columns[i], view, row))
			pack_column(packer, render, &plan->columns[i], view, row);
}

static void pack_head(struct render *render, const struct sonde_view *view)
{
	msgpack_packer packer;

	render->head.used = 0;
	msgpack_packer_init(&packer, &render->head, pack_append);
	sonde_pack_head(&packer, view);
}

static void msgpack_view(struct render *render, struct plan *plan, const struct sonde_view *view)
{
	uint32_t nrows = rows_of(render, view);
	msgpack_packer packer;

	msgpack_packer_init(&packer, &render->out, pack_append);
	if (nrows)
		pack_head(render, view);
	for (uint32_t i = 0; i < nrows; i++) {
		const uint64_t *row = row_of(render, view, i);

		out_add(&render->out, render->head.bytes, render->head.used);
		pack_columns(&packer, render, plan, 0, plan->nkeys, view, row);
		sonde_pack_text(&packer, "values");
		pack_columns(&packer, render, plan, plan->nkeys, plan->ncolumns, view, row);
	}
}

const struct format format_msgpack = { .before = "", .after = "", .view = msgpack_view };
