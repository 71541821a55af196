/* sharing: counters of several threads in one line of the cache, and in a line each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "microbench.h"

enum { THREADS_MOST = 64, ROUNDS = 1 << 12 };

struct counter {
	volatile uint64_t *value;
	const struct settings *settings;
	uint64_t begin, end;
	int cpu;
	bool failed;
};

static void *count(void *context)
{
	struct counter *counter = context;
	uint64_t deadline;

	counter->failed = pin(counter->cpu) != 0;
	counter->begin = clock_ns();
	deadline = counter->begin + (uint64_t)(counter->settings->seconds * 1e9);
	do {
		for (int i = 0; i < ROUNDS; i++)
			(*counter->value)++;
		counter->end = clock_ns();
	} while (counter->end < deadline && !counter->failed);
	return NULL;
}

/* `apart` words from one counter to the next. */
static int measure(const struct settings *settings, const char *name, uint32_t threads,
		   size_t apart)
{
	static uint64_t words[THREADS_MOST * LINE / sizeof(uint64_t)]
		__attribute__((aligned(2 * LINE)));
	struct counter counters[THREADS_MOST];
	pthread_t ids[THREADS_MOST];
	uint64_t counted = 0, spent = 0;
	uint32_t started = 0;
	bool failed = false;

	memset(words, 0, sizeof words);
	for (; started < threads; started++) {
		counters[started] = (struct counter) { .value = &words[started * apart],
						       .settings = settings,
						       .cpu = settings->cpus[started] };
		if (pthread_create(&ids[started], NULL, count, &counters[started]))
			break;
	}
	for (uint32_t i = 0; i < started; i++) {
		pthread_join(ids[i], NULL);
		counted += *counters[i].value;
		spent += counters[i].end - counters[i].begin;
		failed |= counters[i].failed;
	}
	if (failed || started < threads)
		return failed ? -1 : fail("threads: only %u of %u", started, threads);
	tell(settings, "sharing", name, (double)spent / (double)counted, "ns/increment");
	return 0;
}

static int run(const struct settings *settings)
{
	uint32_t threads = settings->tasks ? settings->tasks : 2;

	if (threads > settings->ncpus || threads < 2 || threads > LINE / sizeof(uint64_t))
		return fail("a counter of its own on each CPU: 2 to 8 --tasks, and as many --cpus");
	if (wanted(settings, "together") && measure(settings, "together", threads, 1))
		return -1;
	if (wanted(settings, "apart") &&
	    measure(settings, "apart", threads, LINE / sizeof(uint64_t)))
		return -1;
	return 0;
}

const struct benchmark bench_sharing = {
	"sharing",
	"counters of several threads in one line of the cache (together), and in a line each (apart)",
	"apart 1 to 2 ns; together 5 to 50 times that, more across sockets. sonde: nothing in /proc tells of it; with hardware counters\n"
	"cache.memory_bound, since the CPUs stand still for want of the line.",
	run,
};
