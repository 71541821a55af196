/* What each CPU did with packets that came in before the protocols saw them (/proc/net/softnet_stat, softnet_seq_show() in
 * net/core/net-procfs.c; Documentation/networking/scaling.rst). */
#include "net.h"

#define FIELD(name, field, counted, text)                                                          \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, SONDE_COUNT(counted), .origin = "field " field,    \
								      .help = text, .wrap = 32     \
	}

/* clang-format off */
const struct sonde_column softnet_columns[SOFTNET_COLUMNS] = {
	[SOFTNET_CPU] = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "field 13",
		.help = "CPU that is online; before 5.10 the line's place among these" },
	[PROCESSED] = FIELD("processed", "1", "packets", "Packets that it took from devices and from its backlog"),
	[DROPPED] = FIELD("dropped", "2", "packets", "Lost because its backlog was full (net.core.netdev_max_backlog)"),
	[TIME_SQUEEZE] = FIELD("time_squeeze", "3", "runs", "Runs of NET_RX that ended with work left: out of budget or of time (net.core.netdev_budget, netdev_budget_usecs)"),
	[RECEIVED_RPS] = FIELD("received_rps", "10", "wake-ups", "Woken by another CPU to take packets (RPS)"),
	[FLOW_LIMIT_COUNT] = FIELD("flow_limit_count", "11", "packets", "Dropped as of a flow that fills the backlog (net.core.flow_limit_cpu_bitmap)"),
	[BACKLOG_LEN] = { "backlog_len", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("packets"), .origin = "field 12",
		.help = "In its backlog at the moment; since 5.10" },
};
/* clang-format on */

/* Eight hex digits or so. */
static bool next_hex(struct cursor *line, uint64_t *value)
{
	const char *word;
	size_t length = next_word(line, &word);

	*value = 0;
	if (!length || length > 16)
		return false;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)word[i];
		unsigned char letter = (unsigned char)((c | 0x20) - 'a');
		unsigned digit = (unsigned char)(c - '0') < 10 ? (unsigned)(c - '0')
				 : letter < 6                  ? letter + 10u
							       : 16;

		if (digit == 16)
			return false;
		*value = *value << 4 | digit;
	}
	return true;
}

bool softnet_parse(struct cursor *line, struct sonde_row *row)
{
	static const uint8_t slots[] = {
		[0] = PROCESSED,    [1] = DROPPED,           [2] = TIME_SQUEEZE,
		[9] = RECEIVED_RPS, [10] = FLOW_LIMIT_COUNT, [11] = BACKLOG_LEN,
	};
	uint64_t value;

	for (uint32_t field = 0; field < sizeof slots; field++) {
		if (!next_hex(line, &value))
			return false;
		if (slots[field])
			sonde_set_u64(row, slots[field], value);
	}
	if (!next_hex(line, &value))
		return false;
	sonde_set_u64(row, SOFTNET_CPU, value);
	return true;
}

uint64_t nth_of_list(const char *text, size_t length, uint64_t n)
{
	struct cursor c = cursor(text, length);
	uint64_t first, last, left = n;

	next_line(&c);
	while (next_u64(&c, &first)) {
		last = first;
		if ((take(&c, "-") && !next_u64(&c, &last)) || last < first)
			break;
		if (left <= last - first)
			return first + left;
		left -= last - first + 1;
		if (!take(&c, ","))
			break;
	}
	return n;
}
