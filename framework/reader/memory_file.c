/* A file without a name, of a build that only reads. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "core/memory_file.h"

int memory_file(const char *name)
{
	FILE *file = tmpfile();
	int fd = file ? dup(fileno(file)) : -1;
	int err = fd < 0 ? -errno : 0;

	(void)name;
	if (file)
		fclose(file);
	return err ? err : fd;
}
