/* CPUs and their caches (Documentation/admin-guide/cputopology.rst, Documentation/ABI/testing/sysfs-devices-system-cpu). All of
 * it is read again when a CPU comes or goes. Siblings and sharers are taken from the kernel's lists, never from the numbers of
 * CPUs or cores. */
#include "topology.h"

enum { LIMITS = 64, UNKNOWN_CLUSTER = 65535 }; /* PPTT tables without clusters: -1, as 16 bits */

static void set_number(struct cpu *cpu, uint32_t column, uint64_t value)
{
	cpu->value[column] = value;
	cpu->have |= 1u << column;
}

static bool has_number(const struct cpu *cpu, uint32_t column)
{
	return cpu->have >> column & 1;
}

static struct cpu *find_cpu(const struct state *state, uint64_t number)
{
	uint32_t low = 0, high = state->ncpus;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (state->cpus[middle].value[CPU] == number)
			return &state->cpus[middle];
		if (state->cpus[middle].value[CPU] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool read_set(struct sonde_instance *self, const char *path, struct set *set)
{
	char text[4096];

	*set = (struct set) { { 0 } };
	return topology_text(self, path, text, sizeof text) && list_parse(text, strlen(text), set);
}

/* A number in a file of a CPU; negative where the kernel does not know, which is none. */
static bool read_number(struct sonde_instance *self, const char *path, uint64_t *value)
{
	char text[32];
	struct cursor c = whole(text, topology_text(self, path, text, sizeof text));

	return next_u64(&c, value);
}

/* ---- One CPU */

/* Columns first to last that are files of the CPU. */
static void read_files(struct sonde_instance *self, struct cpu *cpu, uint32_t first, uint32_t last)
{
	const struct sonde_column *columns = topology_tables[TABLE_CPU].columns.items;
	char path[160];
	uint64_t value;

	for (uint32_t i = first; i <= last; i++) {
		snprintf(path, sizeof path, CPUS_FOLDER "/cpu%u/%s", (uint32_t)cpu->value[CPU],
			 columns[i].origin);
		if (columns[i].type == SONDE_STR)
			topology_text(self, path, cpu->text[i - CPU_NUMBERS], CPU_TEXT);
		else if (read_number(self, path, &value))
			set_number(cpu, i, value);
		else
			cpu->have &= ~(1u << i);
	}
}

/* The lowest CPU online of a list that the CPU itself is in; one without it, or empty, is one that is being made. */
static void read_lowest(struct sonde_instance *self, struct cpu *cpu, uint32_t column)
{
	const struct sonde_column *columns = topology_tables[TABLE_CPU].columns.items;
	const struct state *state = self->state;
	char path[160];
	struct set set;

	snprintf(path, sizeof path, CPUS_FOLDER "/cpu%u/%s", (uint32_t)cpu->value[CPU],
		 columns[column].origin);
	if (!read_set(self, path, &set) || !in_set(&set, cpu->value[CPU]))
		return;
	for (uint32_t i = 0; i < SET_NUMBERS / 64; i++)
		set.bits[i] &= state->online.bits[i];
	set_number(cpu, column, next_in_set(&set, 0));
}

static void read_cpu(struct sonde_instance *self, struct state *state, struct cpu *cpu)
{
	uint32_t number = (uint32_t)cpu->value[CPU];

	set_number(cpu, ONLINE, in_set(&state->online, number));
	if (!cpu->value[ONLINE])
		return;
	read_files(self, cpu, DRAWER, CORE);
	read_files(self, cpu, CAPACITY, CAPACITY);
	read_files(self, cpu, CPUINFO_MIN_FREQ, BASE_FREQUENCY);
	if (has_number(cpu, CLUSTER) && cpu->value[CLUSTER] == UNKNOWN_CLUSTER)
		cpu->have &= ~(1u << CLUSTER);
	read_lowest(self, cpu, SOCKET_CPU);
	read_lowest(self, cpu, CORE_CPU);
	set_number(cpu, ISOLATED, in_set(&state->isolated, number));
	set_number(cpu, NOHZ_FULL, in_set(&state->nohz_full, number));
}

/* "cpu_core", "cpu_atom", "cpu_lowpower": the PMUs of hybrid processors, which say which CPUs are theirs. */
static void read_kinds(struct sonde_instance *self, struct state *state)
{
	static const char *const kinds[] = { "core", "atom", "lowpower" };
	char path[64];
	struct set set;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		snprintf(path, sizeof path, "/sys/devices/cpu_%s/cpus", kinds[i]);
		if (!read_set(self, path, &set))
			continue;
		for (EACH_IN_SET(number, &set)) {
			struct cpu *cpu = find_cpu(state, number);

			if (cpu)
				snprintf(cpu->text[KIND - CPU_NUMBERS], CPU_TEXT, "%s", kinds[i]);
		}
	}
}

/* By the lists of the nodes, which settings_read() has read. */
static void assign_nodes(struct state *state)
{
	struct set set;

	for (uint32_t i = 0; i < state->nnodes; i++) {
		const char *cpus = state->nodes[i].cpus;

		if (!list_parse(cpus, strlen(cpus), &set))
			continue;
		for (EACH_IN_SET(number, &set)) {
			struct cpu *cpu = find_cpu(state, number);

			if (cpu && cpu->value[ONLINE])
				set_number(cpu, NODE, state->nodes[i].number);
		}
	}
}

/* ---- Caches */

/* "32K", "8M" -> KiB. */
static bool parse_size(const char *text, size_t length, uint64_t *kib)
{
	struct cursor c = whole(text, length);

	if (!next_u64(&c, kib))
		return false;
	if (take(&c, "M"))
		*kib *= 1024;
	else if (take(&c, "G"))
		*kib *= 1024 * 1024;
	else if (!take(&c, "K"))
		*kib /= 1024;
	return true;
}

static void read_cache(struct sonde_instance *self, const char *folder, const struct set *sharers,
		       struct cache *cache)
{
	const struct sonde_column *columns = topology_tables[TABLE_CACHE].columns.items;
	char path[160], text[32];
	size_t length;

	snprintf(path, sizeof path, "%s/shared_cpu_list", folder);
	length = topology_text(self, path, cache->cpus, sizeof cache->cpus);
	if (length == sizeof cache->cpus - 1)
		cache->cpus[0] = '\0';
	cache->value[CACHE_CPU] = next_in_set(sharers, 0);
	cache->value[CACHE_SHARED] = set_count(sharers);
	cache->have = 1u << CACHE_CPU | 1u << CACHE_SHARED;
	snprintf(path, sizeof path, "%s/type", folder);
	topology_text(self, path, cache->type, sizeof cache->type);
	for (uint32_t i = 0; i <= CACHE_ID; i++) {
		if (columns[i].type == SONDE_STR || cache->have >> i & 1)
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, columns[i].origin);
		length = topology_text(self, path, text, sizeof text);
		if (i == CACHE_SIZE ? parse_size(text, length, &cache->value[i])
				    : read_number(self, path, &cache->value[i]))
			cache->have |= 1u << i;
	}
}

/* Whether one of two sets of CPUs lies within the other; both hold a CPU in common. */
static bool is_nested(const struct set *a, const struct set *b)
{
	bool more = false, less = false;

	for (uint32_t i = 0; i < SET_NUMBERS / 64; i++) {
		more |= (a->bits[i] & ~b->bits[i]) != 0;
		less |= (b->bits[i] & ~a->bits[i]) != 0;
	}
	return !more || !less;
}

static void tell_sharers(const struct state *state, const struct cache *cache,
			 const struct set *sharers)
{
	uint64_t level = cache->value[CACHE_LEVEL];

	for (EACH_IN_SET(number, sharers)) {
		struct cpu *cpu = find_cpu(state, number);

		if (cpu && cpu->value[ONLINE] && (level == 2 || level == 3))
			set_number(cpu, level == 2 ? L2_CPU : L3_CPU, cache->value[CACHE_CPU]);
	}
}

/* The caches of a CPU that none before it has. False: there is no room. */
static bool add_caches(struct sonde_instance *self, struct state *state, const struct cpu *cpu)
{
	uint32_t number = (uint32_t)cpu->value[CPU];
	struct set sharers, cluster;
	char folder[96], path[160];
	bool clustered;

	snprintf(path, sizeof path, CPUS_FOLDER "/cpu%u/topology/cluster_cpus_list", number);
	clustered = has_number(cpu, CLUSTER) && read_set(self, path, &cluster);
	for (uint32_t i = 0; i < CACHES; i++) {
		if (in_set(&state->covered[i], number))
			continue;
		snprintf(folder, sizeof folder, CPUS_FOLDER "/cpu%u/cache/index%u", number, i);
		snprintf(path, sizeof path, "%s/shared_cpu_list", folder);
		if (!read_set(self, path, &sharers) || !in_set(&sharers, number))
			break;
		if (state->ncaches == state->caches_room)
			return false;
		for (uint32_t n = 0; n < SET_NUMBERS / 64; n++)
			state->covered[i].bits[n] |= sharers.bits[n];
		state->contradiction |= clustered && !is_nested(&sharers, &cluster);
		state->caches[state->ncaches] = (struct cache) { .have = 0 };
		read_cache(self, folder, &sharers, &state->caches[state->ncaches]);
		tell_sharers(state, &state->caches[state->ncaches++], &sharers);
	}
	return true;
}

/* ---- All of them */

static bool same_socket(const struct cpu *a, const struct cpu *b)
{
	return a->value[SOCKET] == b->value[SOCKET] && a->value[BOOK] == b->value[BOOK] &&
	       a->value[DRAWER] == b->value[DRAWER];
}

/* Sockets by their numbers, which are right while CPUs come and go; where there are none, and cores, by those CPUs that are
 * the first of theirs. */
static void count(struct state *state)
{
	const struct cpu *seen[SOCKETS_MOST];
	uint32_t nseen = 0;
	bool known = true;

	state->cores = state->sockets = 0;
	for (uint32_t i = 0; i < state->ncpus; i++) {
		const struct cpu *cpu = &state->cpus[i];
		uint32_t n = 0;

		if (!cpu->value[ONLINE])
			continue;
		known &= has_number(cpu, CORE_CPU);
		state->cores +=
			has_number(cpu, CORE_CPU) && cpu->value[CORE_CPU] == cpu->value[CPU];
		if (!has_number(cpu, SOCKET)) {
			state->sockets += has_number(cpu, SOCKET_CPU) &&
					  cpu->value[SOCKET_CPU] == cpu->value[CPU];
			continue;
		}
		while (n < nseen && !same_socket(seen[n], cpu))
			n++;
		if (n == nseen && nseen < SOCKETS_MOST)
			seen[nseen++] = cpu;
	}
	state->sockets += nseen;
	if (!known)
		state->cores = 0;
}

/* Numbers of the folders cpuN: CPUs that are there, online or not. */
static uint32_t list_cpus(struct sonde_instance *self, struct set *present)
{
	const char *name;
	int64_t left = sonde_list(self, CPUS_FOLDER, &name);

	*present = (struct set) { { 0 } };
	for (; left > 0; left--, name += strlen(name) + 1) {
		struct cursor c = whole(name, strlen(name));
		uint64_t number;

		if (take(&c, "cpu") && next_u64(&c, &number) && c.at == c.end)
			add_to_set(present, number);
	}
	return set_count(present);
}

/* Room for twice the CPUs that there are now, with four caches each; more comes with the next sample. */
static int reserve(struct sonde_instance *self, struct state *state, uint32_t cpus, bool now)
{
	uint32_t caches = 4 * cpus;
	int err = sonde_grow(self, &state->cpus, cpus * sizeof *state->cpus);

	if (!err)
		err = sonde_grow(self, &state->caches, caches * sizeof *state->caches);
	if (!err && now) {
		state->cpus_room = cpus;
		state->caches_room = caches;
	}
	state->wanted = cpus;
	return err;
}

static void drop_clusters(struct sonde_instance *self, struct state *state)
{
	for (uint32_t i = 0; i < state->ncpus; i++)
		state->cpus[i].have &= ~(1u << CLUSTER);
	sonde_note(self, "topology_cpu.cluster is absent: what the firmware says of clusters "
			 "contradicts what it says of caches");
}

int cpus_scan(struct sonde_instance *self)
{
	struct state *state = self->state;
	struct set present;
	uint32_t there = list_cpus(self, &present);
	bool room = true;

	if (state->wanted > state->cpus_room) {
		state->cpus_room = state->wanted;
		state->caches_room = 4 * state->wanted;
	}
	if (there > state->cpus_room)
		return reserve(self, state, 2 * there, false) ? -ENOMEM : -EAGAIN;
	if (!read_set(self, CPUS_FOLDER "/online", &state->online))
		state->online = present;
	read_set(self, CPUS_FOLDER "/isolated", &state->isolated);
	read_set(self, CPUS_FOLDER "/nohz_full", &state->nohz_full);
	state->ncpus = state->ncaches = 0;
	state->contradiction = false;
	memset(state->covered, 0, sizeof state->covered);
	for (EACH_IN_SET(number, &present)) {
		struct cpu *cpu = &state->cpus[state->ncpus++];

		*cpu = (struct cpu) { .value[CPU] = number, .have = 1u << CPU };
		read_cpu(self, state, cpu);
	}
	for (uint32_t i = 0; i < state->ncpus; i++)
		if (state->cpus[i].value[ONLINE])
			room &= add_caches(self, state, &state->cpus[i]);
	if (state->contradiction)
		drop_clusters(self, state);
	read_kinds(self, state);
	assign_nodes(state);
	count(state);
	if (!room) /* more than four levels a CPU, shared by none */
		reserve(self, state, 2 * state->cpus_room, false);
	return room ? 0 : -EAGAIN;
}

int cpus_start(struct sonde_instance *self)
{
	struct set present;
	uint32_t there = list_cpus(self, &present);

	if (!there)
		return sonde_unavailable(self,
					 "no " CPUS_FOLDER "/cpuN: mount -t sysfs sysfs /sys");
	return reserve(self, self->state, there + there / 8 + 1, true);
}

void cpus_limits(struct sonde_instance *self)
{
	struct state *state = self->state;

	for (uint32_t i = 0; i < LIMITS && i < state->ncpus; i++) {
		struct cpu *cpu = &state->cpus[state->next_limit++ % state->ncpus];

		if (!cpu->value[ONLINE])
			continue;
		read_files(self, cpu, SCALING_MIN_FREQ, PACKAGE_THROTTLE_COUNT);
		read_files(self, cpu, SCALING_GOVERNOR, ENERGY_PREFERENCE);
	}
}

/* ---- Rows */

static void emit_cpu(struct sonde_instance *self, struct sonde_frame *frame, const struct cpu *cpu)
{
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_CPU, &row))
		return;
	for (uint32_t i = 0; i < CPU_NUMBERS; i++)
		if (has_number(cpu, i))
			sonde_set_u64(&row, i, cpu->value[i]);
	for (uint32_t i = CPU_NUMBERS; i < CPU_COLUMNS; i++)
		if (cpu->text[i - CPU_NUMBERS][0])
			sonde_set_str(&row, i, cpu->text[i - CPU_NUMBERS]);
}

static void emit_cache(struct sonde_instance *self, struct sonde_frame *frame,
		       const struct cache *cache)
{
	struct sonde_row row;

	if (!sonde_row(self, frame, TABLE_CACHE, &row))
		return;
	for (uint32_t i = 0; i <= CACHE_ID; i++)
		if (cache->have >> i & 1)
			sonde_set_u64(&row, i, cache->value[i]);
	sonde_set_str(&row, CACHE_TYPE, cache->type);
	if (cache->cpus[0])
		sonde_set_str(&row, CACHE_CPUS, cache->cpus);
}

void cpus_emit(struct sonde_instance *self, struct sonde_frame *frame)
{
	const struct state *state = self->state;

	for (uint32_t i = 0; i < state->ncpus; i++)
		emit_cpu(self, frame, &state->cpus[i]);
	for (uint32_t i = 0; i < state->ncaches; i++)
		emit_cache(self, frame, &state->caches[i]);
}
