/* Lines of perf stat (tools/perf/util/stat-display.c; perf-stat(1), "CSV FORMAT"). */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/number.h"
#include "import/perf_stat.h"

enum { FIELDS = 16, LINE = 1024 };

/* ---- Fields */

struct fields {
	char line[LINE];
	const char *field[FIELDS];
	int count;
};

/* Blanks around it are none of it. */
static const char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static void split(struct fields *fields, const char *line, size_t length, char separator)
{
	char *at = fields->line;

	length = length < LINE ? length : LINE - 1;
	memcpy(fields->line, line, length);
	fields->line[length] = '\0';
	fields->count = 0;
	while (at && fields->count < FIELDS) {
		char *next = strchr(at, separator);

		if (next)
			*next++ = '\0';
		fields->field[fields->count++] = trim(at);
		at = next;
	}
}

/* Words; what groups digits in some locales (no-break spaces, of UTF-8) is taken out first. */
static void split_words(struct fields *fields, const char *line, size_t length)
{
	char *to = fields->line, *word;

	for (const char *at = line; at < line + length && to < fields->line + LINE - 1;) {
		size_t left = (size_t)(line + length - at);

		if (left >= 3 && memcmp(at, "\xe2\x80\xaf", 3) == 0)
			at += 3;
		else if (left >= 2 && memcmp(at, "\xc2\xa0", 2) == 0)
			at += 2;
		else
			*to++ = *at++;
	}
	*to = '\0';
	fields->count = 0;
	for (word = strtok_r(fields->line, " \t\r", &to); word && fields->count < FIELDS;
	     word = strtok_r(NULL, " \t\r", &to))
		fields->field[fields->count++] = word;
}

static bool all_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Why an event has no value: as perf says. */
static const char *absent(const char *text)
{
	if (strcmp(text, "<not counted>") == 0)
		return "not counted";
	return strcmp(text, "<not supported>") == 0 ? "not supported" : NULL;
}

/* ---- What the words are */

/* msec, Joules, MiB, GHz... */
static bool is_unit(const char *text)
{
	return isalpha((unsigned char)*text) && strlen(text) < 16 &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/%")] == '\0';
}

/* cycles, cpu_core/instructions/u, sched:sched_switch, r01c2, L1-dcache-loads. */
static bool is_event(const char *text)
{
	return isalpha((unsigned char)*text) && strlen(text) < PERF_WORD && !strchr(text, ' ') &&
	       !strchr(text, '<');
}

/* CPU3, S0, S0-D0-C1, N0, S0-D0-L3-ID0: a letter or more and a number, once or more. */
static bool is_place(const char *text)
{
	size_t letters = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return letters && letters <= 4 && isdigit((unsigned char)text[letters]) &&
	       text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")] == '\0';
}

static void keep(char *to, const char *text)
{
	snprintf(to, PERF_WORD, "%s", text);
}

/* ---- CSV */

/* Behind the event: [cgroup] time on the PMU, its share, a metric. A share of two fields has a decimal comma. False: it can't be
 * told what is what. */
static bool csv_share(const struct fields *fields, int at, char separator, bool *comma,
		      struct perf_reading *reading)
{
	*comma = false;
	if (at < fields->count && is_event(fields->field[at]))
		at++; /* of -G */
	if (at + 1 >= fields->count || !all_digits(fields->field[at]))
		return at >= fields->count || !*fields->field[at];
	reading->ran = strtod(fields->field[at], NULL);
	if (!import_number(fields->field[at + 1], false, false, &reading->share))
		return false;
	if (separator == ',' && all_digits(fields->field[at + 1]) && at + 2 < fields->count &&
	    all_digits(fields->field[at + 2]) && strlen(fields->field[at + 2]) == 2) {
		*comma = true;
		reading->share += strtod(fields->field[at + 2], NULL) / 100;
	}
	reading->share /= 100;
	return reading->share >= 0 && reading->share <= 1.0001;
}

/* In front of the value: a time, a place, and how many CPUs it is of. */
static bool csv_front(const struct fields *fields, int count, bool comma,
		      struct perf_reading *reading)
{
	int at = 0;

	if (at < count && !is_place(fields->field[at])) {
		if (comma || !import_number(fields->field[at], false, false, &reading->time) ||
		    !strpbrk(fields->field[at], ".,"))
			return false;
		at++;
	}
	if (at < count && is_place(fields->field[at]))
		keep(reading->place, fields->field[at++]);
	if (at < count && *reading->place && all_digits(fields->field[at]))
		at++;
	return at == count;
}

/* The value is two fields before the event, its unit between them. */
static bool csv_line(const struct fields *fields, char separator, struct perf_reading *reading)
{
	for (int i = 2; i < fields->count; i++) {
		const char *value = fields->field[i - 2], *unit = fields->field[i - 1];
		bool comma;

		if (!is_event(fields->field[i]) || (*unit && !is_unit(unit)))
			continue;
		reading->why = absent(value);
		if (!reading->why && !import_number(value, false, false, &reading->value))
			continue;
		keep(reading->event, fields->field[i]);
		keep(reading->unit, unit);
		return csv_share(fields, i + 1, separator, &comma, reading) &&
		       csv_front(fields, i - 2, comma, reading);
	}
	return false;
}

/* ---- Text for people */

/* "(79,97%)" at the end of the line. */
static void text_share(const struct fields *fields, struct perf_reading *reading)
{
	char inside[32];
	const char *last = fields->count ? fields->field[fields->count - 1] : "";
	size_t length = strlen(last);

	if (length < 4 || length >= sizeof inside || *last != '(' ||
	    strcmp(last + length - 2, "%)") != 0)
		return;
	snprintf(inside, sizeof inside, "%.*s", (int)length - 3, last + 1);
	if (import_number(inside, false, false, &reading->share))
		reading->share = reading->share <= 100 ? reading->share / 100 : 1;
}

static bool text_line(struct perf_stat *stat, const struct fields *fields,
		      struct perf_reading *reading)
{
	int at = 0, n = fields->count;
	bool has_unit;
	char two[32];

	if (n && stat->intervals && import_number(fields->field[0], false, false, &reading->time))
		at++;
	if (at < n && is_place(fields->field[at])) {
		keep(reading->place, fields->field[at++]);
		/* How many CPUs it is of: a number before the value. */
		if (at + 2 < n && all_digits(fields->field[at]) &&
		    (isdigit((unsigned char)*fields->field[at + 1]) ||
		     *fields->field[at + 1] == '<'))
			at++;
	}
	if (at + 1 >= n)
		return false;
	snprintf(two, sizeof two, "%.12s %.16s", fields->field[at], fields->field[at + 1]);
	reading->why = absent(two);
	at += reading->why ? 2 : 1;
	if (at >= n)
		return false;
	has_unit = at + 1 < n && is_unit(fields->field[at]) && is_event(fields->field[at + 1]);
	if (!reading->why &&
	    !import_number(fields->field[at - 1], true, !has_unit, &reading->value))
		return false;
	if (has_unit)
		keep(reading->unit, fields->field[at++]);
	if (!is_event(fields->field[at]))
		return false;
	keep(reading->event, fields->field[at]);
	text_share(fields, reading);
	return true;
}

/* "5,001079353 seconds time elapsed", "1.20 seconds user": no event, but perhaps the time. */
static bool is_time(struct perf_stat *stat, const struct fields *fields)
{
	double seconds;

	if (fields->count < 3 || strcmp(fields->field[1], "seconds") != 0 ||
	    !import_number(fields->field[0], false, false, &seconds))
		return false;
	if (strcmp(fields->field[2], "time") == 0)
		stat->elapsed = seconds;
	return true;
}

/* ---- Lines */

static bool next_line(struct perf_stat *stat, const char **line, size_t *length)
{
	const char *end;

	if (stat->at == stat->end)
		return false;
	end = memchr(stat->at, '\n', (size_t)(stat->end - stat->at));
	*line = stat->at;
	*length = (size_t)((end ? end : stat->end) - stat->at);
	stat->at = end ? end + 1 : stat->end;
	stat->line++;
	return true;
}

/* With this separator, or as text for people where it is a blank. */
static bool take(struct perf_stat *stat, char separator, const char *line, size_t length,
		 struct perf_reading *reading)
{
	struct fields fields = { .count = 0 };

	*reading = (struct perf_reading) { .time = -1, .share = 1, .ran = -1 };
	if (separator != ' ') {
		split(&fields, line, length, separator);
		return csv_line(&fields, separator, reading);
	}
	split_words(&fields, line, length);
	return !is_time(stat, &fields) && text_line(stat, &fields, reading);
}

/* Which it is, by the first line that can be read. A comma is tried last: it may be in numbers. */
static bool recognise(struct perf_stat *stat, const char *line, size_t length,
		      struct perf_reading *reading)
{
	static const char separators[] = ";\t|:, ";

	for (const char *s = separators; *s; s++) {
		if (!take(stat, *s, line, length, reading))
			continue;
		stat->separator = *s;
		return true;
	}
	return false;
}

/* Its first character that is no blank; 0: there is none. */
static char first_of(const char *line, size_t length)
{
	while (length && isspace((unsigned char)*line))
		line++, length--;
	return length ? *line : '\0';
}

static int conclude(struct perf_stat *stat)
{
	if (stat->readings && stat->unread <= stat->readings / 2)
		return 0;
	snprintf(
		stat->why, sizeof stat->why,
		stat->readings || stat->unread
			? "%u lines can't be told apart: print it with another separator, perf stat -x ';'"
			: "no line of it is one of perf stat's: print it with perf stat -x ';' or -o FILE",
		stat->unread);
	return -EBADMSG;
}

struct perf_stat perf_stat_text(const char *text, size_t length)
{
	return (struct perf_stat) { .at = text, .end = text + length, .elapsed = -1 };
}

int perf_stat_next(struct perf_stat *stat, struct perf_reading *reading)
{
	const char *line;
	size_t length;
	struct fields fields = { .count = 0 };
	char first;

	while (next_line(stat, &line, &length)) {
		first = first_of(line, length);
		if (first == '#') {
			stat->intervals |= memmem(line, length, " time ", 6) != NULL;
			continue;
		}
		if (memchr(line, '\0', length))
			continue;
		split_words(&fields, line, length);
		if (is_time(stat, &fields))
			continue;
		if (stat->separator ? take(stat, stat->separator, line, length, reading)
				    : recognise(stat, line, length, reading)) {
			stat->readings++;
			return 1;
		}
		stat->unread += isdigit((unsigned char)first) || first == '<';
	}
	return conclude(stat);
}
