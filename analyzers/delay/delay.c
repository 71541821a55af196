/* delay: where the time of processes went: findings of docs/findings.md that begin with "delay."
 * (Documentation/accounting/delay-accounting.rst).
 *
 * A thread is on a CPU, waits for one, waits for block I/O, or sleeps for another reason: these are apart. The other delays lie
 * within them: a page that was evicted a moment before and is read again is thrashing and block I/O, reclaim is time on a CPU for the
 * most part. */
#include "delay.h"

/* clang-format off */
static const struct sonde_option options[] = {
	{ "limit", SONDE_OPT_U64, offsetof(struct conf, limit), "8", NULL, 1, 100,
	  "processes that are told of, those that did most first: more would hide the rest of a report" },
	SONDE_TIME("hold", hold, "2s",
		   "time without a break before a finding holds: a single burst is not a problem"),
	SONDE_THRESHOLD("block_io", block_io, "0.5", 1,
			"of the time in which a process ran or wanted to, the share that it waited for block I/O: with half of it, the disk sets its speed"),
	SONDE_THRESHOLD("memory", memory, "0.25", 1,
			"the same, for memory: reclaim, compaction, pages that were evicted too early; a quarter makes it a third slower"),
	SONDE_THRESHOLD("least", least, "0.1", 1e6,
			"threads that have to run or want to on average: what sleeps nine tenths of the time is not held up"),
	SONDE_THRESHOLD("major_faults", major, "10", 1e9,
			"major faults of a process in a second, above which it is told by mem.major_faults alone: the default of that"),
};

static const struct sonde_catalogue catalogue[] = {
	{ "delay.block_io", "a process spends its time waiting for block I/O",
	  "taskstats.blkio_delay_total | process.delayacct_blkio_ticks process.sched_run", "block_io least major_faults hold limit" },
	{ "delay.memory", "a process spends its time waiting for memory", "taskstats.freepages_delay_total",
	  "memory least major_faults hold limit" },
};

#define OF(field) offsetof(struct conf, field)
/* All but sleep. Waits in reclaim that are no block I/O are in the latter two alone; what is counted twice makes shares smaller. */
#define ACTIVE "cpu_run_virtual_total cpu_delay_total blkio_delay_total freepages_delay_total? compact_delay_total?"
#define DELAYED(name, column) { name, "taskstats", .plus = column, .over = "time", .keys = 64 }

static const struct sonde_stream streams[STREAMS] = {
	[BLOCK_IO] = { "delay.block_io_share", "taskstats", .plus = "blkio_delay_total", .minus = "thrashing_delay_total?", .over = ACTIVE,
		       .threshold = OF(block_io), .hold = OF(hold), .floor = OF(least), .keys = 64 },
	/* All three are the leader thread's. */
	[LEADER_IO] = { "delay.block_io_share", "process", .plus = "delayacct_blkio_ticks", .over = "sched_run sched_wait delayacct_blkio_ticks",
			.threshold = OF(block_io), .hold = OF(hold), .floor = OF(least), .keys = 64 },
	[MEMORY] = { "delay.memory_share", "taskstats", .plus = "freepages_delay_total thrashing_delay_total? compact_delay_total?", .over = ACTIVE,
		     .threshold = OF(memory), .hold = OF(hold), .floor = OF(least), .keys = 64 },
	[MAJOR] = { "delay.major_faults", "process", .plus = "majflt", .over = "time", .threshold = OF(major), .hold = OF(hold), .keys = 64 },
	[CPU] = DELAYED("delay.cpu", "cpu_run_virtual_total"),
	[RUNQ] = DELAYED("delay.run_queue", "cpu_delay_total"),
	[IO] = DELAYED("delay.block_io", "blkio_delay_total"),
	[SWAPIN] = DELAYED("delay.swapin", "swapin_delay_total"),
	[RECLAIM] = DELAYED("delay.reclaim", "freepages_delay_total"),
	[THRASHING] = DELAYED("delay.thrashing", "thrashing_delay_total"),
	[COMPACTION] = DELAYED("delay.compaction", "compact_delay_total"),
	[COPY] = DELAYED("delay.copy_on_write", "wpcopy_delay_total"),
	[IRQ] = DELAYED("delay.interrupts", "irq_delay_total"),
	/* Whether delays other than for a CPU are counted. */
	[ALL_IO] = { "delay.all_block_io", "taskstats", .plus = "blkio_delay_total", .over = "time", .reduce = SONDE_SUM },
	[THREADS] = { "delay.threads", "process", .plus = "num_threads", .keys = 64 },
};
/* clang-format on */

static int judge(struct sonde_instance *self)
{
	delay_findings(self);
	delay_metrics(self);
	return 0;
}

static const struct sonde_analyzer_ops ops = {
	.streams = SONDE_STREAMS(streams),
	.catalogue = SONDE_CATALOGUE(catalogue),
	.judge = judge,
};

SONDE_ANALYZER(delay, "where the time of processes went", ops, .options = SONDE_OPTIONS(options),
	       .conf_size = sizeof(struct conf));
