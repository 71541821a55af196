/* Text of kernel, peer or file made safe for people: UTF-8 checked (The Unicode Standard 15.0,
 * table 3-7), and control, bidirectional and format characters (categories Cc, Cf, Zl, Zp) found,
 * so that no name can move a cursor, colour a line or turn one around. Inline throughout, allocates
 * nothing. Part of the plugin ABI. */
#ifndef SONDE_ESCAPE_H
#define SONDE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The longest that one character becomes: \U000e0001. */
#define SONDE_ESCAPE_MOST 10
/* And as JSON has it: a surrogate pair. */
#define SONDE_JSON_MOST 12

/* Length of the well-formed UTF-8 sequence at `p` (p < end), its code point in *code; 0 where the
 * byte at `p`, then in *code, begins none: surrogates, overlong forms, values above U+10FFFF and
 * cut sequences are none. */
static inline unsigned sonde_utf8(const unsigned char *p, const unsigned char *end, uint32_t *code)
{
	unsigned first = *p, length, low = 0x80, high = 0xbf;
	uint32_t value;

	*code = first;
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if ((size_t)(end - p) < length)
		return 0;
	value = first & (0xffu >> (length + 1));
	/* Only the second byte has a range of its own, and only behind these four. */
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	for (unsigned i = 1; i < length; i++) {
		if (p[i] < low || p[i] > high)
			return 0;
		value = value << 6 | (p[i] & 0x3f);
		low = 0x80;
		high = 0xbf;
	}
	*code = value;
	return length;
}

/* Whether a character acts on the text around it instead of being seen. */
static inline bool sonde_hidden(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x0000, 0x001f },   { 0x007f, 0x009f },   { 0x00ad, 0x00ad },
		{ 0x0600, 0x0605 },   { 0x061c, 0x061c },   { 0x06dd, 0x06dd },
		{ 0x070f, 0x070f },   { 0x0890, 0x0891 },   { 0x08e2, 0x08e2 },
		{ 0x180e, 0x180e },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
		{ 0x2060, 0x206f },   { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },
		{ 0x110bd, 0x110bd }, { 0x110cd, 0x110cd }, { 0x13430, 0x1343f },
		{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
	};

	if (code >= 0x20 && code < 0x7f)
		return false;
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0] && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return true;
	return false;
}

/* The character at *at (*at < end) as a terminal may have it, into `to`, not terminated; *at moves
 * behind it. Returns the bytes written, at most SONDE_ESCAPE_MOST. Hidden ones become \n, \t, \r,
 * \x1b, \u202e or \U000e0001, a byte that is not UTF-8 \xff, a backslash two: what was there can be
 * told from the result. */
static inline unsigned sonde_escape_next(const char **at, const char *end, char *to)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)*at;
	uint32_t code;
	unsigned length = sonde_utf8(p, (const unsigned char *)end, &code), digits, n = 0;

	*at += length ? length : 1;
	if (length && !sonde_hidden(code) && code != '\\') {
		memcpy(to, p, length);
		return length;
	}
	to[n++] = '\\';
	if (length && (code == '\\' || code == '\n' || code == '\t' || code == '\r')) {
		to[n++] = code == '\n' ? 'n' : code == '\t' ? 't' : code == '\r' ? 'r' : '\\';
		return n;
	}
	digits = !length || code < 0x80 ? 2 : code < 0x10000 ? 4 : 8;
	to[n++] = digits == 2 ? 'x' : digits == 4 ? 'u' : 'U';
	while (digits--)
		to[n++] = hex[code >> (digits * 4) & 15];
	return n;
}

/* "\\u" and four hexadecimal digits of a UTF-16 unit. */
static inline unsigned sonde_json_unit(char *to, uint32_t unit)
{
	static const char hex[] = "0123456789abcdef";

	to[0] = '\\';
	to[1] = 'u';
	for (unsigned i = 0; i < 4; i++)
		to[2 + i] = hex[unit >> (12 - 4 * i) & 15];
	return 6;
}

/* The character at *at (*at < end) as it stands in a JSON string (RFC 8259), likewise, at most SONDE_JSON_MOST bytes. Hidden
 * ones are escaped although JSON does not ask for it, and a byte that is not UTF-8 becomes U+FFFD. */
static inline unsigned sonde_json_next(const char **at, const char *end, char *to)
{
	static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	const unsigned char *p = (const unsigned char *)*at;
	uint32_t code;
	unsigned length = sonde_utf8(p, (const unsigned char *)end, &code);

	*at += length ? length : 1;
	if (!length) {
		memcpy(to, "\xef\xbf\xbd", 3);
		return 3;
	}
	for (const char *s = shorts; code < 0x80 && *s; s += 2) {
		if ((uint32_t)*s == code) {
			to[0] = '\\';
			to[1] = s[1];
			return 2;
		}
	}
	if (!sonde_hidden(code)) {
		memcpy(to, p, length);
		return length;
	}
	if (code < 0x10000)
		return sonde_json_unit(to, code);
	sonde_json_unit(to, 0xd800 + ((code - 0x10000) >> 10));
	return 6 + sonde_json_unit(to + 6, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

/* `length` bytes escaped into `to` of `size` bytes (at least 1), terminated. What does not fit is
 * cut between characters. Returns the bytes written, without the NUL. */
static inline size_t sonde_escape(const char *bytes, size_t length, char *to, size_t size)
{
	const char *end = bytes + length;
	char one[SONDE_ESCAPE_MOST];
	size_t used = 0;

	while (bytes < end) {
		unsigned n = sonde_escape_next(&bytes, end, one);

		if (n >= size - used)
			break;
		memcpy(to + used, one, n);
		used += n;
	}
	to[used] = '\0';
	return used;
}

#endif
