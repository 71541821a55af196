/* The collector's state and its two halves: who is read (select.c) and how one process becomes a row (row.c). */
#ifndef COLLECT_H
#define COLLECT_H

#include "bpf.h"
#include "events.h"
#include "saved.h"
#include "tasks.h"
#include "threads.h"
#include "tree.h"

enum select_mode { SELECT_ALL, SELECT_PIDS, SELECT_SUBTREE, SELECT_MATCH };

enum source { SOURCE_AUTO, SOURCE_BPF, SOURCE_PROC };

struct conf {
	struct sonde_list pids, subtree, cgroup, unit, name, files;
	uint64_t max;
	uint32_t cmdline; /* enum process_cmdline */
	uint32_t threads; /* bool */
	uint32_t source;  /* enum source */
};

struct state {
	struct tasks tasks;
	struct threads threads;
	struct tree tree;
	struct bpf bpf;
	struct events events;
	struct sonde_file *loadavg; /* tells whether tasks began or ended; NULL: not known */
	uint64_t living, newest;    /* as it said when /proc was listed last */
	uint32_t listed_at;         /* that sample */
	uint32_t period;            /* samples a second, if more than one */
	uint32_t *chosen;           /* of pids or subtree, ascending */
	uint32_t nchosen;
	uint32_t own;    /* sonde's pid, with subtree */
	uint32_t mode;   /* enum select_mode */
	uint32_t files;  /* bits of FILE_* */
	uint32_t nfiles; /* how many */
	uint32_t sample; /* number of this one, from 1 */
	uint32_t probe_from;
	bool delays; /* the kernel counts time waited for I/O */

	/* Of this sample. */
	uint32_t listed, members, rows, hidden, omitted;
	uint32_t with_sched, with_io, io_denied;
	uint64_t vanished; /* ever */
	bool told_hidden, told_omitted, told_absent;
};

/* Numbers of an option's items, separated by commas or blanks, into `numbers` (NULL: only counted). How many, or -EINVAL,
 * logged. */
int64_t select_parse(struct sonde_instance *self, const char *key, const struct sonde_list *list,
		     uint32_t *numbers);

/* Only in start(): resolves pids and subtree, finds the processes. 0, -ENODEV (said why) or another errno. */
int select_start(struct sonde_instance *self);

/* Of the chosen with their subtrees sonde itself, which is there for its command's sake, else the first. */
uint32_t select_root(const struct state *state);

/* At the start of each sample: who lives, who is chosen, who gets a row, whose descriptors are kept. */
int select_update(struct sonde_instance *self);

/* At its end: reads stat of some of those without a row, so that a busy one is found and has a row next time. */
void select_probe(struct sonde_instance *self);

/* Whether cgroup, unit or name choose it, by the name and the group that were read last. */
bool match_is_chosen(const struct sonde_instance *self, const struct task *task);

/* Notes and logs which groups, units and names choose nobody, once these were read: a mistyped one would else look like an idle process. */
void match_tell(struct sonde_instance *self);

/* What of these options is wrong: 0 or -EINVAL, logged. */
int match_check(struct sonde_instance *self);

/* Reads stat and identifies the task. 0, or -ESRCH: gone; -EACCES: not to be seen; -EBADMSG. */
int row_identify(struct sonde_instance *self, struct task *task, struct process_stat *stat);

/* Reads which control group it belongs to. */
void row_read_cgroup(struct sonde_instance *self, struct task *task);

/* Reads what the options want of one process into a row. That it is gone or hidden is counted, and no error. */
void row_take(struct sonde_instance *self, struct sonde_frame *frame, uint32_t slot);

#endif
