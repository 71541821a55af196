/* The kernel's own names of events. */
#include "names.h"

#define HARDWARE(name, which, counted)                                                             \
	{                                                                                          \
		name, counted, PERF_COUNT_HW_##which, PERF_TYPE_HARDWARE, false                    \
	}
#define SOFTWARE(name, which, counted)                                                             \
	{                                                                                          \
		name, counted, PERF_COUNT_SW_##which, PERF_TYPE_SOFTWARE, false                    \
	}
/* The scheduler's: counted where the task is in the kernel. */
#define SCHEDULER(name, which, counted)                                                            \
	{                                                                                          \
		name, counted, PERF_COUNT_SW_##which, PERF_TYPE_SOFTWARE, true                     \
	}

/* Those of one number: the first is the column's name. */
static const struct named named_events[] = {
	HARDWARE("cycles", CPU_CYCLES, "cycles"),
	HARDWARE("cpu-cycles", CPU_CYCLES, "cycles"),
	HARDWARE("instructions", INSTRUCTIONS, "instructions"),
	HARDWARE("cache-references", CACHE_REFERENCES, "references"),
	HARDWARE("cache-misses", CACHE_MISSES, "misses"),
	HARDWARE("branches", BRANCH_INSTRUCTIONS, "branches"),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS, "branches"),
	HARDWARE("branch-misses", BRANCH_MISSES, "misses"),
	HARDWARE("bus-cycles", BUS_CYCLES, "cycles"),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND, "cycles"),
	HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND, "cycles"),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND, "cycles"),
	HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND, "cycles"),
	HARDWARE("ref-cycles", REF_CPU_CYCLES, "cycles"),
	SOFTWARE("cpu-clock", CPU_CLOCK, NULL),
	SOFTWARE("task-clock", TASK_CLOCK, NULL),
	SOFTWARE("page-faults", PAGE_FAULTS, "faults"),
	SOFTWARE("faults", PAGE_FAULTS, "faults"),
	SCHEDULER("context-switches", CONTEXT_SWITCHES, "switches"),
	SCHEDULER("cs", CONTEXT_SWITCHES, "switches"),
	SCHEDULER("cpu-migrations", CPU_MIGRATIONS, "migrations"),
	SCHEDULER("migrations", CPU_MIGRATIONS, "migrations"),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN, "faults"),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ, "faults"),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS, "faults"),
	SOFTWARE("emulation-faults", EMULATION_FAULTS, "faults"),
	SOFTWARE("dummy", DUMMY, "events"),
	SOFTWARE("bpf-output", BPF_OUTPUT, "events"),
	SCHEDULER("cgroup-switches", CGROUP_SWITCHES, "switches"),
};

struct part {
	const char *name, *column;
};

static const struct part caches[] = {
	[PERF_COUNT_HW_CACHE_L1D] = { "L1-dcache", "l1d" },
	[PERF_COUNT_HW_CACHE_L1I] = { "L1-icache", "l1i" },
	[PERF_COUNT_HW_CACHE_LL] = { "LLC", "ll" },
	[PERF_COUNT_HW_CACHE_DTLB] = { "dTLB", "dtlb" },
	[PERF_COUNT_HW_CACHE_ITLB] = { "iTLB", "itlb" },
	[PERF_COUNT_HW_CACHE_BPU] = { "branch", "bpu" },
	[PERF_COUNT_HW_CACHE_NODE] = { "node", "node" },
};
static const struct part operations[] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = { "-load", "read" },
	[PERF_COUNT_HW_CACHE_OP_WRITE] = { "-store", "write" },
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "-prefetch", "prefetch" },
};

enum { CACHES = sizeof caches / sizeof caches[0], OPERATIONS = 3 };

static bool begins(const char **at, const char *end, const char *with)
{
	size_t length = strlen(with);

	if ((size_t)(end - *at) < length || memcmp(*at, with, length) != 0)
		return false;
	*at += length;
	return true;
}

/* "L1-dcache-load-misses", "dTLB-stores", "LLC-prefetches" */
static bool find_cache(const char *name, size_t length, struct named *found, char *column)
{
	const char *at = name, *end = name + length;
	uint64_t cache = 0, operation = 0;
	bool miss;

	while (cache < CACHES && !begins(&at, end, caches[cache].name))
		cache++;
	while (cache < CACHES && operation < OPERATIONS &&
	       !begins(&at, end, operations[operation].name))
		operation++;
	if (cache == CACHES || operation == OPERATIONS)
		return false;
	miss = begins(&at, end, "-misses");
	if (!miss && !begins(&at, end, operation == PERF_COUNT_HW_CACHE_OP_PREFETCH ? "es" : "s"))
		return false;
	*found = (struct named) { .type = PERF_TYPE_HW_CACHE,
				  .config = cache | operation << 8 | (uint64_t)miss << 16,
				  .counted = miss ? "misses" : "accesses" };
	/* The kernel's enumerators: which cache of the machine that is differs, so no name of one is taken. */
	snprintf(column, NAME_SIZE, "hw_cache_%s_%s_%s", caches[cache].column,
		 operations[operation].column, miss ? "miss" : "access");
	return at == end;
}

bool names_find(const char *name, size_t length, struct named *found, char column[NAME_SIZE])
{
	for (size_t i = 0; i < sizeof named_events / sizeof named_events[0]; i++) {
		const struct named *first = &named_events[i];

		if (strlen(named_events[i].name) != length ||
		    memcmp(named_events[i].name, name, length) != 0)
			continue;
		while (first > named_events && first[-1].type == named_events[i].type &&
		       first[-1].config == named_events[i].config)
			first--;
		*found = named_events[i];
		return names_column(first->name, strlen(first->name), column);
	}
	return find_cache(name, length, found, column);
}

bool names_column(const char *text, size_t length, char column[NAME_SIZE])
{
	size_t n = 0;

	for (size_t i = 0; i < length && n + 1 < NAME_SIZE; i++) {
		char c = text[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if ((c >= 'a' && c <= 'z') || (n && c >= '0' && c <= '9'))
			column[n++] = c;
		else if (n && column[n - 1] != '_')
			column[n++] = '_';
	}
	while (n && column[n - 1] == '_')
		n--;
	column[n] = '\0';
	return n != 0;
}
