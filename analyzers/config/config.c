/* config: settings that cost, whatever runs: findings of docs/findings.md that begin with "config."
 * (Documentation/admin-guide/sysctl/vm.rst, Documentation/admin-guide/pm/cpufreq.rst, Documentation/admin-guide/perf-security.rst). */
#include <sonde/judge.h>

struct conf {
	uint64_t unused;
	double paranoid, capped;
};

static const struct sonde_option options[] = {
	SONDE_THRESHOLD(
		"perf_paranoid", paranoid, "2", 10,
		"kernel.perf_event_paranoid above which it is told: then a user may not even count his own processes"),
	SONDE_THRESHOLD(
		"frequency_capped", capped, "0.9", 1,
		"highest frequency that is allowed, of what the hardware has, below which it is told: a tenth of the speed is felt"),
};

enum { NODES, ZONE_RECLAIM, PARANOID, GOVERNOR, ALLOWED, HARDWARE, STREAMS };

/* clang-format off */
static const struct sonde_stream streams[STREAMS] = {
	[NODES] = { "config.nodes", "numa", .plus = "node", .reduce = SONDE_SETTING },
	[ZONE_RECLAIM] = { "config.zone_reclaim", "sysctl", .where = "name=vm.zone_reclaim_mode", .plus = "number", .reduce = SONDE_SETTING },
	[PARANOID] = { "config.perf_paranoid", "sysctl", .where = "name=kernel.perf_event_paranoid", .plus = "number", .reduce = SONDE_SETTING },
	[GOVERNOR] = { "config.governor", "topology_cpu", .plus = "cpu", .key = "scaling_governor scaling_driver", .reduce = SONDE_SETTING },
	[ALLOWED] = { "config.frequency_allowed", "topology_cpu", .plus = "scaling_max_freq", .key = "cpu", .keys = 1024, .reduce = SONDE_SETTING },
	[HARDWARE] = { "config.frequency_hardware", "topology_cpu", .plus = "cpuinfo_max_freq", .key = "cpu", .keys = 1024, .reduce = SONDE_SETTING },
};

static const struct sonde_catalogue catalogue[] = {
	{ "config.zone_reclaim", "nodes reclaim their cache instead of using free memory elsewhere", "sysctl.number numa.node", "" },
	{ "config.governor", "CPUs are held at their lowest frequency", "topology_cpu.scaling_governor", "" },
	{ "config.frequency_capped", "CPUs may not run as fast as they can", "topology_cpu.scaling_max_freq topology_cpu.cpuinfo_max_freq",
	  "frequency_capped" },
	{ "config.perf_paranoid", "users may not count events", "sysctl.number", "perf_paranoid" },
};
/* clang-format on */

static const struct sonde_advice zone_reclaim = {
	.id = "config.zone_reclaim",
	.why = "A node that is full reclaims its own page cache first, while other nodes have memory free: programs wait, and read "
	       "from disk again.",
	.action = "sysctl vm.zone_reclaim_mode=0",
	.need = "root",
	.risk = "some memory is on another node than its user",
	.undo = "sysctl vm.zone_reclaim_mode with the number that is told here",
};
static const struct sonde_advice governor = {
	.id = "config.governor",
	.why = "With this driver, powersave is the lowest frequency at all times: everything takes two to three times as long.",
	.action =
		"Let the scheduler choose: echo schedutil | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor (or performance).",
	.need = "root",
	.risk = "more power is used",
	.undo = "echo powersave | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
};
static const struct sonde_advice capped = {
	.id = "config.frequency_capped",
	.why = "Somebody, a power profile, or the firmware for heat or power holds these CPUs below what they can: all that computes "
	       "takes longer by as much.",
	.action =
		"See who did: powerprofilesctl, tuned-adm active, the machine's limits of power (dmesg, BMC); where it was a setting: "
		"echo FREQUENCY | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_max_freq with what cpuinfo_max_freq has.",
	.need = "root",
	.risk = "more power and heat",
	.undo = "echo the number that is told here into the same files",
};
static const struct sonde_advice paranoid = {
	.id = "config.perf_paranoid",
	.why = "Counters of the CPU are closed to ordinary users, their own processes included: a profile needs root.",
	.action =
		"Where users may be trusted: sysctl kernel.perf_event_paranoid=2; or give one program CAP_PERFMON.",
	.need = "root",
	.risk = "events of processes may help an attacker of the same user",
	.undo = "sysctl kernel.perf_event_paranoid with the number that is told here",
};

static void tell(struct sonde_instance *self, const struct sonde_advice *advice,
		 enum sonde_severity severity, const char *title, const char *name, double value)
{
	const struct sonde_held held = sonde_all_along(self);
	struct sonde_proof proof = { 0 };

	sonde_prove(&proof, name, value, SONDE_BASE_NONE, NULL, "/proc/sys");
	if (!name)
		proof.count = 0;
	sonde_found(self, advice, severity, "host", title, &held, 0, &proof);
}

/* A setting of a number that is more than it should be; a kernel that lacks it is said to. */
static void judge_number(struct sonde_instance *self, uint32_t stream,
			 const struct sonde_advice *advice, enum sonde_severity severity,
			 const char *name, double most)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, stream, &count);
	struct sonde_words title;

	sonde_say(&title, "this kernel has no %s", name);
	if (!count) {
		sonde_not_judged(self, advice->id, title.text);
		return;
	}
	if (series->total.last <= most)
		return;
	sonde_say(&title, "%s is %.0f", name, series->total.last);
	tell(self, advice, severity, title.text, name, series->total.last);
}

/* Drivers whose hardware or own code chooses the frequency under powersave, which there means balanced. */
static bool is_managed(const char *driver)
{
	static const char *const managed[] = { "intel_pstate", "amd-pstate-epp" };

	for (size_t i = 0; i < sizeof managed / sizeof managed[0]; i++)
		if (strcmp(managed[i], driver) == 0)
			return true;
	return false;
}

static void judge_governor(struct sonde_instance *self)
{
	static const char held_down[] = "powersave ";
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, GOVERNOR, &count);

	for (uint32_t i = 0; i < count; i++) {
		const char *driver = series[i].key + strlen(held_down);
		struct sonde_words title;

		if (strncmp(series[i].key, held_down, strlen(held_down)) != 0 || !*driver ||
		    is_managed(driver))
			continue;
		sonde_say(&title, "CPUs have governor powersave under driver %s", driver);
		tell(self, &governor, SONDE_SEVERITY_INFO, title.text, NULL, 0);
		return;
	}
}

/* The CPU that is held down furthest, and how many are. */
static void judge_frequency(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	const struct sonde_held held = sonde_all_along(self);
	const struct sonde_series *worst = NULL;
	struct sonde_proof proof = { 0 };
	struct sonde_words title;
	double least = conf->capped, most = 0;
	uint32_t count, held_down = 0;
	const struct sonde_series *series = sonde_series(self, ALLOWED, &count);

	for (uint32_t i = 0; i < count; i++) {
		const struct sonde_series *hardware =
			sonde_series_of(self, HARDWARE, series[i].key, NULL);
		double share;

		if (!hardware || hardware->total.last <= 0)
			continue;
		share = series[i].total.last / hardware->total.last;
		if (share >= conf->capped)
			continue;
		held_down++;
		if (worst && share >= least)
			continue;
		worst = &series[i];
		least = share;
		most = hardware->total.last;
	}
	if (!worst)
		return;
	sonde_say(&title, "%u of %u CPUs may run at %.2f GHz at most, though they have %.2f",
		  held_down, count, worst->total.last / 1e9, most / 1e9);
	sonde_prove(&proof, "config.frequency_allowed", worst->total.last, SONDE_BASE_HZ, NULL,
		    "cpufreq/scaling_max_freq");
	sonde_prove(&proof, "config.frequency_hardware", most, SONDE_BASE_HZ, NULL,
		    "cpufreq/cpuinfo_max_freq");
	sonde_found(self, &capped, SONDE_SEVERITY_WARNING, "host", title.text, &held, 0, &proof);
}

static int judge(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	uint32_t nodes;

	sonde_series(self, NODES, &nodes);
	if (nodes > 1)
		judge_number(self, ZONE_RECLAIM, &zone_reclaim, SONDE_SEVERITY_WARNING,
			     "vm.zone_reclaim_mode", 0);
	judge_number(self, PARANOID, &paranoid, SONDE_SEVERITY_INFO, "kernel.perf_event_paranoid",
		     conf->paranoid);
	judge_governor(self);
	judge_frequency(self);
	return 0;
}

static const struct sonde_analyzer_ops ops = {
	.streams = SONDE_STREAMS(streams),
	.catalogue = SONDE_CATALOGUE(catalogue),
	.judge = judge,
};

SONDE_ANALYZER(config, "settings that cost, whatever runs", ops, .options = SONDE_OPTIONS(options),
	       .conf_size = sizeof(struct conf));
