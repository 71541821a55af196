/* Recordings as the input of a verb. */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/reader.h"

struct recording;

/* FILE, a folder of rotated ones read one behind the other, or "-". NULL, and said in one line, where it can't be opened. */
struct recording *recording_open(const char *path);

struct reading;

/* A reader of the stretch that `reading` says; NULL: of all. NULL, and said, without memory. Free it before recording_close(). */
struct reader *recording_reader(struct recording *recording, const struct reading *reading);
void recording_close(struct recording *recording);

struct reading {
	uint64_t since, until; /* as in struct reader_options */
	bool standing;         /* likewise */
	bool follow;  /* wait for more at the end, until the end record or a signal comes */
	bool reparse; /* its raw bytes through today's collectors, not its rows */
	struct outlet *outlet; /* as in struct pipeline_options */
	uint64_t judge_every;  /* likewise */
	struct join *join;     /* likewise */
};

struct config; /* host/config.h */

/* Runs a recording through the pipeline that this configuration describes. Mistakes, those that it has already too, damage
 * and what was torn are said in a line each. An exit status: EXIT_FAILED where nothing could be read. */
int recording_run(const char *path, struct config *config, const struct reading *reading);

/* The same of a file that is open already, from its beginning; it stays open. */
int recording_run_fd(int fd, struct config *config, const struct reading *reading);

/* The sections of the collectors that read what a recording holds as raw bytes, as they were configured then. An exit status. */
int recording_collectors(const char *path, struct config *config);

#endif
