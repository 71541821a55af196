/* churn: memory that is given back after each use, and memory that is kept. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "microbench.h"

struct churn {
	const struct settings *settings;
	uint64_t size;
	bool kept;
	struct {
		uint64_t uses, ns;
	} of[TASKS_MOST];
};

/* Beyond what glibc ever keeps for itself (32 MiB, mallopt(3)), free() gives memory back to the kernel each time. */
static int use(void *context, uint32_t index)
{
	struct churn *churn = context;
	uint64_t begin = clock_ns(), now = begin;
	uint64_t end = begin + (uint64_t)(churn->settings->seconds * 1e9);
	char *kept = churn->kept ? malloc(churn->size) : NULL;

	/* Huge pages would hide it. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (churn->kept && !kept)
		return fail("no memory");
	while (now < end) {
		char *memory = kept ? kept : malloc(churn->size);

		if (!memory)
			return fail("no memory");
		memory_touch(memory, churn->size);
		if (!kept)
			free(memory);
		churn->of[index].uses++;
		now = clock_ns();
	}
	churn->of[index].ns = now - begin;
	free(kept);
	return 0;
}

static int measure(struct churn *churn, const char *name, uint32_t tasks)
{
	double ns = 0, uses = 0;

	for (uint32_t i = 0; i < tasks; i++)
		churn->of[i].uses = churn->of[i].ns = 0;
	if (!in_processes(tasks, use, churn))
		return -1;
	for (uint32_t i = 0; i < tasks; i++) {
		ns += (double)churn->of[i].ns;
		uses += (double)churn->of[i].uses;
	}
	tell(churn->settings, "churn", name, ns / uses / ((double)churn->size / PAGE), "ns/page");
	return 0;
}

static int run(const struct settings *settings)
{
	static const char *const names[] = { "given back", "kept" };
	struct churn *churn = shared_memory(sizeof *churn);
	uint32_t tasks = settings->tasks ? settings->tasks : 1;
	int status = churn ? 0 : -1;

	for (int i = 0; i < 2 && !status; i++) {
		churn->settings = settings;
		churn->size = settings->size ? settings->size : 64ull << 20;
		churn->kept = i == 1;
		if (wanted(settings, names[i]))
			status = measure(churn, names[i], tasks);
	}
	if (churn)
		munmap(churn, sizeof *churn);
	return status;
}

const struct benchmark bench_churn = {
	"churn",
	"malloc, one write to each page, free; and the same memory used again",
	"given back 300 to 1,500 ns a page, kept a few ns; with more --tasks worse. sonde: mem.minor_fault_storm, with the variables of\n"
	"malloc that end it.",
	run,
};
