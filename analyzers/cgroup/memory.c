/* cgroup.memory_pressure: by memory.pressure, and of a cgroup without that file by how often it was at its limit. */
#include <math.h>

#include "cgroup.h"

static const char for_room[] =
	"Raise its limit if the machine has room (systemctl set-property UNIT MemoryHigh= MemoryMax=, or memory.high "
	"and memory.max of the cgroup that is named; version 1: memory.limit_in_bytes), or make it use less.";
static const struct sonde_advice pressure = {
	.id = "cgroup.memory_pressure",
	.why = "For that share of time no task of it that had work could do any: memory had to be reclaimed, read back "
	       "or swapped in first.",
	.action = for_room,
	.need = "root",
	.risk = "others on this machine have less",
	.undo = "systemctl revert UNIT",
};
static const struct sonde_advice at_limit = {
	.id = "cgroup.memory_pressure",
	.why = "Each time a task of it had to make memory free before it got any. How long they waited is not known: the cgroup "
	       "has no memory.pressure.",
	.action = for_room,
	.need = "root",
	.risk = "others on this machine have less",
	.undo = "systemctl revert UNIT",
};

/* The root of the hierarchy is the machine, which mem.pressure tells of, and never has a limit; what a container sees as the root
 * may. */
static bool is_machine(struct sonde_instance *self, const char *key)
{
	return cgroup_path_length(key) == 1 && !sonde_series_of(self, MOST, key, NULL);
}

/* The least of its limits; NAN: none. */
static double limit_of(struct sonde_instance *self, const char *key)
{
	const struct sonde_series *most = sonde_series_of(self, MOST, key, NULL);
	const struct sonde_series *high = sonde_series_of(self, HIGH, key, NULL);

	return fmin(most ? most->total.last : NAN, high ? high->total.last : NAN);
}

/* What a stream counted of it a second while something held; NAN: nothing, or the kernel does not count it. Seconds in which it counted
 * nothing are not in its series. */
static double rate_of(struct sonde_instance *self, uint32_t stream, const char *key,
		      const struct sonde_held *held)
{
	double seconds = (double)(held->end - held->begin) / 1e9;
	uint32_t index;

	if (seconds <= 0 || !sonde_series_of(self, stream, key, &index))
		return NAN;
	return sonde_between(self, stream, index, held->begin, held->end).numerator / seconds;
}

/* Pages that came back or came from disk, a second: of whichever version. */
static double refaults_of(struct sonde_instance *self, const char *key,
			  const struct sonde_held *held)
{
	return fmax(rate_of(self, REFAULTS, key, held), rate_of(self, REFAULTS_1, key, held));
}

/* What every such finding rests on beside its own number. */
static void prove_memory(struct sonde_instance *self, struct sonde_proof *proof, const char *key,
			 const struct sonde_held *held)
{
	cgroup_prove(proof, "cgroup.memory", cgroup_mean(self, CURRENT, key, held),
		     SONDE_BASE_BYTES, NULL, "memory.current");
	cgroup_prove(proof, "cgroup.memory_limit", limit_of(self, key), SONDE_BASE_BYTES, NULL,
		     "memory.high of it, memory.max of it and those above, least");
	cgroup_prove(proof, "cgroup.refaults", refaults_of(self, key, held), SONDE_BASE_COUNT,
		     "pages/s", "memory.stat workingset_refault* pgmajfault");
	cgroup_prove(proof, "cgroup.oom_kills", rate_of(self, OOM, key, held), SONDE_BASE_COUNT,
		     "kills/s", "memory.events oom_kill");
}

static void tell_pressure(struct sonde_instance *self, const struct sonde_series *series)
{
	const struct conf *conf = self->conf;
	const struct sonde_held *held = &series->held;
	double share = sonde_held_mean(held);
	struct sonde_proof proof = { 0 };
	struct sonde_words about, title;
	int length = cgroup_path_length(series->key);

	sonde_say(&about, "cgroup %.*s", length, series->key);
	sonde_say(&title,
		  "All work of cgroup %.*s stood still for want of memory %.1f %% of the time",
		  length, series->key, share * 100);
	sonde_prove(&proof, "cgroup.memory_pressure", share, SONDE_BASE_RATIO, NULL,
		    "memory.pressure full total=");
	cgroup_prove(&proof, "cgroup.at_limit", cgroup_mean(self, AT_LIMIT, series->key, held),
		     SONDE_BASE_COUNT, "events/s", "memory.events high max");
	prove_memory(self, &proof, series->key, held);
	sonde_found(self, &pressure, sonde_severity_from(share, conf->pressure_critical),
		    about.text, title.text, held, sonde_weight(held), &proof);
}

static void tell_at_limit(struct sonde_instance *self, const struct sonde_series *series)
{
	const struct conf *conf = self->conf;
	const struct sonde_held *held = &series->held;
	double rate = sonde_held_mean(held), refaults = refaults_of(self, series->key, held);
	struct sonde_proof proof = { 0 };
	struct sonde_words about, title;
	int length = cgroup_path_length(series->key);

	sonde_say(&about, "cgroup %.*s", length, series->key);
	sonde_say(&title,
		  "Cgroup %.*s was at its memory limit of %.0f MiB %.0f times a second (no "
		  "memory.pressure: a hint)",
		  length, series->key, limit_of(self, series->key) / 1048576, rate);
	sonde_prove(&proof, "cgroup.at_limit", rate, SONDE_BASE_COUNT, "events/s",
		    "memory.events high max; version 1: memory.failcnt");
	prove_memory(self, &proof, series->key, held);
	sonde_found(self, &at_limit,
		    refaults > conf->refaults ? SONDE_SEVERITY_WARNING : SONDE_SEVERITY_INFO,
		    about.text, title.text, held, (double)held->time / 1e9, &proof);
}

/* Whether one below it suffers for the most part of the time for which it does: that one is told then. */
static bool is_told_below(const struct sonde_series *series, uint32_t count,
			  const struct sonde_series *above)
{
	int length = cgroup_path_length(above->key);

	if (length == 1)
		length = 0; /* its slash is that of those below */
	for (uint32_t i = 0; i < count; i++)
		if (series[i].held.time > above->held.time / 2 &&
		    cgroup_path_length(series[i].key) > length + 1 &&
		    series[i].key[length] == '/' &&
		    strncmp(series[i].key, above->key, (size_t)length) == 0)
			return true;
	return false;
}

/* Whether it has memory.pressure. Of so many that some were merged it can't be said, so that it is taken to have. */
static bool has_pressure(struct sonde_instance *self, const char *key)
{
	return sonde_series_of(self, PRESSURE, key, NULL) ||
	       sonde_series_of(self, PRESSURE, "other", NULL);
}

static bool is_full(struct sonde_instance *self, const struct sonde_series *series)
{
	const struct conf *conf = self->conf;

	return cgroup_mean(self, CURRENT, series->key, &series->held) >=
	       conf->full * limit_of(self, series->key);
}

/* Whether any of these is not the machine as a whole. */
static bool has_cgroup(struct sonde_instance *self, uint32_t stream)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, stream, &count);

	for (uint32_t i = 0; i < count; i++)
		if (!is_machine(self, series[i].key))
			return true;
	return false;
}

/* Those of a stream that held, the heaviest first. */
static void judge_stream(struct sonde_instance *self, uint32_t stream, uint32_t *told)
{
	const struct conf *conf = self->conf;
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, stream, &count);

	for (uint32_t i = 0; i < count && *told < conf->limit; i++) {
		const char *key = series[i].key;

		if (!series[i].held.time || strcmp(key, "other") == 0 || is_machine(self, key) ||
		    is_told_below(series, count, &series[i]))
			continue;
		if (stream == PRESSURE)
			tell_pressure(self, &series[i]);
		else if (!has_pressure(self, key) && is_full(self, &series[i]))
			tell_at_limit(self, &series[i]);
		else
			continue;
		++*told;
	}
}

void cgroup_memory(struct sonde_instance *self)
{
	uint32_t told = 0;

	judge_stream(self, PRESSURE, &told);
	judge_stream(self, AT_LIMIT, &told);
	if (!has_cgroup(self, PRESSURE) && !has_cgroup(self, CURRENT))
		sonde_not_judged(
			self, pressure.id,
			"no cgroup but / has memory.pressure, and none a memory controller");
}
