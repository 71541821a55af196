/* touch: what the first write to a page costs. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "microbench.h"

struct way {
	const char *name;
	enum pages pages;
	bool populates, before;
};

static const struct way ways[] = {
	{ "base", PAGES_BASE, false, false },
	{ "populate", PAGES_BASE, true, false },
	{ "huge", PAGES_HUGE, false, false },
	{ "touched before", PAGES_BASE, false, true },
};

/* As MAP_POPULATE does; before Linux 5.14 that alone. */
static int populate(char *memory, uint64_t size)
{
	return madvise(memory, size, MADV_POPULATE_WRITE)
		       ? fail("MADV_POPULATE_WRITE: %s", strerror(errno))
		       : 0;
}

/* ns a page of 4 KiB, without what mapping and unmapping take; negative: it has told why not. */
static double measure(const struct settings *settings, const struct way *way, uint64_t size)
{
	uint64_t begin = clock_ns(), end = begin + (uint64_t)(settings->seconds * 1e9);
	uint64_t spent = 0, pages = 0;

	while (clock_ns() < end) {
		char *memory = memory_map(size, way->pages, settings->node);
		uint64_t start;
		int err = 0;

		if (!memory)
			return -1;
		if (way->before)
			memory_touch(memory, size);
		start = clock_ns();
		if (way->populates)
			err = populate(memory, size);
		else
			memory_touch(memory, size);
		spent += clock_ns() - start;
		pages += size / PAGE;
		memory_unmap(memory, size);
		if (err)
			return -1;
	}
	return pages ? (double)spent / (double)pages : 0;
}

static int run(const struct settings *settings)
{
	uint64_t size = settings->size ? settings->size : 64ull << 20;

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		double ns;

		if (!wanted(settings, ways[i].name))
			continue;
		ns = measure(settings, &ways[i], size);
		if (ns < 0)
			return -1;
		tell(settings, "touch", ways[i].name, ns, "ns/page");
	}
	return 0;
}

const struct benchmark bench_touch = {
	"touch",
	"the first write to each page: base, populated, huge, touched before",
	"250 to 1,000 ns for a base page, and several times that in a virtual machine; less populated, 50 to 150 for each 4 KiB of a\n"
	"huge page, a few ns for one that was touched before. sonde: mem.minor_fault_storm while base pages are touched.",
	run,
};
