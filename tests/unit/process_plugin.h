/* The collector `process` as one translation unit over the host in memory, and processes put into it. */
#ifndef PROCESS_PLUGIN_H
#define PROCESS_PLUGIN_H

#include "plugins/process/bpf.c"
#include "plugins/process/cmdline.c"
#include "plugins/process/events.c"
#include "plugins/process/load.c"
#include "plugins/process/match.c"
#include "plugins/process/parse.c"
#include "plugins/process/process.c"
#include "plugins/process/records.c"
#include "plugins/process/row.c"
#include "plugins/process/saved.c"
#include "plugins/process/select.c"
#include "plugins/process/table.c"
#include "plugins/process/tasks.c"
#include "plugins/process/texts.c"
#include "plugins/process/threads.c"
#include "plugins/process/tree.c"
#include "process_host.h"
#include "test.h"

static const char *const all_files[] = { "stat status schedstat io" };

static struct conf defaults(void)
{
	return (struct conf) { .files = { all_files, 1, 0 }, .max = 4096 };
}

static inline struct sonde_list list_of(const char *const *item)
{
	return (struct sonde_list) { item, 1, 0 };
}

/* What a test says of a process; the rest is made up. */
struct process {
	uint32_t pid, ppid, pgrp, threads;
	uint64_t start, utime, cutime, stack;
	const char *comm;
	char state;
};

static void put_stat(struct process p)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%u/stat", p.pid);
	put(path,
	    "%u (%s) %c %u %u 1 0 -1 4194304 9 0 0 0 %llu 1 %llu 0 20 0 %u 0 %llu 4096 7 18446744073709551615 1 1 %llu "
	    "0 0 0 0 0 0 0 0 0 17 3 0 0 2 0 0\n",
	    p.pid, p.comm ? p.comm : "task", p.state ? p.state : 'S', p.ppid,
	    p.pgrp ? p.pgrp : p.pid, (unsigned long long)p.utime, (unsigned long long)p.cutime,
	    p.threads ? p.threads : 1, (unsigned long long)p.start, (unsigned long long)p.stack);
}

static void put_process(struct process p)
{
	char path[32];

	put_stat(p);
	snprintf(path, sizeof path, "/proc/%u/status", p.pid);
	put(path, "Name:\tx\nUid:\t5\t5\t5\t5\nVmRSS:\t 28 kB\nvoluntary_ctxt_switches:\t4\n");
	snprintf(path, sizeof path, "/proc/%u/schedstat", p.pid);
	put(path, "1000 200 3\n");
	snprintf(path, sizeof path, "/proc/%u/io", p.pid);
	put(path, "rchar: 11\nwchar: 12\nsyscr: 13\nsyscw: 14\nread_bytes: 15\n");
}

#endif
