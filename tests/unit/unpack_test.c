/* framework/wire: msgpack items, held against msgpack-c's own parser (msgpack_unpack_next()), form by form and on random
 * bytes. */
#include <stdlib.h>

#include <msgpack.h>

#include "test.h"
#include "wire/format.h"
#include "wire/unpack.h"

const char suite[] = "unpack";

static struct unpack *unpack;

/* ---- an object of msgpack-c as a list of items ---- */

enum { ITEMS = 4096 };

struct list {
	struct item items[ITEMS];
	uint32_t count, deepest;
	bool full;
};

static void flatten(struct list *list, const msgpack_object *object, uint32_t depth);

static void flatten_inside(struct list *list, const msgpack_object *object, uint32_t depth)
{
	if (depth + 1 > list->deepest)
		list->deepest = depth + 1;
	for (uint32_t i = 0; object->type == MSGPACK_OBJECT_ARRAY && i < object->via.array.size;
	     i++)
		flatten(list, &object->via.array.ptr[i], depth + 1);
	for (uint32_t i = 0; object->type == MSGPACK_OBJECT_MAP && i < object->via.map.size; i++) {
		flatten(list, &object->via.map.ptr[i].key, depth + 1);
		flatten(list, &object->via.map.ptr[i].val, depth + 1);
	}
}

static void flatten(struct list *list, const msgpack_object *object, uint32_t depth)
{
	struct item item = { 0 };

	switch (object->type) {
	case MSGPACK_OBJECT_NIL:
		item.kind = ITEM_NIL;
		break;
	case MSGPACK_OBJECT_BOOLEAN:
		item.kind = ITEM_BOOL;
		item.number = object->via.boolean;
		break;
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
		item.kind = ITEM_INT;
		item.minus = object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER;
		item.number = object->via.u64;
		break;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64:
		item.kind = ITEM_FLOAT;
		memcpy(&item.number, &object->via.f64, sizeof item.number);
		break;
	case MSGPACK_OBJECT_STR:
	case MSGPACK_OBJECT_BIN:
		item.kind = ITEM_BYTES;
		item.length = object->via.bin.size;
		item.bytes = object->via.bin.ptr;
		break;
	case MSGPACK_OBJECT_EXT:
		item.kind = ITEM_EXT;
		item.length = object->via.ext.size + 1;
		item.bytes = object->via.ext.ptr - 1;
		break;
	case MSGPACK_OBJECT_ARRAY:
		item.kind = ITEM_ARRAY;
		item.length = object->via.array.size;
		break;
	case MSGPACK_OBJECT_MAP:
		item.kind = ITEM_MAP;
		item.length = object->via.map.size;
		break;
	}
	list->full |= list->count == ITEMS;
	if (!list->full)
		list->items[list->count++] = item;
	flatten_inside(list, object, depth);
}

static bool same(const struct item *a, const struct item *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case ITEM_INT:
		return a->number == b->number && a->minus == b->minus;
	case ITEM_BOOL:
	case ITEM_FLOAT:
		return a->number == b->number;
	case ITEM_BYTES:
	case ITEM_EXT:
		return a->length == b->length &&
		       (!a->length || memcmp(a->bytes, b->bytes, a->length) == 0);
	case ITEM_ARRAY:
	case ITEM_MAP:
		return a->length == b->length;
	default:
		return true;
	}
}

/* Whether both read the bytes alike: the same items and the same length, or none. Bytes that would make msgpack-c reserve
 * memory by their word are not for it: no count may be beyond the bytes. */
static bool alike(const unsigned char *bytes, size_t length)
{
	static struct list list;
	msgpack_unpacked unpacked;
	size_t at = 0;
	int64_t ours = unpack_object(unpack, bytes, length);
	struct items items = unpack_items(unpack);
	bool theirs, good;

	msgpack_unpacked_init(&unpacked);
	theirs = msgpack_unpack_next(&unpacked, (const char *)bytes, length, &at) ==
		 MSGPACK_UNPACK_SUCCESS;
	list.count = list.deepest = 0;
	list.full = false;
	if (theirs)
		flatten(&list, &unpacked.data, 0);
	if (ours < 0) {
		good = !theirs || list.deepest > FORMAT_OBJECT_DEPTH;
	} else {
		good = theirs && (size_t)ours == at && (size_t)(items.end - items.at) == list.count;
		for (uint32_t i = 0; good && i < list.count; i++)
			good = same(&items.at[i], &list.items[i]);
	}
	msgpack_unpacked_destroy(&unpacked);
	return good;
}

/* ---- every form ---- */

/* Each first byte, with room and in every length that cuts it short, over three kinds of content. */
static void forms(void)
{
	static const unsigned char fills[] = { 0x00, 0x01, 0xff };
	unsigned char bytes[400];

	for (size_t f = 0; f < sizeof fills; f++) {
		memset(bytes, fills[f], sizeof bytes);
		for (int first = 0; first < 256; first++) {
			/* A count of four bytes of 0xff is 4 billion. */
			if (fills[f] == 0xff && first >= 0xdc && first <= 0xdf)
				continue;
			bytes[0] = (unsigned char)first;
			for (size_t length = 0; length <= 40; length++)
				CU_ASSERT(alike(bytes, length));
			CU_ASSERT(alike(bytes, sizeof bytes));
		}
	}
}

/* Numbers at the edges of each form, as msgpack-c packs them. */
static void numbers(void)
{
	static const int64_t edges[] = { 0,           1,         127,    128,       255,
					 256,         65535,     65536,  INT32_MAX, UINT32_MAX,
					 4294967296,  INT64_MAX, -1,     -32,       -33,
					 -128,        -129,      -32768, -32769,    INT32_MIN,
					 -2147483649, INT64_MIN };
	msgpack_sbuffer buffer;
	msgpack_packer packer;

	msgpack_sbuffer_init(&buffer);
	msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
	for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
		const unsigned char *at;
		uint64_t number;

		msgpack_sbuffer_clear(&buffer);
		msgpack_pack_int64(&packer, edges[i]);
		CU_ASSERT(alike((const unsigned char *)buffer.data, buffer.size));
		msgpack_sbuffer_write(&buffer, "........", 8);
		at = (const unsigned char *)buffer.data;
		CU_ASSERT(item_take_number(&at, &number));
		CU_ASSERT_EQUAL((int64_t)number, edges[i]);
		CU_ASSERT_EQUAL((size_t)(at - (const unsigned char *)buffer.data), buffer.size - 8);
		msgpack_sbuffer_clear(&buffer);
		msgpack_pack_double(&packer, (double)edges[i] / 3);
		msgpack_pack_float(&packer, (float)edges[i] / 3);
		CU_ASSERT(alike((const unsigned char *)buffer.data, buffer.size));
		CU_ASSERT(alike((const unsigned char *)buffer.data + 9, buffer.size - 9));
	}
	msgpack_sbuffer_destroy(&buffer);
}

/* ---- any bytes ---- */

/* Counts of 16 and 32 bits are left out: msgpack-c would reserve by them. */
static void random_bytes(void)
{
	unsigned char bytes[64];
	uint64_t random = 42;

	for (int i = 0; i < 200000; i++) {
		size_t length = 1 + (size_t)i % sizeof bytes;

		for (size_t at = 0; at < length; at++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			bytes[at] = (unsigned char)(random >> 56);
			if (bytes[at] >= 0xdc && bytes[at] <= 0xdf)
				bytes[at] = 0x92;
		}
		if (!alike(bytes, length)) {
			CU_FAIL("read otherwise than by msgpack-c");
			return;
		}
	}
}

/* ---- budgets ---- */

/* docs/format.md: 65,536 items, nested ones included. */
static void items_most(void)
{
	unsigned char *bytes = calloc(1, 70000);

	memcpy(bytes, "\xdd\x00\x00\xff\xff", 5);
	CU_ASSERT_EQUAL(unpack_object(unpack, bytes, 70000), 5 + 65535);
	memcpy(bytes, "\xdd\x00\x01\x00\x00", 5);
	CU_ASSERT(unpack_object(unpack, bytes, 70000) < 0);
	/* An array of 2 in one of 65,534: 1 + 65,534 + 2. */
	memcpy(bytes, "\xdd\x00\x00\xff\xfe\x92", 6);
	CU_ASSERT(unpack_object(unpack, bytes, 70000) < 0);
	bytes[5] = 0x91;
	CU_ASSERT_EQUAL(unpack_object(unpack, bytes, 70000), 5 + 65535);
	free(bytes);
}

static void flat(void)
{
	static const unsigned char bytes[] = { 1, 2, 0xcd, 1, 0, 0x91, 1 };
	struct bytes_left from = { bytes, bytes + sizeof bytes };

	CU_ASSERT(item_skip_flat(&from, 3));
	CU_ASSERT_EQUAL(from.at - bytes, 5);
	from.at = bytes;
	CU_ASSERT(!item_skip_flat(&from, 4)); /* a container */
}

static void with(void (*test)(void))
{
	unpack = unpack_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(unpack);
	test();
	unpack_free(unpack);
}

static void test_forms(void)
{
	with(forms);
}

static void test_numbers(void)
{
	with(numbers);
}

static void test_random_bytes(void)
{
	with(random_bytes);
}

static void test_budgets(void)
{
	with(items_most);
	with(flat);
}

CU_TestInfo tests[] = {
	{ "every first byte, cut at every length", test_forms },
	{ "numbers at the edges of their forms", test_numbers },
	{ "random bytes", test_random_bytes },
	{ "budgets", test_budgets },
	CU_TEST_INFO_NULL,
};
