/* A declared stream made ready for one table: names of columns become slots and scales, once. */
#ifndef WINDOW_BIND_H
#define WINDOW_BIND_H

#include "window/store.h"

/* A stream as an analyzer declared it, with what it keeps. */
struct stream {
	struct sonde_stream declared;
	struct store store;
	bool tied; /* its seconds are compared with those of another: by `also`, or by another's */
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
	bool counter; /* as its probe */
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
	bool lone;   /* has a value in an instant that stands alone */
	bool loose;  /* what its series are named after may change while a row lives */
	bool growth; /* sums of what counters grew by in all rows: made of the probes' own sums */
	bool still; /* a row in which none of its columns moved has a value: that of a gauge, or 0 */
	bool lags; /* it may be told later of rows in which none of its columns moved, of an instant without any where it reduces: no
		    * other row is of its series, no other stream is compared with it */
	bool counters;   /* all of its columns are: a row that did not change adds nothing */
	bool takes_zero; /* a numerator of 0 is a value that is told by key */
	bool natural;    /* what is left of an amount, or a part of a whole: never below 0 */
	bool gave;       /* it had a value */
	bool refused; /* a value of it was none: a counter went back, or there is less than nothing */

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
	uint32_t
		given; /* where it reduces and lags: how many of the intervals that are past it was told of */
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

/* Whether this host knows what a stream, number i of its analyzer, asks for. 0, or -EINVAL and a sentence in `why`. */
int bind_check(const struct sonde_stream *stream, uint32_t i, char *why, size_t size);

#endif
