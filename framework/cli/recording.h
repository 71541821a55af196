/* Recordings as the input of a verb. */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/reader.h"

struct recording;

/* FILE, a folder of rotated ones read one behind the other, or "-". NULL, and said in one line, where it can't be opened. */
struct recording *recording_open(const char *path);

/* A reader of it. NULL, and said, without memory. Free it before recording_close(). */
struct reader *recording_reader(struct recording *recording, uint64_t since, uint64_t until);
void recording_close(struct recording *recording);

struct reading {
	uint64_t since, until; /* as in struct reader_options */
	bool follow;  /* wait for more at the end, until the end record or a signal comes */
	bool reparse; /* its raw bytes through today's collectors, not its rows */
};

/* Runs a recording through the pipeline that this configuration text describes. Mistakes, damage and what was torn are said
 * in a line each. An exit status: EXIT_FAILED where nothing could be read. */
int recording_run(const char *path, const char *text, const struct reading *reading);

#endif
