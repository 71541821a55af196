/* Which events are counted, together with which others, on which PMUs. */
#include <stdlib.h>

#include "collect.h"
#include "event.h"
#include "groupfile.h"
#include "names.h"

/* Groups where the configuration names none: those that a CPU's files lack are not missed. */
static const char *const usual[] = { "core", "cache", "llc", "tlb", "branch", "memory" };

struct plan {
	struct sonde_instance *self;
	struct state *state;
	struct resolver resolver;
	struct resolved found[PMUS_MOST];
	struct group_text text;
};

static struct group *find_group(struct state *state, const char *name)
{
	for (uint32_t i = 0; i < state->ngroups; i++)
		if (strcmp(state->groups[i].name, name) == 0)
			return &state->groups[i];
	return NULL;
}

static struct group *add_group(struct plan *plan, const char *name, const char *help)
{
	struct state *state = plan->state;
	struct group *group;
	char table[NAME_SIZE];

	if (!names_column(name, strlen(name), table))
		snprintf(table, sizeof table, "event");
	group = find_group(state, table);
	if (group)
		return group;
	if (state->ngroups == GROUPS_MOST) {
		sonde_note(plan->self, "%s is left out: more than %d groups", name, GROUPS_MOST);
		return NULL;
	}
	group = &state->groups[state->ngroups++];
	memcpy(group->name, table, sizeof group->name);
	snprintf(group->help, sizeof group->help, "%s", help);
	return group;
}

static struct lineup *lineup_of(struct plan *plan, const struct group *group, const struct pmu *pmu)
{
	struct state *state = plan->state;
	uint32_t index = (uint32_t)(group - state->groups);
	struct lineup *lineup;

	for (uint32_t i = 0; i < state->nlineups; i++)
		if (state->lineups[i].group == index &&
		    strcmp(state->lineups[i].pmu, pmu->name) == 0)
			return &state->lineups[i];
	if (state->nlineups == LINEUPS_MOST) {
		sonde_note(plan->self, "%s on %s is left out: more than %d groups and PMUs",
			   group->name, pmu->name, LINEUPS_MOST);
		return NULL;
	}
	lineup = &state->lineups[state->nlineups++];
	lineup->group = index;
	memcpy(lineup->pmu, pmu->name, sizeof lineup->pmu);
	lineup->uncore = pmu->uncore;
	lineup->task = pmu->task;
	lineup->cpus = pmu->cpus;
	return lineup;
}

/* NULL where there is no room, or the lineup has such a column already. */
static struct member *add_member(struct plan *plan, struct lineup *lineup, const char *spec,
				 const struct resolved *event)
{
	struct member *member;

	for (uint32_t i = 0; lineup && i < lineup->nmembers; i++)
		if (strcmp(lineup->members[i].column, event->column) == 0)
			return NULL;
	if (lineup && lineup->nmembers == EVENTS_MOST)
		sonde_note(plan->self, "%s is left out: more than %d events in its group", spec,
			   EVENTS_MOST);
	if (!lineup || lineup->nmembers == EVENTS_MOST)
		return NULL;
	member = &lineup->members[lineup->nmembers++];
	memcpy(member->column, event->column, sizeof member->column);
	snprintf(member->spec, sizeof member->spec, "%s", spec);
	member->code = event->code;
	member->meaning = event->meaning;
	member->part = PARTS_MOST;
	return member;
}

/* An event that is not known here, of no PMU or of this one: it has a row all the same, which says why. */
static void not_counted(struct plan *plan, struct group *group, const struct pmu *pmu,
			const char *spec, const char *column)
{
	static const struct pmu nowhere = { .name = "" };
	struct state *state = plan->state;
	struct resolved event = { .pmu = pmu ? pmu : &nowhere };
	struct member *member;

	if (!state->why[0])
		snprintf(state->why, sizeof state->why, "%s", plan->resolver.why);
	if (!names_column(column, strlen(column), event.column))
		snprintf(event.column, sizeof event.column, "event");
	member = group ? add_member(plan, lineup_of(plan, group, event.pmu), spec, &event) : NULL;
	if (!member)
		return;
	member->failed = 1;
	memcpy(member->reason, plan->resolver.why, sizeof member->reason);
}

/* Hardware events on their own PMUs; those of the kernel's, which fit everywhere, go with each of them. */
static void add_found(struct plan *plan, struct group *group, const char *spec, uint32_t n)
{
	const struct state *state = plan->state;
	uint32_t index = (uint32_t)(group - state->groups), joined = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct resolved *event = &plan->found[i];

		for (uint32_t l = 0; event->pmu->task && l < state->nlineups; l++) {
			struct lineup *lineup = &plan->state->lineups[l];

			if (lineup->group != index || lineup->uncore || !lineup->pmu[0])
				continue;
			add_member(plan, lineup, spec, event);
			joined++;
		}
		if (!joined)
			add_member(plan, lineup_of(plan, group, event->pmu), spec, event);
	}
}

/* ---- Groups of the files */

/* The scale of a file's line upon that of sysfs. False, with why: what the column would count is not known. */
static bool scale(const struct group_event *event, struct meaning *meaning, char *why)
{
	bool bytes = strcmp(event->counted, "bytes") == 0;

	if (meaning->mul > UINT32_MAX / event->times) {
		snprintf(why, WORDS_SIZE, "%u times its scale is beyond 32 bits", event->times);
		return false;
	}
	if (bytes && meaning->base == SONDE_BASE_COUNT && event->times == 1) {
		snprintf(why, WORDS_SIZE, "its events folder does not say how many bytes it is");
		return false;
	}
	meaning->mul *= event->times;
	if (bytes)
		meaning->base = SONDE_BASE_BYTES;
	memcpy(meaning->help, event->help, sizeof meaning->help);
	if (meaning->base == SONDE_BASE_COUNT)
		memcpy(meaning->counted, event->counted, sizeof meaning->counted);
	return true;
}

/* Where the PMUs of this machine have it: how many, 0 with why. */
static uint32_t find_event(struct plan *plan, const struct group_event *event,
			   const struct pmu *core)
{
	uint32_t n = event_resolve(&plan->resolver, event->spec, core, plan->found);

	for (uint32_t i = 0; i < n; i++) {
		if (!scale(event, &plan->found[i].meaning, plan->resolver.why))
			return 0;
		memcpy(plan->found[i].column, event->column, sizeof plan->found[i].column);
	}
	return n;
}

/* Whether the group has the column, or NULL: any, on whichever PMU. */
static bool is_planned(const struct plan *plan, const struct group *group, const char *column)
{
	const struct state *state = plan->state;

	for (uint32_t l = 0; l < state->nlineups; l++) {
		const struct lineup *lineup = &state->lineups[l];

		for (uint32_t m = 0; m < lineup->nmembers; m++)
			if (&state->groups[lineup->group] == group &&
			    (!column || strcmp(lineup->members[m].column, column) == 0))
				return true;
	}
	return false;
}

/* An optional event that an earlier line has found, that no PMU here has, or that is of all processes where some are asked for, is
 * passed over. */
static void add_of_file(struct plan *plan, struct group *group, const struct group_event *event,
			const struct pmu *core)
{
	uint32_t n;

	if (event->optional && is_planned(plan, group, event->column))
		return;
	n = find_event(plan, event, core);
	if (event->optional && n && plan->found[0].pmu->uncore && plan->state->scope != SCOPE_CPU)
		return;
	if (!n && !event->optional)
		not_counted(plan, group, core, event->spec, event->column);
	add_found(plan, group, event->spec, n);
}

static void add_metrics(struct plan *plan, const struct group *group, const struct pmu *pmu)
{
	struct state *state = plan->state;

	for (uint32_t i = 0; i < plan->text.nmetrics && state->nmetrics < LINEUPS_MOST; i++) {
		struct metric *metric = &state->metrics[state->nmetrics++];

		*metric = plan->text.metrics[i];
		metric->group = (uint32_t)(group - state->groups);
		if (pmu)
			memcpy(metric->pmu, pmu->name, sizeof metric->pmu);
	}
}

/* Whether this machine counts anything of the group. */
static bool is_any_known(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->text.nevents; i++)
		if (event_resolve(&plan->resolver, plan->text.events[i].spec, NULL, plan->found))
			return true;
	return false;
}

/* The group as the files for each core PMU have it; without one, as they have it for any CPU. False: none of them has it, or this machine nothing of it. */
static bool add_named(struct plan *plan, const char *name)
{
	struct resolver *resolver = &plan->resolver;
	bool known = false;

	for (uint32_t c = 0; c < resolver->ntexts; c++) {
		struct group *group;

		if (!groupfile_find(resolver->text[c], resolver->length[c], name, &plan->text) ||
		    (!resolver->ncores && !is_any_known(plan)))
			continue;
		group = add_group(plan, name, plan->text.help);
		for (uint32_t i = 0; group && i < plan->text.nevents; i++)
			add_of_file(plan, group, &plan->text.events[i], resolver->cores[c]);
		if (group)
			add_metrics(plan, group, resolver->cores[c]);
		known |= plan->text.nevents == 0 || (group && is_planned(plan, group, NULL));
	}
	return known;
}

/* ---- Groups of the section */

/* The next of events joined by commas; a comma between slashes is the event's own. */
static size_t next_event(const char **at, const char *end, const char **event)
{
	bool inside = false;

	while (*at < end && (**at == ' ' || **at == ','))
		(*at)++;
	*event = *at;
	for (; *at < end && (inside || **at != ','); (*at)++)
		inside ^= **at == '/';
	for (end = *at; end > *event && end[-1] == ' ';)
		end--;
	return (size_t)(end - *event);
}

static uint32_t resolve(struct plan *plan, const char *event, size_t length, char spec[SPEC_SIZE])
{
	snprintf(spec, SPEC_SIZE, "%.*s", (int)length, event);
	if (length >= SPEC_SIZE) {
		snprintf(plan->resolver.why, sizeof plan->resolver.why,
			 "an event of %d bytes and more", SPEC_SIZE);
		return 0;
	}
	return event_resolve(&plan->resolver, spec, NULL, plan->found);
}

/* "{cycles,instructions}", or "name = {...}"; hardware events first, which the others join. False: it is none such. */
static bool add_inline(struct plan *plan, const char *text)
{
	const char *open = strchr(text, '{'), *close = strrchr(text, '}'), *event, *at;
	char spec[SPEC_SIZE], name[NAME_SIZE] = "";
	struct group *group = NULL;
	size_t length;

	if (!open || !close || close < open || close[1 + strspn(close + 1, " ")])
		return false;
	if (open > text && !names_column(text, (size_t)(open - text), name))
		return false;
	for (int pass = 0; pass < 2; pass++) {
		for (at = open + 1; (length = next_event(&at, close, &event)) != 0;) {
			uint32_t n = resolve(plan, event, length, spec);

			if (n && !name[0])
				memcpy(name, plan->found[0].column, sizeof name);
			if (!group)
				group = add_group(plan, name[0] ? name : spec,
						  "A group of the section's own.");
			if (group && n && plan->found[0].pmu->task == (pass == 1))
				add_found(plan, group, spec, n);
			else if (group && !n && pass == 1)
				not_counted(plan, group, NULL, spec, spec);
		}
	}
	return true;
}

static void add_alone(struct plan *plan, const char *event)
{
	char spec[SPEC_SIZE];
	uint32_t n = resolve(plan, event, strlen(event), spec);
	struct group *group = add_group(plan, n ? plan->found[0].column : spec,
					n ? plan->found[0].meaning.help : "");

	if (n && group)
		add_found(plan, group, spec, n);
	else
		not_counted(plan, group, NULL, spec, spec);
}

/* ---- The whole section */

static bool is_in_files(struct plan *plan, const char *name)
{
	const struct resolver *resolver = &plan->resolver;

	for (uint32_t i = 0; i < resolver->ntexts; i++)
		if (groupfile_find(resolver->text[i], resolver->length[i], name, &plan->text))
			return true;
	return false;
}

/* Without a core PMU there are no groups but those of the kernel's own events; one that no file has may be in that which is left
 * out. */
static void tell_no_cores(struct plan *plan, const char *name)
{
	struct resolver *resolver = &plan->resolver;

	event_resolve(resolver, "cycles", NULL, plan->found);
	if (resolver->bad[0] && !is_in_files(plan, name))
		memcpy(resolver->why, resolver->bad, sizeof resolver->why);
	not_counted(plan, add_group(plan, name, ""), NULL, name, name);
}

static void add_names(struct plan *plan, const char *text)
{
	struct cursor c = whole(text, strlen(text));
	char name[NAME_SIZE];
	const char *word;
	size_t length;

	while ((length = next_word(&c, &word)) != 0) {
		snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), word);
		if (add_named(plan, name))
			continue;
		if (!plan->resolver.ncores) {
			tell_no_cores(plan, name);
			continue;
		}
		sonde_note(
			plan->self,
			"no group %.60s for this CPU%s%s, or no PMU that counts it: see the files of "
			"plugins/perf_event/groups",
			name, plan->resolver.cpu[0] ? ", " : "", plan->resolver.cpu);
	}
}

static void fill(struct plan *plan)
{
	const struct conf *conf = plan->self->conf;

	for (uint32_t i = 0; i < conf->group.count; i++)
		if (!add_inline(plan, conf->group.items[i]))
			add_names(plan, conf->group.items[i]);
	for (uint32_t i = 0; i < conf->event.count; i++)
		add_alone(plan, conf->event.items[i]);
	for (size_t i = 0;
	     !conf->group.count && !conf->event.count && i < sizeof usual / sizeof usual[0]; i++)
		add_named(plan, usual[i]);
	if (!conf->group.count && !conf->event.count && !plan->resolver.ncores)
		tell_no_cores(plan, usual[0]);
}

/* What was made in a large block, into one of its own size. */
static int keep(struct sonde_instance *self, void *block, const void *made, uint32_t count,
		size_t size)
{
	void **kept = block;

	if (!count)
		return 0;
	if (sonde_grow(self, kept, count * size))
		return -ENOMEM;
	memcpy(*kept, made, count * size);
	return 0;
}

int plan_make(struct sonde_instance *self)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct plan *plan = calloc(1, sizeof *plan);
	struct group *groups = calloc(GROUPS_MOST, sizeof *groups);
	struct lineup *lineups = calloc(LINEUPS_MOST, sizeof *lineups);
	struct metric *metrics = calloc(LINEUPS_MOST, sizeof *metrics);
	int err = -ENOMEM;

	if (plan && groups && lineups && metrics) {
		plan->self = self;
		plan->state = state;
		state->groups = groups;
		state->lineups = lineups;
		state->metrics = metrics;
		err = resolver_begin(&plan->resolver, self, conf->group_path);
		if (!err)
			fill(plan);
		resolver_end(&plan->resolver);
		state->groups = NULL;
		state->lineups = NULL;
		state->metrics = NULL;
	}
	if (!err)
		err = keep(self, &state->groups, groups, state->ngroups, sizeof *groups);
	if (!err)
		err = keep(self, &state->lineups, lineups, state->nlineups, sizeof *lineups);
	if (!err)
		err = keep(self, &state->metrics, metrics, state->nmetrics, sizeof *metrics);
	free(metrics);
	free(lineups);
	free(groups);
	free(plan);
	return err;
}
