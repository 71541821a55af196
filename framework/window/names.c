/* Names of series: each text once, however many streams and slices speak of it. */
#include <stdlib.h>
#include <string.h>

#include "window/store.h"

enum { BUCKETS_FIRST = 256 };

/* FNV-1a, 64 bits (RFC 9923). */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3u;
	return hash;
}

/* Keeps the chains short; without memory they stay as long as they are. */
static void grow(struct names *names)
{
	uint32_t n = names->nbuckets ? names->nbuckets * 2 : BUCKETS_FIRST;
	struct name **buckets = calloc(n, sizeof *buckets);

	if (!buckets)
		return;
	for (uint32_t i = 0; i < names->nbuckets; i++) {
		for (struct name *name = names->buckets[i], *next; name; name = next) {
			struct name **bucket = &buckets[name->hash & (n - 1)];

			next = name->next;
			name->next = *bucket;
			*bucket = name;
		}
	}
	free(names->buckets);
	names->buckets = buckets;
	names->nbuckets = n;
}

struct name *name_get(struct names *names, const char *key)
{
	uint64_t hash = hash_text(key);
	size_t size = strlen(key) + 1;
	struct name **bucket;
	struct name *name;

	if (names->count >= names->nbuckets)
		grow(names);
	if (!names->nbuckets)
		return NULL;
	bucket = &names->buckets[hash & (names->nbuckets - 1)];
	for (name = *bucket; name; name = name->next) {
		if (name->hash == hash && strcmp(name->key, key) == 0) {
			name->refs++;
			return name;
		}
	}
	name = malloc(sizeof *name + size);
	if (!name)
		return NULL;
	*name = (struct name) { .next = *bucket, .hash = hash, .refs = 1, .id = names->next_id++ };
	memcpy(name->key, key, size);
	*bucket = name;
	names->count++;
	return name;
}

void name_label(struct name *name, const char *label)
{
	char *copy;

	if (name->label && strcmp(name->label, label) == 0)
		return;
	copy = strdup(label);
	if (!copy)
		return; /* the older one is still a name of it */
	free(name->label);
	name->label = copy;
}

void name_put(struct names *names, struct name *name)
{
	struct name **at;

	if (--name->refs)
		return;
	at = &names->buckets[name->hash & (names->nbuckets - 1)];
	while (*at != name)
		at = &(*at)->next;
	*at = name->next;
	names->count--;
	free(name->label);
	free(name);
}

void names_free(struct names *names)
{
	for (uint32_t i = 0; i < names->nbuckets; i++) {
		for (struct name *name = names->buckets[i], *next; name; name = next) {
			next = name->next;
			free(name->label);
			free(name);
		}
	}
	free(names->buckets);
	*names = (struct names) { 0 };
}
