/* convoy: processes that take turns at one lock, in the order in which they came: with each turn two of them switch. */
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "microbench.h"

struct convoy {
	const struct settings *settings;
	_Atomic uint32_t next, serving; /* tickets */
	_Atomic uint64_t turns;
	uint64_t end;
	uint32_t tasks;
};

/* Who waits for a ticket sleeps on the bit that is its remainder of 32: it alone is woken, while there are fewer. */
static void take_lock(struct convoy *convoy)
{
	uint32_t ticket = atomic_fetch_add(&convoy->next, 1), serving;

	while ((serving = atomic_load(&convoy->serving)) != ticket)
		syscall(SYS_futex, &convoy->serving, FUTEX_WAIT_BITSET, serving, NULL, NULL,
			1u << (ticket % 32));
}

static void give_lock(struct convoy *convoy)
{
	uint32_t ticket = atomic_fetch_add(&convoy->serving, 1) + 1;

	syscall(SYS_futex, &convoy->serving, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL,
		1u << (ticket % 32));
}

static int restrict_cpus(const struct settings *settings)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (uint32_t i = 0; i < settings->ncpus; i++)
		CPU_SET((size_t)settings->cpus[i], &set);
	return sched_setaffinity(0, sizeof set, &set) ? fail("--cpus: they can't be used") : 0;
}

static int queue(void *context, uint32_t index)
{
	struct convoy *convoy = context;

	if (restrict_cpus(convoy->settings))
		return -1;
	if (index == 0) {
		/* The convoy forms behind the first, as it does where one that has the lock is taken off its CPU; it stays. */
		take_lock(convoy);
		while (atomic_load(&convoy->next) < convoy->tasks && clock_ns() < convoy->end)
			usleep(1000);
		give_lock(convoy);
	}
	while (clock_ns() < convoy->end) {
		take_lock(convoy);
		atomic_fetch_add(&convoy->turns, 1);
		give_lock(convoy);
	}
	return 0;
}

static int measure(const struct settings *settings, const char *name, uint32_t tasks)
{
	struct convoy *convoy = shared_memory(sizeof *convoy);
	double turns;
	bool good;

	if (!convoy)
		return -1;
	convoy->settings = settings;
	convoy->tasks = tasks;
	convoy->end = clock_ns() + (uint64_t)(settings->seconds * 1e9);
	good = in_processes(tasks, queue, convoy);
	turns = (double)convoy->turns;
	munmap(convoy, sizeof *convoy);
	if (!good || turns <= 0)
		return -1;
	tell(settings, "convoy", name, settings->seconds * 1e9 / turns, "ns/turn");
	return 0;
}

static int run(const struct settings *settings)
{
	uint32_t tasks = settings->tasks ? settings->tasks : 8;

	if (tasks > 32)
		return fail("--tasks is 1 to 32");
	if (wanted(settings, "alone") && measure(settings, "alone", 1))
		return -1;
	return wanted(settings, "convoy") ? measure(settings, "convoy", tasks) : 0;
}

const struct benchmark bench_convoy = {
	"convoy",
	"processes that hand one lock to one another, in order",
	"alone 200 to 500 ns a turn, of which most is a call that wakes nobody; several 2 to 10 us, since each turn is a switch, and 20 to\n"
	"100 us where the next one sleeps on another CPU. sonde: cpu.blocking above 20,000 switches a second.",
	run,
};
