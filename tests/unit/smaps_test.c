/* smaps: lines added up, and which processes are read. Expected values are added up by hand. */
#include "plugins/smaps/smaps.c"
#include "plugins/smaps/sums.c"

#include "fakehost.h"

const char suite[] = "smaps";

static struct conf conf;

static int begin_with(uint64_t ceiling, bool full)
{
	conf = (struct conf) {
		.targets = { .max = 4 }, .budget = 60000000000, .ceiling = ceiling, .full = full
	};
	fake.self.conf = &conf;
	return fake_start("");
}

static uint64_t sum_of(const struct sums *sums, const char *name)
{
	for (uint32_t i = 0; i < SUMS; i++)
		if (strcmp(smaps_columns[FIRST_SUM + i].name, name) == 0)
			return sums->have >> i & 1 ? sums->kib[i] : UINT64_MAX;
	return UINT64_MAX - 1;
}

/* Case 101: flags that nobody knows, or none. Numbers that are no memory are not added up. */
static void two_mappings(void)
{
	static const char text[] =
		"00400000-00401000 r--p 00000000 00:03 8   /a Rss: 99 kB\n"
		"Size:                  4 kB\nKernelPageSize:        4 kB\nRss:   4 kB\nPss:  2 kB\n"
		"THPeligible:           0\nVmFlags: rd wr mr mw me nr wf dd sd dp \n"
		"00500000-00501000 rw-p 00000000 00:00 0 \n"
		"Rss:                  10 kB\nNovelty:  7 kB\nPss:    10 kB\nSwap:   3 kB\nVmFlags:\n"
		"Locked:";
	struct sums sums = { .have = 0 };

	sums_parse(text, sizeof text - 1, &sums);
	CU_ASSERT_EQUAL(sum_of(&sums, "rss"), 14);
	CU_ASSERT_EQUAL(sum_of(&sums, "pss"), 12);
	CU_ASSERT_EQUAL(sum_of(&sums, "swap"), 3);
	CU_ASSERT_EQUAL(sum_of(&sums, "locked"), UINT64_MAX);
	CU_ASSERT_EQUAL(sum_of(&sums, "ksm"), UINT64_MAX);
}

#define STAT(pid, comm, rss)                                                                       \
	pid " (" comm ") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7" pid " 1000000 " rss " 0\n"

static const char rollup[] = "00400000-7fff00000000 ---p 00000000 00:00 0 [rollup]\n"
			     "Rss:   400 kB\nPss:   200 kB\nPss_Anon:  150 kB\n"
			     "Anonymous:   300 kB\nAnonHugePages:   0 kB\n";

/* Case 100: a kernel thread is not a process without memory, it has none to speak of; a process whose file can't be read is
 * alive, and the next is read all the same. */
static void who_is_read(void)
{
	put("/proc/2/stat", STAT("2", "kthreadd", "0"));
	put_error("/proc/2/smaps_rollup", ESRCH);
	put("/proc/10/stat", STAT("10", "good", "100"));
	put("/proc/10/smaps_rollup", rollup);
	put("/proc/20/stat", STAT("20", "ended", "200"));
	put("/proc/20/smaps_rollup", "");
	CU_ASSERT_EQUAL(begin_with(1 << 30, false), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("smaps"), 2);
	IS("smaps", "10 710", "method", "rollup");
	IS("smaps", "10 710", "pss", "200");
	IS("smaps", "10 710", "anon_huge_pages", "0");
	IS("smaps", "10 710", "pss_shmem", "-");
	IS("smaps", "20 720", "method", "none");
	IS("smaps", "20 720", "pss", "-");
	IS("smaps", "20 720", "resident", "819200");
	fake_end();
}

/* A kernel before 4.14, and a process above the ceiling with full = yes: mappings, in parts. */
static void mapping_by_mapping(void)
{
	static char text[200000];
	size_t n = 0;

	for (int i = 0; i < 2000; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "%x000-%x000 rw-p 00000000 00:00 0 \nRss: 4 kB\nPss: 1 kB\n",
				      i, i + 1);
	put("/proc/10/stat", STAT("10", "old", "100"));
	put("/proc/10/smaps", text);
	CU_ASSERT_EQUAL(begin_with(1 << 30, false), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("smaps", "10 710", "method", "smaps");
	IS("smaps", "10 710", "rss", "8000");
	IS("smaps", "10 710", "pss", "2000");
	fake_end();

	put("/proc/10/stat", STAT("10", "large", "100"));
	put("/proc/10/smaps", text);
	put("/proc/10/smaps_rollup", rollup);
	CU_ASSERT_EQUAL(begin_with(4096, false), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("smaps", "10 710", "method", "none");
	CU_ASSERT_PTR_NOT_NULL(strstr(fake.notes, "full = yes"));
	fake_end();

	put("/proc/10/stat", STAT("10", "large", "100"));
	put("/proc/10/smaps", text);
	put("/proc/10/smaps_rollup", rollup);
	CU_ASSERT_EQUAL(begin_with(4096, true), 0);
	conf.budget = 0; /* a part a sample */
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("smaps", "10 710", "method", "none");
	for (int i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("smaps", "10 710", "pss", "2000");
	fake_end();
}

CU_TestInfo tests[] = {
	{ "case 101: two mappings", two_mappings },
	{ "case 100: who is read", who_is_read },
	{ "mapping by mapping", mapping_by_mapping },
	CU_TEST_INFO_NULL,
};
