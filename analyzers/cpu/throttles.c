/* cpu.thermal: CPUs that slowed themselves down for heat (Documentation/ABI/testing/sysfs-devices-system-cpu,
 * thermal_throttle). */
#include "cpu.h"

static const struct sonde_advice thermal = {
	.id = "cpu.thermal",
	.why = "The processor was too hot and ran slower than it was asked to: the same work takes longer, and how long depends on the "
	       "weather.",
	.action =
		"See to the cooling: fans, dust, air flow, a neighbour's heat (sensors, ipmitool sdr type temperature); until then fewer busy "
		"cores at once.",
	.need = "whoever has the machine",
	.risk = "",
	.undo = "",
};

void cpu_throttles(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	const struct sonde_held held = sonde_all_along(self);
	const struct sonde_series *worst = NULL;
	struct sonde_proof proof = { 0 };
	struct sonde_words about, title;
	uint32_t count, throttled = 0;
	const struct sonde_series *series = sonde_series(self, THROTTLES, &count);

	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(series[i].key, "other") == 0 ||
		    series[i].total.numerator <= conf->throttles)
			continue;
		throttled++;
		if (!worst || series[i].total.numerator > worst->total.numerator)
			worst = &series[i];
	}
	if (!worst)
		return;
	sonde_say(&about, "cpu %s", worst->key);
	sonde_say(&title, "%u %s for heat, CPU %s %.0f times", throttled,
		  throttled == 1 ? "CPU slowed itself down" : "CPUs slowed themselves down",
		  worst->key, worst->total.numerator);
	sonde_prove(&proof, "cpu.throttles", worst->total.numerator, SONDE_BASE_COUNT, "times",
		    "thermal_throttle/core_throttle_count package_throttle_count");
	sonde_prove(&proof, "cpu.throttled_cpus", throttled, SONDE_BASE_COUNT, "CPUs",
		    "thermal_throttle of each");
	sonde_found(self, &thermal, SONDE_SEVERITY_WARNING, about.text, title.text, &held,
		    worst->total.numerator, &proof);
}
