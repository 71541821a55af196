/* The findings of the analyzer `cpu` that are about the host. */
#include "cpu.h"

static const struct sonde_advice saturation = {
	.id = "cpu.saturation",
	.why = "Tasks that could run stood in a queue: whatever they serve is slower by that time, and latency has spikes of it.",
	.action =
		"See which processes wait (cpu.process_runq_wait) and which use the CPUs (top -o %CPU); run fewer at "
		"once, lower the priority of what can wait (renice -n 10 -p PID), or give the host more CPUs.",
	.need = "renice of others' processes needs root",
	.risk = "a reniced process gets less CPU time while others want it",
	.undo = "renice -n 0 -p PID (as root)",
};
static const struct sonde_advice imbalance = {
	.id = "cpu.imbalance",
	.why = "Tasks waited for one CPU while another one idled: an affinity, a cpuset or an interrupt keeps them there.",
	.action =
		"Look for pinned tasks (taskset -cp PID, cpuset.cpus) and for interrupts on that CPU "
		"(cat /proc/interrupts); widen the affinity: taskset -cp 0-$(($(nproc)-1)) PID.",
	.need = "taskset of others' processes needs root",
	.risk = "caches are refilled on the new CPU; what was pinned on purpose loses its own",
	.undo = "taskset -cp with the list that taskset -cp PID showed before",
};
static const struct sonde_advice steal = {
	.id = "cpu.steal",
	.why = "The hypervisor ran something else while this machine had work: everything in it ran slower, and nothing "
	       "inside can change that.",
	.action =
		"Ask for a host with less load, for dedicated CPUs, or for a larger CPU share or quota of this guest.",
	.need = "whoever runs the hypervisor",
	.risk = "",
	.undo = "",
};
static const struct sonde_advice iowait = {
	.id = "cpu.iowait",
	.why = "CPUs were idle while tasks waited for I/O. It is idle time: other work could have run, so it tells of "
	       "waiting, not of a lack of CPU.",
	.action =
		"See which device is slow (iostat -x 1) and who waits (ps -eo pid,stat,wchan,comm | awk '$2 ~ /D/').",
	.need = "",
	.risk = "",
	.undo = "",
};
static const struct sonde_advice preemption = {
	.id = "cpu.preemption",
	.why = "Tasks were taken off their CPUs before they were done, more often than they gave them up: caches are "
	       "refilled after each switch.",
	.action =
		"Run fewer busy threads than CPUs, or let background work yield: chrt --batch -p 0 PID.",
	.need = "chrt of others' processes needs root",
	.risk = "a batch task wakes later",
	.undo = "chrt --other -p 0 PID",
};
static const struct sonde_advice blocking = {
	.id = "cpu.blocking",
	.why = "Tasks gave up the CPU very often: locks, pipes or small requests make them wait for one another, and "
	       "each switch costs some microseconds.",
	.action =
		"See what they wait for (perf trace -s -p PID, or strace -c -f -p PID); batch small requests, or "
		"share less under one lock.",
	.need = "perf or strace, and root for others' processes",
	.risk = "strace slows its target down",
	.undo = "",
};

/* ---- saturation ---- */

/* clang-format off */
static const struct sonde_mean_metric waits[][2] = {
	{ { DELAY, "cpu.tasks_waiting", SONDE_BASE_COUNT, SONDE_NEITHER, "tasks", "/proc/schedstat cpu number 8" },
	  { DELAY_SLICE, "cpu.wait_per_slice", SONDE_BASE_NS, SONDE_NEITHER, NULL, "/proc/schedstat cpu numbers 8 9" } },
	{ { THREADS_DELAY, "cpu.threads_waiting", SONDE_BASE_COUNT, SONDE_NEITHER, "threads", "/proc/PID/task/*/schedstat field 2" },
	  { THREADS_SLICE, "cpu.thread_wait_per_slice", SONDE_BASE_NS, SONDE_NEITHER, NULL, "/proc/PID/task/*/schedstat fields 2 3" } },
	{ { PROCESS_DELAY, "cpu.processes_waiting", SONDE_BASE_COUNT, SONDE_NEITHER, "leader threads", "/proc/PID/schedstat field 2" },
	  { PROCESS_SLICE, "cpu.process_wait_per_slice", SONDE_BASE_NS, SONDE_NEITHER, NULL, "/proc/PID/schedstat fields 2 3" } },
};
static const struct sonde_mean_metric utilisation = { UTILISATION, "cpu.utilisation", SONDE_BASE_RATIO, SONDE_NEITHER, NULL, "/proc/stat cpu words 1 2 3 6 7 of the first eight" };
static const struct sonde_mean_metric runnable = { RUNNABLE, "cpu.tasks_runnable", SONDE_BASE_COUNT, SONDE_NEITHER, "tasks", "/proc/stat procs_running" };
/* clang-format on */

/* Tasks waiting on average and the wait for each slice: from /proc/schedstat, else added up over the processes. */
static void add_waits(struct sonde_instance *self, struct sonde_proof *proof,
		      const struct sonde_held *held)
{
	for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
		if (!sonde_single(self, waits[i][0].stream))
			continue;
		sonde_prove_mean(self, proof, held, &waits[i][0]);
		sonde_prove_mean(self, proof, held, &waits[i][1]);
		break;
	}
	sonde_prove_mean(self, proof, held, &runnable);
	sonde_prove_mean(self, proof, held, &utilisation);
}

static void saturated(struct sonde_instance *self, const struct sonde_held *held, bool critical,
		      const char *title, const char *name, double value, uint32_t unit,
		      const char *origin)
{
	const struct sonde_slice *window = sonde_window(self);
	struct sonde_proof proof = { 0 };

	sonde_prove(&proof, name, value, unit, unit == SONDE_BASE_COUNT ? "tasks" : NULL, origin);
	if (window->observed)
		sonde_prove(&proof, "cpu.saturated_share",
			    (double)held->time / (double)window->observed, SONDE_BASE_RATIO, NULL,
			    "time for which it held, of the window");
	add_waits(self, &proof, held);
	sonde_found(self, &saturation, critical ? SONDE_SEVERITY_CRITICAL : SONDE_SEVERITY_WARNING,
		    "host", title, held, sonde_weight(held), &proof);
}

/* Where neither PSI nor schedstat is there: more tasks runnable at the samples than there are CPUs. A sample is a moment, so
 * this is a hint. */
static void judge_runnable(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct sonde_held held = { 0 }, run = { 0 };
	struct sonde_words title;
	uint32_t cpus, count;
	const struct sonde_slice *slices;

	sonde_series(self, BUSY, &cpus);
	slices = sonde_slices(self, RUNNABLE, 0, &count);
	for (uint32_t i = 0; cpus && i < count; i++) {
		/* The sampling task is one of those that run. */
		if (sonde_mean(&slices[i]) <= cpus + 1.0) {
			run = (struct sonde_held) { 0 };
			continue;
		}
		if (!run.time)
			run.begin = slices[i].begin;
		run.end = slices[i].end;
		run.time += slices[i].observed;
		run.numerator += slices[i].numerator;
		run.denominator += slices[i].denominator;
		if (run.time + run.time / 20 >= conf->hold && run.time > held.time)
			held = run;
	}
	if (!held.time)
		return;
	sonde_say(
		&title,
		"%.1f tasks were runnable on %u CPUs at the samples (no PSI, no schedstat: a hint)",
		sonde_held_mean(&held), cpus);
	saturated(self, &held, false, title.text, "cpu.tasks_runnable", sonde_held_mean(&held),
		  SONDE_BASE_COUNT, "/proc/stat procs_running");
}

static void saturated_by_pressure(struct sonde_instance *self, const struct sonde_held *held,
				  bool critical)
{
	double mean = sonde_held_mean(held);
	struct sonde_words title;

	sonde_say(&title, "Tasks waited for a CPU %.1f %% of the time", mean * 100);
	saturated(self, held, critical, title.text, "cpu.pressure", mean, SONDE_BASE_RATIO,
		  "/proc/pressure/cpu some total=");
}

static void judge_saturation(struct sonde_instance *self)
{
	const struct sonde_series *series = sonde_single(self, PRESSURE);
	const struct sonde_series *critical = sonde_single(self, PRESSURE_CRITICAL);
	struct sonde_words title;
	double mean;

	if (series && critical && critical->held.time) {
		saturated_by_pressure(self, &critical->held, true);
		return;
	}
	if (series) {
		if (series->held.time)
			saturated_by_pressure(self, &series->held, false);
		return;
	}
	series = sonde_single(self, DELAY);
	if (series) {
		mean = sonde_held_mean(&series->held);
		sonde_say(&title, "%.2f tasks waited for a CPU on average (from schedstat, no PSI)",
			  mean);
		if (series->held.time)
			saturated(self, &series->held, false, title.text, "cpu.tasks_waiting", mean,
				  SONDE_BASE_COUNT, "/proc/schedstat cpu number 8");
		return;
	}
	judge_runnable(self);
}

/* ---- imbalance ---- */

/* The series with the highest mean between two instants, and the lowest. */
static void extremes(struct sonde_instance *self, const struct sonde_held *held,
		     const struct sonde_series **busiest, double *most,
		     const struct sonde_series **idlest, double *least)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, BUSY, &count);

	*busiest = *idlest = NULL;
	for (uint32_t i = 0; i < count; i++) {
		const struct sonde_slice sum = sonde_between(self, BUSY, i, held->begin, held->end);
		double mean = sonde_mean(&sum);

		if (strcmp(series[i].key, "other") == 0 || sum.denominator <= 0)
			continue;
		if (!*busiest || mean > *most) {
			*busiest = &series[i];
			*most = mean;
		}
		if (!*idlest || mean < *least) {
			*idlest = &series[i];
			*least = mean;
		}
	}
}

static void judge_imbalance(struct sonde_instance *self)
{
	static const struct sonde_mean_metric queued = {
		QUEUED,           "cpu.busiest_queue",
		SONDE_BASE_COUNT, SONDE_NEITHER,
		"tasks",          "/proc/schedstat cpu number 8, longest"
	};
	static const struct sonde_mean_metric pressure = {
		PRESSURE,      "cpu.pressure", SONDE_BASE_RATIO,
		SONDE_NEITHER, NULL,           "/proc/pressure/cpu some total="
	};
	const bool by_queue = sonde_single(self, QUEUED) != NULL;
	const struct sonde_series *spread = sonde_single(self, by_queue ? QUEUED_SPREAD : SPREAD);
	const struct sonde_series *busiest, *idlest;
	struct sonde_proof proof = { 0 };
	struct sonde_words title, about;
	double most = 0, least = 0;

	if (!spread || !spread->held.time)
		return;
	extremes(self, &spread->held, &busiest, &most, &idlest, &least);
	if (!busiest)
		return;
	sonde_prove(&proof, "cpu.busiest", most, SONDE_BASE_RATIO, NULL, "/proc/stat cpuN");
	sonde_prove(&proof, "cpu.idlest", least, SONDE_BASE_RATIO, NULL, "/proc/stat cpuN");
	sonde_prove_mean(self, &proof, &spread->held, by_queue ? &queued : &pressure);
	sonde_say(&title,
		  "CPU %s was %.0f %% busy with tasks waiting, while CPU %s was %.0f %% busy",
		  busiest->key, most * 100, idlest->key, least * 100);
	sonde_say(&about, "cpu %s", busiest->key);
	sonde_found(self, &imbalance, SONDE_SEVERITY_WARNING, about.text, title.text, &spread->held,
		    sonde_weight(&spread->held), &proof);
}

/* ---- shares of CPU time ---- */

static void judge_share(struct sonde_instance *self, uint32_t stream,
			const struct sonde_advice *advice, enum sonde_severity severity,
			const char *title_format, const char *origin)
{
	const struct sonde_series *series = sonde_single(self, stream);
	struct sonde_proof proof = { 0 };
	char title[160];
	double mean;

	if (!series || !series->held.time)
		return;
	mean = sonde_held_mean(&series->held);
	snprintf(title, sizeof title, "%.1f %% %s", mean * 100, title_format);
	sonde_prove(&proof, advice->id, mean, SONDE_BASE_RATIO, NULL, origin);
	sonde_prove_mean(self, &proof, &series->held, &utilisation);
	sonde_found(self, advice, severity, "host", title, &series->held,
		    sonde_weight(&series->held), &proof);
}

/* ---- switches ---- */

struct switches {
	uint32_t stream, per_process, opposite;
	const struct sonde_advice *advice;
	enum sonde_severity severity;
	const char *kind, *origin, *opposite_kind, *opposite_origin;
};

/* Which process has most of them. */
static void add_worst(struct sonde_instance *self, const struct switches *what,
		      const struct sonde_held *held, struct sonde_proof *proof,
		      struct sonde_words *name)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, what->per_process, &count);
	const struct sonde_series *worst = NULL;
	double seconds = (double)(held->end - held->begin) / 1e9;
	double most = 0;

	for (uint32_t i = 0; i < count && seconds > 0; i++) {
		/* Of a series with keys, seconds in which nothing was counted are not there. */
		const struct sonde_slice sum =
			sonde_between(self, what->per_process, i, held->begin, held->end);
		double rate = sum.numerator / seconds;

		if (strcmp(series[i].key, "other") == 0 || (worst && rate <= most))
			continue;
		worst = &series[i];
		most = rate;
	}
	if (!worst)
		return;
	sonde_say(name, "process %.*s (%s)", (int)strcspn(worst->key, " "), worst->key,
		  worst->label);
	sonde_prove(proof, name->text, most, SONDE_BASE_COUNT, "switches/s", what->origin);
}

static void judge_switches(struct sonde_instance *self, const struct switches *what)
{
	const struct sonde_series *series = sonde_single(self, what->stream);
	const struct sonde_mean_metric opposite = { what->opposite,   what->opposite_kind,
						    SONDE_BASE_COUNT, SONDE_NEITHER,
						    "switches/s",     what->opposite_origin };
	struct sonde_proof proof = { 0 };
	struct sonde_words title, worst;
	double mean;

	if (!series || !series->held.time)
		return;
	mean = sonde_held_mean(&series->held);
	sonde_say(&title, "%.0f %s switches a second", mean, what->kind);
	sonde_prove(&proof, what->advice->id, mean, SONDE_BASE_COUNT, "switches/s", what->origin);
	sonde_prove_mean(self, &proof, &series->held, &opposite);
	add_worst(self, what, &series->held, &proof, &worst);
	sonde_found(self, what->advice, what->severity, "host", title.text, &series->held,
		    sonde_weight(&series->held), &proof);
}

void cpu_findings(struct sonde_instance *self)
{
	static const char voluntary[] = "/proc/PID/status voluntary_ctxt_switches:";
	static const char involuntary[] = "/proc/PID/status nonvoluntary_ctxt_switches:";
	static const struct switches preemptions = {
		INVOLUNTARY, PROCESS_INVOLUNTARY,      VOLUNTARY,
		&preemption, SONDE_SEVERITY_WARNING,   "involuntary",
		involuntary, "cpu.voluntary_switches", voluntary,
	};
	static const struct switches blockings = {
		VOLUNTARY, PROCESS_VOLUNTARY,          INVOLUNTARY,
		&blocking, SONDE_SEVERITY_INFO,        "voluntary",
		voluntary, "cpu.involuntary_switches", involuntary,
	};

	judge_saturation(self);
	judge_imbalance(self);
	judge_share(self, STEAL, &steal, SONDE_SEVERITY_WARNING,
		    "of CPU time went to other guests of the hypervisor", "/proc/stat cpuN word 8");
	judge_share(self, IOWAIT, &iowait, SONDE_SEVERITY_INFO,
		    "of CPU time was idle while tasks waited for I/O", "/proc/stat cpuN word 5");
	judge_switches(self, &preemptions);
	judge_switches(self, &blockings);
}
