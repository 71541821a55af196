/* For fuzz targets of what is read: every row and string of an instant is looked at, so that a sanitizer sees where it is. */
#ifndef WALK_H
#define WALK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/instant.h"

static inline void walk_require(int holds)
{
	if (!holds)
		abort();
}

static inline uint64_t walk_row(const struct sonde_view *view, uint32_t row)
{
	const struct sonde_schema *schema = view->schema;
	uint64_t sum = 0;

	for (uint32_t c = 0; c < schema->ncolumns; c++) {
		uint32_t slot = schema->slot[c], length;
		uint64_t value = sonde_view_slots(view, row)[slot];
		const char *bytes;

		if (!sonde_view_has(view, row, slot))
			continue;
		sum += value;
		if (schema->columns[c].type != SONDE_STR)
			continue;
		bytes = sonde_view_bytes(view, value, &length);
		walk_require(length <= 65535);
		for (uint32_t i = 0; i < length; i++)
			sum += (unsigned char)bytes[i];
	}
	return sum;
}

static inline uint64_t walk_instant(const struct instant *instant)
{
	uint64_t sum = strlen(instant->header->host) + strlen(instant->header->version);

	for (uint32_t v = 0; v < instant->nviews; v++) {
		const struct sonde_view *view = &instant->views[v];

		sum += strlen(view->instance) + strlen(view->schema->name);
		walk_require(view->stride == view->schema->nhave + view->schema->nslots);
		for (uint32_t i = 0; view->changed && i < view->nchanged; i++)
			walk_require(view->changed[i] < view->nrows);
		for (uint32_t i = 0; i < view->nrows; i++)
			sum += walk_row(view, i);
	}
	return sum;
}

#endif
