/* The report as plain text: what was found, why, what to do; what was clear; what could not be judged; the numbers. */
#include <string.h>

#include "report.h"

enum { INDENT = 10, NAME_MOST = 44, VALUE_WIDTH = 22 };

#define ITEMS(list, type) ((const type *)(list).items)

static uint32_t verdicts(const struct gathered *gathered, const char *verdict)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < gathered->judgements.count; i++)
		n += strcmp(ITEMS(gathered->judgements, struct judgement)[i].verdict, verdict) == 0;
	return n;
}

/* ---- head ---- */

static void print_first_line(struct page *page, const struct gathered *gathered)
{
	if (!gathered->judgements.count) {
		page_print(page, "Nothing was judged: there were no analyzers\n");
		return;
	}
	page_print(page, "%u found, %u clear, %u not judged\n\n", verdicts(gathered, "found"),
		   verdicts(gathered, "clear"), verdicts(gathered, "not_judged"));
}

static void field(struct page *page, const char *name)
{
	page_print(page, "%-*s", INDENT, name);
}

static void print_host(struct page *page, const struct gathered *gathered)
{
	if (!gathered->has_header)
		return;
	field(page, "host");
	page_text(page, gathered->host);
	page_print(page, ", Linux ");
	page_text(page, *gathered->kernel ? gathered->kernel : "(unknown)");
	page_print(page, " ");
	page_text(page, gathered->arch);
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
	if (*gathered->label) {
		field(page, "label");
		page_wrapped(page, gathered->label, INDENT);
	}
}

static void print_window(struct page *page, const struct gathered *gathered)
{
	char from[40], to[40], length[40];

	if (!gathered->has_time)
		return;
	say_time(from, sizeof from, (int64_t)gathered->first + gathered->offset, true);
	say_time(to, sizeof to, (int64_t)gathered->last + gathered->offset, false);
	say_duration(length, sizeof length, gathered->last - gathered->first);
	field(page, "window");
	page_print(page, "%s to %s UTC: %s, %llu instants\n", from, to, length,
		   (unsigned long long)gathered->instants);
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
	char begin[40], end[40], held[40];

	say_time(begin, sizeof begin, (int64_t)finding->begin + gathered->offset, false);
	say_time(end, sizeof end, (int64_t)finding->end + gathered->offset, false);
	say_duration(held, sizeof held, finding->held);
	field(page, "when");
	page_print(page, "+%.1f s to +%.1f s, held for %s (%s to %s UTC)\n", from, to, held, begin,
		   end);
}

static void print_evidence(struct page *page, const struct gathered *gathered,
			   const struct finding *finding)
{
	const struct evidence *evidence = gathered->evidence.items;
	size_t name_width = 0;
	bool first = true;

	for (uint32_t i = 0; i < gathered->evidence.count; i++)
		if (strcmp(evidence[i].id, finding->id) == 0 &&
		    strcmp(evidence[i].about, finding->about) == 0 &&
		    text_width(evidence[i].name) > name_width)
			name_width = text_width(evidence[i].name);
	if (name_width > NAME_MOST)
		name_width = NAME_MOST;
	for (uint32_t i = 0; i < gathered->evidence.count; i++) {
		const struct evidence *e = &evidence[i];
		char value[80];

		if (strcmp(e->id, finding->id) != 0 || strcmp(e->about, finding->about) != 0)
			continue;
		field(page, first ? "evidence" : "");
		first = false;
		page_text(page, e->name);
		page_pad(page, text_width(e->name), name_width);
		say_value(value, sizeof value, e->value, e->unit, e->counted);
		page_print(page, "  ");
		page_pad(page, 0,
			 VALUE_WIDTH > text_width(value) ? VALUE_WIDTH - text_width(value) : 0);
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

static void print_finding(struct page *page, const struct gathered *gathered,
			  const struct finding *finding, bool said)
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
	print_when(page, gathered, finding);
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

static bool same_kind(const struct finding *a, const struct finding *b)
{
	return strcmp(a->id, b->id) == 0 && strcmp(a->severity, b->severity) == 0;
}

/* Those of one kind stand together, where the heaviest of them is; what to do is said once. */
static void print_findings(struct page *page, const struct gathered *gathered)
{
	const struct finding *findings = gathered->findings.items;

	for (uint32_t i = 0; i < gathered->findings.count; i++) {
		uint32_t first = 0;

		while (!same_kind(&findings[first], &findings[i]))
			first++;
		if (first < i)
			continue;
		for (uint32_t j = i; j < gathered->findings.count; j++)
			if (same_kind(&findings[i], &findings[j]))
				print_finding(page, gathered, &findings[j],
					      j > i && strcmp(findings[i].action,
							      findings[j].action) == 0);
	}
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

static void print_not_judged(struct page *page, const struct gathered *gathered)
{
	const struct judgement *judgements = gathered->judgements.items;
	bool first = true;

	for (uint32_t i = 0; i < gathered->judgements.count; i++) {
		if (strcmp(judgements[i].verdict, "not_judged") != 0)
			continue;
		page_print(page, first ? "\nNot judged\n" : "");
		first = false;
		page_print(page, "  ");
		page_text(page, judgements[i].id);
		page_pad(page, text_width(judgements[i].id), 26);
		page_print(page, "  ");
		page_wrapped(page, judgements[i].reason, 30);
	}
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
		page_pad(page, text_width(metric->name), 28);
		page_print(page, " ");
		page_pad(page, 0,
			 VALUE_WIDTH > text_width(value) ? VALUE_WIDTH - text_width(value) : 0);
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

/* ---- data quality ---- */

/* A late tick is missed by every section of its lane: one line for all of them. */
static bool alike(const struct gaps *a, const struct gaps *b)
{
	return a->count == b->count && a->lost == b->lost && a->time == b->time &&
	       strcmp(a->reason, b->reason) == 0 && strcmp(a->text, b->text) == 0;
}

static bool told_before(const struct gaps *gaps, uint32_t i)
{
	for (uint32_t n = 0; n < i; n++)
		if (alike(&gaps[n], &gaps[i]))
			return true;
	return false;
}

static void print_sections(struct page *page, const struct gaps *gaps, uint32_t i, uint32_t count)
{
	const char *before = " in [";

	for (uint32_t n = i; n < count; n++) {
		if (!*gaps[n].instance || !alike(&gaps[n], &gaps[i]))
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
		char time[40];

		if (told_before(gaps, i))
			continue;
		say_duration(time, sizeof time, gaps[i].time);
		page_print(page, "  gap       %llu x ", (unsigned long long)gaps[i].count);
		page_text(page, gaps[i].reason);
		print_sections(page, gaps, i, gathered->gaps.count);
		page_print(page, ", %s in all", time);
		if (gaps[i].lost)
			page_print(page, ", %llu instants lost", (unsigned long long)gaps[i].lost);
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
	double window = (double)(gathered->last - gathered->first);

	page_print(page, "\nData quality\n");
	if (!gathered->gaps.count)
		page_print(page, "  gaps      none\n");
	print_gaps(page, gathered);
	print_notes(page, gathered);
	if (gathered->own_first > 0 && window > 0)
		page_print(page, "  own cost  %.2f %% of one CPU\n",
			   gathered->own_cpu / window * 100);
	if (gathered->end_reason) {
		page_print(page, "  ended     ");
		page_text(page, gathered->end_reason);
		page_print(page, "\n");
	} else {
		page_print(page,
			   "  ended     without an end record: it was cut off, or still grows\n");
	}
}

void report_text(struct page *page, const struct gathered *gathered)
{
	print_first_line(page, gathered);
	print_host(page, gathered);
	print_window(page, gathered);
	print_findings(page, gathered);
	print_clear(page, gathered);
	print_not_judged(page, gathered);
	print_metrics(page, gathered);
	print_quality(page, gathered);
}
