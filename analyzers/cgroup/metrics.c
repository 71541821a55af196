/* Metrics of control groups: those that used most CPU time, of what they may use. The root is the machine, and has none. */
#include "cgroup.h"

/* A mean over the window; of what is set, what it is set to. */
struct kind {
	uint32_t stream;
	uint32_t
		whole; /* stream of settings that it is a share of; STREAMS: it stands for itself */
	struct sonde_metric form;
};

/* clang-format off */
static const struct kind kinds[] = {
	{ USED, STREAMS, { "cgroup.cpus", .unit = SONDE_BASE_COUNT, .direction = SONDE_NEITHER, .counted = "CPUs", .origin = "cpu.stat usage_usec" } },
	{ USED, CPUS, { "cgroup.cpu_share", .unit = SONDE_BASE_RATIO, .direction = SONDE_NEITHER, .origin = "cpu.stat usage_usec, of the least cpu.max of it and those above" } },
	{ THROTTLED, STREAMS, { "cgroup.throttled", .unit = SONDE_BASE_RATIO, .direction = SONDE_DOWN_IS_BETTER, .origin = "cpu.stat nr_throttled, of nr_periods" } },
	{ CPU_PRESSURE, STREAMS, { "cgroup.cpu_pressure", .unit = SONDE_BASE_RATIO, .direction = SONDE_DOWN_IS_BETTER, .origin = "cpu.pressure some total=" } },
	{ CURRENT, STREAMS, { "cgroup.memory", .unit = SONDE_BASE_BYTES, .direction = SONDE_NEITHER, .origin = "memory.current" } },
	{ CURRENT, MOST, { "cgroup.memory_share", .unit = SONDE_BASE_RATIO, .direction = SONDE_NEITHER, .origin = "memory.current, of the least memory.max of it and those above" } },
	{ PRESSURE, STREAMS, { "cgroup.memory_pressure", .unit = SONDE_BASE_RATIO, .direction = SONDE_DOWN_IS_BETTER, .origin = "memory.pressure full total=" } },
	{ OOM, STREAMS, { "cgroup.oom_kills", .unit = SONDE_BASE_COUNT, .direction = SONDE_DOWN_IS_BETTER, .counted = "kills/s", .origin = "memory.events oom_kill" } },
};
/* clang-format on */

/* Seconds in which a counter counted nothing are not in its series, but they are of the window. */
static bool value_of(struct sonde_instance *self, const struct kind *kind, const char *key,
		     double *value)
{
	const struct sonde_series *series = sonde_series_of(self, kind->stream, key, NULL), *whole;

	if (!series)
		return false;
	*value = kind->stream == THROTTLED || kind->stream == CURRENT
			 ? sonde_mean(&series->total)
			 : series->total.numerator / ((double)sonde_window(self)->observed /
						      (kind->stream == OOM ? 1e9 : 1));
	if (kind->whole == STREAMS)
		return true;
	whole = sonde_series_of(self, kind->whole, key, NULL);
	if (!whole || whole->total.last <= 0)
		return false;
	*value /= whole->total.last;
	return true;
}

void cgroup_metrics(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	uint32_t count, told = 0;
	const struct sonde_series *series = sonde_series(self, USED, &count);

	for (uint32_t i = 0; i < count && told < conf->limit; i++) {
		int length = cgroup_path_length(series[i].key);
		struct sonde_words about;

		if (strcmp(series[i].key, "other") == 0 || length == 1)
			continue;
		sonde_say(&about, "cgroup %.*s", length, series[i].key);
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			struct sonde_metric metric = kinds[k].form;

			metric.about = about.text;
			if (value_of(self, &kinds[k], series[i].key, &metric.value))
				sonde_metric(self, &metric);
		}
		told++;
	}
}
