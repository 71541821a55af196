/* Lines of vmstat (procps, src/vmstat.c; vmstat(8), "FIELD DESCRIPTION FOR VM MODE"). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "import/vmstat.h"

static const char *const names[VMSTAT_FIELDS] = {
	[VMSTAT_R] = "r",         [VMSTAT_B] = "b",           [VMSTAT_SWPD] = "swpd",
	[VMSTAT_FREE] = "free",   [VMSTAT_BUFF] = "buff",     [VMSTAT_CACHE] = "cache",
	[VMSTAT_INACT] = "inact", [VMSTAT_ACTIVE] = "active", [VMSTAT_SI] = "si",
	[VMSTAT_SO] = "so",       [VMSTAT_BI] = "bi",         [VMSTAT_BO] = "bo",
	[VMSTAT_IN] = "in",       [VMSTAT_CS] = "cs",         [VMSTAT_US] = "us",
	[VMSTAT_SY] = "sy",       [VMSTAT_ID] = "id",         [VMSTAT_WA] = "wa",
	[VMSTAT_ST] = "st",       [VMSTAT_GU] = "gu",
};

/* More than this is no number of any machine, but two that have grown together. */
static const uint64_t most = 1000000000000000;

/* ---- Headers */

static enum vmstat_field field_of(const char *word, size_t length)
{
	for (int i = 0; i < VMSTAT_FIELDS; i++)
		if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
			return i;
	return VMSTAT_FIELDS;
}

/* "UTC", "+0330": others have a name that several offsets share, or that only a table of zones knows. */
static bool zone_offset(const char *zone, int32_t *offset)
{
	char sign;
	int hours, minutes = 0, used = 0;

	*offset = 0;
	if (strcmp(zone, "UTC") == 0 || strcmp(zone, "GMT") == 0)
		return true;
	if (sscanf(zone, "%c%2d%n%2d%n", &sign, &hours, &used, &minutes, &used) < 2 || zone[used] ||
	    (sign != '+' && sign != '-') || hours > 14 || minutes > 59 || minutes < 0 || hours < 0)
		return false;
	*offset = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
	return true;
}

/* The line that names the columns; with -t the last word is the zone, which may have no name. */
static bool take_header(struct vmstat_text *vmstat)
{
	struct cursor line = vmstat->line;
	enum vmstat_field column[VMSTAT_COLUMNS];
	bool has[VMSTAT_FIELDS + 1] = { false };
	const char *word, *behind = NULL;
	uint32_t n = 0, known = 0;
	size_t length, zone = 0;

	while ((length = next_word(&line, &word))) {
		if (n == VMSTAT_COLUMNS)
			return false;
		column[n] = field_of(word, length);
		if (column[n] != VMSTAT_FIELDS && has[column[n]])
			return false;
		has[column[n]] = true;
		behind = word;
		zone = length;
		if (column[n++] != VMSTAT_FIELDS)
			known = n;
	}
	if (!has[VMSTAT_R] || !has[VMSTAT_FREE] || !has[VMSTAT_ID])
		return false;
	*vmstat->zone = '\0';
	vmstat->zoned = false;
	if (known < n) {
		snprintf(vmstat->zone, sizeof vmstat->zone, "%.*s", (int)zone, behind);
		vmstat->zoned = zone_offset(vmstat->zone, &vmstat->utc_offset);
	}
	vmstat->ncolumns = known;
	memcpy(vmstat->column, column, known * sizeof *column);
	return true;
}

/* ---- Other modes */

/* Of what is printed first, and what to print instead. Prose may have such words as well, but no count before them. */
/* clang-format off */
static const struct {
	const char *words[2]; /* both are in one line */
	const char *mode, *instead;
	bool counted; /* which begins with a number */
} others[] = {
	{ { "disk-", "reads" }, "-d", "disks are not imported", false },
	{ { " disks", "" }, "-D", "its counts are since boot, of all disks together", true },
	{ { "requested writes", "reads" }, "-p", "a partition is not imported", false },
	{ { "total memory", "" }, "-s", "its counts are since boot", true },
	{ { "Cache", "Pages" }, "-m", "slabs are not imported", false },
	{ { " forks", "" }, "-f", "it is one count since boot", true },
};
/* clang-format on */

static bool has_words(const struct cursor *line, const char *words)
{
	return memmem(line->at, (size_t)(line->end - line->at), words, strlen(words)) != NULL;
}

static bool has_count(struct cursor line)
{
	skip_blanks(&line);
	return line.at < line.end && *line.at >= '0' && *line.at <= '9';
}

static int refuse_mode(struct vmstat_text *vmstat)
{
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (!has_words(&vmstat->line, others[i].words[0]) ||
		    !has_words(&vmstat->line, others[i].words[1]) ||
		    (others[i].counted && !has_count(vmstat->line)))
			continue;
		snprintf(vmstat->why, sizeof vmstat->why,
			 "this is vmstat %s: %s; print intervals, vmstat -wt 1 60, or use sonde "
			 "record",
			 others[i].mode, others[i].instead);
		return -EBADMSG;
	}
	return 0;
}

/* ---- Rows */

/* "2026-11-30 15:13:54" */
static bool take_time(struct cursor *line, int64_t *time)
{
	char text[32];
	int used = 0;
	struct tm tm = { 0 };

	skip_blanks(line);
	snprintf(text, sizeof text, "%.*s",
		 (int)(line->end - line->at < 31 ? line->end - line->at : 31), line->at);
	if (sscanf(text, "%4d-%2d-%2d %2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) != 6 ||
	    tm.tm_year < 1970 || tm.tm_year > 2200 || tm.tm_mon < 1 || tm.tm_mon > 12 ||
	    tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 ||
	    tm.tm_sec > 60 || tm.tm_hour < 0 || tm.tm_min < 0 || tm.tm_sec < 0)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*time = timegm(&tm);
	line->at += used;
	return true;
}

static bool is_share(enum vmstat_field field)
{
	return field >= VMSTAT_US && field <= VMSTAT_GU;
}

/* A number for each column of the header, and a time where there is one: else it is another line, or fields have grown together. */
static bool take_row(const struct vmstat_text *vmstat, struct vmstat_row *row)
{
	struct cursor line = vmstat->line;
	const char *word;

	memset(row->have, 0, sizeof row->have);
	row->time = -1;
	for (uint32_t i = 0; i < vmstat->ncolumns; i++) {
		enum vmstat_field field = vmstat->column[i];
		struct cursor number;
		size_t length = next_word(&line, &word);
		uint64_t value;

		number = whole(word, length);
		if (!next_u64(&number, &value) || number.at != number.end || value > most ||
		    (is_share(field) && value > 100))
			return false;
		if (field == VMSTAT_FIELDS)
			continue;
		row->have[field] = true;
		row->value[field] = value;
	}
	skip_blanks(&line);
	if (line.at < line.end && !take_time(&line, &row->time))
		return false;
	return !next_word(&line, &word);
}

static int conclude(struct vmstat_text *vmstat)
{
	if (vmstat->rows && vmstat->unread <= vmstat->rows)
		return 0;
	if (!vmstat->ncolumns)
		snprintf(
			vmstat->why, sizeof vmstat->why,
			"no line of it is the header of vmstat (r b swpd free ...): print it with vmstat "
			"-wt 1 60");
	else if (vmstat->unread)
		snprintf(vmstat->why, sizeof vmstat->why,
			 "%u lines, line %u first, have not the columns of the header: print it "
			 "with vmstat -wt 1 60",
			 vmstat->unread, vmstat->first_unread);
	else
		snprintf(vmstat->why, sizeof vmstat->why,
			 "nothing stands below the header: print it with vmstat -wt 1 60");
	return -EBADMSG;
}

struct vmstat_text vmstat_text(const char *text, size_t length)
{
	return (struct vmstat_text) { .line = cursor(text, length) };
}

int vmstat_next(struct vmstat_text *vmstat, struct vmstat_row *row)
{
	struct cursor first;
	int err;

	row->missed = 0;
	while (next_line(&vmstat->line)) {
		vmstat->number++;
		if (vmstat->line.at < vmstat->line.end && vmstat->line.end[-1] == '\r')
			vmstat->line.end--;
		if (take_header(vmstat))
			continue;
		err = vmstat->ncolumns ? 0 : refuse_mode(vmstat);
		if (err)
			return err;
		if (vmstat->ncolumns && take_row(vmstat, row)) {
			vmstat->rows++;
			return 1;
		}
		first = vmstat->line;
		skip_blanks(&first);
		if (!vmstat->ncolumns || first.at == first.end || *first.at < '0' ||
		    *first.at > '9')
			continue;
		row->missed++;
		vmstat->unread++;
		if (!vmstat->first_unread)
			vmstat->first_unread = vmstat->number;
	}
	return conclude(vmstat);
}
