/* Values of options: text into what a conf field holds. */
#ifndef HOST_VALUES_H
#define HOST_VALUES_H

#include <stdbool.h>

#include "host/options.h"

/* Bytes of the conf field of an option of this type; 0: no such type. */
size_t value_size(uint32_t type);

/* `count` numbers below 2^32 out of a cpulist such as "0-3,8" or "0-15:2/4" (bitmap lists of the kernel's
 * Documentation/admin-guide/kernel-parameters.rst), sorted and without doubles, into *ids, to be freed. 0, or -EINVAL. */
int cpulist_parse(const char *text, uint32_t **ids, uint32_t *count);

/* A number with a unit, as it stands in a file: "500ms" and "64KiB" exactly, a fraction ("1.5s") rounded down. 0, or -EINVAL
 * and a sentence in `why`. */
int duration_parse(const char *text, uint64_t *ns, char *why, size_t size);
int size_parse(const char *text, uint64_t *bytes, char *why, size_t size);

/* The largest unit in which it is whole: 1500000000 is "1500ms", 65536 is "64KiB". */
void duration_print(char *text, size_t size, uint64_t ns);
void size_print(char *text, size_t size, uint64_t bytes);

#endif
