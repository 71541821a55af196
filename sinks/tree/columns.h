/* Rows by column name: a recording of another version has other slots. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <string.h>

#include "tree.h"

/* Where the fields of a taker lie in this view's table; looked up anew where it is another one. */
static inline void bind_columns(struct binding *binding, const struct sonde_view *view,
				const char *const *fields)
{
	const struct sonde_schema *schema = view->schema;
	double tick = 1e9 / (view->header->user_hz ? view->header->user_hz : 100);

	if (binding->schema == schema && binding->hash == schema->hash)
		return;
	binding->schema = schema;
	binding->hash = schema->hash;
	for (uint32_t f = 0; f < FIELDS_MOST; f++) {
		binding->slot[f] = -1;
		for (uint32_t i = 0; fields[f] && i < schema->ncolumns; i++) {
			const struct sonde_column *column = &schema->columns[i];

			if (strcmp(column->name, fields[f]) != 0 ||
			    (column->type != SONDE_U64 && column->type != SONDE_STR))
				continue;
			binding->slot[f] = (int32_t)schema->slot[i];
			binding->scale[f] = column->type == SONDE_STR ? -1
					    : column->scale_mul
						    ? (double)column->scale_mul / column->scale_div
						    : tick / column->scale_div;
		}
	}
}

/* A row of a table whose columns are bound. */
struct at {
	const struct sonde_view *view;
	const struct binding *binding;
	uint32_t row;
};

static inline bool slot_at(const struct at *at, uint32_t field, uint64_t *slot)
{
	int32_t place = at->binding->slot[field];

	if (place < 0 || !sonde_view_has(at->view, at->row, (uint32_t)place))
		return false;
	*slot = sonde_view_slots(at->view, at->row)[place];
	return true;
}

/* In base units; NAN: absent. */
static inline double number_at(const struct at *at, uint32_t field)
{
	uint64_t slot;

	return slot_at(at, field, &slot) && at->binding->scale[field] > 0
		       ? (double)slot * at->binding->scale[field]
		       : NAN;
}

static inline uint32_t id_at(const struct at *at, uint32_t field)
{
	uint64_t slot;

	return slot_at(at, field, &slot) && slot <= INT32_MAX ? (uint32_t)slot : 0;
}

static inline const char *bytes_at(const struct at *at, uint32_t field, uint32_t *length)
{
	uint64_t slot;

	*length = 0;
	if (!slot_at(at, field, &slot) || at->binding->scale[field] > 0)
		return "";
	return sonde_view_bytes(at->view, slot, length);
}

static inline bool is_word(const struct at *at, uint32_t field, const char *word)
{
	uint32_t length;
	const char *bytes = bytes_at(at, field, &length);

	return length == strlen(word) && memcmp(bytes, word, length) == 0;
}

#endif
