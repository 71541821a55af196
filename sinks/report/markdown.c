/* The report as Markdown for a pull request or a ticket. */
#include <string.h>

#include <sonde/markdown.h>

#include "report.h"

static void mark_value(struct page *page, double value, const char *unit, const char *counted)
{
	char text[80];

	say_value(text, sizeof text, value, unit, counted);
	page_markdown(page, text);
}

static void mark_head(struct page *page, const struct gathered *gathered)
{
	char from[40], to[40], zone[16], length[40], verdicts[96];

	say_verdicts(verdicts, sizeof verdicts, gathered);
	page_print(page, "# ");
	page_markdown(page, gathered->has_header ? gathered->host : "Report");
	page_print(page, ": %s\n\n", verdicts);
	if (gathered->has_header) {
		page_print(page, "Linux ");
		page_markdown(page, *gathered->kernel ? gathered->kernel : "(unknown)");
		if (*gathered->arch) {
			page_print(page, " ");
			page_markdown(page, gathered->arch);
		}
		if (gathered->ncpus)
			page_print(page, ", %u CPU%s", gathered->ncpus,
				   gathered->ncpus == 1 ? "" : "s");
		if (*gathered->online) {
			page_print(page, " (");
			page_markdown(page, gathered->online);
			page_print(page, ")");
		}
		if (*gathered->nodes) {
			page_print(page, ", NUMA nodes ");
			page_markdown(page, gathered->nodes);
		}
		if (gathered->model) {
			page_print(page, ", ");
			page_markdown(page, gathered->model);
		}
		if (*gathered->label) {
			page_print(page, ", label ");
			page_markdown(page, gathered->label);
		}
		page_print(page, "  \n");
	}
	if (!gathered->has_time)
		return;
	say_time(from, sizeof from, realtime_of(gathered, gathered->first), gathered->utc_offset,
		 true);
	say_time(to, sizeof to, realtime_of(gathered, gathered->last), gathered->utc_offset, false);
	say_zone(zone, sizeof zone, gathered->utc_offset);
	say_duration(length, sizeof length, gathered->last - gathered->first);
	if (has_date(gathered))
		page_print(page, "%s to %s %s: ", from, to, zone);
	else
		page_print(page, "+%.1f s to +%.1f s: ", since_began(gathered, gathered->first),
			   since_began(gathered, gathered->last));
	page_print(page, "%s, %llu instant%s%s\n", length, (unsigned long long)gathered->instants,
		   gathered->instants == 1 ? "" : "s", has_date(gathered) ? "" : ", no date");
}

static void mark_field(struct page *page, const char *name, const char *text)
{
	if (!*text)
		return;
	page_print(page, "- **%s:** ", name);
	page_markdown(page, text);
	page_print(page, "\n");
}

static void mark_evidence(struct page *page, const struct gathered *gathered,
			  const struct finding *finding)
{
	const struct evidence *evidence = gathered->evidence.items;
	bool first = true;

	for (uint32_t i = 0; i < gathered->evidence.count; i++) {
		if (!evidence_of(&evidence[i], finding))
			continue;
		page_print(page,
			   first ? "\n| evidence | value | from |\n|---|---:|---|\n| " : "| ");
		first = false;
		page_markdown(page, evidence[i].name);
		page_print(page, " | ");
		mark_value(page, evidence[i].value, evidence[i].unit, evidence[i].counted);
		page_print(page, " | ");
		page_markdown(page, evidence[i].origin);
		page_print(page, " |\n");
	}
}

static void mark_finding(struct page *page, const struct gathered *gathered,
			 const struct finding *finding, bool said)
{
	char held[40];

	page_print(page, "\n### ");
	page_markdown(page, finding->severity);
	page_print(page, ": ");
	page_markdown(page, finding->title);
	page_print(page, "\n\n");
	page_markdown(page, finding->id);
	page_print(page, ", about ");
	page_markdown(page, finding->about);
	say_duration(held, sizeof held, finding->held);
	if (held_all_along(gathered, finding))
		page_print(page, ", all along\n");
	else
		page_print(page, ", +%.1f s to +%.1f s, held for %s\n",
			   ((double)finding->begin - (double)gathered->first) / 1e9,
			   ((double)finding->end - (double)gathered->first) / 1e9, held);
	mark_evidence(page, gathered, finding);
	page_print(page, "\n");
	if (said) {
		mark_field(page, "Action", "as above");
		return;
	}
	mark_field(page, "Why", finding->why);
	mark_field(page, "Action", finding->action);
	mark_field(page, "Needs", finding->need);
	mark_field(page, "Risk", finding->risk);
	mark_field(page, "Undo", finding->undo);
}

static void mark_ignored(struct page *page, const struct finding *finding)
{
	page_print(page, "- **");
	page_markdown(page, finding->severity);
	page_print(page, ": ");
	page_markdown(page, finding->title);
	page_print(page, "** (");
	page_markdown(page, finding->id);
	page_print(page, ", about ");
	page_markdown(page, finding->about);
	page_print(page, "): ");
	page_markdown(page, finding->ignored);
	page_print(page, ", until ");
	page_markdown(page, finding->until);
	page_print(page, "\n");
}

static void mark_reason(struct page *page, const char *ids, const char *reason)
{
	page_print(page, "- **");
	page_markdown(page, ids);
	page_print(page, "** ");
	page_markdown(page, reason);
	page_print(page, "\n");
}

static void mark_judgements(struct page *page, const struct gathered *gathered)
{
	const struct judgement *judgements = gathered->judgements.items;
	bool first = true;

	for (uint32_t i = 0; i < gathered->judgements.count; i++) {
		if (strcmp(judgements[i].verdict, "clear") != 0)
			continue;
		page_print(page, first ? "\n## Clear\n\n" : ", ");
		first = false;
		page_markdown(page, judgements[i].id);
	}
	page_print(page, first ? "" : "\n");
	if (verdict_count(gathered, "not_judged"))
		page_print(page, "\n## Not judged\n\n");
	not_judged_each(page, gathered, mark_reason);
}

static void mark_use(struct page *page, const struct gathered *gathered)
{
	struct use lines[USE_MOST];
	uint32_t count = use_table(gathered, lines);

	page_print(page, "\n## Utilisation, saturation, errors\n\n"
			 "| resource | utilisation | saturation | errors |\n|---|---|---|---|\n");
	for (uint32_t i = 0; i < count; i++) {
		page_print(page, "| ");
		page_markdown(page, *lines[i].about ? lines[i].about : lines[i].resource);
		for (int cell = 0; cell < USE_CELLS; cell++) {
			const struct metric *metric = lines[i].cells[cell];

			page_print(page, metric ? " | " : " | -");
			if (!metric)
				continue;
			mark_value(page, metric->value, metric->unit, metric->counted);
			page_print(page, " ");
			page_markdown(page, metric->name);
		}
		page_print(page, " |\n");
	}
}

static void mark_metrics(struct page *page, const struct gathered *gathered)
{
	const struct metric *metrics = gathered->metrics.items;

	if (!gathered->metrics.count)
		return;
	page_print(page, "\n## Metrics\n\n| metric | value | better | over time | from |\n"
			 "|---|---:|---|---|---|\n");
	for (uint32_t i = 0; i < gathered->metrics.count; i++) {
		struct spark spark;

		page_print(page, "| ");
		page_markdown(page, metrics[i].name);
		page_print(page, " | ");
		mark_value(page, metrics[i].value, metrics[i].unit, metrics[i].counted);
		page_print(page, " | ");
		page_markdown(page, strcmp(metrics[i].direction, "neither") == 0
					    ? ""
					    : metrics[i].direction);
		page_print(page, " | %s | ",
			   sparkline(gathered, &metrics[i], &spark) ? spark.text : "");
		if (*metrics[i].about) {
			page_markdown(page, metrics[i].about);
			page_print(page, ": ");
		}
		page_markdown(page, metrics[i].origin);
		page_print(page, " |\n");
	}
}

static void mark_gaps(struct page *page, const struct gathered *gathered)
{
	const struct gaps *gaps = gathered->gaps.items;

	for (uint32_t i = 0; i < gathered->gaps.count; i++) {
		char time[64];

		if (gaps_told_before(gaps, i))
			continue;
		say_gaps_time(time, sizeof time, &gaps[i]);
		page_print(page, "- gap: %llu x ", (unsigned long long)gaps[i].count);
		page_markdown(page, gaps[i].reason);
		for (uint32_t n = i; n < gathered->gaps.count; n++)
			if (*gaps[n].instance && gaps_alike(&gaps[n], &gaps[i])) {
				page_print(page, " ");
				page_markdown(page, gaps[n].instance);
			}
		page_print(page, "%s", time);
		page_print(page, *gaps[i].text ? ": " : "");
		page_markdown(page, gaps[i].text);
		page_print(page, "\n");
	}
	if (gathered->more_gaps)
		page_print(page, "- %llu more gaps\n", (unsigned long long)gathered->more_gaps);
}

static void mark_quality(struct page *page, const struct gathered *gathered)
{
	const struct note *notes = gathered->notes.items;

	page_print(page, "\n## Data quality\n\n");
	if (!gathered->gaps.count)
		page_print(page, "- no gaps\n");
	mark_gaps(page, gathered);
	for (uint32_t i = 0; i < gathered->notes.count; i++) {
		page_print(page, "- note: ");
		page_markdown(page, notes[i].instance);
		page_print(page, *notes[i].instance ? ": " : "");
		page_markdown(page, notes[i].text);
		page_print(page, "\n");
	}
	if (gathered->more_notes)
		page_print(page, "- %llu more notes\n", (unsigned long long)gathered->more_notes);
	if (own_share(gathered) >= 0)
		page_print(page, "- own cost: %.2f %% of one CPU\n", own_share(gathered) * 100);
	page_print(page, "- ended: ");
	page_markdown(page, gathered->end_reason
				    ? gathered->end_reason
				    : "without an end record: it still grows, or was cut off");
	page_print(page, "\n");
}

void report_markdown(struct page *page, const struct gathered *gathered)
{
	mark_head(page, gathered);
	if (gathered->findings.count)
		page_print(page, "\n## Findings\n");
	findings_each(page, gathered, mark_finding);
	if (gathered->ignored.count)
		page_print(page, "\n## Ignored\n\n");
	ignored_each(page, gathered, mark_ignored);
	mark_judgements(page, gathered);
	mark_use(page, gathered);
	mark_metrics(page, gathered);
	mark_quality(page, gathered);
}
