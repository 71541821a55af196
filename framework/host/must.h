/* Memory for start-up and reload: where there is none for a line of configuration, nothing sensible is left to do. */
#ifndef HOST_MUST_H
#define HOST_MUST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `allocated`, or the end of the process. Never on the sampling path. */
static inline void *must(void *allocated)
{
	if (!allocated) {
		fputs("sonde: out of memory\n", stderr);
		abort();
	}
	return allocated;
}

/* An array with room for one item more. */
static inline void *must_grow(void *array, size_t count, size_t item)
{
	return must(realloc(array, (count + 1) * item));
}

static inline char *must_copy(const char *text)
{
	return (char *)must(strdup(text));
}

#endif
