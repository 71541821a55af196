/* What a sender of datagrams has defined: headers and tables by number, put together from pieces. */
#ifndef WIRE_DEFINITIONS_H
#define WIRE_DEFINITIONS_H

#include "wire/format.h"
#include "wire/learn.h"

struct definition_header {
	struct sonde_stream_header *header;
	uint64_t last_end; /* of the last instant under it; 0: none yet */
};

struct definition_table {
	struct sonde_schema *schema;
	char *instance;
	uint8_t *types; /* slot_types() */
	bool helped;
};

struct definitions {
	struct definition_header *headers[FORMAT_DATAGRAM_HEADERS];
	struct definition_table *tables[FORMAT_TABLES];
	struct pending {
		unsigned char *bytes; /* NULL: free */
		uint32_t kind, number, total, got;
		uint64_t used; /* tick of the newest piece */
	} pending[8];
	uint64_t tick;
	size_t held; /* bytes, about */
};

/* The items of a FORMAT_PIECE behind its type. What is known already is passed over, and so is a piece of which an earlier
 * one is missing: all of them come again. False: malformed, or no memory. */
bool definitions_piece(struct definitions *definitions, struct unpack *unpack, struct items *items);

void definitions_free(struct definitions *definitions);

#endif
