/* What the benchmarks share: settings, memory, CPUs, results. */
#ifndef MICROBENCH_H
#define MICROBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPUS_MOST = 1024, TASKS_MOST = 4096, PAGE = 4096, HUGE_PAGE = 2 << 20, LINE = 64 };

struct settings {
	double seconds;     /* of each case, or of the whole where there is one */
	uint64_t size;      /* bytes; 0: the benchmark's own */
	uint32_t tasks;     /* 0: the benchmark's own */
	int node;           /* memory is bound to it; -1: to none */
	uint32_t ncpus;     /* of `cpus`; those that this process may use where none were given */
	const char *only;   /* cases whose name begins so; NULL: all */
	const char *folder; /* for files */
	bool csv;
	int cpus[CPUS_MOST];
};

struct benchmark {
	const char *name;
	const char *summary;
	const char *expect; /* what its numbers look like, and what sonde finds */
	int (*run)(const struct settings *settings); /* 0, or it has told why not */
};

extern const struct benchmark bench_latency, bench_touch, bench_wakeup, bench_sharing, bench_crowd,
	bench_churn, bench_convoy, bench_reclaim, bench_fragment;

/* The case is one that was asked for. */
bool wanted(const struct settings *settings, const char *name);
/* There are cases, and the name that was asked for begins none. */
bool none_wanted(void);
/* A line of the result. */
void tell(const struct settings *settings, const char *benchmark, const char *name, double value,
	  const char *unit);
/* "microbench: ..." on stderr; -1. */
__attribute__((format(printf, 1, 2))) int fail(const char *format, ...);

uint64_t clock_ns(void);
/* This thread runs there alone. */
int pin(int cpu);

enum pages { PAGES_ANY, PAGES_BASE, PAGES_HUGE };

/* Private memory of zeros, aligned to huge pages, of a kind of pages and bound to a node (-1: none); NULL, and it has told why. */
char *memory_map(uint64_t size, enum pages pages, int node);
void memory_unmap(char *memory, uint64_t size);
/* Of every page a byte is written. */
void memory_touch(char *memory, uint64_t size);
/* kB of this line of /proc/meminfo, in bytes; 0: there is none. */
uint64_t meminfo(const char *line);

/* Runs `work(context, index)` in `count` processes, or one for each CPU given, at once; true where all returned 0. */
bool in_processes(uint32_t count, int (*work)(void *context, uint32_t index), void *context);
/* Memory that processes started afterwards share. */
void *shared_memory(size_t size);

#endif
