/* Reads of groups as rows. */
#include <unistd.h>

#include "collect.h"

/* What the places of one row have counted together. */
struct sum {
	uint64_t enabled, running;
	uint64_t value[EVENTS_MOST]; /* by member */
	uint32_t counted;            /* bits of members */
	uint32_t lacking;            /* bits of members that one of the places could not read */
	uint32_t places;
};

/* No core counts more than this many events of one kind in a ns: a PMU that claims so is wrong. */
enum { EVENTS_A_NS = 1024 };

static bool is_wild(const struct state *state, const struct opened *opened, uint32_t i,
		    const struct counts *counts)
{
	const struct member *member = &state->lineups[opened->lineup].members[opened->member[i]];
	uint64_t running = counts->running - opened->last_running;

	return (member->code.type == PERF_TYPE_HARDWARE ||
		member->code.type == PERF_TYPE_HW_CACHE || member->code.type == PERF_TYPE_RAW) &&
	       counts->value[i] - opened->last[i] > (running + 1000000) * EVENTS_A_NS;
}

static void add_counts(struct sonde_instance *self, struct opened *opened,
		       const struct counts *counts, struct sum *sum)
{
	struct state *state = self->state;

	sum->enabled += counts->enabled;
	sum->running += counts->running;
	for (uint32_t i = 0; i < opened->count && i < counts->n; i++) {
		uint32_t bit = UINT32_C(1) << opened->member[i];

		if (is_wild(state, opened, i, counts)) {
			if (!state->told_wild)
				sonde_note(self,
					   "%s counted more in an interval than a CPU can: such "
					   "values are left out",
					   state->lineups[opened->lineup]
						   .members[opened->member[i]]
						   .column);
			state->told_wild = true;
			sum->lacking |= bit;
			continue;
		}
		opened->last[i] = counts->value[i];
		sum->value[opened->member[i]] += counts->value[i];
		sum->counted |= bit;
	}
	opened->last_running = counts->running;
}

/* A group that is never on the PMU: as a rule it needs every counter, and somebody holds one. */
static void tell_silent(struct sonde_instance *self, const struct opened *opened,
			const struct counts *counts)
{
	struct state *state = self->state;
	struct lineup *lineup = &state->lineups[opened->lineup];

	if (counts->running || counts->enabled < 1000000000 || lineup->told_silent)
		return;
	lineup->told_silent = true;
	sonde_note(self,
		   "%s on %s has not been counted for a second: it needs more counters than are "
		   "free%s",
		   state->groups[lineup->group].name, lineup->pmu,
		   state->watchdog ? "; the NMI watchdog holds one: sysctl kernel.nmi_watchdog=0"
				   : "");
}

static int64_t call_read(void *context, void *buffer, uint64_t size)
{
	ssize_t n = read(*(const int *)context, buffer, size);

	return n < 0 ? -errno : n;
}

static void read_opened(struct sonde_instance *self, struct opened *opened, struct sum *sum)
{
	uint64_t bytes[COUNTS_BYTES / sizeof(uint64_t)];
	struct counts counts;
	int64_t length;

	sum->lacking |= opened->refused;
	if (!opened->is_open)
		return;
	length = sonde_obtain(self, opened->name, call_read, opened->fd, bytes, sizeof bytes);
	sum->places++;
	if (length < 0 || counts_parse(bytes, (size_t)length, &counts) ||
	    counts.n != opened->count) {
		sum->lacking = UINT32_MAX;
		return;
	}
	tell_silent(self, opened, &counts);
	add_counts(self, opened, &counts, sum);
}

static void set_keys(const struct state *state, const struct target *target, struct sonde_row *row)
{
	uint32_t slot = 1;

	if (state->scope == SCOPE_CGROUP)
		sonde_set_str(row, slot, target->cgroup);
	else
		sonde_set_u64(row, slot, target->id);
	if (state->scope != SCOPE_PROCESS)
		return;
	sonde_set_u64(row, slot + 1, target->start_time);
	sonde_set_str(row, slot + 2, target->comm);
}

/* Values that were not counted (time_running 0), or not at all of the row's places, are absent: a part is no count. */
static void set_row(struct sonde_instance *self, struct sonde_frame *frame,
		    const struct opened *opened, const struct sum *sum)
{
	const struct state *state = self->state;
	const struct lineup *lineup = &state->lineups[opened->lineup];
	const struct group *group = &state->groups[lineup->group];
	struct sonde_row row;

	if (!sum->places || !sonde_row(self, frame, group->table[opened->part], &row))
		return;
	sonde_set_str(&row, 0, lineup->pmu);
	set_keys(state, &state->targets[state->places[opened->place].target], &row);
	if (sum->lacking == UINT32_MAX)
		return;
	sonde_set_u64(&row, group->time[opened->part], sum->enabled);
	sonde_set_u64(&row, group->time[opened->part] + 1, sum->running);
	for (uint32_t m = 0; sum->running && m < lineup->nmembers; m++)
		if ((sum->counted & ~sum->lacking) >> m & 1)
			sonde_set_u64(&row, lineup->members[m].slot, sum->value[m]);
}

static bool same_row(const struct state *state, const struct opened *a, const struct opened *b)
{
	return a->lineup == b->lineup && a->part == b->part &&
	       state->places[a->place].target == state->places[b->place].target;
}

void count_all(struct sonde_instance *self, struct sonde_frame *frame)
{
	struct state *state = self->state;
	uint32_t i = 0;

	while (i < state->nopened) {
		struct opened *first = &state->opened[i];
		struct sum sum = { 0 };

		for (; i < state->nopened && same_row(state, first, &state->opened[i]); i++)
			read_opened(self, &state->opened[i], &sum);
		set_row(self, frame, first, &sum);
	}
}
