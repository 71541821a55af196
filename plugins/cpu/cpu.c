/* cpu: where the time of each CPU went, and the system's counts beside it (/proc/stat,
 * Documentation/filesystems/proc.rst, fs/proc/stat.c). */
#include <sonde/plugin.h>

enum { TIMES = 10, SOFTIRQS = 10 };
enum { CPU, CPU_USER };
enum {
	STAT_USER,
	CTXT = TIMES,
	BTIME,
	PROCESSES,
	PROCS_RUNNING,
	PROCS_BLOCKED,
	INTR,
	SOFTIRQ, /* then its kinds */
};

#define TIME(name, word, text)                                                                     \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, SONDE_TICKS, .origin = "cpu word " word,           \
							     .help = text                          \
	}
#define COUNTER(name, unit, from, text)                                                            \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, unit, .origin = from, .help = text, .wrap = 32     \
	}
#define SOFT(name, word, text)                                                                     \
	COUNTER("softirqs_" name, SONDE_COUNT("softirqs"), "softirq word " word, text)

/* clang-format off */
#define TIME_COLUMNS                                                                                               \
	TIME("user", "1", "In user space at normal priority; guest is in it"),                                     \
	TIME("nice", "2", "In user space with a nice value above 0; guest_nice is in it"),                         \
	TIME("system", "3", "In the kernel"),                                                                      \
	TIME("idle", "4", "Idle; may step back a little, and restarts when a CPU comes back online"),              \
	TIME("iowait", "5", "Idle while a task that last ran here waited for I/O; unreliable, goes back at times"), \
	TIME("irq", "6", "In interrupt handlers; 0 or rough without CONFIG_IRQ_TIME_ACCOUNTING"),                  \
	TIME("softirq", "7", "In soft interrupts"),                                                                \
	TIME("steal", "8", "The hypervisor ran something else although this CPU had work"),                        \
	TIME("guest", "9", "Running a guest's CPU; already in user: the total is the first eight alone"),          \
	TIME("guest_nice", "10", "Running a niced guest's CPU; already in nice")

static const struct sonde_column cpu_columns[] = {
	[CPU] = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "cpuN", .help = "CPU; only those online have a row" },
	[CPU_USER] = TIME_COLUMNS,
};

/* The softirq counts of a CPU are unsigned int and wrap each by itself; so do sums of them, by 2^32 at a time. */
static const struct sonde_column stat_columns[] = {
	[STAT_USER] = TIME_COLUMNS,
	[CTXT] = { "ctxt", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("switches"), .origin = "ctxt", .help = "Context switches of all CPUs" },
	[BTIME] = { "btime", SONDE_U64, SONDE_INFO, SONDE_SECONDS, .origin = "btime", .help = "Time of boot since 1970; moves when the wall clock is set" },
	[PROCESSES] = COUNTER("processes", SONDE_COUNT("forks"), "processes", "Tasks created, threads included; some kernels print it as 32 bits, even negative"),
	[PROCS_RUNNING] = { "procs_running", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("tasks"), .origin = "procs_running", .help = "Tasks that run or wait for a CPU at this instant; the reader is one" },
	[PROCS_BLOCKED] = { "procs_blocked", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("tasks"), .origin = "procs_blocked", .help = "Tasks that wait for I/O at this instant" },
	[INTR] = COUNTER("intr", SONDE_COUNT("interrupts"), "intr word 1", "Interrupts of all kinds, those without a number included"),
	[SOFTIRQ] = COUNTER("softirqs", SONDE_COUNT("softirqs"), "softirq word 1", "Soft interrupts of all kinds"),
	SOFT("hi", "2", "High-priority tasklets"),
	SOFT("timer", "3", "Timers"),
	SOFT("net_tx", "4", "Network, sending"),
	SOFT("net_rx", "5", "Network, receiving"),
	SOFT("block", "6", "Block device completions"),
	SOFT("irq_poll", "7", "Polled block completions"),
	SOFT("tasklet", "8", "Tasklets"),
	SOFT("sched", "9", "Scheduler load balancing"),
	SOFT("hrtimer", "10", "High-resolution timers"),
	SOFT("rcu", "11", "RCU callbacks"),
};
/* clang-format on */

enum { TABLE_CPU, TABLE_STAT };

static const struct sonde_table tables[] = {
	[TABLE_CPU] = { "cpu", SONDE_COLUMNS(cpu_columns), .origin = "/proc/stat",
			.help = "Time of each CPU that is online, by what it did.", .rows = 4096 },
	[TABLE_STAT] = { "stat", SONDE_COLUMNS(stat_columns), .origin = "/proc/stat",
			 .help = "The whole system: CPU time, switches, forks, interrupts." },
};

struct state {
	struct sonde_file *file;
};

struct cpu {
	uint64_t cpu;
	uint64_t time[TIMES];
	uint32_t count; /* of times: 8 before 2.6.24, 9 before 2.6.33 */
};

/* A line "word number...", its numbers from `slot` on, at most `most`. */
struct stat_line {
	const char *word;
	size_t length;
	uint32_t slot, most;
};

#define LINE(word, slot, most)                                                                     \
	{                                                                                          \
		word, sizeof(word) - 1, slot, most                                                 \
	}

static const struct stat_line stat_lines[] = {
	LINE("cpu", STAT_USER, TIMES),
	LINE("intr", INTR, 1),
	LINE("ctxt", CTXT, 1),
	LINE("btime", BTIME, 1),
	LINE("processes", PROCESSES, 1),
	LINE("procs_running", PROCS_RUNNING, 1),
	LINE("procs_blocked", PROCS_BLOCKED, 1),
	LINE("softirq", SOFTIRQ, 1 + SOFTIRQS),
};

/* "processes -1948031333" is what kernels print that take the count for an int: the same 32 bits. */
static bool take_forks(struct cursor *line, struct sonde_row *row)
{
	int64_t value;

	if (!next_i64(line, &value) || value < INT32_MIN)
		return false;
	sonde_set_u64(row, PROCESSES, value < 0 ? (uint32_t)value : (uint64_t)value);
	return true;
}

static void stat_values(struct cursor *line, struct sonde_row *stat)
{
	const char *word;
	size_t length = next_word(line, &word);

	for (size_t i = 0; i < sizeof stat_lines / sizeof stat_lines[0]; i++) {
		const struct stat_line *known = &stat_lines[i];

		if (known->length != length || memcmp(known->word, word, length) != 0)
			continue;
		if (known->slot == PROCESSES && take_forks(line, stat))
			return;
		for (uint32_t n = 0; n < known->most; n++)
			if (!take_u64(line, stat, known->slot + n))
				return;
		return;
	}
}

/* The next line of a CPU, into `cpu`; the lines between go into the row `stat`. False at the end. CPUs are known by the
 * number in the line, never by how many there are: those offline have none. */
static bool cpu_next(struct cursor *line, struct cpu *cpu, struct sonde_row *stat)
{
	while (next_line(line)) {
		if (line->end - line->at < 4 || memcmp(line->at, "cpu", 3) != 0 ||
		    line->at[3] == ' ') {
			stat_values(line, stat);
			continue;
		}
		line->at += 3;
		if (!next_u64(line, &cpu->cpu))
			continue;
		for (cpu->count = 0; cpu->count < TIMES; cpu->count++)
			if (!next_u64(line, &cpu->time[cpu->count]))
				break;
		if (cpu->count)
			return true;
	}
	return false;
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;

	state->file = sonde_open(self, SONDE_KEEP, "/proc/stat");
	return state->file ? 0
			   : sonde_unavailable(self, "no /proc/stat: /proc is not mounted here");
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	struct sonde_row stat, row;
	struct cursor line;
	struct cpu cpu;
	const char *text;
	int64_t length = sonde_read(self, state->file, &text);

	if (length < 0)
		return (int)length;
	if (!sonde_row(self, frame, TABLE_STAT, &stat))
		return 0;
	line = cursor(text, whole_words(text, (size_t)length));
	while (cpu_next(&line, &cpu, &stat)) {
		if (!sonde_row(self, frame, TABLE_CPU, &row))
			continue;
		sonde_set_u64(&row, CPU, cpu.cpu);
		for (uint32_t i = 0; i < cpu.count; i++)
			sonde_set_u64(&row, CPU_USER + i, cpu.time[i]);
	}
	return 0;
}

SONDE_COLLECTOR(cpu, "time of each CPU, and the system's counts", sample,
		.tables = SONDE_TABLES(tables), .state_size = sizeof(struct state), .start = start);
