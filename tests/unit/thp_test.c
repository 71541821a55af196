/* thp: words in brackets, counts by size, pools. Expected values are those of the texts. */
#include "plugins/thp/thp.c"

#include "fakehost.h"

const char suite[] = "thp";

#define SIZE_64   THP "/hugepages-64kB"
#define SIZE_2048 THP "/hugepages-2048kB"

static const char *word_of(const char *text)
{
	static char copy[64];
	const char *word = "";
	size_t n = thp_word(text, strlen(text), &word);

	snprintf(copy, sizeof copy, "%.*s", (int)n, word);
	return copy;
}

/* Case 105: whatever stands in brackets, known or not. */
static void words_in_brackets(void)
{
	CU_ASSERT_STRING_EQUAL(word_of("always [madvise] never\n"), "madvise");
	CU_ASSERT_STRING_EQUAL(word_of("always [inherit] madvise never\n"), "inherit");
	CU_ASSERT_STRING_EQUAL(word_of("always defer [defer+madvise] madvise never\n"),
			       "defer+madvise");
	CU_ASSERT_STRING_EQUAL(word_of("[newer]"), "newer");
	CU_ASSERT_STRING_EQUAL(word_of("always madvise never\n"), "");
	CU_ASSERT_STRING_EQUAL(word_of("always [madv"), "");
	CU_ASSERT_STRING_EQUAL(word_of("]["), "");
}

/* Case 104: enabled and shmem_enabled are two facts. */
static void never_and_shmem(void)
{
	put(THP "/enabled", "always madvise [never]\n");
	put(THP "/shmem_enabled", "[always] within_size advise never deny force\n");
	put(THP "/hpage_pmd_size", "2097152\n");
	put(THP "/khugepaged/max_ptes_none", "511\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("thp", "", "enabled", "never");
	IS("thp", "", "shmem_enabled", "always");
	IS("thp", "", "hpage_pmd_size", "2097152");
	IS("thp", "", "khugepaged_max_ptes_none", "511");
	IS("thp", "", "defrag", "-");
	IS("thp", "", "khugepaged_full_scans", "-");
	fake_end();
}

/* Case 105: sizes are listed; the counts of one that is off and unused are absent until it is switched on. */
static void sizes(void)
{
	put(THP "/enabled", "always [madvise] never\n");
	put(SIZE_64 "/enabled", "always inherit madvise [never]\n");
	put(SIZE_64 "/shmem_enabled", "always inherit within_size advise [never]\n");
	put(SIZE_64 "/stats/anon_fault_alloc", "0\n");
	put(SIZE_2048 "/enabled", "always [inherit] madvise never\n");
	put(SIZE_2048 "/stats/anon_fault_alloc", "7\n");
	put(SIZE_2048 "/stats/nr_anon", "3\n");
	put(SIZE_2048 "/stats/nr_novel", "9\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("thp_size"), 2);
	IS("thp_size", "2048", "enabled", "inherit");
	IS("thp_size", "2048", "anon_fault_alloc", "7");
	IS("thp_size", "2048", "nr_anon", "3");
	IS("thp_size", "2048", "swpout", "-");
	IS("thp_size", "64", "enabled", "never");
	IS("thp_size_more", "2048", "nr_novel", "9");
	IS("thp_size", "64", "anon_fault_alloc", "-");
	put(SIZE_64 "/enabled", "[always] inherit madvise never\n");
	put(SIZE_64 "/stats/anon_fault_alloc", "5\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("thp_size", "64", "anon_fault_alloc", "5");
	put(SIZE_64 "/enabled", "always inherit madvise [never]\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("thp_size", "64", "anon_fault_alloc", "5");
	fake_end();
}

/* Cases 76 and 108: every size, by node too; free and reserved both. */
static void pools(void)
{
	put(POOLS "/hugepages-2048kB/nr_hugepages", "512\n");
	put(POOLS "/hugepages-2048kB/free_hugepages", "500\n");
	put(POOLS "/hugepages-2048kB/resv_hugepages", "490\n");
	put(POOLS "/hugepages-1048576kB/nr_hugepages", "1\n");
	put(SYSTEM_NODES "/node0/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
	put(SYSTEM_NODES "/node0/hugepages/hugepages-2048kB/free_hugepages", "500\n");
	put(SYSTEM_NODES "/node8/hugepages/hugepages-1048576kB/nr_hugepages", "1\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "CONFIG_TRANSPARENT_HUGEPAGE"));
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("hugetlb", "2048", "free_hugepages", "500");
	IS("hugetlb", "2048", "resv_hugepages", "490");
	IS("hugetlb", "1048576", "nr_hugepages", "1");
	IS("hugetlb_node", "0 2048", "nr_hugepages", "512");
	IS("hugetlb_node", "0 2048", "surplus_hugepages", "-");
	IS("hugetlb_node", "8 1048576", "nr_hugepages", "1");
	IS("hugetlb_node", "0 1048576", "nr_hugepages", "no row");
	CU_ASSERT_EQUAL(fake_rows("thp"), 0);
	fake_end();
}

/* Case 106: a kernel without either. */
static void absent(void)
{
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.unavailable, "CONFIG_TRANSPARENT_HUGEPAGE"));
	fake_end();
}

static void fixtures(void)
{
	fixture("6.18");
}

static void captured(void)
{
	char root[512];

	if (shared_tree("corpus/pcp-sysfs-hugepages-001.tar.xz", "", root, sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_EQUAL(fake_rows("hugetlb"), 4);
		fake_end();
	}
	if (shared_tree("vm/fixtures/numa2-7.2-pressure.tar.xz", "numa2-7.2-pressure/t2", root,
			sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_EQUAL(fake_rows("thp"), 1);
		CU_ASSERT_EQUAL(fake_rows("thp_size"), 9);
		CU_ASSERT_EQUAL(fake_rows("hugetlb_node"), 4);
		IS("thp", "", "enabled", "always");
		fake_end();
	}
	shared_end();
}

CU_TestInfo tests[] = {
	{ "case 105: words in brackets", words_in_brackets },
	{ "case 104: never, and shmem", never_and_shmem },
	{ "case 105: sizes", sizes },
	{ "cases 76 and 108: pools", pools },
	{ "case 106: absent", absent },
	{ "fixtures", fixtures },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
