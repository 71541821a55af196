/* The folder of a sink's recordings: new files in it, and a bound on what they take together. */
#ifndef FILE_FOLDER_H
#define FILE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "name.h"

/* What stands at a path. */
enum standing {
	STANDS_NOTHING,
	STANDS_EMPTY,     /* a regular file without a byte */
	STANDS_RECORDING, /* a regular file that begins like a recording */
	STANDS_PIPE,      /* a FIFO or a character device */
	STANDS_SECRET, /* a regular file that may not be read, so nobody knows whether it is a recording */
	STANDS_OTHER,
};
enum standing folder_standing(int folder, const char *file);

/* Opens a new file for writing, its name in `file`: what stands there under a dated name is left
 * alone and a suffix added, a recording under a fixed name is moved aside, an empty file is taken.
 * A descriptor; -EEXIST where something else stands under the fixed name, or another negative
 * errno. */
int folder_create(int folder, const struct name *name, time_t now, char file[NAME_MAX + 1]);

/* Bytes of all files of this name in the folder, but for the one with that inode. */
uint64_t folder_bytes(int folder, const struct name *name, ino_t except);

/* Deletes the oldest of these files, by the time of their last write, until they are `most` bytes
 * or less. Returns what they are then. */
uint64_t folder_trim(int folder, const struct name *name, ino_t except, uint64_t most);

#endif
