/* Severities found, findings that could not be judged, data that is missing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/gate.h"
#include "core/records.h"

static const char *const severities[] = { "info", "warning", "critical" };
enum { SEVERITIES = sizeof severities / sizeof severities[0] };

/* -1: none. */
static int rank(const char *severity, size_t length)
{
	for (int i = 0; i < SEVERITIES; i++)
		if (strlen(severities[i]) == length && memcmp(severities[i], severity, length) == 0)
			return i;
	return -1;
}

/* Of several judgements (an agent's, in the recording) the newest counts. */
static void begin_judgement(struct gate *gate, const struct sonde_view *view)
{
	if (gate->judgement == view->sequence + 1)
		return;
	gate->judgement = view->sequence + 1;
	gate->nverdicts = 0;
	gate->found = 0;
}

static void take_findings(struct gate *gate, const struct sonde_view *view)
{
	int least = rank(gate->fail_on, strlen(gate->fail_on));

	begin_judgement(gate, view);
	for (uint32_t i = 0; i < view->nrows; i++) {
		uint32_t length;
		const char *severity = record_text(view, i, FINDING_SEVERITY, &length);

		uint32_t ignored;

		record_text(view, i, FINDING_IGNORED, &ignored);
		gate->found += !ignored && rank(severity, length) >= least;
	}
}

static int take_judgements(struct gate *gate, const struct sonde_view *view)
{
	struct gate_verdict *verdicts;

	begin_judgement(gate, view);
	verdicts = realloc(gate->verdicts, (gate->nverdicts + view->nrows) * sizeof *verdicts);
	if (!verdicts)
		return -ENOMEM;
	gate->verdicts = verdicts;
	for (uint32_t i = 0; i < view->nrows; i++) {
		struct gate_verdict *verdict = &verdicts[gate->nverdicts++];
		uint32_t length;
		const char *text = record_text(view, i, JUDGEMENT_ID, &length);

		snprintf(verdict->id, sizeof verdict->id, "%.*s", (int)length, text);
		text = record_text(view, i, JUDGEMENT_VERDICT, &length);
		verdict->judged =
			length != strlen("not_judged") || memcmp(text, "not_judged", length) != 0;
	}
	return 0;
}

static int take(struct outlet *outlet, const struct instant *instant)
{
	struct gate *gate = (struct gate *)((char *)outlet - offsetof(struct gate, outlet));
	int err = 0;

	for (uint32_t i = 0; i < instant->nviews && !err; i++) {
		const struct sonde_view *view = &instant->views[i];

		if (!view->nrows || !(view->schema->flags & SONDE_EVENTS))
			continue;
		if (record_view_is(view, RECORD_FINDING))
			take_findings(gate, view);
		else if (record_view_is(view, RECORD_JUDGEMENT))
			err = take_judgements(gate, view);
		else if (record_view_is(view, RECORD_GAP))
			gate->gaps += view->nrows;
	}
	return err;
}

bool gate_open(struct gate *gate)
{
	gate->outlet.instant = take;
	if (rank(gate->fail_on, strlen(gate->fail_on)) >= 0)
		return true;
	cli_misuse("--fail-on %s: info, warning or critical is wanted", gate->fail_on);
	return false;
}

static const struct gate_verdict *find(const struct gate *gate, const char *id, size_t length)
{
	for (uint32_t i = 0; i < gate->nverdicts; i++)
		if (strlen(gate->verdicts[i].id) == length &&
		    memcmp(gate->verdicts[i].id, id, length) == 0)
			return &gate->verdicts[i];
	return NULL;
}

/* Names that no finding has are wrong whatever was found: else a slip of the pen goes unnoticed until it matters. */
static int named(const struct gate *gate)
{
	const char **ids = calloc(gate->nverdicts + 1, sizeof *ids);
	int status = EXIT_DONE;

	if (!ids)
		return cli_error(EXIT_FAILED, "%s", strerror(ENOMEM));
	for (uint32_t i = 0; i < gate->nverdicts; i++)
		ids[i] = gate->verdicts[i].id;
	for (const char *id = gate->require; *id;) {
		size_t length = strcspn(id, ",");
		char name[64];
		const char *near;

		if (!find(gate, id, length)) {
			snprintf(name, sizeof name, "%.*s", (int)length, id);
			near = nearest(name, ids, gate->nverdicts);
			status = cli_error(EXIT_FAILED,
					   "--require %.*s: no analyzer judges this%s%s%s",
					   (int)length, id, near ? "; did you mean " : "",
					   near ? near : "", near ? "?" : "");
		}
		id += length + (id[length] == ',');
	}
	free(ids);
	return status;
}

/* What was required by name. */
static int required(const struct gate *gate, const char *subject)
{
	int status = EXIT_DONE;

	for (const char *id = gate->require; *id;) {
		size_t length = strcspn(id, ",");
		const struct gate_verdict *verdict = find(gate, id, length);

		if (!verdict->judged)
			status = cli_error(EXIT_FAILED,
					   "%s: %s could not be judged; the report says why",
					   subject, verdict->id);
		id += length + (id[length] == ',');
	}
	return status;
}

static int complete(const struct gate *gate, const char *subject)
{
	uint32_t unjudged = 0;

	if (!gate->nverdicts)
		return cli_error(EXIT_FAILED, "%s: nothing was judged", subject);
	for (uint32_t i = 0; i < gate->nverdicts; i++)
		unjudged += !gate->verdicts[i].judged;
	if (gate->gaps && !gate->allow_gaps)
		return cli_error(EXIT_FAILED,
				 "%s: %llu gaps in the data; --allow-gaps lets them pass", subject,
				 (unsigned long long)gate->gaps);
	if (!gate->require && unjudged && !gate->allow_gaps)
		return cli_error(
			EXIT_FAILED,
			"%s: %u finding%s could not be judged; name those that matter with "
			"--require, or --allow-gaps",
			subject, unjudged, unjudged == 1 ? "" : "s");
	return EXIT_DONE;
}

int gate_status(struct gate *gate, const char *subject)
{
	int known = gate->require ? named(gate) : EXIT_DONE, status = known;

	if (gate->found)
		status = cli_error(EXIT_GATE, "%s: %llu finding%s of severity %s or above", subject,
				   (unsigned long long)gate->found, gate->found == 1 ? "" : "s",
				   gate->fail_on);
	else if (gate->require && status == EXIT_DONE)
		status = required(gate, subject);
	if (status == EXIT_DONE)
		status = complete(gate, subject);
	status = known == EXIT_DONE ? status : known;
	free(gate->verdicts);
	gate->verdicts = NULL;
	gate->nverdicts = 0;
	gate->judgement = gate->found = gate->gaps = 0;
	return status;
}
