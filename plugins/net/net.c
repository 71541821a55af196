/* net: traffic by interface, what CPUs did with packets, and counts of IP, TCP and UDP (/proc/net/dev, net/core/net-procfs.c,
 * Documentation/networking/statistics.rst). */
#include "net.h"

enum { NAME, RX_BYTES, VALUES = 16 };

#define COUNTER(name, unit, from, text)                                                            \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, unit, .origin = from, .help = text                 \
	}

/* clang-format off */
static const struct sonde_column columns[] = {
	[NAME] = { "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "face", .sensitivity = SONDE_NAME,
		.help = "Interface, of the network namespace that is read" },
	[RX_BYTES] =
	COUNTER("rx_bytes", SONDE_BYTES, "receive bytes", "Received; some drivers wrap at 2^32, a fall is a reset otherwise"),
	COUNTER("rx_packets", SONDE_COUNT("packets"), "receive packets", "Received; with GRO one of these may be many on the wire"),
	COUNTER("rx_errs", SONDE_COUNT("packets"), "receive errs", "Received damaged"),
	COUNTER("rx_drop", SONDE_COUNT("packets"), "receive drop", "Received and dropped, for want of buffers or of anybody who wants them"),
	COUNTER("rx_fifo", SONDE_COUNT("packets"), "receive fifo", "Lost because the device's own buffer ran over"),
	COUNTER("rx_frame", SONDE_COUNT("packets"), "receive frame", "Wrong length, checksum or alignment, together"),
	COUNTER("rx_compressed", SONDE_COUNT("packets"), "receive compressed", "Compressed (PPP)"),
	COUNTER("rx_multicast", SONDE_COUNT("packets"), "receive multicast", "Multicast, among rx_packets"),
	COUNTER("tx_bytes", SONDE_BYTES, "transmit bytes", "Sent; some drivers wrap at 2^32, a fall is a reset otherwise"),
	COUNTER("tx_packets", SONDE_COUNT("packets"), "transmit packets", "Sent; with GSO one of these may be many on the wire"),
	COUNTER("tx_errs", SONDE_COUNT("packets"), "transmit errs", "Could not be sent"),
	COUNTER("tx_drop", SONDE_COUNT("packets"), "transmit drop", "Dropped before they were sent"),
	COUNTER("tx_fifo", SONDE_COUNT("packets"), "transmit fifo", "Lost because the device's own buffer ran empty"),
	COUNTER("tx_colls", SONDE_COUNT("collisions"), "transmit colls", "Collisions; half duplex only"),
	COUNTER("tx_carrier", SONDE_COUNT("packets"), "transmit carrier", "Carrier, heartbeat, window and abort errors together"),
	COUNTER("tx_compressed", SONDE_COUNT("packets"), "transmit compressed", "Compressed (PPP)"),
};
/* clang-format on */

static const struct sonde_table tables[] = {
	[TABLE_NET] = { "net", SONDE_COLUMNS(columns), .origin = "/proc/net/dev",
			.help = "Network interfaces: what went in and out.", .rows = 256 },
	[TABLE_SOFTNET] = { "net_softnet",
			    { softnet_columns, SOFTNET_COLUMNS, sizeof(struct sonde_column) },
			    .origin = "/proc/net/softnet_stat",
			    .help = "Received packets by the CPU that took them, before the protocols.",
			    .rows = 1024 },
	[TABLE_STACK] = { "net_stack",
			  { stack_columns, STACK_COLUMNS, sizeof(struct sonde_column) },
			  .origin = "/proc/net/snmp, netstat, snmp6",
			  .help = "IP, TCP and UDP: traffic, loss and want of room." },
};

/* A file of pairs of lines, as it was learned. */
struct pairs {
	struct sonde_file *file;
	struct stack_group groups[STACK_GROUPS];
	char *names;
	uint64_t room, asked; /* bytes of names; asked from the next sample on */
};

struct state {
	struct sonde_file *dev, *softnet, *online, *snmp6;
	struct pairs snmp, netstat;
};

struct interface {
	const char *name;
	size_t length;
	uint64_t value[VALUES];
};

/* "  eth0: 8 values for received, 8 for sent"; a wide first value leaves no blank behind the colon, and an old kernel's
 * alias has one in its name. False: no line of this form any more; the two of the heading are none. */
static bool net_next(struct cursor *line, struct interface *interface)
{
	while (next_line(line)) {
		const char *colon = memrchr(line->at, ':', (size_t)(line->end - line->at));
		int n = 0;

		skip_blanks(line);
		if (!colon || colon == line->at)
			continue;
		interface->name = line->at;
		interface->length = (size_t)(colon - line->at);
		line->at = colon + 1;
		while (n < VALUES && next_u64(line, &interface->value[n]))
			n++;
		if (n == VALUES)
			return true;
	}
	return false;
}

/* Room for the names of such a file. */
static int open_pairs(struct sonde_instance *self, struct pairs *pairs, const char *path)
{
	const char *text;
	int64_t length;

	pairs->file = sonde_open(self, SONDE_KEEP, "%s", path);
	length = pairs->file ? sonde_read(self, pairs->file, &text) : 0;
	if (length <= 0)
		return 0;
	pairs->asked = 2 * (uint64_t)length;
	return sonde_grow(self, &pairs->names, pairs->asked);
}

/* Before Linux 5.10 the lines do not say of which CPU they are: of those that are online, in order. */
static void open_softnet(struct sonde_instance *self, struct state *state)
{
	uint64_t slots[SOFTNET_COLUMNS], have = 0;
	struct sonde_row row = { slots, &have, NULL };
	struct cursor line;
	const char *text;
	int64_t length;

	state->softnet = sonde_open(self, SONDE_KEEP, "/proc/net/softnet_stat");
	length = state->softnet ? sonde_read(self, state->softnet, &text) : 0;
	if (length <= 0)
		return;
	line = cursor(text, (size_t)length);
	if (next_line(&line) && !softnet_parse(&line, &row))
		state->online = sonde_open(self, SONDE_KEEP, "/sys/devices/system/cpu/online");
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;
	int err;

	state->dev = sonde_open(self, SONDE_KEEP, "/proc/net/dev");
	if (!state->dev)
		return sonde_unavailable(self, "no /proc/net/dev: the kernel is built without "
					       "CONFIG_NET");
	open_softnet(self, state);
	state->snmp6 = sonde_open(self, SONDE_KEEP, "/proc/net/snmp6");
	err = open_pairs(self, &state->snmp, "/proc/net/snmp");
	return err ? err : open_pairs(self, &state->netstat, "/proc/net/netstat");
}

static int sample_interfaces(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	struct interface interface;
	struct cursor line;
	struct sonde_row row;
	const char *text;
	int64_t length = sonde_read(self, state->dev, &text);

	if (length < 0)
		return (int)length;
	line = cursor(text, whole_words(text, (size_t)length));
	while (net_next(&line, &interface)) {
		if (!sonde_row(self, frame, TABLE_NET, &row))
			continue;
		sonde_set_bytes(&row, NAME, interface.name, interface.length);
		for (uint32_t i = 0; i < VALUES; i++)
			sonde_set_u64(&row, RX_BYTES + i, interface.value[i]);
	}
	return 0;
}

static void sample_softnet(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	char online[1024] = "";
	struct cursor line;
	const char *text;
	uint64_t number = 0;
	int64_t length = state->online ? sonde_read(self, state->online, &text) : 0;

	/* The text of one file is gone when the next is read. */
	if (length > 0 && length < (int64_t)sizeof online)
		memcpy(online, text, (size_t)length);
	length = state->softnet ? sonde_read(self, state->softnet, &text) : 0;
	if (length <= 0)
		return;
	line = cursor(text, whole_words(text, (size_t)length));
	for (; next_line(&line); number++) {
		struct sonde_row row;

		if (line.at == line.end || !sonde_row(self, frame, TABLE_SOFTNET, &row))
			continue;
		if (!softnet_parse(&line, &row))
			sonde_set_u64(&row, SOFTNET_CPU,
				      nth_of_list(online, strlen(online), number));
	}
}

/* Learns the names anew where they are not those that were; where there is no room for them, at the next sample. */
static int take_pairs(struct sonde_instance *self, struct pairs *pairs, struct sonde_row *row)
{
	const char *text;
	int64_t length = pairs->file ? sonde_read(self, pairs->file, &text) : 0;

	pairs->room = pairs->asked;
	if (length <= 0 || stack_parse(pairs->groups, text, (size_t)length, row))
		return 0;
	if ((uint64_t)length <= pairs->room) {
		stack_learn(pairs->groups, pairs->names, text, (size_t)length);
		stack_parse(pairs->groups, text, (size_t)length, row);
		return 0;
	}
	/* The block that the groups point into will be another. */
	memset(pairs->groups, 0, sizeof pairs->groups);
	pairs->asked = (uint64_t)length * 2;
	return sonde_grow(self, &pairs->names, pairs->asked);
}

static int sample_stack(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	struct sonde_row row;
	const char *text;
	int64_t length;
	int err;

	if (!state->snmp.file && !state->netstat.file && !state->snmp6)
		return 0;
	if (!sonde_row(self, frame, TABLE_STACK, &row))
		return 0;
	err = take_pairs(self, &state->snmp, &row);
	if (!err)
		err = take_pairs(self, &state->netstat, &row);
	length = state->snmp6 ? sonde_read(self, state->snmp6, &text) : 0;
	if (length > 0)
		stack_parse_snmp6(text, (size_t)length, &row);
	return err;
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	int err = sample_interfaces(self, frame);

	if (err)
		return err;
	sample_softnet(self, frame);
	return sample_stack(self, frame);
}

SONDE_COLLECTOR(net,
		"traffic by network interface, received packets by CPU, counts of IP, TCP and UDP",
		sample, .tables = SONDE_TABLES(tables), .state_size = sizeof(struct state),
		.start = start);
