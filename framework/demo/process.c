/* /proc/PID/{stat,status,schedstat,io,cgroup} (proc_pid_stat(5) and its neighbours, Documentation/filesystems/proc.rst). */
#include "demo/texts.h"

typedef unsigned long long ull;

const struct process *model_process(const struct model *model, uint32_t index, uint32_t *pid)
{
	for (uint32_t i = 0; model->processes[i]; i++)
		for (const struct process *one = model->processes[i]; one->name; one++) {
			uint32_t count = one->count ? one->count : 1;

			if (index < count) {
				*pid = one->pid + index;
				return one;
			}
			index -= count;
		}
	return NULL;
}

static uint32_t cpu_of(const struct process *one, uint32_t pid)
{
	return (one->cpu + (pid - one->pid) * NODE_CPUS) % DEMO_CPUS;
}

/* Names that end in NUL. */
static void write_folder(FILE *out, const struct model *model, uint32_t which)
{
	uint32_t pid;

	(void)which;
	for (uint32_t i = 0; model_process(model, i, &pid); i++)
		fprintf(out, "%u%c", pid, '\0');
}

static void write_stat(FILE *out, const struct model *model, uint32_t which)
{
	uint32_t pid;
	const struct process *one = model_process(model, which, &pid);
	ull pages = (ull)one->rss_mib * ((1 << 20) / DEMO_PAGE);

	fprintf(out,
		"%u (%s) S 1 %u %u 0 -1 4194304 %llu 0 %llu 0 %llu %llu 0 0 20 0 %u 0 %u %llu %llu ",
		pid, one->name, pid, pid, (ull)count_of(model, one->minor_faults),
		(ull)count_of(model, one->major_faults),
		(ull)count_of(model, DEMO_TICKS * one->user),
		(ull)count_of(model, DEMO_TICKS * one->system), one->threads, 100 + pid,
		2 * pages * DEMO_PAGE, pages);
	fprintf(out, "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 %u 0 0 %llu 0 0\n",
		cpu_of(one, pid), (ull)count_of(model, DEMO_TICKS * one->block_io / one->threads));
}

static void write_status(FILE *out, const struct model *model, uint32_t which)
{
	uint32_t pid;
	const struct process *one = model_process(model, which, &pid);

	fprintf(out,
		"Name:\t%s\nPid:\t%u\nUid:\t1000\t1000\t1000\t1000\nVmRSS:\t%u kB\nRssAnon:\t%u kB\n"
		"Threads:\t%u\nvoluntary_ctxt_switches:\t%llu\nnonvoluntary_ctxt_switches:\t%llu\n",
		one->name, pid, one->rss_mib * 1024, one->rss_mib * 1024, one->threads,
		(ull)count_of(model, one->voluntary / one->threads),
		(ull)count_of(model, one->involuntary / one->threads));
}

static void write_schedstat(FILE *out, const struct model *model, uint32_t which)
{
	uint32_t pid;
	const struct process *one = model_process(model, which, &pid);

	fprintf(out, "%llu %llu %llu\n",
		(ull)count_of(model, 1e9 * (one->user + one->system) / one->threads),
		(ull)count_of(model, 1e9 * one->wait / one->threads),
		(ull)count_of(model, one->slices / one->threads));
}

static void write_io(FILE *out, const struct model *model, uint32_t which)
{
	uint32_t pid;
	const struct process *one = model_process(model, which, &pid);
	ull read = count_of(model, one->read_bytes), written = count_of(model, one->write_bytes);

	fprintf(out,
		"rchar: %llu\nwchar: %llu\nsyscr: %llu\nsyscw: %llu\nread_bytes: %llu\n"
		"write_bytes: %llu\ncancelled_write_bytes: 0\n",
		read, written, read / DEMO_PAGE, written / DEMO_PAGE, read, written);
}

static void write_cgroup(FILE *out, const struct model *model, uint32_t which)
{
	uint32_t pid;

	fprintf(out, "0::%s\n", model_process(model, which, &pid)->cgroup);
}

/* A segment of shared memory, which has three quarters of what is on the other node, and anonymous memory. */
static void write_numa_maps(FILE *out, const struct model *model, uint32_t which)
{
	uint32_t pid;
	const struct process *one = model_process(model, which, &pid);
	double pages = one->rss_mib * ((double)(1 << 20) / DEMO_PAGE);
	double far = pages * one->remote, shared = far * 3 / 4, anon = pages - shared;
	uint32_t node = cpu_of(one, pid) / NODE_CPUS;

	fprintf(out,
		"7f0000000000 default file=/dev/shm/%s anon=%.0f dirty=%.0f N%u=%.0f kernelpagesize_kB=4\n"
		"7f8000000000 default anon=%.0f dirty=%.0f active=0 N%u=%.0f N%u=%.0f kernelpagesize_kB=4\n",
		one->name, shared, shared, 1 - node, shared, anon, anon, node, pages - far,
		1 - node, far - shared);
}

static const struct demo_file files[] = {
	{ "process numa_maps taskstats", "/proc", .write = write_folder, .kind = FOLDER },
	{ "process numa_maps taskstats", "/proc/#/stat", .write = write_stat,
	  .kind = FILE_OF_PROCESS },
	{ "numa_maps", "/proc/#/numa_maps", .write = write_numa_maps,
	  .kind = FILE_OF_PROCESS_IN_PARTS },
	{ "process", "/proc/#/status", .write = write_status, .kind = FILE_OF_PROCESS },
	{ "process", "/proc/#/schedstat", .write = write_schedstat, .kind = FILE_OF_PROCESS },
	{ "process", "/proc/#/io", .write = write_io, .kind = FILE_OF_PROCESS },
	{ "process", "/proc/#/cgroup", .write = write_cgroup, .kind = FILE_OF_PROCESS },
};

const struct demo_files process_files = { files, sizeof files / sizeof *files };
