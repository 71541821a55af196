/* Datagrams of docs/format.md: each decodable alone given its table, none larger than asked, loss counted. */
#ifndef WIRE_DATAGRAM_H
#define WIRE_DATAGRAM_H

#include "core/instant.h"

struct datagram_options {
	int (*emit)(void *context, const void *bytes, size_t length, uint32_t flags);
	void *context;
	size_t size; /* of a datagram at most, from FORMAT_DATAGRAM_LEAST on; 0: 1,400 */
	uint64_t
		tables_every_ns; /* tables are repeated; 0: 30 s. At the start they are sooner: 1 s, 2 s, 4 s... */
};

struct datagram_writer;

/* NULL without memory. */
struct datagram_writer *datagram_writer_new(const struct datagram_options *options);

/* Sends the instant as one or more datagrams, its tables first where they are due. 0 or negative errno: that of emit;
 * -EMSGSIZE where the size is less than the least, or a row's keys alone are larger than a datagram, and then everything
 * else of the instant was sent. */
int datagram_instant(struct datagram_writer *writer, const struct instant *instant);
void datagram_writer_free(struct datagram_writer *writer);

/* Of one sender: one start of one writer. */
struct datagram_counts {
	uint64_t received;  /* datagrams that were its own, duplicates too */
	uint64_t lost;      /* numbers that never came, by now */
	uint64_t reordered; /* that came after a higher number, */
	uint64_t late; /* of these, after their instant had been handed on: their rows are lost */
	uint64_t duplicates; /* that came again, or more than 4,096 numbers late */
	uint64_t
		unknown_table; /* rows given up because their table, or their host's header, never came */
	uint64_t malformed; /* datagrams whose content is not what docs/format.md says */
	uint64_t cut;       /* strings that the sender cut because they did not fit */
};

struct datagram_reader;

/* NULL without memory. */
struct datagram_reader *datagram_reader_new(struct outlet *outlet);

/* Decodes one datagram. An instant is handed on, whole, when the last datagram of it is there; one of which some did not
 * come is when a later one is whole, its tables flagged SONDE_PARTIAL; late ones never go back in time. What was lost is a
 * row of the table `gap` in the next instant of that sender. `peer` tells senders apart that claim the same start. 0;
 * -EBADMSG where it is none of ours or malformed; an error of the outlet. */
int datagram_receive(struct datagram_reader *reader, uint64_t peer, const void *bytes,
		     size_t length);

/* The sender's counts by index, or NULL past the last. */
const struct datagram_counts *datagram_counts(const struct datagram_reader *reader,
					      uint32_t sender);

/* Those of all senders, forgotten ones too, into *total. How many are remembered. */
uint32_t datagram_total(const struct datagram_reader *reader, struct datagram_counts *total);
void datagram_reader_free(struct datagram_reader *reader);

#endif
