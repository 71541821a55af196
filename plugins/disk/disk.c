/* disk: work done by block devices (/proc/diskstats, Documentation/admin-guide/iostats.rst). */
#include <sonde/plugin.h>

enum { MAJOR, MINOR, NAME, READS, IN_FLIGHT = READS + 8, VALUES = 17, VALUES_FIRST = 11 };

#define REQUESTS SONDE_COUNT("requests")
#define COUNTER(name, unit, field, text)                                                           \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, unit, .origin = "field " field, .help = text       \
	}
#define TIME(name, field, text)                                                                    \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, SONDE_MS, .origin = "field " field, .help = text,  \
							  .wrap = 32                               \
	}

/* Fields as iostats.rst numbers them. Times are unsigned int in the kernel and wrap each by itself after 49.7 days of them;
 * the rest is unsigned long, which does not wrap in practice: a fall means another device under the same name. */
/* clang-format off */
static const struct sonde_column columns[] = {
	[MAJOR] = { "major", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "major number", .help = "Device number" },
	[MINOR] = { "minor", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "minor number", .help = "Device number" },
	[NAME] = { "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "device name", .sensitivity = SONDE_NAME,
		.help = "Disk or partition: adding both up counts twice, and so does adding dm or md to their members" },
	[READS] =
	COUNTER("reads", REQUESTS, "1", "Reads completed"),
	COUNTER("reads_merged", REQUESTS, "2", "Reads merged into a neighbour's request before they were issued"),
	COUNTER("read_sectors", SONDE_SECTORS, "3", "Read; sectors of 512 bytes whatever the device's are"),
	TIME("read_time", "4", "Time of all reads from being queued to their end, added up: more than wall time where they overlap"),
	COUNTER("writes", REQUESTS, "5", "Writes completed"),
	COUNTER("writes_merged", REQUESTS, "6", "Writes merged into a neighbour's request before they were issued"),
	COUNTER("write_sectors", SONDE_SECTORS, "7", "Written"),
	TIME("write_time", "8", "Time of all writes from being queued to their end, added up"),
	[IN_FLIGHT] = { "in_flight", SONDE_U64, SONDE_GAUGE, REQUESTS, .origin = "field 9",
		.help = "Requests given to the driver and not ended" },
	TIME("io_time", "10", "Wall time with a request in flight, in steps of a jiffy and too large for few, short requests since 5.0; all the time does not mean that the device could do no more"),
	TIME("weighted_time", "11", "io_time times the requests in flight: divided by wall time, the queue's mean length"),
	COUNTER("discards", REQUESTS, "12", "Discards completed; since 4.18"),
	COUNTER("discards_merged", REQUESTS, "13", "Discards merged; since 4.18"),
	COUNTER("discard_sectors", SONDE_SECTORS, "14", "Discarded; since 4.18"),
	TIME("discard_time", "15", "Time of all discards added up; since 4.18"),
	COUNTER("flushes", REQUESTS, "16", "Flush requests completed, not of partitions; since 5.5"),
	TIME("flush_time", "17", "Time of all flushes added up; since 5.5"),
};
/* clang-format on */

static const struct sonde_table tables[] = {
	{ "disk", SONDE_COLUMNS(columns), .origin = "/proc/diskstats",
	  .help = "Block devices and their partitions: requests, bytes and times.", .rows = 256 },
};

struct state {
	struct sonde_file *file;
};

struct disk {
	uint64_t major, minor;
	const char *name;
	size_t length;
	uint64_t value[VALUES];
	uint32_t count; /* of values: 11 before 4.18, 15 before 5.5, 17 */
};

/* The next device; lines with fewer values than 11 (partitions before 2.6.25, with a layout of their own) are passed over. */
static bool disk_next(struct cursor *line, struct disk *disk)
{
	while (next_line(line)) {
		if (!next_u64(line, &disk->major) || !next_u64(line, &disk->minor))
			continue;
		disk->length = next_word(line, &disk->name);
		for (disk->count = 0; disk->count < VALUES; disk->count++)
			if (!next_u64(line, &disk->value[disk->count]))
				break;
		if (disk->count >= VALUES_FIRST)
			return true;
	}
	return false;
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;

	state->file = sonde_open(self, SONDE_KEEP, "/proc/diskstats");
	return state->file
		       ? 0
		       : sonde_unavailable(
				 self,
				 "no /proc/diskstats: the kernel is built without CONFIG_BLOCK");
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	struct cursor line;
	struct sonde_row row;
	struct disk disk;
	const char *text;
	int64_t length = sonde_read(self, state->file, &text);

	if (length < 0)
		return (int)length;
	line = cursor(text, whole_words(text, (size_t)length));
	while (disk_next(&line, &disk)) {
		if (!sonde_row(self, frame, 0, &row))
			continue;
		sonde_set_u64(&row, MAJOR, disk.major);
		sonde_set_u64(&row, MINOR, disk.minor);
		sonde_set_bytes(&row, NAME, disk.name, disk.length);
		for (uint32_t i = 0; i < disk.count; i++)
			sonde_set_u64(&row, READS + i, disk.value[i]);
	}
	return 0;
}

SONDE_COLLECTOR(disk, "block devices: requests, bytes and times", sample,
		.tables = SONDE_TABLES(tables), .state_size = sizeof(struct state), .start = start);
