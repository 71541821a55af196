/* cgroup: control groups that wait at their limits: findings of docs/findings.md that begin with "cgroup."
 * (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst, Documentation/accounting/psi.rst). */
#include <math.h>

#include "cgroup.h"

/* clang-format off */
static const struct sonde_option options[] = {
	{ "limit", SONDE_OPT_U64, offsetof(struct conf, limit), "8", NULL, 1, 100,
	  "findings of one kind, the worst first: more would hide the rest of a report" },
	SONDE_TIME("hold", hold, "2s",
		   "time without a break before a finding holds: a single burst is not a problem"),
	SONDE_THRESHOLD("throttled", throttled, "0.10", 1,
			"share of the periods of its quota in which a cgroup had used it up and stood still: a tenth is felt as latency"),
	SONDE_THRESHOLD("throttled_critical", throttled_critical, "0.5", 1,
			"the same, where it is critical: it stands still in half of the periods"),
	SONDE_THRESHOLD("periods", periods, "2", 1e6,
			"periods a second in which it has to run: what runs less often is not held up"),
	SONDE_THRESHOLD("pressure", pressure, "0.05", 1,
			"share of time in which all of its tasks that were not idle waited for memory: more than of the machine, since a limit is meant to be reached"),
	SONDE_THRESHOLD("pressure_critical", pressure_critical, "0.3", 1, "the same, where it is critical"),
	SONDE_THRESHOLD("at_limit", at_limit, "10", 1e9,
			"of a cgroup without memory.pressure, times a second that it was at its limit and had to reclaim: now and then is what a limit is for"),
	SONDE_THRESHOLD("full", full, "0.9", 1,
			"share of the limit that it has to use meanwhile: one that uses less counts what those below it did"),
	SONDE_THRESHOLD("refaults", refaults, "100", 1e9,
			"pages a second that had been evicted and came back, or came from disk, from which on it is a warning: without them it is page cache that is read once"),
};

#define OF(field) offsetof(struct conf, field)
static const struct sonde_stream streams[STREAMS] = {
	[THROTTLED] = { "cgroup.throttled", "cgroup", .plus = "nr_throttled", .over = "nr_periods",
			.threshold = OF(throttled), .hold = OF(hold), .floor = OF(periods), .keys = 64 },
	[USED] = { "cgroup.cpus_used", "cgroup", .plus = "usage", .over = "time", .keys = 64 },
	[WAITED] = { "cgroup.cpus_waiting", "cgroup", .plus = "throttled", .over = "time", .keys = 64 },
	[QUOTA] = { "cgroup.quota", "cgroup", .plus = "cpu_quota", .over = "cpu_period", .keys = 64, .reduce = SONDE_SETTING },
	[SHARES] = { "cgroup.shares", "cgroup", .plus = "cpu_shares", .keys = 64, .reduce = SONDE_SETTING }, /* of version 1 alone */
	[PRESSURE] = { "cgroup.memory_pressure", "cgroup_pressure", .where = "resource=memory", .plus = "full_total", .over = "wall time",
		       .key = "path birth", .threshold = OF(pressure), .hold = OF(hold), .keys = 64 },
	[CURRENT] = { "cgroup.memory", "cgroup", .plus = "memory_current", .keys = 64, .reduce = SONDE_SETTING },
	[MOST] = { "cgroup.memory_limit", "cgroup", .plus = "effective_memory_max", .keys = 64, .reduce = SONDE_SETTING },
	[CPUS] = { "cgroup.effective_cpus", "cgroup", .plus = "effective_cpus", .keys = 64, .reduce = SONDE_SETTING },
	[CPU_PRESSURE] = { "cgroup.cpu_pressure", "cgroup_pressure", .where = "resource=cpu", .plus = "some_total", .over = "wall time",
			   .key = "path birth", .keys = 64 },
	[OOM] = { "cgroup.oom_kills", "cgroup", .plus = "events_oom_kill", .over = "time", .keys = 64 },
	[AT_LIMIT] = { "cgroup.at_limit", "cgroup", .plus = "events_max? events_high?", .over = "time",
		       .threshold = OF(at_limit), .hold = OF(hold), .keys = 64 },
	[HIGH] = { "cgroup.memory_high", "cgroup", .plus = "memory_high", .keys = 64, .reduce = SONDE_SETTING },
	[REFAULTS] = { "cgroup.refaults", "cgroup_memory",
		       .plus = "workingset_refault? workingset_refault_anon? workingset_refault_file? pgmajfault?", .over = "time", .keys = 64 },
	[REFAULTS_1] = { "cgroup.refaults", "cgroup_memory_v1",
			 .plus = "total_workingset_refault_anon? total_workingset_refault_file? total_pgmajfault?", .over = "time", .keys = 64 },
};

static const struct sonde_catalogue catalogue[] = {
	{ "cgroup.throttled", "a cgroup stands still because its CPU quota is used up", "cgroup.nr_throttled cgroup.nr_periods",
	  "throttled throttled_critical periods hold limit" },
	{ "cgroup.memory_pressure", "all work of a cgroup waits for memory", "cgroup_pressure.full_total | cgroup.events_max cgroup.memory_current",
	  "pressure pressure_critical at_limit full refaults hold limit" },
};
/* clang-format on */

int cgroup_path_length(const char *key)
{
	const char *blank = strrchr(key, ' ');

	return blank ? (int)(blank - key) : (int)strlen(key);
}

double cgroup_mean(struct sonde_instance *self, uint32_t stream, const char *key,
		   const struct sonde_held *held)
{
	struct sonde_slice sum;
	uint32_t index;

	if (!sonde_series_of(self, stream, key, &index))
		return NAN;
	sum = sonde_between(self, stream, index, held->begin, held->end);
	return sum.denominator > 0 ? sonde_mean(&sum) : NAN;
}

void cgroup_prove(struct sonde_proof *proof, const char *name, double value, uint32_t unit,
		  const char *counted, const char *origin)
{
	if (!isnan(value))
		sonde_prove(proof, name, value, unit, counted, origin);
}

/* Files of the controller cpu that are named: cpuacct's too in version 1, which has them in a hierarchy each, or in one. */
struct files {
	const char *quota, *used, *waited;
	const char *set, *undo;
};
static const struct files version_1 = {
	.quota = "cpu.cfs_quota_us, of cpu.cfs_period_us",
	.used = "cpuacct.usage",
	.waited = "cpu.stat throttled_time",
	.set = "cpu.cfs_quota_us",
	.undo = "write the number that was in cpu.cfs_quota_us before; systemctl revert UNIT",
};
static const struct files version_2 = {
	.quota = "cpu.max",
	.used = "cpu.stat usage_usec",
	.waited = "cpu.stat throttled_usec",
	.set = "cpu.max",
	.undo = "write the line that was in cpu.max before; systemctl revert UNIT",
};

/* What it used and what it waited for is what it would have used at most: several tasks that wait may have had one CPU's
 * work. Without either no number is named. */
static void say_action(struct sonde_words *action, const struct files *files, double most)
{
	static const char fewer[] =
		"or run as many threads as it has CPUs, so that they do not use up a period at its start.";

	if (isnan(most))
		sonde_say(action,
			  "Raise its quota (systemctl set-property UNIT CPUQuota=, or %s); %s",
			  files->set, fewer);
	else
		sonde_say(
			action,
			"Raise its quota: with %.1f CPUs it would not have waited, at most (systemctl set-property UNIT "
			"CPUQuota=%.0f%%, or %s); %s",
			most, most * 100, files->set, fewer);
}

static void tell_throttled(struct sonde_instance *self, const struct sonde_series *series)
{
	const struct conf *conf = self->conf;
	const struct files *files =
		sonde_series_of(self, SHARES, series->key, NULL) ? &version_1 : &version_2;
	struct sonde_advice advice = {
		.id = "cgroup.throttled",
		.why = "Its tasks had used up the quota of the period and stood still until the next one, whatever they were "
		       "doing: latency has steps of the period's length.",
		.need = "root",
		.risk = "others on this machine get less",
		.undo = files->undo,
	};
	const struct sonde_held *held = &series->held;
	const struct sonde_series *quota = sonde_series_of(self, QUOTA, series->key, NULL);
	double share = sonde_held_mean(held), used = cgroup_mean(self, USED, series->key, held);
	double waited = cgroup_mean(self, WAITED, series->key, held);
	struct sonde_words about, title, action;
	struct sonde_proof proof = { 0 };
	int length = cgroup_path_length(series->key);

	sonde_say(&about, "cgroup %.*s", length, series->key);
	sonde_say(&title, "Cgroup %.*s was throttled in %.0f %% of its periods", length,
		  series->key, share * 100);
	sonde_prove(&proof, "cgroup.throttled", share, SONDE_BASE_RATIO, NULL,
		    "cpu.stat nr_throttled, of nr_periods");
	if (quota)
		sonde_prove(&proof, "cgroup.quota", quota->total.last, SONDE_BASE_COUNT, "CPUs",
			    files->quota);
	cgroup_prove(&proof, "cgroup.cpus_used", used, SONDE_BASE_COUNT, "CPUs", files->used);
	cgroup_prove(&proof, "cgroup.cpus_waiting", waited, SONDE_BASE_COUNT, "CPUs",
		     files->waited);
	say_action(&action, files, used + waited);
	advice.action = action.text;
	sonde_found(self, &advice, sonde_severity_from(share, conf->throttled_critical), about.text,
		    title.text, held, sonde_weight(held), &proof);
}

static int judge(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	uint32_t count, told = 0;
	const struct sonde_series *series = sonde_series(self, THROTTLED, &count);

	for (uint32_t i = 0; i < count && told < conf->limit; i++) {
		if (!series[i].held.time || strcmp(series[i].key, "other") == 0)
			continue;
		tell_throttled(self, &series[i]);
		told++;
	}
	cgroup_memory(self);
	cgroup_metrics(self);
	return 0;
}

static const struct sonde_analyzer_ops ops = {
	.streams = SONDE_STREAMS(streams),
	.catalogue = SONDE_CATALOGUE(catalogue),
	.judge = judge,
};

SONDE_ANALYZER(cgroup, "control groups that wait at their limits", ops,
	       .options = SONDE_OPTIONS(options), .conf_size = sizeof(struct conf));
