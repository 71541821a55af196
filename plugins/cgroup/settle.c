/* From one walk to the next: which cgroups are the same, what is kept of them, who gets a row. */
#include <fnmatch.h>

#include "collect.h"

/* ---- What stays */

/* Numbers as they are, strings into the new catalog; only names, where the rest is to be read anew. */
static void carry(const struct catalog *from, uint32_t old, struct catalog *to, uint32_t index,
		  bool full)
{
	const uint64_t *slots = from->slots + (size_t)old * FOUND_COLUMNS;
	struct sonde_row row = group_row(to, index);
	struct group *group = &to->groups[index];
	struct group kept = from->groups[old];

	kept.mounts = group->mounts;
	kept.parent = group->parent;
	kept.depth = group->depth;
	kept.flags &= GROUP_ROW | GROUP_SETTINGS;
	*group = kept;
	for (uint32_t slot = FIRST_NAME; slot < (full ? FIRST_SETTING : FOUND_COLUMNS); slot++) {
		if (!(from->have[old] >> slot & 1))
			continue;
		if (slot < FIRST_NUMBER)
			sonde_set_bytes(&row, slot, from->strings.bytes + (slots[slot] >> 32),
					(uint32_t)slots[slot]);
		else
			sonde_set_u64(&row, slot, slots[slot]);
	}
}

/* Each cgroup of the new catalog is the old one's with its path, or a new one. */
static void match(struct sonde_instance *self, struct catalog *old, struct catalog *next, bool full)
{
	struct state *state = self->state;

	for (uint32_t i = 0; i < next->count; i++) {
		uint32_t before = old ? walk_find(old, group_path(next, i)) : 0;

		if (old && before < old->count && !(old->groups[before].flags & GROUP_GONE)) {
			old->groups[before].flags |= GROUP_CARRIED;
			carry(old, before, next, i, full);
		} else {
			next->groups[i].flags = GROUP_NEW;
			next->groups[i].birth = old ? ++state->births : 0;
		}
	}
	for (uint32_t i = 0; old && i < old->count; i++) {
		if (old->groups[i].flags & GROUP_CARRIED)
			continue;
		read_close(self, &old->groups[i]);
		state->vanished++;
	}
}

/* ---- Whom the options choose */

static bool is_chosen(const struct conf *conf, struct bytes path)
{
	char text[PATH_MOST];

	if (!conf->cgroup.count && !conf->pids.count)
		return true;
	snprintf(text, sizeof text, "%.*s", (int)path.length, path.at);
	for (uint32_t i = 0; i < conf->cgroup.count; i++)
		if (fnmatch(conf->cgroup.items[i], text, 0) == 0)
			return true;
	return false;
}

/* Whether it is this cgroup or one above it. */
static bool is_above(struct bytes path, struct bytes below)
{
	return path.length == 1 ||
	       (below.length >= path.length && memcmp(path.at, below.at, path.length) == 0 &&
		(below.length == path.length || below.at[path.length] == '/'));
}

static bool is_read(const struct state *state, const struct cgroup_member *member)
{
	for (uint32_t i = 0; i < state->nmounts; i++)
		if (state->mounts[i].unified ? member->unified
					     : state->mounts[i].controllers & member->controllers)
			return true;
	return false;
}

/* The cgroups of a process, with all above them. */
static void choose_process(struct sonde_instance *self, struct catalog *catalog, const char *pid)
{
	struct sonde_file *file = sonde_open(self, SONDE_FRESH, "/proc/%s/cgroup", pid);
	const char *text = "";
	int64_t length = file ? sonde_read(self, file, &text) : -ESRCH;
	struct cursor line = cursor(text, length > 0 ? (size_t)length : 0);
	struct cgroup_member member;

	while (length > 0 && cgroup_next_member(&line, &member)) {
		struct bytes path = { member.path, member.length };
		uint32_t nearest = catalog->count;

		if (!is_read(self->state, &member))
			continue;
		for (uint32_t i = 0; i < catalog->count; i++) {
			if (!is_above(group_path(catalog, i), path))
				continue;
			catalog->groups[i].flags |= GROUP_MEMBER;
			nearest = i;
		}
		/* What is mounted is a part of the hierarchy, of which the process is in another; or it is too deep. */
		if (nearest == catalog->count) {
			nearest = 0;
			catalog->groups[0].flags |= GROUP_MEMBER;
		}
		if (group_path(catalog, nearest).length != path.length)
			sonde_note(
				self,
				"process %s is in %.*s, which can't be seen here or is below depth; taken is %.*s",
				pid, (int)path.length, path.at,
				(int)group_path(catalog, nearest).length,
				group_path(catalog, nearest).at);
	}
	sonde_close(self, file);
}

static void choose(struct sonde_instance *self, struct catalog *catalog)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;

	for (uint32_t i = 0; i < catalog->count; i++)
		if (is_chosen(conf, group_path(catalog, i)))
			catalog->groups[i].flags |= GROUP_MEMBER;
	for (uint32_t i = 0; i < conf->pids.count && catalog->count; i++)
		choose_process(self, catalog, conf->pids.items[i]);
	state->found = catalog->missed;
	for (uint32_t i = 0; i < catalog->count; i++)
		state->found += (catalog->groups[i].flags & GROUP_MEMBER) != 0;
}

/* ---- Who gets a row */

/* 0 for idle, else the magnitude: coarse, so that rows do not change hands at every walk. */
static uint32_t rank(const struct group *group)
{
	return group->heat ? 64 - (uint32_t)__builtin_clzll(group->heat) : 0;
}

enum { RANKS = 65 };

static void heat(struct sonde_instance *self, struct catalog *catalog, bool full)
{
	for (uint32_t i = 0; i < catalog->count; i++) {
		struct group *group = &catalog->groups[i];

		if (!(group->flags & GROUP_MEMBER) || !(full || group->flags & GROUP_NEW))
			continue;
		if (!(group->flags & GROUP_ROW))
			read_usage(self, i);
		group->heat = group->cpu > group->cpu_then ? group->cpu - group->cpu_then : 0;
		group->cpu_then = group->cpu;
	}
}

/* The busiest, which those above them are as well; among equals who comes first in the walk. */
static void seat(struct catalog *catalog, uint32_t seats)
{
	uint32_t all[RANKS] = { 0 }, cut = RANKS;

	for (uint32_t i = 0; i < catalog->count; i++)
		if (catalog->groups[i].flags & GROUP_MEMBER)
			all[rank(&catalog->groups[i])]++;
	while (cut && all[cut - 1] <= seats)
		seats -= all[--cut];
	/* Ranks from `cut` on all sit; of the next lower one as many as there are seats left. */
	for (uint32_t i = 0; i < catalog->count; i++) {
		struct group *group = &catalog->groups[i];

		group->flags &= ~(uint32_t)GROUP_ROW;
		if (group->flags & GROUP_MEMBER &&
		    (rank(group) >= cut || (rank(group) + 1 == cut && seats && seats--)))
			group->flags |= GROUP_ROW;
	}
}

/* ---- Limits */

/* The least of its own limits and those above it, whether the options choose these or not. */
static void set_effective(struct catalog *catalog, uint32_t index)
{
	static const struct {
		uint32_t value, from;
	} inherited[] = { { EFFECTIVE_CPUS, EFFECTIVE_CPUS_FROM },
			  { EFFECTIVE_MEMORY_MAX, EFFECTIVE_MEMORY_FROM } };
	uint32_t parent = catalog->groups[index].parent;
	struct sonde_row row = group_row(catalog, index), above = group_row(catalog, parent);
	uint64_t path = row.slots[PATH];
	double cpus;

	for (int i = 0; i < 2 && parent != index; i++) {
		uint32_t value = inherited[i].value, from = inherited[i].from;
		/* Doubles that are not negative are in the order of their bits. */
		if (!sonde_has(&above, value) ||
		    (sonde_has(&row, value) && row.slots[value] < above.slots[value]))
			continue;
		sonde_set_u64(&row, value, above.slots[value]);
		if (sonde_has(&above, from))
			sonde_set_u64(&row, from, above.slots[from]);
	}
	if (sonde_has(&row, CPU_QUOTA) && sonde_has(&row, CPU_PERIOD) && row.slots[CPU_PERIOD]) {
		cpus = (double)row.slots[CPU_QUOTA] / (double)row.slots[CPU_PERIOD];
		if (!sonde_has(&row, EFFECTIVE_CPUS) ||
		    cpus < sonde_slot_f64(row.slots[EFFECTIVE_CPUS])) {
			sonde_set_f64(&row, EFFECTIVE_CPUS, cpus);
			sonde_set_u64(&row, EFFECTIVE_CPUS_FROM, path);
		}
	}
	if (sonde_has(&row, MEMORY_MAX) &&
	    (!sonde_has(&row, EFFECTIVE_MEMORY_MAX) ||
	     row.slots[MEMORY_MAX] <
		     row.slots[EFFECTIVE_MEMORY_MAX] + !sonde_has(&row, EFFECTIVE_MEMORY_FROM))) {
		sonde_set_u64(&row, EFFECTIVE_MEMORY_MAX, row.slots[MEMORY_MAX]);
		sonde_set_u64(&row, EFFECTIVE_MEMORY_FROM, path);
	}
}

/* What a reader has to know, said once. */
static void tell(struct sonde_instance *self, const struct catalog *catalog)
{
	static const struct {
		uint32_t bits;
		const char *name;
	} controllers[] = { { CPU, "cpu" }, { MEMORY, "memory" }, { IO, "io" }, { PIDS, "pids" } };
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	char lacking[64] = "";
	uint32_t there = 0;

	for (uint32_t i = 0; i < state->nmounts; i++)
		there |= state->mounts[i].controllers;
	for (uint32_t i = 0; i < catalog->count; i++)
		there |= catalog->groups[i].controllers;
	for (size_t i = 0; i < sizeof controllers / sizeof controllers[0]; i++)
		if (!(there & controllers[i].bits))
			snprintf(lacking + strlen(lacking), sizeof lacking - strlen(lacking),
				 " +%s", controllers[i].name);
	if (lacking[0])
		sonde_note(
			self,
			"no cgroup has these controllers, whose values are absent: \"%s\" into cgroup.subtree_control of those above gives them",
			lacking + 1);
	if (state->omitted && !state->told_omitted) {
		state->told_omitted = true;
		sonde_note(self, "%u of %u cgroups are left out, the idlest: max = %llu",
			   state->omitted, state->found, (unsigned long long)conf->max);
	}
}

void settle(struct sonde_instance *self, bool full)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	struct catalog *old = state->now;
	struct catalog *next = next_catalog(state);

	match(self, old, next, full);
	state->now = next;
	choose(self, next);
	state->omitted = state->found > conf->max ? state->found - (uint32_t)conf->max : 0;
	if (state->omitted)
		heat(self, next, full);
	seat(next, (uint32_t)conf->max);
	state->rows = 0;
	for (uint32_t i = 0; i < next->count; i++) {
		struct group *group = &next->groups[i];
		bool has_row = group->flags & GROUP_ROW;

		state->rows += has_row;
		if (full || group->flags & GROUP_NEW ||
		    (has_row && !(group->flags & GROUP_SETTINGS))) {
			read_settings(self, i, has_row);
			set_effective(next, i);
		}
		if (has_row)
			read_open(self, i);
		else
			read_close(self, group);
	}
	names_find(self, next, full);
	if (next->strings.lost)
		walk_reserve(self);
	tell(self, next);
}
