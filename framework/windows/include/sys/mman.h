/* mmap(2) of memory without a file, and madvise(2), which may do nothing. */
#ifndef WINDOWS_MMAN_H
#define WINDOWS_MMAN_H

#include <stddef.h>
#include <sys/types.h>

enum { PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_ANONYMOUS = 32 };
#define MAP_FAILED ((void *)-1)

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
int munmap(void *address, size_t length);

#define MADV_DONTNEED                    4
#define madvise(address, length, advice) ((void)(address), (void)(length), (void)(advice))

#endif
