/* Hardware counters as perf_event reads them: the PMU in sysfs, the groups that are counted on it, and reads of each group on each
 * CPU (perf_event_open(2): PERF_FORMAT_GROUP with both times). */
#include <string.h>

#include "demo/texts.h"

#define PMUS "/sys/bus/event_source/devices"

/* As in a group file; the kernel has names for all but slots. */
static const char groups[] =
	"match = Synthetic-1-1\n"
	"pmu = cpu\n"
	"[core] Instructions a cycle.\n"
	"cycles = cycles [cycles] While the CPU was not halted.\n"
	"instructions = instructions [instructions] Retired.\n"
	"[llc] The last-level cache.\n"
	"instructions = instructions [instructions] Retired.\n"
	"llc_references = cache-references [references] Of the last level.\n"
	"llc_misses = cache-misses [misses] Went on to memory.\n"
	"[tlb] Address translation of loads.\n"
	"dtlb_loads = dTLB-loads [loads] Retired.\n"
	"dtlb_load_misses = dTLB-load-misses [misses] Page walks.\n"
	"[branch] Branches that were guessed wrong.\n"
	"branches = branch-instructions [branches] Retired.\n"
	"branch_misses = branch-misses [misses] Guessed wrong.\n"
	"[topdown] Where the slots of the pipeline went.\n"
	"slots = cpu/config=0x1/ [slots] All that there were.\n"
	"slots_retiring = cpu/config=0x2/ [slots] Did work that counted.\n"
	"slots_bad_speculation = cpu/config=0x3/ [slots] Did work that was thrown away.\n"
	"slots_frontend_bound = cpu/config=0x4/ [slots] Empty for want of instructions.\n"
	"slots_backend_bound = cpu/config=0x5/ [slots] Empty for want of data or units.\n"
	"[memory] What went to and from memory.\n"
	"bytes_read ?= uncore_imc/cas_count_read/ [bytes] CAS commands.\n"
	"bytes_written ?= uncore_imc/cas_count_write/ [bytes] Likewise.\n";

/* Each event, for each second of a CPU that is not idle. */
enum event {
	CYCLES,
	INSTRUCTIONS,
	REFERENCES,
	MISSES,
	LOAD,
	LOAD_MISSES,
	BRANCH,
	WRONG,
	SLOTS,
	RETIRED,
	WASTED,
	FRONTEND,
	BACKEND,
	EVENTS
};

static void rates_of(const struct model *model, double *rate)
{
	const double *value = model->value;

	rate[CYCLES] = value[CLOCK];
	rate[INSTRUCTIONS] = rate[CYCLES] * value[IPC];
	rate[REFERENCES] = rate[INSTRUCTIONS] * value[LLC_REFERENCES];
	rate[MISSES] = rate[INSTRUCTIONS] * value[LLC_MISSES];
	rate[LOAD] = rate[INSTRUCTIONS] * value[LOADS];
	rate[LOAD_MISSES] = rate[LOAD] * value[TLB_MISSES];
	rate[BRANCH] = rate[INSTRUCTIONS] * value[BRANCHES];
	rate[WRONG] = rate[BRANCH] * value[BRANCH_MISSES];
	rate[SLOTS] = rate[CYCLES] * 6;
	rate[WASTED] = rate[SLOTS] * value[SLOTS_WASTED];
	rate[FRONTEND] = rate[SLOTS] * value[SLOTS_FRONTEND];
	rate[BACKEND] = rate[SLOTS] * value[SLOTS_BACKEND];
	rate[RETIRED] = rate[SLOTS] - rate[WASTED] - rate[FRONTEND] - rate[BACKEND];
}

static void write_group(FILE *out, const struct model *model, uint32_t cpu,
			const enum event *events, uint64_t count)
{
	uint64_t words[3 + EVENTS] = { count, count_of(model, 1e9), count_of(model, 1e9) };
	double rate[EVENTS], busy = 0;

	rates_of(model, rate);
	for (uint32_t time = CPU_USER; time <= CPU_SOFTIRQ; time++)
		busy += time == CPU_IOWAIT ? 0 : model_share(model, cpu, time);
	for (uint64_t i = 0; i < count; i++)
		words[3 + i] = count_of(model, busy * rate[events[i]]);
	fwrite(words, sizeof *words, 3 + count, out);
}

static void write_core(FILE *out, const struct model *model, uint32_t cpu)
{
	write_group(out, model, cpu, (const enum event[]) { CYCLES, INSTRUCTIONS }, 2);
}

static void write_llc(FILE *out, const struct model *model, uint32_t cpu)
{
	write_group(out, model, cpu, (const enum event[]) { INSTRUCTIONS, REFERENCES, MISSES }, 3);
}

static void write_tlb(FILE *out, const struct model *model, uint32_t cpu)
{
	write_group(out, model, cpu, (const enum event[]) { LOAD, LOAD_MISSES }, 2);
}

static void write_branch(FILE *out, const struct model *model, uint32_t cpu)
{
	write_group(out, model, cpu, (const enum event[]) { BRANCH, WRONG }, 2);
}

static void write_topdown(FILE *out, const struct model *model, uint32_t cpu)
{
	static const enum event events[] = { SLOTS, RETIRED, WASTED, FRONTEND, BACKEND };

	write_group(out, model, cpu, events, 5);
}

/* Of the socket of this CPU, in CAS commands of 64 bytes. */
static void write_memory(FILE *out, const struct model *model, uint32_t cpu)
{
	const double *value = model->value;
	double share = cpu < NODE_CPUS ? 1 - value[MEMORY_SOCKET1] : value[MEMORY_SOCKET1];
	const uint64_t words[] = { 2, count_of(model, 1e9), count_of(model, 1e9),
				   count_of(model, value[MEMORY_READ] * share / 64),
				   count_of(model, value[MEMORY_WRITTEN] * share / 64) };

	fwrite(words, sizeof words, 1, out);
}

static void write_ticks(FILE *out, const struct model *model, uint32_t which)
{
	uint64_t ticks = count_of(model, DEMO_TICKS);

	(void)which;
	fwrite(&ticks, sizeof ticks, 1, out);
}

static void write_clock(FILE *out, const struct model *model, uint32_t which)
{
	uint64_t ns = count_of(model, 1e9);

	(void)which;
	fwrite(&ns, sizeof ns, 1, out);
}

/* Descriptors that may be open. */
static void write_limit(FILE *out, const struct model *model, uint32_t which)
{
	const uint64_t limit = 1 << 20;

	(void)model, (void)which;
	fwrite(&limit, sizeof limit, 1, out);
}

static void write_folder(FILE *out, const struct model *model, uint32_t which)
{
	(void)model, (void)which;
	fprintf(out, "cpu%cuncore_imc%c", '\0', '\0');
}

#define OPENED(column)                                                                             \
	{                                                                                          \
		"perf_event", "open cpu " column " -1 #", .text = "", .count = DEMO_CPUS,          \
							  .kind = OBTAINED_AT_START                \
	}
#define COUNTED(group, what)                                                                       \
	{                                                                                          \
		"perf_event", "read " group " cpu 0 #", .write = what, .count = DEMO_CPUS,         \
							.kind = OBTAINED                           \
	}

#define IMC(file, what)                                                                            \
	{                                                                                          \
		"perf_event", PMUS "/uncore_imc/" file, .text = what "\n", .kind = FILE_AT_START   \
	}
/* A controller counts for a socket, on its first CPU. */
#define OF_SOCKET(cpu)                                                                             \
	{ "perf_event", "open uncore_imc bytes_read -1 #", .text = "", .first = cpu,               \
	  .count = 1,   .kind = OBTAINED_AT_START },                                               \
		{ "perf_event", "open uncore_imc bytes_written -1 #",                              \
		  .text = "",   .first = cpu,                                                      \
		  .count = 1,   .kind = OBTAINED_AT_START },                                       \
	{                                                                                          \
		"perf_event", "read memory uncore_imc 0 #", .write = write_memory, .first = cpu,   \
							    .count = 1, .kind = OBTAINED           \
	}

static const struct demo_file files[] = {
	{ "perf_event", PMUS, .write = write_folder, .kind = FOLDER },
	{ "perf_event", PMUS "/cpu/type", .text = "4\n", .kind = FILE_AT_START },
	{ "perf_event", "/sys/devices/system/cpu/present", .text = "0-31\n",
	  .kind = FILE_AT_START },
	{ "perf_event", "groups Synthetic-1-1 cpu", .text = groups, .kind = OBTAINED_AT_START },
	{ "perf_event", "limit", .write = write_limit, .kind = OBTAINED_AT_START },
	{ "perf_event", "ticks", .write = write_ticks, .kind = OBTAINED_AT_START },
	OPENED("cycles"),
	OPENED("instructions"),
	OPENED("llc_references"),
	OPENED("llc_misses"),
	OPENED("dtlb_loads"),
	OPENED("dtlb_load_misses"),
	OPENED("branches"),
	OPENED("branch_misses"),
	OPENED("slots"),
	OPENED("slots_retiring"),
	OPENED("slots_bad_speculation"),
	OPENED("slots_frontend_bound"),
	OPENED("slots_backend_bound"),
	COUNTED("core", write_core),
	COUNTED("llc", write_llc),
	COUNTED("tlb", write_tlb),
	COUNTED("branch", write_branch),
	COUNTED("topdown", write_topdown),
	IMC("type", "13"),
	IMC("cpumask", "0,16"),
	IMC("format/event", "config:0-7"),
	IMC("format/umask", "config:8-15"),
	IMC("events/cas_count_read", "event=0x04,umask=0x03"),
	IMC("events/cas_count_read.scale", "6.103515625e-5"),
	IMC("events/cas_count_read.unit", "MiB"),
	IMC("events/cas_count_write", "event=0x04,umask=0x0c"),
	IMC("events/cas_count_write.scale", "6.103515625e-5"),
	IMC("events/cas_count_write.unit", "MiB"),
	OF_SOCKET(0),
	OF_SOCKET(NODE_CPUS),
	/* Which its collector asks each time how much of its budget is left. */
	{ "numa_maps", "clock", .write = write_clock, .count = 16, .kind = OBTAINED },
};

const struct demo_files counter_files = { files, sizeof files / sizeof *files };
