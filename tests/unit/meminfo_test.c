/* meminfo: expected values are those of the text. */
#include "plugins/meminfo/meminfo.c"

#include "fakehost.h"

const char suite[] = "meminfo";

static const struct sonde_column *column(const char *name)
{
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		if (strcmp(columns[i].name, name) == 0)
			return &columns[i];
	return NULL;
}

/* Cases 109 and 110: by key, not by line; MemAvailable is absent before 3.14, and that is said. */
static void both_layouts(void)
{
	put("/proc/meminfo", "MemTotal:        1030240 kB\nMemFree:          100000 kB\n"
			     "Buffers:           20000 kB\nCached:           300000 kB\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "3.14"));
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("meminfo", "", "mem_available", "-");
	IS("meminfo", "", "buffers", "20000");
	IS("meminfo", "", "cached", "300000");
	fake_end();
	put("/proc/meminfo",
	    "MemTotal:        1030240 kB\nMemFree:          100000 kB\nMemAvailable:     350000 kB\n"
	    "Buffers:           20000 kB\nCached:           300000 kB\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_STRING_EQUAL(fake.notes, "");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("meminfo", "", "mem_available", "350000");
	IS("meminfo", "", "buffers", "20000");
	fake_end();
}

/* Cases 108 and 113: counts are counts, not KiB; free and reserved both stay. */
static void huge_pages_are_counted(void)
{
	put("/proc/meminfo",
	    "MemTotal: 1 kB\nMemAvailable: 1 kB\nHugePages_Total:   53342\nHugePages_Free:      500\n"
	    "HugePages_Rsvd:      490\nHugepagesize:       2048 kB\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("meminfo", "", "huge_pages_total", "53342");
	IS("meminfo", "", "huge_pages_free", "500");
	IS("meminfo", "", "huge_pages_rsvd", "490");
	IS("meminfo", "", "hugepagesize", "2048");
	CU_ASSERT_EQUAL(column("huge_pages_total")->unit, SONDE_BASE_COUNT);
	CU_ASSERT_EQUAL(column("huge_pages_total")->scale_mul, 1);
	CU_ASSERT_EQUAL(column("hugepagesize")->unit, SONDE_BASE_BYTES);
	CU_ASSERT_EQUAL(column("hugepagesize")->scale_mul, 1024);
	fake_end();
}

/* Keys that only a newer kernel has are kept in a table of their own, in the unit that the text says. */
static void newer_keys(void)
{
	struct frame_table *more;

	put("/proc/meminfo",
	    "MemTotal: 1 kB\nMemAvailable: 1 kB\nShinyMemory:  77 kB\nShiny_Count:   3\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("meminfo_more", "", "shiny_memory", "77");
	IS("meminfo_more", "", "shiny_count", "3");
	more = fake_table("meminfo_more");
	CU_ASSERT_PTR_NOT_NULL_FATAL(more);
	CU_ASSERT_EQUAL(more->schema->columns[0].scale_mul, 1024);
	CU_ASSERT_EQUAL(more->schema->columns[1].unit, SONDE_BASE_COUNT);
	CU_ASSERT_EQUAL(more->schema->columns[1].semantics, SONDE_GAUGE);
	fake_end();
}

/* A key that vanishes is absent, one that comes later is passed over, and so is a cut value. */
static void keys_come_and_go(void)
{
	put("/proc/meminfo", "MemTotal: 10 kB\nMemFree: 5 kB\nMemAvailable: 7 kB\nZswap: 3 kB\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	put("/proc/meminfo", "Novel: 1 kB\nMemTotal: 10 kB\nMemAvailable: 8 kB\nZswap: 99");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("meminfo", "", "mem_total", "10");
	IS("meminfo", "", "mem_free", "-");
	IS("meminfo", "", "mem_available", "8");
	IS("meminfo", "", "zswap", "-");
	fake_end();
}

/* The name of each column is its key's in snake case, but for one that the rule would split. */
static void names_follow_the_keys(void)
{
	char name[KEYED_NAME];

	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		CU_ASSERT(keyed_name(columns[i].origin, strlen(columns[i].origin), name));
		CU_ASSERT_STRING_EQUAL(name, columns[i].name);
		CU_ASSERT(columns[i].help[0]);
	}
}

static void fixtures(void)
{
	fixture("6.18");
}

/* Oracle: MemTotal by grep. */
static void captured(void)
{
	static const struct {
		const char *tarball, *inside, *total;
	} trees[] = {
		{ "corpus/procfs-fixtures.tar.xz", "fixtures", "15666184" },
		{ "vm/fixtures/numa2-7.2-bound.tar.xz", "numa2-7.2-bound/t2", NULL },
		{ "corpus/hwloc-256ppc-8n8s4t.tar.xz", "256ppc-8n8s4t", NULL },
		{ "corpus/hwloc-fakeheteromemtiers.tar.xz", "fakeheteromemtiers", NULL },
	};
	char root[512];

	for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
		if (!shared_tree(trees[i].tarball, trees[i].inside, root, sizeof root))
			continue;
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_NOT_EQUAL(strtoull(got("meminfo", "", "mem_total"), NULL, 10), 0);
		if (trees[i].total)
			IS("meminfo", "", "mem_total", trees[i].total);
		fake_end();
	}
	shared_end();
}

CU_TestInfo tests[] = {
	{ "cases 109 and 110: both layouts", both_layouts },
	{ "cases 108 and 113: huge pages are counted", huge_pages_are_counted },
	{ "newer keys", newer_keys },
	{ "keys come and go", keys_come_and_go },
	{ "names follow the keys", names_follow_the_keys },
	{ "fixtures", fixtures },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
