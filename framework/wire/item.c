/* All forms of msgpack items. */
#include "wire/item.h"

/* What first bytes from FORMS on say: what it is, and of how many bytes the number is that follows. */
enum { FORMS = 0xc0, FORMS_END = 0xe0 };

/* clang-format off */
static const struct form {
	uint8_t kind, trail;
	uint8_t minus;  /* the number may be below 0 */
	uint8_t length; /* of an EXT, in addition to the number */
} forms[FORMS_END - FORMS] = {
	[0xc0 - FORMS] = { .kind = ITEM_NIL },
	[0xc1 - FORMS] = { .kind = ITEM_NONE },
	[0xc2 - FORMS] = { .kind = ITEM_BOOL },
	[0xc3 - FORMS] = { .kind = ITEM_BOOL },
	[0xc4 - FORMS] = { .kind = ITEM_BYTES, .trail = 1 },
	[0xc5 - FORMS] = { .kind = ITEM_BYTES, .trail = 2 },
	[0xc6 - FORMS] = { .kind = ITEM_BYTES, .trail = 4 },
	[0xc7 - FORMS] = { .kind = ITEM_EXT, .trail = 1, .length = 1 },
	[0xc8 - FORMS] = { .kind = ITEM_EXT, .trail = 2, .length = 1 },
	[0xc9 - FORMS] = { .kind = ITEM_EXT, .trail = 4, .length = 1 },
	[0xca - FORMS] = { .kind = ITEM_FLOAT, .trail = 4 },
	[0xcb - FORMS] = { .kind = ITEM_FLOAT, .trail = 8 },
	[0xcc - FORMS] = { .kind = ITEM_INT, .trail = 1 },
	[0xcd - FORMS] = { .kind = ITEM_INT, .trail = 2 },
	[0xce - FORMS] = { .kind = ITEM_INT, .trail = 4 },
	[0xcf - FORMS] = { .kind = ITEM_INT, .trail = 8 },
	[0xd0 - FORMS] = { .kind = ITEM_INT, .trail = 1, .minus = 1 },
	[0xd1 - FORMS] = { .kind = ITEM_INT, .trail = 2, .minus = 1 },
	[0xd2 - FORMS] = { .kind = ITEM_INT, .trail = 4, .minus = 1 },
	[0xd3 - FORMS] = { .kind = ITEM_INT, .trail = 8, .minus = 1 },
	[0xd4 - FORMS] = { .kind = ITEM_EXT, .length = 1 + 1 },
	[0xd5 - FORMS] = { .kind = ITEM_EXT, .length = 1 + 2 },
	[0xd6 - FORMS] = { .kind = ITEM_EXT, .length = 1 + 4 },
	[0xd7 - FORMS] = { .kind = ITEM_EXT, .length = 1 + 8 },
	[0xd8 - FORMS] = { .kind = ITEM_EXT, .length = 1 + 16 },
	[0xd9 - FORMS] = { .kind = ITEM_BYTES, .trail = 1 },
	[0xda - FORMS] = { .kind = ITEM_BYTES, .trail = 2 },
	[0xdb - FORMS] = { .kind = ITEM_BYTES, .trail = 4 },
	[0xdc - FORMS] = { .kind = ITEM_ARRAY, .trail = 2 },
	[0xdd - FORMS] = { .kind = ITEM_ARRAY, .trail = 4 },
	[0xde - FORMS] = { .kind = ITEM_MAP, .trail = 2 },
	[0xdf - FORMS] = { .kind = ITEM_MAP, .trail = 4 },
};
/* clang-format on */

/* Up to 8 bytes of network byte order as the upper ones of a word. */
static uint64_t load(const unsigned char *at, size_t left)
{
	uint64_t word = 0;

	if (left >= sizeof word)
		memcpy(&word, at, sizeof word); /* one instruction */
	else
		memcpy(&word, at, left);
	return be64toh(word);
}

static uint64_t double_bits(uint32_t single)
{
	float narrow;
	double wide;
	uint64_t bits;

	memcpy(&narrow, &single, sizeof narrow);
	wide = narrow;
	memcpy(&bits, &wide, sizeof bits);
	return bits;
}

/* False: there are not so many bytes. */
static bool take_bytes(struct bytes_left *from, struct item *item, uint64_t length)
{
	if (length > (size_t)(from->end - from->at))
		return false;
	item->length = (uint32_t)length;
	item->bytes = (const char *)from->at;
	from->at += length;
	return true;
}

/* One whose first byte was `first`, from FORMS to below FORMS_END. */
static bool take_form(struct bytes_left *from, struct item *item, unsigned char first)
{
	const struct form *form = &forms[first - FORMS];
	size_t left = (size_t)(from->end - from->at);
	uint64_t word = load(from->at, left), number = 0;

	if (form->trail > left)
		return false;
	from->at += form->trail;
	item->kind = form->kind;
	if (form->trail && form->minus)
		number = (uint64_t)((int64_t)word >> (64 - 8 * form->trail));
	else if (form->trail)
		number = word >> (64 - 8 * form->trail);
	switch (form->kind) {
	case ITEM_INT:
		item->minus = form->minus && number >> 63;
		item->number = number;
		return true;
	case ITEM_FLOAT:
		item->number = form->trail == 8 ? number : double_bits((uint32_t)number);
		return true;
	case ITEM_NIL:
	case ITEM_BOOL:
		item->number = first & 1;
		return true;
	case ITEM_ARRAY:
	case ITEM_MAP:
		item->length = (uint32_t)number;
		return true;
	case ITEM_BYTES:
	case ITEM_EXT:
		return take_bytes(from, item, number + form->length);
	default:
		return false;
	}
}

bool item_take_any(struct bytes_left *from, struct item *item)
{
	enum { FIXMAP = 0x80, FIXARRAY = 0x90, FIXSTR = 0xa0 };
	unsigned char first;

	if (from->at == from->end)
		return false;
	first = *from->at++;
	item->minus = first >= FORMS_END;
	if (first < FIXMAP || first >= FORMS_END) {
		item->kind = ITEM_INT;
		item->number = (uint64_t)(int8_t)first;
		return true;
	}
	if (first >= FORMS)
		return take_form(from, item, first);
	if (first >= FIXSTR) {
		item->kind = ITEM_BYTES;
		return take_bytes(from, item, first & 0x1f);
	}
	item->kind = first < FIXARRAY ? ITEM_MAP : ITEM_ARRAY;
	item->length = first & 0xf;
	return true;
}
