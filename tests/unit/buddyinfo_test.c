/* buddyinfo: expected values are those of the text. */
#include "plugins/buddyinfo/buddyinfo.c"

#include "fakehost.h"

const char suite[] = "buddyinfo";

static void sample_text(const char *text)
{
	put("/proc/buddyinfo", text);
	CU_ASSERT_EQUAL_FATAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
}

static void nodes_and_zones(void)
{
	sample_text(
		"Node 0, zone      DMA      0      0      0      0      0      0      1      1      0      1      3 \n"
		"Node 8, zone   Normal      1      2      3      4      5      6      7      8      9     10     11 \n");
	CU_ASSERT_EQUAL(fake_rows("buddyinfo"), 2);
	IS("buddyinfo", "0 DMA", "order10", "3");
	IS("buddyinfo", "8 Normal", "order0", "1");
	IS("buddyinfo", "8 Normal", "order10", "11");
	IS("buddyinfo", "8 Normal", "order11", "-");
	fake_end();
}

/* Kernels with large base pages have fewer orders or more. */
static void other_numbers_of_orders(void)
{
	sample_text("Node 0, zone DMA 1 2 3 4 5 6 7 8 9\n"
		    "Node 1, zone DMA 1 2 3 4 5 6 7 8 9 10 11 12 13 14\n"
		    "Node 2, zone DMA 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n");
	IS("buddyinfo", "0 DMA", "order8", "9");
	IS("buddyinfo", "0 DMA", "order9", "-");
	IS("buddyinfo", "1 DMA", "order13", "14");
	IS("buddyinfo", "2 DMA", "order17", "18");
	fake_end();
}

static void odd_lines(void)
{
	sample_text(
		"Node x, zone DMA 1 2\nNode 0 zone DMA 1 2\nNode 0, zone\n\nNode 0, zone DMA 12 34");
	CU_ASSERT_EQUAL(fake_rows("buddyinfo"), 1);
	IS("buddyinfo", "0 DMA", "order0", "12");
	IS("buddyinfo", "0 DMA", "order1", "-");
	fake_end();
}

/* By hand: 5 blocks of 1 and 3 of 4 pages are 17 pages, a huge page is 8 (order 3 of 4 KiB pages): nothing usable, and
 * 1000 - (1000 + 17000 / 8) / 8 = 610. With one block of 8: 17 of 25 pages are too small, 680. */
static void fragmentation(void)
{
	put("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "32768\n");
	sample_text("Node 0, zone A 5 0 3 0 0\nNode 0, zone B 5 0 3 1 0\nNode 0, zone C 0 0 0 0 0\n"
		    "Node 0, zone D 7 7\n");
	IS("buddyinfo", "0 A", "huge_unusable", "1000");
	IS("buddyinfo", "0 A", "huge_extfrag", "610");
	IS("buddyinfo", "0 B", "huge_unusable", "680");
	IS("buddyinfo", "0 B", "huge_extfrag", "-");
	IS("buddyinfo", "0 C", "huge_unusable", "1000");
	IS("buddyinfo", "0 C", "huge_extfrag", "-");
	IS("buddyinfo", "0 D", "huge_unusable", "-");
	fake_end();
	sample_text("Node 0, zone A 5 0 3 0 0\n");
	IS("buddyinfo", "0 A", "huge_unusable", "-");
	fake_end();
}

/* By hand, of orders to 4, a huge page of order 3: one block of one page is 1000 - (1000 + 1000 / 8) / 1 = -125, one of four
 * 1000 - (1000 + 4000 / 8) / 1 = -500; the kernel prints them as -0.125 and -0.500. Counts whose pages would wrap are none. */
static void below_zero_and_beyond_all_memory(void)
{
	put("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "32768\n");
	sample_text("Node 0, zone A 1 0 0 0 0\nNode 0, zone B 0 0 1 0 0\n"
		    "Node 0, zone C 18446744073709551615 18446744073709551615 0 0 0\n"
		    "Node 0, zone D 0 0 0 0 1152921504606846976\n"
		    "Node 0, zone E 18446744073709551616 1 0 0 0\n");
	IS("buddyinfo", "0 A", "huge_extfrag", "-125");
	IS("buddyinfo", "0 A", "huge_unusable", "1000");
	IS("buddyinfo", "0 B", "huge_extfrag", "-500");
	IS("buddyinfo", "0 C", "huge_extfrag", "-");
	IS("buddyinfo", "0 C", "huge_unusable", "-");
	IS("buddyinfo", "0 D", "order4", "1152921504606846976");
	IS("buddyinfo", "0 D", "huge_unusable", "-");
	IS("buddyinfo", "0 E", "huge_unusable", "no row");
	fake_end();
}

static void fixtures(void)
{
	fixture("6.18");
}

static void captured(void)
{
	char root[512];

	if (shared_tree("vm/fixtures/numa2-6.1-bound.tar.xz", "numa2-6.1-bound/t0", root,
			sizeof root)) {
		CU_ASSERT_EQUAL(fake_start(root), 0);
		CU_ASSERT_EQUAL(fake_sample(), 0);
		CU_ASSERT_EQUAL(fake_rows("buddyinfo"), 3);
		IS("buddyinfo", "1 DMA32", "order10", "231");
		fake_end();
	}
	shared_end();
}

CU_TestInfo tests[] = {
	{ "nodes and zones", nodes_and_zones },
	{ "other numbers of orders", other_numbers_of_orders },
	{ "odd lines", odd_lines },
	{ "fragmentation", fragmentation },
	{ "below zero and beyond all memory", below_zero_and_beyond_all_memory },
	{ "fixtures", fixtures },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
