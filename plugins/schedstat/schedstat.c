/* schedstat: what the scheduler did on each CPU and in each of its domains (/proc/schedstat,
 * Documentation/scheduler/sched-stats.rst). */
#include <sonde/plugin.h>

#include "parse.h"

enum {
	CPU,
	YLD_COUNT,
	SCHED_COUNT,
	SCHED_GOIDLE,
	TTWU_COUNT,
	TTWU_LOCAL,
	RUN_TIME,
	RUN_DELAY,
	PCOUNT
};
enum { DOMAIN_CPU, DOMAIN, NAME, CPUS, GROUP_FIELDS, BEHIND = GROUP_FIELDS + GROUPS * FIELDS };
enum { VERSION, TIMESTAMP, ENABLED };

#define NEEDS "; stays 0 while kernel.sched_schedstats is 0, which does not mean that none happened"
#define COUNT32(name, what, from, text)                                                            \
	{                                                                                          \
		name, SONDE_U64, SONDE_COUNTER, SONDE_COUNT(what), .origin = from,                 \
								   .help = text NEEDS, .wrap = 32  \
	}
#define GROUP(suffix, when)                                                                                     \
	COUNT32("lb_count_" suffix, "balances", "lb_count, " when,                                              \
		"Times that load balancing was tried while the CPU was " when),                                 \
		COUNT32("lb_balanced_" suffix, "balances", "lb_balanced, " when,                                \
			"Of these, found balanced"),                                                            \
		COUNT32("lb_failed_" suffix, "balances", "lb_failed, " when,                                    \
			"Of these, moved nothing although there was an imbalance"),                             \
		COUNT32("lb_imbalance_" suffix, "load", "lb_imbalance, " when,                                  \
			"Imbalance found, added up, in units that depend on what was balanced; to version 16"), \
		COUNT32("lb_imbalance_load_" suffix, "load", "lb_imbalance_load, " when,                        \
			"Imbalance of load found, added up; from version 17"),                                  \
		COUNT32("lb_imbalance_util_" suffix, "utilisation", "lb_imbalance_util, " when,                 \
			"Imbalance of utilisation found, added up; from version 17"),                           \
		COUNT32("lb_imbalance_task_" suffix, "tasks", "lb_imbalance_task, " when,                       \
			"Imbalance in tasks found, added up; from version 17"),                                 \
		COUNT32("lb_imbalance_misfit_" suffix, "tasks", "lb_imbalance_misfit, " when,                   \
			"Tasks found too big for their CPU, added up; from version 17"),                        \
		COUNT32("lb_gained_" suffix, "tasks", "lb_gained, " when,                                       \
			"Tasks pulled to this CPU"),                                                            \
		COUNT32("lb_hot_gained_" suffix, "tasks", "lb_hot_gained, " when,                               \
			"Of these, cache-hot on the CPU they left"),                                            \
		COUNT32("lb_nobusyq_" suffix, "balances", "lb_nobusyq, " when,                                  \
			"No busier queue was found"),                                                           \
		COUNT32("lb_nobusyg_" suffix, "balances", "lb_nobusyg, " when,                                  \
			"No busier group was found")

/* clang-format off */
static const struct sonde_column cpu_columns[] = {
	[CPU] = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "cpuN", .help = "CPU; only those online have a row" },
	[YLD_COUNT] = COUNT32("yld_count", "calls", "cpu number 1", "Calls of sched_yield()"),
	[SCHED_COUNT] = COUNT32("sched_count", "calls", "cpu number 3", "Calls of schedule()"),
	[SCHED_GOIDLE] = COUNT32("sched_goidle", "calls", "cpu number 4", "Calls of schedule() that left the CPU idle"),
	[TTWU_COUNT] = COUNT32("ttwu_count", "wakeups", "cpu number 5", "Tasks woken by this CPU"),
	[TTWU_LOCAL] = COUNT32("ttwu_local", "wakeups", "cpu number 6", "Of these, to run on this CPU"),
	[RUN_TIME] = { "run_time", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "cpu number 7", .help = "Time that tasks ran (rq_cpu_time); counted whatever kernel.sched_schedstats is" },
	[RUN_DELAY] = { "run_delay", SONDE_U64, SONDE_COUNTER, SONDE_NS, .origin = "cpu number 8", .help = "Time that tasks waited for this CPU although they could run, added up over tasks: may grow faster than the clock" },
	[PCOUNT] = { "pcount", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("timeslices"), .origin = "cpu number 9", .help = "Times that a task was given the CPU" },
};

static const struct sonde_column domain_columns[] = {
	[DOMAIN_CPU] = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "cpuN before it", .help = "CPU" },
	[DOMAIN] = { "domain", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "domainN", .help = "Level, 0 the smallest; what it is depends on the machine: domains of one CPU are left out" },
	[NAME] = { "name", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "word 2 of version 17", .help = "SMT, CLS, MC, PKG, NUMA...; empty where the kernel does not say, before version 17" },
	[CPUS] = { "cpus", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "mask", .help = "CPUs of the domain, as a list" },
	[GROUP_FIELDS] =
	GROUP("idle", "idle"),
	GROUP("busy", "busy"),
	GROUP("newidle", "about to become idle"),
	[BEHIND] =
	COUNT32("alb_count", "balances", "alb_count", "Times that active balancing was tried: pushing a running task away"),
	COUNT32("alb_failed", "balances", "alb_failed", "Of these, moved nothing"),
	COUNT32("alb_pushed", "tasks", "alb_pushed", "Tasks pushed"),
	COUNT32("sbe_count", "balances", "sbe_count", "Unused, always 0"),
	COUNT32("sbe_balanced", "balances", "sbe_balanced", "Unused, always 0"),
	COUNT32("sbe_pushed", "tasks", "sbe_pushed", "Unused, always 0"),
	COUNT32("sbf_count", "balances", "sbf_count", "Unused, always 0"),
	COUNT32("sbf_balanced", "balances", "sbf_balanced", "Unused, always 0"),
	COUNT32("sbf_pushed", "tasks", "sbf_pushed", "Unused, always 0"),
	COUNT32("ttwu_wake_remote", "wakeups", "ttwu_wake_remote", "Tasks woken by this CPU that had last run on another of the domain"),
	COUNT32("ttwu_move_affine", "wakeups", "ttwu_move_affine", "Of these, moved to this CPU because they are cache-cold there"),
	COUNT32("ttwu_move_balance", "wakeups", "ttwu_move_balance", "Of these, moved to this CPU for balance"),
};

static const struct sonde_column state_columns[] = {
	[VERSION] = { "version", SONDE_U64, SONDE_INFO, SONDE_NONE, .origin = "/proc/schedstat version", .help = "Of the format; domains are read from 14 to 17" },
	[TIMESTAMP] = { "timestamp", SONDE_U64, SONDE_COUNTER, SONDE_COUNT("jiffies"), .origin = "/proc/schedstat timestamp", .help = "Begins 300 s before 2^32 jiffies, and passes it without a wrap on 64-bit machines" },
	[ENABLED] = { "enabled", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "/proc/sys/kernel/sched_schedstats", .help = "0: only run_time, run_delay and pcount are counted, all else stays as it is; absent before 4.6" },
};
/* clang-format on */

enum { TABLE_CPU, TABLE_DOMAIN, TABLE_STATE };

static const struct sonde_table tables[] = {
	[TABLE_CPU] = { "schedstat", SONDE_COLUMNS(cpu_columns), .origin = "/proc/schedstat",
			.help = "The scheduler's counts of each CPU.", .rows = 4096 },
	[TABLE_DOMAIN] = { "schedstat_domain", SONDE_COLUMNS(domain_columns),
			   .origin = "/proc/schedstat",
			   .help = "Load balancing of each CPU in each of its scheduling domains; all "
				   "go back to 0 when CPUs come or go.",
			   .rows = 4096 },
	[TABLE_STATE] = { "schedstat_state", SONDE_COLUMNS(state_columns),
			  .origin = "/proc/schedstat",
			  .help = "What the other tables of schedstat rest on." },
};

struct state {
	struct sonde_file *file, *enabled;
	bool told;
};

/* Which column each number of a CPU's line is. The second is always 0; 2.6.20 to 2.6.23 had three more before it and times
 * in a unit that the text does not tell. */
static const uint8_t cpu_slots[] = { YLD_COUNT,  0,        SCHED_COUNT, SCHED_GOIDLE, TTWU_COUNT,
				     TTWU_LOCAL, RUN_TIME, RUN_DELAY,   PCOUNT };
static const uint8_t old_cpu_slots[] = {
	0, 0, 0, YLD_COUNT, 0, SCHED_COUNT, SCHED_GOIDLE, TTWU_COUNT, TTWU_LOCAL, 0, 0, PCOUNT
};

static void publish_cpu(const struct schedstat *s, struct sonde_row *row)
{
	bool old = s->count == sizeof old_cpu_slots && s->version <= 14;
	const uint8_t *slots = old ? old_cpu_slots : cpu_slots;
	uint32_t most = old ? sizeof old_cpu_slots : sizeof cpu_slots;

	sonde_set_u64(row, CPU, s->cpu);
	for (uint32_t i = 0; i < s->count && i < most; i++)
		if (slots[i])
			sonde_set_u64(row, slots[i], s->number[i]);
}

static void publish_domain(const struct schedstat *s, struct sonde_row *row)
{
	const uint64_t *number = s->number;
	char list[4096];
	size_t length = mask_list(s->mask, list, sizeof list);

	sonde_set_u64(row, DOMAIN_CPU, s->cpu);
	sonde_set_u64(row, DOMAIN, s->domain);
	sonde_set_bytes(row, NAME, s->name.at, s->name.length);
	if (length)
		sonde_set_bytes(row, CPUS, list, length);
	for (uint32_t g = 0; g < GROUPS; g++)
		for (uint32_t i = 0; i < s->layout->nfields; i++)
			sonde_set_u64(row,
				      GROUP_FIELDS + s->groups[g] * (uint32_t)FIELDS +
					      s->layout->field[i],
				      *number++);
	for (uint32_t i = 0; i < BEHIND_GROUPS; i++)
		sonde_set_u64(row, BEHIND + i, *number++);
}

/* The sysctl into the row; whether it is known and 0. */
static bool publish_enabled(struct sonde_instance *self, const struct state *state,
			    struct sonde_row *row)
{
	const char *text;
	int64_t length = state->enabled ? sonde_read(self, state->enabled, &text) : -ENOENT;
	struct cursor line;
	uint64_t enabled;

	if (length < 0)
		return false;
	line = whole(text, (size_t)length);
	if (!next_u64(&line, &enabled))
		return false;
	sonde_set_u64(row, ENABLED, enabled);
	return !enabled;
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;

	state->file = sonde_open(self, SONDE_KEEP, "/proc/schedstat");
	if (!state->file)
		return sonde_unavailable(self, "no /proc/schedstat: the kernel is built without "
					       "CONFIG_SCHEDSTATS");
	state->enabled = sonde_open(self, SONDE_KEEP, "/proc/sys/kernel/sched_schedstats");
	return 0;
}

/* Once: what a reader of these numbers has to know. */
static void tell(struct sonde_instance *self, struct state *state, uint64_t version, bool disabled)
{
	if (state->told)
		return;
	state->told = true;
	if (disabled)
		sonde_note(self,
			   "kernel.sched_schedstats is 0: of schedstat only run_time, run_delay "
			   "and pcount are counted, and 0 elsewhere does not mean that nothing "
			   "happened; sysctl kernel.sched_schedstats=1 counts the rest");
	if (!domains_known(version))
		sonde_note(self,
			   "/proc/schedstat has version %llu, whose domains are not known: "
			   "table schedstat_domain is empty",
			   (unsigned long long)version);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	struct schedstat s = { .version = 0 };
	struct sonde_row row;
	enum line line;
	const char *text;
	int64_t length = sonde_read(self, state->file, &text);

	if (length < 0)
		return (int)length;
	s.line = cursor(text, whole_words(text, (size_t)length));
	while ((line = schedstat_next(&s)) != LINE_END) {
		bool domain = line == LINE_DOMAIN;

		if (!sonde_row(self, frame, domain ? TABLE_DOMAIN : TABLE_CPU, &row))
			continue;
		if (domain)
			publish_domain(&s, &row);
		else
			publish_cpu(&s, &row);
	}
	if (!sonde_row(self, frame, TABLE_STATE, &row))
		return 0;
	if (s.version)
		sonde_set_u64(&row, VERSION, s.version);
	if (s.timestamp)
		sonde_set_u64(&row, TIMESTAMP, s.timestamp);
	tell(self, state, s.version, publish_enabled(self, state, &row));
	return 0;
}

SONDE_COLLECTOR(schedstat, "the scheduler's counts by CPU and domain", sample,
		.tables = SONDE_TABLES(tables), .state_size = sizeof(struct state), .start = start);
