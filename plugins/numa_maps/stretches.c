/* The largest stretches of memory, kept while mappings pass one after another: there may be a hundred thousand of them. */
#include "stretches.h"

void mapping_set(struct mapping_name *name, const char *text, size_t length)
{
	size_t beyond = length > MAPPING_LENGTH ? length - MAPPING_LENGTH : 0;

	name->length = (uint32_t)(length - beyond);
	memcpy(name->text, text + beyond, name->length);
}

bool mapping_same(const struct mapping_name *a, const struct mapping_name *b)
{
	return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* Into the one of its name and node, else in place of the smallest, if that is smaller. */
static void keep(struct stretches *stretches, uint64_t node, uint64_t bytes)
{
	struct stretch *smallest = &stretches->item[0];

	for (uint32_t i = 0; i < stretches->count; i++) {
		struct stretch *one = &stretches->item[i];

		if (one->node == node && mapping_same(&one->name, &stretches->name)) {
			one->bytes += bytes;
			return;
		}
		if (one->bytes < smallest->bytes)
			smallest = one;
	}
	if (stretches->count < STRETCHES_MOST)
		smallest = &stretches->item[stretches->count++];
	else if (smallest->bytes >= bytes)
		return;
	*smallest = (struct stretch) { stretches->name, node, bytes };
}

void stretches_end(struct stretches *stretches)
{
	for (uint32_t i = 0; i < stretches->nnodes; i++)
		keep(stretches, stretches->node[i], stretches->bytes[i]);
	stretches->nnodes = 0;
}

void stretches_add(struct stretches *stretches, const struct mapping_name *name, uint64_t node,
		   uint64_t bytes)
{
	uint32_t n = 0;

	if (!mapping_same(name, &stretches->name)) {
		stretches_end(stretches);
		stretches->name = *name;
	}
	while (n < stretches->nnodes && stretches->node[n] != node)
		n++;
	if (n == MAPPING_NODES)
		return;
	if (n == stretches->nnodes) {
		stretches->node[n] = node;
		stretches->bytes[n] = 0;
		stretches->nnodes++;
	}
	stretches->bytes[n] += bytes;
}
