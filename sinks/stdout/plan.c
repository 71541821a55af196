/* Plans of tables, and slots in base units (<sonde/table.h>: base value = slot * mul / div). */
#include <stdlib.h>

#include "plan.h"

static bool fits(const struct plan *plan, const struct sonde_view *view)
{
	const struct sonde_schema *schema = view->schema;

	return plan->schema == schema && plan->hash == schema->hash &&
	       plan->ncolumns == schema->ncolumns && plan->nslots == schema->nslots &&
	       plan->user_hz == view->header->user_hz;
}

/* An integer stays one where its unit is a multiple of the base unit. A machine whose USER_HZ is
 * not known has no seconds. */
static void plan_scale(struct plan_column *to, const struct sonde_column *column, uint32_t user_hz)
{
	bool whole = column->type == SONDE_U64 || column->type == SONDE_I64 ||
		     column->type == SONDE_HIST;
	uint64_t mul = column->scale_mul ? column->scale_mul : user_hz ? 1000000000 : 0;

	to->divisor = column->scale_mul ? column->scale_div : user_hz ? user_hz : 1;
	to->factor = mul;
	if (mul % to->divisor == 0) {
		to->factor = mul / to->divisor;
		to->divisor = 1;
	}
	to->scale = (double)to->factor;
	if (whole && to->divisor != 1)
		to->type = SONDE_F64;
}

static size_t text_size(const struct plans *plans, const struct sonde_schema *schema)
{
	size_t size = strlen(schema->name) + 1;

	for (uint32_t i = 0; i < schema->ncolumns; i++)
		size += strlen(schema->columns[i].name) + strlen(plans->before) +
			strlen(plans->after);
	return size;
}

static char *put(char *to, const char *text)
{
	size_t length = strlen(text);

	memcpy(to, text, length);
	return to + length;
}

static void plan_columns(const struct plans *plans, struct plan *plan,
			 const struct sonde_schema *schema, char *text)
{
	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		const struct sonde_column *column = &schema->columns[i];
		struct plan_column *to = &plan->columns[i];

		*to = (struct plan_column) {
			.text = text,
			.slot = schema->slot[i],
			.slots = column->type == SONDE_HIST ? column->slots : 0,
			.source = column->type == SONDE_HIST ? SONDE_U64 : column->type,
		};
		to->name = text = put(text, plans->before);
		text = put(text, column->name);
		to->name_length = (uint32_t)(text - to->name);
		text = put(text, plans->after);
		to->length = (uint32_t)(text - to->text);
		to->type = to->source;
		if (plans->scaled && to->source != SONDE_STR)
			plan_scale(to, column, plan->user_hz);
	}
}

static bool plan_headed_elsewhere(const struct plans *plans, const struct plan *plan)
{
	for (uint32_t i = 0; i < plans->used; i++) {
		const struct plan *other = &plans->plans[i];

		if (other != plan && other->headed && other->hash == plan->hash &&
		    strcmp(other->table, plan->table) == 0)
			return true;
	}
	return false;
}

struct plan *plan_of(struct plans *plans, const struct sonde_view *view)
{
	const struct sonde_schema *schema = view->schema;
	struct plan *plan;
	struct plan_column *columns;
	char *text;

	for (uint32_t i = 0; i < plans->used; i++)
		if (fits(&plans->plans[i], view))
			return &plans->plans[i];
	columns = malloc(schema->ncolumns * sizeof *columns + text_size(plans, schema));
	if (!columns)
		return NULL;
	text = (char *)(columns + schema->ncolumns);
	if (plans->used < PLANS) {
		plan = &plans->plans[plans->used++];
	} else {
		plan = &plans->plans[plans->oldest];
		plans->oldest = (plans->oldest + 1) % PLANS;
		free(plan->columns);
	}
	*plan = (struct plan) { .schema = schema,
				.hash = schema->hash,
				.user_hz = view->header->user_hz,
				.ncolumns = schema->ncolumns,
				.nkeys = schema->nkeys,
				.nslots = schema->nslots,
				.columns = columns,
				.table = text };
	text = put(text, schema->name);
	*text++ = '\0';
	plan_columns(plans, plan, schema, text);
	plan->headed = plan_headed_elsewhere(plans, plan);
	return plan;
}

void plans_free(struct plans *plans)
{
	for (uint32_t i = 0; i < plans->used; i++)
		free(plans->plans[i].columns);
	plans->used = 0;
}

void plan_headed(struct plans *plans, const struct plan *plan)
{
	for (uint32_t i = 0; i < plans->used; i++) {
		struct plan *other = &plans->plans[i];

		if (strcmp(other->table, plan->table) == 0)
			other->headed = other->hash == plan->hash;
	}
}

bool value_scale(const struct plan_column *column, struct value *value)
{
	if (column->factor == 0)
		return false;
	if (value->type == SONDE_F64) {
		value->f64 = value->f64 * column->scale / (double)column->divisor;
		return true;
	}
	if (column->divisor == 1 && value->type == SONDE_I64)
		return !__builtin_mul_overflow(value->i64, (int64_t)column->factor, &value->i64);
	if (column->divisor == 1)
		return !__builtin_mul_overflow(value->u64, column->factor, &value->u64);
	value->f64 = (value->type == SONDE_I64 ? (double)value->i64 : (double)value->u64) *
		     column->scale / (double)column->divisor;
	value->type = SONDE_F64;
	return true;
}
