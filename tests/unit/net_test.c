/* net: expected values are those of the text. */
#include "plugins/net/net.c"

#include "fakehost.h"

const char suite[] = "net";

#define HEADING                                                                                    \
	"Inter-|   Receive                                                |  Transmit\n"           \
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs " \
	"drop fifo colls carrier compressed\n"

static void every_value(void)
{
	put("/proc/net/dev",
	    HEADING "  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 18446744073709551615\n"
		    "    lo:11 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
		    "eth0:1: 21 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("net"), 3);
	IS("net", "eth0", "rx_bytes", "1");
	IS("net", "eth0", "rx_drop", "4");
	IS("net", "eth0", "rx_multicast", "8");
	IS("net", "eth0", "tx_bytes", "9");
	IS("net", "eth0", "tx_colls", "14");
	IS("net", "eth0", "tx_compressed", "18446744073709551615");
	IS("net", "lo", "rx_bytes", "11");
	IS("net", "eth0:1", "rx_bytes", "21");
	fake_end();
}

static void short_and_cut_lines(void)
{
	put("/proc/net/dev", HEADING "  eth0: 1 2 3\n: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
				     "  eth1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 1");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("net"), 0);
	fake_end();
}

static void an_interface_goes(void)
{
	put("/proc/net/dev", HEADING
	    "  a: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  b: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
	CU_ASSERT_EQUAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
	CU_ASSERT_EQUAL(fake_rows("net"), 2);
	put("/proc/net/dev", HEADING "  b: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("net", "a", "rx_bytes", "no row");
	IS("net", "b", "rx_bytes", "1");
	fake_end();
}

static void absent(void)
{
	CU_ASSERT_EQUAL(fake_start(""), -ENODEV);
	fake_end();
}

static void fixtures(void)
{
	fixture("6.18");
}

CU_TestInfo tests[] = {
	{ "every value", every_value },
	{ "short and cut lines", short_and_cut_lines },
	{ "an interface goes", an_interface_goes },
	{ "absent", absent },
	{ "fixtures", fixtures },
	CU_TEST_INFO_NULL,
};
