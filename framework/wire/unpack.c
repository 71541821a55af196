/* msgpack bytes into a flat list of items, within a budget. */
#include <errno.h>
#include <stdlib.h>

#include "wire/format.h"
#include "wire/unpack.h"

struct unpack {
	uint32_t count;
	struct item items[FORMAT_OBJECT_ITEMS];
};

struct unpack *unpack_new(void)
{
	return malloc(sizeof(struct unpack));
}

void unpack_free(struct unpack *unpack)
{
	free(unpack);
}

int64_t unpack_object(struct unpack *unpack, const void *bytes, size_t length)
{
	struct bytes_left from = { bytes, (const unsigned char *)bytes + length };
	struct item *item = unpack->items;
	uint64_t outer[FORMAT_OBJECT_DEPTH]; /* items still to come of the containers around */
	uint32_t depth = 0;
	uint64_t left = 1, budget = FORMAT_OBJECT_ITEMS - 1;

	for (; left; item++) {
		if (!item_take(&from, item))
			return -EBADMSG;
		left--;
		if (item->kind == ITEM_ARRAY || item->kind == ITEM_MAP) {
			uint64_t n = (uint64_t)item->length << (item->kind == ITEM_MAP);

			/* Each takes a byte at least and an item of the budget: a larger count lies. */
			if (n > (size_t)(from.end - from.at) || n > budget ||
			    depth == FORMAT_OBJECT_DEPTH)
				return -EBADMSG;
			budget -= n;
			outer[depth++] = left;
			left = n;
		}
		while (!left && depth)
			left = outer[--depth];
	}
	unpack->count = (uint32_t)(item - unpack->items);
	return from.at - (const unsigned char *)bytes;
}

struct items unpack_items(const struct unpack *unpack)
{
	return (struct items) { unpack->items, unpack->items + unpack->count, false };
}

const char *items_text(struct items *items, uint32_t most, uint32_t *length)
{
	const struct item *item = items_next(items);

	if (!item || item->kind != ITEM_BYTES || item->length > most ||
	    memchr(item->bytes, 0, item->length)) {
		items->bad = true;
		return NULL;
	}
	*length = item->length;
	return item->bytes;
}

uint32_t items_array(struct items *items)
{
	const struct item *item = items_next(items);

	if (item && item->kind == ITEM_ARRAY)
		return item->length;
	items->bad = true;
	return 0;
}

void items_skip(struct items *items)
{
	uint64_t left = 1;

	for (; left && items->at < items->end; left--) {
		const struct item *item = items->at++;

		left += item->kind == ITEM_ARRAY ? item->length
			: item->kind == ITEM_MAP ? 2 * (uint64_t)item->length
						 : 0;
	}
	items->bad |= left != 0;
}
