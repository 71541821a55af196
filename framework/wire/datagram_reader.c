/* Datagrams of docs/format.md into instants: senders told apart, numbers counted, parts held until an instant is whole. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/datagram.h"
#include "wire/gap.h"
#include "wire/gather.h"
#include "wire/lz4.h"
#include "wire/sender.h"

enum {
	SENDERS = 256,
	HELD_MOST = 64 << 20, /* bytes of all senders, definitions too */
};

struct datagram_reader {
	struct outlet *outlet;
	struct lz4_decoder *decoder;
	struct unpack *unpack;
	unsigned char *content;
	struct sender *senders[SENDERS];
	struct datagram_counts forgotten; /* of senders that are not among them */
	uint32_t nsenders;
	uint64_t tick;
	struct gather gather;
	struct sonde_frame records; /* a gap */
};

struct datagram_reader *datagram_reader_new(struct outlet *outlet)
{
	struct datagram_reader *reader = calloc(1, sizeof *reader);

	if (!reader)
		return NULL;
	reader->outlet = outlet;
	reader->decoder = lz4_decoder_new();
	reader->unpack = unpack_new();
	reader->content = malloc(FORMAT_BLOCK_BYTES);
	if (!reader->decoder || !reader->unpack || !reader->content ||
	    records_make(&reader->records)) {
		datagram_reader_free(reader);
		return NULL;
	}
	return reader;
}

void datagram_reader_free(struct datagram_reader *reader)
{
	if (!reader)
		return;
	for (uint32_t i = 0; i < reader->nsenders; i++)
		sender_free(reader->senders[i]);
	lz4_decoder_free(reader->decoder);
	unpack_free(reader->unpack);
	free(reader->content);
	gather_free(&reader->gather);
	frame_free(&reader->records);
	free(reader);
}

const struct datagram_counts *datagram_counts(const struct datagram_reader *reader, uint32_t sender)
{
	return sender < reader->nsenders ? &reader->senders[sender]->counts : NULL;
}

/* ---- Whole instants */

/* What was lost since it was said last, as a row of the table `gap` into `view`. False: nothing. */
static bool add_gap(struct datagram_reader *reader, struct sender *sender, uint64_t since,
		    uint64_t until, struct sonde_view *view)
{
	const struct datagram_counts *counts = &sender->counts;
	uint64_t lost = counts->lost > sender->told_lost ? counts->lost - sender->told_lost : 0;
	uint64_t late = counts->late - sender->told_late;
	uint64_t unknown = counts->unknown_table - sender->told_unknown;
	char text[160];
	const struct gap gap = { .reason = "lost", .text = text, .begin = since, .end = until };

	sender->told_lost = counts->lost;
	sender->told_late = counts->late;
	sender->told_unknown = counts->unknown_table;
	if (!lost && !late && !unknown)
		return false;
	snprintf(text, sizeof text,
		 "of its datagrams %llu did not come, %llu came too late; %llu rows were of tables "
		 "that did not come",
		 (unsigned long long)lost, (unsigned long long)late, (unsigned long long)unknown);
	return gap_view(&reader->records, &gap, view);
}

enum gathering { GATHERED, WAITS }; /* WAITS: for a definition */

/* The rows of one part. */
static enum gathering gather_part(struct datagram_reader *reader, struct sender *sender,
				  const struct part *part, bool force)
{
	size_t at = 0;

	while (at < part->length) {
		int64_t n = unpack_object(reader->unpack, part->bytes + at, part->length - at);
		const struct definition_table *table;
		struct items items;
		int64_t number;
		uint64_t type;

		if (n < 0)
			break; /* can't be: it was read when it came */
		at += (size_t)n;
		items = unpack_items(reader->unpack);
		items_array(&items);
		type = items_u64(&items, UINT32_MAX);
		if (type != FORMAT_ROW)
			continue;
		number = (int64_t)items_int(&items);
		table = sender->definitions.tables[number < 0 ? -1 - number : number];
		if (!table && !force)
			return WAITS;
		if (!table)
			sender->counts.unknown_table++;
		else if (!gather_row(&reader->gather, table, number < 0, &items))
			sender->counts.malformed++;
	}
	return GATHERED;
}

static enum gathering gather_parts(struct datagram_reader *reader, struct sender *sender,
				   const struct held *held, bool force)
{
	uint64_t unknown = sender->counts.unknown_table, malformed = sender->counts.malformed;
	uint32_t next = 0;

	gather_empty(&reader->gather);
	for (uint32_t i = 0; i < held->nparts; i++) {
		if (held->parts[i]->index != next)
			gather_break(&reader->gather);
		next = held->parts[i]->index + 1;
		if (gather_part(reader, sender, held->parts[i], force) == GATHERED)
			continue;
		sender->counts.unknown_table = unknown;
		sender->counts.malformed = malformed;
		return WAITS;
	}
	return GATHERED;
}

static int hand_on(struct datagram_reader *reader, struct sender *sender, const struct held *held,
		   bool whole)
{
	struct definition_header *header = sender->definitions.headers[held->header];
	struct gather *gather = &reader->gather;
	struct instant instant = { .header = header->header,
				   .nviews = gather->nviews,
				   .sequence = held->sequence,
				   .begin = held->begin,
				   .end = held->begin + held->length,
				   .realtime = held->realtime };
	struct sonde_view *views = gather_views(gather, !whole || gather->broken);

	if (!views)
		return -ENOMEM;
	if (add_gap(reader, sender, header->last_end, instant.begin, &views[instant.nviews]))
		instant.nviews++;
	instant.views = views;
	instant_stamp(&instant, views);
	header->last_end = instant.end;
	sender->counts.cut += gather->cut;
	return reader->outlet->instant(reader->outlet, &instant);
}

/* Rows under a header that never came. */
static void count_rows(struct datagram_reader *reader, struct sender *sender,
		       const struct held *held)
{
	for (uint32_t i = 0; i < held->nparts; i++)
		for (size_t at = 0; at < held->parts[i]->length;) {
			int64_t n = unpack_object(reader->unpack, held->parts[i]->bytes + at,
						  held->parts[i]->length - at);

			if (n < 0)
				return;
			at += (size_t)n;
			sender->counts.unknown_table++;
		}
}

/* The first of the instants, which is as whole as it will be. 0 or the outlet's error; 1: it waits. */
static int deliver_first(struct datagram_reader *reader, struct sender *sender)
{
	struct held *held = sender->held[0];
	bool force = sender_is_full(sender);
	int err = 0;

	if (sender->definitions.headers[held->header]) {
		if (gather_parts(reader, sender, held, force) == WAITS)
			return 1;
		err = hand_on(reader, sender, held, sender_is_whole(held));
	} else if (!force) {
		return 1;
	} else {
		count_rows(reader, sender, held);
	}
	sender->delivered = held->first;
	sender->any = true;
	sender_drop_first(sender);
	return err;
}

/* All instants that can be: those that are whole, and those before one that is. */
static int deliver(struct datagram_reader *reader, struct sender *sender)
{
	int err = 0, got;

	while (sender->nheld) {
		uint32_t whole = 0;

		while (whole < sender->nheld && !sender_is_whole(sender->held[whole]))
			whole++;
		if (whole == sender->nheld && !sender_is_full(sender))
			break;
		got = deliver_first(reader, sender);
		if (got > 0)
			break;
		err = err ? err : got;
	}
	return err;
}

/* ---- Senders */

static size_t sender_bytes(const struct sender *sender)
{
	return sizeof *sender + sender->bytes + sender->definitions.held;
}

static struct sender *oldest(const struct datagram_reader *reader)
{
	struct sender *oldest = reader->senders[0];

	for (uint32_t i = 1; i < reader->nsenders; i++)
		if (reader->senders[i]->tick < oldest->tick)
			oldest = reader->senders[i];
	return oldest;
}

static void counts_add(struct datagram_counts *sum, const struct datagram_counts *more)
{
	sum->received += more->received;
	sum->lost += more->lost;
	sum->reordered += more->reordered;
	sum->late += more->late;
	sum->duplicates += more->duplicates;
	sum->unknown_table += more->unknown_table;
	sum->malformed += more->malformed;
	sum->cut += more->cut;
}

uint32_t datagram_total(const struct datagram_reader *reader, struct datagram_counts *total)
{
	*total = reader->forgotten;
	for (uint32_t i = 0; i < reader->nsenders; i++)
		counts_add(total, &reader->senders[i]->counts);
	return reader->nsenders;
}

static void forget(struct datagram_reader *reader, struct sender *sender)
{
	uint32_t i = 0;

	while (reader->senders[i] != sender)
		i++;
	reader->nsenders--;
	counts_add(&reader->forgotten, &sender->counts);
	memmove(reader->senders + i, reader->senders + i + 1,
		(reader->nsenders - i) * sizeof(struct sender *));
	sender_free(sender);
}

/* Whoever was silent for the longest makes room, for `more` senders and for what `keep` holds. */
static void make_room(struct datagram_reader *reader, uint32_t more, const struct sender *keep)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < reader->nsenders; i++)
		bytes += sender_bytes(reader->senders[i]);
	while (reader->nsenders && (bytes > HELD_MOST || reader->nsenders + more > SENDERS)) {
		struct sender *sender = oldest(reader);

		if (sender == keep)
			return; /* alone: its own limits hold */
		bytes -= sender_bytes(sender);
		forget(reader, sender);
	}
}

static struct sender *find_sender(struct datagram_reader *reader, uint64_t peer, uint64_t stream)
{
	struct sender *sender = NULL;

	for (uint32_t i = 0; i < reader->nsenders; i++)
		if (reader->senders[i]->stream == stream && reader->senders[i]->peer == peer)
			sender = reader->senders[i];
	if (!sender) {
		make_room(reader, 1, NULL);
		sender = calloc(1, sizeof *sender);
		if (!sender)
			return NULL;
		sender->peer = peer;
		sender->stream = stream;
		reader->senders[reader->nsenders++] = sender;
	}
	sender->tick = ++reader->tick;
	return sender;
}

/* ---- Datagrams */

/* The content of a datagram while it is read. */
struct content {
	const unsigned char *at, *end;
};

/* The next object as items behind its type; its type, or UINT64_MAX: there is none. */
static uint64_t next_object(struct datagram_reader *reader, struct content *content,
			    struct items *items)
{
	int64_t n = -1;
	uint64_t type;

	if (content->at < content->end)
		n = unpack_object(reader->unpack, content->at,
				  (size_t)(content->end - content->at));
	if (n < 0)
		return UINT64_MAX;
	content->at += n;
	*items = unpack_items(reader->unpack);
	items_array(items);
	type = items_u64(items, UINT32_MAX);
	return items->bad ? UINT64_MAX : type;
}

/* One LZ4 frame of one block, and nothing behind it. */
static bool decompress(struct datagram_reader *reader, const unsigned char *bytes, size_t length,
		       struct content *content)
{
	const unsigned char *block = bytes + LZ4_HEADER_BYTES;
	int64_t n;

	if (length < LZ4_HEADER_BYTES + LZ4_BLOCK_EXTRA + LZ4_END_BYTES || length > UINT16_MAX ||
	    lz4_decode_begin(reader->decoder, bytes))
		return false;
	length -= LZ4_HEADER_BYTES + LZ4_END_BYTES;
	if ((get_le32(block) & 0x7fffffff) != length - LZ4_BLOCK_EXTRA)
		return false;
	n = lz4_decode_block(reader->decoder, block, length, reader->content);
	if (n < 2 || memcmp(reader->content, FORMAT_BLOCK_BEGIN, 2) != 0 ||
	    get_le32(block + length) || lz4_decode_end(reader->decoder, block + length))
		return false;
	*content = (struct content) { reader->content + 2, reader->content + n };
	return true;
}

/* Whether all objects that follow are rows, or of a newer format, and their tables have numbers. */
static bool are_rows(struct datagram_reader *reader, struct content content)
{
	struct items items;

	while (content.at < content.end) {
		uint64_t type = next_object(reader, &content, &items);
		int64_t number = type == FORMAT_ROW ? (int64_t)items_int(&items) : 0;

		if (type == UINT64_MAX || items.bad || number >= FORMAT_TABLES ||
		    number < -FORMAT_TABLES)
			return false;
	}
	return true;
}

static int take_part(struct datagram_reader *reader, struct sender *sender, uint64_t number,
		     struct items *items, struct content content)
{
	struct held like = { .header = (uint32_t)items_u64(items, FORMAT_DATAGRAM_HEADERS - 1) };
	uint32_t index = (uint32_t)items_u64(items, FORMAT_PARTS - 1);
	const struct item *last = items_next(items);
	bool is_last = last && last->kind == ITEM_BOOL && last->number;
	struct held *held;
	struct part *part;
	size_t length = (size_t)(content.end - content.at);
	int err;

	like.sequence = items_u64(items, UINT64_MAX);
	like.begin = items_u64(items, UINT64_MAX);
	like.length = items_int(items);
	like.realtime = (int64_t)items_int(items);
	if (items->bad || last->kind != ITEM_BOOL || index > number || !are_rows(reader, content))
		return -EBADMSG;
	like.first = number - index;
	if (sender->any && like.first <= sender->delivered) {
		sender->counts.late++;
		return 0;
	}
	held = sender_hold(sender, &like);
	part = held ? malloc(sizeof *part + length) : NULL;
	if (!part)
		return -EBADMSG;
	part->index = index;
	part->length = (uint32_t)length;
	memcpy(part->bytes, content.at, length);
	err = sender_add_part(sender, held, part, is_last);
	if (err)
		free(part);
	return err;
}

static int take_content(struct datagram_reader *reader, struct sender *sender, uint64_t number,
			struct content content)
{
	struct items items;
	int err = 0;

	while (content.at < content.end && !err) {
		switch (next_object(reader, &content, &items)) {
		case UINT64_MAX:
			return -EBADMSG;
		case FORMAT_PIECE:
			if (!definitions_piece(&sender->definitions, reader->unpack, &items))
				err = -EBADMSG;
			break;
		case FORMAT_PART:
			return take_part(reader, sender, number, &items, content);
		default: /* a newer format's */
			break;
		}
	}
	return err;
}

int datagram_receive(struct datagram_reader *reader, uint64_t peer, const void *bytes,
		     size_t length)
{
	struct sender *sender;
	struct content content;
	struct items items;
	uint64_t stream, number;
	int err, delivered;

	if (!decompress(reader, bytes, length, &content) ||
	    next_object(reader, &content, &items) != FORMAT_DATAGRAM ||
	    items_u64(&items, UINT64_MAX) != FORMAT_VERSION)
		return -EBADMSG;
	stream = items_u64(&items, UINT64_MAX);
	number = items_u64(&items, UINT64_MAX - 1);
	if (items.bad)
		return -EBADMSG;
	sender = find_sender(reader, peer, stream);
	if (!sender)
		return -ENOMEM;
	if (!sender_count(sender, number))
		return 0;
	err = take_content(reader, sender, number, content);
	sender->counts.malformed += err == -EBADMSG;
	delivered = deliver(reader, sender);
	make_room(reader, 0, sender);
	return err ? err : delivered;
}
