/* cpu: tasks that wait for a CPU, and why: findings of docs/findings.md that begin with "cpu.". */
#include "cpu.h"

#define F64(key_, field, initial_, max_, help_)                                                    \
	{                                                                                          \
		key_, SONDE_OPT_F64, offsetof(struct conf, field), initial_, NULL, 0, max_, help_  \
	}
#define DURATION(key_, field, initial_, help_)                                                     \
	{                                                                                          \
		key_, SONDE_OPT_DURATION, offsetof(struct conf, field), initial_, NULL, 0, 0,      \
			help_                                                                      \
	}

/* clang-format off */
static const struct sonde_option options[] = {
	{ "limit", SONDE_OPT_U64, offsetof(struct conf, limit), "8", NULL, 1, 100,
	  "findings of one kind about processes, the worst first: more would hide the rest of a report" },
	DURATION("hold", hold, "2s",
		 "time without a break before a finding holds: a busy second is not a problem"),
	F64("saturation", saturation, "0.10", 1,
	    "share of time with a task waiting for a CPU: a tenth of the time is felt as latency"),
	F64("saturation_critical", saturation_critical, "0.5", 1,
	    "the same, where it is critical: half of the time somebody waits"),
	F64("waiting", waiting, "0.25", 1e6,
	    "where the kernel has no PSI, tasks waiting on average: at least as large as the share of time, so higher than that"),
	F64("process_wait", wait, "0.10", 1,
	    "of the time that a process could run, the share it waited for a CPU: it is that much slower than alone"),
	F64("process_wait_critical", wait_critical, "0.3", 1,
	    "the same, where it is critical: the process loses a third of its speed"),
	F64("process_wait_floor", wait_floor, "0.05", 1e6,
	    "share of time that a process has to be able to run: less says little about what its user waits for"),
	DURATION("process_wait_least", wait_least, "500ms",
		 "time that a process has to have been able to run: less is too little evidence"),
	F64("imbalance_busy", busy, "0.9", 1, "utilisation above which a CPU has no time left"),
	F64("imbalance_spread", spread, "0.5", 1,
	    "busiest CPU less idlest: with imbalance_busy it means that another one idles for half of the time"),
	F64("imbalance_wait", imbalance_wait, "0.05", 1,
	    "share of time with a task waiting meanwhile: one busy program alone on its CPU is no imbalance"),
	DURATION("imbalance_hold", imbalance_hold, "5s",
		 "time before an imbalance holds: the scheduler needs some to balance"),
	F64("steal", steal, "0.05", 1, "share of CPU time that the hypervisor gave to others: every twentieth moment is felt"),
	F64("iowait", iowait, "0.10", 1, "share of CPU time idle while a task waited for I/O; the time is idle, so only a hint"),
	F64("preemption", preemptions, "1000", 1e9,
	    "involuntary switches a second, and more of them than voluntary ones: caches begin to suffer"),
	F64("blocking", blockings, "20000", 1e9,
	    "voluntary switches a second: at some microseconds each the switches themselves cost a noticeable share of a CPU"),
};

static const struct sonde_catalogue catalogue[] = {
	{ "cpu.saturation", "tasks wait for a CPU", "psi.some_total | schedstat.run_delay | stat.procs_running" },
	{ "cpu.process_runq_wait", "a process waits for a CPU", "process.threads_wait | process.sched_wait process.sched_run" },
	{ "cpu.imbalance", "one CPU is overloaded while another idles", "cpu.user schedstat.run_delay | cpu.user psi.some_total" },
	{ "cpu.steal", "the hypervisor takes CPU time away", "cpu.steal" },
	{ "cpu.iowait", "CPUs idle while tasks wait for I/O", "cpu.iowait" },
	{ "cpu.preemption", "tasks are taken off their CPUs", "process.nonvoluntary_ctxt_switches process.voluntary_ctxt_switches" },
	{ "cpu.blocking", "tasks block very often", "process.voluntary_ctxt_switches" },
};
/* clang-format on */

static int judge(struct sonde_instance *self)
{
	cpu_findings(self);
	cpu_waits(self);
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
