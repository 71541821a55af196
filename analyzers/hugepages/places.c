/* hp.mthp_fallback and hp.node_pool_empty: huge pages of one size, and of one node (Documentation/admin-guide/mm/transhuge.rst,
 * Documentation/admin-guide/mm/hugetlbpage.rst). */
#include <stdlib.h>

#include "hugepages.h"

static const struct sonde_advice mthp_fallback = {
	.id = "hp.mthp_fallback",
	.why = "Faults asked for pages of this size and got smaller ones, after looking for a larger one: more faults, and more of the TLB.",
	.action =
		"See whether free memory is in pieces (cat /proc/buddyinfo): echo 1 > /proc/sys/vm/compact_memory makes it whole once; or "
		"leave the size out: echo never > /sys/kernel/mm/transparent_hugepage/hugepages-NkB/enabled.",
	.need = "root",
	.risk = "compaction takes CPU time while it runs; without the size its faults are small ones",
	.undo = "write the word back that enabled showed in brackets",
};
static const struct sonde_advice node_pool = {
	.id = "hp.node_pool_empty",
	.why = "What runs on this node gets its hugetlb pages from others, or none where it is bound to the node (SIGBUS at first touch).",
	.action =
		"Move pages between the pools: contrib/hugepages release OTHER COUNT, then contrib/hugepages reserve NODE COUNT; or start the "
		"program where the pages are: numactl --cpunodebind=OTHER --membind=OTHER.",
	.need = "root, and free memory in one piece on the node",
	.risk = "released pages may not be had again while memory is in pieces",
	.undo = "the same with the nodes changed",
};

/* Of the size that one entry of a page table maps hp.thp_fallback tells. */
static void judge_sizes(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	const struct sonde_series *pmd = sonde_single(self, PMD_SIZE);
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, SIZES, &count);

	for (uint32_t i = 0; i < count; i++) {
		const struct sonde_held *held = &series[i].held;
		struct sonde_proof proof = { 0 };
		struct sonde_words about, title;

		if (!held->time || held->denominator < conf->fallback_events ||
		    strcmp(series[i].key, "other") == 0 ||
		    (pmd && strtod(series[i].key, NULL) * 1024 >= pmd->total.last))
			continue;
		sonde_say(&about, "pages of %s kB", series[i].key);
		sonde_say(&title, "%.0f %% of page faults that wanted %s kB got smaller pages",
			  sonde_held_mean(held) * 100, series[i].key);
		sonde_prove(&proof, "hp.size_fallback", sonde_held_mean(held), SONDE_BASE_RATIO,
			    NULL, "stats/anon_fault_fallback, of anon_fault_alloc and it");
		sonde_prove(&proof, "hp.size_faults", held->denominator, SONDE_BASE_COUNT, "faults",
			    "stats/anon_fault_alloc anon_fault_fallback");
		sonde_found(self, &mthp_fallback, SONDE_SEVERITY_INFO, about.text, title.text, held,
			    sonde_weight(held), &proof);
	}
}

/* Of all nodes, the fewest that were free and not promised of this size at any time. */
static double free_elsewhere(struct sonde_instance *self, const char *size)
{
	const struct sonde_series *pool = sonde_series_of(self, POOL_FREE, size, NULL);

	return pool ? pool->total.min : 0;
}

/* Keys are "NODE SIZE". */
static void judge_nodes(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	const struct sonde_held held = sonde_all_along(self);
	uint32_t count, told = 0;
	const struct sonde_series *series = sonde_series(self, NODE_POOL, &count);

	for (uint32_t i = 0; i < count && told < conf->limit; i++) {
		const struct sonde_series *left =
			sonde_series_of(self, NODE_POOL_FREE, series[i].key, NULL);
		const char *size = strchr(series[i].key, ' ');
		struct sonde_proof proof = { 0 };
		struct sonde_words about, title;
		double elsewhere;

		if (!left || !size || series[i].total.last <= 0 || left->total.max > 0)
			continue;
		elsewhere = free_elsewhere(self, size + 1);
		if (elsewhere <= 0)
			continue;
		sonde_say(&about, "node %.*s", (int)(size - series[i].key), series[i].key);
		sonde_say(
			&title,
			"All %.0f huge pages of %s kB of node %.*s are in use, while others have %.0f free",
			series[i].total.last, size + 1, (int)(size - series[i].key), series[i].key,
			elsewhere);
		sonde_prove(&proof, "hp.node_pages", series[i].total.last, SONDE_BASE_COUNT,
			    "huge pages", "nodeN/hugepages/hugepages-NkB/nr_hugepages");
		sonde_prove(&proof, "hp.idle_pages", elsewhere, SONDE_BASE_COUNT, "huge pages",
			    "hugepages-NkB free_hugepages less resv_hugepages, smallest");
		sonde_found(self, &node_pool, SONDE_SEVERITY_INFO, about.text, title.text, &held, 0,
			    &proof);
		told++;
	}
}

void hugepages_places(struct sonde_instance *self)
{
	judge_sizes(self);
	judge_nodes(self);
}
