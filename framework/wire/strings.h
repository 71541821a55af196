/* The strings of a segment, each once, numbered from 0: a writer's side of FORMAT_STRINGS. */
#ifndef WIRE_STRINGS_H
#define WIRE_STRINGS_H

#include <stdint.h>
#include <string.h>

#define STRINGS_NONE UINT32_MAX

struct strings {
	char *bytes;
	struct string {
		uint32_t offset, length, hash;
	} * items;
	uint32_t *slots; /* hash table of numbers */
	uint32_t count, used;
	uint32_t capacity, size, nslots;
	uint64_t seed; /* random: names that collide can't be chosen */
};

/* 0 or -ENOMEM. */
int strings_init(struct strings *strings, uint64_t seed);
void strings_free(struct strings *strings);

/* Forgets all of them; keeps its memory. */
void strings_empty(struct strings *strings);

/* The number of these bytes, or STRINGS_NONE. */
uint32_t strings_find(const struct strings *strings, const char *bytes, uint32_t length);

/* Likewise, added where they are new. STRINGS_NONE without memory, or beyond the limits of a segment. */
uint32_t strings_add(struct strings *strings, const char *bytes, uint32_t length);

static inline int strings_equal(const struct strings *strings, uint32_t number, const char *bytes,
				uint32_t length)
{
	const struct string *item = &strings->items[number];

	return item->length == length && memcmp(strings->bytes + item->offset, bytes, length) == 0;
}

#endif
