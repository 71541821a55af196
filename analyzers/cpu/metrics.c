/* Metrics of the analyzer `cpu`. */
#include "cpu.h"

#define SHARE(stream, name, way, origin)                                                           \
	{                                                                                          \
		stream, name, SONDE_BASE_RATIO, way, NULL, origin                                  \
	}
#define RATE(stream, name, what, way, origin)                                                      \
	{                                                                                          \
		stream, name, SONDE_BASE_COUNT, way, what, origin                                  \
	}

/* clang-format off */
static const struct sonde_mean_metric metrics[] = {
	SHARE(UTILISATION, "cpu.utilisation", SONDE_NEITHER, "/proc/stat cpu words 1 2 3 6 7 of the first eight"),
	SHARE(USER, "cpu.user", SONDE_NEITHER, "/proc/stat cpu words 1 less 9 of the first eight"),
	SHARE(NICE, "cpu.nice", SONDE_NEITHER, "/proc/stat cpu words 2 less 10 of the first eight"),
	SHARE(GUEST, "cpu.guest", SONDE_NEITHER, "/proc/stat cpu words 9 10 of the first eight"),
	SHARE(SYSTEM, "cpu.system", SONDE_DOWN_IS_BETTER, "/proc/stat cpu word 3 of the first eight"),
	SHARE(IRQ, "cpu.irq", SONDE_DOWN_IS_BETTER, "/proc/stat cpu word 6 of the first eight"),
	SHARE(SOFTIRQ, "cpu.softirq", SONDE_DOWN_IS_BETTER, "/proc/stat cpu word 7 of the first eight"),
	SHARE(IOWAIT, "cpu.iowait", SONDE_DOWN_IS_BETTER, "/proc/stat cpuN word 5 of the first eight"),
	SHARE(STOLEN, "cpu.steal", SONDE_DOWN_IS_BETTER, "/proc/stat cpu word 8 of the first eight"),
	SHARE(PRESSURE, "cpu.pressure", SONDE_DOWN_IS_BETTER, "/proc/pressure/cpu some total="),
	RATE(DELAY, "cpu.tasks_waiting", "tasks", SONDE_DOWN_IS_BETTER, "/proc/schedstat cpu number 8"),
	{ DELAY_SLICE, "cpu.wait_per_slice", SONDE_BASE_NS, SONDE_DOWN_IS_BETTER, NULL, "/proc/schedstat cpu numbers 8 9" },
	RATE(THREADS_DELAY, "cpu.threads_waiting", "threads", SONDE_DOWN_IS_BETTER, "/proc/PID/task/*/schedstat field 2"),
	RATE(PROCESS_DELAY, "cpu.processes_waiting", "leader threads", SONDE_DOWN_IS_BETTER, "/proc/PID/schedstat field 2"),
	{ PROCESS_SLICE, "cpu.process_wait_per_slice", SONDE_BASE_NS, SONDE_DOWN_IS_BETTER, NULL, "/proc/PID/schedstat fields 2 3" },
	RATE(RUNNABLE, "cpu.tasks_runnable", "tasks", SONDE_DOWN_IS_BETTER, "/proc/stat procs_running"),
	RATE(SWITCHES, "cpu.switches", "switches/s", SONDE_NEITHER, "/proc/stat ctxt"),
	RATE(INVOLUNTARY, "cpu.involuntary_switches", "switches/s", SONDE_DOWN_IS_BETTER, "/proc/PID/status nonvoluntary_ctxt_switches:"),
	RATE(VOLUNTARY, "cpu.voluntary_switches", "switches/s", SONDE_NEITHER, "/proc/PID/status voluntary_ctxt_switches:"),
	RATE(FORKS, "cpu.forks", "forks/s", SONDE_NEITHER, "/proc/stat processes"),
	SHARE(SPREAD, "cpu.spread", SONDE_DOWN_IS_BETTER, "/proc/stat cpuN, busiest less idlest"),
};
/* clang-format on */

/* Of the processes that could run for longest, how much of that they waited. */
static void process_waits(struct sonde_instance *self, uint32_t stream, const char *origin)
{
	const struct conf *conf = self->conf;
	uint32_t count, told = 0;
	const struct sonde_series *series = sonde_series(self, stream, &count);

	for (uint32_t i = 0; i < count && told < conf->limit; i++) {
		struct sonde_words about;
		struct sonde_metric metric = {
			.name = "cpu.process_wait",
			.about = sonde_say(&about, "process %.*s (%s)",
					   (int)strcspn(series[i].key, " "), series[i].key,
					   series[i].label),
			.value = sonde_mean(&series[i].total),
			.unit = SONDE_BASE_RATIO,
			.direction = SONDE_DOWN_IS_BETTER,
			.origin = origin,
		};

		if (series[i].total.denominator < (double)conf->wait_least ||
		    strcmp(series[i].key, "other") == 0)
			continue;
		sonde_metric(self, &metric);
		told++;
	}
}

void cpu_metrics(struct sonde_instance *self)
{
	static const struct sonde_mean_metric iowait_all =
		SHARE(IOWAIT_ALL, "cpu.iowait", SONDE_DOWN_IS_BETTER,
		      "/proc/stat cpu word 5 of the first eight");

	sonde_mean_metrics(self, metrics, sizeof metrics / sizeof metrics[0]);
	if (!sonde_single(self, IOWAIT))
		sonde_mean_metrics(self, &iowait_all, 1);
	if (sonde_single(self, THREADS_DELAY))
		process_waits(self, THREADS_WAIT, "/proc/PID/task/*/schedstat fields 1 2");
	else
		process_waits(self, PROCESS_WAIT, "/proc/PID/schedstat fields 1 2");
}
