/* cpu: tasks that wait for a CPU, and why: findings of docs/findings.md that begin with "cpu.". */
#include "cpu.h"

/* clang-format off */
static const struct sonde_option options[] = {
	{ "limit", SONDE_OPT_U64, offsetof(struct conf, limit), "8", NULL, 1, 100,
	  "findings of one kind about processes, the worst first: more would hide the rest of a report" },
	SONDE_TIME("hold", hold, "2s",
		 "time without a break before a finding holds: a busy second is not a problem"),
	SONDE_THRESHOLD("saturation", saturation, "0.10", 1,
	    "share of time with a task waiting for a CPU: a tenth of the time is felt as latency"),
	SONDE_THRESHOLD("saturation_critical", saturation_critical, "0.5", 1,
	    "the same, where it is critical: half of the time somebody waits"),
	SONDE_THRESHOLD("waiting", waiting, "0.25", 1e6,
	    "where the kernel has no PSI, tasks waiting on average: at least as large as the share of time, so higher than that"),
	SONDE_THRESHOLD("parallelism", own, "0.9", 1,
	    "of the CPU time that was used, the share of a watched tree from which on waiting is its own parallelism, not contention"),
	SONDE_THRESHOLD("process_wait", wait, "0.10", 1,
	    "of the time that a process could run, the share it waited for a CPU: it is that much slower than alone"),
	SONDE_THRESHOLD("process_wait_critical", wait_critical, "0.3", 1,
	    "the same, where it is critical: the process loses a third of its speed"),
	SONDE_THRESHOLD("process_wait_floor", wait_floor, "0.05", 1e6,
	    "share of time that a process has to be able to run: less says little about what its user waits for"),
	SONDE_TIME("process_wait_least", wait_least, "500ms",
		 "time that a process has to have been able to run: less is too little evidence"),
	SONDE_THRESHOLD("imbalance_busy", busy, "0.9", 1, "utilisation above which a CPU has no time left"),
	SONDE_THRESHOLD("imbalance_spread", spread, "0.5", 1,
	    "busiest CPU less idlest: with imbalance_busy it means that another one idles for half of the time"),
	SONDE_THRESHOLD("imbalance_wait", imbalance_wait, "0.05", 1,
	    "share of time with a task waiting meanwhile: one busy program alone on its CPU is no imbalance"),
	SONDE_TIME("imbalance_hold", imbalance_hold, "5s",
		 "time before an imbalance holds: the scheduler needs some to balance"),
	SONDE_THRESHOLD("irq_busy", irq_busy, "0.5", 1,
			"share of a CPU's time that goes into interrupts: with half of it, tasks there hardly run"),
	SONDE_THRESHOLD("irq_spread", irq_spread, "0.4", 1,
			"the same, less that of the CPU with least: others have time for them"),
	SONDE_THRESHOLD("steal", steal, "0.05", 1, "share of CPU time that the hypervisor gave to others: every twentieth moment is felt"),
	SONDE_THRESHOLD("iowait", iowait, "0.10", 1, "share of CPU time idle while a task waited for I/O; the time is idle, so only a hint"),
	SONDE_THRESHOLD("preemption", preemptions, "1000", 1e9,
	    "involuntary switches a second, and more of them than voluntary ones: caches begin to suffer"),
	SONDE_THRESHOLD("blocking", blockings, "20000", 1e9,
	    "voluntary switches a second: at some microseconds each the switches themselves cost a noticeable share of a CPU"),
	SONDE_THRESHOLD("throttles", throttles, "10", 1e9,
			"times that a CPU slowed itself down for heat, core and package together: one or two are a fan that starts"),
	SONDE_THRESHOLD("slow_run", slow_run, "0.7", 1,
			"share of time that a thread has to run on average: what runs less is meant for slow cores"),
	SONDE_THRESHOLD("slow_share", slow_share, "0.5", 1, "share of that on slow cores: it was there more than it was not"),
	SONDE_THRESHOLD("slow_idle", slow_idle, "0.5", 1, "share of time that fast cores have to be idle meanwhile: there was room"),
};

static const struct sonde_catalogue catalogue[] = {
	{ "cpu.saturation", "tasks wait for a CPU", "psi.some_total | schedstat.run_delay | stat.procs_running cpu.cpu",
	  "saturation saturation_critical waiting hold" },
	{ "cpu.parallelism", "the processes of a command wait for one another", "psi.some_total | schedstat.run_delay | stat.procs_running cpu.cpu",
	  "parallelism saturation waiting hold" },
	{ "cpu.process_runq_wait", "a process waits for a CPU", "process.threads_wait | process.sched_wait process.sched_run",
	  "process_wait process_wait_critical process_wait_floor process_wait_least hold limit" },
	{ "cpu.imbalance", "one CPU is overloaded while another idles", "cpu.user schedstat.run_delay | cpu.user psi.some_total",
	  "imbalance_busy imbalance_spread imbalance_wait imbalance_hold" },
	{ "cpu.slow_cores", "a busy thread runs on slow cores while fast ones idle",
	  "cpu.user topology_cpu.online thread.processor | cpu.user topology_cpu.online process.processor", "slow_run slow_share slow_idle hold limit" },
	{ "cpu.thermal", "CPUs slow themselves down for heat", "topology_cpu.core_throttle_count", "throttles" },
	{ "cpu.irq_imbalance", "one CPU has most of the interrupts", "cpu.irq cpu.softirq",
	  "irq_busy irq_spread hold" },
	{ "cpu.steal", "the hypervisor takes CPU time away", "cpu.steal | stat.steal",
	  "steal hold" },
	{ "cpu.iowait", "CPUs idle while tasks wait for I/O", "cpu.iowait | stat.iowait",
	  "iowait hold" },
	{ "cpu.preemption", "tasks are taken off their CPUs", "process.nonvoluntary_ctxt_switches process.voluntary_ctxt_switches",
	  "preemption hold" },
	{ "cpu.blocking", "tasks block very often", "process.voluntary_ctxt_switches",
	  "blocking hold" },
};
/* clang-format on */

static int judge(struct sonde_instance *self)
{
	cpu_findings(self);
	cpu_imbalance(self);
	cpu_waits(self);
	cpu_slow_cores(self);
	cpu_throttles(self);
	cpu_metrics(self);
	return 0;
}

static const struct sonde_analyzer_ops ops = {
	.streams = SONDE_STREAMS(cpu_streams),
	.catalogue = SONDE_CATALOGUE(catalogue),
	.judge = judge,
};

SONDE_ANALYZER(cpu, "tasks that wait for a CPU, and why", ops, .options = SONDE_OPTIONS(options),
	       .conf_size = sizeof(struct conf));
