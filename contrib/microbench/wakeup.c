/* wakeup: how long it takes until a task that waited runs again, on its own CPU and on others. Two processes hand one byte to and
 * fro through pipes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "microbench.h"

enum { KEPT = 1 << 16 };

struct exchange {
	const struct settings *settings;
	int cpus[2];
	int there[2], back[2];
	uint64_t count;
	uint32_t ns[KEPT]; /* the newest */
};

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Until the byte is no 0. */
static int answer(const struct exchange *exchange)
{
	char byte;

	while (read(exchange->there[0], &byte, 1) == 1 && !byte)
		if (write(exchange->back[1], &byte, 1) != 1)
			return -1;
	return 0;
}

static int ask(struct exchange *exchange)
{
	uint64_t now = clock_ns(), end = now + (uint64_t)(exchange->settings->seconds * 1e9);
	char byte = 0;

	while (now < end) {
		uint64_t begin = now;

		if (write(exchange->there[1], &byte, 1) != 1 ||
		    read(exchange->back[0], &byte, 1) != 1)
			return fail("pipe: %s", strerror(errno));
		now = clock_ns();
		/* There are two wake-ups in it. */
		exchange->ns[exchange->count++ % KEPT] = (uint32_t)((now - begin) / 2);
	}
	byte = 1;
	return write(exchange->there[1], &byte, 1) == 1 ? 0 : -1;
}

static int work(void *context, uint32_t index)
{
	struct exchange *exchange = context;

	if (pin(exchange->cpus[index]))
		return -1;
	return index ? answer(exchange) : ask(exchange);
}

static int measure(const struct settings *settings, struct exchange *exchange, int from, int to)
{
	char pair[32], name[64];
	uint64_t kept, rare;
	bool good;

	snprintf(pair, sizeof pair, "cpu %d to %d", from, to);
	if (!wanted(settings, pair))
		return 0;
	exchange->settings = settings;
	exchange->cpus[0] = from;
	exchange->cpus[1] = to;
	exchange->count = 0;
	if (pipe(exchange->there) || pipe(exchange->back))
		return fail("pipe: %s", strerror(errno));
	good = in_processes(2, work, exchange);
	for (int i = 0; i < 2; i++) {
		close(exchange->there[i]);
		close(exchange->back[i]);
	}
	kept = exchange->count < KEPT ? exchange->count : KEPT;
	rare = kept / 100;
	if (!good || !kept)
		return -1;
	qsort(exchange->ns, kept, sizeof *exchange->ns, by_size);
	snprintf(name, sizeof name, "%s, median", pair);
	tell(settings, "wakeup", name, (double)exchange->ns[kept >> 1], "ns");
	snprintf(name, sizeof name, "%s, of 100 the 99th", pair);
	tell(settings, "wakeup", name, (double)exchange->ns[kept - 1 - rare], "ns");
	return 0;
}

/* The first CPU to itself, and to each of the others. */
static int run(const struct settings *settings)
{
	uint32_t most = settings->tasks ? settings->tasks : 8;
	struct exchange *exchange = shared_memory(sizeof *exchange);
	int status = exchange ? 0 : -1;

	for (uint32_t i = 0; i < settings->ncpus && i < most && !status; i++)
		status = measure(settings, exchange, settings->cpus[0], settings->cpus[i]);
	if (exchange)
		munmap(exchange, sizeof *exchange);
	return status;
}

const struct benchmark bench_wakeup = {
	"wakeup",
	"from a write to the moment at which its reader runs, on one CPU and from it to others",
	"1 to 3 us on the same CPU, 2 to 10 on another that is awake, 30 to 200 where an idle state has to be left or a hypervisor to be\n"
	"asked. --tasks: how many CPUs of --cpus. sonde: cpu.blocking, where the two switch more than 20,000 times a second.",
	run,
};
