/* The numbers of docs/format.md: object types, marks, indexes, and the limits that writers obey and readers enforce. */
#ifndef WIRE_FORMAT_H
#define WIRE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define FORMAT_VERSION 1

/* First element of every msgpack object of a stream. */
enum format_object {
	FORMAT_HEADER = 0,
	FORMAT_TABLE = 1,
	FORMAT_HELP = 2,
	FORMAT_STRINGS = 3,
	FORMAT_INSTANT = 4,
	FORMAT_DATAGRAM = 5,
	FORMAT_BLOCK = 6,
	FORMAT_ROWS = 7,
	FORMAT_COLUMNS = 8,
	FORMAT_PIECE = 9,
	FORMAT_PART = 10,
	FORMAT_ROW = 11,
};

/* What the pieces of a definition make up. */
enum format_piece { FORMAT_PIECE_HEADER = 0, FORMAT_PIECE_TABLE = 1, FORMAT_PIECE_HELP = 2 };

/* Limits of a segment. */
enum {
	FORMAT_BLOCK_BYTES = 256 << 10, /* content of a block; LZ4F_max256KB */
	FORMAT_OBJECT_ITEMS = 64 << 10, /* msgpack items of an object, nested ones included */
	FORMAT_OBJECT_DEPTH = 4,        /* arrays and maps in one another */
	FORMAT_TABLES = 1024,
	FORMAT_COLUMNS_ALL = 64 << 10, /* of all tables */
	FORMAT_ROWS_EACH = 1 << 20,    /* living at once, of a table */
	FORMAT_WORDS_ALL = 16 << 20,   /* bitmaps and slots of all living rows */
	FORMAT_STRINGS_ALL = 1 << 20,
	FORMAT_STRING_BYTES = 16 << 20, /* of all strings */
	FORMAT_STRING_EACH = 65535,
	FORMAT_NAME_BYTES = 1024, /* instance names, texts of the header */
	FORMAT_HELP_BYTES = 4096,
	FORMAT_TAGS = 64,
};

/* Segments whose number is a multiple of it have the help of their tables. */
#define FORMAT_HELP_EVERY 16

/* Limits of datagrams. */
enum {
	FORMAT_DATAGRAM_LEAST = 512,  /* a writer may have this size for one at least, */
	FORMAT_DATAGRAM_MOST = 65507, /* and no more: RFC 768 over IPv4 */
	FORMAT_DATAGRAM_HEADERS = 256,
	FORMAT_DEFINITION_BYTES = 1 << 20, /* of a header or a table, in pieces */
	FORMAT_PARTS = 16 << 10,           /* datagrams of an instant */
};

/* Every block's content begins with these two bytes, the object [FORMAT_BLOCK]. LZ4's flag "not compressed" is outside of
 * all checksums; were it flipped, the content could not begin so (docs/format.md says why). */
#define FORMAT_BLOCK_BEGIN "\x91\x06"

/* A mark: the payload of a skippable frame in front of each segment. Numbers are little-endian.
 *   0  16  stream id      16  8  segment number      24  4  FORMAT_MARK_WORD      28  4  FNV-1a of the bytes before */
#define FORMAT_MARK_MAGIC  0x184D2A53u
#define FORMAT_MARK_WORD   0x646e6f73u /* "sond" */
#define FORMAT_MARK_BYTES  32
#define FORMAT_INDEX_MAGIC 0x184D2A54u
#define FORMAT_SKIP_FIRST  0x184D2A50u
#define FORMAT_SKIP_LAST   0x184D2A5Fu
#define FORMAT_SKIP_HEAD   8 /* magic, length of the payload */
#define FORMAT_LZ4_MAGIC   0x184D2204u

/* An index: entries, then a tail of FORMAT_INDEX_TAIL bytes.
 * Entry: 0 8 distance from the start of the index' magic back to the start of the mark's  8 8 segment number
 *        16 8 begin of its first instant  24 8 the latest end of its instants
 * Tail:  0 16 stream id  16 8 distance back to the index before, 0: none  24 4 length of the payload
 *        28 4 FNV-1a of the payload up to here  32 8 "sondeidx" */
#define FORMAT_INDEX_ENTRY   32
#define FORMAT_INDEX_TAIL    40
#define FORMAT_INDEX_ENTRIES 64
#define FORMAT_INDEX_WORD    "sondeidx"

/* LZ4 frame descriptor: version 1, linked blocks, block and content checksums, no content size, no dictionary; 256 KiB. */
#define FORMAT_LZ4_FLG 0x54
#define FORMAT_LZ4_BD  0x50

static inline void put_le32(unsigned char *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(value >> 8 * i);
}

static inline void put_le64(unsigned char *p, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(value >> 8 * i);
}

static inline uint32_t get_le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t get_le64(const unsigned char *p)
{
	return get_le32(p) | (uint64_t)get_le32(p + 4) << 32;
}

/* FNV-1a, 32 bits (RFC 9923): a change of any one byte changes it. */
static inline uint32_t fnv32(const unsigned char *p, size_t length)
{
	uint32_t hash = 0x811c9dc5u;

	while (length--)
		hash = (hash ^ *p++) * 0x01000193u;
	return hash;
}

#endif
