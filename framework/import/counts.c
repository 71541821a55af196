/* Events by name (perf-list(1); tools/perf/util/parse-events.c) into the tables that the collector perf_event makes of the same events on a
 * CPU that it does not know: the text does not say which CPU it is from. */
#include <errno.h>
#include <string.h>

#include "host/must.h"
#include "import/counts.h"

/* clang-format off */
static const struct known {
	const char *event, *group, *column;
} known[] = {
	{ "cycles", "core", "cycles" },
	{ "cpu-cycles", "core", "cycles" },
	{ "instructions", "core", "instructions" },
	{ "instructions", "llc", "instructions" },
	{ "instructions", "cache", "instructions" },
	{ "stalled-cycles-frontend", "core", "stalled_cycles_frontend" },
	{ "stalled-cycles-backend", "core", "stalled_cycles_backend" },
	{ "LLC-loads", "llc", "llc_reads" },
	{ "LLC-load-misses", "llc", "llc_read_misses" },
	{ "cache-references", "cache", "cache_references" },
	{ "cache-misses", "cache", "cache_misses" },
	{ "dTLB-loads", "tlb", "dtlb_loads" },
	{ "dTLB-load-misses", "tlb", "dtlb_load_misses" },
	{ "branches", "branch", "branches" },
	{ "branch-instructions", "branch", "branches" },
	{ "branch-misses", "branch", "branch_misses" },
};
/* clang-format on */

enum { KNOWN = sizeof known / sizeof *known };

/* ---- Names */

/* "cpu_core/instructions/u" -> cpu_core, instructions; "cycles:u" -> cpu, cycles. A tracepoint keeps its colon. */
static void split_name(const char *event, char pmu[NAME], char name[PERF_WORD])
{
	const char *slash = strchr(event, '/');
	char *end;

	snprintf(pmu, NAME, "cpu");
	snprintf(name, PERF_WORD, "%s", event);
	if (slash && slash != event && strlen(slash) > 1) {
		snprintf(pmu, NAME, "%.*s", (int)(slash - event), event);
		snprintf(name, PERF_WORD, "%s", slash + 1);
		end = strrchr(name, '/');
		if (end)
			*end = '\0';
	}
	end = strrchr(name, ':');
	if (end && end[1 + strspn(end + 1, "ukhGHpPSDIeW")] == '\0')
		*end = '\0';
}

/* A name that a column may have: letters, digits and lines. */
static void plain_name(const char *from, char to[NAME])
{
	size_t n = 0;

	for (; *from && n < NAME - 16; from++) {
		bool good = (*from >= 'a' && *from <= 'z') || (*from >= '0' && *from <= '9');

		if (*from >= 'A' && *from <= 'Z')
			to[n++] = (char)(*from - 'A' + 'a');
		else if (good)
			to[n++] = *from;
		else if (n && to[n - 1] != '_')
			to[n++] = '_';
	}
	to[n] = '\0';
}

/* ---- Tables, columns, keys */

static struct count_table *table_of(struct counts *counts, const char *group)
{
	for (uint32_t i = 0; i < counts->ntables; i++)
		if (strcmp(counts->table[i].group, group) == 0)
			return &counts->table[i];
	if (counts->ntables == TABLES)
		return NULL;
	snprintf(counts->table[counts->ntables].group, NAME, "%s", group);
	return &counts->table[counts->ntables++];
}

/* Its place; COLUMNS: there is no room. */
static uint32_t column_of(struct count_table *table, const char *name, const char *event, bool add)
{
	for (uint32_t i = 0; i < table->ncolumns; i++)
		if (strcmp(table->column[i].name, name) == 0)
			return i;
	if (!add || table->ncolumns == COLUMNS)
		return COLUMNS;
	snprintf(table->column[table->ncolumns].name, NAME, "%s", name);
	snprintf(table->column[table->ncolumns].event, PERF_WORD, "%s", event);
	return table->ncolumns++;
}

static struct count_key *key_of(struct counts *counts, uint32_t table, const char *pmu,
				const char *place, bool add)
{
	struct count_key *key;

	for (size_t i = 0; i < counts->nkeys; i++)
		if (counts->keys[i].table == table && strcmp(counts->keys[i].pmu, pmu) == 0 &&
		    strcmp(counts->keys[i].place, place) == 0)
			return &counts->keys[i];
	if (!add)
		return NULL;
	counts->keys = must_grow(counts->keys, counts->nkeys, sizeof *counts->keys);
	key = &counts->keys[counts->nkeys++];
	*key = (struct count_key) { .table = table, .share = 1, .enabled = -1 };
	snprintf(key->pmu, sizeof key->pmu, "%s", pmu);
	snprintf(key->place, sizeof key->place, "%s", place);
	return key;
}

/* Each table and column that an event is in, one after the other: *from is where to look on. False: there is no more. */
static bool next_known(const char *name, uint32_t *from, const char **group, const char **column)
{
	for (; *from < KNOWN; (*from)++)
		if (strcmp(known[*from].event, name) == 0) {
			*group = known[*from].group;
			*column = known[(*from)++].column;
			return true;
		}
	return false;
}

/* What 64 bits hold, with room for rounding; perf prints nothing that is more. */
static const double most = 9e18;

/* Into one table; `add` while learning. */
static int apply(struct counts *counts, const struct perf_reading *reading, const char *pmu,
		 const char *group, const char *column, bool add)
{
	struct count_table *table = table_of(counts, group);
	double value = reading->value * (*reading->unit ? 1e6 : 1);
	struct count_key *key;
	uint32_t at;

	if (!table)
		return -E2BIG;
	at = column_of(table, column, reading->event, add);
	key = key_of(counts, (uint32_t)(table - counts->table), pmu, reading->place, add);
	if (at == COLUMNS || !key)
		return add ? -E2BIG : 0;
	key->asked[at] = true;
	if (reading->why || value > most) {
		table->column[at].why = reading->why ? reading->why : "larger than a counter is";
		return 0;
	}
	if (*reading->unit)
		memcpy(table->column[at].unit, reading->unit, PERF_WORD);
	key->ever[at] = key->any = table->column[at].ever = true;
	if (add || key->counted[at])
		return 0;
	key->counted[at] = true;
	key->value[at] = value;
	if (reading->share <= key->share) {
		key->share = reading->share;
		if (reading->ran >= 0 && reading->ran < most * reading->share)
			key->enabled = reading->ran / reading->share;
	}
	return 0;
}

static int each_table(struct counts *counts, const struct perf_reading *reading, bool add)
{
	char pmu[NAME], name[PERF_WORD], own[NAME];
	const char *group, *column;
	uint32_t from = 0;
	bool any = false;
	int err = 0;

	split_name(reading->event, pmu, name);
	while (!err && next_known(name, &from, &group, &column)) {
		err = apply(counts, reading, pmu, group, column, add);
		any = true;
	}
	if (any || err)
		return err;
	plain_name(name, own);
	return *own ? apply(counts, reading, pmu, own, own, add) : 0;
}

int counts_learn(struct counts *counts, const struct perf_reading *reading)
{
	if (strncmp(reading->place, "CPU", 3) != 0)
		counts->cpus = false;
	return each_table(counts, reading, true);
}

/* Instructions stand in several tables: alone there they tell nothing. */
void counts_learnt(struct counts *counts)
{
	for (uint32_t t = 0; t < counts->ntables; t++) {
		struct count_table *table = &counts->table[t];

		for (uint32_t c = 0; c < table->ncolumns; c++)
			table->kept |= table->column[c].ever &&
				       (strcmp(table->column[c].name, "instructions") != 0 ||
					strcmp(table->group, "core") == 0);
	}
}

/* ---- Intervals */

void counts_take(struct counts *counts, const struct perf_reading *reading)
{
	each_table(counts, reading, false);
}

/* The scaled value times the share is what the PMU counted, so that the table's rule holds: an estimate of the whole is
 * value * time_enabled / time_running. */
void counts_end(struct counts *counts, double ns)
{
	for (size_t i = 0; i < counts->nkeys; i++) {
		struct count_key *key = &counts->keys[i];
		double enabled = key->enabled >= 0 ? key->enabled : ns;

		key->known = key->any && key->share > 0;
		for (uint32_t c = 0; c < COLUMNS; c++)
			key->known &= !key->ever[c] || key->counted[c];
		for (uint32_t c = 0; key->known && c < COLUMNS; c++)
			key->sum[c] +=
				key->counted[c] ? (uint64_t)(key->value[c] * key->share + 0.5) : 0;
		if (key->known) {
			key->time_enabled += (uint64_t)(enabled + 0.5);
			key->time_running += (uint64_t)(enabled * key->share + 0.5);
		}
		memset(key->counted, 0, sizeof key->counted);
		key->share = 1;
		key->enabled = -1;
	}
}

void counts_free(struct counts *counts)
{
	free(counts->keys);
}
