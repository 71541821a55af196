/* SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash, so that texts can't be found again by hashing guesses. */
#ifndef HOST_SIPHASH_H
#define HOST_SIPHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void siphash_round(uint64_t v[4])
{
#define SIPHASH_ROTATE(x, n) ((x) << (n) | (x) >> (64 - (n)))
	v[0] += v[1];
	v[1] = SIPHASH_ROTATE(v[1], 13) ^ v[0];
	v[0] = SIPHASH_ROTATE(v[0], 32);
	v[2] += v[3];
	v[3] = SIPHASH_ROTATE(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = SIPHASH_ROTATE(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = SIPHASH_ROTATE(v[1], 17) ^ v[2];
	v[2] = SIPHASH_ROTATE(v[2], 32);
#undef SIPHASH_ROTATE
}

/* Eight bytes, little-endian. */
static inline uint64_t siphash_word(const unsigned char *p, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)p[i] << (8 * i);
	return word;
}

static inline uint64_t siphash(const uint64_t key[2], const void *bytes, size_t length)
{
	const unsigned char *p = bytes;
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
			  key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u };
	uint64_t last = (uint64_t)length << 56, word;

	for (; length >= 8; length -= 8, p += 8) {
		word = siphash_word(p, 8);
		v[3] ^= word;
		siphash_round(v);
		siphash_round(v);
		v[0] ^= word;
	}
	last |= siphash_word(p, length);
	v[3] ^= last;
	siphash_round(v);
	siphash_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		siphash_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
