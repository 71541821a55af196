/* The collector's state and its two halves: who is read (select.c) and how one process becomes a row (row.c). */
#ifndef COLLECT_H
#define COLLECT_H

#include "tasks.h"
#include "threads.h"

enum { CMDLINE_MOST = 512 };

enum select_mode { SELECT_ALL, SELECT_PIDS, SELECT_SUBTREE };

struct conf {
	struct sonde_list pids, subtree, files;
	uint64_t max;
	uint32_t cmdline; /* enum process_cmdline */
	uint32_t threads; /* bool */
};

struct state {
	struct tasks tasks;
	struct threads threads;
	uint32_t *chosen; /* of pids or subtree, ascending */
	uint32_t nchosen;
	uint32_t mode;   /* enum select_mode */
	uint32_t files;  /* bits of FILE_* */
	uint32_t nfiles; /* how many */
	uint32_t sample; /* number of this one, from 1 */
	uint32_t probe_from;
	bool delays; /* the kernel counts time waited for I/O */

	/* Of this sample. */
	uint32_t listed, members, rows, hidden, omitted;
	uint32_t with_sched, with_io;
	uint64_t vanished; /* ever */
	bool told_hidden, told_omitted, told_absent;
};

/* Numbers of an option's items, separated by commas or blanks, into `numbers` (NULL: only counted). How many, or -EINVAL,
 * logged. */
int64_t select_parse(struct sonde_instance *self, const char *key, const struct sonde_list *list,
		     uint32_t *numbers);

/* Only in start(): resolves pids and subtree, finds the processes. 0, -ENODEV (said why) or another errno. */
int select_start(struct sonde_instance *self);

/* At the start of each sample: who lives, who is chosen, who gets a row, whose descriptors are kept. */
int select_update(struct sonde_instance *self);

/* At its end: reads stat of some of those without a row, so that a busy one is found and has a row next time. */
void select_probe(struct sonde_instance *self);

/* Reads stat and identifies the task. 0, or -ESRCH: gone; -EACCES: not to be seen; -EBADMSG. */
int row_identify(struct sonde_instance *self, struct task *task, struct process_stat *stat);

/* Reads what the options want of one process into a row. That it is gone or hidden is counted, and no error. */
void row_take(struct sonde_instance *self, struct sonde_frame *frame, uint32_t slot);

#endif
