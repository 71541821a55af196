/* What numastat(8) prints, as rows: counts by node (without an option, -n), memory by node (-m), of processes (-p), in blocks of as many
 * nodes as the line has room for, one table behind the other. Pure: no host, no allocation. */
#ifndef IMPORT_NUMASTAT_H
#define IMPORT_NUMASTAT_H

#include <sonde/text.h>

enum numastat_kind {
	NUMASTAT_NONE,
	NUMASTAT_PAGES,     /* numa_hit... in pages */
	NUMASTAT_MEGABYTES, /* the same as memory */
	NUMASTAT_MEMORY,    /* MemTotal... */
	NUMASTAT_PROCESS,   /* one: Huge, Heap... */
	NUMASTAT_PROCESSES, /* several: a line each */
	NUMASTAT_KINDS,
};

enum { NUMASTAT_NODES = 1024, NUMASTAT_NAME = 64, NUMASTAT_TABLES = 256 };

struct numastat_row {
	enum numastat_kind kind;
	uint32_t snapshot;        /* which of several prints it is of, from 0 */
	char name[NUMASTAT_NAME]; /* MemTotal; of several processes: what stands in parentheses */
	uint64_t pid;             /* 0: of no process */
	char comm[NUMASTAT_NAME];
	uint32_t count;
	uint32_t node[NUMASTAT_NODES];
	double value[NUMASTAT_NODES]; /* pages, or bytes */
};

struct numastat_text {
	struct cursor line;
	uint32_t number; /* of the line */
	enum numastat_kind kind;
	double unit;  /* bytes, of the table at hand */
	uint64_t pid; /* of the table's title */
	char comm[NUMASTAT_NAME];
	uint32_t count, node[NUMASTAT_NODES]; /* of the block */
	bool total;                           /* a column of sums is behind the nodes */
	uint32_t snapshot;
	/* What was seen of this one. */
	bool seen[NUMASTAT_KINDS][NUMASTAT_NODES];
	uint64_t pids[NUMASTAT_TABLES]; /* of titles; 0: several processes in one table */
	uint32_t npids;
	uint32_t rows, unread, first_unread;
	char why[200];
};

struct numastat_text numastat_text(const char *text, size_t length);

/* The next row of a block: 1; 0 at the end; -EBADMSG, with a sentence in `why`, where nothing can be made of the text. */
int numastat_next(struct numastat_text *numastat, struct numastat_row *row);

#endif
