/* delay.block_io and delay.memory, and the parts of a process's time as metrics: each the number of its threads that were there on
 * average. */
#include "delay.h"

static const struct sonde_advice for_io = {
	.id = "delay.block_io",
	.why = "The process ran and waited for a CPU less than it waited for block devices: a faster CPU would not help, fewer or faster "
	       "requests would.",
	.action =
		"See which files (lsof -p PID, or fatrace) and which device (io.busy, io.wait): keep what is read again in memory, read "
		"ahead or in larger pieces, write back in groups (one fsync for many), let threads overlap their requests, or use a "
		"faster device.",
	.need = "lsof of others' processes needs root",
	.risk = "",
	.undo = "",
};
static const struct sonde_advice for_memory = {
	.id = "delay.memory",
	.why = "The process had to free, move or read back memory before it went on: it pays for memory that is short, here or in its "
	       "control group.",
	.action =
		"See which of them it is (delay.reclaim, delay.thrashing, delay.compaction). Reclaim and thrashing: raise the limit of its "
		"control group (memory.high, memory.max), run less at once, or add memory. Compaction: "
		"echo defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag.",
	.need = "root",
	.risk = "a higher limit takes memory from others; with defer huge pages come later",
	.undo = "systemctl revert UNIT; write the word back that defrag showed in brackets",
};

struct part {
	uint32_t stream;
	const char *name, *origin;
};

#define FIELD(name) "struct taskstats " name
static const struct part parts[] = {
	{ CPU, "delay.cpu", FIELD("cpu_run_virtual_total") },
	{ RUNQ, "delay.run_queue", FIELD("cpu_delay_total") },
	{ IO, "delay.block_io", FIELD("blkio_delay_total") },
	{ SWAPIN, "delay.swapin", FIELD("swapin_delay_total") },
	{ RECLAIM, "delay.reclaim", FIELD("freepages_delay_total") },
	{ THRASHING, "delay.thrashing", FIELD("thrashing_delay_total") },
	{ COMPACTION, "delay.compaction", FIELD("compact_delay_total") },
	{ COPY, "delay.copy_on_write", FIELD("wpcopy_delay_total") },
	{ IRQ, "delay.interrupts", FIELD("irq_delay_total") },
};
enum { PARTS = sizeof parts / sizeof *parts };

static int pid_length(const struct sonde_series *series)
{
	return (int)strcspn(series->key, " ");
}

/* The mean of a part while something held, of a process; where it had none of it in a second, that second is not in its series. */
static double part_between(struct sonde_instance *self, uint32_t stream, const char *key,
			   const struct sonde_held *held)
{
	double time = (double)(held->end - held->begin);
	uint32_t index;

	if (time <= 0 || !sonde_series_of(self, stream, key, &index))
		return 0;
	return sonde_between(self, stream, index, held->begin, held->end).numerator / time;
}

static bool told_already(struct sonde_instance *self, const char *key)
{
	const struct sonde_series *major = sonde_series_of(self, MAJOR, key, NULL);

	return major && major->held.time;
}

static void judge_share(struct sonde_instance *self, uint32_t stream,
			const struct sonde_advice *advice, enum sonde_severity severity,
			const char *what, const char *name, const char *origin)
{
	const struct conf *conf = self->conf;
	uint32_t count, told = 0;
	const struct sonde_series *series = sonde_series(self, stream, &count);

	for (uint32_t i = 0; i < count && told < conf->limit; i++) {
		const struct sonde_held *held = &series[i].held;
		struct sonde_proof proof = { 0 };
		struct sonde_words about, title;

		if (!held->time || strcmp(series[i].key, "other") == 0 ||
		    told_already(self, series[i].key))
			continue;
		sonde_say(&about, "process %.*s (%s)", pid_length(&series[i]), series[i].key,
			  series[i].label);
		sonde_say(&title,
			  "P%s waited for %s %.1f %% of the time in which it ran or wanted to",
			  about.text + 1, what, sonde_held_mean(held) * 100);
		sonde_prove(&proof, name, sonde_held_mean(held), SONDE_BASE_RATIO, NULL, origin);
		for (size_t p = 0; p < PARTS; p++) {
			double mean = part_between(self, parts[p].stream, series[i].key, held);

			if (mean > 0)
				sonde_prove(&proof, parts[p].name, mean, SONDE_BASE_COUNT,
					    "threads", parts[p].origin);
		}
		sonde_found(self, advice, severity, about.text, title.text, held,
			    held->numerator / 1e9, &proof);
		told++;
	}
}

void delay_findings(struct sonde_instance *self)
{
	uint32_t count;

	sonde_series(self, BLOCK_IO, &count);
	judge_share(self, count ? BLOCK_IO : LEADER_IO, &for_io, SONDE_SEVERITY_INFO, "block I/O",
		    "delay.block_io_share",
		    count ? "struct taskstats blkio_delay_total less thrashing_delay_total, of it, "
			    "CPU, run queue and reclaim"
			  : "/proc/PID/stat field 42, of it and /proc/PID/schedstat fields 1 2, "
			    "leader thread");
	judge_share(self, MEMORY, &for_memory, SONDE_SEVERITY_WARNING, "memory",
		    "delay.memory_share",
		    "struct taskstats freepages_delay_total thrashing_delay_total "
		    "compact_delay_total, of CPU, run queue, block I/O and reclaim");
}

static void tell(struct sonde_instance *self, const char *name, const char *about, double value,
		 const char *origin)
{
	const struct sonde_metric metric = {
		.name = name,
		.about = about,
		.value = value,
		.unit = SONDE_BASE_COUNT,
		.direction = SONDE_NEITHER,
		.counted = "threads",
		.origin = origin,
	};

	sonde_metric(self, &metric);
}

/* Of a process that had none of it 0, where the kernel counts it; of what lies within the others only what there was. */
static bool tell_part(struct sonde_instance *self, const struct part *part, const char *key,
		      const char *about, double time, double *value)
{
	const struct sonde_series *series = sonde_series_of(self, part->stream, key, NULL);

	if (!series && (part->stream > IO || !sonde_single(self, ALL_IO)))
		return false;
	*value = series ? series->total.numerator / time : 0;
	tell(self, part->name, about, *value, part->origin);
	return true;
}

static void tell_process(struct sonde_instance *self, const char *key, const char *about)
{
	const struct sonde_series *threads = sonde_series_of(self, THREADS, key, NULL);
	/* Seconds in which it did nothing are in no series but that of its threads. */
	double time = (double)(threads ? threads->total.observed : sonde_window(self)->observed);
	double active = 0, value;
	bool whole = threads != NULL;

	for (size_t p = 0; p < PARTS && time > 0; p++) {
		bool told = tell_part(self, &parts[p], key, about, time, &value);

		if (parts[p].stream > IO)
			continue;
		whole &= told;
		active += told ? value : 0;
	}
	if (whole && sonde_mean(&threads->total) >= active)
		tell(self, "delay.blocked", about, sonde_mean(&threads->total) - active,
		     "/proc/PID/stat field 20 less CPU, run queue and block I/O of struct taskstats");
}

/* Those that ran longest. */
void delay_metrics(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	uint32_t count, told = 0;
	const struct sonde_series *series = sonde_series(self, CPU, &count);

	for (uint32_t i = 0; i < count && told < conf->limit; i++) {
		struct sonde_words about;

		if (strcmp(series[i].key, "other") == 0)
			continue;
		sonde_say(&about, "process %.*s (%s)", pid_length(&series[i]), series[i].key,
			  series[i].label);
		tell_process(self, series[i].key, about.text);
		told++;
	}
}
