/* What a sender of datagrams has defined: headers and tables by number, put together from pieces. */
#include <stdlib.h>

#include "core/instant.h"
#include "core/schema.h"
#include "wire/definitions.h"
#include "wire/slots.h"

enum {
	PENDING = 8,
	COLUMN_BYTES = 400, /* of memory, about */
	HEADER_BYTES = 2048,
	HELD_MOST = 32 << 20, /* bytes of a sender's definitions */
};

static void table_free(struct definition_table *table)
{
	if (!table)
		return;
	schema_free(table->schema);
	free(table->instance);
	free(table->types);
	free(table);
}

void definitions_free(struct definitions *definitions)
{
	for (int i = 0; i < PENDING; i++)
		free(definitions->pending[i].bytes);
	for (int i = 0; i < FORMAT_DATAGRAM_HEADERS; i++) {
		if (definitions->headers[i])
			free(definitions->headers[i]->header);
		free(definitions->headers[i]);
	}
	for (int i = 0; i < FORMAT_TABLES; i++)
		table_free(definitions->tables[i]);
}

/* ---- Whole definitions */

/* The next object of the bytes, as items behind its type; its type, or UINT64_MAX: there is none. */
static uint64_t next_object(struct unpack *unpack, const unsigned char **at,
			    const unsigned char *end, struct items *items)
{
	int64_t n = *at < end ? unpack_object(unpack, *at, (size_t)(end - *at)) : -1;
	uint64_t type;

	if (n < 0)
		return UINT64_MAX;
	*at += n;
	*items = unpack_items(unpack);
	items_array(items);
	type = items_u64(items, UINT32_MAX);
	return items->bad ? UINT64_MAX : type;
}

static bool define_header(struct definitions *definitions, const struct pending *whole,
			  struct unpack *unpack)
{
	const unsigned char *at = whole->bytes, *end = at + whole->total;
	struct definition_header *header;
	struct sonde_stream_header *roomy;
	struct items items;
	const char *why;

	if (next_object(unpack, &at, end, &items) != FORMAT_HEADER)
		return false;
	roomy = learn_header(&items, &why);
	if (!roomy)
		return false;
	header = calloc(1, sizeof *header);
	if (header)
		header->header = header_copy(roomy);
	free(roomy);
	if (!header || !header->header) {
		free(header);
		return false;
	}
	definitions->headers[whole->number] = header;
	definitions->held += HEADER_BYTES;
	return true;
}

static bool make_table(struct definitions *definitions, uint32_t number,
		       const struct learning *learning)
{
	struct definition_table *table = calloc(1, sizeof *table);
	char why[200];

	if (!table)
		return false;
	table->schema = learn_schema(learning, why, sizeof why);
	if (table->schema) {
		table->instance = strdup(learning_instance(learning));
		table->types = slot_types(table->schema);
	}
	if (!table->instance || !table->types) {
		table_free(table);
		return false;
	}
	definitions->tables[number] = table;
	definitions->held += sizeof *table + table->schema->nslots +
			     (size_t)table->schema->ncolumns * COLUMN_BYTES;
	return true;
}

static bool define_table(struct definitions *definitions, const struct pending *whole,
			 struct unpack *unpack)
{
	const unsigned char *at = whole->bytes, *end = at + whole->total;
	struct learning *learning = NULL;
	struct items items;
	bool good = next_object(unpack, &at, end, &items) == FORMAT_TABLE &&
		    items_u64(&items, FORMAT_TABLES - 1) == whole->number && !items.bad;

	if (good)
		learning = learn_table(&items);
	while (good && learning && learning_left(learning))
		good = next_object(unpack, &at, end, &items) == FORMAT_COLUMNS &&
		       items_u64(&items, FORMAT_TABLES - 1) == whole->number && !items.bad &&
		       learn_columns(learning, &items);
	good = good && learning && make_table(definitions, whole->number, learning);
	learning_free(learning);
	return good;
}

static bool define_help(struct definitions *definitions, const struct pending *whole,
			struct unpack *unpack)
{
	const unsigned char *at = whole->bytes, *end = at + whole->total;
	struct definition_table *table = definitions->tables[whole->number];
	struct items items;

	if (!table)
		return true;
	table->helped = true;
	while (at < end)
		if (next_object(unpack, &at, end, &items) != FORMAT_HELP ||
		    items_u64(&items, FORMAT_TABLES - 1) != whole->number || items.bad ||
		    !learn_help(table->schema, &items))
			return false;
	definitions->held += whole->total;
	return true;
}

/* ---- Pieces */

static bool is_known(const struct definitions *definitions, uint32_t kind, uint32_t number)
{
	switch (kind) {
	case FORMAT_PIECE_HEADER:
		return definitions->headers[number];
	case FORMAT_PIECE_TABLE:
		return definitions->tables[number];
	default: /* help of a table that is not known yet comes again */
		return !definitions->tables[number] || definitions->tables[number]->helped;
	}
}

static void drop(struct definitions *definitions, struct pending *pending)
{
	definitions->held -= pending->bytes ? pending->got : 0;
	free(pending->bytes);
	*pending = (struct pending) { 0 };
}

/* What there is of this definition, else the place of the one that was added to the longest ago. */
static struct pending *find_pending(struct definitions *definitions, uint32_t kind, uint32_t number,
				    uint32_t total)
{
	struct pending *oldest = definitions->pending;

	for (int i = 0; i < PENDING; i++) {
		struct pending *pending = &definitions->pending[i];

		if (pending->bytes && pending->kind == kind && pending->number == number &&
		    pending->total == total)
			return pending;
		if (pending->used < oldest->used)
			oldest = pending;
	}
	return oldest;
}

static bool take_bytes(struct definitions *definitions, struct pending *pending,
		       const struct item *bytes, uint32_t at)
{
	uint32_t end = at + bytes->length;
	unsigned char *more;

	more = realloc(pending->bytes, end);
	if (!more)
		return false;
	pending->bytes = more;
	memcpy(more + at, bytes->bytes, bytes->length);
	definitions->held += end - pending->got;
	pending->got = end;
	return true;
}

bool definitions_piece(struct definitions *definitions, struct unpack *unpack, struct items *items)
{
	static bool (*const define[])(struct definitions *, const struct pending *,
				      struct unpack *) = {
		[FORMAT_PIECE_HEADER] = define_header,
		[FORMAT_PIECE_TABLE] = define_table,
		[FORMAT_PIECE_HELP] = define_help,
	};
	uint32_t kind = (uint32_t)items_u64(items, FORMAT_PIECE_HELP);
	uint32_t number =
		(uint32_t)items_u64(items, kind == FORMAT_PIECE_HEADER ? FORMAT_DATAGRAM_HEADERS - 1
								       : FORMAT_TABLES - 1);
	uint32_t at = (uint32_t)items_u64(items, FORMAT_DEFINITION_BYTES);
	uint32_t total = (uint32_t)items_u64(items, FORMAT_DEFINITION_BYTES);
	const struct item *bytes = items_next(items);
	struct pending *pending;
	bool good = true;

	if (items->bad || bytes->kind != ITEM_BYTES || !bytes->length || at > total ||
	    bytes->length > total - at)
		return false;
	if (is_known(definitions, kind, number))
		return true;
	if (definitions->held > HELD_MOST)
		return false;
	pending = find_pending(definitions, kind, number, total);
	if (!pending->bytes || pending->kind != kind || pending->number != number ||
	    pending->total != total) {
		if (at)
			return true;
		drop(definitions, pending);
		*pending = (struct pending) { .kind = kind, .number = number, .total = total };
	}
	pending->used = ++definitions->tick;
	if (at > pending->got || at + bytes->length <= pending->got)
		return true;
	if (!take_bytes(definitions, pending, bytes, at))
		return false;
	if (pending->got == total) {
		good = define[kind](definitions, pending, unpack);
		drop(definitions, pending);
	}
	return good;
}
