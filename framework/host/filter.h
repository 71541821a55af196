/* What of the stream a sink gets: the keys `tables`, `columns`, `kinds`, `every`, `values` and `privacy` of its section. */
#ifndef HOST_FILTER_H
#define HOST_FILTER_H

#include <sonde/plugin.h>

#include "core/instant.h"
#include "host/config.h"

enum filter_values { FILTER_RAW, FILTER_RATE };

/* The conf of filter_keys. An item may hold several patterns of fnmatch(3), separated by commas or blanks; one that
 * begins with `!` leaves out. */
struct filter_options {
	struct sonde_list tables; /* names of tables; the host's own tables are chosen by `kinds` */
	struct sonde_list
		columns; /* "table.column", or "column" of any table; keys are always kept */
	struct sonde_list kinds; /* data, notes, gaps, findings, metrics, marks, or a table */
	struct sonde_list
		privacy; /* "path", "argument=drop": sensitivities and what becomes of them */
	uint64_t every;  /* ns; rows no oftener than this, the newest of each; 0: all */
	uint32_t values; /* enum filter_values */
	uint32_t reserved;
};

extern const struct sonde_option filter_keys[];
extern const size_t filter_nkeys;

/* Adds to config->errors, with their lines, the words in a section's filter keys that mean nothing. */
void filter_check(struct config *config, const struct config_section *section);

struct filter;

/* The options are copied. 0, or -EINVAL and a sentence in `why`. */
int filter_new(const struct filter_options *options, struct filter **filter, char *why,
	       size_t size);

/* *out is what the sink gets of it: `in` itself, or an instant of the filter's own that is valid until the next call and
 * no longer than `in`; NULL where nothing is left. Nothing is allocated once the tables and their numbers of rows are
 * known. With `values = rate` each counter becomes a rate per second in base units (f64; of ns a ratio, of joules watts)
 * and is absent where it has none: at a row's first instant, after a reset, across a suspend. 0 or -ENOMEM. */
int filter_instant(struct filter *filter, const struct instant *in, const struct instant **out);

/* Calls `each` for each pattern in the section's `tables` and `columns` that none of these tables matches, with the name
 * nearest to it, or NULL. */
void filter_each_unmatched(const struct config_section *section,
			   const struct sonde_schema *const *schemas, size_t count,
			   void (*each)(void *context, const struct config_key *key,
					const char *pattern, const char *near),
			   void *context);

/* A pattern of `tables` or `columns` that nothing has matched so far: a mistake, once every table was seen. Or NULL. */
const char *filter_unmatched(const struct filter *filter);

void filter_free(struct filter *filter);

#endif
