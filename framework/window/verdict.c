/* What analyzers say in judge(), made into rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"
#include "window/verdict.h"

static const char *const severity_names[] = {
	[SONDE_SEVERITY_INFO] = "info",
	[SONDE_SEVERITY_WARNING] = "warning",
	[SONDE_SEVERITY_CRITICAL] = "critical",
};
static const char *const direction_names[] = {
	[SONDE_NEITHER] = "neither",
	[SONDE_UP_IS_BETTER] = "up",
	[SONDE_DOWN_IS_BETTER] = "down",
};

/* Room for one item more at *items. */
static void *append(struct verdicts *verdicts, void *items, uint32_t *count, size_t size)
{
	char **array = items;
	char *grown = realloc(*array, (*count + 1) * size);

	if (!grown) {
		verdicts->no_memory = true;
		return NULL;
	}
	*array = grown;
	memset(grown + *count * size, 0, size);
	return grown + (*count)++ * size;
}

static char *copy(struct verdicts *verdicts, const char *text)
{
	char *made = strdup(text ? text : "");

	if (!made)
		verdicts->no_memory = true;
	return made;
}

void verdicts_judgement(struct verdicts *verdicts, const struct sonde_catalogue *line,
			const char *reason)
{
	struct judgement *judgement =
		append(verdicts, &verdicts->judgements, &verdicts->njudgements, sizeof *judgement);

	if (!judgement)
		return;
	judgement->id = line->id;
	judgement->title = line->title;
	judgement->reason = reason ? copy(verdicts, reason) : NULL;
}

static struct judgement *find_judgement(struct verdicts *verdicts, const char *id)
{
	for (uint32_t i = 0; i < verdicts->njudgements; i++)
		if (strcmp(verdicts->judgements[i].id, id) == 0)
			return &verdicts->judgements[i];
	return NULL;
}

static struct sonde_evidence *copy_evidence(struct verdicts *verdicts,
					    const struct sonde_finding *finding)
{
	struct sonde_evidence *evidence = calloc(finding->nevidence + 1, sizeof *evidence);

	if (!evidence) {
		verdicts->no_memory = true;
		return NULL;
	}
	for (uint32_t i = 0; i < finding->nevidence; i++) {
		evidence[i] = finding->evidence[i];
		evidence[i].name = copy(verdicts, evidence[i].name);
		evidence[i].counted = copy(verdicts, evidence[i].counted);
		evidence[i].origin = copy(verdicts, evidence[i].origin);
	}
	return evidence;
}

static void copy_finding(struct verdicts *verdicts, struct sonde_finding *to,
			 const struct sonde_finding *from)
{
	*to = *from;
	to->id = copy(verdicts, from->id);
	to->about = copy(verdicts, from->about);
	to->title = copy(verdicts, from->title);
	to->why = copy(verdicts, from->why);
	to->action = copy(verdicts, from->action);
	to->need = copy(verdicts, from->need);
	to->risk = copy(verdicts, from->risk);
	to->undo = copy(verdicts, from->undo);
	to->evidence = copy_evidence(verdicts, from);
	if (!to->evidence)
		to->nevidence = 0;
	if (to->severity < SONDE_SEVERITY_INFO || to->severity > SONDE_SEVERITY_CRITICAL)
		to->severity = SONDE_SEVERITY_INFO;
}

static void copy_verdict(struct verdicts *verdicts, struct verdict *to, const struct verdict *from)
{
	*to = *from;
	copy_finding(verdicts, &to->finding, &from->finding);
	to->ignored = from->ignored ? copy(verdicts, from->ignored) : NULL;
	to->until = from->until ? copy(verdicts, from->until) : NULL;
}

int verdict_copy(struct verdict *to, const struct verdict *from)
{
	struct verdicts memory = { 0 };

	copy_verdict(&memory, to, from);
	if (!memory.no_memory)
		return 0;
	verdict_free(to);
	return -ENOMEM;
}

struct verdict *verdicts_copy(struct verdicts *verdicts, const struct verdict *verdict)
{
	struct verdict *made =
		append(verdicts, &verdicts->findings, &verdicts->nfindings, sizeof *made);

	if (!made)
		return NULL;
	copy_verdict(verdicts, made, verdict);
	return made;
}

void verdicts_finding(struct verdicts *verdicts, const struct sonde_finding *finding,
		      const struct hysteresis *hysteresis, const struct ignore *ignore)
{
	const struct verdict verdict = { .finding = *finding,
					 .hysteresis = *hysteresis,
					 .ignored = ignore ? ignore->reason : NULL,
					 .until = ignore ? ignore->until : NULL,
					 .state = "holding" };
	struct judgement *judgement = find_judgement(verdicts, finding->id);

	if (judgement && !ignore)
		judgement->found = true;
	if (judgement && ignore && !judgement->ignored) {
		judgement->ignored = true;
		free(judgement->reason);
		judgement->reason = copy(verdicts, ignore->reason);
	}
	(void)verdicts_copy(verdicts, &verdict); /* it remembers that there was no memory */
}

void verdicts_metric(struct verdicts *verdicts, const struct sonde_metric *metric,
		     const struct sonde_slice *slices, uint32_t nslices)
{
	struct measure *measure =
		append(verdicts, &verdicts->measures, &verdicts->nmeasures, sizeof *measure);
	struct sonde_metric *kept;

	if (!measure)
		return;
	kept = &measure->metric;
	*kept = *metric;
	kept->name = copy(verdicts, metric->name);
	kept->about = copy(verdicts, metric->about);
	kept->counted = copy(verdicts, metric->counted);
	kept->origin = copy(verdicts, metric->origin);
	if (kept->direction > SONDE_DOWN_IS_BETTER)
		kept->direction = SONDE_NEITHER;
	if (!nslices)
		return;
	measure->slices = malloc(nslices * sizeof *slices);
	if (!measure->slices) {
		verdicts->no_memory = true;
		return;
	}
	memcpy(measure->slices, slices, nslices * sizeof *slices);
	measure->nslices = nslices;
}

void verdicts_not_judged(struct verdicts *verdicts, const char *id, const char *reason)
{
	struct judgement *judgement = find_judgement(verdicts, id);

	if (judgement && !judgement->reason)
		judgement->reason = copy(verdicts, reason);
}

bool verdicts_judged(struct verdicts *verdicts, const char *id)
{
	const struct judgement *judgement = find_judgement(verdicts, id);

	return !judgement || judgement->found || judgement->ignored || !judgement->reason;
}

/* ---- rows ---- */

static int by_importance(const void *a, const void *b)
{
	const struct sonde_finding *x = &((const struct verdict *)a)->finding;
	const struct sonde_finding *y = &((const struct verdict *)b)->finding;
	int order = (((const struct verdict *)a)->ignored != NULL) -
		    (((const struct verdict *)b)->ignored != NULL);

	if (order)
		return order;
	if (x->severity != y->severity)
		return x->severity < y->severity ? 1 : -1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	order = strcmp(x->id, y->id);
	return order ? order : strcmp(x->about, y->about);
}

static int finding_row(struct sonde_frame *records, const struct verdict *verdict)
{
	const struct sonde_finding *finding = &verdict->finding;
	const struct {
		uint32_t slot;
		const char *text;
	} texts[] = {
		{ FINDING_ID, finding->id },
		{ FINDING_ABOUT, finding->about },
		{ FINDING_STATE, verdict->state },
		{ FINDING_SEVERITY, severity_names[finding->severity] },
		{ FINDING_TITLE, finding->title },
		{ FINDING_WHY, finding->why },
		{ FINDING_ACTION, finding->action },
		{ FINDING_NEED, finding->need },
		{ FINDING_RISK, finding->risk },
		{ FINDING_UNDO, finding->undo },
	};
	struct sonde_row row;
	int err = records_row(records, RECORD_FINDING, &row);

	if (err)
		return err;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		records_str(records, &row, texts[i].slot, texts[i].text);
	sonde_set_u64(&row, FINDING_BEGIN, finding->begin);
	sonde_set_u64(&row, FINDING_END, finding->end);
	sonde_set_u64(&row, FINDING_HELD, finding->held);
	if (verdict->ignored) {
		records_str(records, &row, FINDING_IGNORED, verdict->ignored);
		records_str(records, &row, FINDING_UNTIL, verdict->until);
	}
	return 0;
}

static int evidence_rows(struct sonde_frame *records, const struct sonde_finding *finding)
{
	for (uint32_t i = 0; i < finding->nevidence; i++) {
		const struct sonde_evidence *evidence = &finding->evidence[i];
		struct sonde_row row;
		int err = records_row(records, RECORD_EVIDENCE, &row);

		if (err)
			return err;
		records_str(records, &row, EVIDENCE_ID, finding->id);
		records_str(records, &row, EVIDENCE_ABOUT, finding->about);
		records_str(records, &row, EVIDENCE_NAME, evidence->name);
		sonde_set_f64(&row, EVIDENCE_VALUE, evidence->value);
		records_str(records, &row, EVIDENCE_UNIT, unit_name(evidence->unit));
		records_str(records, &row, EVIDENCE_COUNTED, evidence->counted);
		records_str(records, &row, EVIDENCE_ORIGIN, evidence->origin);
	}
	return 0;
}

static int metric_row(struct sonde_frame *records, const struct sonde_metric *metric)
{
	struct sonde_row row;
	int err = records_row(records, RECORD_METRIC, &row);

	if (err)
		return err;
	records_str(records, &row, METRIC_NAME, metric->name);
	records_str(records, &row, METRIC_ABOUT, metric->about);
	sonde_set_f64(&row, METRIC_VALUE, metric->value);
	records_str(records, &row, METRIC_UNIT, unit_name(metric->unit));
	records_str(records, &row, METRIC_COUNTED, metric->counted);
	records_str(records, &row, METRIC_DIRECTION, direction_names[metric->direction]);
	records_str(records, &row, METRIC_ORIGIN, metric->origin);
	return 0;
}

static int slice_rows(struct sonde_frame *records, const struct measure *measure)
{
	for (uint32_t i = 0; i < measure->nslices; i++) {
		const struct sonde_slice *slice = &measure->slices[i];
		struct sonde_row row;
		int err;

		if (slice->denominator <= 0)
			continue;
		err = records_row(records, RECORD_SLICE, &row);
		if (err)
			return err;
		records_str(records, &row, SLICE_NAME, measure->metric.name);
		sonde_set_u64(&row, SLICE_BEGIN, slice->begin);
		sonde_set_u64(&row, SLICE_END, slice->end);
		sonde_set_f64(&row, SLICE_VALUE, slice->numerator / slice->denominator);
	}
	return 0;
}

static int judgement_row(struct sonde_frame *records, const struct judgement *judgement)
{
	const char *verdict = judgement->found     ? "found"
			      : judgement->ignored ? "ignored"
			      : judgement->reason  ? "not_judged"
						   : "clear";
	struct sonde_row row;
	int err = records_row(records, RECORD_JUDGEMENT, &row);

	if (err)
		return err;
	records_str(records, &row, JUDGEMENT_ID, judgement->id);
	records_str(records, &row, JUDGEMENT_TITLE, judgement->title);
	records_str(records, &row, JUDGEMENT_VERDICT, verdict);
	records_str(records, &row, JUDGEMENT_REASON,
		    judgement->found || !judgement->reason ? "" : judgement->reason);
	return 0;
}

int verdicts_rows(struct verdicts *verdicts, struct sonde_frame *records)
{
	int err = verdicts->no_memory ? -ENOMEM : 0;

	if (!err && verdicts->nfindings)
		qsort(verdicts->findings, verdicts->nfindings, sizeof *verdicts->findings,
		      by_importance);
	for (uint32_t i = 0; i < verdicts->nfindings && !err; i++) {
		if (!verdicts->findings[i].state)
			continue;
		err = finding_row(records, &verdicts->findings[i]);
		if (!err)
			err = evidence_rows(records, &verdicts->findings[i].finding);
	}
	for (uint32_t i = 0; i < verdicts->nmeasures && !err; i++) {
		err = metric_row(records, &verdicts->measures[i].metric);
		if (!err)
			err = slice_rows(records, &verdicts->measures[i]);
	}
	for (uint32_t i = 0; i < verdicts->njudgements && !err; i++)
		err = judgement_row(records, &verdicts->judgements[i]);
	return err;
}

void verdict_free(struct verdict *verdict)
{
	struct sonde_finding *finding = &verdict->finding;
	const char *texts[] = { finding->id,     finding->about, finding->title, finding->why,
				finding->action, finding->need,  finding->risk,  finding->undo };

	for (uint32_t i = 0; i < finding->nevidence; i++) {
		free((char *)finding->evidence[i].name);
		free((char *)finding->evidence[i].counted);
		free((char *)finding->evidence[i].origin);
	}
	free((struct sonde_evidence *)finding->evidence);
	free(verdict->ignored);
	free(verdict->until);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		free((char *)texts[i]);
	*verdict = (struct verdict) { 0 };
}

void verdicts_free(struct verdicts *verdicts)
{
	for (uint32_t i = 0; i < verdicts->nfindings; i++)
		verdict_free(&verdicts->findings[i]);
	for (uint32_t i = 0; i < verdicts->nmeasures; i++) {
		const struct sonde_metric *metric = &verdicts->measures[i].metric;

		free((char *)metric->name);
		free((char *)metric->about);
		free((char *)metric->counted);
		free((char *)metric->origin);
		free(verdicts->measures[i].slices);
	}
	for (uint32_t i = 0; i < verdicts->njudgements; i++)
		free(verdicts->judgements[i].reason);
	free(verdicts->findings);
	free(verdicts->measures);
	free(verdicts->judgements);
	*verdicts = (struct verdicts) { 0 };
}
