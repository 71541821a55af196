/* crowd: more busy processes than CPUs. */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "microbench.h"

enum { GAP = 100000 }; /* ns between two looks at the clock, above which it was not on a CPU */

struct seat {
	uint64_t cpu, time, longest; /* ns */
};

struct room {
	const struct settings *settings;
	struct seat seats[TASKS_MOST];
};

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static int spin(void *context, uint32_t index)
{
	struct room *room = context;
	struct seat *seat = &room->seats[index];
	uint64_t begin = clock_ns(), before = begin, now = begin, used = cpu_ns();
	uint64_t end = begin + (uint64_t)(room->settings->seconds * 1e9);

	while (now < end) {
		now = clock_ns();
		if (now - before > GAP && now - before > seat->longest)
			seat->longest = now - before;
		before = now;
	}
	seat->cpu = cpu_ns() - used;
	seat->time = now - begin;
	return 0;
}

static int run(const struct settings *settings)
{
	uint32_t tasks = settings->tasks ? settings->tasks : 4 * settings->ncpus;
	double least = 1, longest = 0, cpu = 0, time = 0;
	struct room *room;
	bool good;

	if (!wanted(settings, "crowd")) /* its only case */
		return 0;
	room = shared_memory(sizeof *room);
	if (!room)
		return -1;
	room->settings = settings;
	good = in_processes(tasks, spin, room);
	for (uint32_t i = 0; i < tasks; i++) {
		const struct seat *seat = &room->seats[i];
		double share = seat->time ? (double)seat->cpu / (double)seat->time : 0;

		cpu += (double)seat->cpu;
		time += (double)seat->time;
		least = share < least ? share : least;
		if ((double)seat->longest > longest)
			longest = (double)seat->longest;
	}
	munmap(room, sizeof *room);
	if (!good)
		return -1;
	tell(settings, "crowd", "processes", tasks, "");
	tell(settings, "crowd", "share of a CPU, mean", cpu / time, "");
	tell(settings, "crowd", "share of a CPU, least", least, "");
	tell(settings, "crowd", "longest wait", longest / 1e6, "ms");
	return 0;
}

const struct benchmark bench_crowd = {
	"crowd",
	"more busy processes than CPUs: what share of one each gets, and how long it stands in the queue",
	"with --tasks four for each CPU (the default) a quarter of a CPU each, and waits of some slices of the scheduler: 10 to 30 ms.\n"
	"sonde profile: cpu.parallelism, since the command's processes wait for one another; of a machine that others use as well\n"
	"cpu.saturation and cpu.process_runq_wait.",
	run,
};
