/* A recording with the counters of another one, which was made of a text and knows no time but its own: the two are one stream, of the
 * machine and in the time of the first. */
#ifndef HOST_JOIN_H
#define HOST_JOIN_H

#include "core/instant.h"

struct reader; /* wire/reader.h */
struct join;

/* The descriptor is of what import_perf_stat() wrote (import/import.h), and stays the caller's. 0, or a negative errno. Where it says when it
 * began, in the local time of the recorded host, it is put there; else its intervals begin with the recording, and the counts of a whole
 * run are taken as of all of it. A note in the stream says which. */
int join_new(int fd, struct join **join);

/* As reader_next() of `reader`, with the other's instants between. -EEXIST where the recording has counters of its own, -ERANGE where the two
 * have no time in common; join_why() says it in a sentence. */
int join_next(struct join *join, struct reader *reader, const struct instant **instant);
const char *join_why(const struct join *join);

void join_free(struct join *join);

#endif
