/* What becomes of one table on its way to a sink: fewer columns, rates instead of counters, text redacted. */
#ifndef HOST_FILTER_TABLE_H
#define HOST_FILTER_TABLE_H

#include "host/filter_rules.h"

struct filter_table;

/* For a table of one section of one sender. NULL without memory. */
struct filter_table *filter_table_new(struct filter_rules *rules, const struct sonde_view *view);

/* Whether it was made for this view's table, section and sender. */
bool filter_table_is(const struct filter_table *table, const struct sonde_view *view);

/* The view as the sink gets it, valid until the next call. `broken`: what was counted since the last one says nothing about
 * the time since. 1; 0 where the sink gets nothing of it; -ENOMEM. */
int filter_table_view(struct filter_table *table, const struct sonde_view *in, bool broken,
		      struct sonde_view *out);

void filter_table_free(struct filter_table *table);

#endif
