/* The way back from raw bytes: recorded instants, with rows that today's collectors make of what was read then. */
#ifndef HOST_REPARSE_H
#define HOST_REPARSE_H

#include "host/pipeline_parts.h"
#include "wire/reader.h"

struct reparse;

/* The collectors of this pipeline read from the recording from now on; each starts at its first bytes. */
struct reparse *reparse_new(struct pipeline *pipeline);

/* As reader_next(): instants in which nothing is left are passed over. */
int reparse_next(struct reparse *reparse, struct reader *reader, const struct instant **instant);

/* Once the collectors have stopped. NULL is passed over. */
void reparse_free(struct reparse *reparse);

#endif
