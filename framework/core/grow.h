/* An array that grows: the one way where no memory is an error to report (host/must.h: where it is the end). */
#ifndef CORE_GROW_H
#define CORE_GROW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Room for `need` items of `each` bytes in the array that `array` points to (T **), by doubling;
 * *size: items it has room for. False beyond `most` items, or without memory: the array is then as
 * it was. The pointer is copied as bytes: a T * is no void * to read it through. */
static inline bool grow(void *array, size_t *size, size_t need, size_t each, size_t most)
{
	size_t more = *size ? *size : 64;
	void *old, *block;

	if (need <= *size)
		return true;
	if (need > most)
		return false;
	while (more < need)
		more *= 2;
	memcpy(&old, array, sizeof old);
	block = realloc(old, more * each);
	if (!block)
		return false;
	memcpy(array, &block, sizeof block);
	*size = more;
	return true;
}

#endif
