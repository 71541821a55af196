/* /proc/{stat,loadavg,schedstat,pressure,vmstat,meminfo,diskstats} (proc(5), Documentation/accounting/psi.rst,
 * Documentation/scheduler/sched-stats.rst, Documentation/admin-guide/iostats.rst). */
#include "demo/texts.h"

#define MANY(array) (sizeof(array) / sizeof *(array))

typedef unsigned long long ull;

/* ---- CPUs */

enum { TIMES = CPU_STEAL - CPU_USER + 1 };

double model_share(const struct model *model, uint32_t cpu, enum quantity time)
{
	if (cpu >= model->value[BUSY_CPUS])
		return model->value[time];
	if (time == CPU_USER)
		return model->value[BUSY_USER];
	return time == CPU_SOFTIRQ ? model->value[BUSY_SOFTIRQ] : 0;
}

/* user nice system idle iowait irq softirq steal guest guest_nice */
static void write_times(FILE *out, const uint64_t *time, uint64_t idle)
{
	for (uint32_t i = 0; i < TIMES; i++) {
		if (CPU_USER + i == CPU_IOWAIT)
			fprintf(out, " %llu", (ull)idle);
		fprintf(out, " %llu", (ull)time[i]);
	}
	fputs(" 0 0\n", out);
}

static void write_stat(FILE *out, const struct model *model, uint32_t which)
{
	uint64_t time[DEMO_CPUS][TIMES], idle[DEMO_CPUS], all[TIMES] = { 0 }, all_idle = 0;

	(void)which;
	for (uint32_t cpu = 0; cpu < DEMO_CPUS; cpu++) {
		idle[cpu] = count_of(model, DEMO_TICKS);
		for (uint32_t i = 0; i < TIMES; i++) {
			time[cpu][i] =
				count_of(model, DEMO_TICKS * model_share(model, cpu, CPU_USER + i));
			idle[cpu] -= time[cpu][i];
			all[i] += time[cpu][i];
		}
		all_idle += idle[cpu];
	}
	fputs("cpu ", out);
	write_times(out, all, all_idle);
	for (uint32_t cpu = 0; cpu < DEMO_CPUS; cpu++) {
		fprintf(out, "cpu%u", cpu);
		write_times(out, time[cpu], idle[cpu]);
	}
	fprintf(out,
		"intr %llu\nctxt %llu\nprocesses %llu\nprocs_running %.0f\nprocs_blocked %.0f\n",
		(ull)counted(model, INTERRUPTS), (ull)counted(model, SWITCHES),
		(ull)counted(model, FORKS), model->value[RUNNABLE], model->value[BLOCKED]);
}

static void write_loadavg(FILE *out, const struct model *model, uint32_t which)
{
	uint64_t load = (uint64_t)(100 * (model->value[RUNNABLE] + model->value[BLOCKED]) + 0.5);

	(void)which;
	for (int i = 0; i < 3; i++)
		fprintf(out, "%llu.%02llu ", (ull)load / 100, (ull)load % 100);
	fprintf(out, "%.0f/412 4242\n", model->value[RUNNABLE]);
}

/* Version 15, without domains; of a CPU only what is counted whatever kernel.sched_schedstats is. */
static void write_schedstat(FILE *out, const struct model *model, uint32_t which)
{
	uint32_t busy = (uint32_t)model->value[BUSY_CPUS];

	(void)which;
	fprintf(out, "version 15\ntimestamp %llu\n", (ull)count_of(model, 1000));
	for (uint32_t cpu = 0; cpu < DEMO_CPUS; cpu++) {
		double ran = model_share(model, cpu, CPU_USER) + model_share(model, cpu, CPU_NICE) +
			     model_share(model, cpu, CPU_SYSTEM);
		double waited = busy ? (cpu < busy ? 1.0 / busy : 0) : 1.0 / DEMO_CPUS;

		fprintf(out, "cpu%u 0 0 0 0 0 0 %llu %llu %llu\n", cpu,
			(ull)count_of(model, 1e9 * ran),
			(ull)count_of(model, 1e9 * waited * model->value[WAITING]),
			(ull)count_of(model, model->value[SLICES] / DEMO_CPUS));
	}
}

/* ---- Pressure */

static const struct {
	enum quantity some, full;
} pressures[] = {
	{ STALL_CPU, QUANTITIES }, /* never all: one task has the CPU */
	{ STALL_MEMORY, STALL_MEMORY_FULL },
	{ STALL_IO, STALL_IO_FULL },
};

static void write_stall(FILE *out, const struct model *model, const char *what, double share)
{
	uint64_t percent = (uint64_t)(10000 * share + 0.5);

	fprintf(out, "%s avg10=%llu.%02llu avg60=%llu.%02llu avg300=%llu.%02llu total=%llu\n", what,
		(ull)percent / 100, (ull)percent % 100, (ull)percent / 100, (ull)percent % 100,
		(ull)percent / 100, (ull)percent % 100, (ull)count_of(model, 1e6 * share));
}

static void write_pressure(FILE *out, const struct model *model, uint32_t which)
{
	enum quantity full = pressures[which].full;

	write_stall(out, model, "some", model->value[pressures[which].some]);
	write_stall(out, model, "full", full == QUANTITIES ? 0 : model->value[full]);
}

/* ---- Memory */

struct line {
	const char *key;
	enum quantity quantity;
	double scale; /* 0: a count since boot, as it is */
};

static void write_lines(FILE *out, const struct model *model, const struct line *lines,
			size_t count, const char *form)
{
	for (size_t i = 0; i < count; i++) {
		const struct line *line = &lines[i];
		uint64_t value =
			line->scale ? (uint64_t)(model->value[line->quantity] * line->scale + 0.5)
				    : counted(model, line->quantity);

		fprintf(out, "%s%s%llu%s", line->key, form, (ull)value,
			*form == ':' ? " kB\n" : "\n");
	}
}

enum { PAGES_A_MIB = (1 << 20) / DEMO_PAGE, KIB_A_MIB = 1024 };

static const struct line vmstat_lines[] = {
	{ "nr_free_pages", FREE, PAGES_A_MIB },
	{ "nr_anon_pages", ANON, PAGES_A_MIB },
	{ "nr_file_pages", CACHE, PAGES_A_MIB },
	{ "nr_dirty", DIRTY, PAGES_A_MIB },
	{ "workingset_refault_anon", REFAULTS_ANON, 0 },
	{ "workingset_refault_file", REFAULTS_FILE, 0 },
	{ "pswpin", SWAP_IN, 0 },
	{ "pswpout", SWAP_OUT, 0 },
	{ "allocstall_normal", ALLOCATION_STALLS, 0 },
	{ "pgfault", FAULTS, 0 },
	{ "pgmajfault", MAJOR_FAULTS, 0 },
	{ "pgsteal_kswapd", KSWAPD_STEAL, 0 },
	{ "pgsteal_direct", DIRECT_STEAL, 0 },
	{ "pgscan_kswapd", KSWAPD_SCAN, 0 },
	{ "pgscan_direct", DIRECT_SCAN, 0 },
	{ "oom_kill", OOM_KILLS, 0 },
	{ "compact_stall", COMPACTION_STALLS, 0 },
	{ "compact_fail", COMPACTION_FAILURES, 0 },
	{ "thp_fault_alloc", THP_ALLOC, 0 },
	{ "thp_fault_fallback", THP_FALLBACK, 0 },
	{ "numa_hint_faults", HINT_FAULTS, 0 },
	{ "numa_hint_faults_local", HINT_FAULTS_LOCAL, 0 },
	{ "numa_pages_migrated", PAGES_MIGRATED, 0 },
};

/* pgpgin and pgpgout are in KiB (mm/vmstat.c). */
static void write_vmstat(FILE *out, const struct model *model, uint32_t which)
{
	(void)which;
	write_lines(out, model, vmstat_lines, MANY(vmstat_lines), " ");
	fprintf(out, "pgpgin %llu\npgpgout %llu\n",
		(ull)count_of(model, model->value[READ_BYTES] / 1024),
		(ull)count_of(model, model->value[WRITE_BYTES] / 1024));
}

static const struct line meminfo_lines[] = {
	{ "MemFree", FREE, KIB_A_MIB },
	{ "MemAvailable", AVAILABLE, KIB_A_MIB },
	{ "Cached", CACHE, KIB_A_MIB },
	{ "AnonPages", ANON, KIB_A_MIB },
	{ "SwapFree", SWAP_FREE, KIB_A_MIB },
	{ "Dirty", DIRTY, KIB_A_MIB },
	{ "AnonHugePages", ANON_HUGE, KIB_A_MIB },
};

static void write_meminfo(FILE *out, const struct model *model, uint32_t which)
{
	(void)which;
	fprintf(out, "MemTotal: %d kB\nSwapTotal: %d kB\nBuffers: 0 kB\nWriteback: 0 kB\n",
		MEMORY_MIB * KIB_A_MIB, SWAP_MIB * KIB_A_MIB);
	write_lines(out, model, meminfo_lines, MANY(meminfo_lines), ": ");
	fprintf(out,
		"HugePages_Total: %.0f\nHugePages_Free: %.0f\nHugePages_Rsvd: 0\nHugePages_Surp: 0\n"
		"Hugepagesize: 2048 kB\n",
		model->value[HUGETLB], model->value[HUGETLB_FREE]);
}

/* ---- Disks */

/* Requests wait alike, so their times and the queue follow from how many there are and how long each takes. */
static void write_diskstats(FILE *out, const struct model *model, uint32_t which)
{
	const double *value = model->value;
	double read_time = 1000 * value[READS] * value[REQUEST_TIME];
	double write_time = 1000 * value[WRITES] * value[REQUEST_TIME];

	(void)which;
	fprintf(out, " 259 0 nvme0n1 %llu 0 %llu %llu %llu 0 %llu %llu %.0f %llu %llu\n",
		(ull)counted(model, READS), (ull)count_of(model, value[READ_BYTES] / 512),
		(ull)count_of(model, read_time), (ull)counted(model, WRITES),
		(ull)count_of(model, value[WRITE_BYTES] / 512), (ull)count_of(model, write_time),
		(read_time + write_time) / 1000, (ull)count_of(model, 1000 * value[DISK_BUSY]),
		(ull)count_of(model, read_time + write_time));
}

static const struct demo_file files[] = {
	{ "cpu", "/proc/stat", .write = write_stat },
	{ "loadavg", "/proc/loadavg", .write = write_loadavg },
	{ "psi", "/proc/pressure/cpu", .write = write_pressure, .first = 0 },
	{ "psi", "/proc/pressure/memory", .write = write_pressure, .first = 1 },
	{ "psi", "/proc/pressure/io", .write = write_pressure, .first = 2 },
	{ "schedstat", "/proc/schedstat", .write = write_schedstat },
	{ "schedstat", "/proc/sys/kernel/sched_schedstats", .text = "0\n" },
	{ "vmstat", "/proc/vmstat", .write = write_vmstat },
	{ "meminfo", "/proc/meminfo", .write = write_meminfo },
	{ "disk", "/proc/diskstats", .write = write_diskstats },
	{ "disk", "/sys/kernel/uevent_seqnum", .text = "2048\n" },
	{ "disk", "/sys/class/block/nvme0n1/diskseq", "9\n", .kind = FILE_AT_START },
};

const struct demo_files system_files = { files, MANY(files) };
