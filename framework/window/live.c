/* Findings while they live. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "window/live.h"

static struct living *find(const struct live *live, const struct sonde_finding *finding)
{
	for (uint32_t i = 0; i < live->count; i++) {
		const struct sonde_finding *last = &live->living[i].last.finding;

		if (strcmp(last->id, finding->id) == 0 && strcmp(last->about, finding->about) == 0)
			return &live->living[i];
	}
	return NULL;
}

static struct living *make(struct live *live)
{
	struct living *living;

	if (live->count == LIVE_MOST)
		return NULL;
	living = realloc(live->living, (live->count + 1) * sizeof *living);
	if (!living)
		return NULL;
	live->living = living;
	living[live->count] = (struct living) { 0 };
	return &living[live->count++];
}

/* One that was found: opens, is told again after its time or because it became worse, or goes on in silence. */
static void found(struct living *living, struct verdict *verdict, uint64_t now)
{
	const struct hysteresis *when = &verdict->hysteresis;

	if (!living->begin)
		living->begin = verdict->finding.begin;
	living->seen = now;
	living->found = true;
	verdict->state = NULL;
	if (!living->open && verdict->finding.end - living->begin >= when->hold) {
		living->open = true;
		verdict->state = "opened";
	} else if (living->open && (now - living->told >= when->repeat ||
				    verdict->finding.severity > living->severity)) {
		verdict->state = "holding";
	}
	if (verdict->state) {
		living->told = now;
		living->severity = verdict->finding.severity;
	}
	/* What it is told as is since when it goes on, not since when it is looked at. */
	if (living->open)
		verdict->finding.begin = living->begin;
}

static void forget(struct live *live, uint32_t i)
{
	verdict_free(&live->living[i].last);
	live->living[i] = live->living[--live->count];
}

/* Those that were not found: the ones that never opened are forgotten, the others close when their time is over. Where it could not
 * be judged nothing is known: it goes on as it was, and its time begins anew. */
static int close_some(struct live *live, struct verdicts *verdicts, uint64_t now)
{
	for (uint32_t i = live->count; i-- > 0;) {
		struct living *living = &live->living[i];
		struct verdict *closed;

		if (living->found)
			continue;
		if (!verdicts_judged(verdicts, living->last.finding.id)) {
			living->seen = now;
			continue;
		}
		if (living->open && now - living->seen < living->last.hysteresis.clear)
			continue;
		if (living->open) {
			closed = verdicts_copy(verdicts, &living->last);
			if (!closed)
				return -ENOMEM;
			closed->state = "closed";
			closed->finding.begin = living->begin;
		}
		forget(live, i);
	}
	return 0;
}

int live_states(struct live *live, struct verdicts *verdicts, uint64_t now)
{
	for (uint32_t i = 0; i < live->count; i++)
		live->living[i].found = false;
	for (uint32_t i = 0; i < verdicts->nfindings; i++) {
		struct verdict *verdict = &verdicts->findings[i];
		struct living *living = find(live, &verdict->finding);

		if (!living)
			living = make(live);
		if (!living)
			continue; /* more than can be followed: told at each judgement */
		found(living, verdict, now);
		verdict_free(&living->last);
		if (verdict_copy(&living->last, verdict))
			return -ENOMEM;
	}
	return close_some(live, verdicts, now);
}

void live_free(struct live *live)
{
	for (uint32_t i = 0; i < live->count; i++)
		verdict_free(&live->living[i].last);
	free(live->living);
	*live = (struct live) { 0 };
}
