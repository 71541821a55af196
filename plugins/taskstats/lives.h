/* Tasks from their births to their ends, as events tell of them: what is known of each at its end becomes a row of task_exit.
 * No system call is made here. */
#ifndef LIVES_H
#define LIVES_H

#include "stats.h"

enum life_what {
	LIFE_FORK, /* tid of process pid came into being; parent_tid of process parent made it */
	LIFE_EXEC, /* another program; it has a name where the source tells it */
	LIFE_NAME, /* another name */
	LIFE_EXIT, /* it ended; parent is who is to wait for it */
	LIFE_CPU,  /* comes behind its end: value ns of CPU time, on one of the CPUs */
	LIFE_LOST, /* the kernel had to drop `value` events, 0: it does not say how many */
	LIFE_NOTHING
};

struct life_event {
	uint64_t time, value; /* CLOCK_BOOTTIME, ns; value: LIFE_EXIT's is the status of wait(2) */
	uint32_t what;        /* enum life_what */
	uint32_t tid, pid, parent_tid, parent; /* 0: not told */
	bool has_status;
	char comm[16]; /* "": not told */
};

/* A task that lives, or whose end waits to be told. */
struct life {
	uint64_t born, ended; /* CLOCK_BOOTTIME, ns; born 0: before the events began */
	uint64_t cpu, status;
	uint32_t tid, pid, forked_by, parent, execs;
	uint32_t threads; /* of its process, where it is the leader: those that live */
	uint32_t reads;   /* LIFE_CPU events that came */
	int32_t next;     /* in its bucket, or of those that are free */
	bool dead;        /* a leader that ended, of whose process others live */
	bool last;        /* its process ended with it */
	bool told;        /* its birth has a row */
	bool has_status;
	char comm[16];
};

enum { LIVES_BUCKETS = 4096, LIVES_AT_FIRST = 4096, ENDED_MOST = 8192 };

struct lives {
	struct life *task; /* pool of those that live */
	struct life *ended;
	uint32_t capacity, asked, used, nended;
	int32_t unused;
	int32_t bucket[LIVES_BUCKETS];
	uint32_t reads; /* LIFE_CPU events that come for each end; 0: none */
	bool rooted;    /* only of what descends from those that were seeded */
	bool births;    /* rows of births alone: ends are told by exit records */
	uint32_t root;  /* seeded last */
	uint64_t over;  /* when it ended: all that ended before has been told; 0: it lives */
	uint64_t lost;  /* events without room, of this sample */
};

/* Only in start(). 0 or -ENOMEM. */
int lives_start(struct sonde_instance *self, struct lives *lives);

/* A process of one thread that lives already. */
void lives_seed(struct lives *lives, uint32_t pid);

/* At the start of a sample: there may be more room. */
void lives_begin(struct lives *lives);

/* Events in the order of time. */
void lives_take(struct lives *lives, const struct life_event *event);

/* The next process that was born since and lives, of those from *at on; 0: there is none. */
uint32_t lives_next(const struct lives *lives, uint32_t *at);

/* Rows of task_birth for those that live, and of task_exit for those that ended and of whom nothing more will come, or whose end
 * was at `until` or before. */
void lives_tell(struct sonde_instance *self, struct sonde_frame *frame, struct lives *lives,
		uint64_t until);

#endif
