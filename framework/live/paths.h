/* Paths under a root (openat2(2), proc(5)). */
#ifndef HOST_PATHS_H
#define HOST_PATHS_H

/* Opens an absolute path for reading, with further flags of open(2). `root`: a descriptor of the folder that is its /
 * (symbolic links stay inside), or -1. Under a root, what the kernel tells a process of itself is what it tells PID 1 of
 * that tree. A descriptor, or -1 and errno. */
int path_open(int root, const char *path, int flags);

#endif
