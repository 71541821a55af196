/* Names of recordings: made from a path with dates in it, and told from other files again. */
#ifndef FILE_NAME_H
#define FILE_NAME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* A suffix has fewer digits than a time of day: a sink whose files have longer names keeps them. */
enum { NAME_SUFFIX_DIGITS = 5, NAME_MOST_SUFFIX = 99999 };

/* "/var/lib/sonde/%h-%Y%m%d.sonde" on host web1: folder "/var/lib/sonde", stem "web1-%Y%m%d", ext
 * ".sonde". */
struct name {
	char folder[PATH_MAX];
	char stem[NAME_MAX + 1]; /* dates as %Y %m %d %H %M %S, a percent sign as %% */
	char ext[NAME_MAX + 1];  /* from the last dot, "" without one */
	bool fixed;              /* no date in the stem: always the same name */
};

/* 0; -EINVAL and a sentence in `why`. Dates may stand in the last part of the path only: the disk
 * cap looks at one folder. */
int name_parse(struct name *name, const char *path, const char *host, char *why, size_t size);

/* The file of this moment, in local time; `suffix` above 0 makes it another:
 * "web1-20261130-2.sonde". False where it would be longer than NAME_MAX. */
bool name_make(const struct name *name, time_t when, unsigned suffix, char file[NAME_MAX + 1]);

/* Where a file of a fixed name, last written at `when`, goes to make room:
 * "web1-20261130-093015.sonde". */
bool name_aside(const struct name *name, time_t when, unsigned suffix, char file[NAME_MAX + 1]);

/* Of a file of name_make() of the same moment: the suffix behind its own; 0 where it is none. */
unsigned name_next(const struct name *name, time_t when, const char *file);

/* Whether name_make() or name_aside() could have made it. */
bool name_is_ours(const struct name *name, const char *file);

#endif
