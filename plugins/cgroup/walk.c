/* Which cgroups there are: the mounts, and the folders below them. */
#include "collect.h"

enum { FIRST = 32, MOST = 1 << 16, STRINGS_EACH = 256 };

/* ---- Mounts */

/* The whole hierarchy rather than a part that is mounted as well (for a container). */
static void add_mount(struct state *state, const struct cgroup_mount *mount)
{
	for (uint32_t i = 0; i < state->nmounts; i++) {
		struct cgroup_mount *known = &state->mounts[i];

		if (known->unified != mount->unified ||
		    (!known->unified && !(known->controllers & mount->controllers)))
			continue;
		if (known->root[0] && !mount->root[0])
			*known = *mount;
		return;
	}
	if (state->nmounts < MOUNTS)
		state->mounts[state->nmounts++] = *mount;
}

/* By the type of the file system, wherever it is mounted; under a root as that tree's PID 1 sees it. */
static void find_mounts(struct sonde_instance *self, struct state *state)
{
	static const char *const files[] = { "/proc/self/mountinfo", "/proc/mounts" };
	const char *text = "";

	for (int i = 0; i < 2 && !state->nmounts; i++) {
		struct sonde_file *file = sonde_open(self, SONDE_FRESH, "%s", files[i]);
		int64_t length = file ? sonde_read(self, file, &text) : -ENOENT;
		struct cursor line = cursor(text, length > 0 ? (size_t)length : 0);
		struct cgroup_mount mount;

		while (length > 0 && cgroup_next_mount(&line, i == 1, &mount))
			add_mount(state, &mount);
		sonde_close(self, file);
	}
}

uint32_t group_mount_v1(const struct state *state, const struct group *group, uint32_t controllers)
{
	for (uint32_t i = 0; i < state->nmounts; i++)
		if (group->mounts >> i & 1 && state->mounts[i].controllers & controllers)
			return i;
	return MOUNTS;
}

uint32_t group_mount_v2(const struct state *state, const struct group *group)
{
	for (uint32_t i = 0; i < state->nmounts; i++)
		if (group->mounts >> i & 1 && state->mounts[i].unified)
			return i;
	return MOUNTS;
}

/* ---- The catalog */

struct catalog *next_catalog(struct state *state)
{
	bool second = state->now ? state->now == &state->catalogs[0] : !state->samples;

	return &state->catalogs[second];
}

struct sonde_row group_row(struct catalog *catalog, uint32_t index)
{
	return (struct sonde_row) { catalog->slots + (size_t)index * FOUND_COLUMNS,
				    catalog->have + index, &catalog->strings };
}

struct bytes group_path(const struct catalog *catalog, uint32_t index)
{
	uint64_t slot = catalog->slots[(size_t)index * FOUND_COLUMNS + PATH];

	return (struct bytes) { catalog->strings.bytes + (slot >> 32), (uint32_t)slot };
}

void group_file(const struct state *state, const struct catalog *catalog, uint32_t index,
		uint32_t mount, const char *name, char path[4096])
{
	const struct cgroup_mount *m = &state->mounts[mount];
	struct bytes whole = group_path(catalog, index);
	size_t skip = whole.length == 1 ? 1 : strlen(m->root);

	snprintf(path, 4096, "%s%.*s/%s", m->point, (int)(whole.length - skip), whole.at + skip,
		 name);
}

/* FNV-1a. */
static uint32_t hash_of(struct bytes path)
{
	uint32_t hash = 0x811c9dc5u;

	for (size_t i = 0; i < path.length; i++)
		hash = (hash ^ (unsigned char)path.at[i]) * 0x01000193u;
	return hash;
}

/* The place in the table of this path, or the free one where it belongs. */
static uint32_t *place_of(const struct catalog *catalog, struct bytes path)
{
	uint32_t mask = 2 * catalog->capacity - 1;

	for (uint32_t at = hash_of(path) & mask;; at = (at + 1) & mask) {
		uint32_t *place = &catalog->hash[at];
		struct bytes other;

		if (!*place)
			return place;
		other = group_path(catalog, *place - 1);
		if (other.length == path.length && memcmp(other.at, path.at, path.length) == 0)
			return place;
	}
}

uint32_t walk_find(const struct catalog *catalog, struct bytes path)
{
	uint32_t index = catalog->count ? *place_of(catalog, path) : 0;

	return index ? index - 1 : catalog->count;
}

/* It is in this mount as well, or is new. False where there is no room for it. */
static bool add(struct catalog *catalog, struct bytes path, uint32_t parent, uint32_t mount)
{
	uint32_t *place = place_of(catalog, path), index = catalog->count;
	struct sonde_row row;

	if (*place) {
		catalog->groups[*place - 1].mounts |= 1u << mount;
		return true;
	}
	if (index == catalog->capacity)
		return false;
	catalog->have[index] = 0;
	row = group_row(catalog, index);
	sonde_set_bytes(&row, PATH, path.at, path.length);
	if (!sonde_has(&row, PATH))
		return false;
	catalog->groups[index] = (struct group) {
		.mounts = 1u << mount,
		.parent = parent,
		.depth = index == parent ? 0 : catalog->groups[parent].depth + 1,
	};
	*place = ++catalog->count;
	return true;
}

int walk_reserve(struct sonde_instance *self)
{
	struct state *state = self->state;
	uint32_t capacity = state->asked ? 2 * state->asked : FIRST;

	if (state->asked == MOST)
		return 0;

	for (int i = 0; i < 2; i++) {
		struct catalog *catalog = &state->catalogs[i];

		if (sonde_grow(self, &catalog->groups,
			       (uint64_t)capacity * sizeof *catalog->groups) ||
		    sonde_grow(self, &catalog->slots,
			       (uint64_t)capacity * FOUND_COLUMNS * sizeof *catalog->slots) ||
		    sonde_grow(self, &catalog->have, (uint64_t)capacity * sizeof *catalog->have) ||
		    sonde_grow(self, &catalog->hash, 2ull * capacity * sizeof *catalog->hash) ||
		    sonde_grow(self, &catalog->strings.bytes, (uint64_t)capacity * STRINGS_EACH))
			return -ENOMEM;
	}
	state->asked = capacity;
	state->due = true;
	return 0;
}

/* ---- The walk */

static void add_children(struct sonde_instance *self, struct catalog *catalog, uint32_t parent,
			 uint32_t mount)
{
	char folder[4096], path[PATH_MOST];
	struct bytes above = group_path(catalog, parent);
	const char *name;
	int64_t left;

	group_file(self->state, catalog, parent, mount, "", folder);
	left = sonde_list(self, folder, &name);
	for (; left > 0; left--, name += strlen(name) + 1) {
		int n = snprintf(path, sizeof path, "%.*s/%s",
				 (int)(above.length == 1 ? 0 : above.length), above.at, name);

		if (n >= PATH_MOST ||
		    !add(catalog, (struct bytes) { path, (size_t)n }, parent, mount))
			catalog->missed++;
	}
}

static void walk_mount(struct sonde_instance *self, struct catalog *catalog, uint32_t mount)
{
	const struct conf *conf = self->conf;
	const char *top = ((struct state *)self->state)->mounts[mount].root;
	struct bytes path = { *top ? top : "/", *top ? strlen(top) : 1 };

	if (!add(catalog, path, catalog->count, mount)) {
		catalog->missed++;
		return;
	}
	for (uint32_t i = walk_find(catalog, path); i < catalog->count; i++)
		if (catalog->groups[i].mounts >> mount & 1 &&
		    catalog->groups[i].depth < conf->depth)
			add_children(self, catalog, i, mount);
}

/* What there was is there still: listing the folders would cost more than all that is read of them. */
static void take_again(const struct catalog *now, struct catalog *next)
{
	for (uint32_t i = 0; i < now->count; i++) {
		if (!add(next, group_path(now, i), now->groups[i].parent, 0)) {
			next->missed++;
			return;
		}
		next->groups[i].mounts = now->groups[i].mounts;
	}
}

int walk(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct catalog *next = next_catalog(state);

	next->capacity = state->asked;
	next->count = next->missed = 0;
	next->strings.size = next->capacity * STRINGS_EACH;
	next->strings.used = next->strings.lost = 0;
	memset(next->hash, 0, 2ul * next->capacity * sizeof *next->hash);
	if (state->now && !state->changed)
		take_again(state->now, next);
	else
		for (uint32_t i = 0; i < state->nmounts; i++)
			walk_mount(self, next, i);
	if (!next->missed || state->asked == MOST)
		return 0;
	walk_reserve(self);
	return -ENOBUFS;
}

/* How many there are, as the kernel counts: what is removed and made between two samples is seen by its files. False where it does not
 * count those of every mount. */
static bool count_groups(struct sonde_instance *self, uint64_t *sum)
{
	const struct state *state = self->state;
	const char *text = "", *word;
	bool unified = false, others = false;
	struct cursor line;
	uint64_t number;
	int64_t length;

	*sum = 0;
	length = state->descendants ? sonde_read(self, state->descendants, &text) : 0;
	line = cursor(text, length > 0 ? (size_t)length : 0);
	while (length > 0 && next_line(&line))
		if (take_word(&line, "nr_descendants") && next_u64(&line, &number)) {
			*sum += number;
			unified = true;
		}
	/* subsys_name hierarchy num_cgroups enabled */
	length = state->cgroups ? sonde_read(self, state->cgroups, &text) : 0;
	line = cursor(text, length > 0 ? (size_t)length : 0);
	while (length > 0 && next_line(&line))
		if (next_word(&line, &word) && next_u64(&line, &number) && number &&
		    next_u64(&line, &number)) {
			*sum += number << 20;
			others = true;
		}
	for (uint32_t i = 0; i < state->nmounts; i++)
		if (!(state->mounts[i].unified ? unified : others))
			return false;
	return true;
}

bool walk_is_due(struct sonde_instance *self, bool *full)
{
	const struct conf *conf = self->conf;
	struct state *state = self->state;
	uint64_t every = self->interval ? conf->rescan / self->interval : 1;
	uint64_t signature;
	bool counted = count_groups(self, &signature);
	bool due = state->due || signature != state->signature;

	*full = state->samples++ % (every ? every : 1) == 0;
	state->changed = due || !counted;
	state->signature = signature;
	state->due = false;
	return due || *full;
}

int walk_start(struct sonde_instance *self)
{
	struct state *state = self->state;
	char path[4096];
	int err;

	find_mounts(self, state);
	if (!state->nmounts)
		return sonde_unavailable(self, "no cgroup file system is mounted; mount -t cgroup2 "
					       "none /sys/fs/cgroup");
	err = walk_reserve(self);
	if (err)
		return err;
	while (walk(self) == -ENOBUFS)
		;
	for (uint32_t i = 0; i < state->nmounts; i++) {
		if (!state->mounts[i].unified && !state->cgroups)
			state->cgroups = sonde_open(self, SONDE_KEEP, "/proc/cgroups");
		if (!state->mounts[i].unified)
			continue;
		snprintf(path, sizeof path, "%s/cgroup.stat", state->mounts[i].point);
		state->descendants = sonde_open(self, SONDE_KEEP, "%s", path);
	}
	return 0;
}
