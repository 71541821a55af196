/* disk: work done by block devices (/proc/diskstats, Documentation/admin-guide/iostats.rst), and which are parts of others
 * (/sys/class/block, Documentation/ABI/stable/sysfs-block). */
#include <sonde/plugin.h>

enum {
	MAJOR,
	MINOR,
	NAME,
	DISKSEQ,
	PARTITION,
	READS,
	IN_FLIGHT = READS + 8,
	VALUES = 17,
	VALUES_FIRST = 11
};

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
	[DISKSEQ] = { "diskseq", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "/sys/class/block/NAME/diskseq",
		.help = "Number of the disk since boot: another one that got its name and number (dm, loop, a replaced medium) has another; 0 before 5.15" },
	[PARTITION] = { "partition", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "/sys/class/block/NAME/partition",
		.help = "0: a whole disk; else the number of the partition; absent: /sys does not tell" },
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

struct conf {
	uint32_t partitions; /* bool */
};

static const struct sonde_option options[] = {
	{ "partitions", SONDE_OPT_BOOL, offsetof(struct conf, partitions), "yes", NULL, 0, 0,
	  "rows of partitions beside those of whole disks" },
};

enum { NAME_MOST = 32 }; /* DISK_NAME_LEN, with its NUL */

/* What /sys tells of a device, in the order of the lines. */
struct device {
	uint64_t major, minor, diskseq;
	uint32_t partition;
	uint32_t told; /* bool: partition is known */
	char name[NAME_MOST];
};

struct state {
	struct sonde_file *file, *events;
	struct device *devices;
	uint32_t count, capacity, asked; /* capacity is `asked` from the next sample on */
	uint64_t seqnum;                 /* of the kernel's last event about a device */
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

/* ---- What /sys tells */

/* A number of /sys/class/block/NAME; in whose names "/" stands as "!". */
static bool read_number(struct sonde_instance *self, const char *name, const char *attribute,
			uint64_t *value)
{
	struct sonde_file *file =
		sonde_open(self, SONDE_FRESH, "/sys/class/block/%s/%s", name, attribute);
	const char *text = "";
	int64_t length = file ? sonde_read(self, file, &text) : 0;
	struct cursor line = cursor(text, length > 0 ? (size_t)length : 0);

	sonde_close(self, file);
	return next_line(&line) && next_u64(&line, value);
}

static void ask(struct sonde_instance *self, struct device *device)
{
	uint64_t value;

	device->told = read_number(self, device->name, "partition", &value);
	device->partition = device->told ? (uint32_t)value : 0;
	/* A partition's folder lies in its disk's; the link is followed before the dots are. */
	if (!read_number(self, device->name, device->told ? "../diskseq" : "diskseq",
			 &device->diskseq))
		device->diskseq = 0;
	if (!device->told)
		device->told = device->diskseq || read_number(self, device->name, "dev", &value);
}

/* Takes the devices of the text, then asks /sys for each: the text is gone then. */
static void learn(struct sonde_instance *self, const char *text, size_t length)
{
	struct state *state = self->state;
	struct cursor line = cursor(text, whole_words(text, length));
	struct disk disk;
	uint32_t all = 0;

	state->count = 0;
	for (; disk_next(&line, &disk); all++) {
		struct device *device;

		if (state->count == state->capacity)
			continue;
		device = &state->devices[state->count++];
		*device = (struct device) { .major = disk.major, .minor = disk.minor };
		for (size_t i = 0; i < disk.length && i < NAME_MOST - 1; i++)
			device->name[i] = disk.name[i] == '/' ? '!' : disk.name[i];
	}
	for (uint32_t i = 0; i < state->count; i++)
		ask(self, &state->devices[i]);
	if (all > state->asked &&
	    !sonde_grow(self, &state->devices, (all + 16ull) * sizeof *state->devices))
		state->asked = all + 16;
}

/* Whether the lines are those that are known, each in its place. */
static bool is_known(const struct state *state, const char *text, size_t length)
{
	struct cursor line = cursor(text, whole_words(text, length));
	struct disk disk;
	uint32_t i = 0;

	for (; disk_next(&line, &disk); i++)
		if (i >= state->count || state->devices[i].major != disk.major ||
		    state->devices[i].minor != disk.minor)
			return false;
	return i == state->count;
}

/* The kernel numbers its events about devices: while the number stays, no disk came or went. */
static bool is_eventful(struct sonde_instance *self)
{
	struct state *state = self->state;
	const char *text = "";
	int64_t length = state->events ? sonde_read(self, state->events, &text) : 0;
	struct cursor line = cursor(text, length > 0 ? (size_t)length : 0);
	uint64_t seqnum = 0;
	bool eventful;

	if (next_line(&line))
		next_u64(&line, &seqnum);
	eventful = seqnum != state->seqnum;
	state->seqnum = seqnum;
	return eventful;
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;
	const char *text;
	int64_t length;

	state->file = sonde_open(self, SONDE_KEEP, "/proc/diskstats");
	if (!state->file)
		return sonde_unavailable(self, "no /proc/diskstats: the kernel is built without "
					       "CONFIG_BLOCK");
	state->events = sonde_open(self, SONDE_KEEP, "/sys/kernel/uevent_seqnum");
	length = sonde_read(self, state->file, &text);
	if (length > 0)
		learn(self, text, (size_t)length);
	return 0;
}

static void set_device(const struct state *state, uint32_t index, const struct disk *disk,
		       struct sonde_row *row)
{
	const struct device *device = index < state->count ? &state->devices[index] : NULL;

	if (device && (device->major != disk->major || device->minor != disk->minor))
		device = NULL;
	sonde_set_u64(row, MAJOR, disk->major);
	sonde_set_u64(row, MINOR, disk->minor);
	sonde_set_bytes(row, NAME, disk->name, disk->length);
	sonde_set_u64(row, DISKSEQ, device ? device->diskseq : 0);
	if (device && device->told)
		sonde_set_u64(row, PARTITION, device->partition);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	bool eventful = is_eventful(self);
	struct cursor line;
	struct disk disk;
	const char *text;
	int64_t length = sonde_read(self, state->file, &text);

	state->capacity = state->asked;
	if (length >= 0 && (eventful || !is_known(state, text, (size_t)length))) {
		learn(self, text, (size_t)length);
		length = sonde_read(self, state->file, &text);
	}
	if (length < 0)
		return (int)length;
	line = cursor(text, whole_words(text, (size_t)length));
	for (uint32_t n = 0; disk_next(&line, &disk); n++) {
		struct sonde_row row;

		if (!conf->partitions && n < state->count && state->devices[n].partition)
			continue;
		if (!sonde_row(self, frame, 0, &row))
			continue;
		set_device(state, n, &disk, &row);
		for (uint32_t i = 0; i < disk.count; i++)
			sonde_set_u64(&row, READS + i, disk.value[i]);
	}
	return 0;
}

SONDE_COLLECTOR(disk, "block devices: requests, bytes and times", sample,
		.options = SONDE_OPTIONS(options), .tables = SONDE_TABLES(tables),
		.conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
		.start = start);
