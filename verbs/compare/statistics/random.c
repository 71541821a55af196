/* Random numbers that are the same every time: a report of the same input has the same bytes. */
#include "statistics.h"

uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

size_t random_below(uint64_t *state, size_t bound)
{
	return (size_t)((random_next(state) >> 32) * bound >> 32);
}
