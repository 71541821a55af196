/* Headers and tables out of msgpack: what describe.h wrote, checked. */
#ifndef WIRE_LEARN_H
#define WIRE_LEARN_H

#include <sonde/row.h>

#include "wire/unpack.h"

/* The items of a FORMAT_HEADER behind its type, into a header whose strings are one allocation. Keys that it does not know are
 * passed over. NULL: it is none, it is of a newer format, or there is no memory; `why` says which. Freed by free(). */
struct sonde_stream_header *learn_header(struct items *items, const char **why);

/* A definition while its columns arrive. */
struct learning;

/* The items of a FORMAT_TABLE behind its number. NULL where it is none, or without memory. */
struct learning *learn_table(struct items *items);
void learning_free(struct learning *learning);

/* Columns, from a FORMAT_TABLE or FORMAT_COLUMNS. False where they are none, or too many. */
bool learn_columns(struct learning *learning, struct items *items);

/* Columns that are still to come. */
uint32_t learning_left(const struct learning *learning);
const char *learning_instance(const struct learning *learning);
uint32_t learning_columns(const struct learning *learning);

/* Whether the schema, made of an earlier definition, is the same table. */
bool learning_is(const struct learning *learning, const struct sonde_schema *schema);

/* The schema, when none is left to come. NULL where it is not a table, or its hash is another; `why` then says so. */
struct sonde_schema *learn_schema(const struct learning *learning, char *why, size_t size);

/* The items of a FORMAT_HELP behind its table's number: fills in what the schema lacks. False where it is none. */
bool learn_help(struct sonde_schema *schema, struct items *items);

#endif
