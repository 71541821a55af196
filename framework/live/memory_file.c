/* A file without a name, in memory. */
#include <errno.h>
#include <sys/mman.h>

#include "core/memory_file.h"

int memory_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}
