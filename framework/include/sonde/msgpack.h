/* What rows have in common as msgpack (github.com/msgpack/msgpack, spec.md): texts, and the members
 * before `keys` (sinks/stdout/stdout.md, "What a row is"). For sinks; needs msgpack-c's headers and
 * none of its library. */
#ifndef SONDE_MSGPACK_H
#define SONDE_MSGPACK_H

#include <stdio.h>

#include <msgpack/pack.h>

#include <sonde/escape.h>
#include <sonde/plugin.h>

static inline bool sonde_pack_is_utf8(const char *bytes, size_t length)
{
	const unsigned char *p = (const unsigned char *)bytes, *end = p + length;
	uint32_t code;
	unsigned n;

	while (p < end) {
		n = sonde_utf8(p, end, &code);
		if (!n)
			return false;
		p += n;
	}
	return true;
}

/* UTF-8 is str, anything else bin, so that no byte is lost. */
static inline void sonde_pack_bytes(msgpack_packer *packer, const char *bytes, size_t length)
{
	if (sonde_pack_is_utf8(bytes, length)) {
		msgpack_pack_str(packer, length);
		msgpack_pack_str_body(packer, bytes, length);
	} else {
		msgpack_pack_bin(packer, length);
		msgpack_pack_bin_body(packer, bytes, length);
	}
}

static inline void sonde_pack_text(msgpack_packer *packer, const char *text)
{
	sonde_pack_bytes(packer, text, strlen(text));
}

static inline void sonde_pack_tags(msgpack_packer *packer, const struct sonde_stream_header *header)
{
	if (!header->ntags)
		return;
	sonde_pack_text(packer, "tags");
	msgpack_pack_map(packer, header->ntags);
	for (uint32_t i = 0; i < header->ntags; i++) {
		sonde_pack_text(packer, header->tags[i].name);
		sonde_pack_text(packer, header->tags[i].value);
	}
}

/* The beginning of a row's map, up to the name `keys`: their map, the name `values` and a map of
 * those are to follow. */
static inline void sonde_pack_head(msgpack_packer *packer, const struct sonde_view *view)
{
	char hash[17];

	snprintf(hash, sizeof hash, "%016llx", (unsigned long long)view->schema->hash);
	msgpack_pack_map(packer, view->header->ntags ? 11 : 10);
	sonde_pack_text(packer, "time");
	msgpack_pack_int64(packer, view->realtime);
	sonde_pack_text(packer, "boottime");
	msgpack_pack_uint64(packer, view->begin);
	sonde_pack_text(packer, "host");
	sonde_pack_text(packer, view->header->host);
	sonde_pack_text(packer, "boot");
	sonde_pack_text(packer, view->header->boot_id);
	sonde_pack_tags(packer, view->header);
	sonde_pack_text(packer, "instance");
	sonde_pack_text(packer, view->instance);
	sonde_pack_text(packer, "sequence");
	msgpack_pack_uint64(packer, view->sequence);
	sonde_pack_text(packer, "table");
	sonde_pack_text(packer, view->schema->name);
	sonde_pack_text(packer, "hash");
	sonde_pack_text(packer, hash);
	sonde_pack_text(packer, "keys");
}

#endif
