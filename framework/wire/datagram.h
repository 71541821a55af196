/* Datagrams of docs/format.md: each alone decodable given its table, none larger than asked, loss counted. */
#ifndef WIRE_DATAGRAM_H
#define WIRE_DATAGRAM_H

#include "core/instant.h"

struct datagram_options {
	int (*emit)(void *context, const void *bytes, size_t length, uint32_t flags);
	void *context;
	size_t size;              /* of a datagram at most; 0: 1,400 */
	uint64_t tables_every_ns; /* tables are repeated; 0: 30 s */
};

struct datagram_writer;

struct datagram_writer *datagram_writer_new(const struct datagram_options *options);
/* Sends the instant as one or more datagrams, its tables first where they are due. 0 or negative errno. */
int datagram_instant(struct datagram_writer *writer, const struct instant *instant);
void datagram_writer_free(struct datagram_writer *writer);

/* Of one sender's start. */
struct datagram_counts {
	uint64_t received, lost, reordered, duplicates;
	uint64_t unknown_table; /* rows given up because their table never came */
	uint64_t malformed;
};

struct datagram_reader;

struct datagram_reader *datagram_reader_new(struct outlet *outlet);
/* Decodes one datagram and hands its rows on as instants (a wide row may come in several). `peer` tells senders apart that
 * claim the same start. 0; -EBADMSG and counted where it is none of ours; an error of the outlet. */
int datagram_receive(struct datagram_reader *reader, uint64_t peer, const void *bytes,
		     size_t length);
/* The sender's counts by index, or NULL past the last. */
const struct datagram_counts *datagram_counts(const struct datagram_reader *reader,
					      uint32_t sender);
void datagram_reader_free(struct datagram_reader *reader);

#endif
