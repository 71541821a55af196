/* A declared stream made ready for one table: names of columns become slots and scales, once. */
#ifndef WINDOW_BIND_H
#define WINDOW_BIND_H

#include "window/store.h"

/* A stream as an analyzer declared it, with what it keeps. */
struct stream {
	struct sonde_stream declared;
	struct store store;
	const char *
		instance; /* the section that it listens to: of two with the same table, the first; NULL: none yet */
	uint64_t start_id;      /* of the sender that it belongs to */
	struct series *reduced; /* the one series of a reducing stream */
};

/* A column that streams read. */
struct probe {
	uint32_t slot;
	uint32_t type, wrap;
	bool counter;
	double scale;       /* to base units */
	uint64_t tolerance; /* how far it may step back */
	bool seen;          /* it had a value */
};

struct term {
	uint16_t probe;
	bool minus, optional;
};

enum bound_over { OVER_SECONDS, OVER_NS, OVER_COLUMNS };

/* A stream on one table. */
struct bound {
	struct stream *stream;
	struct term *terms; /* of the numerator, then of the denominator */
	uint32_t nnumerator, nterms;
	uint32_t above, below; /* its two sums among those of the table */
	enum bound_over over;
	bool reduces;
	bool plain; /* one counter over time */
	bool sums;  /* it adds the rows of an instant up */
	bool still; /* a row in which none of its columns moved has a value: that of a gauge, or 0 */
	bool counters; /* all of its columns are: a row that did not change adds nothing */

	bool dense;          /* nothing counted is a value: 0 */
	uint32_t where_slot; /* with where_text */
	uint32_t where_type;
	const char *where_text; /* NULL: all rows */
	uint32_t *key_columns;  /* of the series' key */
	uint32_t nkey_columns;
	/* What the rows of one instant came to, where it reduces. */
	struct {
		uint32_t rows;
		double numerator, denominator, min, max;
	} sum;
};

/* The probes of a table, shared by its streams. */
struct probes {
	struct probe *probes;
	uint32_t count;
};

/* 1 where the stream reads this table, and *bound is filled; 0 where the table lacks a column of it; -ENOMEM. */
int bind_stream(struct stream *stream, const struct sonde_schema *schema, uint32_t user_hz,
		struct probes *probes, struct bound *bound);
void bound_free(struct bound *bound);

/* Whether a column's name fits "name", "name?" or "beginning*" (length bytes). */
bool column_fits(const char *pattern, size_t length, const char *name);

#endif
