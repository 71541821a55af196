/* Recordings of a machine that is not there: scenarios in which something is wrong with it, and what a collector with
 * `capture = raw` would have read meanwhile. Today's parsers, analyzers and sinks make of it what they make of any machine. */
#ifndef DEMO_DEMO_H
#define DEMO_DEMO_H

#include <stddef.h>

struct scenario;

/* The `index`-th; NULL: there are not so many. */
const struct scenario *demo_scenario(size_t index);
const char *demo_name(const struct scenario *scenario);
/* What is wrong, in a line. */
const char *demo_title(const struct scenario *scenario);

/* Writes the recording. The same scenario is the same bytes. 0 or a negative errno. */
int demo_record(const struct scenario *scenario, int fd);

#endif
