/* io: what disks and network interfaces do, as metrics of each (Documentation/admin-guide/iostats.rst,
 * Documentation/networking/statistics.rst), and tasks that wait for disks: io.pressure of docs/findings.md. */
#include <ctype.h>

#include "io.h"

/* clang-format off */
static const struct sonde_option options[] = {
	{ "limit", SONDE_OPT_U64, offsetof(struct conf, limit), "8", NULL, 1, 100,
	  "disks, and interfaces, that are told of, the busiest first: idle ones say nothing" },
	SONDE_TIME("hold", hold, "5s",
		   "time without a break before a finding holds: caches are written back in bursts of some seconds"),
	SONDE_THRESHOLD("pressure", pressure, "0.25", 1,
			"share of time with a task waiting for I/O: a quarter is more than a disk's everyday work"),
	SONDE_THRESHOLD("not_iowait", not_iowait, "0.90", 1,
			"share of CPU time that is not idle for want of I/O; with less, cpu.iowait tells of it"),
};

static const struct sonde_catalogue catalogue[] = {
	{ "io.pressure", "tasks wait for I/O while CPUs have other work", "psi.some_total cpu.iowait", "pressure not_iowait hold" },
};

#define OF(field) offsetof(struct conf, field)
static const struct sonde_stream streams[STREAMS] = {
	/* Idle time counts as iowait only while there is idle time: of busy CPUs it says nothing. */
	[NOT_IOWAIT] = { "io.not_iowait", "cpu", .plus = "user nice system idle irq? softirq? steal?",
			 .over = "user nice system idle iowait irq? softirq? steal?", .reduce = SONDE_SUM, .threshold = OF(not_iowait) },
	[PRESSURE] = { "io.pressure", "psi", .where = "resource=io", .plus = "some_total", .over = "wall time",
		       .threshold = OF(pressure), .hold = OF(hold), .also = NOT_IOWAIT + 1 },
	[PRESSURE_FULL] = { "io.pressure_full", "psi", .where = "resource=io", .plus = "full_total", .over = "wall time" },
	[MEMORY] = { "io.memory_pressure", "psi", .where = "resource=memory", .plus = "some_total", .over = "wall time" },
	[UTILISATION] = { "io.cpu_utilisation", "cpu", .plus = "user nice system irq? softirq?",
			  .over = "user nice system idle iowait irq? softirq? steal?", .reduce = SONDE_SUM },
	[PROCESS] = { "io.process", "process", .plus = "read_bytes write_bytes", .over = "time", .keys = 32 },
	[BUSY] = { "io.busy", "disk", .plus = "io_time", .over = "wall time", .keys = 64 },
	[QUEUE] = { "io.queue", "disk", .plus = "weighted_time", .over = "time", .keys = 64 },
	[READ] = { "io.read", "disk", .plus = "read_sectors", .over = "time", .keys = 64 },
	[WRITTEN] = { "io.written", "disk", .plus = "write_sectors", .over = "time", .keys = 64 },
	[WAIT] = { "io.wait", "disk", .plus = "read_time write_time", .over = "reads writes", .keys = 64 },
	[TRAFFIC] = { "net.traffic", "net", .plus = "rx_bytes tx_bytes", .over = "time", .keys = 64 },
	[DROPS] = { "net.drops", "net", .plus = "rx_drop rx_fifo tx_drop tx_fifo", .over = "time", .keys = 64 },
	[ERRORS] = { "net.errors", "net", .plus = "rx_errs tx_errs", .over = "time", .keys = 64 },
};

/* A metric that each device has. */
struct kind {
	uint32_t stream;
	bool per_event; /* of what was counted, not of time */
	struct sonde_metric form;
};

static const struct kind disk_kinds[] = {
	/* Too large for few, short requests since 5.0, and by the counter's own errors more than all of the time. */
	{ BUSY, .form = { "io.busy", .unit = SONDE_BASE_RATIO, .direction = SONDE_NEITHER, .origin = "/proc/diskstats field 10" } },
	{ QUEUE, .form = { "io.queue", .unit = SONDE_BASE_COUNT, .direction = SONDE_DOWN_IS_BETTER, .counted = "requests", .origin = "/proc/diskstats field 11" } },
	{ WAIT, .per_event = true, .form = { "io.wait", .unit = SONDE_BASE_NS, .direction = SONDE_DOWN_IS_BETTER, .origin = "/proc/diskstats fields 4 8, of 1 5" } },
	{ READ, .form = { "io.read", .unit = SONDE_BASE_BYTES, .direction = SONDE_NEITHER, .counted = "/s", .origin = "/proc/diskstats field 3" } },
	{ WRITTEN, .form = { "io.written", .unit = SONDE_BASE_BYTES, .direction = SONDE_NEITHER, .counted = "/s", .origin = "/proc/diskstats field 7" } },
};
static const struct kind net_kinds[] = {
	{ TRAFFIC, .form = { "net.traffic", .unit = SONDE_BASE_BYTES, .direction = SONDE_NEITHER, .counted = "/s", .origin = "/proc/net/dev receive and transmit bytes" } },
	{ DROPS, .form = { "net.drops", .unit = SONDE_BASE_COUNT, .direction = SONDE_DOWN_IS_BETTER, .counted = "packets/s", .origin = "/proc/net/dev drop fifo" } },
	{ ERRORS, .form = { "net.errors", .unit = SONDE_BASE_COUNT, .direction = SONDE_DOWN_IS_BETTER, .counted = "packets/s", .origin = "/proc/net/dev errs" } },
};
/* clang-format on */

/* Seconds in which a counter counted nothing are not in its series, but they are of the window. */
static double value_of(const struct kind *kind, const struct sonde_series *series,
		       const struct sonde_slice *window)
{
	double time = (double)window->observed;

	if (!series)
		return 0;
	if (kind->per_event)
		return sonde_mean(&series->total);
	/* Counters of time count ns for each ns. */
	if (kind->stream != BUSY && kind->stream != QUEUE)
		time /= 1e9;
	return series->total.numerator / time;
}

static void tell(struct sonde_instance *self, const char *what, const struct sonde_series *device,
		 const struct kind *kinds, size_t nkinds)
{
	const struct sonde_slice *window = sonde_window(self);
	struct sonde_words about;

	sonde_say(&about, "%s %s", what, device->label);
	for (size_t i = 0; i < nkinds; i++) {
		const struct sonde_series *series =
			sonde_series_of(self, kinds[i].stream, device->key, NULL);
		struct sonde_metric metric = kinds[i].form;

		if (kinds[i].per_event && !series)
			continue; /* there was no request to wait for */
		metric.about = about.text;
		metric.value = value_of(&kinds[i], series, window);
		sonde_metric(self, &metric);
	}
}

/* "sda1" of "sda", "nvme0n1p2" of "nvme0n1": a name that ends in a digit has a p before the number (block/partitions/core.c). */
static bool is_partition(const char *name, const char *disk)
{
	size_t length = strlen(disk);

	if (!length || strncmp(name, disk, length) != 0)
		return false;
	name += length;
	if (isdigit((unsigned char)disk[length - 1]) && *name++ != 'p')
		return false;
	return *name && strspn(name, "0123456789") == strlen(name);
}

bool io_is_part_of_another(const struct sonde_series *series, uint32_t count, uint32_t i)
{
	for (uint32_t n = 0; n < count; n++)
		if (n != i && is_partition(series[i].label, series[n].label))
			return true;
	return false;
}

static void tell_devices(struct sonde_instance *self, uint32_t stream, const char *what,
			 const struct kind *kinds, size_t nkinds)
{
	const struct conf *conf = self->conf;
	uint32_t count, told = 0;
	const struct sonde_series *series = sonde_series(self, stream, &count);

	for (uint32_t i = 0; i < count && told < conf->limit; i++) {
		if (strcmp(series[i].key, "other") == 0 || series[i].total.numerator <= 0 ||
		    (stream == BUSY && io_is_part_of_another(series, count, i)))
			continue;
		tell(self, what, &series[i], kinds, nkinds);
		told++;
	}
}

static int judge(struct sonde_instance *self)
{
	if (!sonde_window(self)->observed)
		return 0;
	io_pressure(self);
	tell_devices(self, BUSY, "disk", disk_kinds, sizeof disk_kinds / sizeof disk_kinds[0]);
	tell_devices(self, TRAFFIC, "interface", net_kinds, sizeof net_kinds / sizeof net_kinds[0]);
	return 0;
}

static const struct sonde_analyzer_ops ops = {
	.streams = SONDE_STREAMS(streams),
	.catalogue = SONDE_CATALOGUE(catalogue),
	.judge = judge,
};

SONDE_ANALYZER(io, "what disks and network interfaces do", ops, .options = SONDE_OPTIONS(options),
	       .conf_size = sizeof(struct conf));
