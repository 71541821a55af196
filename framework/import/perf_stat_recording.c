/* Readings of perf stat as a recording. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "host/must.h"
#include "import/counts.h"
#include "import/import.h"
#include "import/writing.h"

enum { EVENT_GROUP, EVENT_COLUMN, EVENT_PMU, EVENT_OPENED, EVENT_FAILED, EVENT_REASON };

/* As the collector's, as far as a text tells. */
/* clang-format off */
static const struct sonde_column event_columns[] = {
	[EVENT_GROUP]  = { "group", SONDE_STR, SONDE_KEY, SONDE_NONE, .help = "its table is perf_event_GROUP" },
	[EVENT_COLUMN] = { "event", SONDE_STR, SONDE_KEY, SONDE_NONE, .help = "column of that table" },
	[EVENT_PMU]    = { "pmu", SONDE_STR, SONDE_KEY, SONDE_NONE, .help = "what counts it" },
	[EVENT_OPENED] = { "opened", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("places"), .help = "where it was counted" },
	[EVENT_FAILED] = { "failed", SONDE_U64, SONDE_GAUGE, SONDE_COUNT("places"), .help = "where it was not" },
	[EVENT_REASON] = { "reason", SONDE_STR, SONDE_INFO, SONDE_NONE, .help = "why not" },
};
static const struct sonde_column pmu_column = { "pmu", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "perf stat", .help = "what counts" };
static const struct sonde_column cpu_column = { "cpu", SONDE_U64, SONDE_KEY, SONDE_NONE, .origin = "perf stat -A", .help = "on which it was counted" };
static const struct sonde_column place_column = { "place", SONDE_STR, SONDE_KEY, SONDE_NONE, .origin = "perf stat --per-...", .help = "CPU, core, die, socket or node" };
/* clang-format on */
static const struct sonde_table event_table = {
	.name = "perf_event",
	.columns = SONDE_ARRAY(event_columns),
	.origin = "perf stat",
	.help = "Each event that was to be counted: in how many places it was, and why not in others.",
};
static const char section[] = "perf_event";

struct importing {
	struct counts counts;
	struct writing writing;
};

static bool has_places(const struct counts *counts)
{
	for (size_t i = 0; i < counts->nkeys; i++)
		if (*counts->keys[i].place)
			return true;
	return false;
}

/* ---- Tables */

static int make_table(struct importing *im, uint32_t t)
{
	const struct count_table *counted = &im->counts.table[t];
	struct sonde_column columns[COLUMNS + 4] = { pmu_column };
	char name[2 * NAME];
	struct sonde_table table = { .name = name,
				     .origin = "perf stat",
				     .help = "Imported from perf stat." };
	uint32_t n = 1;

	snprintf(name, sizeof name, "perf_event_%s", counted->group);
	if (has_places(&im->counts))
		columns[n++] = im->counts.cpus ? cpu_column : place_column;
	for (uint32_t i = 0; i < counted->ncolumns; i++) {
		const struct count_column *c = &counted->column[i];
		bool time = strcmp(c->unit, "msec") == 0;

		if (!c->ever)
			continue;
		columns[n++] = (struct sonde_column) { c->name,
						       SONDE_U64,
						       SONDE_COUNTER,
						       time ? SONDE_BASE_NS : SONDE_BASE_COUNT,
						       1,
						       *c->unit && !time ? 1000000 : 1,
						       time       ? NULL
						       : *c->unit ? c->unit
								  : "events",
						       .origin = c->event,
						       .help = "as perf stat counted it" };
	}
	columns[n++] = (struct sonde_column) {
		"time_enabled",        SONDE_U64,
		SONDE_COUNTER,         SONDE_NS,
		.origin = "perf stat", .help = "time in which it was to be counted"
	};
	columns[n++] = (struct sonde_column) {
		"time_running",        SONDE_U64,
		SONDE_COUNTER,         SONDE_NS,
		.origin = "perf stat", .help = "time in which all of it was on the PMU"
	};
	table.columns = (struct sonde_array) { columns, n, sizeof *columns };
	return writing_table(&im->writing, &table, section);
}

static int make_tables(struct importing *im)
{
	int err = 0;

	for (uint32_t t = 0; !err && t < im->counts.ntables; t++)
		err = make_table(im, t);
	return err ? err : writing_table(&im->writing, &event_table, section);
}

/* ---- Rows */

static void add_counts(struct importing *im, const struct count_key *key)
{
	const struct count_table *table = &im->counts.table[key->table];
	uint32_t slot = 0;
	struct sonde_row row;

	if (!table->kept || !key->any || !frame_row(&im->writing.frame, key->table, &row))
		return;
	sonde_set_str(&row, slot++, key->pmu);
	if (has_places(&im->counts) && im->counts.cpus)
		sonde_set_u64(&row, slot++, strtoull(key->place + 3, NULL, 10));
	else if (has_places(&im->counts))
		sonde_set_str(&row, slot++, key->place);
	if (!key->known)
		return;
	for (uint32_t c = 0; c < table->ncolumns; c++) {
		if (key->ever[c])
			sonde_set_u64(&row, slot, key->sum[c]);
		slot += table->column[c].ever;
	}
	sonde_set_u64(&row, slot++, key->time_enabled);
	sonde_set_u64(&row, slot, key->time_running);
}

/* Of an event on a PMU, in how many places it was counted and in how many never. */
static void count_places(const struct counts *counts, const struct count_key *of, uint32_t column,
			 uint64_t *opened, uint64_t *failed)
{
	*opened = *failed = 0;
	for (const struct count_key *key = counts->keys; key < counts->keys + counts->nkeys;
	     key++) {
		if (key->table != of->table || strcmp(key->pmu, of->pmu) != 0 ||
		    !key->asked[column])
			continue;
		*opened += key->ever[column];
		*failed += !key->ever[column];
	}
}

static bool is_first_of_pmu(const struct counts *counts, const struct count_key *of)
{
	const struct count_key *key = counts->keys;

	while (key->table != of->table || strcmp(key->pmu, of->pmu) != 0)
		key++;
	return key == of;
}

static void add_events(struct importing *im, const struct count_key *key)
{
	const struct count_table *table = &im->counts.table[key->table];
	struct sonde_row row;

	for (uint32_t c = 0; c < table->ncolumns; c++) {
		uint64_t opened, failed;

		count_places(&im->counts, key, c, &opened, &failed);
		if (opened + failed == 0 ||
		    !frame_row(&im->writing.frame, im->counts.ntables, &row))
			continue;
		sonde_set_str(&row, EVENT_GROUP, table->group);
		sonde_set_str(&row, EVENT_COLUMN, table->column[c].name);
		sonde_set_str(&row, EVENT_PMU, key->pmu);
		sonde_set_u64(&row, EVENT_OPENED, opened);
		sonde_set_u64(&row, EVENT_FAILED, failed);
		if (failed)
			sonde_set_str(&row, EVENT_REASON, table->column[c].why);
	}
}

static void add_rows(struct writing *writing, void *context)
{
	struct importing *im = context;

	(void)writing;
	for (size_t i = 0; i < im->counts.nkeys; i++)
		add_counts(im, &im->counts.keys[i]);
	for (size_t i = 0; i < im->counts.nkeys; i++)
		if (is_first_of_pmu(&im->counts, &im->counts.keys[i]))
			add_events(im, &im->counts.keys[i]);
}

/* ---- Time */

/* "# started on Mon Nov 30 12:00:00 2026", in whatever zone that was: taken as UTC. */
static int64_t started_on(const char *text, size_t length)
{
	static const char words[] = "# started on ",
			  months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const char *at = memmem(text, length, words, sizeof words - 1), *month;
	char name[4] = "", line[64];
	int day, hour, minute, second, year;
	struct tm tm = { 0 };

	if (!at)
		return 0;
	snprintf(line, sizeof line, "%.*s",
		 (int)(text + length - at < 60 ? text + length - at : 60), at);
	if (sscanf(line + sizeof words - 1, "%*3s %3s %d %d:%d:%d %d", name, &day, &hour, &minute,
		   &second, &year) != 6)
		return 0;
	month = strstr(months, name);
	tm = (struct tm) { .tm_year = year - 1900,
			   .tm_mday = day,
			   .tm_hour = hour,
			   .tm_min = minute,
			   .tm_sec = second };
	tm.tm_mon = month ? (int)(month - months) / 3 : 0;
	return year >= 1970 && year < 2200 ? timegm(&tm) : 0;
}

/* Of a whole run: what perf says, else the longest time that anything was counted. */
static double length_of(const struct perf_stat *stat, const struct counts *counts)
{
	double longest = 0;

	if (stat->elapsed > 0)
		return stat->elapsed;
	for (size_t i = 0; i < counts->nkeys; i++)
		if (counts->keys[i].enabled > longest)
			longest = counts->keys[i].enabled;
	return longest > 0 ? longest / 1e9 : 1;
}

/* ---- All of it */

static int learn(struct importing *im, struct perf_stat *stat)
{
	struct perf_reading reading;
	int more, err = 0;

	while (!err && (more = perf_stat_next(stat, &reading)) > 0)
		err = counts_learn(&im->counts, &reading);
	counts_learnt(&im->counts);
	return err ? err : more;
}

static int write_all(struct importing *im, struct perf_stat stat, double elapsed)
{
	struct perf_reading reading, before = { .time = -1 };
	double past = 0, at;
	int more, err;

	for (size_t i = 0; i < im->counts.nkeys; i++)
		im->counts.keys[i].known = true;
	err = writing_instant(&im->writing, 0, false, add_rows, im);
	stat.elapsed = elapsed;
	do {
		more = perf_stat_next(&stat, &reading);
		/* An interval ends where the time changes, and with the text. */
		if (!err && before.event[0] && (more <= 0 || reading.time != before.time)) {
			at = before.time >= 0 ? before.time : length_of(&stat, &im->counts);
			if (!(at > past && at < 1e9))
				at = past + 1;
			counts_end(&im->counts, (at - past) * 1e9);
			err = writing_instant(&im->writing, at, more <= 0, add_rows, im);
			past = at;
		}
		if (more > 0)
			counts_take(&im->counts, &reading);
		before = reading;
	} while (!err && more > 0);
	return err;
}

int import_perf_stat(const char *text, size_t length, const struct import_options *options, int fd,
		     char *why, size_t size)
{
	struct importing *im = must(calloc(1, sizeof *im));
	struct perf_stat stat = perf_stat_text(text, length);
	int err;

	(void)options;
	im->counts.cpus = true;
	err = learn(im, &stat);
	snprintf(why, size, "%s",
		 err == -E2BIG ? "more than 128 groups, or 24 events in one: import fewer at once"
			       : stat.why);
	if (err == -E2BIG)
		err = -EBADMSG;
	im->writing.tool = "perf";
	im->writing.started = started_on(text, length) * 1000000000;
	if (!err)
		err = make_tables(im);
	if (*im->writing.why) {
		snprintf(why, size, "%s", im->writing.why);
		err = -EBADMSG;
	}
	if (!err)
		err = writing_start(&im->writing, fd);
	if (!err)
		err = write_all(im, perf_stat_text(text, length), stat.elapsed);
	err = writing_end(&im->writing, err);
	counts_free(&im->counts);
	free(im);
	return err;
}
