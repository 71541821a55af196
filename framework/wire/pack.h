/* msgpack into a buffer of fixed size, by msgpack-c's own packing template. What does not fit sets `full`. */
#ifndef WIRE_PACK_H
#define WIRE_PACK_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <msgpack/pack_define.h>
#include <msgpack/timestamp.h>

struct pack {
	unsigned char *bytes;
	size_t used, size;
	bool full;
};

static inline int pack_raw(struct pack *pack, const void *bytes, size_t length)
{
	if (length > pack->size - pack->used) {
		pack->full = true;
		return -1;
	}
	memcpy(pack->bytes + pack->used, bytes, length);
	pack->used += length;
	return 0;
}

#define msgpack_pack_inline_func(name)                  static inline int pack##name
#define msgpack_pack_user                               struct pack *
#define msgpack_pack_append_buffer(user, bytes, length) return pack_raw(user, bytes, length)
#include <msgpack/pack_template.h>

/* Bytes that people read: str where they are UTF-8, as msgpack wants, else bin. */
void pack_text(struct pack *pack, const char *text, size_t length);

static inline void pack_bytes(struct pack *pack, const void *bytes, size_t length)
{
	pack_bin(pack, length);
	pack_bin_body(pack, bytes, length);
}

/* The shortest of float 32 and float 64 that gives these bits back. */
void pack_f64(struct pack *pack, uint64_t bits);

static inline void pack_empty(struct pack *pack)
{
	pack->used = 0;
	pack->full = false;
}

static inline int pack_new(struct pack *pack, size_t size)
{
	*pack = (struct pack) { .bytes = malloc(size), .size = size };
	return pack->bytes ? 0 : -1;
}

#endif
