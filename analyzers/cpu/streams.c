/* What the analyzer `cpu` looks at: /proc/stat, /proc/pressure/cpu, /proc/schedstat and the processes
 * (Documentation/accounting/psi.rst, Documentation/scheduler/sched-stats.rst, proc(5)). */
#include "cpu.h"

/* guest is in user and guest_nice in nice: the total is the first eight columns. */
#define TOTAL     "user nice system idle iowait? irq? softirq? steal?"
#define WORK      "user nice system irq? softirq?"
#define OF(field) offsetof(struct conf, field)

/* clang-format off */
const struct sonde_stream cpu_streams[STREAMS] = {
	[PRESSURE] = { "cpu.pressure", "psi", .where = "resource=cpu", .plus = "some_total", .over = "time",
		       .threshold = OF(saturation), .hold = OF(hold) },
	/* Apart, so that a report says when it was that bad. */
	[PRESSURE_CRITICAL] = { "cpu.pressure", "psi", .where = "resource=cpu", .plus = "some_total", .over = "time",
				.threshold = OF(saturation_critical), .hold = OF(hold) },
	[DELAY] = { "cpu.tasks_waiting", "schedstat", .plus = "run_delay", .over = "time", .reduce = SONDE_SUM,
		    .threshold = OF(waiting), .hold = OF(hold) },
	[DELAY_SLICE] = { "cpu.wait_per_slice", "schedstat", .plus = "run_delay", .over = "pcount", .reduce = SONDE_SUM },
	[RUNNABLE] = { "cpu.tasks_runnable", "stat", .plus = "procs_running" },
	[PROCESS_DELAY] = { "cpu.processes_waiting", "process", .plus = "sched_wait", .over = "time", .reduce = SONDE_SUM },
	[PROCESS_SLICE] = { "cpu.process_wait_per_slice", "process", .plus = "sched_wait", .over = "sched_slices", .reduce = SONDE_SUM },
	[THREADS_DELAY] = { "cpu.threads_waiting", "process", .plus = "threads_wait", .over = "time", .reduce = SONDE_SUM },
	[THREADS_SLICE] = { "cpu.thread_wait_per_slice", "process", .plus = "threads_wait", .over = "threads_slices", .reduce = SONDE_SUM },
	[PROCESS_WAIT] = { "cpu.process_wait", "process", .plus = "sched_wait", .over = "sched_wait sched_run",
			   .threshold = OF(wait), .hold = OF(hold), .floor = OF(wait_floor) },
	[THREADS_WAIT] = { "cpu.threads_wait", "process", .plus = "threads_wait", .over = "threads_wait threads_run",
			   .threshold = OF(wait), .hold = OF(hold), .floor = OF(wait_floor) },
	[BUSY] = { "cpu.busy", "cpu", .plus = WORK, .over = TOTAL },
	[SOMEBODY_WAITS] = { "cpu.somebody_waits", "psi", .where = "resource=cpu", .plus = "some_total", .over = "time",
			     .threshold = OF(imbalance_wait) },
	[BUSIEST] = { "cpu.busiest", "cpu", .plus = WORK, .over = TOTAL, .reduce = SONDE_MAX,
		      .threshold = OF(busy), .also = SOMEBODY_WAITS + 1 },
	[SPREAD] = { "cpu.spread", "cpu", .plus = WORK, .over = TOTAL, .reduce = SONDE_SPREAD,
		     .threshold = OF(spread), .hold = OF(imbalance_hold), .also = BUSIEST + 1 },
	[QUEUED] = { "cpu.queued", "schedstat", .plus = "run_delay", .over = "time", .reduce = SONDE_MAX,
		     .threshold = OF(imbalance_wait) },
	[QUEUED_BUSIEST] = { "cpu.queued_busiest", "cpu", .plus = WORK, .over = TOTAL, .reduce = SONDE_MAX,
			     .threshold = OF(busy), .also = QUEUED + 1 },
	[QUEUED_SPREAD] = { "cpu.queued_spread", "cpu", .plus = WORK, .over = TOTAL, .reduce = SONDE_SPREAD,
			    .threshold = OF(spread), .hold = OF(imbalance_hold), .also = QUEUED_BUSIEST + 1 },
	/* By CPU, so that one whose steal time goes back is left out alone. */
	[STEAL] = { "cpu.steal", "cpu", .plus = "steal", .over = TOTAL, .reduce = SONDE_SUM,
		    .threshold = OF(steal), .hold = OF(hold) },
	[IOWAIT] = { "cpu.iowait", "cpu", .plus = "iowait", .over = TOTAL, .reduce = SONDE_SUM,
		     .threshold = OF(iowait), .hold = OF(hold) },
	[EXCESS] = { "cpu.involuntary_excess", "process", .plus = "nonvoluntary_ctxt_switches", .minus = "voluntary_ctxt_switches",
		     .over = "time", .reduce = SONDE_SUM, .threshold = OF(zero) },
	[INVOLUNTARY] = { "cpu.involuntary", "process", .plus = "nonvoluntary_ctxt_switches", .over = "time", .reduce = SONDE_SUM,
			  .threshold = OF(preemptions), .hold = OF(hold), .also = EXCESS + 1 },
	[VOLUNTARY] = { "cpu.voluntary", "process", .plus = "voluntary_ctxt_switches", .over = "time", .reduce = SONDE_SUM,
			.threshold = OF(blockings), .hold = OF(hold) },
	[PROCESS_INVOLUNTARY] = { "cpu.process_involuntary", "process", .plus = "nonvoluntary_ctxt_switches", .over = "time", .keys = 16 },
	[PROCESS_VOLUNTARY] = { "cpu.process_voluntary", "process", .plus = "voluntary_ctxt_switches", .over = "time", .keys = 16 },
	[UTILISATION] = { "cpu.utilisation", "stat", .plus = WORK, .over = TOTAL },
	[USER] = { "cpu.user", "stat", .plus = "user", .minus = "guest?", .over = TOTAL },
	[GUEST] = { "cpu.guest", "stat", .plus = "guest guest_nice", .over = TOTAL },
	[NICE] = { "cpu.nice", "stat", .plus = "nice", .minus = "guest_nice?", .over = TOTAL },
	[SYSTEM] = { "cpu.system", "stat", .plus = "system", .over = TOTAL },
	[IRQ] = { "cpu.irq", "stat", .plus = "irq", .over = TOTAL },
	[SOFTIRQ] = { "cpu.softirq", "stat", .plus = "softirq", .over = TOTAL },
	[STOLEN] = { "cpu.stolen", "stat", .plus = "steal", .over = TOTAL },
	[SWITCHES] = { "cpu.switches", "stat", .plus = "ctxt", .over = "time" },
	[FORKS] = { "cpu.forks", "stat", .plus = "processes", .over = "time" },
};
/* clang-format on */
