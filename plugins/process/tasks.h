/* The processes that the collector knows: found by listing, told apart by pid and start time, chosen by the options. */
#ifndef TASKS_H
#define TASKS_H

#include "records.h"
#include "texts.h"

/* Files of a process, in the order in which they are read; those to read are bits. */
enum { FILE_STAT, FILE_STATUS, FILE_SCHEDSTAT, FILE_IO, TASK_FILES };

enum task_flags {
	TASK_KNOWN = 1 << 0,  /* stat was read: it has an identity */
	TASK_MEMBER = 1 << 1, /* the options choose it */
	TASK_ROW = 1 << 2,    /* it is among the `max` that get rows */
	TASK_KEPT = 1 << 3,   /* its descriptors are kept between samples */
	TASK_NEW = 1 << 4,    /* identified since the tree was followed last */
	TASK_SELF = 1 << 5,   /* sonde as the root of a tree: not of it, its children are */
	TASK_CHANGED =
		1 << 6,     /* seen first, or another name or program: what is read once is due */
	TASK_GONE = 1 << 7, /* has ended, and was listed before it did */
};

struct task {
	struct sonde_file *file[TASK_FILES];
	uint64_t start; /* ticks after boot */
	uint64_t cpu;   /* utime + stime when stat was last read, ticks */
	uint64_t stack; /* address that exec changes; 0 or 1 where the kernel does not tell */
	struct process_sched threads; /* summed over all threads, ended ones too */
	uint32_t pid, ppid, pgrp, session;
	uint32_t activity;         /* recent CPU time, decaying */
	uint32_t seen_at, read_at; /* samples in which stat was read first, last */
	uint32_t first_thread, nthreads, threads_at; /* threads.h */
	struct record_told told;                     /* with source = bpf */
	uint32_t record;                             /* where it stands in this sample's; 0: none */
	uint32_t cgroup, cmdline;                    /* of tasks->texts */
	uint32_t groups; /* number of its control groups, with source = bpf; 0: not known */
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
	struct kin *kin;     /* of each slot, where `trees`: tree.h */
	struct saved *saved; /* of each slot, where `saves`: saved.h */
	struct texts texts;
	uint32_t count, nunused;
	uint32_t
		ngone; /* at the front of next_order: slots of those dropped in this sample, as they were */
	uint32_t capacity; /* of the blocks now */
	uint32_t asked;    /* of the blocks from the next sample on */
	uint32_t missed;   /* listed, but without a slot in this sample */
	bool trees, saves;
};

/* What was listed: numbers as text, each with a NUL, or as numbers. Ascending. */
struct pids {
	const char *names;
	const uint32_t *numbers;
	uint32_t left;
};

/* Room for `count` tasks and some to come. 0, or -ENOMEM from start(). */
int tasks_reserve(struct sonde_instance *self, struct tasks *tasks, uint32_t count);

/* At the start of a sample: what tasks_reserve() asked for in the one before is there now, and who was dropped in it is
 * forgotten. */
void tasks_begin(struct tasks *tasks);

/* Brings the tasks in step with the listing: those that are gone are dropped and their files closed, new ones come with
 * `flags`. */
void tasks_merge(const struct sonde_instance *self, struct tasks *tasks, struct pids pids,
		 uint8_t flags);

static inline uint32_t tasks_slot(const struct tasks *tasks, const struct task *task)
{
	return (uint32_t)(task - tasks->task);
}

/* The task with this pid, or NULL. */
struct task *tasks_find(const struct tasks *tasks, uint32_t pid);

/* Likewise among those that were dropped in this sample. */
struct task *tasks_find_gone(const struct tasks *tasks, uint32_t pid);

/* Sets `flag` of the `seats` busiest of those that have all of `among`, clears it of the rest. Among equals those that have
 * it stay. Those that lose TASK_KEPT have their files closed. */
void tasks_seat(const struct sonde_instance *self, struct tasks *tasks, uint8_t among, uint8_t flag,
		uint32_t seats);

void task_close(const struct sonde_instance *self, struct task *task);

/* Whether stat tells of the process that the task is. */
bool task_is(const struct task *task, const struct process_stat *stat);

/* Takes what stat says. Where it is not the process that it was, nothing of the old one is left but its files. */
void task_identify(struct tasks *tasks, struct task *task, const struct process_stat *stat,
		   uint32_t sample);

#endif
