/* numa: nodes by their folders. Expected values are those of the texts. */
#include "plugins/numa/numa.c"

#include "fakehost.h"

const char suite[] = "numa";

#define NODE_FILE(n, file) NODES_FOLDER "/node" #n "/" file

/* Cases 82, 84 and 85: gaps, distance by the nodes that are online, a node without CPUs. */
static void a_gap_and_a_node_without_cpus(void)
{
	CU_ASSERT_EQUAL(fake_start("plugins/numa/fixtures/cxl"), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("numa"), 2);
	IS("numa", "0", "cpulist", "0-1");
	IS("numa", "2", "cpulist", "");
	IS("numa", "2", "has_memory", "1");
	IS("numa", "2", "numa_miss", "2001");
	IS("numa", "2", "other_node", "2005");
	IS("numa_meminfo", "2", "mem_total", "8192000");
	IS("numa_meminfo", "2", "active_anon", "77");
	IS("numa_meminfo", "0", "huge_pages_total", "1");
	IS("numa_vmstat", "2", "numa_hit", "2000");
	IS("numa_vmstat", "2", "pgdemote_kswapd", "10");
	CU_ASSERT_EQUAL(fake_rows("numa_distance"), 4);
	IS("numa_distance", "0 2", "distance", "24");
	IS("numa_distance", "2 2", "distance", "10");
	IS("numa_distance", "0 1", "distance", "no row");
	fake_end();
}

/* Case 77: keys of a newer kernel are kept apart and nothing shifts. */
static void newer_keys(void)
{
	put(NODES_FOLDER "/online", "0\n");
	put(NODE_FILE(0, "meminfo"),
	    "Node 0 MemTotal:       1000 kB\nNode 0 KReclaimable: 1234 kB\n"
	    "Node 0 Novelty:        7 kB\nNode 0 FileHugePages: 5 kB\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_meminfo", "0", "k_reclaimable", "1234");
	IS("numa_meminfo", "0", "file_huge_pages", "5");
	IS("numa_meminfo_more", "0", "novelty", "7");
	fake_end();
}

/* Cases 80 and 81: only node1; case 87: it has no distance, and the rest works. */
static void only_node1(void)
{
	put(NODE_FILE(1, "numastat"), "numa_hit 5\nnuma_miss 1\n");
	put(NODE_FILE(1, "cpulist"), "0-3\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("numa"), 1);
	IS("numa", "1", "numa_hit", "5");
	IS("numa", "1", "numa_foreign", "-");
	IS("numa", "1", "cpulist", "0-3");
	IS("numa", "1", "has_memory", "-");
	CU_ASSERT_EQUAL(fake_rows("numa_distance"), 0);
	fake_end();
}

/* Case 82, its own numbers: online 0-1,3-9; the third number is node 3's. */
static void distance_by_online_node(void)
{
	static const char text[] = "20 20 10 15 20 20 20 20 20\n";
	uint64_t distance[NODES];
	struct set online;

	CU_ASSERT(list_parse("0-1,3-9\n", 8, &online));
	CU_ASSERT_EQUAL(set_count(&online), 9);
	CU_ASSERT_EQUAL(distance_parse(text, sizeof text - 1, &online, distance), 9);
	CU_ASSERT_EQUAL(distance[1], 20);
	CU_ASSERT_EQUAL(distance[3], 10);
	CU_ASSERT_EQUAL(distance[4], 15);
	CU_ASSERT_EQUAL(distance_parse("10 20\n", 6, &online, distance), -EBADMSG);
	CU_ASSERT_EQUAL(distance_parse("1 2 3 4 5 6 7 8 9 10\n", 21, &online, distance), -EBADMSG);
}

/* Case 98 for nodes: the whole grammar of lists. */
static void lists(void)
{
	static const struct {
		const char *text;
		bool ok;
		uint32_t count;
	} cases[] = { { "\n", true, 0 },    { "", true, 0 },
		      { "0\n", true, 1 },   { "0,3-7\n", true, 6 },
		      { "1023", true, 1 },  { "0-99999999999\n", true, SET_NUMBERS },
		      { "5-3\n", true, 0 }, { "0-\n", false, 0 },
		      { "x\n", false, 0 },  { "0-1 3\n", false, 0 } };
	struct set set;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CU_ASSERT_EQUAL(list_parse(cases[i].text, strlen(cases[i].text), &set),
				cases[i].ok);
		if (cases[i].ok)
			CU_ASSERT_EQUAL(set_count(&set), cases[i].count);
	}
}

/* Memory that comes online while running (CXL) gets rows; what went offline has none. */
static void nodes_come_and_go(void)
{
	put(NODES_FOLDER "/online", "0\n");
	put(NODES_FOLDER "/possible", "0-1\n");
	put(NODE_FILE(0, "vmstat"), "nr_free_pages 1\n");
	put(NODE_FILE(0, "distance"), "10\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_vmstat", "1", "nr_free_pages", "no row");
	put(NODES_FOLDER "/online", "0-1\n");
	put(NODE_FILE(0, "distance"), "10 20\n");
	put(NODE_FILE(1, "vmstat"), "nr_free_pages 2\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_vmstat", "1", "nr_free_pages", "2");
	IS("numa_distance", "0 1", "distance", "20");
	put(NODES_FOLDER "/online", "0\n");
	put(NODE_FILE(0, "distance"), "10\n");
	put(NODE_FILE(1, "vmstat"), NULL);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("numa"), 1);
	CU_ASSERT_EQUAL(fake_rows("numa_distance"), 1);
	fake_end();
}

/* Case 86: a node of a GPU, with neither CPUs nor memory, is a node whose memory is 0, and has no share of anything else's. */
static void a_node_with_nothing(void)
{
	put(NODES_FOLDER "/online", "0,2\n");
	put(NODES_FOLDER "/has_memory", "0\n");
	put(NODE_FILE(0, "cpulist"), "0-71\n");
	put(NODE_FILE(0, "meminfo"), "Node 0 MemTotal:       1000 kB\n");
	put(NODE_FILE(2, "cpulist"), "\n");
	put(NODE_FILE(2, "meminfo"), "Node 2 MemTotal:          0 kB\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa", "2", "cpulist", "");
	IS("numa", "2", "has_memory", "0");
	IS("numa_meminfo", "2", "mem_total", "0");
	IS("numa_meminfo", "2", "mem_free", "-");
	fake_end();
}

/* Keys that have the origin of a column that is no number touch it not. */
static void hostile_keys(void)
{
	put(NODE_FILE(0, "numastat"), "cpulist 99999999999\nnodeN 7\nnuma_hit 5\n");
	put(NODE_FILE(0, "cpulist"), "0-3\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa", "0", "cpulist", "0-3");
	IS("numa", "0", "numa_hit", "5");
	put(NODE_FILE(0, "cpulist"), NULL);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa", "0", "cpulist", "-");
	fake_end();
}

/* Case 17, of nodes: a file that cannot be read takes its own values away and no others. Its row has not ended: the sample
 * is marked partial. */
static void one_file_fails(void)
{
	put(NODES_FOLDER "/online", "0-1\n");
	put(NODE_FILE(0, "meminfo"), "Node 0 MemTotal:       1000 kB\n");
	put(NODE_FILE(1, "meminfo"), "Node 1 MemTotal:       2000 kB\n");
	put(NODE_FILE(1, "numastat"), "numa_hit 5\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT(!fake.frame.partial);
	put_error(NODE_FILE(1, "meminfo"), EBUSY);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_meminfo", "0", "mem_total", "1000");
	IS("numa_meminfo", "1", "mem_total", "no row");
	IS("numa", "1", "numa_hit", "5");
	CU_ASSERT(fake.frame.partial);
	put(NODE_FILE(1, "meminfo"), "Node 1 MemTotal:       2001 kB\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("numa_meminfo", "1", "mem_total", "2001");
	CU_ASSERT(!fake.frame.partial);
	fake_end();
}

/* Case 87. */
static void absent(void)
{
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "CONFIG_NUMA"));
	fake_end();
}

static void fixtures(void)
{
	fixture("6.18");
	fixture("cxl");
}

/* Oracles: the trees' README says which nodes there are; values by eye. */
static void captured(void)
{
	static const struct {
		const char *tarball, *inside;
		uint32_t nodes, distances;
		const char *node, *to, *distance, *hit;
	} trees[] = {
		{ "corpus/hwloc-nvidiagpunumanodes.tar.xz", "nvidiagpunumanodes", 8, 64, "0", "0 8",
		  "40", NULL },
		{ "corpus/hwloc-256ppc-8n8s4t.tar.xz", "256ppc-8n8s4t", 8, 64, "13", "13 13", "10",
		  NULL },
		/* Of its two distances one is of a node that is not online: which, the text does not say. */
		{ "corpus/hwloc-offline-cpu0-node0.tar.xz", "offline-cpu0-node0", 1, 0, "1", "1 1",
		  "no row", "1333493827" },
		{ "corpus/hwloc-64amd64-4p2n4ca2co.tar.xz", "64amd64-4p2n4ca2co/fsroot", 8, 64, "0",
		  "0 7", "22", NULL },
		{ "corpus/pcp-sysfs-numa-001.tar.xz", "", 4, 16, "0", "0 3", "20", NULL },
	};
	char root[512];

	for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
		if (!shared_tree(trees[i].tarball, trees[i].inside, root, sizeof root))
			continue;
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_EQUAL(fake_rows("numa"), trees[i].nodes);
		CU_ASSERT_EQUAL(fake_rows("numa_distance"), trees[i].distances);
		IS("numa_distance", trees[i].to, "distance", trees[i].distance);
		if (trees[i].hit)
			IS("numa", trees[i].node, "numa_hit", trees[i].hit);
		fake_end();
	}
	if (shared_tree("vm/fixtures/numa4cxl-7.2-balance.tar.xz", "numa4cxl-7.2-balance/t2", root,
			sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		IS("numa", "3", "cpulist", "");
		IS("numa_distance", "0 3", "distance", "31");
		IS("numa_meminfo", "0", "mem_free", "482836");
		IS("numa_vmstat", "0", "nr_slab_unreclaimable", "1607");
		CU_ASSERT_PTR_NULL(fake_table("numa_vmstat_more"));
		CU_ASSERT_PTR_NULL(fake_table("numa_meminfo_more"));
		fake_end();
	}
	/* What its machine was given: HMAT of three nodes, the third without CPUs and slow. */
	if (shared_tree("vm/fixtures/hmat3-7.2-tier.tar.xz", "hmat3-7.2-tier/t2", root,
			sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		IS("numa", "1", "tier", "4");
		IS("numa", "2", "tier", "60");
		IS("numa", "0", "read_latency", "90");
		IS("numa", "2", "write_latency", "300");
		IS("numa", "2", "read_bandwidth", "30000");
		fake_end();
	}
	shared_end();
}

CU_TestInfo tests[] = {
	{ "cases 82, 84, 85: a gap and a node without CPUs", a_gap_and_a_node_without_cpus },
	{ "case 77: newer keys", newer_keys },
	{ "cases 80, 81, 87: only node1", only_node1 },
	{ "case 82: distance by online node", distance_by_online_node },
	{ "case 98: lists", lists },
	{ "nodes come and go", nodes_come_and_go },
	{ "case 86: a node with nothing", a_node_with_nothing },
	{ "hostile keys", hostile_keys },
	{ "case 17: one file fails", one_file_fails },
	{ "case 87: absent", absent },
	{ "fixtures", fixtures },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
