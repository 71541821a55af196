/* The document of the viewer, docs/timeline.schema.json: processes as lanes, and charts on the same axis. */
#include <stdlib.h>

#include <sonde/json.h>

#include "tree.h"

enum { DIGITS = 6 };

/* Whole microseconds: as few digits as tell them. */
static void give_moment(struct json *json, const char *key, const struct tree *tree,
			uint64_t moment)
{
	int64_t us = (int64_t)(moment - tree->first) / 1000;

	json_rounded(json, key, (double)us / 1e6, 15);
}

static void give_shares(struct json *json, const char *key, const struct lane *lane, size_t offset)
{
	json_open(json, key, '[');
	for (uint32_t i = 0; i < lane->count; i++) {
		const char *stretch = (const char *)&lane->stretches[i];
		uint32_t share = *(const uint32_t *)(const void *)(stretch + offset);

		if (share == UNKNOWN)
			json_null(json, NULL);
		else
			json_rounded(json, NULL, (double)share / THREAD, DIGITS);
	}
	json_close(json, ']');
}

static void give_lane(struct json *json, const struct tree *tree, const struct lane *lane)
{
	give_number(json, "threads", lane->at ? lane->threads : NAN);
	json_open(json, "lane", '{');
	give_moment(json, "begin", tree, lane->at ? lane->begin : tree->first);
	json_open(json, "until", '[');
	for (uint32_t i = 0; i < lane->count; i++)
		give_moment(json, NULL, tree, lane->stretches[i].until);
	json_close(json, ']');
	give_shares(json, "running", lane, offsetof(struct stretch, running));
	give_shares(json, "waiting", lane, offsetof(struct stretch, waiting));
	give_shares(json, "blocked", lane, offsetof(struct stretch, blocked));
	json_close(json, '}');
}

static void give_processes(struct json *json, const struct tree *tree)
{
	json_open(json, "processes", '[');
	for (uint32_t i = 0; i < tree->members; i++) {
		json_open(json, NULL, '{');
		json->flat = true;
		give_life(json, tree, tree->order[i]);
		give_lane(json, tree, &tree->lanes[tree->order[i]]);
		json_close(json, '}');
		json->flat = false;
	}
	json_close(json, ']');
}

static void give_series(struct json *json, const struct tree *tree, const struct series *series)
{
	json_open(json, NULL, '{');
	json_text(json, "name", series->name);
	json_text(json, "chart", series->chart);
	json_text(json, "title", series->title);
	json_text(json, "unit", series->unit);
	json_text(json, "counted", series->counted);
	json_text(json, "origin", series->origin);
	json_open(json, "value", '[');
	json->flat = true;
	for (uint32_t i = 0; i < tree->nspans; i++)
		json_rounded(json, NULL, tree_charted(tree, series, &tree->spans[i]), DIGITS);
	json_close(json, ']');
	json->flat = false;
	json_close(json, '}');
}

/* Spans are next to each other. */
static void give_charts(struct json *json, const struct tree *tree)
{
	json_open(json, "charts", '{');
	give_moment(json, "begin", tree, tree->nspans ? tree->spans[0].begin : tree->first);
	json_open(json, "until", '[');
	json->flat = true;
	for (uint32_t i = 0; i < tree->nspans; i++)
		give_moment(json, NULL, tree, tree->spans[i].end);
	json_close(json, ']');
	json->flat = false;
	json_open(json, "series", '[');
	for (uint32_t i = 0; i < SERIES; i++)
		give_series(json, tree, &tree_series[i]);
	json_close(json, ']');
	json_close(json, '}');
}

void timeline_json(struct page *page, const struct tree *tree)
{
	struct json json = { .page = page };

	json_open(&json, NULL, '{');
	give_meta(&json, tree, "sonde timeline");
	json_open(&json, "window", '{');
	/* As told by the importers, for a text without a date (framework/import/writing.c). */
	if (!tree->realtime)
		json_null(&json, "begin");
	else
		json_time(&json, "begin", (int64_t)(tree->first + (uint64_t)tree->realtime),
			  tree->utc_offset);
	give_moment(&json, "seconds", tree, tree->last);
	json_close(&json, '}');
	give_number(&json, "cpus", tree->cpus ? tree->cpus : NAN);
	give_number(&json, "grain", tree->grain ? (double)tree->grain / 1e9 : NAN);
	json_count(&json, "left_out", tree->untold);
	give_charts(&json, tree);
	give_processes(&json, tree);
	json_close(&json, '}');
}
