/* Texts that many processes have in common (control groups, command lines, lists of CPUs), each kept once. */
#ifndef TEXTS_H
#define TEXTS_H

#include "process.h"

enum { TEXT_MOST = 512, TEXT_BUCKETS = 1024 };

struct text {
	uint32_t hash, next; /* in its bucket, or of those unused */
	uint32_t users;
	uint16_t length;
	char bytes[TEXT_MOST];
};

/* A text is known by its number; 0 is none. */
struct texts {
	struct text *text;
	uint32_t *bucket;      /* TEXT_BUCKETS of them */
	uint32_t unused, used; /* the first of those dropped; how many were ever in use */
	uint32_t capacity, asked;
};

/* Only in start(). 0 or -ENOMEM. */
int texts_start(struct sonde_instance *self, struct texts *texts);

/* At the start of a sample: what was asked for in the one before is there now. */
void texts_grown(struct texts *texts);

/* Puts this text in the place of number *id. False, *id 0, where there is no room before the next sample, or never since
 * it has more than TEXT_MOST bytes. */
bool texts_set(struct sonde_instance *self, struct texts *texts, uint32_t *id, const char *bytes,
	       size_t length);

void texts_drop(struct texts *texts, uint32_t *id);

/* Into a row; nothing where there is none. */
void texts_put(const struct texts *texts, uint32_t id, struct sonde_row *row, uint32_t slot);

#endif
