/* /sys/devices/system/node and /sys/kernel/mm: nodes, transparent huge pages, hugetlb pools (Documentation/admin-guide/numastat.rst,
 * Documentation/admin-guide/mm/transhuge.rst, Documentation/admin-guide/mm/hugetlbpage.rst). */
#include "demo/texts.h"

#define NODES "/sys/devices/system/node"
#define THP   "/sys/kernel/mm/transparent_hugepage"
#define MTHP  THP "/hugepages-64kB"
#define POOL  "/sys/kernel/mm/hugepages/hugepages-2048kB"

typedef unsigned long long ull;

/* Both nodes have as many allocations. */
static void write_numastat(FILE *out, const struct model *model, uint32_t node)
{
	double local = model->value[LOCAL_PAGES] / DEMO_NODES;
	double other = model->value[OTHER_PAGES] / DEMO_NODES;

	(void)node;
	fprintf(out,
		"numa_hit %llu\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node %llu\n"
		"other_node %llu\n",
		(ull)count_of(model, local + other), (ull)count_of(model, local),
		(ull)count_of(model, other));
}

static void write_meminfo(FILE *out, const struct model *model, uint32_t node)
{
	const double *value = model->value;
	double mib = node ? value[NODE1_FREE] : value[FREE] - value[NODE1_FREE];
	ull total = MEMORY_MIB / DEMO_NODES * 1024ull, left = (ull)(1024 * mib + 0.5);

	fprintf(out,
		"Node %u MemTotal: %llu kB\nNode %u MemFree: %llu kB\nNode %u MemUsed: %llu kB\n"
		"Node %u Active(file): %.0f kB\nNode %u Inactive(file): %.0f kB\n",
		node, total, node, left, node, total - left, node, 256 * value[CACHE], node,
		256 * value[CACHE]);
}

static void write_defrag(FILE *out, const struct model *model, uint32_t which)
{
	(void)which;
	fputs(model->value[THP_DEFRAG] ? "[always] defer defer+madvise madvise never\n"
				       : "always defer defer+madvise [madvise] never\n",
	      out);
}

static void write_pool(FILE *out, const struct model *model, uint32_t which)
{
	fprintf(out, "%.0f\n", model->value[which]);
}

static void write_sizes(FILE *out, const struct model *model, uint32_t which)
{
	(void)model, (void)which;
	fprintf(out, "hugepages-64kB%chugepages-2048kB%c", '\0', '\0');
}

static void write_count(FILE *out, const struct model *model, uint32_t which)
{
	fprintf(out, "%llu\n", (ull)counted(model, which));
}

/* What node 0 does not have; its quantities are in the same order. */
static void write_node1_pool(FILE *out, const struct model *model, uint32_t which)
{
	fprintf(out, "%.0f\n", model->value[which] - model->value[which + HUGETLB_NODE0 - HUGETLB]);
}

static void write_pool_folder(FILE *out, const struct model *model, uint32_t which)
{
	(void)model, (void)which;
	fprintf(out, "hugepages-2048kB%c", '\0');
}

#define NODE_POOL(node) NODES "/node" #node "/hugepages/hugepages-2048kB"
#define OF_NODES(name, what)                                                                       \
	{                                                                                          \
		"numa", NODES "/node#/" name, .write = what, .count = DEMO_NODES                   \
	}

static const struct demo_file files[] = {
	OF_NODES("numastat", write_numastat),
	OF_NODES("meminfo", write_meminfo),
	{ "thp", THP "/enabled", .text = "[always] madvise never\n" },
	{ "thp", THP "/defrag", .write = write_defrag },
	{ "thp", THP "/hpage_pmd_size", .text = "2097152\n" },
	{ "thp", THP, .write = write_sizes, .kind = FOLDER },
	{ "thp", MTHP "/enabled", .text = "[always] inherit madvise never\n" },
	{ "thp", MTHP "/stats/anon_fault_alloc", .write = write_count, .first = MTHP_ALLOC },
	{ "thp", MTHP "/stats/anon_fault_fallback", .write = write_count, .first = MTHP_FALLBACK },
	{ "thp", "/sys/kernel/mm/hugepages", .write = write_pool_folder, .kind = FOLDER },
	{ "thp", POOL "/nr_hugepages", .write = write_pool, .first = HUGETLB },
	{ "thp", POOL "/free_hugepages", .write = write_pool, .first = HUGETLB_FREE },
	{ "thp", NODE_POOL(0) "/nr_hugepages", .write = write_pool, .first = HUGETLB_NODE0 },
	{ "thp", NODE_POOL(0) "/free_hugepages", .write = write_pool, .first = HUGETLB_NODE0_FREE },
	{ "thp", NODE_POOL(1) "/nr_hugepages", .write = write_node1_pool, .first = HUGETLB },
	{ "thp", NODE_POOL(1) "/free_hugepages", .write = write_node1_pool, .first = HUGETLB_FREE },
	{ "thp", POOL "/resv_hugepages", .text = "0\n" },
	{ "thp", POOL "/surplus_hugepages", .text = "0\n" },
	{ "thp", POOL "/nr_overcommit_hugepages", .text = "0\n" },
};

const struct demo_files memory_files = { files, sizeof files / sizeof *files };
