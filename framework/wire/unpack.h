/* msgpack bytes into a flat list of items, within a budget. Items are in the order of the bytes; those of an array or map
 * follow it. */
#ifndef WIRE_UNPACK_H
#define WIRE_UNPACK_H

#include "wire/item.h"

struct unpack;

/* NULL without memory. */
struct unpack *unpack_new(void);
void unpack_free(struct unpack *unpack);

/* One object from the front of `bytes`: its length, or -EBADMSG where it is none, is cut, is nested deeper than
 * FORMAT_OBJECT_DEPTH or has more than FORMAT_OBJECT_ITEMS items. Items stay valid as long as bytes do, until the next call. */
int64_t unpack_object(struct unpack *unpack, const void *bytes, size_t length);

/* The items of the object, to be taken in order. What is asked for and not there gives false and sets `bad`. */
struct items {
	const struct item *at, *end;
	bool bad;
};

struct items unpack_items(const struct unpack *unpack);

static inline const struct item *items_next(struct items *items)
{
	if (items->at == items->end) {
		items->bad = true;
		return NULL;
	}
	return items->at++;
}

/* Next item as an integer from 0 to `most`; else 0 and bad. */
static inline uint64_t items_u64(struct items *items, uint64_t most)
{
	const struct item *item = items_next(items);

	if (item && item->kind == ITEM_INT && !item->minus && item->number <= most)
		return item->number;
	items->bad = true;
	return 0;
}

/* Next item as an integer of any sign, modulo 2^64. */
static inline uint64_t items_int(struct items *items)
{
	const struct item *item = items_next(items);

	if (item && item->kind == ITEM_INT)
		return item->number;
	items->bad = true;
	return 0;
}

/* Next item as bytes, at most `most` of them and no zero byte among them; else NULL and bad. */
const char *items_text(struct items *items, uint32_t most, uint32_t *length);

/* Next item as an array; its count, or 0 and bad. */
uint32_t items_array(struct items *items);

/* Past the next item with everything in it. */
void items_skip(struct items *items);

#endif
