/* What is compared of recorded commands besides the metrics of analyzers: members of `sonde summary --json` (sinks/tree/tree.md),
 * and how long the command took. */
#ifndef CORE_RUN_METRICS_H
#define CORE_RUN_METRICS_H

#include <stddef.h>

static const struct run_metric {
	const char *name;
	const char *member; /* of the summary; NULL: the length of the report's window */
	double scale;       /* from it to the base unit */
	const char *unit, *counted;
	const char *direction; /* up, down or neither: which way is better */
	const char *help;
} run_metrics[] = {
	/* Of what verbs/compare tests by itself. */
	{ "run.elapsed", NULL, 1e9, "ns", "", "down",
	  "from the start of a recorded command to its end: the recording's length" },
	{ "run.cpu", "cpu", 1e9, "ns", "", "down", "CPU time of its processes" },
	{ "run.user", "user", 1e9, "ns", "", "down", "the part of it in user mode" },
	{ "run.system", "system", 1e9, "ns", "", "down", "the part of it in the kernel" },
	{ "run.cpus_busy", "cpus_busy", 1, "none", "", "neither",
	  "CPUs that its processes kept busy, mean: how parallel it ran" },
	{ "run.queue_wait", "run_queue_wait", 1e9, "ns", "", "down",
	  "time that its processes could run and had no CPU" },
	{ "run.peak_rss", "peak_rss", 1, "bytes", "", "down",
	  "most that one of its processes had resident" },
	{ "run.peak_rss_at_once", "peak_rss_at_once", 1, "bytes", "", "down",
	  "most that all of its processes had resident at one sample, shared pages more than once" },
	{ "run.read", "read", 1, "bytes", "", "down", "read from disks for its processes" },
	{ "run.written", "written", 1, "bytes", "", "down", "written to disks by its processes" },
	{ "run.faults", "faults", 1, "count", "faults", "down", "page faults without I/O" },
	{ "run.major_faults", "major_faults", 1, "count", "faults", "down",
	  "page faults that waited for I/O" },
	{ "run.context_switches", "context_switches", 1, "count", "switches", "down",
	  "context switches of its processes" },
	{ "run.processes", "processes", 1, "count", "processes", "neither",
	  "processes that were seen" },
	{ "run.received", "host_received", 1, "bytes", "", "neither",
	  "received meanwhile by the whole host, with --network" },
	{ "run.sent", "host_sent", 1, "bytes", "", "neither",
	  "sent meanwhile by the whole host, with --network" },
};
enum { RUN_ELAPSED, RUN_METRICS = sizeof run_metrics / sizeof run_metrics[0] };

#endif
