/* Times on the command line: of a recording's start or end, local or zoned. */
#ifndef CLI_WHEN_H
#define CLI_WHEN_H

#include <stdint.h>

/* Bounds of a recording as CLOCK_BOOTTIME ns of the machine that it comes from; 0 where a text is NULL. The recording is
 * read for its first instant, and to its end where a time counts from there. An exit status; said in one line where it
 * is not EXIT_DONE, as where nothing lies between. */
int when_range(const char *path, const char *since, const char *until, uint64_t *from,
	       uint64_t *to);

#endif
