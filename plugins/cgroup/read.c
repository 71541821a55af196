/* What is read of a cgroup: some files at each sample, through descriptors that are kept; its settings when the tree is
 * walked. */
#include "collect.h"

enum form {
	NUMBER,      /* one, into `slot` */
	LIMIT,       /* one, or none */
	LIST,        /* a list of CPUs or nodes, as text */
	KEYS,        /* lines "key value" */
	TICKS,       /* such lines, values in USER_HZ */
	CPU_MAX,     /* cpu.max */
	TOTAL_LIMIT, /* hierarchical_memory_limit of version 1's memory.stat */
	STAT,        /* memory.stat */
	STAT_V1,
	PRESSURE, /* `name` begins with the resource */
	IO_STAT,
	IO_BYTES, /* blkio.throttle.io_service_bytes */
	IO_COUNT, /* blkio.throttle.io_serviced */
};

struct source {
	const char *name, *otherwise; /* the file, and one of older kernels */
	uint32_t controller;          /* 0: any cgroup of version 2 has it */
	uint32_t unless;              /* not where version 1 has the cgroup with this controller */
	bool v1;
	enum form form;
	uint32_t slot;
	struct cgroup_keys keys;
};

#define KEYS_OF(...)                                                                               \
	{                                                                                          \
		(const struct cgroup_key[]) { __VA_ARGS__ },                                       \
			sizeof((const struct cgroup_key[]) { __VA_ARGS__ }) /                      \
				sizeof(struct cgroup_key)                                          \
	}

/* The first that a cgroup has tells whether it is still there. */
/* clang-format off */
static const struct source hot[] = {
	{ "cpuacct.usage", .v1 = true, .controller = CPUACCT, .form = NUMBER, .slot = USAGE },
	{ "cpu.stat", .unless = CPUACCT, .form = KEYS, .keys = KEYS_OF(
		{ "usage_usec", USAGE, 1000 }, { "user_usec", USER, 1000 }, { "system_usec", SYSTEM, 1000 },
		{ "nice_usec", NICE, 1000 }, { "nr_periods", NR_PERIODS, 1 }, { "nr_throttled", NR_THROTTLED, 1 },
		{ "throttled_usec", THROTTLED, 1000 }, { "nr_bursts", NR_BURSTS, 1 }, { "burst_usec", BURST, 1000 }) },
	{ "cpu.stat", .v1 = true, .controller = CPU, .form = KEYS, .keys = KEYS_OF(
		{ "nr_periods", NR_PERIODS, 1 }, { "nr_throttled", NR_THROTTLED, 1 },
		{ "throttled_time", THROTTLED, 1 }, { "nr_bursts", NR_BURSTS, 1 }, { "burst_time", BURST, 1 }) },
	{ "cpuacct.stat", .v1 = true, .controller = CPUACCT, .form = TICKS, .keys = KEYS_OF(
		{ "user", USER, 1 }, { "system", SYSTEM, 1 }) },
	{ "memory.current", .controller = MEMORY, .form = NUMBER, .slot = MEMORY_CURRENT },
	{ "memory.peak", .controller = MEMORY, .form = NUMBER, .slot = MEMORY_PEAK },
	{ "memory.swap.current", .controller = MEMORY, .form = NUMBER, .slot = SWAP_CURRENT },
	{ "memory.events", .controller = MEMORY, .form = KEYS, .keys = KEYS_OF(
		{ "low", EVENTS_LOW, 1 }, { "high", EVENTS_HIGH, 1 }, { "max", EVENTS_MAX, 1 }, { "oom", EVENTS_OOM, 1 },
		{ "oom_kill", EVENTS_OOM_KILL, 1 }, { "oom_group_kill", EVENTS_OOM_GROUP_KILL, 1 }) },
	{ "memory.usage_in_bytes", .v1 = true, .controller = MEMORY, .form = NUMBER, .slot = MEMORY_CURRENT },
	{ "memory.max_usage_in_bytes", .v1 = true, .controller = MEMORY, .form = NUMBER, .slot = MEMORY_PEAK },
	{ "memory.failcnt", .v1 = true, .controller = MEMORY, .form = NUMBER, .slot = EVENTS_MAX },
	{ "memory.oom_control", .v1 = true, .controller = MEMORY, .form = KEYS, .keys = KEYS_OF({ "oom_kill", EVENTS_OOM_KILL, 1 }) },
	{ "pids.current", .controller = PIDS, .form = NUMBER, .slot = PIDS_CURRENT },
	{ "pids.events", .controller = PIDS, .form = KEYS, .keys = KEYS_OF({ "max", PIDS_EVENTS_MAX, 1 }) },
	{ "pids.current", .v1 = true, .controller = PIDS, .form = NUMBER, .slot = PIDS_CURRENT },
	{ "pids.events", .v1 = true, .controller = PIDS, .form = KEYS, .keys = KEYS_OF({ "max", PIDS_EVENTS_MAX, 1 }) },
	{ "memory.stat", .controller = MEMORY, .form = STAT },
	{ "memory.stat", .v1 = true, .controller = MEMORY, .form = STAT_V1 },
	{ "cpu.pressure", .form = PRESSURE },
	{ "memory.pressure", .form = PRESSURE },
	{ "io.pressure", .form = PRESSURE },
	{ "irq.pressure", .form = PRESSURE },
	{ "io.stat", .controller = IO, .form = IO_STAT },
	{ "blkio.throttle.io_service_bytes_recursive", "blkio.throttle.io_service_bytes", .v1 = true, .controller = IO, .form = IO_BYTES },
	{ "blkio.throttle.io_serviced_recursive", "blkio.throttle.io_serviced", .v1 = true, .controller = IO, .form = IO_COUNT },
};

/* The limits that those below need come first. */
enum { LIMITS = 6 };

static const struct source settings[] = {
	{ "cpu.max", .controller = CPU, .form = CPU_MAX },
	{ "memory.max", .controller = MEMORY, .form = LIMIT, .slot = MEMORY_MAX },
	{ "cpu.cfs_quota_us", .v1 = true, .controller = CPU, .form = LIMIT, .slot = CPU_QUOTA },
	{ "cpu.cfs_period_us", .v1 = true, .controller = CPU, .form = NUMBER, .slot = CPU_PERIOD },
	{ "memory.limit_in_bytes", .v1 = true, .controller = MEMORY, .form = LIMIT, .slot = MEMORY_MAX },
	{ "memory.stat", .v1 = true, .controller = MEMORY, .form = TOTAL_LIMIT, .keys = KEYS_OF({ "hierarchical_memory_limit", EFFECTIVE_MEMORY_MAX, 1 }) },
	{ "memory.high", .controller = MEMORY, .form = LIMIT, .slot = MEMORY_HIGH },
	{ "memory.swap.max", .controller = MEMORY, .form = LIMIT, .slot = SWAP_MAX },
	{ "cpu.weight", .controller = CPU, .form = NUMBER, .slot = CPU_WEIGHT },
	{ "cpu.shares", .v1 = true, .controller = CPU, .form = NUMBER, .slot = CPU_SHARES },
	{ "pids.max", .controller = PIDS, .form = LIMIT, .slot = PIDS_MAX },
	{ "pids.max", .v1 = true, .controller = PIDS, .form = LIMIT, .slot = PIDS_MAX },
	{ "cpuset.cpus.effective", .controller = CPUSET, .form = LIST, .slot = CPUSET_CPUS },
	{ "cpuset.mems.effective", .controller = CPUSET, .form = LIST, .slot = CPUSET_MEMS },
	{ "cpuset.effective_cpus", "cpuset.cpus", .v1 = true, .controller = CPUSET, .form = LIST, .slot = CPUSET_CPUS },
	{ "cpuset.effective_mems", "cpuset.mems", .v1 = true, .controller = CPUSET, .form = LIST, .slot = CPUSET_MEMS },
};
/* clang-format on */

enum { HOT = sizeof hot / sizeof hot[0], SETTINGS = sizeof settings / sizeof settings[0] };
_Static_assert((int)HOT <= (int)HOT_FILES, "room for its files in struct group");

/* ---- Opening */

/* The mount in which a cgroup has this file; MOUNTS: it has none. */
static uint32_t mount_of(const struct state *state, const struct group *group,
			 const struct source *source)
{
	if (source->v1)
		return group_mount_v1(state, group, source->controller);
	if (source->controller & ~group->controllers ||
	    (source->form == PRESSURE && state->no_psi) ||
	    group_mount_v1(state, group, source->unless) != MOUNTS)
		return MOUNTS;
	return group_mount_v2(state, group);
}

static struct sonde_file *open_source(struct sonde_instance *self, uint32_t index,
				      const struct source *source, enum sonde_open_mode mode)
{
	const struct state *state = self->state;
	const struct catalog *catalog = state->now;
	uint32_t mount = mount_of(state, &catalog->groups[index], source);
	struct sonde_file *file;
	char path[4096];

	if (mount == MOUNTS)
		return NULL;
	group_file(state, catalog, index, mount, source->name, path);
	file = sonde_open(self, mode, "%s", path);
	if (file || !source->otherwise)
		return file;
	group_file(state, catalog, index, mount, source->otherwise, path);
	return sonde_open(self, mode, "%s", path);
}

void read_open(struct sonde_instance *self, uint32_t index)
{
	struct state *state = self->state;
	struct group *group = &state->now->groups[index];

	for (uint32_t i = 0; i < HOT; i++) {
		uint32_t bit = hot[i].v1 || !hot[i].controller ? 1u << 31 : hot[i].controller;

		if (!group->file[i] && !(group->opened & bit))
			group->file[i] = open_source(self, index, &hot[i], SONDE_KEEP);
	}
	group->opened = group->controllers | 1u << 31;
}

void read_close(struct sonde_instance *self, struct group *group)
{
	for (uint32_t i = 0; i < HOT; i++) {
		sonde_close(self, group->file[i]);
		group->file[i] = NULL;
	}
	group->opened = 0;
}

/* ---- Settings */

static int64_t read_once(struct sonde_instance *self, uint32_t index, const struct source *source,
			 const char **text)
{
	struct sonde_file *file = open_source(self, index, source, SONDE_FRESH);
	int64_t length = file ? sonde_read(self, file, text) : -ENOENT;

	sonde_close(self, file);
	return length;
}

static void take_setting(const struct source *source, const char *text, size_t length,
			 struct sonde_row *row)
{
	uint64_t value;

	switch (source->form) {
	case NUMBER:
	case LIMIT:
		if (cgroup_parse_limit(text, length, &value))
			sonde_set_u64(row, source->slot, value);
		break;
	case LIST:
		sonde_set_bytes(row, source->slot, text,
				length && text[length - 1] == '\n' ? length - 1 : length);
		break;
	case CPU_MAX:
		cgroup_parse_cpu_max(text, length, row);
		break;
	default:
		cgroup_parse_keys(text, length, &source->keys, row);
		if (sonde_has(row, EFFECTIVE_MEMORY_MAX) &&
		    cgroup_is_no_limit(row->slots[EFFECTIVE_MEMORY_MAX]))
			row->have[0] &= ~((uint64_t)1 << EFFECTIVE_MEMORY_MAX);
	}
}

void read_settings(struct sonde_instance *self, uint32_t index, bool all)
{
	static const struct source controllers = { "cgroup.controllers", .form = LIST };
	struct state *state = self->state;
	struct group *group = &state->now->groups[index];
	struct sonde_row row = group_row(state->now, index);
	const char *text;
	int64_t length = read_once(self, index, &controllers, &text);

	row.have[0] &= ((uint64_t)1 << FIRST_SETTING) - 1;
	length = length > 0 ? (int64_t)whole_words(text, (size_t)length) : 0;
	if (length)
		group->controllers = cgroup_controllers(text, (size_t)length - 1, ' ');
	for (uint32_t i = 0; i < (all ? SETTINGS : LIMITS); i++) {
		/* The sum of what can't be seen above: those below have it from the topmost, and need not make the whole file. */
		if (settings[i].form == TOTAL_LIMIT && group->parent != index)
			continue;
		length = read_once(self, index, &settings[i], &text);
		if (length >= 0)
			take_setting(&settings[i], text, (size_t)length, &row);
	}
	group->flags =
		all ? group->flags | GROUP_SETTINGS : group->flags & ~(uint32_t)GROUP_SETTINGS;
}

void read_usage(struct sonde_instance *self, uint32_t index)
{
	struct catalog *catalog = ((struct state *)self->state)->now;
	uint64_t slots[CGROUP_COLUMNS], have[1] = { 0 };
	struct sonde_row row = { slots, have, NULL };
	const char *text;
	int64_t length = read_once(self, index, &hot[0], &text);

	if (length < 0)
		length = read_once(self, index, &hot[1], &text);
	if (length >= 0 && !cgroup_parse_limit(text, (size_t)length, &catalog->groups[index].cpu))
		cgroup_parse_keys(text, (size_t)length, &hot[1].keys, &row);
	if (sonde_has(&row, USAGE))
		catalog->groups[index].cpu = slots[USAGE];
}

/* ---- Rows */

/* One cgroup's rows while they are made. */
struct rows {
	struct sonde_instance *self;
	struct sonde_frame *frame;
	struct group *group;
	struct sonde_row row; /* of the table `cgroup` */
	struct cgroup_io io;
};

/* The path is the same bytes in all rows. */
static void set_keys(const struct rows *rows, struct sonde_row *row)
{
	if (sonde_has(&rows->row, PATH))
		sonde_set_u64(row, PATH, rows->row.slots[PATH]);
	sonde_set_u64(row, BIRTH, rows->group->birth);
}

static void set_found(struct catalog *catalog, uint32_t index, struct sonde_row *row)
{
	struct sonde_row kept = group_row(catalog, index);

	for (uint32_t slot = PATH; slot < FOUND_COLUMNS; slot++) {
		if (!sonde_has(&kept, slot))
			continue;
		if (slot < FIRST_NUMBER)
			sonde_set_bytes(row, slot,
					catalog->strings.bytes + (kept.slots[slot] >> 32),
					(uint32_t)kept.slots[slot]);
		else
			sonde_set_u64(row, slot, kept.slots[slot]);
	}
}

static void take_stat(struct rows *rows, uint32_t table, const struct cgroup_keys *keys,
		      const char *text, size_t length)
{
	struct sonde_row row;

	if (!sonde_row(rows->self, rows->frame, table, &row))
		return;
	set_keys(rows, &row);
	cgroup_parse_keys(text, length, keys, &row);
}

static void take_pressure(struct rows *rows, const char *name, const char *text, size_t length)
{
	struct sonde_row row;

	if (!sonde_row(rows->self, rows->frame, TABLE_PRESSURE, &row))
		return;
	set_keys(rows, &row);
	sonde_set_bytes(&row, RESOURCE, name, strcspn(name, "."));
	cgroup_parse_pressure(text, length, &row);
}

static void take_ticks(struct rows *rows, const struct source *source, const char *text,
		       size_t length)
{
	uint32_t hz = rows->self->header->user_hz;

	if (!hz)
		return;
	cgroup_parse_keys(text, length, &source->keys, &rows->row);
	for (uint32_t i = 0; i < source->keys.count; i++)
		rows->row.slots[source->keys.keys[i].slot] *= 1000000000 / hz;
}

static void take_text(struct rows *rows, const struct source *source, const char *text,
		      size_t length)
{
	uint64_t value;

	switch (source->form) {
	case NUMBER:
		if (cgroup_parse_limit(text, length, &value))
			sonde_set_u64(&rows->row, source->slot, value);
		break;
	case KEYS:
		cgroup_parse_keys(text, length, &source->keys, &rows->row);
		break;
	case TICKS:
		take_ticks(rows, source, text, length);
		break;
	case STAT:
		take_stat(rows, TABLE_MEMORY, &memory_keys, text, length);
		break;
	case STAT_V1:
		take_stat(rows, TABLE_MEMORY_V1, &memory_v1_keys, text, length);
		break;
	case PRESSURE:
		take_pressure(rows, source->name, text, length);
		break;
	case IO_STAT:
		cgroup_parse_io_stat(text, length, &rows->io);
		break;
	default:
		cgroup_parse_blkio(text, length, source->form == IO_BYTES, &rows->io);
	}
}

static void add_io(const struct rows *rows)
{
	for (uint32_t i = 0; i < rows->io.count; i++) {
		const struct cgroup_device *device = &rows->io.devices[i];
		struct sonde_row row;

		if (!device->have)
			continue;
		if (!sonde_row(rows->self, rows->frame, TABLE_IO, &row))
			return;
		set_keys(rows, &row);
		sonde_set_u64(&row, MAJOR, device->major);
		sonde_set_u64(&row, MINOR, device->minor);
		for (uint32_t v = 0; v < IO_VALUES; v++)
			if (device->have >> v & 1)
				sonde_set_u64(&row, RBYTES + v, device->value[v]);
	}
}

/* A file that can't be read: the cgroup is removed, which its first file or any of version 1 tells; a controller was taken
 * from it; the kernel won't, ever; or it could not this time, and is asked again. */
static bool is_gone(struct sonde_instance *self, struct group *group, uint32_t file, bool first,
		    int64_t err)
{
	struct state *state = self->state;
	bool removed = err == -ENODEV || err == -ENOENT || err == -ESRCH;

	if (!removed && err != -EOPNOTSUPP) {
		if (!state->told_unread)
			sonde_note(self,
				   "values of files that can't be read are absent, %s first: %s",
				   hot[file].name, strerror((int)-err));
		state->told_unread = true;
		return false;
	}
	sonde_close(self, group->file[file]);
	group->file[file] = NULL;
	if (err == -EOPNOTSUPP && hot[file].form == PRESSURE && !state->no_psi) {
		state->no_psi = true;
		sonde_note(
			self,
			"cgroup_pressure is absent: PSI is off by default here; boot with psi=1");
	}
	if (!removed)
		return false;
	state->due = true;
	if (first || hot[file].v1)
		group->flags |= GROUP_GONE;
	else
		group->opened &= ~hot[file].controller;
	return first;
}

/* The row of the table `cgroup`, with what is kept. False where there is nothing of it to tell, or no room. */
static bool begin_row(struct rows *rows, uint32_t index, bool any_file)
{
	struct catalog *catalog = ((struct state *)rows->self->state)->now;

	if (!any_file && !(catalog->have[index] >> FIRST_SETTING))
		return false;
	if (!sonde_row(rows->self, rows->frame, TABLE_CGROUP, &rows->row))
		return false;
	set_found(catalog, index, &rows->row);
	sonde_set_u64(&rows->row, BIRTH, rows->group->birth);
	return true;
}

/* CPU time that fell: the cgroup was made again under its path, and its files opened again for each read. */
static void check_usage(struct rows *rows)
{
	struct state *state = rows->self->state;

	if (!sonde_has(&rows->row, USAGE))
		return;
	if (rows->row.slots[USAGE] < rows->group->cpu) {
		rows->group->birth = ++state->births;
		sonde_set_u64(&rows->row, BIRTH, rows->group->birth);
	}
	rows->group->cpu = rows->row.slots[USAGE];
}

void read_group(struct sonde_instance *self, struct sonde_frame *frame, uint32_t index)
{
	struct state *state = self->state;
	struct rows rows = { .self = self, .frame = frame };
	struct group *group = rows.group = &state->now->groups[index];
	bool first = true;

	for (uint32_t i = 0; i < HOT; i++) {
		const char *text;
		int64_t length;

		if (!group->file[i])
			continue;
		length = sonde_read(self, group->file[i], &text);
		if (length < 0) {
			if (is_gone(self, group, i, first, length))
				return;
			continue;
		}
		if (first && !begin_row(&rows, index, true))
			return;
		take_text(&rows, &hot[i], text, (size_t)length);
		if (first)
			check_usage(&rows);
		first = false;
	}
	if (first)
		begin_row(&rows, index, false);
	add_io(&rows);
}
