/* What the collector `process` costs beside the bare minimum: one pread(2) of each of the same files, as many descriptors
 * kept, the others opened and closed, one warm buffer. Usage: process COUNT [ours|bare|bpf ROUNDS]. Starts processes that sleep
 * until COUNT exist (or as many more than there are), samples all, and prints ratio, smallest and largest of 11 alternating
 * pairs, microseconds of CPU time for a process of ours and of the bare reads, the number of processes, values a process. With
 * a side and rounds it does only that, for callgrind and strace; bpf is the sample by the task iterator, of which it prints
 * microseconds a process, processes, and in KiB its own memory and the kernel's slab. */
#include "plugins/process/bpf.c"
#include "plugins/process/cmdline.c"
#include "plugins/process/events.c"
#include "plugins/process/load.c"
#include "plugins/process/match.c"
#include "plugins/process/parse.c"
#include "plugins/process/process.c"
#include "plugins/process/records.c"
#include "plugins/process/row.c"
#include "plugins/process/saved.c"
#include "plugins/process/select.c"
#include "plugins/process/table.c"
#include "plugins/process/tasks.c"
#include "plugins/process/texts.c"
#include "plugins/process/threads.c"
#include "plugins/process/tree.c"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/frame.h"
#include "core/schema.h"
#include "host/files.h"

enum { PAIRS = 11, MOST = 20000, ENOUGH = 4000, RESERVED = 256 };

static struct files files;
static struct sonde_frame frame;
static pid_t sleepers[MOST];
static struct {
	char path[32];
	int fd; /* -1: opened for each read */
} bare_files[MOST * TASK_FILES];
static int nsleepers, nbare;
static const char *const all_files[] = { "stat status schedstat io" };
static struct conf conf = { .files = { all_files, 1, 0 }, .max = MOST, .source = SOURCE_PROC };
static struct state state;

/* The host: its real file service and arena. */
static struct sonde_file *host_open(struct sonde_instance *self, uint32_t mode, const char *path)
{
	(void)self;
	return file_open(&files, mode, path);
}

static int64_t host_list(struct sonde_instance *self, const char *path, const char **names)
{
	(void)self;
	return file_list(&files, path, names);
}

/* Large enough at once, so that none grows while it is measured; the program ends before it is freed. */
static int host_grow(struct sonde_instance *self, void **block, uint64_t size)
{
	(void)self;
	if (*block)
		return 0;
	*block = calloc(1, size + MOST * 256);
	return *block ? 0 : -ENOMEM;
}

static int64_t host_obtain(struct sonde_instance *self, const char *name,
			   int64_t (*call)(void *context, void *buffer, uint64_t size),
			   void *context, void *buffer, uint64_t size)
{
	(void)self;
	(void)name;
	return call(context, buffer, size);
}

static void host_say(struct sonde_instance *self, const char *message)
{
	(void)self;
	(void)message;
}

static void host_log(struct sonde_instance *self, uint32_t level, const char *message)
{
	(void)self;
	(void)level;
	fprintf(stderr, "%s\n", message);
}

static int host_unavailable(struct sonde_instance *self, const char *reason)
{
	host_log(self, SONDE_ERROR, reason);
	return -ENODEV;
}

static void host_partial(struct sonde_frame *partial)
{
	partial->partial = true;
}

static const struct sonde_host host = {
	.size = sizeof host,
	.log = host_log,
	.note = host_say,
	.unavailable = host_unavailable,
	.grow = host_grow,
	.open = host_open,
	.read = file_read,
	.close = file_close,
	.list = host_list,
	.row = frame_row,
	.partial = host_partial,
	.obtain = host_obtain,
};
static struct utsname kernel;
static const struct sonde_stream_header header = { .kernel = kernel.release,
						   .user_hz = 100,
						   .page_size = 4096 };
static struct sonde_instance self = { .host = &host,
				      .conf = &conf,
				      .state = &state,
				      .name = "process",
				      .root = "",
				      .header = &header };

static void sample_ours(void)
{
	if (frame_begin(&frame) || sample(&self, &frame))
		exit(1);
}

static void sample_bare(void)
{
	static char buffer[1 << 16];

	for (int i = 0; i < nbare; i++) {
		int fd = bare_files[i].fd;

		if (fd < 0)
			fd = open(bare_files[i].path, O_RDONLY | O_CLOEXEC);
		if (pread(fd, buffer, sizeof buffer, 0) < 0)
			errno = 0;
		if (bare_files[i].fd < 0)
			close(fd);
	}
}

static int count_processes(void)
{
	const char *names;
	int64_t n = file_list(&files, "/proc", &names);
	int count = 0;

	for (; n-- > 0 && (unsigned char)(*names - '0') < 10; names += strlen(names) + 1)
		count++;
	return count;
}

static void start_sleepers(int count)
{
	for (count -= count_processes(); nsleepers < count && nsleepers < MOST; nsleepers++) {
		pid_t pid = fork();

		if (pid < 0)
			exit(1);
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
		sleepers[nsleepers] = pid;
	}
}

static void end_sleepers(void)
{
	for (int i = 0; i < nsleepers; i++)
		kill(sleepers[i], SIGKILL);
	for (int i = 0; i < nsleepers; i++)
		waitpid(sleepers[i], NULL, 0);
}

static void open_bare(void)
{
	static const char *const names[TASK_FILES] = { "stat", "status", "schedstat", "io" };
	uint32_t kept = self.descriptors / TASK_FILES;

	for (uint32_t i = 0; i < state.tasks.count; i++) {
		for (int which = 0; which < TASK_FILES; which++, nbare++) {
			char *path = bare_files[nbare].path;

			snprintf(path, sizeof bare_files->path, "/proc/%u/%s",
				 state.tasks.task[state.tasks.order[i]].pid, names[which]);
			bare_files[nbare].fd = i < kept ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		}
	}
}

static double cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double cost(void (*side)(void), int rounds)
{
	double begin = cpu_us();

	for (int i = 0; i < rounds; i++)
		side();
	return (cpu_us() - begin) / rounds;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void compare(void)
{
	double ratio[PAIRS], ours[PAIRS], bare[PAIRS];
	uint32_t count = state.tasks.count;
	int rounds = (int)(ENOUGH / count) + 1;
	const struct frame_table *table = &frame.tables[TABLE_PROCESS];
	double values = 0;

	for (int i = 0; i < PAIRS; i++) {
		if (i % 2)
			bare[i] = cost(sample_bare, rounds);
		ours[i] = cost(sample_ours, rounds);
		if (i % 2 == 0)
			bare[i] = cost(sample_bare, rounds);
		ratio[i] = ours[i] / bare[i];
	}
	for (uint32_t i = 0; i < table->nrows; i++)
		values += __builtin_popcountll(table->words[(size_t)i * table->stride]);
	qsort(ratio, PAIRS, sizeof *ratio, by_value);
	qsort(ours, PAIRS, sizeof *ours, by_value);
	qsort(bare, PAIRS, sizeof *bare, by_value);
	printf("%.3f %.3f %.3f %.2f %.2f %u %.1f\n", ratio[PAIRS / 2], ratio[0], ratio[PAIRS - 1],
	       ours[PAIRS / 2] / count, bare[PAIRS / 2] / count, count, values / table->nrows);
}

static int set_up(int count)
{
	char why[256] = "";

	files_budget(self.descriptors);
	if (files_open(&files, ""))
		return 1;
	for (int i = 0; i < PROCESS_TABLES; i++) {
		struct sonde_schema *schema;

		if (schema_make(&process_tables[i], &schema, why, sizeof why) ||
		    frame_add_table(&frame, schema, MOST, MOST)) {
			fprintf(stderr, "%s\n", why);
			return 1;
		}
	}
	start_sleepers(count);
	if (start(&self))
		return 1;
	/* The strings' arena grows twice at most. */
	for (int i = 0; i < 3; i++)
		sample_ours();
	return 0;
}

/* KiB; 0 where the file does not tell. */
static unsigned long kib_of(const char *path, const char *key)
{
	FILE *file = fopen(path, "r");
	char line[256];
	unsigned long value = 0;

	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoul(line + strlen(key), NULL, 10);
	if (file)
		fclose(file);
	return value;
}

static void tell_bpf(int rounds)
{
	double us = state.bpf.on ? cost(sample_ours, rounds) / state.tasks.count : -1;

	printf("%.3f %u %lu %lu\n", us, state.tasks.count, kib_of("/proc/self/status", "VmRSS:"),
	       kib_of("/proc/meminfo", "Slab:"));
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	int status;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: process COUNT [ours|bare ROUNDS]\n");
		return 2;
	}
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	self.descriptors =
		limit.rlim_cur > 2 * RESERVED ? (uint32_t)(limit.rlim_cur - RESERVED) / 2 : 1;
	uname(&kernel);
	if (argc == 4 && strcmp(argv[2], "bpf") == 0)
		conf.source = SOURCE_BPF;
	status = set_up(atoi(argv[1]));
	if (!status && conf.source == SOURCE_PROC)
		open_bare();
	if (!status && conf.source == SOURCE_BPF)
		tell_bpf(atoi(argv[3]));
	else if (!status && argc == 2)
		compare();
	else if (!status)
		cost(strcmp(argv[2], "bare") == 0 ? sample_bare : sample_ours, atoi(argv[3]));
	end_sleepers();
	return status;
}
