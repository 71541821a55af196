/* vmstat: expected values are those of the text. */
#include "plugins/vmstat/vmstat.c"

#include "fakehost.h"

const char suite[] = "vmstat";

static const struct sonde_column *column(const char *name)
{
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		if (strcmp(columns[i].name, name) == 0)
			return &columns[i];
	return NULL;
}

static void gauges_and_counters(void)
{
	put("/proc/vmstat",
	    "nr_free_pages 412790\npgfault 18446744073709551615\nnr_dirtied 5\npgpgin 4\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("vmstat", "", "nr_free_pages", "412790");
	IS("vmstat", "", "pgfault", "18446744073709551615");
	IS("vmstat", "", "nr_dirtied", "5");
	IS("vmstat", "", "pgpgin", "4");
	IS("vmstat", "", "pgpgout", "-");
	CU_ASSERT_EQUAL(column("nr_free_pages")->semantics, SONDE_GAUGE);
	CU_ASSERT_EQUAL(column("pgfault")->semantics, SONDE_COUNTER);
	CU_ASSERT_EQUAL(column("nr_dirtied")->semantics,
			SONDE_COUNTER);                     /* mm/vmstat.c: only ever added to */
	CU_ASSERT_EQUAL(column("pgpgin")->scale_mul, 1024); /* vmstat_start(): sectors -> kbytes */
	CU_ASSERT_STRING_EQUAL(column("nr_anon_transparent_hugepages")->counted, "huge pages");
	fake_end();
}

static void newer_keys(void)
{
	struct frame_table *more;

	put("/proc/vmstat", "nr_free_pages 1\nnr_shiny 2\nshiny_events 3\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("vmstat_more", "", "nr_shiny", "2");
	IS("vmstat_more", "", "shiny_events", "3");
	more = fake_table("vmstat_more");
	CU_ASSERT_PTR_NOT_NULL_FATAL(more);
	CU_ASSERT_EQUAL(more->schema->columns[0].semantics, SONDE_GAUGE);
	CU_ASSERT_EQUAL(more->schema->columns[1].semantics, SONDE_COUNTER);
	fake_end();
}

/* Every key twice, one of them too long for a column, more of them than there is room for. */
static void hostile_keys(void)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (int i = 0; i < 5000; i++)
		fprintf(out, "odd%d %d\nodd%d %d\nUPPER 1\n", i, i, i, i + 1);
	fprintf(out, "%0300d 5\nnr_free_pages 7\n", 1);
	fclose(out);
	put("/proc/vmstat", text);
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("vmstat", "", "nr_free_pages", "7");
	IS("vmstat_more", "", "odd5", "6"); /* the last line of one key counts */
	fake_end();
	free(text);
}

static void fixtures(void)
{
	fixture("6.18");
}

/* Every key of every captured kernel has a column; oracle for a value: the text. */
static void captured(void)
{
	static const struct {
		const char *tarball, *inside, *key, *value;
	} trees[] = {
		{ "vm/fixtures/numa2-7.2-bound.tar.xz", "numa2-7.2-bound/t2", "numa_other",
		  "51349" },
		{ "vm/fixtures/numa2-6.1-bound.tar.xz", "numa2-6.1-bound/t0", NULL, NULL },
		{ "vm/fixtures/arm64-numa2-6.1-balance.tar.xz", "arm64-numa2-6.1-balance/t0", NULL,
		  NULL },
		{ "corpus/pcp-meminfo-root-002.tar.xz", "", NULL, NULL },
		{ "corpus/sysstat-roots.tar.xz", "root1", NULL, NULL },
	};
	char root[512];

	for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
		if (!shared_tree(trees[i].tarball, trees[i].inside, root, sizeof root))
			continue;
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_PTR_NULL(fake_table("vmstat_more"));
		if (trees[i].key)
			IS("vmstat", "", trees[i].key, trees[i].value);
		fake_end();
	}
	shared_end();
}

CU_TestInfo tests[] = {
	{ "gauges and counters", gauges_and_counters },
	{ "newer keys", newer_keys },
	{ "hostile keys", hostile_keys },
	{ "fixtures", fixtures },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
