/* What the kernel was told, at boot and since: sysctls, mitigations, the command line; and the nodes. */
#include "topology.h"

/* Documentation/admin-guide/sysctl/{kernel,vm,fs}.rst. Those of scheduling were
 * sysctls until 5.13, and are in debugfs since, for root. A name with slashes is a path. */
static const char *const sysctls[] = {
	"/sys/devices/system/clocksource/clocksource0/current_clocksource",
	"/sys/kernel/debug/sched/base_slice_ns",
	"/sys/kernel/debug/sched/latency_ns",
	"/sys/kernel/debug/sched/migration_cost_ns",
	"/sys/kernel/debug/sched/min_granularity_ns",
	"/sys/kernel/debug/sched/wakeup_granularity_ns",
	"/sys/kernel/mm/ksm/run",
	"/sys/kernel/mm/lru_gen/enabled",
	"/sys/kernel/mm/numa/demotion_enabled",
	"fs.aio-max-nr",
	"fs.file-max",
	"fs.nr_open",
	"kernel.nmi_watchdog",
	"kernel.numa_balancing",
	"kernel.numa_balancing_promote_rate_limit_MBps",
	"kernel.numa_balancing_scan_delay_ms",
	"kernel.numa_balancing_scan_period_max_ms",
	"kernel.numa_balancing_scan_period_min_ms",
	"kernel.numa_balancing_scan_size_mb",
	"kernel.perf_event_max_sample_rate",
	"kernel.perf_event_mlock_kb",
	"kernel.perf_event_paranoid",
	"kernel.pid_max",
	"kernel.sched_autogroup_enabled",
	"kernel.sched_cfs_bandwidth_slice_us",
	"kernel.sched_child_runs_first",
	"kernel.sched_energy_aware",
	"kernel.sched_latency_ns",
	"kernel.sched_migration_cost_ns",
	"kernel.sched_min_granularity_ns",
	"kernel.sched_rr_timeslice_ms",
	"kernel.sched_rt_period_us",
	"kernel.sched_rt_runtime_us",
	"kernel.sched_schedstats",
	"kernel.sched_wakeup_granularity_ns",
	"kernel.task_delayacct",
	"kernel.threads-max",
	"kernel.timer_migration",
	"kernel.unprivileged_bpf_disabled",
	"kernel.watchdog",
	"vm.compaction_proactiveness",
	"vm.dirty_background_bytes",
	"vm.dirty_background_ratio",
	"vm.dirty_bytes",
	"vm.dirty_expire_centisecs",
	"vm.dirty_ratio",
	"vm.dirty_writeback_centisecs",
	"vm.extfrag_threshold",
	"vm.max_map_count",
	"vm.min_free_kbytes",
	"vm.nr_hugepages",
	"vm.nr_overcommit_hugepages",
	"vm.numa_zonelist_order",
	"vm.overcommit_memory",
	"vm.overcommit_ratio",
	"vm.page-cluster",
	"vm.stat_interval",
	"vm.swappiness",
	"vm.vfs_cache_pressure",
	"vm.watermark_boost_factor",
	"vm.watermark_scale_factor",
	"vm.zone_reclaim_mode",
};

enum { SYSCTLS = sizeof sysctls / sizeof sysctls[0] };

/* Parameters of the command line that are told with cmdline = known (Documentation/admin-guide/kernel-parameters.txt); a dot
 * at the end stands for all that begin so. */
static const char *const parameters[] = {
	"acpi_cpufreq.",
	"amd_iommu",
	"amd_pstate",
	"apparmor",
	"audit",
	"cgroup_",
	"clocksource",
	"cma",
	"cpufreq.",
	"cpuidle.",
	"default_hugepagesz",
	"delayacct",
	"elevator",
	"hugepages",
	"hugepagesz",
	"hugetlb_",
	"idle",
	"init_on_alloc",
	"init_on_free",
	"intel_idle.",
	"intel_iommu",
	"intel_pstate",
	"iommu",
	"iommu.",
	"irqaffinity",
	"isolcpus",
	"kernelcore",
	"kvm.",
	"l1tf",
	"maxcpus",
	"mce",
	"mds",
	"mem",
	"mitigations",
	"movable_node",
	"movablecore",
	"nmi_watchdog",
	"nohz",
	"nohz_full",
	"noibrs",
	"nopti",
	"nosmt",
	"nospectre_v1",
	"nospectre_v2",
	"nosoftlockup",
	"nowatchdog",
	"nr_cpus",
	"nr_hugepages",
	"numa",
	"numa_balancing",
	"page_alloc.",
	"pcie_aspm",
	"possible_cpus",
	"preempt",
	"processor.",
	"psi",
	"pti",
	"rcu_nocbs",
	"rcutree.",
	"retbleed",
	"schedstats",
	"selinux",
	"skew_tick",
	"slab_nomerge",
	"slub_debug",
	"spec_store_bypass_disable",
	"spectre_v2",
	"swapaccount",
	"swiotlb",
	"threadirqs",
	"thp_anon",
	"thp_shmem",
	"transparent_hugepage",
	"tsc",
	"tsx",
	"workqueue.",
	"zswap.",
};

size_t topology_text(struct sonde_instance *self, const char *path, char *out, size_t size)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "%s", path);
	const char *text;
	int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;
	size_t n = 0;

	sonde_close(self, file);
	while (length > 0 && n < (size_t)length && n < size - 1 && text[n] != '\n')
		n++;
	if (n)
		memcpy(out, text, n);
	out[n] = '\0';
	return n;
}

/* ---- Once */

static bool is_known(const char *word, size_t length)
{
	const char *equals = memchr(word, '=', length);
	size_t name = equals ? (size_t)(equals - word) : length;

	for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
		size_t n = strlen(parameters[i]);
		bool all = parameters[i][n - 1] == '.' || parameters[i][n - 1] == '_';

		if ((name == n || (all && name > n)) && memcmp(word, parameters[i], n) == 0)
			return true;
	}
	return false;
}

/* To the end of a parameter: a blank, but not one in quotes. */
static size_t take_parameter(struct cursor *line, const char **word, bool *quoted)
{
	bool inside = false;

	skip_blanks(line);
	*word = line->at;
	*quoted = false;
	for (; line->at < line->end && (inside || (*line->at != ' ' && *line->at != '\t'));
	     line->at++)
		if (*line->at == '"') {
			inside = !inside;
			*quoted = true;
		}
	return (size_t)(line->at - *word);
}

void settings_cmdline(const char *text, size_t length, char *out, size_t size)
{
	struct cursor line = whole(text, length);
	size_t n, used = 0;
	const char *word;
	bool quoted;

	while ((n = take_parameter(&line, &word, &quoted))) {
		/* What stands behind it is for init, whatever it looks like. */
		if (n == 2 && memcmp(word, "--", 2) == 0)
			break;
		if (quoted || !is_known(word, n) || n + 2 > size - used)
			continue;
		if (used)
			out[used++] = ' ';
		memcpy(out + used, word, n);
		used += n;
	}
	out[used] = '\0';
}

void settings_cpuinfo(const char *text, size_t length, const char *const *keys, char *out,
		      size_t size)
{
	out[0] = '\0';
	for (; *keys && !out[0]; keys++) {
		struct cursor line = cursor(text, length);

		while (!out[0] && next_line(&line)) {
			size_t n;

			if (!take(&line, *keys) || !take(&line, ":"))
				continue;
			skip_blanks(&line);
			n = (size_t)(line.end - line.at) < size ? (size_t)(line.end - line.at)
								: size - 1;
			memcpy(out, line.at, n);
			out[n] = '\0';
		}
	}
}

void settings_once(struct sonde_instance *self)
{
	static const struct {
		uint32_t column;
		const char *keys[4];
	} wanted[] = {
		{ TOTAL_VENDOR, { "vendor_id", "CPU implementer", NULL } },
		{ TOTAL_MODEL, { "model name", "cpu", "CPU part", NULL } },
		{ TOTAL_MICROCODE, { "microcode", "revision", NULL } },
	};
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/cpuinfo");
	const char *text;
	char line[sizeof state->cmdline];
	/* The first processors: some kernels ask every other one for its frequency while they write of it. */
	int64_t length = file ? sonde_read_lines(self, file, 4096, &text) : 0;

	for (size_t i = 0; length > 0 && i < sizeof wanted / sizeof wanted[0]; i++)
		settings_cpuinfo(text, (size_t)length, wanted[i].keys,
				 state->total[wanted[i].column], LIST_TEXT);
	sonde_close(self, file);
	if (conf->cmdline == CMDLINE_NONE)
		return;
	length = (int64_t)topology_text(self, "/proc/cmdline", line, sizeof line);
	if (conf->cmdline == CMDLINE_FULL)
		memcpy(state->cmdline, line, sizeof line);
	else
		settings_cmdline(line, (size_t)length, state->cmdline, sizeof state->cmdline);
}

/* ---- At each refresh */

static void read_sysctls(struct sonde_instance *self, struct state *state)
{
	char path[96];

	for (uint32_t i = 0; i < SYSCTLS; i++) {
		const char *name = sysctls[i];

		snprintf(path, sizeof path, "%s%s", *name == '/' ? "" : "/proc/sys/", name);
		for (char *c = path + strlen("/proc/sys/"); *name != '/' && *c; c++)
			if (*c == '.')
				*c = '/';
		topology_text(self, path, state->sysctl[i], SETTING_TEXT);
	}
}

static void read_mitigations(struct sonde_instance *self, struct state *state)
{
	const char *name;
	int64_t left = sonde_list(self, CPUS_FOLDER "/vulnerabilities", &name);
	char path[128];

	state->nmitigations = 0;
	for (; left > 0 && state->nmitigations < MITIGATIONS; left--, name += strlen(name) + 1) {
		struct mitigation *one = &state->mitigations[state->nmitigations];

		if (strlen(name) >= sizeof one->name)
			continue;
		memcpy(one->name, name, strlen(name) + 1);
		snprintf(path, sizeof path, CPUS_FOLDER "/vulnerabilities/%s", one->name);
		state->nmitigations += topology_text(self, path, one->state, sizeof one->state) > 0;
	}
}

static void read_nodes(struct sonde_instance *self, struct state *state)
{
	const char *name;
	int64_t left = sonde_list(self, NODES_FOLDER, &name);
	char path[96];

	state->nnodes = 0;
	for (; left > 0 && state->nnodes < state->nodes_room; left--, name += strlen(name) + 1) {
		struct cursor c = whole(name, strlen(name));
		struct node *node = &state->nodes[state->nnodes];

		if (!take(&c, "node") || !next_u64(&c, &node->number) || c.at != c.end)
			continue;
		state->nnodes++;
		snprintf(path, sizeof path, NODES_FOLDER "/%.32s/cpulist", name);
		if (topology_text(self, path, node->cpus, NODE_TEXT) == NODE_TEXT - 1)
			node->cpus[0] = '\0';
		snprintf(path, sizeof path, NODES_FOLDER "/%.32s/distance", name);
		if (topology_text(self, path, node->distance, NODE_TEXT) == NODE_TEXT - 1)
			node->distance[0] = '\0';
	}
}

int settings_start(struct sonde_instance *self)
{
	struct state *state = self->state;
	const char *names;
	int64_t entries = sonde_list(self, NODES_FOLDER, &names);
	int err = sonde_grow(self, &state->sysctl, SYSCTLS * sizeof *state->sysctl);

	if (!err)
		err = sonde_grow(self, &state->mitigations,
				 MITIGATIONS * sizeof *state->mitigations);
	if (err || entries <= 0)
		return err;
	/* Nodes that come later have room in the names of files beside them, mostly. */
	state->nodes_room = entries < NODES_MOST ? (uint32_t)entries : NODES_MOST;
	return sonde_grow(self, &state->nodes, state->nodes_room * sizeof *state->nodes);
}

void settings_read(struct sonde_instance *self)
{
	static const uint32_t texts[] = { TOTAL_ONLINE, TOTAL_OFFLINE,  TOTAL_NODES,
					  TOTAL_SMT,    TOTAL_ISOLATED, TOTAL_NOHZ_FULL };
	const struct sonde_column *columns = topology_tables[TABLE_TOTAL].columns.items;
	struct state *state = self->state;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		topology_text(self, columns[texts[i]].origin, state->total[texts[i]], LIST_TEXT);
	read_sysctls(self, state);
	read_mitigations(self, state);
	read_nodes(self, state);
}

/* ---- Rows */

static void emit_total(struct sonde_instance *self, struct sonde_frame *frame,
		       const struct state *state)
{
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_TOTAL, &row))
		return;
	for (uint32_t i = 0; i < TOTAL_CMDLINE; i++)
		if (state->total[i][0])
			sonde_set_str(&row, i, state->total[i]);
	sonde_set_u64(&row, TOTAL_CPUS, set_count(&state->online));
	if (state->cores)
		sonde_set_u64(&row, TOTAL_CORES, state->cores);
	if (state->sockets)
		sonde_set_u64(&row, TOTAL_SOCKETS, state->sockets);
	if (state->cmdline[0])
		sonde_set_str(&row, TOTAL_CMDLINE, state->cmdline);
}

static void emit_node(struct sonde_instance *self, struct sonde_frame *frame,
		      const struct node *node)
{
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_NODE, &row))
		return;
	sonde_set_u64(&row, NODE_NUMBER, node->number);
	sonde_set_str(&row, NODE_CPUS, node->cpus);
	if (node->distance[0])
		sonde_set_str(&row, NODE_DISTANCE, node->distance);
}

static void emit_sysctl(struct sonde_instance *self, struct sonde_frame *frame, const char *name,
			const char *value)
{
	struct cursor c = whole(value, strlen(value));
	struct sonde_row row;
	int64_t number;

	if (!sonde_row(self, frame, TABLE_SYSCTL, &row))
		return;
	sonde_set_str(&row, SYSCTL_NAME, name);
	sonde_set_str(&row, SYSCTL_VALUE, value);
	if (next_i64(&c, &number) && c.at == c.end)
		sonde_set_i64(&row, SYSCTL_NUMBER, number);
}

static void emit_mitigation(struct sonde_instance *self, struct sonde_frame *frame,
			    const struct mitigation *mitigation)
{
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_MITIGATION, &row))
		return;
	sonde_set_str(&row, MITIGATION_NAME, mitigation->name);
	sonde_set_str(&row, MITIGATION_STATE, mitigation->state);
}

void settings_emit(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;

	emit_total(self, frame, state);
	for (uint32_t i = 0; i < state->nnodes; i++)
		emit_node(self, frame, &state->nodes[i]);
	for (uint32_t i = 0; i < SYSCTLS; i++)
		if (state->sysctl[i][0])
			emit_sysctl(self, frame, sysctls[i], state->sysctl[i]);
	for (uint32_t i = 0; i < state->nmitigations; i++)
		emit_mitigation(self, frame, &state->mitigations[i]);
}
