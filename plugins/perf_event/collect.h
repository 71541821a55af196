/* The collector's state and its steps: which events on which PMUs (plan.c), where (places.c), opened (open.c). */
#ifndef COLLECT_H
#define COLLECT_H

#include "counts.h"
#include "perf_event.h"

/* What a row is about. */
struct target {
	uint64_t id;         /* CPU, or pid */
	uint64_t start_time; /* of a process, its identity with the pid: stat field 22 */
	char comm[16];
	const char *cgroup; /* of the configuration */
};

/* Where a perf group is opened: on a CPU, or with a thread; the CPUs of a cgroup and the threads of a process have one
 * target. */
struct place {
	uint32_t target;
	int32_t cpu; /* -1: wherever the thread runs */
	int32_t pid; /* thread; with a cgroup its folder's descriptor; -1: whatever runs on the CPU */
};

/* The events of one part of a lineup, at one place: what one read(2) gives. */
struct opened {
	uint32_t lineup, part, place;
	bool online; /* its CPU, as it was seen last */
	bool is_open;
	uint8_t count;
	uint8_t member[EVENTS_MOST]; /* of the lineup, in the order of the values */
	int fd[EVENTS_MOST]; /* the first is the one to read; -1: a recording is read back */
	uint32_t refused;    /* bits of members that are not counted here */
	uint64_t last[EVENTS_MOST], last_running;
	char name[96]; /* in a capture */
};

struct state {
	uint32_t scope; /* enum scope */
	uint32_t ngroups, nlineups, nmetrics, ntargets, nplaces, nopened;
	struct group *groups;
	struct lineup *lineups;
	struct metric *metrics;
	struct target *targets;
	struct place *places;
	struct opened *opened; /* those of one row follow one another */
	struct sonde_file *online_file;
	struct set online;
	uint64_t needed; /* descriptors, for everything */
	int paranoid;    /* kernel.perf_event_paranoid */
	bool watchdog;   /* kernel.nmi_watchdog: holds a counter of each CPU */
	bool told_wild;
	char why[WORDS_SIZE]; /* the first reason for which something is not counted */
};

/* Only in start(): groups, lineups and metrics out of the configuration. What no PMU counts is told in notes. 0, or a
 * negative errno. */
int plan_make(struct sonde_instance *self);

/* Only in start(): targets and places of the configuration. 0, or -EINVAL, -ENODEV with the reason logged. */
int places_make(struct sonde_instance *self);

/* Only in start(): threads that were born meanwhile of some that are not counted yet. Those that began at this tick
 * (CLOCK_BOOTTIME in USER_HZ) or later are children of counted ones, and so are counted. How many, or -ENOMEM. */
int64_t places_more(struct sonde_instance *self, uint64_t before);

/* Whether a lineup's PMU counts at this place. */
bool place_fits(const struct lineup *lineup, const struct place *place);

/* Only in start(): which events fit at once, tried at one place, and how many groups the descriptors suffice for. What is
 * left with a part is what tables are made for. */
void open_probe(struct sonde_instance *self);

/* Only in start(): opens everything that has a part. 0, or -ENOMEM. */
int open_all(struct sonde_instance *self);

enum { TABLE_EVENTS, TABLE_METRICS, DECLARED_TABLES };

extern const struct sonde_table perf_event_tables[DECLARED_TABLES];

/* Only in start(): a table for each part of a group. 0, or a negative errno. */
int tables_make(struct sonde_instance *self);

/* In sample(): rows of the declared tables, and what all groups have counted. */
void tables_describe(struct sonde_instance *self, struct sonde_frame *frame);
void count_all(struct sonde_instance *self, struct sonde_frame *frame);

/* In sample(): what went offline is closed, what came is opened. */
void open_again(struct sonde_instance *self);
void close_all(struct sonde_instance *self);

#endif
