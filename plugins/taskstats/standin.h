/* What stands in for exit records where those are not permitted: the ends of tasks from perf's task records, else from the process
 * connector. */
#ifndef STANDIN_H
#define STANDIN_H

#include "perf.h"

enum stand_in { STAND_IN_NONE, STAND_IN_COMMAND, STAND_IN_ALL };

struct standin {
	enum { BY_NOTHING, BY_PERF, BY_CONNECTOR } by;
	struct perf perf;
	int socket;     /* of the connector; -1: none, or a recording is read back */
	uint64_t taken; /* up to here, CLOCK_BOOTTIME ns */
	struct lives lives;
};

void standin_init(struct standin *standin);

/* Only in start(): the best that is permitted, said in a note with `why` there is nothing better. 0; else what
 * sonde_unavailable() returned. */
int standin_start(struct sonde_instance *self, struct standin *standin, enum stand_in whose,
		  const uint32_t *pids, uint32_t npids, const char *why);

/* Beside exit records, which do not tell who made a process: births alone, where perf's task records are permitted. 0 or
 * -ENOMEM. */
int standin_births(struct sonde_instance *self, struct standin *standin, uint32_t pid);

void standin_stop(struct standin *standin);

/* Rows of task_exit for those that ended since the sample before. */
void standin_take(struct sonde_instance *self, struct sonde_frame *frame, struct standin *standin);

#endif
