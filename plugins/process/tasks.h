/* The processes that the collector knows: found by listing, told apart by pid and start time, chosen by the options. */
#ifndef TASKS_H
#define TASKS_H

#include "process.h"

/* Files of a process, in the order in which they are read; those to read are bits. */
enum { FILE_STAT, FILE_STATUS, FILE_SCHEDSTAT, FILE_IO, TASK_FILES };

enum task_flags {
	TASK_KNOWN = 1 << 0,  /* stat was read: it has an identity */
	TASK_MEMBER = 1 << 1, /* the options choose it */
	TASK_ROW = 1 << 2,    /* it is among the `max` that get rows */
	TASK_KEPT = 1 << 3,   /* its descriptors are kept between samples */
	TASK_NEW = 1 << 4,    /* identified since the tree was followed last */
	TASK_SELF = 1 << 5,   /* sonde as the root of a tree: not of it, its children are */
};

struct task {
	struct sonde_file *file[TASK_FILES];
	uint64_t start; /* ticks after boot */
	uint64_t cpu;   /* utime + stime when stat was last read, ticks */
	uint64_t stack; /* address that exec changes; 0 or 1 where the kernel does not tell */
	struct process_sched threads; /* summed over all threads, ended ones too */
	uint32_t pid, ppid, pgrp, session;
	uint32_t activity;                           /* recent CPU time, decaying */
	uint32_t read_at;                            /* sample in which stat was last read */
	uint32_t first_thread, nthreads, threads_at; /* threads.h */
	uint16_t cmdline_length;
	uint8_t flags;
	uint8_t denied; /* files, as bits, that can't be opened: not tried again until exec or another name */
	uint8_t comm_length; /* COMM_UNSEEN at first */
	char comm[16];       /* its beginning, to see it change */
};

enum { COMM_UNSEEN = 255 };

/* Slots stay where they are while a task lives; order has those in use by ascending pid. */
struct tasks {
	struct task *task;
	uint32_t *order, *next_order, *unused;
	char *cmdline; /* of each slot, cmdline_size bytes */
	uint32_t count, nunused;
	uint32_t capacity;     /* of the blocks now */
	uint32_t asked;        /* of the blocks from the next sample on */
	uint32_t cmdline_size; /* 0: none kept */
	uint32_t missed;       /* listed, but without a slot in this sample */
};

/* What was listed: numbers as text, each with a NUL, or as numbers. Ascending. */
struct pids {
	const char *names;
	const uint32_t *numbers;
	uint32_t left;
};

/* Room for `count` tasks and some to come. 0, or -ENOMEM from start(). */
int tasks_reserve(struct sonde_instance *self, struct tasks *tasks, uint32_t count);

/* At the start of a sample: what tasks_reserve() asked for in the one before is there now. */
void tasks_grown(struct tasks *tasks);

/* Brings the tasks in step with the listing: those that are gone are dropped and their files closed, new ones come with
 * `flags`. */
void tasks_merge(const struct sonde_instance *self, struct tasks *tasks, struct pids pids,
		 uint8_t flags);

/* The task with this pid, or NULL. */
struct task *tasks_find(const struct tasks *tasks, uint32_t pid);

/* Sets `flag` of the `seats` busiest of those that have all of `among`, clears it of the rest. Among equals those that have
 * it stay. Those that lose TASK_KEPT have their files closed. */
void tasks_seat(const struct sonde_instance *self, struct tasks *tasks, uint8_t among, uint8_t flag,
		uint32_t seats);

void task_close(const struct sonde_instance *self, struct task *task);

/* Takes what stat says. True where it is not the process that it was: then nothing of the old one is left but its files. */
bool task_identify(struct task *task, const struct process_stat *stat, uint32_t sample);

#endif
