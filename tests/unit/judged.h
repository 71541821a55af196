/* For tests of analyzers: their options' defaults, and what they say as plain structs. */
#ifndef JUDGED_H
#define JUDGED_H

#include "host/options.h"
#include "stage.h"

struct found {
	char id[48], about[64], severity[16], title[256], action[512];
	uint64_t begin, end, held;
};

struct number {
	char id[48], about[64], name[64], origin[80]; /* id "": a metric */
	double value;
};

struct judged {
	struct found found[32];
	struct number numbers[128];
	uint32_t nfound, nnumbers;
	char clear[1024], not_judged[1024]; /* " id id " */
	char reason[256];                   /* of the first that was not judged */
};

static inline void judged_conf(const struct sonde_option *table, size_t count, void *conf)
{
	struct options_memory *memory = NULL;
	char why[256];

	for (size_t i = 0; i < count; i++)
		if (option_parse(&table[i], table[i].initial, conf, &memory, why, sizeof why)) {
			fprintf(stderr, "%s: %s\n", table[i].key, why);
			abort();
		}
	options_free(memory);
}

static inline void judged_text(char *to, size_t size, const struct sonde_view *view, uint32_t row,
			       uint32_t slot)
{
	uint32_t length;
	const char *bytes = sonde_view_bytes(view, sonde_view_slots(view, row)[slot], &length);

	snprintf(to, size, "%.*s", (int)length, bytes);
}

static inline void judged_findings(struct judged *judged, const struct sonde_view *view)
{
	for (uint32_t i = 0; i < view->nrows && i < 32; i++) {
		struct found *found = &judged->found[judged->nfound++];

		judged_text(found->id, sizeof found->id, view, i, FINDING_ID);
		judged_text(found->about, sizeof found->about, view, i, FINDING_ABOUT);
		judged_text(found->severity, sizeof found->severity, view, i, FINDING_SEVERITY);
		judged_text(found->title, sizeof found->title, view, i, FINDING_TITLE);
		judged_text(found->action, sizeof found->action, view, i, FINDING_ACTION);
		found->begin = sonde_view_slots(view, i)[FINDING_BEGIN];
		found->end = sonde_view_slots(view, i)[FINDING_END];
		found->held = sonde_view_slots(view, i)[FINDING_HELD];
	}
}

static inline void judged_numbers(struct judged *judged, const struct sonde_view *view, int id,
				  int about, int name, int value, int origin)
{
	for (uint32_t i = 0; i < view->nrows && judged->nnumbers < 128; i++) {
		struct number *number = &judged->numbers[judged->nnumbers++];

		if (id >= 0)
			judged_text(number->id, sizeof number->id, view, i, (uint32_t)id);
		judged_text(number->about, sizeof number->about, view, i, (uint32_t)about);
		judged_text(number->name, sizeof number->name, view, i, (uint32_t)name);
		judged_text(number->origin, sizeof number->origin, view, i, (uint32_t)origin);
		number->value = sonde_slot_f64(sonde_view_slots(view, i)[value]);
	}
}

/* Judges what is on the stage. */
static inline void judge_stage(struct stage *stage, struct judged *judged)
{
	struct sonde_frame records;
	struct sonde_view views[RECORD_TABLES] = { 0 };
	const struct sonde_view *judgements = &views[RECORD_JUDGEMENT];

	*judged = (struct judged) { .clear = " ", .not_judged = " " };
	if (records_make(&records) || analysis_judge(stage->analysis, &records))
		abort();
	frame_views(&records, views);
	judged_findings(judged, &views[RECORD_FINDING]);
	judged_numbers(judged, &views[RECORD_EVIDENCE], EVIDENCE_ID, EVIDENCE_ABOUT, EVIDENCE_NAME,
		       EVIDENCE_VALUE, EVIDENCE_ORIGIN);
	judged_numbers(judged, &views[RECORD_METRIC], -1, METRIC_ABOUT, METRIC_NAME, METRIC_VALUE,
		       METRIC_ORIGIN);
	for (uint32_t i = 0; i < judgements->nrows; i++) {
		char id[48], verdict[16];
		char *list;

		judged_text(id, sizeof id, judgements, i, JUDGEMENT_ID);
		judged_text(verdict, sizeof verdict, judgements, i, JUDGEMENT_VERDICT);
		if (strcmp(verdict, "found") == 0)
			continue;
		list = strcmp(verdict, "clear") == 0 ? judged->clear : judged->not_judged;
		if (list == judged->not_judged && !judged->reason[0])
			judged_text(judged->reason, sizeof judged->reason, judgements, i,
				    JUDGEMENT_REASON);
		strcat(strcat(list, id), " ");
	}
	frame_free(&records);
}

/* The finding with this id, or NULL. */
static inline const struct found *judged_find(const struct judged *judged, const char *id)
{
	for (uint32_t i = 0; i < judged->nfound; i++)
		if (strcmp(judged->found[i].id, id) == 0)
			return &judged->found[i];
	return NULL;
}

/* A value of a finding's evidence, or a metric (id ""); -1 where there is none. */
static inline double judged_number(const struct judged *judged, const char *id, const char *name)
{
	for (uint32_t i = 0; i < judged->nnumbers; i++)
		if (strcmp(judged->numbers[i].id, id) == 0 &&
		    strcmp(judged->numbers[i].name, name) == 0)
			return judged->numbers[i].value;
	return -1;
}

#endif
