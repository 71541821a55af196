/* The machine: what collectors topology, numa and thp tell of it, each table as it was first. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

static void take_machine(struct gathered *gathered, const struct sonde_view *view)
{
	if (!view->nrows)
		return;
	gathered->model = bytes_of(gathered, view, 0, "model");
	gathered->sockets = (uint64_t)base_of(view, 0, "sockets");
	gathered->cores = (uint64_t)base_of(view, 0, "cores");
}

static struct node *node_for(struct gathered *gathered, uint64_t id)
{
	struct node *nodes = gathered->node_list.items;
	struct node *made;

	for (uint32_t i = 0; i < gathered->node_list.count; i++)
		if (nodes[i].id == id)
			return &nodes[i];
	if (gathered->node_list.count == NODES_MOST)
		return NULL;
	made = list_append(gathered, &gathered->node_list, sizeof *made);
	if (made)
		made->id = id;
	return made;
}

static void take_nodes(struct gathered *gathered, const struct sonde_view *view)
{
	for (uint32_t row = 0; row < view->nrows; row++) {
		struct node *node = node_for(gathered, (uint64_t)base_of(view, row, "node"));

		if (!node)
			return;
		if (!node->memory)
			node->memory = base_of(view, row, "mem_total");
		if (!node->cpus)
			node->cpus = bytes_of(gathered, view, row, "cpus");
		if (!node->cpus)
			node->cpus = bytes_of(gathered, view, row, "cpulist");
		if (!node->distance)
			node->distance = bytes_of(gathered, view, row, "distance");
	}
}

/* Whether two texts, or none, are the same. */
static bool alike(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static void take_caches(struct gathered *gathered, const struct sonde_view *view)
{
	for (uint32_t row = 0; row < view->nrows; row++) {
		const struct cache one = { .type = bytes_of(gathered, view, row, "type"),
					   .level = (uint64_t)base_of(view, row, "level"),
					   .shared = (uint64_t)base_of(view, row, "shared"),
					   .size = base_of(view, row, "size"),
					   .count = 1 };
		struct cache *items = gathered->caches.items, *made;
		uint32_t i = 0;

		while (i < gathered->caches.count &&
		       !(items[i].level == one.level && items[i].shared == one.shared &&
			 items[i].size == one.size && alike(items[i].type, one.type)))
			i++;
		if (i < gathered->caches.count) {
			items[i].count++;
			free(one.type);
			continue;
		}
		made = list_append(gathered, &gathered->caches, sizeof *made);
		if (made)
			*made = one;
		else
			free(one.type);
	}
}

static void take_cpus(struct gathered *gathered, const struct sonde_view *view)
{
	for (uint32_t row = 0; row < view->nrows; row++) {
		const struct governor one = {
			.governor = bytes_of(gathered, view, row, "scaling_governor"),
			.driver = bytes_of(gathered, view, row, "scaling_driver"),
			.cpus = 1
		};
		struct governor *items = gathered->governors.items, *made = NULL;
		uint32_t i = 0;

		while (i < gathered->governors.count && !(alike(items[i].governor, one.governor) &&
							  alike(items[i].driver, one.driver)))
			i++;
		if (i < gathered->governors.count)
			items[i].cpus++;
		else if (one.governor && *one.governor)
			made = list_append(gathered, &gathered->governors, sizeof *made);
		if (made) {
			*made = one;
			continue;
		}
		free(one.governor);
		free(one.driver);
	}
}

static void take_thp(struct gathered *gathered, const struct sonde_view *view)
{
	if (!view->nrows)
		return;
	gathered->thp_enabled = bytes_of(gathered, view, 0, "enabled");
	gathered->thp_defrag = bytes_of(gathered, view, 0, "defrag");
}

static void take_pools(struct gathered *gathered, const struct sonde_view *view)
{
	for (uint32_t row = 0; row < view->nrows; row++) {
		struct pool *made = list_append(gathered, &gathered->pools, sizeof *made);

		if (!made)
			return;
		made->size = base_of(view, row, "size");
		made->pages = (uint64_t)base_of(view, row, "nr_hugepages");
		made->unused = (uint64_t)base_of(view, row, "free_hugepages");
		made->reserved = (uint64_t)base_of(view, row, "resv_hugepages");
	}
}

static void take_settings(struct gathered *gathered, const struct sonde_view *view)
{
	for (uint32_t row = 0; row < view->nrows; row++) {
		struct setting *made = list_append(gathered, &gathered->settings, sizeof *made);

		if (!made)
			return;
		made->name = bytes_of(gathered, view, row, "name");
		made->value = bytes_of(gathered, view, row, "value");
	}
}

static const struct {
	const char *table;
	void (*take)(struct gathered *gathered, const struct sonde_view *view);
} tables[] = {
	{ "topology", take_machine },
	{ "topology_node", take_nodes },
	{ "numa", take_nodes },
	{ "numa_meminfo", take_nodes },
	{ "topology_cache", take_caches },
	{ "topology_cpu", take_cpus },
	{ "sysctl", take_settings },
	{ "thp", take_thp },
	{ "hugetlb", take_pools },
};

void topology_view(struct gathered *gathered, const struct sonde_view *view)
{
	for (uint32_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		if (strcmp(view->schema->name, tables[i].table) != 0 ||
		    (gathered->tables_taken & 1u << i))
			continue;
		gathered->tables_taken |= 1u << i;
		tables[i].take(gathered, view);
	}
}
