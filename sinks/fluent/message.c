/* Messages in PackedForward mode (Fluentd's Forward Protocol Specification v1, "Message Modes"):
 * [tag, entries, {"chunk": id, "size": n}], the entries [time, record] one after the other as one
 * bin or str. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include <sonde/msgpack.h>

#include "fluent.h"

static int buffer_append(void *data, const char *bytes, size_t length)
{
	struct buffer *buffer = data;
	size_t size = buffer->size ? buffer->size : 4096;
	char *grown;

	while (size - buffer->used < length)
		size *= 2;
	if (size != buffer->size) {
		grown = realloc(buffer->bytes, size);
		if (!grown) {
			buffer->failed = true;
			return -1;
		}
		buffer->bytes = grown;
		buffer->size = size;
	}
	memcpy(buffer->bytes + buffer->used, bytes, length);
	buffer->used += length;
	return 0;
}

static void put_be32(char *to, uint64_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (char)(value >> (24 - 8 * i));
}

/* EventTime: ext type 0, seconds and nanoseconds big-endian. It ends in 2106 and has nothing before
 * 1970. */
static void pack_time(msgpack_packer *packer, int64_t ns, bool seconds)
{
	int64_t s = ns > 0 ? ns / 1000000000 : 0;
	char body[8];

	if (seconds) {
		msgpack_pack_int64(packer, s);
		return;
	}
	put_be32(body, s < UINT32_MAX ? (uint64_t)s : UINT32_MAX);
	put_be32(body + 4, ns > 0 ? (uint64_t)ns % 1000000000 : 0);
	msgpack_pack_ext(packer, sizeof body, 0);
	msgpack_pack_ext_body(packer, body, sizeof body);
}

static void pack_slot(msgpack_packer *packer, const struct sonde_view *view,
		      const struct sonde_column *column, uint64_t slot)
{
	const char *bytes;
	uint32_t length;

	switch (column->type) {
	case SONDE_STR:
		bytes = sonde_view_bytes(view, slot, &length);
		sonde_pack_bytes(packer, bytes, length);
		break;
	case SONDE_I64:
		msgpack_pack_int64(packer, (int64_t)slot);
		break;
	case SONDE_F64:
		msgpack_pack_double(packer, sonde_slot_f64(slot));
		break;
	default:
		msgpack_pack_uint64(packer, slot);
	}
}

static uint32_t slots_of(const struct sonde_column *column)
{
	return column->type == SONDE_HIST ? column->slots : 1;
}

static bool has_any(const struct sonde_view *view, uint32_t row, uint32_t column)
{
	uint32_t slot = view->schema->slot[column];

	for (uint32_t i = 0; i < slots_of(&view->schema->columns[column]); i++)
		if (sonde_view_has(view, row, slot + i))
			return true;
	return false;
}

/* A map of the columns that are there; of a histogram an array, where an absent bucket is nil. */
static void pack_columns(msgpack_packer *packer, const struct sonde_view *view, uint32_t row,
			 uint32_t from, uint32_t to)
{
	const uint64_t *slots = sonde_view_slots(view, row);
	uint32_t count = 0;

	for (uint32_t i = from; i < to; i++)
		count += has_any(view, row, i);
	msgpack_pack_map(packer, count);
	for (uint32_t i = from; i < to; i++) {
		const struct sonde_column *column = &view->schema->columns[i];
		uint32_t first = view->schema->slot[i];

		if (!has_any(view, row, i))
			continue;
		sonde_pack_text(packer, column->name);
		if (column->type == SONDE_HIST)
			msgpack_pack_array(packer, column->slots);
		for (uint32_t n = 0; n < slots_of(column); n++) {
			if (sonde_view_has(view, row, first + n))
				pack_slot(packer, view, column, slots[first + n]);
			else
				msgpack_pack_nil(packer);
		}
	}
}

static void pack_entry(struct batch *batch, msgpack_packer *packer, const struct packing *packing,
		       const struct sonde_view *view, uint32_t row)
{
	const struct sonde_schema *schema = view->schema;

	msgpack_pack_array(packer, 2);
	pack_time(packer, view->realtime, packing->seconds);
	buffer_append(&batch->buffer, batch->head.bytes, batch->head.used);
	pack_columns(packer, view, row, 0, schema->nkeys);
	sonde_pack_text(packer, "values");
	pack_columns(packer, view, row, schema->nkeys, schema->ncolumns);
}

static void pack_tag(msgpack_packer *packer, const char *tag, const char *table)
{
	size_t length = strlen(tag), more = strlen(table);

	msgpack_pack_str(packer, length + 1 + more);
	msgpack_pack_str_body(packer, tag, length);
	msgpack_pack_str_body(packer, ".", 1);
	msgpack_pack_str_body(packer, table, more);
}

/* 16 bytes as base64: 24 characters, the last two of which are its padding. */
static int make_id(char id[ID_LENGTH])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char random[18] = { 0 };

	if (getrandom(random, 16, 0) != 16)
		return -EIO;
	for (int i = 0; i < 6; i++) {
		unsigned bits = (unsigned)random[3 * i] << 16 | (unsigned)random[3 * i + 1] << 8 |
				random[3 * i + 2];

		for (int n = 0; n < 4; n++)
			id[4 * i + n] = digits[bits >> (18 - 6 * n) & 63];
	}
	memset(id + ID_LENGTH - 2, '=', 2);
	return 0;
}

static struct message *new_message(struct batch *batch)
{
	size_t room = batch->room ? batch->room * 2 : 64;
	struct message *grown;

	if (batch->nmessages == batch->room) {
		grown = realloc(batch->messages, room * sizeof *grown);
		if (!grown)
			return NULL;
		batch->messages = grown;
		batch->room = room;
	}
	return &batch->messages[batch->nmessages];
}

/* Rows from *row on, as many as one message takes. */
static int pack_message(struct batch *batch, const struct packing *packing,
			const struct sonde_view *view, uint32_t *row)
{
	struct buffer *buffer = &batch->buffer;
	char size[5] = { packing->entries_as_text ? '\xdb' : '\xc6' };
	struct message *message = new_message(batch);
	uint32_t first = *row;
	msgpack_packer packer;
	size_t entries;

	if (!message)
		return -ENOMEM;
	*message = (struct message) { .begin = buffer->used };
	if (make_id(message->id))
		return -EIO;
	msgpack_packer_init(&packer, buffer, buffer_append);
	msgpack_pack_array(&packer, 3);
	pack_tag(&packer, packing->tag, view->schema->name);
	buffer_append(buffer, size, sizeof size);
	entries = buffer->used;
	while (*row < view->nrows && buffer->used - entries < MESSAGE_BYTES)
		pack_entry(batch, &packer, packing, view, (*row)++);
	if (buffer->failed)
		return -ENOMEM;
	put_be32(buffer->bytes + entries - 4, buffer->used - entries);
	msgpack_pack_map(&packer, packing->ack ? 2 : 1);
	if (packing->ack) {
		sonde_pack_text(&packer, "chunk");
		sonde_pack_bytes(&packer, message->id, sizeof message->id);
	}
	sonde_pack_text(&packer, "size");
	msgpack_pack_uint32(&packer, *row - first);
	message->end = buffer->used;
	batch->nmessages++;
	batch->waiting++;
	return buffer->failed ? -ENOMEM : 0;
}

int batch_view(struct batch *batch, const struct packing *packing, const struct sonde_view *view)
{
	size_t used = batch->buffer.used, nmessages = batch->nmessages, waiting = batch->waiting;
	msgpack_packer packer;
	uint32_t row = 0;
	int err = 0;

	batch->head.used = 0;
	msgpack_packer_init(&packer, &batch->head, buffer_append);
	sonde_pack_head(&packer, view);
	if (batch->head.failed)
		err = -ENOMEM;
	while (!err && row < view->nrows)
		err = pack_message(batch, packing, view, &row);
	if (err) {
		batch->buffer.used = used;
		batch->nmessages = nmessages;
		batch->waiting = waiting;
	}
	batch->buffer.failed = batch->head.failed = false;
	return err;
}

void batch_compact(struct batch *batch)
{
	size_t used = 0, kept = 0;

	for (size_t i = 0; i < batch->nmessages; i++) {
		struct message message = batch->messages[i];
		size_t length = message.end - message.begin;

		if (message.done)
			continue;
		memmove(batch->buffer.bytes + used, batch->buffer.bytes + message.begin, length);
		message.begin = used;
		message.end = used += length;
		batch->messages[kept++] = message;
	}
	batch->buffer.used = used;
	batch->nmessages = kept;
}

static void message_done(struct batch *batch, struct message *message)
{
	batch->waiting -= !message->done;
	message->done = true;
}

bool batch_acknowledge(struct batch *batch, const char *id, size_t length)
{
	for (size_t i = 0; i < batch->nmessages && length == ID_LENGTH; i++) {
		struct message *message = &batch->messages[i];

		if (message->done || memcmp(message->id, id, ID_LENGTH) != 0)
			continue;
		message_done(batch, message);
		return true;
	}
	return false;
}

void batch_handed(struct batch *batch, size_t sent)
{
	for (size_t i = 0; i < batch->nmessages && batch->messages[i].end <= sent; i++)
		message_done(batch, &batch->messages[i]);
}

void batch_free(struct batch *batch)
{
	free(batch->buffer.bytes);
	free(batch->head.bytes);
	free(batch->messages);
	*batch = (struct batch) { 0 };
}

/* A text at *at: str or bin, its length in one byte at most; no id is longer. 1, 0 or -EBADMSG. */
static int take_text(const unsigned char *bytes, size_t length, size_t *at, const char **text,
		     size_t *text_length)
{
	size_t left = length - *at, head = 1;

	if (!left)
		return 0;
	if (bytes[*at] >= 0xa0 && bytes[*at] <= 0xbf) {
		*text_length = bytes[*at] & 0x1f;
	} else if (bytes[*at] == 0xd9 || bytes[*at] == 0xc4) {
		if (left < 2)
			return 0;
		*text_length = bytes[*at + 1];
		head = 2;
	} else {
		return -EBADMSG;
	}
	if (left < head + *text_length)
		return 0;
	*text = (const char *)bytes + *at + head;
	*at += head + *text_length;
	return 1;
}

int ack_parse(const void *bytes, size_t length, const char **id, size_t *id_length)
{
	const unsigned char *p = bytes;
	const char *name;
	size_t name_length, at = 1;
	int taken;

	if (!length)
		return 0;
	if (p[0] != 0x81)
		return -EBADMSG;
	taken = take_text(p, length, &at, &name, &name_length);
	if (taken == 1 && (name_length != 3 || memcmp(name, "ack", 3) != 0))
		return -EBADMSG;
	if (taken == 1)
		taken = take_text(p, length, &at, id, id_length);
	return taken == 1 ? (int)at : taken;
}
