/* The comparison as JSON; docs/compare.schema.json describes it. */
#include <math.h>

#include <sonde/json.h>

#include "compare.h"

enum { FORMAT = 1 };

static void put_side(struct json *json, const char *key, const struct side *side)
{
	json_open(json, key, '{');
	if (side->name)
		json_text(json, "command", side->name);
	else
		json_null(json, "command");
	json_open(json, "runs", '[');
	for (size_t i = 0; i < side->count; i++) {
		const struct run *run = &side->runs[i];

		json_open(json, NULL, '{');
		json_text(json, "source", run->source);
		json_text(json, "host", run->host);
		json_text(json, "kernel", run->kernel);
		json_text(json, "label", run->label);
		json_number(json, "begin", run->begin);
		json_number(json, "seconds", run->seconds);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void put_interval(struct json *json, const char *key, const struct interval *interval)
{
	if (isnan(interval->low)) {
		json_null(json, key);
		return;
	}
	json_open(json, key, '[');
	json->flat = true;
	json_number(json, NULL, interval->low);
	json_number(json, NULL, interval->high);
	json_close(json, ']');
	json->flat = false;
}

static void put_delta(struct json *json, const struct delta *delta, size_t tests)
{
	json_open(json, NULL, '{');
	json_text(json, "metric", delta->metric->name);
	json_text(json, "about", delta->metric->about);
	json_text(json, "unit", delta->metric->unit);
	json_text(json, "counted", delta->metric->counted);
	json_text(json, "direction", delta->metric->direction);
	json_text(json, "verdict", verdict_name(delta->verdict));
	json_open(json, "runs", '[');
	json->flat = true;
	json_count(json, NULL, delta->nbefore);
	json_count(json, NULL, delta->nafter);
	json_close(json, ']');
	json->flat = false;
	json_number(json, "before", delta->before);
	json_number(json, "after", delta->after);
	json_number(json, "change", delta->change);
	put_interval(json, "change_interval", &delta->interval.change);
	json_number(json, "percent", delta->percent);
	json_number(json, "noise", delta->noise);
	json_number(json, "p", delta->p);
	json_number(json, "p_raw", delta->p_raw);
	json_count(json, "tests", tests);
	json_number(json, "effect", delta->effect);
	put_interval(json, "interval", &delta->interval.effect);
	json_close(json, '}');
}

void compare_json(struct page *page, const struct comparison *comparison)
{
	struct json json = { .page = page };

	json_open(&json, NULL, '{');
	json_open(&json, "meta", '{');
	json_text(&json, "document", "sonde compare");
	json_count(&json, "format", FORMAT);
	json_number(&json, "alpha", comparison->alpha);
	json_number(&json, "minimum", comparison->minimum);
	json_count(&json, "tests",
		   comparison->ntests[FAMILY_ELAPSED] + comparison->ntests[FAMILY_ELSE]);
	json_open(&json, "without_counterpart", '[');
	json.flat = true;
	json_count(&json, NULL, comparison->alone[0].count);
	json_count(&json, NULL, comparison->alone[1].count);
	json_close(&json, ']');
	json.flat = false;
	json_close(&json, '}');
	put_side(&json, "before", comparison->before);
	put_side(&json, "after", comparison->after);
	json_open(&json, "warnings", '[');
	for (size_t i = 0; i < comparison->nwarnings; i++)
		json_text(&json, NULL, comparison->warnings[i]);
	json_close(&json, ']');
	json_open(&json, "deltas", '[');
	for (size_t i = 0; i < comparison->ndeltas; i++)
		put_delta(&json, &comparison->deltas[i],
			  comparison->ntests[comparison->deltas[i].family]);
	json_close(&json, ']');
	json_close(&json, '}');
}
