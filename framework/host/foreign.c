/* Schemas of other hosts. Columns of one hash agree in all that their values mean; help and origin are those of the first. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"
#include "host/foreign.h"

/* What all hosts of a fleet have together is some hundreds; a peer that makes up tables reaches the bound. */
enum { BUCKETS = 4096, MOST = 2048, MOST_COLUMNS = 1 << 16 };

struct foreign {
	pthread_mutex_t lock;
	struct sonde_schema *buckets[BUCKETS]; /* open addressing */
	uint32_t count, columns;
};

struct foreign *foreign_new(void)
{
	struct foreign *foreign = calloc(1, sizeof *foreign);

	if (foreign)
		pthread_mutex_init(&foreign->lock, NULL);
	return foreign;
}

void foreign_free(struct foreign *foreign)
{
	if (!foreign)
		return;
	for (int i = 0; i < BUCKETS; i++)
		schema_free(foreign->buckets[i]);
	pthread_mutex_destroy(&foreign->lock);
	free(foreign);
}

static struct sonde_schema *copy(const struct sonde_schema *schema)
{
	struct sonde_table table = {
		.name = schema->name,
		.columns = { schema->columns, schema->ncolumns, sizeof *schema->columns },
		.origin = schema->origin,
		.help = schema->help,
		.flags = schema->flags,
	};
	struct sonde_schema *made;
	char why[256];

	if (schema_make(&table, &made, why, sizeof why))
		return NULL;
	made->hash = schema->hash;
	return made;
}

/* The layout is compared too: a hash that a peer forged must not change where the strings of a row are. */
static bool same(const struct sonde_schema *a, const struct sonde_schema *b)
{
	if (a->hash != b->hash || a->ncolumns != b->ncolumns || a->nslots != b->nslots ||
	    strcmp(a->name, b->name) != 0)
		return false;
	for (uint32_t i = 0; i < a->ncolumns; i++)
		if (a->columns[i].type != b->columns[i].type || a->slot[i] != b->slot[i])
			return false;
	return true;
}

static const struct sonde_schema *find(struct foreign *foreign, const struct sonde_schema *schema)
{
	uint32_t at = (uint32_t)(schema->hash % BUCKETS);

	for (; foreign->buckets[at]; at = (at + 1) % BUCKETS)
		if (same(foreign->buckets[at], schema))
			return foreign->buckets[at];
	if (foreign->count == MOST || foreign->columns + schema->ncolumns > MOST_COLUMNS)
		return NULL;
	foreign->buckets[at] = copy(schema);
	if (foreign->buckets[at]) {
		foreign->count++;
		foreign->columns += schema->ncolumns;
	}
	return foreign->buckets[at];
}

const struct sonde_schema *foreign_schema(struct foreign *foreign,
					  const struct sonde_schema *schema)
{
	const struct sonde_schema *kept;

	pthread_mutex_lock(&foreign->lock);
	kept = find(foreign, schema);
	pthread_mutex_unlock(&foreign->lock);
	return kept;
}
