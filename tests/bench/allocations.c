/* Preloaded into a program (LD_PRELOAD, ld.so(8)): counts what its threads allocate while the file that ALLOCATIONS_WHILE
 * names is there; what was counted goes to the file that ALLOCATIONS_FILE names, at exit. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLERS = 32 };

static const char *while_there;
static atomic_ulong counted;
static struct caller {
	const char *function;
	void *from;
	char thread[16];
} callers[CALLERS];

static void count(const char *function, void *from)
{
	int err = errno;
	bool watched = while_there && access(while_there, F_OK) == 0;
	unsigned long at;

	errno = err;
	if (!watched)
		return;
	at = atomic_fetch_add(&counted, 1);
	if (at >= CALLERS)
		return;
	callers[at].function = function;
	callers[at].from = from;
	pthread_getname_np(pthread_self(), callers[at].thread, sizeof callers[at].thread);
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
	count("malloc", __builtin_return_address(0));
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count("calloc", __builtin_return_address(0));
	return __libc_calloc(n, size);
}

void *realloc(void *block, size_t size)
{
	count("realloc", __builtin_return_address(0));
	return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	count("aligned_alloc", __builtin_return_address(0));
	return __libc_memalign(alignment, size);
}

__attribute__((constructor)) static void arm(void)
{
	while_there = getenv("ALLOCATIONS_WHILE");
}

/* fprintf() would allocate; at exit that does not matter any more, but must not be counted. */
__attribute__((destructor)) static void tell(void)
{
	unsigned long total = atomic_load(&counted);
	const char *path = getenv("ALLOCATIONS_FILE");
	FILE *out;

	while_there = NULL;
	out = path ? fopen(path, "we") : NULL;
	if (!out)
		return;
	fprintf(out, "%lu\n", total);
	for (unsigned long i = 0; i < total && i < CALLERS; i++) {
		Dl_info info = { 0 };

		dladdr(callers[i].from, &info);
		fprintf(out, "%s in thread %s from %s+0x%lx\n", callers[i].function,
			callers[i].thread, info.dli_fname ? info.dli_fname : "?",
			(unsigned long)((char *)callers[i].from - (char *)info.dli_fbase));
	}
	fclose(out);
}
