/* The findings of the analyzer `numa` that are about the host and its nodes, and its metrics. */
#include "numa.h"

static const struct sonde_advice remote = {
	.id = "numa.remote_alloc",
	.why = "Memory came from another node than the one whose CPU asked for it: each access to it crosses the interconnect, "
	       "which takes longer and is shared by all.",
	.action =
		"See which node is short (numa.node_exhausted) and who is bound elsewhere (numastat -p PID, "
		"/proc/PID/numa_maps); keep a service and its memory on one node: numactl --cpunodebind=N --preferred=N COMMAND.",
	.need = "a restart of the service",
	.risk = "a service larger than a node has the rest elsewhere all the same",
	.undo = "start it without numactl",
};
static const struct sonde_advice locality = {
	.id = "numa.access_locality",
	.why = "Of the pages that NUMA balancing looked at, many were touched from another node: the work and its memory are "
	       "apart, and balancing has not brought them together.",
	.action =
		"See numa.process_misplaced for who it is; keep its threads on one node (taskset, cpuset, "
		"numactl --cpunodebind=N), then balancing moves the memory after them.",
	.need = "root for others' processes",
	.risk = "fewer CPUs for what is bound",
	.undo = "taskset -acp with the list that taskset -cp PID showed before",
};
static const struct sonde_advice exhausted = {
	.id = "numa.node_exhausted",
	.why = "What is allocated on this node next comes from another one, or waits for reclaim, however much is free elsewhere.",
	.action =
		"See whose memory it is (numastat -m; numastat -p NAME); move some of it to a node with room: "
		"migratepages PID FROM TO, or start it with numactl --interleave=all.",
	.need = "numactl's tools; root for others' processes",
	.risk = "what is moved is far from those who use it here",
	.undo = "migratepages PID TO FROM",
};
static const struct sonde_advice storm = {
	.id = "numa.migration_storm",
	.why = "Balancing moves pages to and fro: each one costs a fault, a copy and a flush of other CPUs' TLBs.",
	.action =
		"See whether threads wander between nodes (perf stat -e migrations); bind them, or have balancing look less "
		"often: echo 5000 > /sys/kernel/debug/sched/numa_balancing/scan_period_min_ms (default 1000).",
	.need = "root; debugfs",
	.risk = "memory follows its work more slowly",
	.undo = "echo 1000 > /sys/kernel/debug/sched/numa_balancing/scan_period_min_ms",
};
static const struct sonde_advice off = {
	.id = "numa.balancing_off",
	.why = "Memory stays where it was first touched, also when its work has moved to another node.",
	.action =
		"Let the kernel move it: sysctl kernel.numa_balancing=1; or bind work and memory by hand.",
	.need = "root",
	.risk = "hint faults and migrations cost some CPU time",
	.undo = "sysctl kernel.numa_balancing=0",
};
static const struct sonde_advice single = {
	.id = "numa.single_node",
	.why = "All memory is equally far from all CPUs, or the firmware says so: nothing about placement can be told.",
	.action =
		"Nothing; where the machine has several sockets, look for node interleaving in its firmware.",
	.need = "",
	.risk = "",
	.undo = "",
};

/* clang-format off */
static const struct sonde_mean_metric remote_share = { REMOTE, "numa.remote_allocations", SONDE_BASE_RATIO, SONDE_DOWN_IS_BETTER, NULL, "nodeN/numastat other_node, of local_node and it" };
static const struct sonde_mean_metric policy_misses = { POLICY_MISS, "numa.policy_misses", SONDE_BASE_RATIO, SONDE_DOWN_IS_BETTER, NULL, "nodeN/numastat numa_miss, of numa_hit and it" };
static const struct sonde_mean_metric migrations = { MIGRATED, "numa.migrations", SONDE_BASE_COUNT, SONDE_DOWN_IS_BETTER, "pages/s", "/proc/vmstat numa_pages_migrated" };
/* clang-format on */

static const char locality_origin[] = "/proc/vmstat numa_hint_faults_local, of numa_hint_faults";

static void judge_locality(struct sonde_instance *self)
{
	static const struct sonde_mean_metric *const beside[] = { &migrations, &remote_share };
	const struct sonde_series *series = sonde_single(self, NONLOCAL);
	struct sonde_proof proof = { 0 };
	struct sonde_words title;
	double local;

	if (!series || !series->held.time)
		return;
	local = 1 - sonde_held_mean(&series->held);
	sonde_say(&title, "Only %.0f %% of NUMA hint faults found their memory on their own node",
		  local * 100);
	sonde_prove(&proof, "numa.hint_locality", local, SONDE_BASE_RATIO, NULL, locality_origin);
	for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++)
		sonde_prove_mean(self, &proof, &series->held, beside[i]);
	sonde_found(self, &locality, SONDE_SEVERITY_WARNING, "host", title.text, &series->held,
		    sonde_weight(&series->held), &proof);
}

/* Of the series with this key, the mean while something held; 0 where there is none. */
static double mean_of(struct sonde_instance *self, uint32_t stream, const char *key,
		      const struct sonde_held *held)
{
	struct sonde_slice sum;
	uint32_t index;

	if (!sonde_series_of(self, stream, key, &index))
		return 0;
	sum = sonde_between(self, stream, index, held->begin, held->end);
	return sonde_mean(&sum);
}

/* A node whose memory is page cache for the most part is full and well: that gives way. */
static void judge_exhausted(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	uint32_t count, told = 0;
	const struct sonde_series *series = sonde_series(self, USED, &count);

	for (uint32_t i = 0; i < count && told < conf->limit; i++) {
		const struct sonde_held *held = &series[i].held;
		struct sonde_proof proof = { 0 };
		struct sonde_words about, title;
		double left = 1 - sonde_held_mean(held), cached;

		cached = held->time ? mean_of(self, CACHED, series[i].key, held) : 0;
		if (!held->time || cached > conf->cache || strcmp(series[i].key, "other") == 0)
			continue;
		sonde_say(&about, "node %s", series[i].key);
		sonde_say(&title, "Node %s has %.1f %% of its memory free", series[i].key,
			  left * 100);
		sonde_prove(&proof, "numa.free_share", left, SONDE_BASE_RATIO, NULL,
			    "nodeN/meminfo MemFree:, of MemTotal:");
		sonde_prove(&proof, "numa.cached", cached, SONDE_BASE_RATIO, NULL,
			    "nodeN/meminfo Active(file): Inactive(file):, of MemTotal:");
		sonde_prove_mean(self, &proof, held, &policy_misses);
		sonde_found(self, &exhausted, SONDE_SEVERITY_WARNING, about.text, title.text, held,
			    sonde_weight(held), &proof);
		told++;
	}
}

/* Off matters only where memory is far from its work. */
static void judge_balancing(struct sonde_instance *self, bool misplaced)
{
	const struct sonde_series *setting = sonde_single(self, BALANCING);
	const struct sonde_series *far = sonde_single(self, REMOTE);
	const struct sonde_held held = far && far->held.time ? far->held : sonde_all_along(self);
	struct sonde_proof proof = { 0 };

	if (!setting) {
		sonde_not_judged(
			self, off.id,
			"this kernel has no kernel.numa_balancing (CONFIG_NUMA_BALANCING)");
		return;
	}
	if (setting->total.last > 0 || (!misplaced && !(far && far->held.time)))
		return;
	sonde_prove(&proof, "kernel.numa_balancing", setting->total.last, SONDE_BASE_NONE, NULL,
		    "/proc/sys/kernel/numa_balancing");
	sonde_prove_mean(self, &proof, &held, &remote_share);
	sonde_found(self, &off, SONDE_SEVERITY_INFO, "host",
		    "NUMA balancing is off, and memory is far from its work", &held, 0, &proof);
}

/* The kernel counts by the node where memory was had, not by that of the task: those who have no choice can't be told apart. */
static bool remote_by_necessity(struct sonde_instance *self, const struct nodes *nodes)
{
	static const struct sonde_advice *const ids[] = { &remote, &locality };
	struct sonde_words why;

	for (uint32_t i = 0; i < nodes->count; i++) {
		if (!numa_lacks_memory(nodes, i))
			continue;
		sonde_say(&why, "node %u has CPUs and no memory: theirs is remote by necessity",
			  nodes->number[i]);
		for (size_t k = 0; k < sizeof ids / sizeof ids[0]; k++)
			sonde_not_judged(self, ids[k]->id, why.text);
		return true;
	}
	return false;
}

void numa_findings(struct sonde_instance *self, const struct nodes *nodes, bool misplaced)
{
	static const struct sonde_mean_metric *const beside[] = { &policy_misses, NULL };
	static const struct sonde_rule remote_rule = {
		REMOTE,
		SONDE_SEVERITY_WARNING,
		&remote,
		&remote_share,
		"of allocations were on another node than the task",
		beside
	};
	static const struct sonde_rule moves = {
		MIGRATED,
		SONDE_SEVERITY_WARNING,
		&storm,
		&migrations,
		"pages a second were moved between nodes by NUMA balancing",
		NULL
	};
	const struct sonde_held held = sonde_all_along(self);
	struct sonde_proof proof = { 0 };

	if (nodes->count == 1) {
		sonde_prove(&proof, "numa.nodes", 1, SONDE_BASE_COUNT, "nodes",
			    "/sys/devices/system/node");
		sonde_found(self, &single, SONDE_SEVERITY_INFO, "host",
			    "The machine has one NUMA node", &held, 0, &proof);
		return;
	}
	sonde_judge_rule(self, &moves);
	if (!remote_by_necessity(self, nodes)) {
		sonde_judge_rule(self, &remote_rule);
		judge_locality(self);
	}
	judge_exhausted(self);
	judge_balancing(self, misplaced);
}

void numa_metrics(struct sonde_instance *self, const struct nodes *nodes)
{
	static const struct sonde_mean_metric *const means[] = { &remote_share, &policy_misses,
								 &migrations };
	const struct sonde_series *hints = sonde_single(self, NONLOCAL);
	uint32_t count;
	const struct sonde_series *used = sonde_series(self, USED, &count);
	const struct sonde_metric local = {
		.name = "numa.hint_locality",
		.about = "",
		.value = hints ? 1 - sonde_mean(&hints->total) : 0,
		.unit = SONDE_BASE_RATIO,
		.direction = SONDE_UP_IS_BETTER,
		.origin = locality_origin,
	};

	if (nodes->count < 2)
		return;
	for (size_t i = 0; i < sizeof means / sizeof means[0]; i++)
		sonde_mean_metrics(self, means[i], 1);
	if (hints)
		sonde_metric(self, &local);
	for (uint32_t i = 0; i < count; i++) {
		struct sonde_words about;
		const struct sonde_metric metric = {
			.name = "numa.free_share",
			.about = sonde_say(&about, "node %s", used[i].key),
			.value = 1 - sonde_mean(&used[i].total),
			.unit = SONDE_BASE_RATIO,
			.direction = SONDE_UP_IS_BETTER,
			.origin = "nodeN/meminfo MemFree:, of MemTotal:",
		};

		sonde_metric(self, &metric);
	}
}
