/* dladdr(3): all is in the program. */
#ifndef WINDOWS_DLFCN_H
#define WINDOWS_DLFCN_H

typedef struct {
	const char *dli_fname;
} Dl_info;

int dladdr(const void *address, Dl_info *info);

#endif
