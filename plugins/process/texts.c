/* Texts that many processes have in common, each kept once and counted by its users. */
#include "texts.h"

enum { FIRST = 4096 }; /* address space: a cell is memory when it is first used */

static int reserve(struct sonde_instance *self, struct texts *texts, uint32_t count)
{
	if (count <= texts->asked)
		return 0;
	if (sonde_grow(self, &texts->text, (uint64_t)count * sizeof *texts->text))
		return -ENOMEM;
	texts->asked = count;
	return 0;
}

void texts_grown(struct texts *texts)
{
	texts->capacity = texts->asked;
}

int texts_start(struct sonde_instance *self, struct texts *texts)
{
	if (sonde_grow(self, &texts->bucket, TEXT_BUCKETS * sizeof *texts->bucket) ||
	    reserve(self, texts, FIRST))
		return -ENOMEM;
	texts_grown(texts);
	return 0;
}

/* FNV-1a. */
static uint32_t hash_of(const char *bytes, size_t length)
{
	uint32_t hash = 0x811c9dc5;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x01000193;
	return hash;
}

static bool is(const struct text *text, uint32_t hash, const char *bytes, size_t length)
{
	return text->hash == hash && text->length == length &&
	       memcmp(text->bytes, bytes, length) == 0;
}

void texts_drop(struct texts *texts, uint32_t *id)
{
	struct text *text = &texts->text[*id];
	uint32_t *link;

	if (*id && !--text->users) {
		link = &texts->bucket[text->hash % TEXT_BUCKETS];
		while (*link != *id)
			link = &texts->text[*link].next;
		*link = text->next;
		text->next = texts->unused;
		texts->unused = *id;
	}
	*id = 0;
}

/* A number that is free; 0: there is none before the next sample. */
static uint32_t unused(struct sonde_instance *self, struct texts *texts)
{
	uint32_t id = texts->unused;

	if (id) {
		texts->unused = texts->text[id].next;
		return id;
	}
	if (texts->used + 1 < texts->capacity)
		return ++texts->used; /* number 0 is none */
	reserve(self, texts, texts->capacity * 2);
	return 0;
}

bool texts_set(struct sonde_instance *self, struct texts *texts, uint32_t *id, const char *bytes,
	       size_t length)
{
	uint32_t hash, at;

	if (length > TEXT_MOST) {
		texts_drop(texts, id);
		return false;
	}
	hash = hash_of(bytes, length);
	if (*id && is(&texts->text[*id], hash, bytes, length))
		return true;
	texts_drop(texts, id);
	at = texts->bucket[hash % TEXT_BUCKETS];
	while (at && !is(&texts->text[at], hash, bytes, length))
		at = texts->text[at].next;
	if (!at) {
		struct text *text;
		uint32_t *bucket = &texts->bucket[hash % TEXT_BUCKETS];

		at = unused(self, texts);
		if (!at)
			return false;
		text = &texts->text[at];
		text->hash = hash;
		text->next = *bucket;
		text->users = 0;
		text->length = (uint16_t)length;
		memcpy(text->bytes, bytes, length);
		*bucket = at;
	}
	texts->text[at].users++;
	*id = at;
	return true;
}

void texts_put(const struct texts *texts, uint32_t id, struct sonde_row *row, uint32_t slot)
{
	if (id)
		sonde_set_bytes(row, slot, texts->text[id].bytes, texts->text[id].length);
}
