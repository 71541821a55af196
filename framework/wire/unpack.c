/* msgpack bytes into a flat list of items, by msgpack-c's own parsing template with callbacks of ours: the library's
 * msgpack_unpack_next() reserves gigabytes for a count of five bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/format.h"

/* Before the template: its stack is the limit of depth. */
#define MSGPACK_EMBED_STACK_SIZE FORMAT_OBJECT_DEPTH

#include <msgpack/unpack_define.h>
#include <msgpack/unpack.h>

#include "wire/unpack.h"

struct sink {
	struct item *items;
	uint32_t count;
	size_t length;
};

static int add(struct sink *sink, enum item_kind kind, uint32_t length, struct item **item)
{
	if (sink->count == FORMAT_OBJECT_ITEMS)
		return -1;
	*item = &sink->items[sink->count++];
	(*item)->kind = (uint8_t)kind;
	(*item)->minus = 0;
	(*item)->length = length;
	(*item)->number = 0;
	return 0;
}

static inline int add_number(struct sink *sink, enum item_kind kind, uint64_t number, bool minus)
{
	struct item *item;

	if (add(sink, kind, 0, &item))
		return -1;
	item->number = number;
	item->minus = minus;
	return 0;
}

static inline int add_signed(struct sink *sink, int64_t number)
{
	return add_number(sink, ITEM_INT, (uint64_t)number, number < 0);
}

static inline int add_bytes(struct sink *sink, enum item_kind kind, const char *bytes,
			    unsigned int length)
{
	struct item *item;

	if (add(sink, kind, length, &item))
		return -1;
	item->bytes = bytes ? bytes : ""; /* the template has none for a length of 0 */
	return 0;
}

/* Each item takes a byte at least and an item of the budget: a larger count lies, whatever the sum of others is. */
static inline int add_container(struct sink *sink, enum item_kind kind, uint64_t count,
				uint64_t items)
{
	struct item *item;

	if (items > sink->length || items > FORMAT_OBJECT_ITEMS - sink->count)
		return -1;
	return add(sink, kind, (uint32_t)count, &item);
}

/* The template calls these; its "objects" are not used. */
typedef struct {
	char unused;
} nothing;

#define msgpack_unpack_struct(name)    struct template##name
#define msgpack_unpack_func(ret, name) static inline ret template##name
#define msgpack_unpack_callback(name)  got##name
#define msgpack_unpack_object          nothing
#define msgpack_unpack_user            struct sink

#define NUMBER(name, type, call)                                                                   \
	static inline int got##name(struct sink *sink, type number, nothing *o)                    \
	{                                                                                          \
		*o = (nothing) { 0 };                                                              \
		return call;                                                                       \
	}
NUMBER(_uint8, uint8_t, add_number(sink, ITEM_INT, number, false))
NUMBER(_uint16, uint16_t, add_number(sink, ITEM_INT, number, false))
NUMBER(_uint32, uint32_t, add_number(sink, ITEM_INT, number, false))
NUMBER(_uint64, uint64_t, add_number(sink, ITEM_INT, number, false))
NUMBER(_int8, int8_t, add_signed(sink, number))
NUMBER(_int16, int16_t, add_signed(sink, number))
NUMBER(_int32, int32_t, add_signed(sink, number))
NUMBER(_int64, int64_t, add_signed(sink, number))

static inline int got_double(struct sink *sink, double number, nothing *o)
{
	uint64_t bits;

	*o = (nothing) { 0 };
	memcpy(&bits, &number, sizeof bits);
	return add_number(sink, ITEM_FLOAT, bits, false);
}

static inline int got_float(struct sink *sink, float number, nothing *o)
{
	return got_double(sink, number, o);
}

static inline int got_nil(struct sink *sink, nothing *o)
{
	*o = (nothing) { 0 };
	return add_number(sink, ITEM_NIL, 0, false);
}

static inline int got_true(struct sink *sink, nothing *o)
{
	*o = (nothing) { 0 };
	return add_number(sink, ITEM_BOOL, 1, false);
}

static inline int got_false(struct sink *sink, nothing *o)
{
	*o = (nothing) { 0 };
	return add_number(sink, ITEM_BOOL, 0, false);
}

static inline int got_array(struct sink *sink, unsigned int count, nothing *o)
{
	*o = (nothing) { 0 };
	return add_container(sink, ITEM_ARRAY, count, count);
}

static inline int got_map(struct sink *sink, unsigned int count, nothing *o)
{
	*o = (nothing) { 0 };
	return add_container(sink, ITEM_MAP, count, (uint64_t)count * 2);
}

#define BYTES(name, kind)                                                                          \
	static inline int got##name(struct sink *sink, const char *base, const char *bytes,        \
				    unsigned int length, nothing *o)                               \
	{                                                                                          \
		(void)base;                                                                        \
		*o = (nothing) { 0 };                                                              \
		return add_bytes(sink, kind, bytes, length);                                       \
	}
BYTES(_str, ITEM_BYTES)
BYTES(_bin, ITEM_BYTES)
BYTES(_ext, ITEM_EXT)

static inline nothing got_root(struct sink *sink)
{
	(void)sink;
	return (nothing) { 0 };
}

static inline int got_array_item(struct sink *sink, nothing *array, nothing o)
{
	(void)sink;
	(void)array;
	(void)o;
	return 0;
}

static inline int got_map_item(struct sink *sink, nothing *map, nothing key, nothing value)
{
	(void)sink;
	(void)map;
	(void)key;
	(void)value;
	return 0;
}

#include <msgpack/unpack_template.h>

struct unpack {
	struct template_context context;
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
	size_t at = 0;

	unpack->context.user = (struct sink) { .items = unpack->items, .length = length };
	template_init(&unpack->context);
	if (template_execute(&unpack->context, bytes, length, &at) <= 0)
		return -EBADMSG;
	return (int64_t)at;
}

struct items unpack_items(const struct unpack *unpack)
{
	return (struct items) { unpack->items, unpack->items + unpack->context.user.count, false };
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
