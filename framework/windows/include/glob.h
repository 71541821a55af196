/* glob(3) of a name: patterns can't be listed here. */
#ifndef WINDOWS_GLOB_H
#define WINDOWS_GLOB_H

#include <stddef.h>

enum { GLOB_ERR = 1, GLOB_ABORTED = 2, GLOB_NOMATCH = 3 };

typedef struct {
	size_t gl_pathc;
	char **gl_pathv;
} glob_t;

int glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found);
void globfree(glob_t *found);

#endif
