/* A copy of every table as it was, to hold what a reader says has changed against what has. */
#ifndef SHADOW_H
#define SHADOW_H

#include <stdlib.h>
#include <string.h>

#include "core/instant.h"

enum { SHADOWS = 64 };

struct shadow {
	const struct sonde_schema *schema;
	uint64_t *words;
	uint32_t nrows;
};

struct shadows {
	struct shadow tables[SHADOWS];
	uint32_t count;
	uint64_t told; /* rows that changed or moved */
};

static inline struct shadow *shadow_of(struct shadows *shadows, const struct sonde_schema *schema)
{
	uint32_t i = 0;

	while (i < shadows->count && shadows->tables[i].schema != schema)
		i++;
	if (i == SHADOWS)
		return NULL;
	if (i == shadows->count)
		shadows->tables[shadows->count++] = (struct shadow) { .schema = schema };
	return &shadows->tables[i];
}

/* Whether row `row` is as it was but for the slots of these bits. */
static inline bool shadow_row(const struct shadow *shadow, const struct sonde_view *view,
			      uint32_t row, const uint64_t *bits)
{
	const struct sonde_schema *schema = view->schema;
	const uint64_t *now = sonde_view_have(view, row);
	bool was_there = row < shadow->nrows;
	const uint64_t *before = was_there ? shadow->words + (size_t)row * view->stride : now;

	for (uint32_t slot = 0; slot < schema->nslots; slot++) {
		if (bits && bits[slot >> 6] >> (slot & 63) & 1)
			continue;
		if (!was_there || (now[slot >> 6] ^ before[slot >> 6]) >> (slot & 63) & 1 ||
		    now[schema->nhave + slot] != before[schema->nhave + slot])
			return false;
	}
	return true;
}

static inline bool shadow_view(struct shadows *shadows, struct shadow *shadow,
			       const struct sonde_view *view, const struct view_changes *changes)
{
	unsigned char *told = calloc(view->nrows + 1, 1);
	bool holds = true;

	for (uint32_t i = 0; i < changes->nmoved; i++)
		told[changes->moved[i]] = 1;
	for (uint32_t i = 0; i < view->nchanged && holds; i++) {
		holds = shadow_row(shadow, view, view->changed[i],
				   changes->slots + (size_t)i * view->schema->nhave) &&
			!told[view->changed[i]];
		told[view->changed[i]] = 1;
	}
	for (uint32_t row = 0; row < view->nrows && holds; row++)
		holds = told[row] || shadow_row(shadow, view, row, NULL);
	shadows->told += view->nchanged + changes->nmoved;
	free(told);
	return holds;
}

/* Whether all that changed since the instant before is told. */
static inline bool shadow_instant(struct shadows *shadows, const struct instant *instant)
{
	bool holds = true;

	for (uint32_t i = 0; i < instant->nviews; i++) {
		const struct sonde_view *view = &instant->views[i];
		struct shadow *shadow = shadow_of(shadows, view->schema);
		size_t size = (size_t)view->nrows * view->stride * sizeof *view->words;

		if (!shadow)
			continue;
		if (view->changed && instant->changes)
			holds = holds && shadow_view(shadows, shadow, view, &instant->changes[i]);
		shadow->words = realloc(shadow->words, size + 1);
		if (size)
			memcpy(shadow->words, view->words, size);
		shadow->nrows = view->nrows;
	}
	return holds;
}

static inline void shadows_free(struct shadows *shadows)
{
	for (uint32_t i = 0; i < shadows->count; i++)
		free(shadows->tables[i].words);
	memset(shadows, 0, sizeof *shadows);
}

#endif
