/* Keys and labels of a table's rows: which series a row belongs to, and the name that it bears. */
#include <errno.h>
#include <string.h>

#include "core/schema.h"
#include "window/tracked.h"

enum { KEY_MOST = 256 };

struct series series_of_others;

/* As the kernel gave it: what shows it escapes it. A NUL would end it. */
static size_t put_bytes(char *to, size_t size, const char *bytes, uint32_t length)
{
	size_t n = strnlen(bytes, length < size ? length : size - 1);

	memcpy(to, bytes, n);
	to[n] = '\0';
	return n;
}

/* At most 20 digits and a sign; no NUL. A printf for each new process would be a tenth of reading them. */
static size_t put_number(char to[21], uint64_t value, bool is_signed)
{
	bool minus = is_signed && value >> 63;
	char digits[20];
	size_t n = 0, used = 0;

	if (minus)
		value = -value;
	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	if (minus)
		to[used++] = '-';
	while (n)
		to[used++] = digits[--n];
	return used;
}

static size_t put_value(char *to, size_t size, const struct sonde_view *view, uint32_t row,
			uint32_t column)
{
	const struct sonde_column *c = &view->schema->columns[column];
	uint32_t slot = view->schema->slot[column], length;
	uint64_t value = sonde_view_slots(view, row)[slot];
	const char *bytes;
	char number[21];
	size_t n;

	if (!sonde_view_has(view, row, slot) || !size)
		return 0;
	if (c->type == SONDE_STR) {
		bytes = sonde_view_bytes(view, value, &length);
		return put_bytes(to, size, bytes, length);
	}
	n = put_number(number, value, c->type == SONDE_I64);
	return put_bytes(to, size, number, (uint32_t)n);
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
	char number[21];
	const char *bytes = number;
	uint32_t length;

	if (!sonde_view_has(view, row, bound->where_slot))
		return false;
	if (bound->where_type == SONDE_STR)
		bytes = sonde_view_bytes(view, value, &length);
	else
		length = (uint32_t)put_number(number, value, bound->where_type == SONDE_I64);
	return strlen(bound->where_text) == length && memcmp(bytes, bound->where_text, length) == 0;
}

static bool is_series(const struct series *series)
{
	return series && series != &series_of_others;
}

/* The bytes of the row's label; NULL where it has none. */
static const char *label_of(const struct track *track, const struct sonde_view *view,
			    uint32_t index, uint32_t *length)
{
	uint32_t slot = (uint32_t)track->label_slot;

	if (track->label_slot < 0 || !sonde_view_has(view, index, slot))
		return NULL;
	return sonde_view_bytes(view, sonde_view_slots(view, index)[slot], length);
}

void track_label(struct track *track, struct row *row, const struct sonde_view *view,
		 uint32_t index)
{
	uint32_t length;
	const char *bytes = label_of(track, view, index, &length);
	char label[KEY_MOST];

	if (!bytes || (row->label_length == length && length <= sizeof row->label &&
		       memcmp(row->label, bytes, length) == 0))
		return;
	row->label_length = length;
	memcpy(row->label, bytes, length < sizeof row->label ? length : sizeof row->label);
	put_bytes(label, sizeof label, bytes, length);
	for (uint32_t i = 0; i < track->nbound; i++)
		if (is_series(row->series[i]))
			name_label(row->series[i]->name, label);
}

static bool same_key(const struct bound *a, const struct bound *b)
{
	return a->nkey_columns == b->nkey_columns &&
	       memcmp(a->key_columns, b->key_columns, a->nkey_columns * sizeof *a->key_columns) ==
		       0;
}

void track_join(struct track *track, struct row *row, const struct sonde_view *view, uint32_t index)
{
	for (uint32_t i = 0; i < track->nbound; i++) {
		const struct bound *bound = &track->bound[i];

		if (!bound->reduces && bound->where_text && !track_where(bound, view, index))
			row->series[i] = &series_of_others;
	}
}

/* The name of the row in a stream, one reference more: most have the one that another stream gave it. */
static struct name *name_of(struct track *track, const struct folding *folding, uint32_t stream)
{
	const struct bound *bound = &track->bound[stream];
	uint32_t length;
	const char *label;
	struct name *name;
	char text[KEY_MOST];

	for (uint32_t i = 0; i < track->nbound; i++) {
		const struct series *other = folding->row->series[i];

		if (is_series(other) && same_key(bound, &track->bound[i])) {
			other->name->refs++;
			return other->name;
		}
	}
	put_key(text, bound, folding->view, folding->index);
	name = name_get(track->names, text);
	label = label_of(track, folding->view, folding->index, &length);
	if (name && label) {
		put_bytes(text, sizeof text, label, length);
		name_label(name, text);
	}
	return name;
}

struct series *track_series(struct track *track, const struct folding *folding, uint32_t stream)
{
	struct series **series = &folding->row->series[stream];
	struct name *name;

	if (*series)
		return is_series(*series) ? *series : NULL;
	name = name_of(track, folding, stream);
	if (name)
		*series = store_series(&track->bound[stream].stream->store, name);
	return *series;
}

static bool key_changed(const struct track *track, const struct bound *bound, const uint64_t *slots)
{
	for (uint32_t i = 0; slots && i < bound->nkey_columns; i++) {
		uint32_t slot = track->schema->slot[bound->key_columns[i]];

		if (slots[slot >> 6] >> (slot & 63) & 1)
			return true;
	}
	return !slots;
}

void track_move(struct track *track, struct row *row, const struct sonde_view *view, uint32_t index,
		const uint64_t *slots)
{
	char text[KEY_MOST];

	for (uint32_t i = 0; i < track->nbound; i++) {
		const struct bound *bound = &track->bound[i];

		if (!bound->loose || !is_series(row->series[i]) ||
		    !key_changed(track, bound, slots))
			continue;
		put_key(text, bound, view, index);
		if (strcmp(text, row->series[i]->name->key) == 0)
			continue;
		if (set_has(row->lags, i))
			lag_catch_up(track, row, i);
		set_remove(row->lags, i);
		store_leave(&bound->stream->store, row->series[i]);
		row->series[i] = NULL;
	}
}

void track_leave(struct track *track, struct row *row)
{
	lag_end(track, row);
	for (uint32_t i = 0; i < track->nbound; i++)
		if (is_series(row->series[i]))
			store_leave(&track->bound[i].stream->store, row->series[i]);
	rows_remove(&track->rows, row);
}
