/* A function in a child process: for looking into plugins that are not trusted yet, and for trying those that are. */
#ifndef HOST_CONFINED_H
#define HOST_CONFINED_H

#include <stddef.h>

/* Runs `run` in a child that has no capabilities (capabilities(7)), gains none, leaves no core, and ends within 30 s and
 * 10 s of CPU. Standard streams are shared. Returns what `run` returned, 0 to 125; or -EINVAL and a sentence in `why` where
 * the child was ended by a signal. */
int confined_run(int (*run)(void *context), void *context, char *why, size_t size);

/* The same with the privileges that there are. */
int apart_run(int (*run)(void *context), void *context, char *why, size_t size);

#endif
