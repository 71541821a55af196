/* net: expected values are those of the text. */
#include "plugins/net/net.c"
#include "plugins/net/softnet.c"
#include "plugins/net/stack.c"

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

static void start_with_dev(void)
{
	put("/proc/net/dev", HEADING);
	CU_ASSERT_EQUAL_FATAL(fake_start(""), 0);
	CU_ASSERT_EQUAL(fake_sample(), 0);
}

/* CPUs 0 and 5 are online: newer kernels say so in the line, of older ones the list does. */
static void softnet(void)
{
	put("/proc/net/softnet_stat",
	    "0000000c 00000001 ffffffff 00000000 00000000 00000000 00000000 00000000 00000000 0000000a 0000000b 00000003 00000000 00000000 00000000\n"
	    "0000022e 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000005 00000000 00000000\n");
	start_with_dev();
	IS("net_softnet", "0", "processed", "12");
	IS("net_softnet", "0", "dropped", "1");
	IS("net_softnet", "0", "time_squeeze", "4294967295");
	IS("net_softnet", "0", "received_rps", "10");
	IS("net_softnet", "0", "flow_limit_count", "11");
	IS("net_softnet", "0", "backlog_len", "3");
	IS("net_softnet", "5", "processed", "558");
	fake_end();
	put("/sys/devices/system/cpu/online", "0,5-6\n");
	put("/proc/net/softnet_stat",
	    "00000001 00000002 00000003 00000000 00000000 00000000 00000000 00000000 00000000 00000004\n"
	    "00000005 00000006 00000007 00000000 00000000 00000000 00000000 00000000 00000000\n"
	    "\n00000009 g\n");
	start_with_dev();
	IS("net_softnet", "0", "received_rps", "4");
	IS("net_softnet", "0", "flow_limit_count", "-");
	IS("net_softnet", "5", "processed", "5");
	IS("net_softnet", "5", "received_rps", "-");
	fake_end();
	CU_ASSERT_EQUAL(nth_of_list("0-3,8\n", 6, 4), 8);
	CU_ASSERT_EQUAL(nth_of_list("0-3,8\n", 6, 5), 5);
	CU_ASSERT_EQUAL(nth_of_list("", 0, 3), 3);
	CU_ASSERT_EQUAL(nth_of_list("5-2\n", 4, 0), 0);
}

/* By name, wherever the kernel puts it; a group of which another version has more; values that are negative or cut. */
static void stack(void)
{
	put("/proc/net/snmp", "Ip: Forwarding InReceives\nIp: 2 565\nIcmpMsg: InType3\nIcmpMsg: 1\n"
			      "Tcp: MaxConn RetransSegs CurrEstab\nTcp: -1 7 3\n");
	put("/proc/net/netstat",
	    "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 11 12\nIpExt: InOctets OutOctets\nIpExt: 13 18446744073709551615\n");
	put("/proc/net/snmp6",
	    "Ip6InReceives                   \t9\nUdp6RcvbufErrors                \t15\nUdpLite6InErrors \t1\n");
	start_with_dev();
	CU_ASSERT_EQUAL(fake_rows("net_stack"), 1);
	IS("net_stack", "", "ip_in_receives", "565");
	IS("net_stack", "", "tcp_retrans_segs", "7");
	IS("net_stack", "", "tcp_curr_estab", "3");
	IS("net_stack", "", "tcp_listen_overflows", "11");
	IS("net_stack", "", "ip_in_octets", "13");
	IS("net_stack", "", "ip_out_octets", "18446744073709551615");
	IS("net_stack", "", "udp6_rcvbuf_errors", "15");
	IS("net_stack", "", "udp6_in_errors", "-");
	IS("net_stack", "", "tcp_in_segs", "-");
	/* A kind of message is counted for the first time: the names are others from then on, and more. */
	put("/proc/net/snmp",
	    "Ip: Forwarding InReceives\nIp: 2 566\nIcmpMsg: InType3 InType8\nIcmpMsg: 1 1\n"
	    "Tcp: MaxConn RetransSegs CurrEstab\nTcp: -1 8 4\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("net_stack", "", "tcp_retrans_segs", "8");
	put("/proc/net/netstat",
	    "TcpExt: ListenDrops A1 A2 A3 A4 A5 A6 A7 A8 A9 B1 B2 B3 B4 B5 B6 B7 B8 B9 C1 C2 C3 C4 C5 C6 C7 C8 C9 D1 D2 D3 D4 D5 D6 D7 D8 D9 E1 E2 E3 E4 E5 E6 E7 E8 E9 F1 F2 F3 F4 F5 F6 F7 F8 F9 G1 G2 G3 G4 G5 G6 G7 G8 G9 ListenOverflows\n"
	    "TcpExt: 20 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 21\n");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("net_stack", "", "tcp_listen_drops", "-");
	CU_ASSERT_EQUAL(fake_sample(), 0);
	IS("net_stack", "", "tcp_listen_drops", "20");
	IS("net_stack", "", "tcp_listen_overflows", "21");
	fake_end();
	put("/proc/net/snmp", "Tcp: InSegs OutSegs\nTcp: 1 2");
	put("/proc/net/netstat", "TcpExt: ListenDrops\n");
	start_with_dev();
	IS("net_stack", "", "tcp_in_segs", "1");
	IS("net_stack", "", "tcp_out_segs", "-");
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
	{ "packets by CPU", softnet },
	{ "IP, TCP and UDP", stack },
	{ "absent", absent },
	{ "fixtures", fixtures },
	CU_TEST_INFO_NULL,
};
