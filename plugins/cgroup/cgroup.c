/* cgroup: CPU time, throttling, memory, limits, pressure and I/O of control groups, version 1 and 2
 * (Documentation/admin-guide/cgroup-v2.rst, Documentation/admin-guide/cgroup-v1). */
#include "collect.h"

static const struct sonde_option options[] = {
	{ "cgroup", SONDE_OPT_LIST, offsetof(struct conf, cgroup), "", NULL, 0, 0,
	  "these cgroups, by path; a pattern as of a shell, in which * and ? match slashes as well; without cgroup and pids all" },
	{ "pids", SONDE_OPT_LIST, offsetof(struct conf, pids), "", NULL, 0, 0,
	  "the cgroups of these processes and all above them, one id a line" },
	{ "depth", SONDE_OPT_U64, offsetof(struct conf, depth), "5", NULL, 0, 64,
	  "how far below the root cgroups are looked for" },
	{ "max", SONDE_OPT_U64, offsetof(struct conf, max), "256", NULL, 1, 65536,
	  "rows at most; the busiest cgroups, the others are counted" },
	{ "rescan", SONDE_OPT_DURATION, offsetof(struct conf, rescan), "30s", NULL, 1e6, 3600e9,
	  "how often limits, cpusets and names are read, and where the kernel does not count cgroups they are looked for" },
};

static int check(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;

	for (uint32_t i = 0; i < conf->cgroup.count; i++) {
		if (conf->cgroup.items[i][0] == '/' || conf->cgroup.items[i][0] == '*')
			continue;
		sonde_log(
			self, SONDE_ERROR,
			"cgroup = %s: a path begins with a slash: /system.slice/ssh.service, */docker-*",
			conf->cgroup.items[i]);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < conf->pids.count; i++) {
		struct cursor c = whole(conf->pids.items[i], strlen(conf->pids.items[i]));
		uint64_t pid;

		if (next_u64(&c, &pid) && c.at == c.end)
			continue;
		sonde_log(self, SONDE_ERROR, "pids = %s: one process id a line",
			  conf->pids.items[i]);
		return -EINVAL;
	}
	return 0;
}

static int start(struct sonde_instance *self)
{
	int err = check(self);

	return err ? err : walk_start(self);
}

static void set_totals(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_CGROUPS, &row))
		return;
	sonde_set_u64(&row, TOTAL_FOUND, state->found);
	sonde_set_u64(&row, TOTAL_ROWS, state->rows);
	sonde_set_u64(&row, TOTAL_OMITTED, state->omitted);
	sonde_set_u64(&row, TOTAL_VANISHED, state->vanished);
}

static int sample(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	bool full;

	/* A catalog that was too small is as large as it must be at the next sample; until then the one before is good. */
	if (walk_is_due(self, &full) && !walk(self))
		settle(self, full);
	for (uint32_t i = 0; state->now && i < state->now->count; i++)
		if ((state->now->groups[i].flags & (GROUP_ROW | GROUP_GONE)) == GROUP_ROW)
			read_group(self, frame, i);
	if (!state->now || state->omitted)
		sonde_partial(self, frame);
	set_totals(self, frame);
	return 0;
}

SONDE_COLLECTOR(cgroup, "CPU time, throttling, memory, limits, pressure and I/O of control groups",
		sample, .options = SONDE_OPTIONS(options), .tables = SONDE_TABLES(cgroup_tables),
		.conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
		.check = check, .start = start);
