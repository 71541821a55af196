/* What the files of the collector `perf_event` share: PMUs, events as the kernel takes them, groups on their PMUs. */
#ifndef PERF_EVENT_H
#define PERF_EVENT_H

#define SONDE_USE_MINOR           1
#define SONDE_PLUGIN_CAPABILITIES "CAP_PERFMON"
#define SONDE_PLUGIN_FLAGS        SONDE_FAMILY
#include <sonde/plugin.h>
#include <sonde/set.h>

#include <linux/perf_event.h>

enum {
	NAME_SIZE = 64,     /* of a PMU, a group, a column: what the kernel and a schema allow */
	SPEC_SIZE = 128,    /* of an event as it is configured */
	HELP_SIZE = 192,    /* of a sentence on an event, a group */
	WORDS_SIZE = 256,   /* of a reason */
	EVENTS_MOST = 16,   /* of a group; no PMU counts more at once */
	PARTS_MOST = 4,     /* into which a group that does not fit is split */
	PMUS_MOST = 128,    /* that one section uses */
	LINEUPS_MOST = 256, /* groups times PMUs */
	GROUPS_MOST = 32,
};

enum scope { SCOPE_CPU, SCOPE_PROCESS, SCOPE_CGROUP };

struct conf {
	struct sonde_list event, group, pids, cgroup;
	struct sonde_cpulist cpus;
	const char *group_path;
	uint32_t enable_on_exec; /* bool */
};

/* A folder of /sys/bus/event_source/devices. */
struct pmu {
	char name[NAME_SIZE];
	uint32_t type;
	bool core;   /* counts what CPUs execute: cpu, cpu_core, cpu_atom, armv8_* */
	bool uncore; /* counts for many CPUs, on those of its cpumask */
	bool task;   /* no hardware: software, tracepoint */
	struct set cpus;
};

/* What perf_event_open(2) is told of an event. */
struct encoding {
	uint32_t type;
	uint64_t config, config1, config2;
	bool modified; /* by :u, :k, :h; without them all is counted */
	bool user, kernel, hypervisor;
	bool kernel_side; /* happens in the kernel alone: without that nothing is counted */
};

/* What its column says. */
struct meaning {
	uint32_t base; /* enum sonde_base */
	uint32_t mul, div;
	char counted[32];
	char help[HELP_SIZE];
};

/* An event of a group on one PMU. */
struct member {
	char column[NAME_SIZE];
	char spec[SPEC_SIZE];
	struct encoding code;
	struct meaning meaning;
	uint32_t part;           /* of its group, in which it counts; PARTS_MOST: nowhere */
	uint32_t slot;           /* its column in that part's table */
	uint32_t opened, failed; /* places */
	bool user_only;          /* the kernel's share may not be counted */
	int error;               /* of the first failure */
	char reason[WORDS_SIZE];
};

/* A group on one PMU. Its events are counted at the same time, where they fit. */
struct lineup {
	uint32_t group; /* index */
	char pmu[NAME_SIZE];
	bool uncore, task; /* as its PMU */
	bool told_silent;  /* that it is never counted */
	struct set cpus;
	uint32_t nparts, nmembers;
	struct member members[EVENTS_MOST];
};

struct metric {
	char name[NAME_SIZE], formula[SPEC_SIZE], unit[NAME_SIZE], help[HELP_SIZE];
	char pmu[NAME_SIZE];
	uint32_t group, part;
};

struct group {
	char name[NAME_SIZE];
	char help[HELP_SIZE];
	uint32_t nparts;
	uint32_t table[PARTS_MOST]; /* index for sonde_row() */
	uint32_t slots[PARTS_MOST]; /* columns of events, behind the keys */
	uint32_t time[PARTS_MOST];  /* slot of time_enabled; time_running follows */
};

#endif
