/* Sets of small numbers, CPUs or nodes, and the lists that the kernel writes them as. Part of the plugin ABI, inline
 * throughout. */
#ifndef SONDE_SET_H
#define SONDE_SET_H

#include <sonde/text.h>

enum {
	SET_NUMBERS = 8192
}; /* the largest NR_CPUS of any distribution; numbers from here on are left out */

struct set {
	uint64_t bits[SET_NUMBERS / 64];
};

static inline bool in_set(const struct set *set, uint64_t n)
{
	return n < SET_NUMBERS && (set->bits[n / 64] >> n % 64 & 1);
}

static inline void add_to_set(struct set *set, uint64_t n)
{
	if (n < SET_NUMBERS)
		set->bits[n / 64] |= (uint64_t)1 << n % 64;
}

/* The first number of the set from n on; SET_NUMBERS: there is none. */
static inline uint32_t next_in_set(const struct set *set, uint32_t n)
{
	for (uint32_t word = n / 64; word < SET_NUMBERS / 64; word++) {
		uint64_t bits = set->bits[word];

		if (word == n / 64)
			bits &= UINT64_MAX << n % 64;
		if (bits)
			return word * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	return SET_NUMBERS;
}

#define EACH_IN_SET(n, set)                                                                        \
	uint32_t n = next_in_set(set, 0);                                                          \
	n < SET_NUMBERS;                                                                           \
	n = next_in_set(set, n + 1)

static inline uint32_t set_count(const struct set *set)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < SET_NUMBERS / 64; i++)
		count += (uint32_t)__builtin_popcountll(set->bits[i]);
	return count;
}

/* "0-1,3-9\n"; an empty list is a list. False where the text is no list. */
static inline bool list_parse(const char *text, size_t length, struct set *set)
{
	struct cursor c = cursor(text, length);
	uint64_t first, last;

	*set = (struct set) { { 0 } };
	next_line(&c);
	while (next_u64(&c, &first)) {
		last = first;
		if (take(&c, "-") && !next_u64(&c, &last))
			return false;
		for (; first <= last && first < SET_NUMBERS; first++)
			add_to_set(set, first);
		if (!take(&c, ","))
			break;
	}
	skip_blanks(&c);
	return c.at == c.end;
}

#endif
