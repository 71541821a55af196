/* Instants into datagrams of docs/format.md: definitions first where they are due, then rows, whole where they fit. */
#include <errno.h>
#include <unistd.h>

#include <sonde/plugin.h>

#include "core/clock.h"
#include "wire/batch.h"
#include "wire/datagram.h"
#include "wire/describe.h"
#include "wire/rows.h"
#include "wire/slots.h"

enum {
	SIZE = 1400,
	EVERY_S = 30,
	HELP_EVERY = 16,  /* repetitions */
	PIECE_BYTES = 32, /* of a FORMAT_PIECE around its bytes, at most */
	/* Of a FORMAT_ROW: array 3, type 1, table 3, array 1, slot 3, bitmap 2 + SPLIT_SLOTS / 8. */
	SPLIT_SLOTS = 256,
	SPLIT_BYTES = 16 + SPLIT_SLOTS / 8,
	NUMBER_BYTES = 9, /* of a number, at most */
	STRING_BYTES = 9, /* around a string that is cut, at most */
	CUT_LEAST = 16,   /* of a string that is cut */
};

/* A header or table that has a number in this stream. */
struct defined {
	uint64_t identity;
	char *instance; /* of a table */
	uint8_t *types;
	uint64_t sent_at, pause; /* begin of the instant, ns until the next repetition */
	uint32_t times;
};

struct defined_list {
	struct defined *items;
	uint32_t count, capacity, most;
};

struct datagram_writer {
	struct batch batch;
	uint64_t every;
	struct defined_list headers, tables;
	struct pack object, blob;
};

struct datagram_writer *datagram_writer_new(const struct datagram_options *options)
{
	struct datagram_writer *writer = calloc(1, sizeof *writer);
	size_t size = options->size ? options->size : SIZE;

	if (!writer)
		return NULL;
	writer->batch.emit = options->emit;
	writer->batch.context = options->context;
	writer->every =
		options->tables_every_ns ? options->tables_every_ns : (uint64_t)EVERY_S * NS_PER_S;
	writer->headers.most = FORMAT_DATAGRAM_HEADERS;
	writer->tables.most = FORMAT_TABLES;
	if (batch_init(&writer->batch, size) || pack_new(&writer->object, FORMAT_BLOCK_BYTES) ||
	    pack_new(&writer->blob, FORMAT_DEFINITION_BYTES) ||
	    getentropy(&writer->batch.stream, sizeof writer->batch.stream)) {
		datagram_writer_free(writer);
		return NULL;
	}
	return writer;
}

static void forget(struct defined_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		free(list->items[i].instance);
		free(list->items[i].types);
	}
	list->count = 0;
}

void datagram_writer_free(struct datagram_writer *writer)
{
	if (!writer)
		return;
	forget(&writer->headers);
	forget(&writer->tables);
	free(writer->headers.items);
	free(writer->tables.items);
	batch_free(&writer->batch);
	free(writer->object.bytes);
	free(writer->blob.bytes);
	free(writer);
}

/* ---- Definitions */

static struct defined *find(struct defined_list *list, uint64_t identity, const char *instance)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i].identity == identity &&
		    (!instance || strcmp(list->items[i].instance, instance) == 0))
			return &list->items[i];
	return NULL;
}

/* NULL without memory, or where there is no number left. */
static struct defined *add(struct defined_list *list, uint64_t identity)
{
	if (list->count == list->most)
		return NULL;
	if (list->count == list->capacity) {
		uint32_t capacity = list->capacity + 32;
		struct defined *items = realloc(list->items, capacity * sizeof *items);

		if (!items)
			return NULL;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count] = (struct defined) { .identity = identity };
	return &list->items[list->count++];
}

static struct defined *add_table(struct defined_list *list, const struct sonde_view *view)
{
	struct defined *table = add(list, view->schema->hash);

	if (!table)
		return NULL;
	table->instance = strdup(view->instance);
	table->types = slot_types(view->schema);
	if (table->instance && table->types)
		return table;
	free(table->instance);
	free(table->types);
	list->count--;
	return NULL;
}

/* Soon after the first time, for those who missed it; then in ever longer pauses. */
static bool is_due(const struct datagram_writer *writer, struct defined *defined, uint64_t now)
{
	if (defined->times && now >= defined->sent_at && now - defined->sent_at < defined->pause)
		return false;
	defined->pause = defined->times ? defined->pause * 2 : NS_PER_S;
	if (defined->pause > writer->every)
		defined->pause = writer->every;
	defined->sent_at = now;
	defined->times++;
	return true;
}

static int put_pieces(struct datagram_writer *writer, enum format_piece kind, uint32_t number)
{
	const struct pack *blob = &writer->blob;
	size_t most = batch_room(&writer->batch) - PIECE_BYTES, n;
	int err = blob->full ? -EFBIG : 0;

	for (size_t at = 0; at < blob->used && !err; at += n) {
		n = blob->used - at < most ? blob->used - at : most;
		pack_empty(&writer->object);
		pack_array(&writer->object, 6);
		pack_uint32(&writer->object, FORMAT_PIECE);
		pack_uint32(&writer->object, kind);
		pack_uint32(&writer->object, number);
		pack_uint32(&writer->object, (uint32_t)at);
		pack_uint32(&writer->object, (uint32_t)blob->used);
		pack_bytes(&writer->object, blob->bytes + at, n);
		err = batch_add(&writer->batch, &writer->object);
	}
	return err;
}

static int put_table(struct datagram_writer *writer, const struct sonde_view *view, uint32_t number)
{
	uint32_t from = 0;

	pack_empty(&writer->blob);
	do
		from = describe_table(&writer->blob, view->schema, view->instance, number, from);
	while (from);
	return put_pieces(writer, FORMAT_PIECE_TABLE, number);
}

/* As much of it as there is room for. */
static int put_help(struct datagram_writer *writer, const struct sonde_view *view, uint32_t number)
{
	uint32_t from = 0;

	pack_empty(&writer->blob);
	do {
		pack_empty(&writer->object);
		from = describe_help(&writer->object, view->schema, number, from);
	} while (!writer->object.full &&
		 writer->object.used <= writer->blob.size - writer->blob.used &&
		 !pack_raw(&writer->blob, writer->object.bytes, writer->object.used) && from);
	return put_pieces(writer, FORMAT_PIECE_HELP, number);
}

static uint64_t identity_of(const struct pack *pack)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a, 64 bits */

	for (size_t i = 0; i < pack->used; i++)
		hash = (hash ^ pack->bytes[i]) * 0x100000001b3u;
	return hash;
}

/* The header's number, after its definition where that is due. */
static int define_header(struct datagram_writer *writer, const struct instant *instant,
			 uint32_t *number)
{
	struct defined *header;
	uint64_t identity;

	pack_empty(&writer->blob);
	describe_header(&writer->blob, instant->header, &instant->header->anchor);
	identity = identity_of(&writer->blob);
	header = find(&writer->headers, identity, NULL);
	if (!header)
		header = add(&writer->headers, identity);
	if (!header)
		return -ENOMEM;
	*number = (uint32_t)(header - writer->headers.items);
	return is_due(writer, header, instant->begin)
		       ? put_pieces(writer, FORMAT_PIECE_HEADER, *number)
		       : 0;
}

static int define_table(struct datagram_writer *writer, const struct sonde_view *view)
{
	struct defined *table = find(&writer->tables, view->schema->hash, view->instance);
	uint32_t number;
	int err;

	if (!table)
		table = add_table(&writer->tables, view);
	if (!table)
		return -ENOMEM;
	if (!is_due(writer, table, view->begin))
		return 0;
	number = (uint32_t)(table - writer->tables.items);
	err = put_table(writer, view, number);
	if (!err && table->times % HELP_EVERY == 1)
		err = put_help(writer, view, number);
	return err;
}

/* Numbers never change what they stand for: when there is none left, another stream begins. */
static void make_room(struct datagram_writer *writer, const struct instant *instant)
{
	if (writer->headers.count < writer->headers.most &&
	    writer->tables.count + instant->nviews <= writer->tables.most)
		return;
	forget(&writer->headers);
	forget(&writer->tables);
	writer->batch.stream = writer->batch.stream * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
	writer->batch.number = 0;
}

static int define(struct datagram_writer *writer, const struct instant *instant, uint32_t *header)
{
	int err;

	make_room(writer, instant);
	batch_begin(&writer->batch, NULL);
	err = define_header(writer, instant, header);
	for (uint32_t i = 0; i < instant->nviews && !err; i++)
		err = define_table(writer, &instant->views[i]);
	return err ? err : batch_end(&writer->batch);
}

/* ---- Rows */

/* One row, and what of it goes into an object. */
struct row {
	const struct sonde_view *view;
	const uint8_t *types;
	const uint64_t *have, *slots;
	uint32_t table, nkeys;
	size_t key_most, value_most; /* bytes of a string */
};

static bool has(const struct row *row, uint32_t slot)
{
	return row->have[slot >> 6] >> (slot & 63) & 1;
}

static void pack_cut(struct pack *pack, const char *bytes, uint32_t length, size_t most)
{
	char text[FORMAT_STRING_EACH + 1];

	pack_array(pack, 2);
	pack_uint32(pack, length);
	pack_bytes(pack, text, strings_cut(text, bytes, length, (uint32_t)most));
}

static void pack_value(struct pack *pack, const struct row *row, uint32_t slot, size_t most)
{
	uint64_t value = row->slots[slot];
	uint32_t length;
	const char *bytes;

	if (!has(row, slot)) {
		pack_nil(pack);
	} else if (row->types[slot] == SONDE_STR) {
		bytes = sonde_view_bytes(row->view, value, &length);
		if (length > most)
			pack_cut(pack, bytes, length, most);
		else
			pack_bytes(pack, bytes, length);
	} else if (row->types[slot] == SONDE_F64) {
		pack_f64(pack, value);
	} else if (row->types[slot] == SONDE_I64) {
		pack_int64(pack, (int64_t)value);
	} else {
		pack_uint64(pack, value);
	}
}

/* The values that it has, behind what is common to all rows. */
static int put_whole(struct datagram_writer *writer, const struct row *row)
{
	const struct sonde_schema *schema = row->view->schema;
	struct pack *object = &writer->object;
	uint32_t nvalues = 0;

	for (uint32_t w = 0; w < schema->nhave; w++)
		nvalues += (uint32_t)__builtin_popcountll(row->have[w]);
	pack_empty(object);
	pack_array(object, 3 + nvalues);
	pack_uint32(object, FORMAT_ROW);
	pack_uint32(object, row->table);
	frames_bitmap(object, row->have, schema->nslots);
	for (uint32_t slot = 0; slot < schema->nslots && !object->full; slot++)
		if (has(row, slot))
			pack_value(object, row, slot, FORMAT_STRING_EACH);
	if (object->full || object->used > batch_room(&writer->batch))
		return -EMSGSIZE;
	return batch_add(&writer->batch, object);
}

/* Bytes of a slot's value at most, where strings have `most`. */
static size_t value_bytes(const struct row *row, uint32_t slot, size_t most)
{
	uint32_t length = (uint32_t)row->slots[slot];

	if (!has(row, slot))
		return 1;
	if (row->types[slot] != SONDE_STR)
		return NUMBER_BYTES;
	return STRING_BYTES + (length < most ? length : most);
}

static size_t keys_bytes(const struct row *row)
{
	size_t bytes = 0;

	for (uint32_t slot = 0; slot < row->nkeys; slot++)
		bytes += value_bytes(row, slot, row->key_most);
	return bytes;
}

/* Keys may fill half of a datagram, strings the same part each; one value of any kind fits behind them. */
static bool share_out(struct row *row, size_t room)
{
	uint32_t nstrings = 0;
	size_t keys, half = (room - SPLIT_BYTES) / 2;

	for (uint32_t slot = 0; slot < row->nkeys; slot++)
		nstrings += has(row, slot) && row->types[slot] == SONDE_STR;
	row->key_most = FORMAT_STRING_EACH;
	if (keys_bytes(row) > half && nstrings) {
		row->key_most = 0;
		keys = keys_bytes(row);
		row->key_most = keys < half ? (half - keys) / nstrings : 0;
	}
	keys = keys_bytes(row);
	row->value_most = keys < room - SPLIT_BYTES ? room - SPLIT_BYTES - keys : 0;
	row->value_most = row->value_most > STRING_BYTES ? row->value_most - STRING_BYTES : 0;
	return row->key_most >= CUT_LEAST && row->value_most >= CUT_LEAST;
}

/* An object with the keys and as many slots from `from` on as fit; returns the slot behind them. */
static uint32_t pack_split(struct datagram_writer *writer, const struct row *row, uint32_t from,
			   bool first)
{
	uint32_t nslots = row->view->schema->nslots, to, nvalues = 0, nbytes = 0;
	size_t left = batch_room(&writer->batch) - SPLIT_BYTES - keys_bytes(row);
	unsigned char bits[SPLIT_SLOTS / 8] = { 0 };
	struct pack *object = &writer->object;

	for (to = from; to < nslots && to - from < SPLIT_SLOTS; to++) {
		size_t bytes = has(row, to) ? value_bytes(row, to, row->value_most) : 0;

		if (bytes > left)
			break;
		left -= bytes;
		if (!bytes)
			continue;
		nvalues++;
		nbytes = (to - from) / 8 + 1;
		bits[nbytes - 1] |= (unsigned char)(1 << (to - from) % 8);
	}
	pack_empty(object);
	pack_array(object, 3 + row->nkeys + nvalues);
	pack_uint32(object, FORMAT_ROW);
	pack_int64(object, first ? (int64_t)row->table : -1 - (int64_t)row->table);
	pack_array(object, 2);
	pack_uint32(object, from);
	pack_bytes(object, bits, nbytes);
	for (uint32_t slot = 0; slot < row->nkeys; slot++)
		pack_value(object, row, slot, row->key_most);
	for (uint32_t slot = from; slot < to; slot++)
		if (has(row, slot))
			pack_value(object, row, slot, row->value_most);
	return to;
}

static int put_row(struct datagram_writer *writer, struct row *row)
{
	uint32_t slot = row->nkeys;
	bool first = true;
	int err = put_whole(writer, row);

	if (err != -EMSGSIZE)
		return err;
	if (!share_out(row, batch_room(&writer->batch)))
		return -EMSGSIZE;
	do {
		slot = pack_split(writer, row, slot, first);
		err = batch_add(&writer->batch, &writer->object);
		first = false;
	} while (!err && slot < row->view->schema->nslots);
	return err;
}

/* Says of a table what its rows don't. */
static int put_sampled(struct datagram_writer *writer, uint32_t table, bool partial)
{
	struct pack *object = &writer->object;

	pack_empty(object);
	pack_array(object, 4);
	pack_uint32(object, FORMAT_ROW);
	pack_uint32(object, table);
	pack_nil(object);
	if (partial)
		pack_true(object);
	else
		pack_false(object);
	return batch_add(&writer->batch, object);
}

static int put_view(struct datagram_writer *writer, const struct sonde_view *view)
{
	const struct defined *table = find(&writer->tables, view->schema->hash, view->instance);
	struct row row = { .view = view,
			   .types = table->types,
			   .table = (uint32_t)(table - writer->tables.items),
			   .nkeys = view->schema->nkeys };
	bool partial = view->flags & SONDE_PARTIAL;
	int err = 0, one;

	if (!view->nrows || partial)
		err = put_sampled(writer, row.table, partial);
	for (uint32_t i = 0; i < view->nrows && (!err || err == -EMSGSIZE); i++) {
		row.have = sonde_view_have(view, i);
		row.slots = sonde_view_slots(view, i);
		one = put_row(writer, &row);
		err = one ? one : err;
	}
	return err;
}

int datagram_instant(struct datagram_writer *writer, const struct instant *instant)
{
	struct batch_part part = { 0, instant->sequence, instant->begin, instant->end,
				   instant->realtime };
	int err, one;

	if (writer->batch.size < FORMAT_DATAGRAM_LEAST)
		return -EMSGSIZE;
	err = define(writer, instant, &part.header);
	if (err)
		return err;
	batch_begin(&writer->batch, &part);
	for (uint32_t i = 0; i < instant->nviews && (!err || err == -EMSGSIZE); i++) {
		one = put_view(writer, &instant->views[i]);
		err = one ? one : err;
	}
	one = err && err != -EMSGSIZE ? 0 : batch_end(&writer->batch);
	return one ? one : err;
}
