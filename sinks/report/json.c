/* The report as JSON (RFC 8259); docs/report.schema.json describes it. */
#include <stdlib.h>
#include <string.h>

#include <sonde/json.h>

#include "report.h"

enum { FORMAT = 1, SERIES_DIGITS = 6 };

/* RFC 3339, in the zone of the recorded host; null where the recording has no date. */
static void put_time(struct json *json, const char *key, const struct gathered *gathered,
		     uint64_t boottime)
{
	if (!has_date(gathered))
		json_null(json, key);
	else
		json_time(json, key, realtime_of(gathered, boottime), gathered->utc_offset);
}

static double since_begin(const struct gathered *gathered, uint64_t boottime)
{
	return ((double)boottime - (double)gathered->first) / 1e9;
}

static void put_meta(struct json *json, const struct gathered *gathered)
{
	json_open(json, "meta", '{');
	json_text(json, "document", "sonde report");
	json_count(json, "format", FORMAT);
	json_text(json, "version", gathered->has_header ? gathered->version : "");
	json_text(json, "host", gathered->has_header ? gathered->host : "");
	json_text(json, "label", gathered->has_header ? gathered->label : "");
	json_text(json, "kernel", gathered->has_header ? gathered->kernel : "");
	json_text(json, "arch", gathered->has_header ? gathered->arch : "");
	json_number(json, "utc_offset", gathered->utc_offset);
	json_close(json, '}');
}

/* ---- topology ---- */

/* "10 21 21": to each node that is online, in their order. */
static void put_distances(struct json *json, const char *list)
{
	json_open(json, "distances", '[');
	while (*list >= '0' && *list <= '9') {
		char *end;

		json_count(json, NULL, strtoull(list, &end, 10));
		list = end + (*end == ' ');
	}
	json_close(json, ']');
}

static void put_node(struct json *json, const struct gathered *gathered, uint64_t id)
{
	const struct node *nodes = gathered->node_list.items;

	json_open(json, NULL, '{');
	json->flat = true;
	json_count(json, "node", id);
	for (uint32_t i = 0; i < gathered->node_list.count; i++) {
		if (nodes[i].id != id)
			continue;
		if (nodes[i].cpus)
			json_text(json, "cpus", nodes[i].cpus);
		if (nodes[i].memory > 0)
			json_number(json, "memory", nodes[i].memory);
		if (nodes[i].distance)
			put_distances(json, nodes[i].distance);
	}
	json_close(json, '}');
	json->flat = false;
}

/* "0-1,3"; what is no list ends it. */
static void put_nodes(struct json *json, const struct gathered *gathered, const char *list)
{
	unsigned count = 0;

	while (*list >= '0' && *list <= '9') {
		char *end;
		uint64_t first = strtoull(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoull(end + 1, &end, 10);
		for (; first <= last && count < NODES_MOST; first++, count++)
			put_node(json, gathered, first);
		list = end + (*end == ',');
	}
}

static void put_huge_pages(struct json *json, const struct gathered *gathered)
{
	const struct pool *pools = gathered->pools.items;

	json_open(json, "huge_pages", '{');
	if (gathered->thp_enabled)
		json_text(json, "enabled", gathered->thp_enabled);
	if (gathered->thp_defrag)
		json_text(json, "defrag", gathered->thp_defrag);
	json_open(json, "pools", '[');
	for (uint32_t i = 0; i < gathered->pools.count; i++) {
		json_open(json, NULL, '{');
		json->flat = true;
		json_number(json, "size", pools[i].size);
		json_count(json, "pages", pools[i].pages);
		json_count(json, "free", pools[i].unused);
		json_count(json, "reserved", pools[i].reserved);
		json_close(json, '}');
		json->flat = false;
	}
	json_close(json, ']');
	json_close(json, '}');
}

/* Empty where no collector told of it. */
static void put_machine(struct json *json, const struct gathered *gathered)
{
	const struct cache *caches = gathered->caches.items;
	const struct governor *governors = gathered->governors.items;
	const struct setting *settings = gathered->settings.items;

	json_open(json, "caches", '[');
	for (uint32_t i = 0; i < gathered->caches.count; i++) {
		json_open(json, NULL, '{');
		json->flat = true;
		json_count(json, "level", caches[i].level);
		json_text(json, "type", caches[i].type);
		json_count(json, "count", caches[i].count);
		json_count(json, "cpus", caches[i].shared);
		if (caches[i].size > 0)
			json_number(json, "size", caches[i].size);
		json_close(json, '}');
		json->flat = false;
	}
	json_close(json, ']');
	json_open(json, "governors", '[');
	for (uint32_t i = 0; i < gathered->governors.count; i++) {
		json_open(json, NULL, '{');
		json->flat = true;
		json_text(json, "governor", governors[i].governor);
		json_text(json, "driver", governors[i].driver ? governors[i].driver : "");
		json_count(json, "cpus", governors[i].cpus);
		json_close(json, '}');
		json->flat = false;
	}
	json_close(json, ']');
	put_huge_pages(json, gathered);
	json_open(json, "settings", '{');
	for (uint32_t i = 0; i < gathered->settings.count; i++)
		if (settings[i].name && settings[i].value)
			json_text(json, settings[i].name, settings[i].value);
	json_close(json, '}');
}

static void put_topology(struct json *json, const struct gathered *gathered)
{
	json_open(json, "topology", '{');
	json_count(json, "cpus", gathered->ncpus);
	json_text(json, "online", gathered->has_header ? gathered->online : "");
	if (gathered->model)
		json_text(json, "model", gathered->model);
	if (gathered->sockets)
		json_count(json, "sockets", gathered->sockets);
	if (gathered->cores)
		json_count(json, "cores", gathered->cores);
	json_open(json, "nodes", '[');
	put_nodes(json, gathered, gathered->has_header ? gathered->nodes : "");
	json_close(json, ']');
	put_machine(json, gathered);
	json_close(json, '}');
}

static void put_window(struct json *json, const struct gathered *gathered)
{
	json_open(json, "window", '{');
	if (gathered->has_time) {
		put_time(json, "begin", gathered, gathered->first);
		put_time(json, "end", gathered, gathered->last);
	} else {
		json_null(json, "begin");
		json_null(json, "end");
	}
	if (gathered->has_time && !has_date(gathered)) {
		json_number(json, "from", since_began(gathered, gathered->first));
		json_number(json, "to", since_began(gathered, gathered->last));
	}
	json_number(json, "seconds", (double)(gathered->last - gathered->first) / 1e9);
	json_count(json, "instants", gathered->instants);
	json_close(json, '}');
}

/* ---- findings ---- */

static void put_value(struct json *json, double value, const char *unit, const char *counted)
{
	json_number(json, "value", value);
	json_text(json, "unit", unit);
	json_text(json, "counted", counted);
}

static void put_evidence(struct json *json, const struct gathered *gathered,
			 const struct finding *finding)
{
	const struct evidence *evidence = gathered->evidence.items;

	json_open(json, "evidence", '[');
	for (uint32_t i = 0; i < gathered->evidence.count; i++) {
		if (!evidence_of(&evidence[i], finding))
			continue;
		json_open(json, NULL, '{');
		json_text(json, "name", evidence[i].name);
		put_value(json, evidence[i].value, evidence[i].unit, evidence[i].counted);
		json_text(json, "origin", evidence[i].origin);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void put_finding(struct json *json, const char *name, const struct gathered *gathered,
			const struct finding *finding)
{
	json_open(json, name, '{');
	json_text(json, "id", finding->id);
	json_text(json, "severity", finding->severity);
	json_text(json, "about", finding->about);
	json_text(json, "title", finding->title);
	put_evidence(json, gathered, finding);
	json_text(json, "why", finding->why);
	json_text(json, "action", finding->action);
	json_text(json, "need", finding->need);
	json_text(json, "risk", finding->risk);
	json_text(json, "undo", finding->undo);
	json_open(json, "when", '{');
	put_time(json, "begin", gathered, finding->begin);
	put_time(json, "end", gathered, finding->end);
	json_number(json, "from", since_begin(gathered, finding->begin));
	json_number(json, "to", since_begin(gathered, finding->end));
	json_number(json, "held", (double)finding->held / 1e9);
	json_close(json, '}');
	json_close(json, '}');
}

static void put_findings(struct json *json, const struct gathered *gathered)
{
	const struct finding *findings = gathered->findings.items;

	json_open(json, "findings", '[');
	for (uint32_t i = 0; i < gathered->findings.count; i++)
		put_finding(json, NULL, gathered, &findings[i]);
	json_close(json, ']');
}

static void put_ignored(struct json *json, const struct gathered *gathered)
{
	const struct finding *ignored = gathered->ignored.items;

	json_open(json, "ignored", '[');
	for (uint32_t i = 0; i < gathered->ignored.count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "reason", ignored[i].ignored);
		json_text(json, "until", ignored[i].until);
		put_finding(json, "finding", gathered, &ignored[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void put_catalogue(struct json *json, const struct gathered *gathered)
{
	const struct judgement *judgements = gathered->judgements.items;

	json_open(json, "catalogue", '{');
	json_count(json, "found", verdict_count(gathered, "found"));
	json_count(json, "clear", verdict_count(gathered, "clear"));
	json_count(json, "ignored", verdict_count(gathered, "ignored"));
	json_count(json, "not_judged", verdict_count(gathered, "not_judged"));
	json_open(json, "judgements", '[');
	for (uint32_t i = 0; i < gathered->judgements.count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "id", judgements[i].id);
		json_text(json, "title", judgements[i].title);
		json_text(json, "verdict", judgements[i].verdict);
		json_text(json, "reason", judgements[i].reason);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

/* ---- numbers ---- */

static void put_metrics(struct json *json, const struct gathered *gathered)
{
	const struct metric *metrics = gathered->metrics.items;

	json_open(json, "metrics", '[');
	for (uint32_t i = 0; i < gathered->metrics.count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "name", metrics[i].name);
		json_text(json, "about", metrics[i].about);
		put_value(json, metrics[i].value, metrics[i].unit, metrics[i].counted);
		json_text(json, "direction", metrics[i].direction);
		json_text(json, "origin", metrics[i].origin);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void put_use(struct json *json, const struct gathered *gathered)
{
	static const char *const names[USE_CELLS] = { "utilisation", "saturation", "errors" };
	struct use lines[USE_MOST];
	uint32_t count = use_table(gathered, lines);

	json_open(json, "use", '[');
	for (uint32_t i = 0; i < count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "resource", lines[i].resource);
		json_text(json, "about", lines[i].about);
		for (int cell = 0; cell < USE_CELLS; cell++) {
			const struct metric *metric = lines[i].cells[cell];

			if (!metric) {
				json_null(json, names[cell]);
				continue;
			}
			json_open(json, names[cell], '{');
			json_text(json, "metric", metric->name);
			put_value(json, metric->value, metric->unit, metric->counted);
			json_close(json, '}');
		}
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* Numbers on one line: `time` is the middle of each slice in seconds since the window began. */
static void put_points(struct json *json, const struct gathered *gathered,
		       const struct slice *slices, uint32_t count)
{
	json_open(json, "time", '[');
	json->flat = true;
	for (uint32_t i = 0; i < count; i++)
		json_rounded(json, NULL,
			     (since_begin(gathered, slices[i].begin) +
			      since_begin(gathered, slices[i].end)) /
				     2,
			     SERIES_DIGITS);
	json_close(json, ']');
	json->flat = false;
	json_open(json, "value", '[');
	json->flat = true;
	for (uint32_t i = 0; i < count; i++)
		json_rounded(json, NULL, slices[i].value, SERIES_DIGITS);
	json_close(json, ']');
	json->flat = false;
}

static void put_series(struct json *json, const struct gathered *gathered)
{
	const struct metric *metrics = gathered->metrics.items;

	json_open(json, "series", '[');
	for (uint32_t i = 0; i < gathered->metrics.count; i++) {
		uint32_t count;
		const struct slice *slices = slices_of(gathered, &metrics[i], &count);

		if (!count)
			continue;
		json_open(json, NULL, '{');
		json_text(json, "metric", metrics[i].name);
		json_text(json, "unit", metrics[i].unit);
		json_text(json, "counted", metrics[i].counted);
		put_points(json, gathered, slices, count);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* ---- data quality ---- */

static void put_gaps(struct json *json, const struct gathered *gathered)
{
	const struct gaps *gaps = gathered->gaps.items;

	json_open(json, "gaps", '[');
	for (uint32_t i = 0; i < gathered->gaps.count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "instance", gaps[i].instance);
		json_text(json, "reason", gaps[i].reason);
		json_text(json, "text", gaps[i].text);
		json_count(json, "count", gaps[i].count);
		json_count(json, "lost", gaps[i].lost);
		if (gaps[i].unbegun == gaps[i].count)
			json_null(json, "seconds");
		else
			json_number(json, "seconds", (double)gaps[i].time / 1e9);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_count(json, "more_gaps", gathered->more_gaps);
}

static void put_quality(struct json *json, const struct gathered *gathered)
{
	const struct note *notes = gathered->notes.items;
	double own = own_share(gathered);

	json_open(json, "data_quality", '{');
	put_gaps(json, gathered);
	json_open(json, "notes", '[');
	for (uint32_t i = 0; i < gathered->notes.count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "instance", notes[i].instance);
		json_text(json, "text", notes[i].text);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_count(json, "more_notes", gathered->more_notes);
	if (own >= 0)
		json_number(json, "own_cpu", own);
	else
		json_null(json, "own_cpu");
	if (gathered->end_reason)
		json_text(json, "ended", gathered->end_reason);
	else
		json_null(json, "ended");
	json_close(json, '}');
}

void report_json(struct page *page, const struct gathered *gathered)
{
	struct json json = { .page = page };

	json_open(&json, NULL, '{');
	put_meta(&json, gathered);
	put_topology(&json, gathered);
	put_window(&json, gathered);
	put_findings(&json, gathered);
	put_ignored(&json, gathered);
	put_catalogue(&json, gathered);
	put_metrics(&json, gathered);
	put_use(&json, gathered);
	put_series(&json, gathered);
	put_quality(&json, gathered);
	json_close(&json, '}');
}
