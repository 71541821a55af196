/* Keys and labels of a table's rows: which series a row belongs to, and the name that it bears. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/schema.h"
#include "window/tracked.h"

enum { KEY_MOST = 256 };

/* As the kernel gave it: what shows it escapes it. A NUL would end it. */
static size_t put_bytes(char *to, size_t size, const char *bytes, uint32_t length)
{
	size_t n = strnlen(bytes, length < size ? length : size - 1);

	memcpy(to, bytes, n);
	to[n] = '\0';
	return n;
}

static size_t put_value(char *to, size_t size, const struct sonde_view *view, uint32_t row,
			uint32_t column)
{
	const struct sonde_column *c = &view->schema->columns[column];
	uint32_t slot = view->schema->slot[column], length;
	uint64_t value = sonde_view_slots(view, row)[slot];
	const char *bytes;
	int n;

	if (!sonde_view_has(view, row, slot) || !size)
		return 0;
	if (c->type == SONDE_STR) {
		bytes = sonde_view_bytes(view, value, &length);
		return put_bytes(to, size, bytes, length);
	}
	n = snprintf(to, size, c->type == SONDE_I64 ? "%" PRId64 : "%" PRIu64, value);
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static void put_key(char *to, const struct bound *bound, const struct sonde_view *view,
		    uint32_t row)
{
	size_t used = 0;

	for (uint32_t i = 0; i < bound->nkey_columns && used + 2 < KEY_MOST; i++) {
		if (i)
			to[used++] = ' ';
		used += put_value(to + used, KEY_MOST - used, view, row, bound->key_columns[i]);
	}
	to[used] = '\0';
}

bool track_where(const struct bound *bound, const struct sonde_view *view, uint32_t row)
{
	uint64_t value = sonde_view_slots(view, row)[bound->where_slot];
	char number[24];
	const char *bytes;
	uint32_t length;

	if (!bound->where_text)
		return true;
	if (!sonde_view_has(view, row, bound->where_slot))
		return false;
	if (bound->where_type == SONDE_STR) {
		bytes = sonde_view_bytes(view, value, &length);
		return strlen(bound->where_text) == length &&
		       memcmp(bytes, bound->where_text, length) == 0;
	}
	snprintf(number, sizeof number, bound->where_type == SONDE_I64 ? "%" PRId64 : "%" PRIu64,
		 value);
	return strcmp(number, bound->where_text) == 0;
}

void track_label(struct track *track, struct row *row, const struct sonde_view *view,
		 uint32_t index)
{
	uint32_t slot, length;
	const char *bytes;
	char label[KEY_MOST];

	if (track->label_column < 0)
		return;
	slot = view->schema->slot[track->label_column];
	if (!sonde_view_has(view, index, slot))
		return;
	bytes = sonde_view_bytes(view, sonde_view_slots(view, index)[slot], &length);
	if (row->label_length == length && length <= sizeof row->label &&
	    memcmp(row->label, bytes, length) == 0)
		return;
	row->label_length = length;
	memcpy(row->label, bytes, length < sizeof row->label ? length : sizeof row->label);
	put_bytes(label, sizeof label, bytes, length);
	for (uint32_t i = 0; i < track->nbound; i++)
		if (row->series[i])
			name_label(row->series[i]->name, label);
}

static bool same_key(const struct bound *a, const struct bound *b)
{
	return a->nkey_columns == b->nkey_columns &&
	       memcmp(a->key_columns, b->key_columns, a->nkey_columns * sizeof *a->key_columns) ==
		       0;
}

int track_join(struct track *track, struct row *row, const struct sonde_view *view, uint32_t index)
{
	const struct bound *before = NULL;
	struct name *name = NULL;
	char key[KEY_MOST];

	for (uint32_t i = 0; i < track->nbound; i++) {
		struct bound *bound = &track->bound[i];

		if (bound->reduces || !track_where(bound, view, index))
			continue;
		if (name && before && same_key(before, bound)) {
			name->refs++;
		} else {
			put_key(key, bound, view, index);
			name = name_get(track->names, key);
		}
		before = bound;
		if (name)
			row->series[i] = store_series(&bound->stream->store, name);
		if (!row->series[i])
			return -ENOMEM;
	}
	return 0;
}

void track_leave(struct track *track, struct row *row)
{
	for (uint32_t i = 0; i < track->nbound; i++)
		if (row->series[i])
			store_leave(&track->bound[i].stream->store, row->series[i]);
	rows_remove(&track->rows, row);
}
