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
	{ "fixtures", fixtures },
	{ "captured machines", captured },
	CU_TEST_INFO_NULL,
};
