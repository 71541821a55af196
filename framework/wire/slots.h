/* What the slots of a table's rows hold. */
#ifndef WIRE_SLOTS_H
#define WIRE_SLOTS_H

#include <sonde/table.h>

/* enum sonde_type of each slot, SONDE_U64 for those of a histogram; to be freed. NULL without memory. */
uint8_t *slot_types(const struct sonde_schema *schema);

#endif
