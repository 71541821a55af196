/* net: traffic by interface (/proc/net/dev, net/core/net-procfs.c, Documentation/networking/statistics.rst). */
#include <sonde/plugin.h>

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
	{ "net", SONDE_COLUMNS(columns), .origin = "/proc/net/dev",
	  .help = "Network interfaces: what went in and out.", .rows = 256 },
};

struct state {
	struct sonde_file *file;
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

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;

	state->file = sonde_open(self, SONDE_KEEP, "/proc/net/dev");
	return state->file
		       ? 0
		       : sonde_unavailable(
				 self, "no /proc/net/dev: the kernel is built without CONFIG_NET");
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	struct interface interface;
	struct cursor line;
	struct sonde_row row;
	const char *text;
	int64_t length = sonde_read(self, state->file, &text);

	if (length < 0)
		return (int)length;
	line = cursor(text, whole_words(text, (size_t)length));
	while (net_next(&line, &interface)) {
		if (!sonde_row(self, frame, 0, &row))
			continue;
		sonde_set_bytes(&row, NAME, interface.name, interface.length);
		for (uint32_t i = 0; i < VALUES; i++)
			sonde_set_u64(&row, RX_BYTES + i, interface.value[i]);
	}
	return 0;
}

SONDE_COLLECTOR(net, "traffic by network interface", sample, .tables = SONDE_TABLES(tables),
		.state_size = sizeof(struct state), .start = start);
