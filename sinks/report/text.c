/* The report as plain text: what was found, why, what to do; what was clear; what could not be judged; the numbers. */
#include <string.h>

#include "report.h"

enum { INDENT = 10, NAME_MOST = 44, METRIC_WIDTH = 28, VALUE_WIDTH = 22, CELL_WIDTH = 28 };

/* ---- head ---- */

static void print_first_line(struct page *page, const struct gathered *gathered)
{
	char verdicts[96];

	if (!gathered->judgements.count) {
		page_print(page, "Nothing was judged: there were no analyzers\n");
		return;
	}
	say_verdicts(verdicts, sizeof verdicts, gathered);
	page_print(page, "%s\n\n", verdicts);
}

static void field(struct page *page, const char *name)
{
	page_print(page, "%-*s", INDENT, name);
}

void text_host(struct page *page, const struct gathered *gathered)
{
	if (!gathered->has_header)
		return;
	field(page, "host");
	page_text(page, gathered->host);
	page_print(page, ", Linux ");
	page_text(page, *gathered->kernel ? gathered->kernel : "(unknown)");
	if (*gathered->arch) {
		page_print(page, " ");
		page_text(page, gathered->arch);
	}
	if (gathered->ncpus)
		page_print(page, ", %u CPU%s", gathered->ncpus, gathered->ncpus == 1 ? "" : "s");
	if (*gathered->online) {
		page_print(page, " (");
		page_text(page, gathered->online);
		page_print(page, ")");
	}
	if (*gathered->nodes) {
		page_print(page, ", NUMA nodes ");
		page_text(page, gathered->nodes);
	}
	page_print(page, "\n");
	if (gathered->model) {
		field(page, "machine");
		if (gathered->sockets)
			page_print(page, "%llu socket%s, ", (unsigned long long)gathered->sockets,
				   gathered->sockets == 1 ? "" : "s");
		if (gathered->cores)
			page_print(page, "%llu core%s, ", (unsigned long long)gathered->cores,
				   gathered->cores == 1 ? "" : "s");
		page_text(page, gathered->model);
		page_print(page, "\n");
	}
	if (*gathered->label) {
		field(page, "label");
		page_wrapped(page, gathered->label, INDENT);
	}
}

static void print_window(struct page *page, const struct gathered *gathered)
{
	char from[40], to[40], zone[16], length[40];

	if (!gathered->has_time)
		return;
	say_time(from, sizeof from, realtime_of(gathered, gathered->first), gathered->utc_offset,
		 true);
	say_time(to, sizeof to, realtime_of(gathered, gathered->last), gathered->utc_offset, false);
	say_zone(zone, sizeof zone, gathered->utc_offset);
	say_duration(length, sizeof length, gathered->last - gathered->first);
	field(page, "window");
	if (has_date(gathered))
		page_print(page, "%s to %s %s: ", from, to, zone);
	else
		page_print(page, "+%.1f s to +%.1f s: ", since_began(gathered, gathered->first),
			   since_began(gathered, gathered->last));
	page_print(page, "%s, %llu instant%s%s\n", length, (unsigned long long)gathered->instants,
		   gathered->instants == 1 ? "" : "s", has_date(gathered) ? "" : ", no date");
}

/* ---- findings ---- */

static const char *colour_of(const char *severity)
{
	if (strcmp(severity, "critical") == 0)
		return "\033[1;31m";
	return strcmp(severity, "warning") == 0 ? "\033[1;33m" : "\033[1;36m";
}

static void print_when(struct page *page, const struct gathered *gathered,
		       const struct finding *finding)
{
	double from = ((double)finding->begin - (double)gathered->first) / 1e9;
	double to = ((double)finding->end - (double)gathered->first) / 1e9;
	char begin[40], end[40], zone[16], held[40];

	say_time(begin, sizeof begin, realtime_of(gathered, finding->begin), gathered->utc_offset,
		 false);
	say_time(end, sizeof end, realtime_of(gathered, finding->end), gathered->utc_offset, false);
	say_zone(zone, sizeof zone, gathered->utc_offset);
	say_duration(held, sizeof held, finding->held);
	field(page, "when");
	if (held_all_along(gathered, finding)) {
		page_print(page, "all along\n");
		return;
	}
	page_print(page, "+%.1f s to +%.1f s, held for %s", from, to, held);
	if (has_date(gathered))
		page_print(page, " (%s to %s %s)", begin, end, zone);
	page_print(page, "\n");
}

static void print_evidence(struct page *page, const struct gathered *gathered,
			   const struct finding *finding)
{
	const struct evidence *evidence = gathered->evidence.items;
	size_t name_width = 0;
	bool first = true;

	for (uint32_t i = 0; i < gathered->evidence.count; i++)
		if (evidence_of(&evidence[i], finding) && text_width(evidence[i].name) > name_width)
			name_width = text_width(evidence[i].name);
	if (name_width > NAME_MOST)
		name_width = NAME_MOST;
	for (uint32_t i = 0; i < gathered->evidence.count; i++) {
		const struct evidence *e = &evidence[i];
		char value[80];

		if (!evidence_of(e, finding))
			continue;
		field(page, first ? "evidence" : "");
		first = false;
		page_text(page, e->name);
		page_pad(page, text_width(e->name), name_width);
		say_value(value, sizeof value, e->value, e->unit, e->counted);
		page_print(page, "  ");
		page_pad(page, text_width(value), VALUE_WIDTH);
		page_text(page, value);
		page_print(page, "  ");
		page_text(page, e->origin);
		page_print(page, "\n");
	}
}

static void print_field(struct page *page, const char *name, const char *text)
{
	if (!*text)
		return;
	field(page, name);
	page_wrapped(page, text, INDENT);
}

static void print_head(struct page *page, const struct finding *finding)
{
	page_print(page, "\n");
	if (page->colour)
		page_print(page, "%s", colour_of(finding->severity));
	field(page, finding->severity);
	if (page->colour)
		page_print(page, "\033[0m");
	page_wrapped(page, finding->title, INDENT);
	field(page, "");
	page_text(page, finding->id);
	page_print(page, ", about ");
	page_text(page, finding->about);
	page_print(page, "\n");
}

static void print_rest(struct page *page, const struct gathered *gathered,
		       const struct finding *finding, bool said)
{
	print_evidence(page, gathered, finding);
	if (said) {
		print_field(page, "action", "as above");
		return;
	}
	print_field(page, "why", finding->why);
	print_field(page, "action", finding->action);
	print_field(page, "needs", finding->need);
	print_field(page, "risk", finding->risk);
	print_field(page, "undo", finding->undo);
}

static void print_finding(struct page *page, const struct gathered *gathered,
			  const struct finding *finding, bool said)
{
	print_head(page, finding);
	print_when(page, gathered, finding);
	print_rest(page, gathered, finding, said);
}

void text_setting(struct page *page, const struct gathered *gathered, const struct finding *finding,
		  bool said)
{
	print_head(page, finding);
	print_rest(page, gathered, finding, said);
}

/* What is known, in two lines: it holds, and for which reason nobody wants to hear of it. */
static void print_ignored(struct page *page, const struct finding *finding)
{
	char text[1024];

	page_print(page, "\n");
	field(page, "ignored");
	snprintf(text, sizeof text, "%s: %s", finding->severity, finding->title);
	page_wrapped(page, text, INDENT);
	field(page, "");
	page_text(page, finding->id);
	page_print(page, ", about ");
	page_text(page, finding->about);
	page_print(page, "\n");
	field(page, "because");
	snprintf(text, sizeof text, "%s (until %s)", finding->ignored, finding->until);
	page_wrapped(page, text, INDENT);
}

/* ---- what was not found ---- */

static void print_clear(struct page *page, const struct gathered *gathered)
{
	const struct judgement *judgements = gathered->judgements.items;
	char list[4096] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < gathered->judgements.count; i++)
		if (strcmp(judgements[i].verdict, "clear") == 0 && used < sizeof list)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
						 used ? ", " : "", judgements[i].id);
	if (!used)
		return;
	page_print(page, "\n");
	print_field(page, "clear", list);
}

/* One finding has its reason beside it, several have it below. */
static void print_reason(struct page *page, const char *ids, const char *reason)
{
	page_print(page, "  ");
	if (strchr(ids, ',')) {
		page_wrapped(page, ids, 2);
		page_pad(page, 0, 2);
	} else {
		page_text(page, ids);
		page_pad(page, text_width(ids), 26);
	}
	page_print(page, "  ");
	page_wrapped(page, reason, strchr(ids, ',') ? 4 : 30);
}

static void print_not_judged(struct page *page, const struct gathered *gathered)
{
	if (verdict_count(gathered, "not_judged"))
		page_print(page, "\nNot judged\n");
	not_judged_each(page, gathered, print_reason);
}

/* ---- metrics ---- */

static const char *better(const char *direction)
{
	if (strcmp(direction, "up") == 0)
		return "+";
	return strcmp(direction, "down") == 0 ? "-" : " ";
}

static void print_metrics(struct page *page, const struct gathered *gathered)
{
	const struct metric *metrics = gathered->metrics.items;

	if (!gathered->metrics.count)
		return;
	page_print(page, "\nMetrics over the window (+ more is better, - less is better)\n");
	for (uint32_t i = 0; i < gathered->metrics.count; i++) {
		const struct metric *metric = &metrics[i];
		char value[80];

		say_value(value, sizeof value, metric->value, metric->unit, metric->counted);
		page_print(page, "  %s ", better(metric->direction));
		page_text(page, metric->name);
		page_pad(page, text_width(metric->name), METRIC_WIDTH);
		page_print(page, " ");
		page_pad(page, text_width(value), VALUE_WIDTH);
		page_text(page, value);
		page_print(page, "  ");
		if (*metric->about) {
			page_text(page, metric->about);
			page_print(page, ": ");
		}
		page_text(page, metric->origin);
		page_print(page, "\n");
	}
}

/* ---- utilisation, saturation, errors; the course of metrics ---- */

/* Where the name beside it tells what is counted. */
static void say_number(char *to, size_t size, double value, const char *unit)
{
	say_value(to, size, value, strcmp(unit, "count") == 0 ? "none" : unit, "");
}

static void print_cell(struct page *page, const struct metric *metric, bool last)
{
	char value[80], cell[160] = "-";

	if (metric) {
		/* What is counted stands in the list of metrics; of a rate the unit is not whole without it. */
		if (*metric->counted == '/')
			say_value(value, sizeof value, metric->value, metric->unit,
				  metric->counted);
		else
			say_number(value, sizeof value, metric->value, metric->unit);
		snprintf(cell, sizeof cell, "%s %s", value, metric->name);
	}
	page_text(page, cell);
	if (!last)
		page_pad(page, text_width(cell), CELL_WIDTH);
	page_print(page, last ? "\n" : "  ");
}

static void print_use(struct page *page, const struct gathered *gathered)
{
	struct use lines[USE_MOST];
	uint32_t count = use_table(gathered, lines);

	page_print(page, "\n  %-16s  %-*s  %-*s  errors\n", "resource", CELL_WIDTH, "utilisation",
		   CELL_WIDTH, "saturation");
	for (uint32_t i = 0; i < count; i++) {
		const char *name = *lines[i].about ? lines[i].about : lines[i].resource;

		page_print(page, "  ");
		page_text(page, name);
		page_pad(page, text_width(name), 16);
		page_print(page, "  ");
		for (int cell = 0; cell < USE_CELLS; cell++)
			print_cell(page, lines[i].cells[cell], cell == USE_CELLS - 1);
	}
}

static void print_over_time(struct page *page, const struct gathered *gathered)
{
	const struct metric *metrics = gathered->metrics.items;
	bool first = true;

	for (uint32_t i = 0; i < gathered->metrics.count; i++) {
		struct spark spark;
		char least[80], most[80];

		/* What hardly moves is told by its mean. */
		if (!sparkline(gathered, &metrics[i], &spark) || spark.flat)
			continue;
		if (first)
			page_print(page, "\nOver the window, from lowest to highest\n");
		first = false;
		say_number(least, sizeof least, spark.least, metrics[i].unit);
		say_value(most, sizeof most, spark.most, metrics[i].unit, metrics[i].counted);
		page_print(page, "    ");
		page_text(page, metrics[i].name);
		page_pad(page, text_width(metrics[i].name), METRIC_WIDTH);
		page_print(page, " %s  ", spark.text);
		page_text(page, least);
		page_print(page, " to ");
		page_text(page, most);
		page_print(page, "\n");
	}
}

/* ---- data quality ---- */

static void print_sections(struct page *page, const struct gaps *gaps, uint32_t i, uint32_t count)
{
	const char *before = " in [";

	for (uint32_t n = i; n < count; n++) {
		if (!*gaps[n].instance || !gaps_alike(&gaps[n], &gaps[i]))
			continue;
		page_print(page, "%s", before);
		page_text(page, gaps[n].instance);
		page_print(page, "]");
		before = " [";
	}
}

static void print_gaps(struct page *page, const struct gathered *gathered)
{
	const struct gaps *gaps = gathered->gaps.items;

	for (uint32_t i = 0; i < gathered->gaps.count; i++) {
		char time[64];

		if (gaps_told_before(gaps, i))
			continue;
		say_gaps_time(time, sizeof time, &gaps[i]);
		page_print(page, "  gap       %llu x ", (unsigned long long)gaps[i].count);
		page_text(page, gaps[i].reason);
		print_sections(page, gaps, i, gathered->gaps.count);
		page_print(page, "%s", time);
		if (gaps[i].lost)
			page_print(page, ", %llu instant%s lost", (unsigned long long)gaps[i].lost,
				   gaps[i].lost == 1 ? "" : "s");
		if (*gaps[i].text) {
			page_print(page, ": ");
			page_text(page, gaps[i].text);
		}
		page_print(page, "\n");
	}
	if (gathered->more_gaps)
		page_print(page, "  gap       %llu more\n",
			   (unsigned long long)gathered->more_gaps);
}

static void print_notes(struct page *page, const struct gathered *gathered)
{
	const struct note *notes = gathered->notes.items;

	for (uint32_t i = 0; i < gathered->notes.count; i++) {
		page_print(page, "  note      ");
		if (*notes[i].instance) {
			page_print(page, "[");
			page_text(page, notes[i].instance);
			page_print(page, "] ");
		}
		page_wrapped(page, notes[i].text, 12);
	}
	if (gathered->more_notes)
		page_print(page, "  note      %llu more\n",
			   (unsigned long long)gathered->more_notes);
}

static void print_quality(struct page *page, const struct gathered *gathered)
{
	double own = own_share(gathered);

	page_print(page, "\nData quality\n");
	if (!gathered->gaps.count)
		page_print(page, "  gaps      none\n");
	print_gaps(page, gathered);
	print_notes(page, gathered);
	if (own >= 0)
		page_print(page, "  own cost  %.2f %% of one CPU\n", own * 100);
	if (gathered->end_reason) {
		page_print(page, "  ended     ");
		page_text(page, gathered->end_reason);
		page_print(page, "\n");
	} else {
		page_print(page,
			   "  ended     without an end record: it still grows, or was cut off\n");
	}
}

void report_text(struct page *page, const struct gathered *gathered)
{
	print_first_line(page, gathered);
	text_host(page, gathered);
	print_window(page, gathered);
	findings_each(page, gathered, print_finding);
	ignored_each(page, gathered, print_ignored);
	print_clear(page, gathered);
	print_not_judged(page, gathered);
	print_use(page, gathered);
	print_metrics(page, gathered);
	print_over_time(page, gathered);
	print_quality(page, gathered);
}

/* ---- in brief ---- */

static bool is_fact(const struct finding *finding)
{
	return strcmp(finding->severity, "info") == 0;
}

static void brief_finding(struct page *page, const struct gathered *gathered,
			  const struct finding *finding, bool said)
{
	if (!is_fact(finding))
		print_finding(page, gathered, finding, said);
}

static void brief_fact(struct page *page, const struct gathered *gathered,
		       const struct finding *finding, bool said)
{
	char text[1024];

	(void)gathered, (void)said;
	if (!is_fact(finding))
		return;
	field(page, finding->severity);
	snprintf(text, sizeof text, "%s (%s)", finding->title, finding->id);
	page_wrapped(page, text, INDENT);
}

void report_brief(struct page *page, const struct gathered *gathered)
{
	char verdicts[96];

	say_verdicts(verdicts, sizeof verdicts, gathered);
	page_print(page, "%s\n", verdicts);
	findings_each(page, gathered, brief_finding);
	page_print(page, "\n");
	findings_each(page, gathered, brief_fact);
	print_gaps(page, gathered);
}
