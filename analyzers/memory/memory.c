/* memory: work that waits for memory, and why: findings of docs/findings.md that begin with "mem.". */
#include "memory.h"

/* clang-format off */
static const struct sonde_option options[] = {
	{ "limit", SONDE_OPT_U64, offsetof(struct conf, limit), "8", NULL, 1, 100,
	  "findings of one kind about processes, the worst first: more would hide the rest of a report" },
	{ "hold", SONDE_OPT_DURATION, offsetof(struct conf, hold), "2s", NULL, 0, 0,
	  "time without a break before a finding holds: a single burst is not a problem; an OOM kill and little available memory hold at once" },
	SONDE_THRESHOLD("allocation_stalls", stalls, "1", 1e9,
	    "allocations a second that had to reclaim memory by themselves: each one is a wait that its caller did not expect"),
	SONDE_THRESHOLD("swapping", swapping, "10", 1e9,
	    "pages a second, in and out at the same time: one way alone is a move, both ways are thrashing"),
	SONDE_THRESHOLD("low_available", available, "0.95", 1,
	    "share of memory that is not available: below a twentieth left, the next burst meets reclaim"),
	SONDE_THRESHOLD("pressure", pressure, "0.01", 1,
	    "share of time in which all tasks that were not idle waited for memory: a hundredth is lost throughput"),
	SONDE_THRESHOLD("pressure_critical", pressure_critical, "0.1", 1, "the same, where it is critical"),
	SONDE_THRESHOLD("refaults", refaults, "100", 1e9,
	    "where the kernel has no PSI, pages a second that had been evicted lately and came back, while tasks reclaim by themselves"),
	SONDE_THRESHOLD("major_faults", major, "10", 1e9,
	    "major faults of a process in a second: at a disk's milliseconds each, it hardly does anything else"),
	SONDE_THRESHOLD("minor_faults", minor, "200000", 1e9,
	    "minor faults of a process in a second, or in a second of its CPU time: at half a microsecond or more each, a tenth of it and more"),
	SONDE_THRESHOLD("minor_faults_cpu", minor_cpu, "0.2", 1e6,
	    "CPUs that the process uses at least, where its CPU time is what is looked at: with less it costs the machine next to nothing"),
	SONDE_THRESHOLD("memory_bandwidth", bandwidth, "0", 1e15,
	    "bytes a second that all memory together can carry, as stream or mlc measured it: mem.bandwidth is told as a share of it; 0: not known"),
};

static const struct sonde_catalogue catalogue[] = {
	{ "mem.direct_reclaim", "allocations wait for reclaim", "vmstat.allocstall*",
	  "allocation_stalls hold" },
	{ "mem.swapping", "memory goes to swap and comes back", "vmstat.pswpin vmstat.pswpout",
	  "swapping hold" },
	{ "mem.oom", "the kernel killed a process for want of memory", "vmstat.oom_kill",
	  "" },
	{ "mem.low_available", "hardly any memory is available", "meminfo.mem_available | meminfo.mem_free meminfo.buffers meminfo.cached",
	  "low_available" },
	{ "mem.pressure", "work stands still for want of memory", "psi.full_total | vmstat.workingset_refault*",
	  "pressure pressure_critical refaults hold" },
	{ "mem.major_faults", "a process waits for pages from disk", "process.majflt",
	  "major_faults hold limit" },
	{ "mem.minor_fault_storm", "a process spends its time on page faults", "process.minflt",
	  "minor_faults minor_faults_cpu hold limit" },
};
/* clang-format on */

/* Columns of time are in nanoseconds. */
static int start(struct sonde_instance *self)
{
	struct conf *conf = self->conf;

	conf->minor_ns = conf->minor / 1e9;
	return 0;
}

static int judge(struct sonde_instance *self)
{
	memory_findings(self);
	memory_faults(self);
	memory_metrics(self);
	memory_bandwidth(self);
	return 0;
}

static const struct sonde_analyzer_ops ops = {
	.streams = SONDE_STREAMS(memory_streams),
	.catalogue = SONDE_CATALOGUE(catalogue),
	.judge = judge,
};

SONDE_ANALYZER(memory, "work that waits for memory, and why", ops,
	       .options = SONDE_OPTIONS(options), .conf_size = sizeof(struct conf), .start = start);
