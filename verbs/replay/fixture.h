/* What the files of `sonde replay` share: a fixture (docs/fixture.schema.json) as it was read, ready to be written as instants. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <jansson.h>

#include <sonde/page.h>
#include <sonde/row.h>

enum {
	BYTES_MOST = 256 << 20, /* of the document */
	INSTANTS_MOST = 1 << 20,
};
/* Bitmaps and slots of all rows at all instants, which a few bytes of JSON could ask for: as many as a day of 800 processes at
 * 1 Hz has. */
#define WORDS_MOST ((uint64_t)1 << 32)

struct moment {
	uint64_t begin, end, sequence; /* CLOCK_BOOTTIME, ns */
};

/* A slot from an instant on; of a string `value` is its place in the texts, offset << 32 | length. */
struct change {
	uint64_t value;
	uint32_t instant, slot;
	bool absent;
};

struct row {
	uint32_t from, until; /* instants */
	uint32_t nchanges, done;
	struct change *changes; /* in the order of their instants */
	uint64_t *words;        /* bitmap and slots, after `done` changes */
};

struct table {
	struct sonde_schema *schema;
	const char *instance;
	unsigned char *read;         /* of each instant: 0, READ, or READ | PARTIAL */
	struct row *rows;            /* in the order of `from` */
	uint32_t nrows, first, last; /* instants at which it was read */
};
enum { READ = 1, PARTIAL = 2 };

struct fixture {
	json_t *document; /* texts are of it */
	struct sonde_stream_header header;
	struct sonde_tag *tags;
	struct moment *instants;
	struct table *tables;
	uint32_t ninstants, ntables;
	uint64_t words;   /* so far, see WORDS_MOST */
	uint32_t columns; /* of all tables so far */
	struct page text; /* bytes of strings */
	char why[512];    /* what is wrong with it */
};

/* Reads a document of `length` bytes. 0; -EBADMSG with a sentence in fixture->why; -ENOMEM. To be freed in any case. */
int fixture_read(struct fixture *fixture, const char *json, size_t length);
void fixture_free(struct fixture *fixture);

/* As a recording into the descriptor. 0 or a negative errno. */
int fixture_write(struct fixture *fixture, int fd);

/* ---- members of JSON, each checked; what is wrong is said in fixture->why as "WHERE: SENTENCE" ---- */

/* -EBADMSG. */
__attribute__((format(printf, 3, 4))) int refuse(struct fixture *fixture, const char *where,
						 const char *format, ...);

/* An object of which no member is unknown: `members` ends with NULL. */
int check_members(struct fixture *fixture, const json_t *object, const char *where,
		  const char *const *members);

/* A member of an object; where it is absent the value stays. Texts are of `most` bytes at most, without zero bytes. */
int take_text(struct fixture *fixture, const json_t *object, const char *where, const char *key,
	      size_t most, const char **text);
int take_u32(struct fixture *fixture, const json_t *object, const char *where, const char *key,
	     uint32_t *value);
int take_u64(struct fixture *fixture, const json_t *object, const char *where, const char *key,
	     uint64_t *value);
int take_i64(struct fixture *fixture, const json_t *object, const char *where, const char *key,
	     int64_t *value);
int take_bool(struct fixture *fixture, const json_t *object, const char *where, const char *key,
	      bool *value);

/* Whether it is an integer as fixtures have it: a number, or digits in a text. */
bool is_u64(const json_t *json, uint64_t *value);
bool is_i64(const json_t *json, int64_t *value);

/* ---- rows.c ---- */

/* The rows of a table whose all else is known. */
int take_rows(struct fixture *fixture, struct table *table, const json_t *rows, const char *where);

#endif
