/* /sys/fs/cgroup of version 2: a service with a quota of four CPUs and a limit of 8 GiB, and the cgroups above it
 * (Documentation/admin-guide/cgroup-v2.rst). */
#include "demo/texts.h"

#define TOP   "/sys/fs/cgroup"
#define SLICE TOP "/system.slice"
#define API   SLICE "/api.service"

typedef unsigned long long ull;

static void write_top(FILE *out, const struct model *model, uint32_t which)
{
	(void)model, (void)which;
	fprintf(out, "system.slice%c", '\0');
}

static void write_slice(FILE *out, const struct model *model, uint32_t which)
{
	(void)model, (void)which;
	fprintf(out, "api.service%c", '\0');
}

/* Of the machine but for the service itself, for which `which` is CGROUP_CPUS; only a quota has periods. */
static void write_cpu_stat(FILE *out, const struct model *model, uint32_t which)
{
	double cpus = 0;

	for (uint32_t cpu = 0; cpu < DEMO_CPUS; cpu++)
		cpus += model_share(model, cpu, CPU_USER) + model_share(model, cpu, CPU_SYSTEM);
	if (which == CGROUP_CPUS)
		cpus = model->value[CGROUP_CPUS];
	fprintf(out, "usage_usec %llu\n", (ull)count_of(model, 1e6 * cpus));
	if (which == CGROUP_CPUS)
		fprintf(out, "nr_periods %llu\nnr_throttled %llu\nthrottled_usec %llu\n",
			(ull)count_of(model, 10), (ull)counted(model, CGROUP_THROTTLED),
			(ull)count_of(model, 1e6 * model->value[CGROUP_WAITING]));
}

#define STALLED "avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
#define GROUP(path, which, quota, current, most)                                                   \
	{ "cgroup", path "/cgroup.controllers", .text = "cpu memory\n", .kind = FILE_ANEW },       \
		{ "cgroup", path "/cpu.stat", .write = write_cpu_stat, .first = which },           \
		{ "cgroup", path "/cpu.max", .text = quota " 100000\n", .kind = FILE_ANEW },       \
		{ "cgroup", path "/memory.current", .text = current "\n" },                        \
		{ "cgroup", path "/memory.max", .text = most "\n", .kind = FILE_ANEW },            \
		{ "cgroup", path "/memory.events",                                                 \
		  .text = "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n" },                           \
	{                                                                                          \
		"cgroup", path "/memory.pressure", .text = "some " STALLED "full " STALLED         \
	}

static const struct demo_file files[] = {
	{ "cgroup", "/proc/self/mountinfo",
	  .text = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
	  .kind = FILE_AT_START },
	{ "cgroup", TOP "/", .write = write_top, .kind = FOLDER },
	{ "cgroup", SLICE "/", .write = write_slice, .kind = FOLDER },
	{ "cgroup", TOP "/cgroup.stat", .text = "nr_descendants 2\nnr_dying_descendants 0\n" },
	{ "cgroup", TOP "/cgroup.controllers", .text = "cpu memory\n", .kind = FILE_ANEW },
	{ "cgroup", TOP "/cpu.stat", .write = write_cpu_stat },
	GROUP(SLICE, 0, "max", "38654705664", "max"),
	GROUP(API, CGROUP_CPUS, "400000", "6442450944", "8589934592"),
};

const struct demo_files cgroup_files = { files, sizeof files / sizeof *files };
