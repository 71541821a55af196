/* The files of the machine as its kernel would write them. */
#ifndef DEMO_TEXTS_H
#define DEMO_TEXTS_H

#include <stdio.h>

#include "demo/model.h"

/* A file, or one for each of something: # in its path is then the number. */
struct demo_file {
	const char *instances; /* sections of the collectors that read it, with a blank between */
	const char *path;
	const char *text; /* what is in it; NULL: `write` writes that */
	void (*write)(FILE *out, const struct model *model, uint32_t which);
	uint32_t first, count; /* numbers, from `first` on; 0: there is one file */
	enum {
		FILE_EACH_TICK,
		FILE_ANEW, /* opened for each read */
		FILE_AT_START,
		FILE_AT_REFRESH, /* at the start, and when settings are read again, a minute later */
		FOLDER,
		FILE_OF_PROCESS,
		FILE_OF_PROCESS_IN_PARTS, /* of whole lines; here it is one, and then nothing */
		OBTAINED,                 /* bytes that no file holds; the path is their name */
		OBTAINED_AT_START,
		OBTAINED_OF_PROCESS,
	} kind;
};

struct demo_files {
	const struct demo_file *items;
	uint32_t count;
};

/* /proc, of the whole machine. */
extern const struct demo_files system_files;
/* /proc/PID; `which` is the process's place in the model. */
extern const struct demo_files process_files;
/* What the kernel answers by netlink of each process: delays. */
extern const struct demo_files delay_files;
/* Nodes and huge pages. */
extern const struct demo_files memory_files;
/* Control groups. */
extern const struct demo_files cgroup_files;
/* Hardware counters: which there are, and reads of them. */
extern const struct demo_files counter_files;
/* What does not change: /sys/devices/system and sysctls. */
extern const struct demo_files fixed_files;

#endif
