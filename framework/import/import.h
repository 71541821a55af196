/* Another tool's text as a recording: in the tables of the collectors that count the same, so that every analyzer reads them. */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

/* The most that is read of a text. */
enum { IMPORT_MOST = 64 << 20 };

/* What the text does not say of itself. */
struct import_options {
	double interval; /* seconds from one of its rows or tables to the next; 0: not known */
	char unit;       /* of vmstat's memory, as its -S: k, K, m, M; '\0': K */
	unsigned cpus;   /* of the machine that vmstat ran on; 0: not known */
	bool no_first;   /* as vmstat's -y: its first row is an interval, not all time since boot */
};

/* Each writes the recording to the descriptor. 0; -EBADMSG with a sentence in `why` where the text is none of that tool's; another
 * negative errno. */
typedef int import_text(const char *text, size_t length, const struct import_options *options,
			int fd, char *why, size_t size);

/* perf-stat(1), as tables perf_event_* (plugins/perf_event/perf_event.md). */
import_text import_perf_stat;
/* vmstat(8), as tables stat, meminfo and vmstat. */
import_text import_vmstat;
/* numastat(8), as tables numa, numa_meminfo and numa_maps. */
import_text import_numastat;

#endif
