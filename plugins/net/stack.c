/* Counts of IP, TCP and UDP: those that tell of trouble, and the traffic to compare them with (/proc/net/snmp, netstat, snmp6;
 * Documentation/networking/snmp_counter.rst, RFC 4022, RFC 4113, RFC 4293). */
#include "net.h"

#define COUNT(name, from, what, text)                                                              \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, SONDE_COUNT(what), .origin = from, .help = text    \
	}
#define SEGMENTS(name, from, text)  COUNT(name, from, "segments", text)
#define DATAGRAMS(name, from, text) COUNT(name, from, "datagrams", text)
#define PACKETS(name, from, text)   COUNT(name, from, "packets", text)
#define OPENS(name, from, text)     COUNT(name, from, "connections", text)
#define EVENTS(name, from, text)    COUNT(name, from, "events", text)

/* The origin is the word of the group and that of the value. */
/* clang-format off */
const struct sonde_column stack_columns[STACK_COLUMNS] = {
	PACKETS("ip_in_receives", "Ip InReceives", "Received, IPv4"),
	PACKETS("ip_in_hdr_errors", "Ip InHdrErrors", "Dropped for their header: version, length, TTL"),
	PACKETS("ip_in_discards", "Ip InDiscards", "Dropped though nothing was wrong with them: no memory"),
	PACKETS("ip_in_delivers", "Ip InDelivers", "Given to TCP, UDP and others"),
	PACKETS("ip_out_requests", "Ip OutRequests", "Sent by this host"),
	PACKETS("ip_out_discards", "Ip OutDiscards", "Not sent though nothing was wrong with them: no memory, a full queue"),
	PACKETS("ip_out_no_routes", "Ip OutNoRoutes", "Not sent: no route"),
	PACKETS("ip_reasm_fails", "Ip ReasmFails", "Fragments that did not come together in time or found no memory"),
	PACKETS("ip_frag_fails", "Ip FragFails", "To be fragmented but not allowed to"),
	OPENS("tcp_active_opens", "Tcp ActiveOpens", "Opened by this host"),
	OPENS("tcp_passive_opens", "Tcp PassiveOpens", "Opened by others"),
	OPENS("tcp_attempt_fails", "Tcp AttemptFails", "Failed before they were established"),
	OPENS("tcp_estab_resets", "Tcp EstabResets", "Reset when they were established"),
	{ "tcp_curr_estab", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("connections"), .origin = "Tcp CurrEstab", .help = "Established or waiting to be closed by this side" },
	SEGMENTS("tcp_in_segs", "Tcp InSegs", "Received; with GRO one may be many on the wire"),
	SEGMENTS("tcp_out_segs", "Tcp OutSegs", "Sent, those that were sent again not counted"),
	SEGMENTS("tcp_retrans_segs", "Tcp RetransSegs", "Sent again: loss, or a peer that does not answer"),
	SEGMENTS("tcp_in_errs", "Tcp InErrs", "Received broken"),
	SEGMENTS("tcp_out_rsts", "Tcp OutRsts", "Resets sent: nobody listens there, or a socket closed with data unread"),
	SEGMENTS("tcp_in_csum_errors", "Tcp InCsumErrors", "Of in_errs, those with a wrong checksum"),
	DATAGRAMS("udp_in_datagrams", "Udp InDatagrams", "Delivered to sockets"),
	DATAGRAMS("udp_no_ports", "Udp NoPorts", "For a port where nobody listens"),
	DATAGRAMS("udp_in_errors", "Udp InErrors", "Not delivered, for whatever reason but NoPorts"),
	DATAGRAMS("udp_out_datagrams", "Udp OutDatagrams", "Sent"),
	DATAGRAMS("udp_rcvbuf_errors", "Udp RcvbufErrors", "Lost because the socket's buffer was full: its program reads too slowly (SO_RCVBUF, net.core.rmem_max)"),
	DATAGRAMS("udp_sndbuf_errors", "Udp SndbufErrors", "Not sent because the socket's buffer was full"),
	DATAGRAMS("udp_in_csum_errors", "Udp InCsumErrors", "With a wrong checksum"),
	DATAGRAMS("udp_mem_errors", "Udp MemErrors", "Lost because UDP was at its limit of memory (net.ipv4.udp_mem); since 5.11"),
	DATAGRAMS("udp6_in_datagrams", "Udp6 InDatagrams", "Delivered to sockets, IPv6"),
	DATAGRAMS("udp6_no_ports", "Udp6 NoPorts", "For a port where nobody listens"),
	DATAGRAMS("udp6_in_errors", "Udp6 InErrors", "Not delivered"),
	DATAGRAMS("udp6_out_datagrams", "Udp6 OutDatagrams", "Sent"),
	DATAGRAMS("udp6_rcvbuf_errors", "Udp6 RcvbufErrors", "Lost because the socket's buffer was full"),
	DATAGRAMS("udp6_sndbuf_errors", "Udp6 SndbufErrors", "Not sent because the socket's buffer was full"),
	EVENTS("tcp_syncookies_sent", "TcpExt SyncookiesSent", "Cookies sent: the queue of half-open connections was full"),
	EVENTS("tcp_syncookies_failed", "TcpExt SyncookiesFailed", "Cookies that came back wrong"),
	OPENS("tcp_listen_overflows", "TcpExt ListenOverflows", "A connection was complete and the queue of accept(2) full: its program accepts too slowly (listen(2), net.core.somaxconn)"),
	SEGMENTS("tcp_listen_drops", "TcpExt ListenDrops", "Opening segments dropped for whatever reason, overflows included"),
	SEGMENTS("tcp_req_q_full_drop", "TcpExt TCPReqQFullDrop", "Opening segments dropped: the queue of half-open connections was full, and no cookies"),
	EVENTS("tcp_timeouts", "TcpExt TCPTimeouts", "The retransmission timer ran out: a stall of 200 ms at least"),
	SEGMENTS("tcp_syn_retrans", "TcpExt TCPSynRetrans", "Opening segments sent again: a second at least for that connection"),
	SEGMENTS("tcp_fast_retrans", "TcpExt TCPFastRetrans", "Sent again at once, as duplicate acknowledgements told"),
	SEGMENTS("tcp_slow_start_retrans", "TcpExt TCPSlowStartRetrans", "Sent again after a timeout"),
	SEGMENTS("tcp_lost_retransmit", "TcpExt TCPLostRetransmit", "Sent again and lost again"),
	SEGMENTS("tcp_loss_probes", "TcpExt TCPLossProbes", "Probes of the end of a flight (TLP)"),
	EVENTS("tcp_spurious_rtos", "TcpExt TCPSpuriousRTOs", "Timeouts that were wrong: nothing was lost"),
	EVENTS("tcp_retrans_fail", "TcpExt TCPRetransFail", "Could not be sent again: the queue of the device was full"),
	EVENTS("tcp_dsack_recv", "TcpExt TCPDSACKRecv", "The peer had it already: sent again for nothing"),
	SEGMENTS("tcp_ofo_queue", "TcpExt TCPOFOQueue", "Received out of order"),
	EVENTS("tcp_prune_called", "TcpExt PruneCalled", "A socket's receive buffer was too small and had to be pruned"),
	SEGMENTS("tcp_rcv_pruned", "TcpExt RcvPruned", "Dropped so"),
	SEGMENTS("tcp_rcv_collapsed", "TcpExt TCPRcvCollapsed", "Merged to save memory in a receive queue: costs CPU time"),
	SEGMENTS("tcp_rcv_q_drop", "TcpExt TCPRcvQDrop", "Dropped: the receive queue was full"),
	SEGMENTS("tcp_backlog_drop", "TcpExt TCPBacklogDrop", "Dropped: the socket was in use and its backlog full"),
	EVENTS("tcp_to_zero_window_adv", "TcpExt TCPToZeroWindowAdv", "A window of 0 was told to the peer: the program reads too slowly"),
	SEGMENTS("tcp_zero_window_drop", "TcpExt TCPZeroWindowDrop", "Dropped: they came though the window was 0"),
	EVENTS("tcp_memory_pressures", "TcpExt TCPMemoryPressures", "TCP came under pressure of its own (net.ipv4.tcp_mem)"),
	{ "tcp_memory_pressures_chrono", SONDE_U64, SONDE_COUNTER, SONDE_MS, .origin = "TcpExt TCPMemoryPressuresChrono", .help = "Time under that pressure" },
	OPENS("tcp_abort_on_memory", "TcpExt TCPAbortOnMemory", "Closed: too many orphans, or no memory"),
	OPENS("tcp_abort_on_timeout", "TcpExt TCPAbortOnTimeout", "Given up: the peer did not answer"),
	EVENTS("tcp_time_wait_overflow", "TcpExt TCPTimeWaitOverflow", "No room for another socket in TIME_WAIT (net.ipv4.tcp_max_tw_buckets)"),
	{ "ip_in_octets", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .origin = "IpExt InOctets", .help = "Received, IPv4, headers included" },
	{ "ip_out_octets", SONDE_U64, SONDE_COUNTER, SONDE_BYTES, .origin = "IpExt OutOctets", .help = "Sent" },
};
/* clang-format on */

/* The column of a value: "Tcp" and "RetransSegs". */
static uint8_t slot_of(const char *group, size_t ngroup, const char *name, size_t length)
{
	for (uint32_t i = 0; i < STACK_COLUMNS; i++) {
		const char *origin = stack_columns[i].origin;

		if (strlen(origin) == ngroup + 1 + length && origin[ngroup] == ' ' &&
		    memcmp(origin, group, ngroup) == 0 &&
		    memcmp(origin + ngroup + 1, name, length) == 0)
			return (uint8_t)i;
	}
	return NO_SLOT;
}

static void learn_group(struct stack_group *group)
{
	struct cursor line = whole(group->names, group->length);
	const char *word, *prefix;
	size_t n = next_word(&line, &prefix), length;

	memset(group->slot, NO_SLOT, sizeof group->slot);
	for (uint32_t i = 0; i < GROUP_FIELDS && (length = next_word(&line, &word)); i++)
		group->slot[i] = n ? slot_of(prefix, n - 1, word, length) : NO_SLOT;
}

void stack_learn(struct stack_group groups[STACK_GROUPS], char *names, const char *text,
		 size_t length)
{
	struct cursor line = cursor(text, length);
	uint32_t count = 0;

	memcpy(names, text, length);
	memset(groups, 0, STACK_GROUPS * sizeof *groups);
	while (count < STACK_GROUPS && next_line(&line)) {
		struct stack_group *group = &groups[count++];

		group->names = names + (line.at - text);
		group->length = (uint32_t)(line.end - line.at);
		learn_group(group);
		if (!next_line(&line))
			break;
	}
}

static void parse_values(const struct stack_group *group, struct cursor *line,
			 struct sonde_row *row)
{
	const char *word;
	uint64_t value;

	next_word(line, &word);
	for (uint32_t i = 0; i < GROUP_FIELDS; i++) {
		if (group->slot[i] == NO_SLOT) {
			if (!next_word(line, &word))
				return;
		} else if (next_u64(line, &value)) {
			sonde_set_u64(row, group->slot[i], value);
		} else {
			return;
		}
	}
}

bool stack_parse(const struct stack_group groups[STACK_GROUPS], const char *text, size_t length,
		 struct sonde_row *row)
{
	struct cursor line = cursor(text, whole_words(text, length));

	for (uint32_t i = 0; i < STACK_GROUPS && next_line(&line); i++) {
		if (!groups[i].names || groups[i].length != (size_t)(line.end - line.at) ||
		    memcmp(groups[i].names, line.at, groups[i].length) != 0)
			return false;
		if (next_line(&line))
			parse_values(&groups[i], &line, row);
	}
	return true;
}

void stack_parse_snmp6(const char *text, size_t length, struct sonde_row *row)
{
	struct cursor line = cursor(text, whole_words(text, length));

	while (next_line(&line)) {
		const char *word;
		uint64_t value;
		uint8_t slot;
		size_t n;

		if (line.end - line.at < 5 || memcmp(line.at, "Udp6", 4) != 0)
			continue;
		n = next_word(&line, &word);
		slot = slot_of("Udp6", 4, word + 4, n - 4);
		if (slot != NO_SLOT && next_u64(&line, &value))
			sonde_set_u64(row, slot, value);
	}
}
