/* The collector's state and its parts: which cgroups there are (walk.c), who of them gets a row and what is kept of it
 * (settle.c, names.c), what is read of it at each sample (read.c). */
#ifndef COLLECT_H
#define COLLECT_H

#include "cgroup.h"

enum { MOUNTS = 8, HOT_FILES = 26, PATH_MOST = 3584 };

struct conf {
	struct sonde_list cgroup, pids;
	uint64_t depth, max;
	uint64_t rescan; /* ns */
};

enum group_flags {
	GROUP_MEMBER = 1 << 0,   /* the options choose it */
	GROUP_ROW = 1 << 1,      /* it is among the `max` that get rows */
	GROUP_NEW = 1 << 2,      /* found by the last walk */
	GROUP_GONE = 1 << 3,     /* a file said so: what is there under its path now is another */
	GROUP_CARRIED = 1 << 4,  /* of the old catalog: it is in the new one */
	GROUP_SETTINGS = 1 << 5, /* all of its settings are known */
};

struct group {
	struct sonde_file *file[HOT_FILES]; /* open while it has a row */
	uint64_t birth;
	uint64_t cpu, cpu_then; /* usage when last read, and at the last full walk, ns */
	uint64_t heat;          /* used between the last two full walks */
	uint32_t mounts;        /* bits: where it is */
	uint32_t controllers;   /* of version 2, those that it has */
	uint32_t opened;        /* of these, those whose files were looked for */
	uint32_t parent;        /* index; the root's is its own */
	uint32_t depth;
	uint32_t flags;
};

/* Cgroups in the order of the walk, parents before their children. Found by path; what is kept of each is the beginning of
 * a row of the table `cgroup`, whose strings lie in `strings`. */
struct catalog {
	struct group *groups;
	uint64_t *slots, *have;
	uint32_t *hash; /* indices and 1; twice as many as groups */
	struct sonde_strings strings;
	uint32_t count, capacity;
	uint32_t missed; /* found, but without room */
};

struct state {
	struct cgroup_mount mounts[MOUNTS];
	uint32_t nmounts;
	struct sonde_file *descendants,
		*cgroups; /* cgroup.stat of version 2's root, /proc/cgroups */
	struct catalog catalogs[2];
	struct catalog *now; /* one of them; the other is for the next walk */
	uint32_t asked;      /* capacity of both from the next sample on */
	uint64_t births, vanished;
	uint64_t signature; /* how many cgroups there are, as the kernel counts */
	uint64_t samples;
	uint32_t found, rows, omitted;
	bool due;     /* a walk, whatever the signature says */
	bool changed; /* the kernel's count is another, or none: a walk lists the folders */
	bool no_psi, told_unread;
	bool told_omitted;
};

/* The catalog that the next walk fills: not the one that is now, and not the same at start and first sample, so that the memory
 * of both is in use from then on. */
struct catalog *next_catalog(struct state *state);

/* The kept part of a row. */
struct sonde_row group_row(struct catalog *catalog, uint32_t index);
struct bytes group_path(const struct catalog *catalog, uint32_t index);

/* The path of one of its files (or "": its folder) in this mount. */
void group_file(const struct state *state, const struct catalog *catalog, uint32_t index,
		uint32_t mount, const char *name, char path[4096]);

/* The mount of version 1 with these controllers in which it is; MOUNTS: none. */
uint32_t group_mount_v1(const struct state *state, const struct group *group, uint32_t controllers);
uint32_t group_mount_v2(const struct state *state, const struct group *group);

/* ---- walk.c */

/* Finds the mounts. 0, -ENODEV (said why) or another errno. */
int walk_start(struct sonde_instance *self);

/* Whether it is time to look which cgroups there are, and with *full to read anew what is kept of them. */
bool walk_is_due(struct sonde_instance *self, bool *full);

/* Fills the other catalog with what there is. 0; -ENOBUFS: it was too small, and is larger from the next sample on (in
 * start() at once). */
int walk(struct sonde_instance *self);

/* Room for twice as many, unless that is too many. */
int walk_reserve(struct sonde_instance *self);

/* Index of the cgroup with this path; catalog->count: there is none. */
uint32_t walk_find(const struct catalog *catalog, struct bytes path);

/* ---- settle.c: takes the other catalog as the one that is now: births, names, limits, rows. */
void settle(struct sonde_instance *self, bool full);

/* ---- names_node.c: names from the node's files, of those that are new, or lack theirs where `full`. */
void names_find(struct sonde_instance *self, struct catalog *catalog, bool full);

/* ---- read.c */

/* What is kept of it: with `all` every setting, else the limits alone, which those below it need. */
void read_settings(struct sonde_instance *self, uint32_t index, bool all);

/* CPU time of one that has no row. */
void read_usage(struct sonde_instance *self, uint32_t index);

/* Opens what is read at each sample and is not open; closes all of it. */
void read_open(struct sonde_instance *self, uint32_t index);
void read_close(struct sonde_instance *self, struct group *group);

/* Its rows. */
void read_group(struct sonde_instance *self, struct sonde_frame *frame, uint32_t index);

#endif
