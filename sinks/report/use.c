/* The USE table: of each resource its utilisation, saturation and errors (the USE method, B. Gregg, "Thinking Methodically
 * about Performance", ACM Queue 10/12). A cell is the first of its metrics that the analysis gave; a resource of which
 * there are several (disks, interfaces, control groups) has a line for each. */
#include <string.h>

#include "report.h"

struct resource {
	const char *name;
	const char *cells
		[USE_CELLS]; /* names of metrics, the better ones first; "": the kernel counts nothing */
	enum {
		EACH, /* a line for each thing that the metrics are about; one that is empty where there is none */
		WHOLE,  /* the machine's alone, though processes may have such metrics too */
		IF_ANY, /* as EACH, but none that is empty */
	} lines;
};

/* clang-format off */
static const struct resource resources[] = {
	{ "CPU", { "cpu.utilisation", "cpu.pressure", "" }, EACH },
	{ "pipeline", { "cache.retiring", "cache.backend_bound", "cache.bad_speculation" }, IF_ANY },
	{ "run queue", { "cpu.tasks_runnable", "cpu.tasks_waiting cpu.threads_waiting cpu.processes_waiting", "" }, EACH },
	{ "memory", { "mem.used", "mem.pressure_some mem.allocation_stalls", "mem.oom_kills" }, EACH },
	{ "memory bandwidth", { "mem.bandwidth_share mem.bandwidth", "cache.backend_stalls", "" }, WHOLE },
	{ "NUMA interconnect", { "numa.remote_allocations", "", "" }, WHOLE },
	{ "TLB", { "", "cache.dtlb_misses", "" }, WHOLE },
	{ "swap", { "mem.swap_share", "mem.swap_out", "" }, EACH },
	{ "huge pages", { "hp.pool_used", "hp.fallback", "hp.compaction_failures" }, EACH },
	{ "disks", { "io.busy", "io.queue io.pressure_some", "" }, EACH },
	{ "network", { "net.traffic", "net.drops", "net.errors" }, EACH },
	{ "cgroups, CPU", { "cgroup.cpu_share cgroup.cpus", "cgroup.throttled cgroup.cpu_pressure", "" }, IF_ANY },
	{ "cgroups, memory", { "cgroup.memory_share cgroup.memory", "cgroup.memory_pressure", "cgroup.oom_kills" }, IF_ANY },
};
/* clang-format on */

enum { RESOURCES = sizeof resources / sizeof resources[0] };

static bool is_word(const char *word, size_t length, const char *text)
{
	return strlen(text) == length && memcmp(text, word, length) == 0;
}

/* The first metric of this list that is there, of `about` (NULL: of anything). */
static const struct metric *find(const struct gathered *gathered, const char *names,
				 const char *about)
{
	const struct metric *metrics = gathered->metrics.items;

	for (size_t length; *names; names += length + strspn(names + length, " ")) {
		length = strcspn(names, " ");
		for (uint32_t i = 0; i < gathered->metrics.count; i++)
			if (is_word(names, length, metrics[i].name) &&
			    (!about || strcmp(metrics[i].about, about) == 0))
				return &metrics[i];
	}
	return NULL;
}

static bool is_of(const struct metric *metric, const struct resource *resource)
{
	if (resource->lines == WHOLE && *metric->about)
		return false;
	for (int cell = 0; cell < USE_CELLS; cell++) {
		const char *names = resource->cells[cell];

		for (size_t length; *names; names += length + strspn(names + length, " ")) {
			length = strcspn(names, " ");
			if (is_word(names, length, metric->name))
				return true;
		}
	}
	return false;
}

/* Whether what this metric is about has its line already. */
static bool told(const struct use *lines, uint32_t count, const struct resource *resource,
		 const char *about)
{
	for (uint32_t i = 0; i < count; i++)
		if (lines[i].resource == resource->name && strcmp(lines[i].about, about) == 0)
			return true;
	return false;
}

static void fill(const struct gathered *gathered, struct use *line, const struct resource *resource,
		 const char *about)
{
	line->resource = resource->name;
	line->about = about;
	for (int cell = 0; cell < USE_CELLS; cell++)
		line->cells[cell] = find(gathered, resource->cells[cell], about);
}

uint32_t use_table(const struct gathered *gathered, struct use lines[USE_MOST])
{
	const struct metric *metrics = gathered->metrics.items;
	uint32_t count = 0;

	for (int r = 0; r < RESOURCES && count < USE_MOST; r++) {
		const uint32_t first = count;

		for (uint32_t i = 0; i < gathered->metrics.count && count < USE_MOST; i++)
			if (is_of(&metrics[i], &resources[r]) &&
			    !told(lines, count, &resources[r], metrics[i].about))
				fill(gathered, &lines[count++], &resources[r], metrics[i].about);
		/* Nothing is known of it: that is told too. */
		if (count == first && resources[r].lines != IF_ANY)
			fill(gathered, &lines[count++], &resources[r], "");
	}
	return count;
}
