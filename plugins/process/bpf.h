/* source = bpf: all tasks from BPF programs in place of the texts of /proc. */
#ifndef PROCESS_BPF_H
#define PROCESS_BPF_H

#include "tasks.h"

struct bpf {
	bool on;
	int link; /* where iterators are made; open while `on`, but in a reparse */
	int walk; /* the program that tells faster; -1: none */
	const struct record_total *told; /* its map; NULL: none */
	uint32_t told_size;
	char *bytes;          /* records of this sample, behind a struct record_total */
	uint32_t *pids;       /* of leaders, ascending */
	uint32_t used, npids; /* bytes, pids */
	uint32_t pids_size, bytes_size;
	uint32_t pids_asked, bytes_asked; /* as in struct tasks */
	struct record_form form;
};

struct bpf_load {
	struct bpf *bpf; /* gets the descriptors and the map */
	struct record_constants constants;
};

/* Of sonde_obtain(), with a struct bpf_load: 0, or a negative errno, which bpf_explain() puts into words. */
int64_t bpf_load(void *context, void *buffer, uint64_t size);
void bpf_explain(int err, char *why, size_t size);

/* Loads the programs and makes room for `tasks` tasks. Of every `period`-th task, in turn, the whole record comes though it
 * did not run. 0; or a negative errno and in `why` what it needs. */
int bpf_start(struct sonde_instance *self, struct bpf *bpf, uint32_t tasks, uint32_t period,
	      char *why, size_t size);

void bpf_stop(struct bpf *bpf);

/* Reads all tasks. 0; -ENOSPC: there will be room in the next sample; another negative errno. */
int bpf_read(struct sonde_instance *self, struct bpf *bpf);

/* After tasks_merge(): gives each task its record, and each leader's the chain of its threads'. */
void bpf_assign(const struct bpf *bpf, struct tasks *tasks);

/* Whether the iterator takes it for idle, and its times, which tell whether that's true. */
bool bpf_is_idle(const struct bpf *bpf, const struct task *task, struct process_sched *sched);

/* The record of a task, and the times of all its threads. False where it has none, or some of its threads came or went
 * while it was read, so that the sum would be wrong: then /proc tells. */
bool bpf_find(const struct bpf *bpf, const struct task *task, struct record *record,
	      struct record_cpu *sum);

/* The next thread of the process; begins with the leader's own record. False at the end. */
bool bpf_next_thread(const struct bpf *bpf, struct record *record);

#endif
