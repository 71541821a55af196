/* latency: loads each of which needs the one before, through working sets that fit into each cache and into none. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "microbench.h"

enum { SMALLEST = 16 << 10, NODES_MOST = 64, LOADS = 1 << 14 };

static uint32_t random_below(uint64_t *state, uint32_t most)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(((*state >> 32) * most) >> 32);
}

/* One cycle through all lines, in an order that no prefetcher guesses (Sattolo's algorithm); indexes first, then pointers. */
static void make_chain(char *memory, uint64_t size)
{
	uint32_t lines = (uint32_t)(size / LINE);
	uint64_t state = 1;

	for (uint32_t i = 0; i < lines; i++)
		*(uint64_t *)(memory + (uint64_t)i * LINE) = i;
	for (uint32_t i = lines - 1; i > 0; i--) {
		uint64_t *a = (uint64_t *)(memory + (uint64_t)i * LINE);
		uint64_t *b = (uint64_t *)(memory + (uint64_t)random_below(&state, i) * LINE);
		uint64_t kept = *a;

		*a = *b;
		*b = kept;
	}
	for (uint32_t i = 0; i < lines; i++) {
		char *line = memory + (uint64_t)i * LINE;

		*(void **)line = memory + *(uint64_t *)line * LINE;
	}
}

/* ns a load. */
static double walk(char *memory, double seconds)
{
	uint64_t begin = clock_ns(), end = begin + (uint64_t)(seconds * 1e9), now, loads = 0;
	void **volatile at = (void **)memory;

	do {
		void **next = at;

		for (int i = 0; i < LOADS; i++)
			next = *next;
		at = next;
		loads += LOADS;
		now = clock_ns();
	} while (now < end);
	return (double)(now - begin) / (double)loads;
}

static int measure(const struct settings *settings, enum pages pages, int node, uint64_t most)
{
	const char *kind = pages == PAGES_HUGE ? "huge" : "base";
	char name[64], place[24] = "";

	if (node >= 0)
		snprintf(place, sizeof place, " node %d", node);
	for (uint64_t size = SMALLEST; size <= most; size *= 4) {
		char *memory;

		snprintf(name, sizeof name, "%s%s %llu KiB", kind, place,
			 (unsigned long long)size >> 10);
		if (!wanted(settings, name))
			continue;
		memory = memory_map(size, pages, node);
		if (!memory)
			return -1;
		make_chain(memory, size);
		walk(memory, settings->seconds / 10);
		tell(settings, "latency", name, walk(memory, settings->seconds), "ns/load");
		memory_unmap(memory, size);
	}
	return 0;
}

static bool has_node(int node)
{
	char path[64];

	snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
	return access(path, F_OK) == 0;
}

/* With one node, or one that was asked for, no other place is of interest. */
static int run(const struct settings *settings)
{
	uint64_t most = settings->size ? settings->size : 256ull << 20;
	int nodes[NODES_MOST] = { settings->node }, count = 0;

	for (int node = 0; settings->node < 0 && node < NODES_MOST; node++)
		if (has_node(node))
			nodes[count++] = node;
	if (count < 2) {
		count = 1;
		nodes[0] = settings->node;
	}
	if (most < SMALLEST || most > UINT32_MAX * (uint64_t)LINE)
		return fail("--size is 16KiB to 256GiB");
	if (pin(settings->cpus[0]))
		return -1;
	for (int i = 0; i < count; i++)
		for (enum pages pages = PAGES_BASE; pages <= PAGES_HUGE; pages++)
			if (measure(settings, pages, nodes[i], most))
				return -1;
	return 0;
}

const struct benchmark bench_latency = {
	"latency",
	"a load that waits for the one before, by working set, page size and node",
	"1 to 2 ns in the first level, some 4 in the second, 10 to 40 in the third, 60 to 130 in memory; base pages more than huge\n"
	"ones beyond what the TLB reaches; another node more by its distance. sonde: cache.memory_bound and cache.tlb_pressure, where\n"
	"there are hardware counters; numa.process_misplaced with --node of another node than that of --cpus.",
	run,
};
