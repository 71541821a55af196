/* The strings of a segment, each once, numbered from 0: a writer's side of FORMAT_STRINGS. */
#ifndef WIRE_STRINGS_H
#define WIRE_STRINGS_H

#include <stdint.h>
#include <string.h>

#include "wire/index.h"

#define STRINGS_NONE UINT32_MAX

struct strings {
	char *bytes;
	struct string {
		uint32_t offset, length, hash;
	} * items;
	uint32_t *slots; /* hash table of numbers */
	uint32_t count, used;
	uint32_t capacity, size, nslots;
	uint64_t seed;                  /* random: names that collide can't be chosen */
	unsigned char mark[MARK_BEGIN]; /* of the stream: no string of it holds that */
};

/* 0 or -ENOMEM. `id`: of the stream. */
int strings_init(struct strings *strings, const uint8_t id[16]);

/* The id of the stream from now on. */
void strings_guard(struct strings *strings, const uint8_t id[16]);
void strings_free(struct strings *strings);

/* Forgets all of them; keeps its memory. */
void strings_empty(struct strings *strings);

/* The number of these bytes, or STRINGS_NONE. */
uint32_t strings_find(const struct strings *strings, const char *bytes, uint32_t length);

/* Likewise, added where they are new, and cut where they hold a mark of the stream: behind damage, what follows it could pose
 * as a segment. STRINGS_NONE without memory, or beyond the limits of a segment. */
uint32_t strings_add(struct strings *strings, const char *bytes, uint32_t length);

/* The first of `length` bytes, then an ellipsis and a checksum of the whole, so that names that differ stay different; `most`
 * bytes of both, at least STRINGS_CUT. Returns how many. */
enum { STRINGS_CUT = 12 };
uint32_t strings_cut(char *to, const char *bytes, uint32_t length, uint32_t most);

static inline int strings_equal(const struct strings *strings, uint32_t number, const char *bytes,
				uint32_t length)
{
	const struct string *item = &strings->items[number];

	return item->length == length && memcmp(strings->bytes + item->offset, bytes, length) == 0;
}

#endif
