/* reclaim: a file twice as large as the memory of its control group, read through a mapping over and over
 * (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst). */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "microbench.h"

enum { PATH_MOST = 512, BLOCK = 1 << 20 };

struct group {
	char path[PATH_MOST];
	const char *limit; /* its file */
};

struct reading {
	const struct settings *settings;
	const char *group; /* NULL: none */
	const char *file;
	uint64_t size, pages, ns;
};

static int write_text(const char *folder, const char *file, const char *text)
{
	char path[PATH_MOST + 64];
	int fd, err = 0;

	snprintf(path, sizeof path, "%s/%s", folder, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err = fail("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

/* Version 1's controller where it is mounted, else version 2's where children of the root have it. */
static bool find_mount(char *place, bool *v1)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[1024], at[PATH_MOST / 2], kind[32], options[256], path[PATH_MOST];
	bool found = false;

	*v1 = false;
	while (mounts && !*v1 && fgets(line, sizeof line, mounts)) {
		if (sscanf(line, "%*s %255s %31s %255s", at, kind, options) != 3)
			continue;
		*v1 = strcmp(kind, "cgroup") == 0 && strstr(options, "memory");
		if (*v1 || (strcmp(kind, "cgroup2") == 0 && !found)) {
			snprintf(place, PATH_MOST / 2, "%s", at);
			found = true;
		}
	}
	if (mounts)
		fclose(mounts);
	if (found && !*v1) {
		snprintf(path, sizeof path, "%s/cgroup.subtree_control", place);
		mounts = fopen(path, "re");
		found = mounts && fgets(line, sizeof line, mounts) && strstr(line, "memory");
		if (mounts)
			fclose(mounts);
	}
	return found;
}

static int make_group(struct group *group, uint64_t limit)
{
	char place[PATH_MOST / 2], number[24];
	bool v1;

	if (!find_mount(place, &v1))
		return fail("no control groups with a memory controller: reclaim needs one");
	group->limit = v1 ? "memory.limit_in_bytes" : "memory.max";
	snprintf(group->path, sizeof group->path, "%s/microbench-%d", place, (int)getpid());
	if (mkdir(group->path, 0755))
		return fail("%s: %s; reclaim needs root", group->path, strerror(errno));
	snprintf(number, sizeof number, "%llu", (unsigned long long)limit);
	if (!write_text(group->path, group->limit, number))
		return 0;
	rmdir(group->path);
	return -1;
}

static int make_file(const char *path, uint64_t size)
{
	static char block[BLOCK];
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct statfs kind;
	int err = 0;

	if (fd < 0)
		err = fail("%s: %s", path, strerror(errno));
	else if (fstatfs(fd, &kind) == 0 && (unsigned long)kind.f_type == TMPFS_MAGIC)
		err = fail("%s is in memory: --folder names a place on a disk", path);
	for (uint64_t at = 0; !err && at < size; at += BLOCK) {
		memset(block, (int)(at >> 20), BLOCK);
		if (write(fd, block, BLOCK) != BLOCK)
			err = fail("%s: %s", path, strerror(errno));
	}
	if (!err && fsync(fd))
		err = fail("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

/* Pages in the cache are of the group that read them first: those of nobody any more are read anew. */
static int forget(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? errno : posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);

	if (fd >= 0)
		close(fd);
	return err ? fail("%s: %s", path, strerror(err)) : 0;
}

/* In order, with what the kernel reads ahead. */
static void memory_read(const char *file, uint64_t size)
{
	for (uint64_t at = 0; at < size; at += PAGE)
		(void)((const volatile char *)file)[at];
}

/* In an order of its own, so that nothing is read ahead. */
static int read_mapped(void *context, uint32_t index)
{
	struct reading *reading = context;
	uint64_t begin, end, now, pages = reading->size / PAGE, page = 0, sum = 0;
	char pid[16];
	int fd;
	char *file;

	(void)index;
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	if (reading->group && write_text(reading->group, "cgroup.procs", pid))
		return -1;
	fd = open(reading->file, O_RDONLY | O_CLOEXEC);
	file = fd < 0 ? MAP_FAILED : mmap(NULL, reading->size, PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		return fail("%s: %s", reading->file, strerror(errno));
	/* What fits is in memory from then on. */
	memory_read(file, reading->size);
	madvise(file, reading->size, MADV_RANDOM);
	begin = now = clock_ns();
	end = begin + (uint64_t)(reading->settings->seconds * 1e9);
	while (now < end) {
		page = (page * 5 + 7) & (pages - 1); /* all of them: there are a power of two */
		sum += ((volatile unsigned char *)file)[page * PAGE];
		reading->pages++;
		now = clock_ns();
	}
	reading->ns = now - begin;
	return sum == UINT64_MAX;
}

static int measure(struct reading *reading, const char *name)
{
	reading->pages = 0;
	if (forget(reading->file) || !in_processes(1, read_mapped, reading))
		return -1;
	tell(reading->settings, "reclaim", name, (double)reading->ns / (double)reading->pages,
	     "ns/page");
	return 0;
}

static uint64_t power_of_two(uint64_t size)
{
	uint64_t power = BLOCK;

	while (power < size && power < 1ull << 40)
		power *= 2;
	return power;
}

static int run(const struct settings *settings)
{
	uint64_t limit = power_of_two(settings->size ? settings->size : 64ull << 20);
	struct reading *reading = shared_memory(sizeof *reading);
	struct group group;
	char file[PATH_MOST];
	int status = -1;

	if (!reading || make_group(&group, limit))
		return -1;
	snprintf(file, sizeof file, "%.400s/microbench-%d", settings->folder, (int)getpid());
	*reading = (struct reading) { settings, NULL, file, 2 * limit, 0, 0 };
	if (!make_file(file, reading->size)) {
		status = wanted(settings, "without") ? measure(reading, "without a limit") : 0;
		reading->group = group.path;
		if (!status && wanted(settings, "limit"))
			status = measure(reading, "limit half of the file");
	}
	unlink(file);
	rmdir(group.path);
	munmap(reading, sizeof *reading);
	return status;
}

const struct benchmark bench_reclaim = {
	"reclaim",
	"a file read through a mapping, with memory for half of it; needs root",
	"without a limit some ns a page once it is in memory; with one 50 to 1,000 times that: half of the pages come from the disk\n"
	"again. --size is the limit, --folder the disk. sonde: mem.major_faults; mem.pressure where all that runs waits for it;\n"
	"cgroup.memory_pressure with --profile ci, under version 2.",
	run,
};
