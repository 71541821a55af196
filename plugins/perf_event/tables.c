/* The tables: two that say what is counted, and one made for each part of a group. */
#include "collect.h"

enum {
	EVENT_GROUP,
	EVENT_COLUMN,
	EVENT_PMU,
	EVENT_SPEC,
	EVENT_TYPE,
	EVENT_CONFIG,
	EVENT_PART,
	EVENT_USER_ONLY,
	EVENT_OPENED,
	EVENT_FAILED,
	EVENT_ERROR,
	EVENT_REASON
};
enum {
	METRIC_GROUP,
	METRIC_NAME,
	METRIC_PMU,
	METRIC_TABLE,
	METRIC_FORMULA,
	METRIC_UNIT,
	METRIC_BY,
	METRIC_HELP
};
/* clang-format off */
static const struct sonde_column event_columns[] = {
	[EVENT_GROUP]     = { "group", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "group=", .help = "counted at the same time as the others of its part; its table is perf_event_GROUP" },
	[EVENT_COLUMN]    = { "event", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "group file", .help = "column of that table" },
	[EVENT_PMU]       = { "pmu", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "/sys/bus/event_source/devices", .help = "what counts it" },
	[EVENT_SPEC]      = { "name", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "event=, group file", .help = "as it is configured" },
	[EVENT_TYPE]      = { "type", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "perf_event_attr.type", .help = "number of the PMU" },
	[EVENT_CONFIG]    = { "config", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "perf_event_attr.config", .help = "number of the event" },
	[EVENT_PART]      = { "part", SONDE_U64, SONDE_STATE, SONDE_NONE, .help = "0; from 1 on the group does not fit the PMU at once, and this event is in perf_event_GROUP_2 or later; absent: not counted" },
	[EVENT_USER_ONLY] = { "user_only", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "perf_event_attr.exclude_kernel", .help = "1: the kernel's share may not be counted and is missing" },
	[EVENT_OPENED]    = { "opened", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("places"), .origin = "perf_event_open(2)", .help = "CPUs or threads where it is counted" },
	[EVENT_FAILED]    = { "failed", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("places"), .origin = "perf_event_open(2)", .help = "where it could not be opened: 1 where the machine does not know it, or the first CPU refused it" },
	[EVENT_ERROR]     = { "error", SONDE_U64, SONDE_STATE, SONDE_NONE, .origin = "errno", .help = "of the first failure; absent: none" },
	[EVENT_REASON]    = { "reason", SONDE_STR, SONDE_INFO, SONDE_NONE, .help = "why it is not counted, and what would help" },
};
static const struct sonde_column metric_columns[] = {
	[METRIC_GROUP]   = { "group", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "group file", .help = "whose columns it is made of, all counted at the same time" },
	[METRIC_NAME]    = { "metric", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "group file", .help = "its name" },
	[METRIC_PMU]     = { "pmu", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "/sys/bus/event_source/devices", .help = "whose files have it" },
	[METRIC_TABLE]   = { "table", SONDE_STR, SONDE_INFO, SONDE_NONE, .help = "whose columns the formula is of" },
	[METRIC_FORMULA] = { "formula", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "group file", .help = "of what columns grew by over the same time, in base units" },
	[METRIC_UNIT]    = { "unit", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "group file", .help = "what the result is in" },
	[METRIC_BY]      = { "by", SONDE_STR, SONDE_INFO, SONDE_NONE, .help = "keys whose rows have a result of their own; absent: all rows of the PMU have one" },
	[METRIC_HELP]    = { "meaning", SONDE_STR, SONDE_INFO, SONDE_NONE, .origin = "group file", .help = "what it says" },
};
/* clang-format on */

const struct sonde_table perf_event_tables[DECLARED_TABLES] = {
	[TABLE_EVENTS] = { "perf_event", SONDE_COLUMNS(event_columns),
			   .origin = "perf_event_open(2)",
			   .help = "Each event that is to be counted: whether it is, and if not, why.",
			   .rows = 256 },
	[TABLE_METRICS] = { "perf_event_metric", SONDE_COLUMNS(metric_columns),
			    .origin = "plugins/perf_event/groups",
			    .help = "What is made of the events of a group.", .rows = 32 },
};

/* ---- Of the groups */

static const char *const scope_suffix[] = {
	[SCOPE_CPU] = "",
	[SCOPE_PROCESS] = "_process",
	[SCOPE_CGROUP] = "_cgroup",
};

/* Columns before those of events; their order is that of enum key. */
static uint32_t key_columns(uint32_t scope, struct sonde_column *columns)
{
	uint32_t n = 0;

	columns[n++] = (struct sonde_column) { "pmu",
					       SONDE_STR,
					       SONDE_KEY,
					       SONDE_NONE,
					       .origin = "/sys/bus/event_source/devices",
					       .help = "what counts; hybrid CPUs have several" };
	if (scope == SCOPE_CPU) {
		columns[n++] = (struct sonde_column) {
			"cpu",      SONDE_U64,         SONDE_KEY,
			SONDE_NONE, .origin = "cpus=", .help = "on which it was counted"
		};
	} else if (scope == SCOPE_CGROUP) {
		columns[n++] = (struct sonde_column) { "cgroup",
						       SONDE_STR,
						       SONDE_KEY,
						       SONDE_NONE,
						       .origin = "cgroup=",
						       .help = "path in its hierarchy",
						       .sensitivity = SONDE_PATH };
	} else {
		columns[n++] = (struct sonde_column) {
			"pid",      SONDE_U64,         SONDE_KEY,
			SONDE_NONE, .origin = "pids=", .help = "process, with its threads"
		};
		columns[n++] = (struct sonde_column) {
			"start_time",
			SONDE_U64,
			SONDE_KEY,
			SONDE_TICKS,
			.origin = "stat field 22",
			.help = "time after boot at which it started: with pid the identity"
		};
		columns[n++] = (struct sonde_column) { "comm",
						       SONDE_STR,
						       SONDE_INFO,
						       SONDE_NONE,
						       .origin = "stat field 2",
						       .help = "name when counting began",
						       .sensitivity = SONDE_NAME };
	}
	return n;
}

enum { COLUMNS_MOST = 64, TABLE_NAME = 2 * NAME_SIZE };

/* The column of this member; hybrid PMUs share those of one name. */
static void add_column(struct sonde_column *columns, uint32_t *n, struct member *member)
{
	const struct meaning *meaning = &member->meaning;

	for (member->slot = 0; member->slot < *n; member->slot++)
		if (strcmp(columns[member->slot].name, member->column) == 0)
			return;
	if (*n + 2 >= COLUMNS_MOST) {
		member->part = PARTS_MOST;
		return;
	}
	columns[(*n)++] = (struct sonde_column) {
		.name = member->column,
		.type = SONDE_U64,
		.semantics = SONDE_COUNTER,
		.unit = meaning->base,
		.scale_mul = meaning->mul,
		.scale_div = meaning->div,
		.counted = meaning->base == SONDE_BASE_COUNT ? meaning->counted : NULL,
		.origin = member->spec,
		.help = meaning->help,
	};
}

/* "perf_event_core_process_2" */
static void table_name(const struct state *state, uint32_t group, uint32_t part,
		       char name[TABLE_NAME])
{
	char number[12] = "";

	if (part)
		snprintf(number, sizeof number, "_%u", part + 1);
	snprintf(name, TABLE_NAME, "perf_event_%.40s%s%s", state->groups[group].name,
		 scope_suffix[state->scope], number);
}

static int make_table(struct sonde_instance *self, struct group *group, uint32_t part)
{
	struct state *state = self->state;
	struct sonde_column columns[COLUMNS_MOST];
	char name[TABLE_NAME];
	uint32_t n = key_columns(state->scope, columns), keys = n;
	struct sonde_table table = { .name = name,
				     .origin = "perf_event_open(2)",
				     .help = group->help };
	int index;

	for (uint32_t l = 0; l < state->nlineups; l++) {
		struct lineup *lineup = &state->lineups[l];

		for (uint32_t m = 0; m < lineup->nmembers; m++)
			if (&state->groups[lineup->group] == group &&
			    lineup->members[m].part == part)
				add_column(columns, &n, &lineup->members[m]);
	}
	if (n == keys)
		return 0;
	group->time[part] = n;
	columns[n++] =
		(struct sonde_column) { "time_enabled", SONDE_U64, SONDE_COUNTER, SONDE_NS,
					.help = "time for which the group was to be counted" };
	columns[n++] =
		(struct sonde_column) { "time_running", SONDE_U64, SONDE_COUNTER, SONDE_NS,
					.help = "time for which it was; less than time_enabled "
						"where groups take turns: values are of this "
						"time, unscaled" };
	table_name(state, (uint32_t)(group - state->groups), part, name);
	table.columns = (struct sonde_array) { columns, n, sizeof columns[0] };
	table.rows = state->ntargets + 1;
	index = sonde_add_table(self, &table);
	if (index < 0)
		return index;
	group->table[part] = (uint32_t)index;
	return 0;
}

int tables_make(struct sonde_instance *self)
{
	struct state *state = self->state;
	int err = 0;

	for (uint32_t g = 0; g < state->ngroups; g++)
		for (uint32_t part = 0; part < PARTS_MOST && !err; part++)
			err = make_table(self, &state->groups[g], part);
	return err;
}

/* ---- What is counted */

static void set_events(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;
	struct sonde_row row;

	for (uint32_t l = 0; l < state->nlineups; l++) {
		const struct lineup *lineup = &state->lineups[l];

		for (uint32_t m = 0; m < lineup->nmembers; m++) {
			const struct member *member = &lineup->members[m];

			if (!sonde_row(self, frame, TABLE_EVENTS, &row))
				return;
			sonde_set_str(&row, EVENT_GROUP, state->groups[lineup->group].name);
			sonde_set_str(&row, EVENT_COLUMN, member->column);
			sonde_set_str(&row, EVENT_PMU, lineup->pmu);
			sonde_set_str(&row, EVENT_SPEC, member->spec);
			if (member->opened || member->error) {
				sonde_set_u64(&row, EVENT_TYPE, member->code.type);
				sonde_set_u64(&row, EVENT_CONFIG, member->code.config);
			}
			if (member->part < PARTS_MOST)
				sonde_set_u64(&row, EVENT_PART, member->part);
			sonde_set_u64(&row, EVENT_USER_ONLY, member->user_only);
			sonde_set_u64(&row, EVENT_OPENED, member->opened);
			sonde_set_u64(&row, EVENT_FAILED, member->failed);
			if (!member->reason[0])
				continue;
			if (member->error)
				sonde_set_u64(&row, EVENT_ERROR, (uint64_t)member->error);
			sonde_set_str(&row, EVENT_REASON, member->reason);
		}
	}
}

static void set_metrics(struct sonde_instance *self, struct sonde_frame *frame)
{
	static const char *const by[] = {
		[SCOPE_CPU] = NULL,
		[SCOPE_PROCESS] = "pid start_time",
		[SCOPE_CGROUP] = "cgroup",
	};
	const struct state *state = self->state;
	char name[TABLE_NAME];
	struct sonde_row row;

	for (uint32_t i = 0; i < state->nmetrics; i++) {
		const struct metric *metric = &state->metrics[i];

		if (!sonde_row(self, frame, TABLE_METRICS, &row))
			return;
		sonde_set_str(&row, METRIC_GROUP, state->groups[metric->group].name);
		sonde_set_str(&row, METRIC_NAME, metric->name);
		sonde_set_str(&row, METRIC_PMU, metric->pmu);
		table_name(state, metric->group, metric->part, name);
		sonde_set_str(&row, METRIC_TABLE, name);
		sonde_set_str(&row, METRIC_FORMULA, metric->formula);
		sonde_set_str(&row, METRIC_UNIT, metric->unit);
		if (by[state->scope])
			sonde_set_str(&row, METRIC_BY, by[state->scope]);
		sonde_set_str(&row, METRIC_HELP, metric->help);
	}
}

void tables_describe(struct sonde_instance *self, struct sonde_frame *frame)
{
	set_events(self, frame);
	set_metrics(self, frame);
}
