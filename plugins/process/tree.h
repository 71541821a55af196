/* The CPU time of a watched subtree: of its members, and of those that ended. */
#ifndef TREE_H
#define TREE_H

#include "tasks.h"

/* What a process has to do with its children's time, ticks. */
struct kin {
	uint64_t children; /* cutime + cstime when stat was last read */
	uint64_t came;     /* what that grew by in this sample */
	uint64_t spare;    /* of what came in the sample before, what was due to nobody */
	uint64_t due;      /* time, as last seen, of those that ended and whose parent it is */
};

struct tree {
	uint64_t ended; /* time of those that ended which no member's cutime holds */
	uint64_t total; /* as told last */
};

/* At each reading of a member's stat, before task_identify(). */
void tree_read(struct tree *tree, struct tasks *tasks, const struct task *task,
	       const struct process_stat *stat);

/* When all members were read: CPU time of the subtree, which never falls. */
uint64_t tree_total(struct tree *tree, struct tasks *tasks);

#endif
