/* One msgpack item (the specification's "Formats") off the front of some bytes. msgpack-c's msgpack_unpack_next() reserves
 * gigabytes for a count of five bytes; its parsing template, with callbacks of ours, took 50 instructions an item, and a
 * report mostly reads. tests/unit/unpack_test.c holds this against msgpack-c. */
#ifndef WIRE_ITEM_H
#define WIRE_ITEM_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum item_kind {
	ITEM_NIL,
	ITEM_BOOL,
	ITEM_INT,
	ITEM_FLOAT,
	ITEM_BYTES,
	ITEM_ARRAY,
	ITEM_MAP,
	ITEM_EXT,
	ITEM_NONE, /* not msgpack */
};

struct item {
	uint8_t kind;    /* enum item_kind */
	uint8_t minus;   /* of an INT: below 0 */
	uint32_t length; /* of BYTES; items of an ARRAY, pairs of a MAP; of an EXT with its type */
	union {
		uint64_t number; /* INT modulo 2^64; FLOAT as bits of a double */
		const char *bytes;
	};
};

/* Bytes to take items from. */
struct bytes_left {
	const unsigned char *at, *end;
};

/* An integer in front of at least 8 more bytes, modulo 2^64, and `at` behind it: what most values are, so that no item is made
 * of it. False: it is none. */
static inline bool item_take_number(const unsigned char **at, uint64_t *number)
{
	enum { UINT8 = 0xcc, INT8 = 0xd0, INT64 = 0xd3 };
	const unsigned char *p = *at;
	uint64_t word;
	uint32_t bits;

	if ((int8_t)*p >= -0x20) { /* below 0x80, and from 0xe0 on: its own number */
		*number = (uint64_t)(int8_t)*p;
		*at = p + 1;
		return true;
	}
	if (*p < UINT8 || *p > INT64)
		return false;
	memcpy(&word, p + 1, sizeof word);
	word = be64toh(word);
	bits = 8u << (*p & 3);
	*number = *p >= INT8 ? (uint64_t)((int64_t)word >> (64 - bits)) : word >> (64 - bits);
	*at = p + 1 + bits / 8;
	return true;
}

/* Any item, as item_take(). */
bool item_take_any(struct bytes_left *from, struct item *item);

/* The next item; of a container without what is in it. False: it is none, or is cut. */
static inline bool item_take(struct bytes_left *from, struct item *item)
{
	const unsigned char *at = from->at;

	if (from->end - at <= 8 || !item_take_number(&from->at, &item->number))
		return item_take_any(from, item);
	item->kind = ITEM_INT;
	item->minus = *at >= 0xd0 && item->number >> 63;
	return true;
}

/* Next item as an integer of any sign, modulo 2^64; else 0 and bad. */
static inline uint64_t item_take_int(struct bytes_left *from, bool *bad)
{
	struct item item;

	if (item_take(from, &item) && item.kind == ITEM_INT)
		return item.number;
	*bad = true;
	return 0;
}

/* Past `n` items that are no containers. False: there are others, or fewer. */
static inline bool item_skip_flat(struct bytes_left *from, uint32_t n)
{
	struct item item;

	for (; n; n--) {
		if (from->at < from->end && (int8_t)*from->at >= -0x20)
			from->at++; /* one byte, its own number */
		else if (!item_take(from, &item) || item.kind == ITEM_ARRAY ||
			 item.kind == ITEM_MAP)
			return false;
	}
	return true;
}

#endif
