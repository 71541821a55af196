/* perf_event: hardware and software events, counted by the kernel on CPUs, for processes or for cgroups
 * (perf_event_open(2), Documentation/admin-guide/perf-security.rst). */
#include "collect.h"

#include <sonde/formula.h>

#include <stdlib.h>

static const struct sonde_option options[] = {
	{ "event", SONDE_OPT_LIST, offsetof(struct conf, event), "", NULL, 0, 0,
	  "an event by itself: cycles, sched:sched_switch, cpu/event=0x3c,umask=1/, r01c2; it has a "
	  "table of its own" },
	{ "group", SONDE_OPT_LIST, offsetof(struct conf, group), "", NULL, 0, 0,
	  "groups of the files for this CPU, or one of its own: name = {event,event}; without event "
	  "and group: core cache llc tlb branch memory, as far as there are" },
	{ "cpus", SONDE_OPT_CPULIST, offsetof(struct conf, cpus), "", NULL, 0, 0,
	  "these CPUs; default: all but isolated ones" },
	{ "pids", SONDE_OPT_LIST, offsetof(struct conf, pids), "", NULL, 0, 0,
	  "these processes with their threads and all that they start, in place of CPUs" },
	{ "cgroup", SONDE_OPT_LIST, offsetof(struct conf, cgroup), "", NULL, 0, 0,
	  "a cgroup by its path in the hierarchy, in place of CPUs" },
	{ "enable_on_exec", SONDE_OPT_BOOL, offsetof(struct conf, enable_on_exec), "no", NULL, 0, 0,
	  "of pids: from their next exec on, so that a command is counted from its first instruction" },
	{ "group_path", SONDE_OPT_STRING, offsetof(struct conf, group_path), "", NULL, 0, 0,
	  "folder of group files that come before ~/.config/sonde/groups, /etc/sonde/groups and "
	  "sonde's own" },
};

/* ---- Start */

static bool sysctl(struct sonde_instance *self, const char *name, int *value)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/sys/kernel/%s", name);
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;

	if (length > 0)
		*value = atoi(text);
	sonde_close(self, file);
	return length > 0;
}

static int64_t read_boot_id(void *context, void *buffer, uint64_t size)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	size_t n = file ? fread(buffer, 1, size, file) : 0;

	(void)context;
	if (file)
		fclose(file);
	return n ? (int64_t)n : -ENOENT;
}

/* What is counted is this machine, whatever the root shows. */
static bool is_this_machine(struct sonde_instance *self)
{
	char own[64];
	int64_t length;
	struct sonde_file *file;
	const char *text;
	bool same;

	if (!self->root[0])
		return true;
	length = sonde_obtain(self, "boot id", read_boot_id, NULL, own, sizeof own);
	file = sonde_open(self, SONDE_FRESH, "/proc/sys/kernel/random/boot_id");
	same = length > 0 && file && sonde_read(self, file, &text) == length &&
	       memcmp(text, own, (size_t)length) == 0;
	sonde_close(self, file);
	return same;
}

static int check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	if ((conf->pids.count != 0) + (conf->cgroup.count != 0) > 1 ||
	    (conf->pids.count && conf->cpus.count)) {
		sonde_log(
			self, SONDE_ERROR,
			"pids, cgroup and cpus exclude each other, but for cgroup with cpus: use two "
			"sections, [perf_event a] and [perf_event b]");
		return -EINVAL;
	}
	if (conf->enable_on_exec && !conf->pids.count) {
		sonde_log(self, SONDE_ERROR, "enable_on_exec is for pids");
		return -EINVAL;
	}
	return 0;
}

/* One note for each reason, with the events that it is about. */
static void tell_failure(struct sonde_instance *self, const char *reason)
{
	const struct state *state = self->state;
	char events[200] = "";
	uint32_t more = 0;

	for (uint32_t l = 0; l < state->nlineups; l++) {
		const struct lineup *lineup = &state->lineups[l];

		for (uint32_t m = 0; m < lineup->nmembers; m++) {
			const char *group = state->groups[lineup->group].name;
			const char *column = lineup->members[m].column;
			bool alone = strcmp(group, column) == 0;
			size_t used = strlen(events);

			if (strcmp(lineup->members[m].reason, reason) != 0)
				continue;
			if (used + 2 * NAME_SIZE < sizeof events)
				snprintf(events + used, sizeof events - used, "%s%s%s%s",
					 used ? ", " : "", alone ? "" : group, alone ? "" : ".",
					 column);
			else
				more++;
		}
	}
	if (more)
		sonde_note(self, "not counted: %s and %u more: %s", events, more, reason);
	else
		sonde_note(self, "not counted: %s: %s", events, reason);
}

static void tell_failures(struct sonde_instance *self)
{
	const struct state *state = self->state;

	/* The host says a text once. */
	for (uint32_t l = 0; l < state->nlineups; l++)
		for (uint32_t m = 0; m < state->lineups[l].nmembers; m++)
			if (state->lineups[l].members[m].reason[0])
				tell_failure(self, state->lineups[l].members[m].reason);
}

static void tell_user_only(struct sonde_instance *self)
{
	const struct state *state = self->state;

	for (uint32_t l = 0; l < state->nlineups; l++)
		for (uint32_t m = 0; m < state->lineups[l].nmembers; m++)
			if (state->lineups[l].members[m].user_only)
				sonde_note(
					self,
					"what processes do in the kernel is not counted: "
					"kernel.perf_event_paranoid is %d; with CAP_PERFMON, or at 1 "
					"and below, it is",
					state->paranoid);
}

/* The part of this lineup that counts a column; PARTS_MOST: none. */
static uint32_t part_of(const struct lineup *lineup, const char *name, size_t length)
{
	for (uint32_t m = 0; m < lineup->nmembers; m++)
		if (strlen(lineup->members[m].column) == length &&
		    memcmp(lineup->members[m].column, name, length) == 0)
			return lineup->members[m].part;
	return PARTS_MOST;
}

/* The part that counts all that the formula names at the same time; PARTS_MOST: none. */
static uint32_t part_of_all(const struct lineup *lineup, const char *formula)
{
	const char *end = formula + strlen(formula), *name;
	uint32_t part = PARTS_MOST;
	size_t length;

	while ((length = sonde_formula_next_name(&formula, end, &name)) != 0) {
		uint32_t of = part_of(lineup, name, length);

		/* Of each part. */
		if (length == strlen("time_running") && memcmp(name, "time_running", length) == 0)
			continue;
		if (of == PARTS_MOST || (part != PARTS_MOST && part != of))
			return PARTS_MOST;
		part = of;
	}
	return part;
}

/* Whether it is made of what this lineup counts; one of another core PMU's does not. */
static bool is_metric_of(const struct metric *metric, const struct lineup *lineup)
{
	return metric->group == lineup->group &&
	       (lineup->uncore || lineup->task || strcmp(lineup->pmu, metric->pmu) == 0) &&
	       part_of_all(lineup, metric->formula) != PARTS_MOST;
}

/* What is made of events of which one is missing, or counted at another time, is no metric of this machine. */
static void keep_metrics(struct state *state)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->nmetrics; i++) {
		struct metric *metric = &state->metrics[i];
		uint32_t l = 0;

		while (l < state->nlineups && !is_metric_of(metric, &state->lineups[l]))
			l++;
		if (l == state->nlineups)
			continue;
		metric->part = part_of_all(&state->lineups[l], metric->formula);
		memcpy(metric->pmu, state->lineups[l].pmu, sizeof metric->pmu);
		state->metrics[kept++] = *metric;
	}
	state->nmetrics = kept;
}

static bool counts_anything(const struct state *state)
{
	for (uint32_t i = 0; i < state->nlineups; i++)
		if (state->lineups[i].nparts)
			return true;
	return false;
}

static int start(struct sonde_instance *self)
{
	struct state *state = self->state;
	int err = check(self), on = 0;

	if (err)
		return err;
	if (!is_this_machine(self))
		return sonde_unavailable(self,
					 "%s is another machine's: what could be counted is "
					 "this one",
					 self->root);
	state->paranoid = 2;
	sysctl(self, "perf_event_paranoid", &state->paranoid);
	state->watchdog = sysctl(self, "nmi_watchdog", &on) && on == 1;
	err = places_make(self);
	if (!err)
		err = plan_make(self);
	if (err == -ENOENT)
		return sonde_unavailable(self, "no /sys/bus/event_source: the kernel is built "
					       "without CONFIG_PERF_EVENTS");
	if (err)
		return err;
	open_probe(self);
	if (!counts_anything(state))
		return sonde_unavailable(
			self, "%s", state->why[0] ? state->why : "nothing is left to be counted");
	tell_failures(self);
	tell_user_only(self);
	keep_metrics(state);
	err = tables_make(self);
	return err ? err : open_all(self);
}

/* ---- Sample */

static void follow_cpus(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct set online;
	const char *text;
	int64_t length;

	if (!state->online_file)
		return;
	length = sonde_read(self, state->online_file, &text);
	if (length < 0 || !list_parse(text, (size_t)length, &online) ||
	    memcmp(&online, &state->online, sizeof online) == 0)
		return;
	state->online = online;
	open_again(self);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	follow_cpus(self);
	count_all(self, frame);
	tables_describe(self, frame);
	return 0;
}

SONDE_COLLECTOR(perf_event, "hardware and software events that the kernel counts", sample,
		.options = SONDE_OPTIONS(options), .tables = SONDE_TABLES(perf_event_tables),
		.conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
		.check = check, .start = start, .stop = close_all);
