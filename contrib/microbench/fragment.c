/* fragment: huge pages where free memory is in pieces. Most of memory is taken, every other page of it given back. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "microbench.h"

enum { SPARE_MIB = 128 };

/* Should memory run out all the same, this is what goes. */
static void offer_to_the_oom_killer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1000", 4) != 4)
		fail("oom_score_adj can't be raised");
	if (fd >= 0)
		close(fd);
}

/* Pages one after another are neighbours in memory for the most part: without every other one no two free ones are. */
static void punch(char *memory, uint64_t size)
{
	for (uint64_t at = 0; at < size; at += 2 * PAGE)
		madvise(memory + at, PAGE, MADV_DONTNEED);
}

/* ns for each huge page's worth of memory at its first touch, until `most` bytes are had or the time is over. What was had is kept
 * until then: given back it would be whole, and had again for nothing. */
static double touch_huge(const struct settings *settings, uint64_t most)
{
	char *memory = memory_map(most, PAGES_HUGE, settings->node);
	uint64_t begin = clock_ns(), now = begin, touched = 0;
	uint64_t end = begin + (uint64_t)(settings->seconds * 1e9);

	if (!memory)
		return -1;
	while (touched + HUGE_PAGE <= most && now < end) {
		memory_touch(memory + touched, HUGE_PAGE);
		touched += HUGE_PAGE;
		now = clock_ns();
	}
	memory_unmap(memory, most);
	return touched ? (double)(now - begin) * HUGE_PAGE / (double)touched : -1;
}

/* A quarter of it: half of what is given back in pieces. */
static int measure(const struct settings *settings, const char *name, uint64_t size)
{
	double ns = touch_huge(settings, size / 4 > HUGE_PAGE ? size / 4 : HUGE_PAGE);

	if (ns < 0)
		return -1;
	tell(settings, "fragment", name, ns / 1000, "us/2 MiB");
	return 0;
}

static int measure_in_pieces(const struct settings *settings, uint64_t size)
{
	char *memory = memory_map(size, PAGES_BASE, settings->node);
	int status;

	if (!memory)
		return -1;
	memory_touch(memory, size);
	punch(memory, size);
	status = measure(settings, "in pieces", size);
	memory_unmap(memory, size);
	return status;
}

static int run(const struct settings *settings)
{
	uint64_t available = meminfo("MemAvailable:"), spare = (uint64_t)SPARE_MIB << 20;
	uint64_t size = settings->size ? settings->size : available > spare ? available - spare : 0;
	if (!size || size + spare > available)
		return fail("%llu MiB are available, and %d of them stay free: --size is less",
			    (unsigned long long)available >> 20, SPARE_MIB);
	offer_to_the_oom_killer();
	if (wanted(settings, "before") && measure(settings, "before", size))
		return -1;
	return wanted(settings, "in pieces") ? measure_in_pieces(settings, size) : 0;
}

const struct benchmark bench_fragment = {
	"fragment",
	"huge pages at first use, before and after free memory is in pieces; takes nearly all memory of the machine",
	"50 to 200 us before; in pieces several times that, for compaction at each fault, or for 512 faults where it fails. Not on a machine\n"
	"that others use. --size is what is taken. sonde: hp.compaction_stalls and hp.thp_fallback, where transparent huge pages are on.",
	run,
};
