/* Reading the kernel's text: a cursor over lines, words and numbers. Nothing here reads past the length that it was
 * given, needs a terminator, or allocates. Part of the plugin ABI, inline throughout. */
#ifndef SONDE_TEXT_H
#define SONDE_TEXT_H

#include <sonde/row.h>

/* A place in a text, in its current line. Empty before the first next_line(). */
struct cursor {
	const char *at, *end;    /* what is left of the line, without its LF */
	const char *rest, *stop; /* the lines after it */
};

static inline struct cursor cursor(const char *text, size_t length)
{
	return (struct cursor) { text, text, text, text + length };
}

/* How much of a text is whole words: one that ends without a blank or LF was cut in its last word, and half a number is
 * a wrong number. */
static inline size_t whole_words(const char *text, size_t length)
{
	while (length && text[length - 1] != '\n' && text[length - 1] != ' ' &&
	       text[length - 1] != '\t')
		length--;
	return length;
}

/* To the next line, empty ones included; the last one may lack its LF. False at the end. */
static inline bool next_line(struct cursor *c)
{
	const char *lf;

	if (c->rest == c->stop) {
		c->at = c->end = c->stop;
		return false;
	}
	c->at = c->rest;
	lf = (const char *)memchr(c->at, '\n', (size_t)(c->stop - c->at));
	c->end = lf ? lf : c->stop;
	c->rest = lf ? lf + 1 : c->stop;
	return true;
}

/* The whole text as one line: for files of which a LF may be content (/proc/PID/stat). */
static inline struct cursor whole(const char *text, size_t length)
{
	return (struct cursor) { text, text + length, text + length, text + length };
}

static inline void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
}

/* Past `literal` if it is what comes next, blanks before it passed over. */
static inline bool take(struct cursor *c, const char *literal)
{
	size_t n = strlen(literal);

	skip_blanks(c);
	if ((size_t)(c->end - c->at) < n || memcmp(c->at, literal, n) != 0)
		return false;
	c->at += n;
	return true;
}

/* The next word, up to a blank or the end of the line. Its length; 0 where there is none. */
static inline size_t next_word(struct cursor *c, const char **word)
{
	skip_blanks(c);
	*word = c->at;
	while (c->at < c->end && *c->at != ' ' && *c->at != '\t')
		c->at++;
	return (size_t)(c->at - *word);
}

/* Past the next word if it is exactly this one. */
static inline bool take_word(struct cursor *c, const char *word)
{
	struct cursor before = *c;

	if (take(c, word) && (c->at == c->end || *c->at == ' ' || *c->at == '\t'))
		return true;
	*c = before;
	return false;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Up to eight decimal digits at `p`, eight readable bytes, at once: how many there are, and their value. Most numbers
 * of /proc take one such step without a branch that depends on their length. */
static inline unsigned eight_digits(const char *p, uint64_t *value)
{
	uint64_t bytes, other;
	unsigned n;

	memcpy(&bytes, p, sizeof bytes);
	bytes ^= 0x3030303030303030u;
	other = (bytes | (bytes + 0x7676767676767676u)) & 0x8080808080808080u;
	n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
	if (!n)
		return 0;
	bytes <<= 64 - 8 * n;
	bytes = bytes * 10 + (bytes >> 8);
	*value = ((bytes & 0xff000000ffu) * 0xf424000000064u +
		  (bytes >> 16 & 0xff000000ffu) * 0x271000000001u) >>
		 32;
	return n;
}
#else
static inline unsigned eight_digits(const char *p, uint64_t *value)
{
	unsigned n = 0;

	for (*value = 0; n < 8 && (unsigned char)(p[n] - '0') < 10; n++)
		*value = *value * 10 + (unsigned char)(p[n] - '0');
	return n;
}
#endif

/* The digits at *at, before `end`, as a number; *at behind them. False, *at unmoved, where there are none or the number
 * does not fit 64 bits. Bytes up to `stop` (not before `end`) are readable. */
static inline bool take_digits(const char **at, const char *end, const char *stop, uint64_t *value)
{
	const char *p = *at;
	uint64_t n = 0;

	if (stop - p >= 8) {
		unsigned digits = eight_digits(p, &n);

		if (digits < 8 && (ptrdiff_t)digits <= end - p) {
			*at = p + digits;
			*value = n;
			return digits != 0;
		}
		if (end - p >= 8)
			p += 8;
		else
			n = 0;
	}
	while (p < end && (unsigned char)(*p - '0') < 10) {
		unsigned digit = (unsigned char)(*p++ - '0');

		if (n > UINT64_MAX / 10 || (n == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
			return false;
		n = n * 10 + digit;
	}
	if (p == *at)
		return false;
	*at = p;
	*value = n;
	return true;
}

/* A decimal number below 2^64. False, nothing consumed but blanks, where there is none or it is larger. */
static inline bool next_u64(struct cursor *c, uint64_t *value)
{
	skip_blanks(c);
	return take_digits(&c->at, c->end, c->stop, value);
}

/* A decimal number with an optional minus; false where it does not fit. */
static inline bool next_i64(struct cursor *c, int64_t *value)
{
	struct cursor before = *c;
	bool minus = take(c, "-");
	uint64_t n;

	if ((minus && c->at < c->end && (*c->at == ' ' || *c->at == '\t')) || !next_u64(c, &n) ||
	    n > (uint64_t)INT64_MAX + minus) {
		*c = before;
		return false;
	}
	*value = minus ? (int64_t)(0 - n) : (int64_t)n;
	return true;
}

/* Fixed-point text such as "12.34" as an integer of `digits` decimals: 1234 for 2. Missing decimals are zeros, further
 * ones are cut. */
static inline bool next_fixed(struct cursor *c, unsigned digits, uint64_t *value)
{
	uint64_t n;

	if (!next_u64(c, &n))
		return false;
	if (c->at < c->end && *c->at == '.')
		c->at++;
	for (; digits; digits--) {
		unsigned digit = c->at < c->end ? (unsigned char)(*c->at - '0') : 10;

		if (digit < 10)
			c->at++;
		else
			digit = 0;
		if (n >= UINT64_MAX / 10)
			return false;
		n = n * 10 + digit;
	}
	while (c->at < c->end && (unsigned char)(*c->at - '0') < 10)
		c->at++;
	*value = n;
	return true;
}

/* The next number into a slot: "field by position" files. False leaves the value absent. */
static inline bool take_u64(struct cursor *c, struct sonde_row *row, uint32_t slot)
{
	uint64_t value;

	if (!next_u64(c, &value))
		return false;
	sonde_set_u64(row, slot, value);
	return true;
}

/* Forward in the line to the word that begins with `key` ("total="), the cursor behind it. False: not in the line, and
 * the cursor stays. */
static inline bool find_key(struct cursor *c, const char *key)
{
	struct cursor before = *c;
	const char *word;

	do {
		if (take(c, key))
			return true;
	} while (next_word(c, &word));
	*c = before;
	return false;
}

#endif
