/* What the slots of a table's rows hold. */
#include <stdbool.h>
#include <stdlib.h>

#include "wire/slots.h"

uint8_t *slot_types(const struct sonde_schema *schema)
{
	uint8_t *types = malloc(schema->nslots + 1);

	for (uint32_t c = 0; types && c < schema->ncolumns; c++) {
		const struct sonde_column *column = &schema->columns[c];
		bool several = column->type == SONDE_HIST;

		for (uint32_t i = 0; i < (several ? column->slots : 1); i++)
			types[schema->slot[c] + i] = several ? SONDE_U64 : (uint8_t)column->type;
	}
	return types;
}
