/* Group files: their lines. */
#include "groupfile.h"

#include <sonde/formula.h>

enum kind { NOTHING, SECTION, MATCH, PMU, EVENT, METRIC, BAD };

/* A stretch of a line. */
struct span {
	const char *at;
	size_t length;
};

struct line {
	enum kind kind;
	struct span name, value, unit, help;
	uint64_t times;  /* the number before an EVENT; 1 without one */
	bool optional;   /* ?= */
	const char *why; /* of a BAD one */
};

static struct span trimmed(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	return (struct span) { at, (size_t)(end - at) };
}

static bool is(struct span span, const char *text)
{
	return strlen(text) == span.length && memcmp(span.at, text, span.length) == 0;
}

static void copy(char *to, size_t size, struct span from)
{
	size_t n = from.length < size ? from.length : size - 1;

	memcpy(to, from.at, n);
	to[n] = '\0';
}

static bool is_name(struct span span)
{
	for (size_t i = 0; i < span.length; i++) {
		char c = span.at[i];

		if (!((c >= 'a' && c <= 'z') || c == '_' || (i && c >= '0' && c <= '9')))
			return false;
	}
	return span.length && span.length < NAME_SIZE && span.at[0] != '_';
}

/* A column of every such table. */
static bool is_taken(struct span name)
{
	static const char *const taken[] = { "pmu",  "cpu",    "pid",          "start_time",
					     "comm", "cgroup", "time_enabled", "time_running" };

	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		if (is(name, taken[i]))
			return true;
	return false;
}

static struct line bad(const char *why)
{
	return (struct line) { .kind = BAD, .why = why };
}

/* "6 * EVENT": what is left is the event. False: no number that a column's scale may be. */
static bool take_times(struct line *line)
{
	struct cursor c = whole(line->value.at, line->value.length);

	line->times = 1;
	if (!memchr(line->value.at, '*', line->value.length))
		return true;
	if (!next_u64(&c, &line->times) || !line->times || line->times > UINT16_MAX)
		return false;
	skip_blanks(&c);
	if (!take(&c, "*"))
		return false;
	line->value = trimmed(c.at, c.end);
	return true;
}

/* "EVENT [unit] help" */
static struct line assigned(enum kind kind, struct span name, const char *at, const char *end)
{
	struct line line = { .kind = kind, .name = name };
	const char *open = memchr(at, '[', (size_t)(end - at));
	const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;

	if (!is_name(name) || is_taken(name))
		return bad("a name is [a-z][a-z0-9_]*, and not one of the table's own");
	if (!close)
		return bad("the unit is missing: NAME = EVENT [what it counts] help");
	line.value = trimmed(at, open);
	line.unit = trimmed(open + 1, close);
	line.help = trimmed(close + 1, end);
	if (kind == EVENT && !take_times(&line))
		return bad("an event is taken once, or a whole number of times: 6 * EVENT");
	if (!line.value.length || line.value.length >= SPEC_SIZE)
		return bad("no event, or one that is too long");
	if (!line.unit.length || line.unit.length >= 32)
		return bad("no unit, or one that is longer than 31 bytes");
	return line;
}

static struct line read_line(struct cursor *c)
{
	struct span all = trimmed(c->at, c->end);
	const char *end = all.at + all.length, *equals;
	struct span name;
	bool metric, optional;

	if (!all.length || *all.at == '#')
		return (struct line) { .kind = NOTHING };
	if (*all.at == '[') {
		const char *close = memchr(all.at, ']', all.length);
		struct line line = { .kind = SECTION };

		line.name = trimmed(all.at + 1, close ? close : end);
		line.help = trimmed(close ? close + 1 : end, end);
		return close && is_name(line.name) ? line : bad("a group is [name] help");
	}
	equals = memchr(all.at, '=', all.length);
	if (!equals)
		return bad("not a group, an event or a formula");
	metric = equals > all.at && equals[-1] == ':';
	optional = equals > all.at && equals[-1] == '?';
	name = trimmed(all.at, metric || optional ? equals - 1 : equals);
	if (metric || optional || !(is(name, "match") || is(name, "pmu"))) {
		struct line line = assigned(metric ? METRIC : EVENT, name, equals + 1, end);

		line.optional = optional;
		return line;
	}
	return (struct line) { .kind = is(name, "pmu") ? PMU : MATCH,
			       .value = trimmed(equals + 1, end) };
}

/* Shell-like, * and ? only; linear in steps of the text for each *. */
static bool fits(struct span pattern, const char *text)
{
	const char *p = pattern.at, *end = p + pattern.length, *star = NULL, *from = NULL;

	while (*text) {
		if (p < end && *p == '*') {
			star = p++;
			from = text;
		} else if (p < end && (*p == '?' || *p == *text)) {
			p++;
			text++;
		} else if (star) {
			p = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

bool groupfile_match(const char *text, size_t length, const char *cpu, const char *pmu, bool *exact)
{
	struct cursor c = cursor(text, length);
	bool matches = false;

	*exact = false;
	while (next_line(&c)) {
		struct line line = read_line(&c);
		struct cursor words;
		struct span word;

		if (line.kind == SECTION)
			break;
		if (line.kind == PMU && !is(line.value, pmu))
			return false;
		if (line.kind != MATCH)
			continue;
		words = whole(line.value.at, line.value.length);
		while ((word.length = next_word(&words, &word.at)) != 0) {
			bool fit = fits(word, cpu);

			matches |= fit;
			*exact |= fit && !is(word, "*");
		}
	}
	return matches;
}

static int column_of(const struct group_text *group, struct span name)
{
	for (uint32_t i = 0; i < group->nevents; i++)
		if (is(name, group->events[i].column))
			return (int)i;
	return -1;
}

/* What each name may have for a value is not known yet. */
static double any_value(void *context, const char *name, size_t length)
{
	(void)context, (void)name, (void)length;
	return 1;
}

static const char *formula_fault(const struct group_text *group, struct span formula)
{
	const char *at = formula.at, *end = at + formula.length;
	struct span name;
	double value;

	if (!sonde_formula(at, formula.length, any_value, NULL, &value))
		return "a formula is of columns, numbers, + - * / and brackets";
	while ((name.length = sonde_formula_next_name(&at, end, &name.at)) != 0)
		if (column_of(group, name) < 0 && !is(name, "time_running"))
			return "a formula is of columns of its own group: others are not counted at the "
			       "same time";
	return NULL;
}

static void fill_event(struct group_event *event, const struct line *line)
{
	copy(event->column, sizeof event->column, line->name);
	copy(event->spec, sizeof event->spec, line->value);
	copy(event->counted, sizeof event->counted, line->unit);
	copy(event->help, sizeof event->help, line->help);
	event->times = (uint32_t)line->times;
	event->optional = line->optional;
}

static bool has_formula(const struct group_text *group, struct span name)
{
	for (uint32_t i = 0; i < group->nmetrics; i++)
		if (is(name, group->metrics[i].name))
			return true;
	return false;
}

static const char has_this[] = "the group has a column of this name already, or a formula";

static const char *add_event(struct group_text *group, const struct line *line)
{
	int same = column_of(group, line->name);

	if (group->nevents == EVENTS_MOST)
		return "more than 16 events in a group";
	if (has_formula(group, line->name) ||
	    (same >= 0 && !(line->optional && group->events[same].optional)))
		return has_this;
	fill_event(&group->events[group->nevents++], line);
	return NULL;
}

static const char *add_metric(struct group_text *group, const struct line *line)
{
	struct metric *metric = &group->metrics[group->nmetrics];

	if (group->nmetrics == EVENTS_MOST)
		return "more than 16 formulas in a group";
	if (column_of(group, line->name) >= 0 || has_formula(group, line->name))
		return has_this;
	copy(metric->name, sizeof metric->name, line->name);
	copy(metric->formula, sizeof metric->formula, line->value);
	copy(metric->unit, sizeof metric->unit, line->unit);
	copy(metric->help, sizeof metric->help, line->help);
	group->nmetrics++;
	return formula_fault(group, line->value);
}

/* A line of the group; NULL, or what is wrong with it. */
static const char *add_line(struct group_text *group, const struct line *line)
{
	if (line->kind == EVENT)
		return add_event(group, line);
	return line->kind == METRIC ? add_metric(group, line) : NULL;
}

uint32_t groupfile_check(const char *text, size_t length, char why[WORDS_SIZE])
{
	struct cursor c = cursor(text, length);
	struct group_text group;
	bool inside = false;

	for (uint32_t number = 1; next_line(&c); number++) {
		struct line line = read_line(&c);
		const char *fault = line.kind == BAD ? line.why : NULL;

		if (line.kind == SECTION) {
			inside = true;
			group.nevents = group.nmetrics = 0;
		} else if (inside && (line.kind == MATCH || line.kind == PMU)) {
			fault = "match and pmu stand before the first group";
		} else if (line.kind == EVENT || line.kind == METRIC) {
			fault = inside ? add_line(&group, &line) : "it stands in no [group]";
		}
		if (fault) {
			snprintf(why, WORDS_SIZE, "%s", fault);
			return number;
		}
	}
	return 0;
}

bool groupfile_find(const char *text, size_t length, const char *name, struct group_text *group)
{
	struct cursor c = cursor(text, length);
	bool found = false;

	group->nevents = group->nmetrics = 0;
	while (next_line(&c)) {
		struct line line = read_line(&c);

		/* Any header belongs to the next file. */
		if (found && (line.kind == SECTION || line.kind == MATCH || line.kind == PMU))
			break;
		if (line.kind == SECTION && is(line.name, name)) {
			found = true;
			copy(group->help, sizeof group->help, line.help);
		} else if (found) {
			add_line(group, &line);
		}
	}
	return found;
}

bool groupfile_event(const char *text, size_t length, const char *spec, struct group_event *event)
{
	struct cursor c = cursor(text, length);

	while (next_line(&c)) {
		struct line line = read_line(&c);

		if (line.kind != EVENT || line.times != 1 || line.optional || !is(line.value, spec))
			continue;
		fill_event(event, &line);
		return true;
	}
	return false;
}
