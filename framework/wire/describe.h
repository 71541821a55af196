/* Headers and tables into msgpack: everything that a reader needs to know what a number is. */
#ifndef WIRE_DESCRIBE_H
#define WIRE_DESCRIBE_H

#include <sonde/row.h>

#include "wire/pack.h"

/* FORMAT_HEADER. `anchor` stands in for the header's own. */
void describe_header(struct pack *pack, const struct sonde_stream_header *header,
		     const struct sonde_anchor *anchor);

/* The objects of a table, one a call so that each fits a block: FORMAT_TABLE with the first columns, then FORMAT_COLUMNS;
 * and FORMAT_HELP. `from` is where the last call ended, 0 at first; returns where to go on, 0: done. */
uint32_t describe_table(struct pack *pack, const struct sonde_schema *schema, const char *instance,
			uint32_t number, uint32_t from);
uint32_t describe_help(struct pack *pack, const struct sonde_schema *schema, uint32_t number,
		       uint32_t from);

#endif
