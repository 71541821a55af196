/* irq: interrupts by line and CPU, softirqs by CPU (/proc/interrupts, /proc/softirqs; Documentation/filesystems/proc.rst,
 * fs/proc/interrupts.c and fs/proc/softirqs.c). */
#include <sonde/plugin.h>

enum { IRQ, TOTAL, DESCRIPTION };
enum { CPU_IRQ, CPU_CPU, CPU_COUNT };
enum { SOFT_CPU, FIRST_KIND, KINDS = 10 };

/* All of them are unsigned int in the kernel, and so is their sum. */
#define COUNT(name, from, text)                                                                    \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, SONDE_COUNT("interrupts"),                         \
			.origin = from, .help = text, .wrap = 32                                   \
	}

/* clang-format off */
static const struct sonde_column irq_columns[] = {
	[IRQ] = { "irq", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "word before the colon",
		.help = "Number of a device's interrupt, which the kernel gives away again; a name (LOC, RES, IPI0) of the architecture's own" },
	[TOTAL] = COUNT("total", "sum of the line", "On all CPUs that are online; lines that never counted have no row"),
	[DESCRIPTION] = { "description", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "end of the line", .sensitivity = SONDE_NAME,
		.help = "Chip, its own number and trigger, and who asked for it; or what the name stands for" },
};

static const struct sonde_column cpu_columns[] = {
	[CPU_IRQ] = { "irq", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "word before the colon", .help = "As in table irq" },
	[CPU_CPU] = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "CPUn", .help = "CPU; those that are offline have no row" },
	[CPU_COUNT] = COUNT("count", "the CPU's column", "Handled by this CPU; where it never was, there is no row"),
};

#define SOFTIRQ(name, from, text)                                                                  \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, SONDE_COUNT("softirqs"), .origin = from,           \
			.help = text, .wrap = 32                                                   \
	}

static const struct sonde_column softirq_columns[] = {
	[SOFT_CPU] = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "CPUn", .help = "CPU; those that are offline have no row" },
	[FIRST_KIND] = SOFTIRQ("hi", "HI", "High-priority tasklets"),
	SOFTIRQ("timer", "TIMER", "Timers"),
	SOFTIRQ("net_tx", "NET_TX", "Sent packets to be freed, queues to be served again"),
	SOFTIRQ("net_rx", "NET_RX", "Received packets: runs, of many packets each"),
	SOFTIRQ("block", "BLOCK", "Block requests that were completed on another CPU"),
	SOFTIRQ("irq_poll", "IRQ_POLL", "Devices polled for completions"),
	SOFTIRQ("tasklet", "TASKLET", "Tasklets"),
	SOFTIRQ("sched", "SCHED", "Load balancing"),
	SOFTIRQ("hrtimer", "HRTIMER", "High-resolution timers that may run late"),
	SOFTIRQ("rcu", "RCU", "RCU callbacks"),
};
/* clang-format on */

enum { TABLE_IRQ, TABLE_CPU, TABLE_SOFTIRQ };

static const struct sonde_table tables[] = {
	[TABLE_IRQ] = { "irq", SONDE_COLUMNS(irq_columns), .origin = "/proc/interrupts",
			.help = "Interrupts: what they are, and how often they came.", .rows = 64 },
	[TABLE_CPU] = { "irq_cpu", SONDE_COLUMNS(cpu_columns), .origin = "/proc/interrupts",
			.help = "Interrupts by the CPU that handled them.", .rows = 4096 },
	[TABLE_SOFTIRQ] = { "softirq", SONDE_COLUMNS(softirq_columns), .origin = "/proc/softirqs",
			    .help = "Softirqs by the CPU that ran them.", .rows = 64 },
};

/* The heading of one of the files: the CPUs that its columns are of. Those that are offline leave /proc/interrupts and stay
 * in /proc/softirqs, where they are left out here. */
struct cpus {
	uint32_t *ids;
	uint32_t count; /* of the heading; ids has room for `room` of them */
	uint32_t room;
	uint32_t asked; /* from the next sample on */
};

struct state {
	struct sonde_file *interrupts, *softirqs;
	struct cpus online, possible;
	struct sonde_row *rows; /* of table softirq, for each column; slots NULL: it has none */
};

/* "CPU0 CPU2 ...": ids as far as there is room. */
static void parse_heading(struct cursor *line, struct cpus *cpus)
{
	uint64_t id;

	cpus->count = 0;
	while (take(line, "CPU") && next_u64(line, &id)) {
		if (cpus->count < cpus->room)
			cpus->ids[cpus->count] = (uint32_t)id;
		cpus->count++;
	}
}

#define ZERO_WIDTH 11

/* How many columns at *at are a 0 flush right in ten places, as most of them are where there are many: passed over without
 * looking at each byte. */
static uint32_t skip_zeros(const char **at, const char *end)
{
	static const char zero[ZERO_WIDTH + 1] = "          0";
	const char *p = *at;
	uint64_t blanks, last, a, b;

	memcpy(&blanks, zero, 8);
	memcpy(&last, zero + ZERO_WIDTH - 8, 8);
	for (; end - p > ZERO_WIDTH; p += ZERO_WIDTH) {
		memcpy(&a, p, 8);
		memcpy(&b, p + ZERO_WIDTH - 8, 8);
		if (a != blanks || b != last || p[ZERO_WIDTH] != ' ')
			break;
	}
	blanks = (uint64_t)(p - *at) / ZERO_WIDTH;
	*at = p;
	return (uint32_t)blanks;
}

/* "24:" or "NMI:" before the numbers. False: no line of this form. */
static bool take_name(struct cursor *line, const char **name, size_t *length)
{
	const char *colon;

	skip_blanks(line);
	colon = memchr(line->at, ':', (size_t)(line->end - line->at));
	if (!colon || colon == line->at)
		return false;
	*name = line->at;
	*length = (size_t)(colon - line->at);
	line->at = colon + 1;
	return true;
}

/* `name` is the slot of the line's row, so the bytes are there once. */
static void add_count(struct sonde_instance *self, struct sonde_frame *frame, uint64_t name,
		      uint32_t cpu, uint64_t count)
{
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_CPU, &row))
		return;
	sonde_set_u64(&row, CPU_IRQ, name);
	sonde_set_u64(&row, CPU_CPU, cpu);
	sonde_set_u64(&row, CPU_COUNT, count);
}

/* One line: a number for each CPU, or (ERR, MIS) a single one. Nothing where all of them are 0. */
static void sample_line(struct sonde_instance *self, struct sonde_frame *frame,
			const struct cpus *cpus, struct cursor *line)
{
	struct sonde_row row = { NULL, NULL, NULL };
	uint64_t total = 0, count, key = 0;
	uint32_t cpu = 0;
	const char *name, *end;
	size_t length;

	if (!take_name(line, &name, &length))
		return;
	for (; cpu < cpus->count; cpu++) {
		cpu += skip_zeros(&line->at, line->end);
		if (cpu >= cpus->count || !next_u64(line, &count))
			break;
		if (!count)
			continue;
		if (!row.slots) {
			if (!sonde_row(self, frame, TABLE_IRQ, &row))
				return;
			sonde_set_bytes(&row, IRQ, name, length);
			key = row.slots[IRQ];
		}
		total += count;
		skip_blanks(line);
		/* A number alone in its line is of no CPU. */
		if (cpu < cpus->room && (cpu || line->at < line->end || cpus->count == 1))
			add_count(self, frame, key, cpus->ids[cpu], count);
	}
	if (!row.slots)
		return;
	sonde_set_u64(&row, TOTAL, total & UINT32_MAX);
	skip_blanks(line);
	for (end = line->end; end > line->at && (end[-1] == ' ' || end[-1] == '\t'); end--)
		;
	if (end > line->at)
		sonde_set_bytes(&row, DESCRIPTION, line->at, (size_t)(end - line->at));
}

static void sample_interrupts(struct sonde_instance *self, struct sonde_frame *frame,
			      const char *text, size_t length)
{
	struct state *state = self->state;
	struct cursor line = cursor(text, whole_words(text, length));

	if (next_line(&line))
		parse_heading(&line, &state->online);
	while (next_line(&line))
		sample_line(self, frame, &state->online, &line);
}

/* A row for each CPU that is online: of those in /proc/interrupts, where that is there. Both are in ascending order. */
static void begin_rows(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	const struct cpus *online = &state->online, *possible = &state->possible;
	uint32_t next = 0;

	for (uint32_t i = 0; i < possible->count && i < possible->room; i++) {
		struct sonde_row *row = &state->rows[i];

		*row = (struct sonde_row) { NULL, NULL, NULL };
		while (next < online->count && next < online->room &&
		       online->ids[next] < possible->ids[i])
			next++;
		if (online->count && (next >= online->room || next >= online->count ||
				      online->ids[next] != possible->ids[i]))
			continue;
		if (!sonde_row(self, frame, TABLE_SOFTIRQ, row))
			*row = (struct sonde_row) { NULL, NULL, NULL };
		else
			sonde_set_u64(row, SOFT_CPU, possible->ids[i]);
	}
}

static void sample_softirqs(struct sonde_instance *self, struct sonde_frame *frame,
			    const char *text, size_t length)
{
	struct state *state = self->state;
	struct cursor line = cursor(text, whole_words(text, length));

	if (next_line(&line))
		parse_heading(&line, &state->possible);
	begin_rows(self, frame);
	while (next_line(&line)) {
		uint32_t kind = FIRST_KIND;
		const char *name;
		uint64_t count;
		size_t n;

		if (!take_name(&line, &name, &n))
			continue;
		while (kind < FIRST_KIND + KINDS &&
		       (strlen(softirq_columns[kind].origin) != n ||
			memcmp(softirq_columns[kind].origin, name, n) != 0))
			kind++;
		if (kind == FIRST_KIND + KINDS)
			continue;
		for (uint32_t i = 0; i < state->possible.count && i < state->possible.room &&
				     next_u64(&line, &count);
		     i++)
			if (state->rows[i].slots)
				sonde_set_u64(&state->rows[i], kind, count);
	}
}

/* Room for as many CPUs as the heading has. 0, or -ENOMEM from start(). */
static int reserve(struct sonde_instance *self, struct cpus *cpus)
{
	uint32_t want = cpus->count + 8;

	if (cpus->count <= cpus->asked)
		return 0;
	if (sonde_grow(self, &cpus->ids, (uint64_t)want * sizeof *cpus->ids))
		return -ENOMEM;
	cpus->asked = want;
	return 0;
}

static int reserve_all(struct sonde_instance *self)
{
	struct state *state = self->state;
	uint32_t before = state->possible.asked;
	int err = reserve(self, &state->online);

	if (!err)
		err = reserve(self, &state->possible);
	if (!err && state->possible.asked > before)
		err = sonde_grow(self, &state->rows,
				 (uint64_t)state->possible.asked * sizeof *state->rows);
	return err;
}

/* How many CPUs a file's heading has. */
static void learn(struct sonde_instance *self, struct sonde_file *file, struct cpus *cpus)
{
	const char *text = "";
	int64_t length = file ? sonde_read(self, file, &text) : 0;
	struct cursor line = cursor(text, length > 0 ? (size_t)length : 0);

	if (next_line(&line))
		parse_heading(&line, cpus);
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;

	state->interrupts = sonde_open(self, SONDE_KEEP, "/proc/interrupts");
	state->softirqs = sonde_open(self, SONDE_KEEP, "/proc/softirqs");
	if (!state->interrupts && !state->softirqs)
		return sonde_unavailable(self, "no /proc/interrupts and no /proc/softirqs; mount "
					       "/proc");
	learn(self, state->interrupts, &state->online);
	learn(self, state->softirqs, &state->possible);
	return reserve_all(self);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	int64_t length = 0;
	const char *text;

	state->online.room = state->online.asked;
	state->possible.room = state->possible.asked;
	if (state->interrupts)
		length = sonde_read(self, state->interrupts, &text);
	if (length < 0)
		return (int)length;
	if (state->interrupts)
		sample_interrupts(self, frame, text, (size_t)length);
	if (state->softirqs)
		length = sonde_read(self, state->softirqs, &text);
	if (length < 0)
		return (int)length;
	if (state->softirqs)
		sample_softirqs(self, frame, text, (size_t)length);
	if (state->online.count > state->online.room ||
	    state->possible.count > state->possible.room)
		sonde_partial(self, frame);
	return reserve_all(self);
}

SONDE_COLLECTOR(irq, "interrupts by line and CPU, softirqs by CPU", sample,
		.tables = SONDE_TABLES(tables), .state_size = sizeof(struct state), .start = start);
