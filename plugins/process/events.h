/* The kernel's process events in place of listing /proc (cn_proc.h, Documentation/driver-api/connector.rst). */
#ifndef EVENTS_H
#define EVENTS_H

#include "tasks.h"

enum { BIRTHS_MOST = 4096 };

struct events {
	bool on;
	int socket;                   /* open while `on`, but in a reparse */
	uint32_t *numbers;            /* what /proc would list: ascending */
	uint32_t size, asked;         /* of it, as in struct tasks */
	uint32_t births[BIRTHS_MOST]; /* ascending */
	uint32_t nbirths;
};

/* Begins to listen. False where it isn't permitted, or the numbers would be of another pid namespace. */
bool events_start(struct sonde_instance *self, struct events *events);

void events_stop(struct events *events);

/* Who lives now, by the tasks of the sample before and what was born since. False where something was lost: then /proc has
 * to be listed. */
bool events_list(struct sonde_instance *self, struct events *events, struct tasks *tasks,
		 struct pids *pids);

#endif
