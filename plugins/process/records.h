/* Records of the task iterator into what the texts of /proc/PID/{stat,status,schedstat,io} say of the same process. */
#ifndef RECORDS_H
#define RECORDS_H

#include "process.h"
#include "record.h"

struct record {
	uint32_t pid; /* of the task */
	bool leader;
	const struct record_idle *idle; /* NULL: what follows is there */
	struct record_task *task;
	struct record_process *process; /* NULL: not a leader's */
	const uint64_t *cpus;
};

/* How the kernel prints. */
struct record_form {
	uint64_t tick; /* ns */
	uint64_t page; /* bytes */
	uint32_t ncpus;
	bool delays; /* as in struct state */
};

/* User and system time as told last, ns: they never fall. */
struct record_told {
	uint64_t utime, stime;
};

/* The record at *at, 8-byte aligned, and *at behind it. False where it does not fit. */
bool record_next(char **at, const char *end, uint32_t ncpus, struct record *record);

/* A process's own times and those of a thread added up. */
void record_add(struct record_cpu *sum, const struct record_cpu *thread);

/* All that stat tells. Of a process `sum` is of all its threads, ended ones too; of a thread it is its own, and `process`
 * NULL. */
void record_stat(const struct record *record, const struct record_cpu *sum,
		 const struct record_form *form, struct record_told *told,
		 struct process_stat *stat);

/* False where nothing is counted. */
bool record_sched(const struct record_task *task, struct process_sched *sched);

/* The values of status, and of io. */
void record_set_status(const struct record *record, const struct record_form *form,
		       struct sonde_row *row);
void record_set_io(const struct record_cpu *sum, struct sonde_row *row);

#endif
