/* cpu.process_runq_wait: processes that could run and stood in the queue (/proc/PID/schedstat, proc_pid_schedstat(5),
 * Documentation/scheduler/sched-stats.rst). Processes of one name are one finding that names each: a pool of workers that
 * waits is one matter, not forty. */
#include <stdlib.h>

#include "cpu.h"

enum { MEMBERS_TOLD = 8, GROUPS_MOST = 256 };

static const struct sonde_advice advice = {
	.id = "cpu.process_runq_wait",
	.why = "The process could run and was not let: its work took longer by the time that it waited, however fast the "
	       "code is.",
	.action =
		"Let fewer processes run at once, or give this one a larger share: renice -n -5 -p PID, or "
		"systemctl set-property UNIT CPUWeight=200; look at cpu.saturation and at limits (cpu.max) too.",
	.need = "root, for a higher priority or weight",
	.risk = "what it competes with becomes slower",
	.undo = "renice -n 0 -p PID, or systemctl revert UNIT",
};

/* Its share is the kernel's own matter: what it works for is slower, and only that can be changed. */
static const struct sonde_advice kernel_advice = {
	.id = "cpu.process_runq_wait",
	.why = "A thread of the kernel could run and was not let: what it works for (kworker: the workqueue in its name, ksoftirqd: "
	       "network and timers, kswapd: free memory) waited as long.",
	.action = "Let less run at once: what uses the CPUs is told by cpu.saturation.",
	.need = "",
	.risk = "",
	.undo = "",
};

/* Processes of one name. */
struct group {
	const char *label;
	const struct sonde_series *members[MEMBERS_TOLD]; /* the first of them, heaviest first */
	uint32_t count;
	struct sonde_held held;
};

static void join(struct group *group, const struct sonde_series *series)
{
	const struct sonde_held *held = &series->held;

	if (group->count < MEMBERS_TOLD)
		group->members[group->count] = series;
	if (!group->count || held->begin < group->held.begin)
		group->held.begin = held->begin;
	if (held->end > group->held.end)
		group->held.end = held->end;
	/* They wait at the same time: the longest is how long it went on. */
	if (held->time > group->held.time)
		group->held.time = held->time;
	if (held->max > group->held.max)
		group->held.max = held->max;
	group->held.numerator += held->numerator;
	group->held.denominator += held->denominator;
	group->count++;
}

/* Heaviest processes come first, so that groups are in the order of their heaviest. */
static uint32_t make_groups(const struct conf *conf, const struct sonde_series *series,
			    uint32_t count, struct group *groups)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t g = 0;

		if (!series[i].held.time || strcmp(series[i].key, "other") == 0 ||
		    series[i].held.denominator < (double)conf->wait_least)
			continue;
		while (g < n && strcmp(groups[g].label, series[i].label) != 0)
			g++;
		if (g == GROUPS_MOST)
			continue;
		if (g == n)
			groups[n++] = (struct group) { .label = series[i].label };
		join(&groups[g], &series[i]);
	}
	return n;
}

static int pid_length(const struct sonde_series *series)
{
	return (int)strcspn(series->key, " ");
}

/* "4711 4712 4713 and 5 more" */
static void list_pids(const struct group *group, char *list, size_t size)
{
	size_t used = 0;

	for (uint32_t i = 0; i < group->count && i < MEMBERS_TOLD && used < size; i++)
		used += (size_t)snprintf(list + used, size - used, "%s%.*s", i ? " " : "",
					 pid_length(group->members[i]), group->members[i]->key);
	if (group->count > MEMBERS_TOLD && used < size)
		snprintf(list + used, size - used, " and %u more", group->count - MEMBERS_TOLD);
}

/* Of the threads of a process, where they were recorded, the one that waited worst while the process did. */
static void add_thread(struct sonde_instance *self, const struct sonde_series *process,
		       const struct sonde_held *held, struct sonde_proof *proof,
		       struct sonde_words *name)
{
	const struct conf *conf = self->conf;
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, THREAD_WAIT, &count);
	size_t pid = (size_t)pid_length(process) + 1;
	double worst = 0;

	for (uint32_t i = 0; i < count; i++) {
		const char *tid = series[i].key + pid;
		struct sonde_slice sum;

		if (strncmp(series[i].key, process->key, pid) != 0)
			continue;
		sum = sonde_between(self, THREAD_WAIT, i, held->begin, held->end);
		if (sum.denominator < (double)conf->wait_least || sonde_mean(&sum) <= worst)
			continue;
		worst = sonde_mean(&sum);
		sonde_say(name, "thread %.*s (%s)", (int)strcspn(tid, " "), tid, series[i].label);
	}
	if (worst > 0)
		sonde_prove(proof, name->text, worst, SONDE_BASE_RATIO, NULL,
			    "/proc/PID/task/TID/schedstat fields 1 2, worst of its threads");
}

static void report(struct sonde_instance *self, const struct group *group, const char *origin)
{
	const struct conf *conf = self->conf;
	struct sonde_proof proof = { 0 };
	struct sonde_words about, title, thread, names[MEMBERS_TOLD];
	bool kernel = sonde_series_of(self, KERNEL_THREADS, group->members[0]->key, NULL) != NULL;
	double mean = sonde_held_mean(&group->held);
	char pids[200];

	list_pids(group, pids, sizeof pids);
	if (group->count == 1) {
		sonde_say(&about, "process %s (%s)", pids, group->label);
		sonde_say(&title,
			  "Process %s (%s) waited for a CPU %.1f %% of the time that it could run",
			  pids, group->label, mean * 100);
	} else {
		sonde_say(&about, "processes %s", group->label);
		sonde_say(
			&title,
			"%u processes %s (%s) waited for a CPU %.1f %% of the time that they could run",
			group->count, group->label, pids, mean * 100);
	}
	sonde_prove(&proof, "cpu.process_wait", mean, SONDE_BASE_RATIO, NULL, origin);
	sonde_prove(&proof, "cpu.process_runnable", group->held.denominator, SONDE_BASE_NS, NULL,
		    origin);
	add_thread(self, group->members[0], &group->held, &proof, &thread);
	for (uint32_t i = 0; group->count > 1 && i < group->count && i < MEMBERS_TOLD; i++) {
		const struct sonde_series *series = group->members[i];

		sonde_say(&names[i], "process %.*s (%s)", pid_length(series), series->key,
			  series->label);
		sonde_prove(&proof, names[i].text, sonde_held_mean(&series->held), SONDE_BASE_RATIO,
			    NULL, origin);
	}
	/* The seconds that all of them waited. */
	sonde_found(self, kernel ? &kernel_advice : &advice,
		    kernel ? SONDE_SEVERITY_WARNING
			   : sonde_severity_from(mean, conf->wait_critical),
		    about.text, title.text, &group->held, group->held.numerator / 1e9, &proof);
}

void cpu_waits(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	const bool threads = sonde_single(self, THREADS_DELAY) != NULL;
	uint32_t count, ngroups;
	const struct sonde_series *series =
		sonde_series(self, threads ? THREADS_WAIT : PROCESS_WAIT, &count);
	struct group *groups = calloc(GROUPS_MOST, sizeof *groups);

	if (!groups) {
		sonde_not_judged(self, advice.id, "out of memory");
		return;
	}
	ngroups = make_groups(conf, series, count, groups);
	for (uint32_t g = 0, told = 0; g < ngroups && told < conf->limit; g++) {
		if (cpu_tree_share(self, &groups[g].held) >= conf->own)
			continue; /* for one another: cpu.parallelism */
		told++;
		report(self, &groups[g],
		       threads ? "/proc/PID/task/*/schedstat fields 1 2"
			       : "/proc/PID/schedstat fields 1 2, leader thread");
	}
	free(groups);
}
