/* The findings of the analyzer `cpu` that are about the host. */
#include "cpu.h"

static const struct sonde_advice saturation = {
	.id = "cpu.saturation",
	.why = "Tasks that could run stood in a queue: whatever they serve is slower by that time, and latency has spikes of it.",
	.action =
		"See which processes wait (cpu.process_runq_wait) and what uses the CPUs (the programs above; each process: "
		"sonde summary); run fewer at once, lower the priority of what can wait (renice -n 10 -p PID), or give the host "
		"more CPUs.",
	.need = "renice of others' processes needs root",
	.risk = "a reniced process gets less CPU time while others want it",
	.undo = "renice -n 0 -p PID (as root)",
};
static const struct sonde_advice parallelism = {
	.id = "cpu.parallelism",
	.why = "The command has more to run at once than there are CPUs, and these did hardly anything else: the CPUs are "
	       "what limits it, and they are used.",
	.action =
		"Nothing is wrong. It becomes faster by less work, or by more CPUs; fewer jobs at once (make -j) cost no "
		"time as long as this holds, and save memory.",
	.need = "",
	.risk = "",
	.undo = "",
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

enum { USERS_TOLD = 3 };
static const double LEAST_USED = 0.05; /* CPUs: less has no part in a queue */

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

/* What is added up over processes is of those that were recorded: of one alone with a pid, of a tree, of all. */
static void prove_sum(struct sonde_instance *self, struct sonde_proof *proof,
		      const struct sonde_held *held, const struct sonde_mean_metric *sum,
		      struct sonde_words *origin)
{
	const struct sonde_series *rows = sonde_single(self, PROCESSES);
	struct sonde_mean_metric of = *sum;
	double processes = rows ? sonde_mean(&rows->total) : 0;

	if (processes > 0)
		of.origin = sonde_say(origin, "%s, of %.0f %s recorded", sum->origin, processes,
				      processes < 1.5 ? "process" : "processes");
	sonde_prove_mean(self, proof, held, &of);
}

/* Tasks waiting on average and the wait for each slice: from /proc/schedstat, else added up over the processes. What the
 * finding was judged by is said already. */
static void add_waits(struct sonde_instance *self, struct sonde_proof *proof,
		      const struct sonde_held *held, const char *judged,
		      struct sonde_words origins[2])
{
	for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
		if (!sonde_single(self, waits[i][0].stream))
			continue;
		for (size_t j = 0; j < 2; j++) {
			if (waits[i][j].stream == DELAY || waits[i][j].stream == DELAY_SLICE)
				sonde_prove_mean(self, proof, held, &waits[i][j]);
			else
				prove_sum(self, proof, held, &waits[i][j], &origins[j]);
		}
		break;
	}
	if (strcmp(judged, runnable.name) != 0)
		sonde_prove_mean(self, proof, held, &runnable);
	sonde_prove_mean(self, proof, held, &utilisation);
}

/* The programs that used most of the CPUs meanwhile, all processes of one name together. */
static void add_users(struct sonde_instance *self, struct sonde_proof *proof,
		      const struct sonde_held *held, struct sonde_words names[USERS_TOLD])
{
	double used[USERS_TOLD] = { 0 }, elapsed = (double)(held->end - held->begin);
	const struct sonde_series *series, *user[USERS_TOLD] = { 0 };
	uint32_t count;

	series = sonde_series(self, PROGRAMS, &count);
	for (uint32_t i = 0; i < count && elapsed > 0; i++) {
		const struct sonde_slice sum =
			sonde_between(self, PROGRAMS, i, held->begin, held->end);
		double cpus = sum.numerator / elapsed;
		int place = USERS_TOLD;

		if (strcmp(series[i].key, "other") == 0 || cpus < LEAST_USED)
			continue;
		for (; place > 0 && cpus > used[place - 1]; place--)
			if (place < USERS_TOLD) {
				used[place] = used[place - 1];
				user[place] = user[place - 1];
			}
		if (place < USERS_TOLD) {
			used[place] = cpus;
			user[place] = &series[i];
		}
	}
	for (int i = 0; i < USERS_TOLD && user[i]; i++) {
		sonde_say(&names[i], "program %s", user[i]->key);
		sonde_prove(proof, names[i].text, used[i], SONDE_BASE_COUNT, "CPUs",
			    "/proc/PID/stat fields 14 15, all processes of this name");
	}
}

double cpu_tree_share(struct sonde_instance *self, const struct sonde_held *held)
{
	struct sonde_slice tree, all;

	if (!sonde_single(self, TREE) || !sonde_single(self, UTILISATION))
		return 0;
	tree = sonde_between(self, TREE, 0, held->begin, held->end);
	all = sonde_between(self, UTILISATION, 0, held->begin, held->end);
	return all.numerator > 0 ? tree.numerator / all.numerator : 0;
}

static void saturated(struct sonde_instance *self, const struct sonde_held *held,
		      enum sonde_severity severity, const char *title, const char *name,
		      double value, uint32_t unit, const char *origin)
{
	const struct sonde_slice *window = sonde_window(self);
	const struct conf *conf = self->conf;
	struct sonde_proof proof = { 0 };
	struct sonde_words origins[2], users[USERS_TOLD];
	double share = cpu_tree_share(self, held);
	bool own = share >= conf->own;

	sonde_prove(&proof, name, value, unit, unit == SONDE_BASE_COUNT ? "tasks" : NULL, origin);
	/* The window is of instants' begins, what held of moments at which files were read: it may be longer by that. */
	if (window->observed)
		sonde_prove(&proof, "cpu.saturated_share",
			    held->time < window->observed
				    ? (double)held->time / (double)window->observed
				    : 1,
			    SONDE_BASE_RATIO, NULL, "time for which it held, of the window");
	if (share > 0)
		sonde_prove(&proof, "cpu.tree_share", share, SONDE_BASE_RATIO, NULL,
			    "/proc/PID/stat fields 14 to 17 of the tree, of /proc/stat cpu");
	add_waits(self, &proof, held, name, origins);
	add_users(self, &proof, held, users);
	sonde_found(self, own ? &parallelism : &saturation, own ? SONDE_SEVERITY_INFO : severity,
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

	sonde_series(self, CPUS, &cpus);
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
	saturated(self, &held, SONDE_SEVERITY_WARNING, title.text, runnable.name,
		  sonde_held_mean(&held), SONDE_BASE_COUNT, runnable.origin);
}

static void saturated_by_pressure(struct sonde_instance *self, const struct sonde_held *held)
{
	const struct conf *conf = self->conf;
	double mean = sonde_held_mean(held);
	struct sonde_words title;

	sonde_say(&title, "Tasks waited for a CPU %.1f %% of the time", mean * 100);
	saturated(self, held, sonde_severity_from(mean, conf->saturation_critical), title.text,
		  "cpu.pressure", mean, SONDE_BASE_RATIO, "/proc/pressure/cpu some total=");
}

static void judge_saturation(struct sonde_instance *self)
{
	const struct sonde_series *series = sonde_single(self, PRESSURE);
	const struct sonde_series *critical = sonde_single(self, PRESSURE_CRITICAL);
	struct sonde_words title;
	double mean;

	if (series && critical && critical->held.time) {
		saturated_by_pressure(self, &critical->held);
		return;
	}
	if (series) {
		if (series->held.time)
			saturated_by_pressure(self, &series->held);
		return;
	}
	series = sonde_single(self, DELAY);
	if (series) {
		mean = sonde_held_mean(&series->held);
		sonde_say(&title, "%.2f tasks waited for a CPU on average (from schedstat, no PSI)",
			  mean);
		if (series->held.time)
			saturated(self, &series->held, SONDE_SEVERITY_WARNING, title.text,
				  "cpu.tasks_waiting", mean, SONDE_BASE_COUNT,
				  "/proc/schedstat cpu number 8");
		return;
	}
	judge_runnable(self);
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

	static const struct sonde_mean_metric *const beside[] = { &utilisation, NULL };
	static const struct sonde_mean_metric stolen = {
		STEAL, "cpu.steal", SONDE_BASE_RATIO, SONDE_NEITHER, NULL, "/proc/stat cpuN word 8"
	};
	static const struct sonde_mean_metric waited = {
		IOWAIT,        "cpu.iowait", SONDE_BASE_RATIO,
		SONDE_NEITHER, NULL,         "/proc/stat cpuN word 5"
	};
	static const struct sonde_mean_metric stolen_all = {
		STOLEN, "cpu.steal", SONDE_BASE_RATIO, SONDE_NEITHER, NULL, "/proc/stat cpu word 8"
	};
	static const struct sonde_mean_metric waited_all = {
		IOWAIT_ALL,    "cpu.iowait", SONDE_BASE_RATIO,
		SONDE_NEITHER, NULL,         "/proc/stat cpu word 5"
	};
	/* By CPU, else of all together. */
	static const char to_others[] = "of CPU time went to other guests of the hypervisor";
	static const char for_io[] = "of CPU time was idle while tasks waited for I/O";
	/* By CPU, else of all together. */
	static const struct sonde_rule shares[][2] = {
		{ { STEAL, SONDE_SEVERITY_WARNING, &steal, &stolen, to_others, beside },
		  { STOLEN, SONDE_SEVERITY_WARNING, &steal, &stolen_all, to_others, beside } },
		{ { IOWAIT, SONDE_SEVERITY_INFO, &iowait, &waited, for_io, beside },
		  { IOWAIT_ALL, SONDE_SEVERITY_INFO, &iowait, &waited_all, for_io, beside } },
	};

	judge_saturation(self);
	for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
		sonde_judge_rule(self, &shares[i][!sonde_single(self, shares[i][0].stream)]);
	judge_switches(self, &preemptions);
	judge_switches(self, &blockings);
}
