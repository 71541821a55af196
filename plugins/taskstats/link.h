/* The kernel's end of taskstats: questions and answers, and what it tells unasked. Every message comes through
 * sonde_obtain(), so that a capture holds it and a reparse needs no socket. */
#ifndef LINK_H
#define LINK_H

#include "stats.h"

enum { LINK_BYTES = 4096, LINK_RECORDS = 8 };

struct link {
	int ask, listen; /* sockets; -1: not open */
	uint16_t family;
	char reply[LINK_BYTES]
		__attribute__((aligned(8))); /* the last message: records point into it */
};

void link_init(struct link *link);
void link_close(struct link *link);

/* Finds the number of the family TASKSTATS. 0 or a negative errno. */
int link_family(struct sonde_instance *self, struct link *link);

/* The record of a task or a process (TASKSTATS_CMD_ATTR_PID, _TGID). `name` is what a capture calls the answer. 0, -ESRCH,
 * -EPERM, -EBADMSG... */
int link_ask(struct sonde_instance *self, struct link *link, const char *name, uint16_t attribute,
	     uint32_t id, struct stats *stats);

/* From now on the kernel tells of every task that ends. 0 or a negative errno. */
int link_listen(struct sonde_instance *self, struct link *link);

/* What it told, LINK_RECORDS at most. How many; -EAGAIN: no more; -ENOBUFS: some were lost here. */
int link_receive(struct sonde_instance *self, struct link *link, struct stats *stats);

/* The records in one message. How many, or the error that it tells of. */
int link_parse(const char *reply, size_t length, uint16_t family, struct stats *stats, int most);

#endif
