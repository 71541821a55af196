/* What the files of the analyzer `cgroup` share: its thresholds and its streams. */
#ifndef CGROUP_H
#define CGROUP_H

#include <sonde/judge.h>

struct conf {
	uint64_t limit;
	uint64_t hold;
	double throttled, throttled_critical, periods;
	double pressure, pressure_critical;
	double at_limit, full, refaults;
};

enum {
	THROTTLED,
	USED,
	WAITED,
	QUOTA,
	SHARES,
	PRESSURE,
	CURRENT,
	MOST,
	CPUS,
	CPU_PRESSURE,
	OOM,
	AT_LIMIT,
	HIGH,
	REFAULTS,
	REFAULTS_1, /* of version 1 */
	STREAMS
};

/* "/a path 0": the path, without the number behind it. */
int cgroup_path_length(const char *key);

/* The mean of a stream of this cgroup while something held; NAN where there is none. */
double cgroup_mean(struct sonde_instance *self, uint32_t stream, const char *key,
		   const struct sonde_held *held);

/* Evidence, unless the value is NAN. */
void cgroup_prove(struct sonde_proof *proof, const char *name, double value, uint32_t unit,
		  const char *counted, const char *origin);

void cgroup_memory(struct sonde_instance *self);
void cgroup_metrics(struct sonde_instance *self);

#endif
