/* Where in a recording a moment is, by its indexes. */
#ifndef WIRE_LOOKUP_H
#define WIRE_LOOKUP_H

#include "wire/index.h"
#include "wire/input.h"

/* The mark from which on to read for instants that end at `since` or later: of a segment behind `mark`, which is at offset
 * `mark_at`, and if it can be one with the help of its tables. The input stands there afterwards, or where it stood. Returns 1 where it moved; 0: no
 * index leads further; negative errno: the input stands nowhere. */
int lookup(struct input *input, const struct mark *mark, uint64_t mark_at, uint64_t since);

#endif
