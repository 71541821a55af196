/* What the analyzer `cpu` looks at: /proc/stat, /proc/pressure/cpu, /proc/schedstat and the processes
 * (Documentation/accounting/psi.rst, Documentation/scheduler/sched-stats.rst, proc(5)). */
#include "cpu.h"

/* guest is in user and guest_nice in nice: the total is the first eight columns. */
#define TOTAL     "user nice? system idle iowait? irq? softirq? steal?"
#define WORK      "user nice? system irq? softirq?"
#define OF(field) offsetof(struct conf, field)

/* clang-format off */
const struct sonde_stream cpu_streams[STREAMS] = {
	[PRESSURE] = { "cpu.pressure", "psi", .where = "resource=cpu", .plus = "some_total", .over = "wall time",
		       .threshold = OF(saturation), .hold = OF(hold) },
	/* Apart, so that a report says when it was that bad. */
	[PRESSURE_CRITICAL] = { "cpu.pressure", "psi", .where = "resource=cpu", .plus = "some_total", .over = "wall time",
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
	[THREAD_WAIT] = { "cpu.thread_wait", "thread", .plus = "sched_wait", .over = "sched_wait sched_run", .key = "pid tid start_time", .keys = 128 },
	[BUSY] = { "cpu.busy", "cpu", .plus = WORK, .over = TOTAL },
	[SOMEBODY_WAITS] = { "cpu.somebody_waits", "psi", .where = "resource=cpu", .plus = "some_total", .over = "wall time",
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
	[IRQ_BUSIEST] = { "cpu.irq_busiest", "cpu", .plus = "irq softirq", .over = TOTAL, .reduce = SONDE_MAX, .threshold = OF(irq_busy) },
	[IRQ_SPREAD] = { "cpu.irq_spread", "cpu", .plus = "irq softirq", .over = TOTAL, .reduce = SONDE_SPREAD,
			 .threshold = OF(irq_spread), .hold = OF(hold), .also = IRQ_BUSIEST + 1 },
	[IRQ_BUSY] = { "cpu.irq_busy", "cpu", .plus = "irq softirq", .over = TOTAL },
	[IRQ_LINES] = { "cpu.irq_lines", "irq_cpu", .plus = "count", .over = "time", .key = "cpu irq", .keys = 64 },
	/* By CPU, so that one whose steal time goes back is left out alone. */
	[STEAL] = { "cpu.stolen", "cpu", .plus = "steal", .over = TOTAL, .reduce = SONDE_SUM,
		    .threshold = OF(steal), .hold = OF(hold) },
	[IOWAIT] = { "cpu.iowait", "cpu", .plus = "iowait", .over = TOTAL, .reduce = SONDE_SUM,
		     .threshold = OF(iowait), .hold = OF(hold) },
	[CPUS] = { "cpu.cpus", "cpu", .plus = "cpu", .reduce = SONDE_SETTING },
	[EXCESS] = { "cpu.involuntary_excess", "process", .plus = "nonvoluntary_ctxt_switches", .minus = "voluntary_ctxt_switches",
		     .over = "time", .reduce = SONDE_SUM, .threshold = OF(zero) },
	[INVOLUNTARY] = { "cpu.involuntary_switches", "process", .plus = "nonvoluntary_ctxt_switches", .over = "time", .reduce = SONDE_SUM,
			  .threshold = OF(preemptions), .hold = OF(hold), .also = EXCESS + 1 },
	[VOLUNTARY] = { "cpu.voluntary_switches", "process", .plus = "voluntary_ctxt_switches", .over = "time", .reduce = SONDE_SUM,
			.threshold = OF(blockings), .hold = OF(hold) },
	[PROCESS_INVOLUNTARY] = { "cpu.process_involuntary", "process", .plus = "nonvoluntary_ctxt_switches", .over = "time", .keys = 16 },
	[PROCESS_VOLUNTARY] = { "cpu.process_voluntary", "process", .plus = "voluntary_ctxt_switches", .over = "time", .keys = 16 },
	[UTILISATION] = { "cpu.utilisation", "stat", .plus = WORK, .over = TOTAL },
	[TREE] = { "cpu.tree", "processes", .plus = "subtree_cpu", .over = "time" },
	[PROCESSES] = { "cpu.processes_read", "processes", .plus = "rows" },
	[USER] = { "cpu.user", "stat", .plus = "user", .minus = "guest?", .over = TOTAL },
	[GUEST] = { "cpu.guest", "stat", .plus = "guest guest_nice", .over = TOTAL },
	[NICE] = { "cpu.nice", "stat", .plus = "nice", .minus = "guest_nice?", .over = TOTAL },
	[SYSTEM] = { "cpu.system", "stat", .plus = "system", .over = TOTAL },
	[IRQ] = { "cpu.irq", "stat", .plus = "irq", .over = TOTAL },
	[SOFTIRQ] = { "cpu.softirq", "stat", .plus = "softirq", .over = TOTAL },
	/* Where no CPU has a row of its own. */
	[STOLEN] = { "cpu.steal", "stat", .plus = "steal", .over = TOTAL, .threshold = OF(steal), .hold = OF(hold) },
	[IOWAIT_ALL] = { "cpu.iowait_all", "stat", .plus = "iowait", .over = TOTAL, .threshold = OF(iowait), .hold = OF(hold) },
	[SWITCHES] = { "cpu.switches", "stat", .plus = "ctxt", .over = "time" },
	/* A second counts for the CPU on which it ended. */
	[THREAD_CPUS] = { "cpu.thread_cpus", "thread", .plus = "sched_run", .over = "time", .key = "pid tid processor" },
	[PROCESS_CPUS] = { "cpu.process_cpus", "process", .plus = "sched_run", .over = "time", .key = "pid processor" },
	[PROGRAMS] = { "cpu.programs", "process", .plus = "utime stime", .over = "time", .key = "comm", .keys = 32 },
	[KERNEL_THREADS] = { "cpu.kernel_threads", "process", .where = "kthread=1", .plus = "kthread", .keys = 1024, .reduce = SONDE_SETTING },
	[KINDS] = { "cpu.kinds", "topology_cpu", .plus = "online", .key = "cpu kind", .keys = 1024, .reduce = SONDE_SETTING },
	[CAPACITIES] = { "cpu.capacities", "topology_cpu", .plus = "capacity", .key = "cpu", .keys = 1024, .reduce = SONDE_SETTING },
	[THROTTLES] = { "cpu.throttles", "topology_cpu", .plus = "core_throttle_count package_throttle_count?", .over = "time", .key = "cpu", .keys = 64 },
	[FORKS] = { "cpu.forks", "stat", .plus = "processes", .over = "time" },
};
/* clang-format on */
