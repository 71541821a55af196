/* A file without a name. */
#ifndef CORE_MEMORY_FILE_H
#define CORE_MEMORY_FILE_H

/* A descriptor, to be closed, of an empty file that is gone when the last one of it is closed: in memory (memfd_create(2)), in a
 * build that only reads where tmpfile(3) puts it. `name` is for whoever looks at the process. A negative errno. */
int memory_file(const char *name);

#endif
