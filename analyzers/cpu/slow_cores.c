/* cpu.slow_cores: on processors with cores of several kinds, a thread that runs all the time on slow ones while fast ones are idle
 * (Documentation/admin-guide/cputopology.rst, Documentation/scheduler/sched-capacity.rst). */
#include <stdlib.h>

#include "cpu.h"

enum { CPUS_MOST = 8192, THREADS_MOST = 64 };
/* Of the largest capacity, in per cent, below which a CPU is slow. */
enum { SLOW_PERCENT = 80 };

static const struct sonde_advice slow_cores = {
	.id = "cpu.slow_cores",
	.why = "The thread ran at a fraction of the speed that an idle core of the same machine has.",
	.action =
		"See what keeps it there: its affinity (taskset -cp TID), its cpuset (cpuset.cpus), a cap on what it may ask for "
		"(uclamp.max, a low priority); let it use the fast cores: taskset -cp LIST TID.",
	.need = "root, for threads of others",
	.risk = "more power is used; what runs on the fast cores has a neighbour",
	.undo = "taskset -cp with the list that it showed before",
};

enum speed { UNKNOWN, FAST, SLOW };

/* A thread, or a process by its leader thread: ns on each kind of core. */
struct runner {
	const struct sonde_series *series; /* one of it */
	size_t length;                     /* of its name at the front of the key */
	double all, slow;
};

struct machine {
	unsigned char speed[CPUS_MOST];
	uint32_t fast, slow;
	struct runner runners[THREADS_MOST];
	uint32_t nrunners;
};

static void set_speed(struct machine *machine, const char *cpu, bool slow)
{
	unsigned long number = strtoul(cpu, NULL, 10);

	if (number >= CPUS_MOST || machine->speed[number] != UNKNOWN)
		return;
	machine->speed[number] = slow ? SLOW : FAST;
	machine->slow += slow;
	machine->fast += !slow;
}

/* By kind where the kernel names it (x86), else by capacity (arm64, and x86 since 6.12). */
static void sort_cpus(struct sonde_instance *self, struct machine *machine)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, KINDS, &count);
	double most = 0;

	for (uint32_t i = 0; i < count; i++) {
		const char *blank = strchr(series[i].key, ' ');

		if (blank && blank[1])
			set_speed(machine, series[i].key, strcmp(blank + 1, "core") != 0);
	}
	series = sonde_series(self, CAPACITIES, &count);
	for (uint32_t i = 0; i < count; i++)
		if (series[i].total.last > most)
			most = series[i].total.last;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(series[i].key, "other") != 0)
			set_speed(machine, series[i].key,
				  series[i].total.last * 100 < most * SLOW_PERCENT);
}

/* Of the fast ones, the share of time in which they did nothing. */
static double fast_idle(struct sonde_instance *self, const struct machine *machine)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, BUSY, &count);
	double busy = 0, all = 0;

	for (uint32_t i = 0; i < count; i++) {
		unsigned long cpu = strtoul(series[i].key, NULL, 10);

		if (cpu >= CPUS_MOST || machine->speed[cpu] != FAST)
			continue;
		busy += series[i].total.numerator;
		all += series[i].total.denominator;
	}
	return all > 0 ? 1 - busy / all : 0;
}

/* Heaviest first, so that what does not fit hardly runs. */
static void add_run(struct machine *machine, const struct sonde_series *series)
{
	const char *cpu = strrchr(series->key, ' ');
	unsigned long number = cpu ? strtoul(cpu, NULL, 10) : CPUS_MOST;
	struct runner *runner = machine->runners;
	size_t length = cpu ? (size_t)(cpu - series->key) : 0;

	if (number >= CPUS_MOST)
		return;
	while (runner < machine->runners + machine->nrunners &&
	       (runner->length != length || strncmp(runner->series->key, series->key, length) != 0))
		runner++;
	if (runner == machine->runners + THREADS_MOST)
		return;
	if (runner == machine->runners + machine->nrunners) {
		*runner = (struct runner) { .series = series, .length = length };
		machine->nrunners++;
	}
	runner->all += series->total.numerator;
	if (machine->speed[number] == SLOW)
		runner->slow += series->total.numerator;
}

static void report_runner(struct sonde_instance *self, const struct runner *runner, bool threads,
			  double ran, double idle)
{
	const struct sonde_held held = sonde_all_along(self);
	const char *key = runner->series->key, *blank = strchr(key, ' ');
	const char *tid = threads && blank ? blank + 1 : key;
	struct sonde_proof proof = { 0 };
	struct sonde_words about, title;
	double share = runner->slow / runner->all;

	sonde_say(&about, "%s %.*s (%s)", threads ? "thread" : "process",
		  (int)(key + runner->length - tid), tid, runner->series->label);
	sonde_say(
		&title,
		"%c%s ran %.0f %% of its time on slow cores, while fast ones were idle for %.0f %%",
		threads ? 'T' : 'P', about.text + 1, share * 100, idle * 100);
	sonde_prove(&proof, "cpu.slow_share", share, SONDE_BASE_RATIO, NULL,
		    threads ? "/proc/PID/task/TID/stat field 39, by its schedstat field 1"
			    : "/proc/PID/stat field 39, by its schedstat field 1, leader thread");
	sonde_prove(&proof, "cpu.thread_run", ran, SONDE_BASE_RATIO, NULL,
		    threads ? "/proc/PID/task/TID/schedstat field 1"
			    : "/proc/PID/schedstat field 1");
	sonde_prove(&proof, "cpu.fast_idle", idle, SONDE_BASE_RATIO, NULL,
		    "/proc/stat cpuN, of topology_cpu.kind or capacity");
	sonde_found(self, &slow_cores, SONDE_SEVERITY_WARNING, about.text, title.text, &held,
		    runner->slow / 1e9, &proof);
}

static void judge_machine(struct sonde_instance *self, struct machine *machine)
{
	const struct conf *conf = self->conf;
	const double time = (double)sonde_window(self)->observed;
	uint32_t count, told = 0;
	const struct sonde_series *series = sonde_series(self, THREAD_CPUS, &count);
	const bool threads = count > 0;
	double idle;

	sort_cpus(self, machine);
	if (!machine->slow || !machine->fast || time < (double)conf->hold)
		return;
	idle = fast_idle(self, machine);
	if (idle <= conf->slow_idle)
		return;
	if (!threads)
		series = sonde_series(self, PROCESS_CPUS, &count);
	for (uint32_t i = 0; i < count; i++)
		add_run(machine, &series[i]);
	for (uint32_t i = 0; i < machine->nrunners && told < conf->limit; i++) {
		const struct runner *runner = &machine->runners[i];

		if (runner->all <= conf->slow_run * time ||
		    runner->slow <= conf->slow_share * runner->all)
			continue;
		report_runner(self, runner, threads, runner->all / time, idle);
		told++;
	}
}

void cpu_slow_cores(struct sonde_instance *self)
{
	struct machine *machine = calloc(1, sizeof *machine);

	if (machine)
		judge_machine(self, machine);
	else
		sonde_not_judged(self, slow_cores.id, "out of memory");
	free(machine);
}
