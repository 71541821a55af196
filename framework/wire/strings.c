/* The strings of a segment, each once, numbered from 0. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/format.h"
#include "wire/strings.h"

enum { FIRST_STRINGS = 1024, FIRST_BYTES = 64 << 10 };

int strings_init(struct strings *strings, const uint8_t id[16])
{
	*strings = (struct strings) { .bytes = malloc(FIRST_BYTES),
				      .items = malloc(FIRST_STRINGS * sizeof(struct string)),
				      .slots = malloc(2 * FIRST_STRINGS * sizeof(uint32_t)),
				      .capacity = FIRST_STRINGS,
				      .size = FIRST_BYTES,
				      .nslots = 2 * FIRST_STRINGS };
	if (!strings->bytes || !strings->items || !strings->slots) {
		strings_free(strings);
		return -ENOMEM;
	}
	memcpy(&strings->seed, id, sizeof strings->seed);
	strings_guard(strings, id);
	strings_empty(strings);
	return 0;
}

void strings_guard(struct strings *strings, const uint8_t id[16])
{
	mark_begin(strings->mark, id);
}

void strings_free(struct strings *strings)
{
	free(strings->bytes);
	free(strings->items);
	free(strings->slots);
	*strings = (struct strings) { 0 };
}

void strings_empty(struct strings *strings)
{
	strings->count = strings->used = 0;
	memset(strings->slots, 0xff, strings->nslots * sizeof *strings->slots);
}

static uint32_t hash_of(const struct strings *strings, const char *bytes, uint32_t length)
{
	uint64_t hash = strings->seed ^ length, word;

	for (; length >= 8; bytes += 8, length -= 8) {
		memcpy(&word, bytes, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, bytes, length);
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(hash >> 32);
}

/* The slot that holds these bytes or would. */
static uint32_t slot_of(const struct strings *strings, const char *bytes, uint32_t length,
			uint32_t hash)
{
	uint32_t mask = strings->nslots - 1, slot = hash & mask;

	for (;; slot = (slot + 1) & mask) {
		uint32_t number = strings->slots[slot];

		if (number == STRINGS_NONE)
			return slot;
		if (strings->items[number].hash == hash &&
		    strings_equal(strings, number, bytes, length))
			return slot;
	}
}

uint32_t strings_find(const struct strings *strings, const char *bytes, uint32_t length)
{
	return strings->slots[slot_of(strings, bytes, length, hash_of(strings, bytes, length))];
}

/* Twice as many items, and a hash table of twice that. */
static int grow_items(struct strings *strings)
{
	uint32_t capacity = strings->capacity * 2, nslots = capacity * 2;
	struct string *items = realloc(strings->items, capacity * sizeof *items);
	uint32_t *slots;

	if (!items)
		return -ENOMEM;
	strings->items = items;
	slots = malloc(nslots * sizeof *slots);
	if (!slots)
		return -ENOMEM;
	memset(slots, 0xff, nslots * sizeof *slots);
	for (uint32_t i = 0; i < strings->count; i++) {
		uint32_t slot = items[i].hash & (nslots - 1);

		while (slots[slot] != STRINGS_NONE)
			slot = (slot + 1) & (nslots - 1);
		slots[slot] = i;
	}
	free(strings->slots);
	strings->slots = slots;
	strings->nslots = nslots;
	strings->capacity = capacity;
	return 0;
}

static int grow_bytes(struct strings *strings, uint32_t more)
{
	uint32_t size = strings->size;
	char *bytes;

	while (size - strings->used < more)
		size *= 2;
	bytes = realloc(strings->bytes, size);
	if (!bytes)
		return -ENOMEM;
	strings->bytes = bytes;
	strings->size = size;
	return 0;
}

uint32_t strings_cut(char *to, const char *bytes, uint32_t length, uint32_t most)
{
	uint32_t n = most - STRINGS_CUT;

	while (n && ((unsigned char)bytes[n] & 0xc0) == 0x80) /* not in a character */
		n--;
	memcpy(to, bytes, n);
	return n + (uint32_t)snprintf(to + n, STRINGS_CUT + 1, "\xe2\x80\xa6#%08x",
				      fnv32((const unsigned char *)bytes, length));
}

/* From `mark` on. */
static uint32_t add_cut(struct strings *strings, const char *bytes, uint32_t length,
			const char *mark)
{
	char cut[FORMAT_STRING_EACH + 1];
	uint32_t most = (uint32_t)(mark - bytes) + STRINGS_CUT;

	length = strings_cut(cut, bytes, length, most);
	return strings_add(strings, cut, length);
}

uint32_t strings_add(struct strings *strings, const char *bytes, uint32_t length)
{
	uint32_t hash = hash_of(strings, bytes, length);
	uint32_t slot = slot_of(strings, bytes, length, hash);
	const char *mark;

	if (strings->slots[slot] != STRINGS_NONE)
		return strings->slots[slot];
	if (strings->count == FORMAT_STRINGS_ALL || length > FORMAT_STRING_EACH ||
	    length > FORMAT_STRING_BYTES - strings->used)
		return STRINGS_NONE;
	mark = memmem(bytes, length, strings->mark, sizeof strings->mark);
	if (mark)
		return add_cut(strings, bytes, length, mark);
	if (length > strings->size - strings->used && grow_bytes(strings, length))
		return STRINGS_NONE;
	if (strings->count == strings->capacity) {
		if (grow_items(strings))
			return STRINGS_NONE;
		slot = slot_of(strings, bytes, length, hash);
	}
	if (length)
		memcpy(strings->bytes + strings->used, bytes, length);
	strings->items[strings->count] = (struct string) { strings->used, length, hash };
	strings->used += length;
	strings->slots[slot] = strings->count;
	return strings->count++;
}
