/* Which stretch of a recording is the worst: it is judged as an agent would while it lives. */
#include <string.h>

#include "cli/cli.h"
#include "cli/worst.h"
#include "core/records.h"

struct worst {
	struct outlet outlet;
	uint64_t from, to; /* of the stretch at hand, CLOCK_BOOTTIME ns */
	double most;
	uint64_t since, until; /* of the worst one so far; 0: none */
};

/* One that is more severe weighs more than many that are less. */
static double weight_of(const struct sonde_view *view, uint32_t row)
{
	static const struct {
		const char *severity;
		double weight;
	} weights[] = { { "critical", 1e6 }, { "warning", 1e3 }, { "info", 1 } };
	uint32_t length, ignored, state;
	const char *text = record_text(view, row, FINDING_STATE, &state);

	record_text(view, row, FINDING_IGNORED, &ignored);
	if (ignored || (state == 6 && memcmp(text, "closed", 6) == 0))
		return 0;
	text = record_text(view, row, FINDING_SEVERITY, &length);
	for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
		if (strlen(weights[i].severity) == length &&
		    memcmp(weights[i].severity, text, length) == 0)
			return weights[i].weight;
	return 0;
}

/* Judgements that were recorded (an agent's) are of other stretches: this one's come with a row for each finding of the catalogue, in an
 * instant without data. */
static int take(struct outlet *outlet, const struct instant *instant)
{
	struct worst *worst = (struct worst *)((char *)outlet - offsetof(struct worst, outlet));
	bool judged = false, data = false;
	double weight = 0;

	for (uint32_t i = 0; i < instant->nviews; i++) {
		const struct sonde_view *view = &instant->views[i];

		data |= view->nrows && !(view->schema->flags & SONDE_EVENTS);
		judged |= view->nrows && record_view_is(view, RECORD_JUDGEMENT);
		if (record_view_is(view, RECORD_FINDING))
			for (uint32_t row = 0; row < view->nrows; row++)
				weight += weight_of(view, row);
	}
	if (data) {
		worst->from = worst->from ? worst->from : instant->begin;
		worst->to = instant->begin;
	} else if (judged) {
		if (weight > worst->most) {
			worst->most = weight;
			worst->since = worst->from;
			worst->until = worst->to;
		}
		worst->from = worst->to;
	}
	return 0;
}

int worst_stretch(const char *path, const char *config_path, uint64_t length,
		  struct reading *reading)
{
	struct worst worst = { .outlet = { .instant = take } };
	struct config config = { 0 };
	struct reading stretches = *reading;
	int status;

	if (strcmp(path, "-") == 0)
		return cli_misuse("--window needs a file: stdin can't be read twice");
	stretches.outlet = &worst.outlet;
	stretches.judge_every = length;
	cli_analyzers(&config, config_path);
	status = recording_run(path, &config, &stretches);
	config_free(&config);
	if (status == EXIT_DONE && worst.until > worst.since) {
		reading->since = worst.since;
		reading->until = worst.until;
		/* A tick may be late. */
		if (worst.until - worst.since > length + length / 2)
			cli_error(EXIT_DONE,
				  "%s: its samples are further apart than --window, so the worst "
				  "stretch has %.3g s",
				  path, (double)(worst.until - worst.since) / 1e9);
	}
	return status;
}
