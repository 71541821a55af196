/* numa.process_misplaced: where the threads of a process ran, against where its memory lies. The mismatch is the total variation
 * distance of the two: half the sum of the differences of the shares by node, 0 where both are alike, 1 where they have no node in
 * common. Memory on nodes without CPUs (CXL, persistent memory) is left out: no work could be nearer to it. So is what ran on nodes
 * without memory: no memory could be nearer to that. */
#include <errno.h>
#include <stdlib.h>

#include <sonde/set.h>

#include "numa.h"

enum { PLACES_MOST = 256, CPUS_MOST = SET_NUMBERS, NO_NODE = NODES_MOST };

struct places {
	uint32_t count;
	struct place place[PLACES_MOST];
	uint8_t node_of[CPUS_MOST]; /* by CPU; NO_NODE: of none that has memory */
};

/* ---- reading ---- */

static void map_cpus(const struct nodes *nodes, uint8_t *node_of)
{
	struct set *set = malloc(sizeof *set);

	memset(node_of, NO_NODE, CPUS_MOST);
	for (uint32_t i = 0; set && i < nodes->count; i++) {
		if (numa_lacks_memory(nodes, i) ||
		    !list_parse(nodes->cpus[i], strlen(nodes->cpus[i]), set))
			continue;
		for (EACH_IN_SET(cpu, set))
			node_of[cpu] = (uint8_t)i;
	}
	free(set);
}

static struct place *place_of(struct places *places, uint64_t pid, uint64_t start)
{
	for (uint32_t i = 0; i < places->count; i++)
		if (places->place[i].pid == pid && (!start || places->place[i].start == start))
			return &places->place[i];
	return NULL;
}

static void read_memory(struct sonde_instance *self, const struct nodes *nodes,
			struct places *places)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, PAGES, &count);
	uint64_t key[3];

	for (uint32_t i = 0; i < count; i++) {
		struct place *place;
		uint32_t node;

		if (numa_numbers(series[i].key, key, 3) != 3)
			continue;
		node = numa_node(nodes, key[2]);
		place = place_of(places, key[0], key[1]);
		if (node == NO_NODE || !*nodes->cpus[node] ||
		    (!place && places->count == PLACES_MOST))
			continue;
		if (!place) {
			place = &places->place[places->count++];
			*place = (struct place) { .pid = key[0],
						  .start = key[1],
						  .label = series[i].label };
		}
		place->memory[node] += series[i].total.last;
		place->bytes += series[i].total.last;
	}
}

static void add_time(struct places *places, const struct sonde_series *series, struct place *place,
		     uint64_t cpu)
{
	const struct sonde_slice *total = &series->total;
	struct sonde_held *held = &place->held;

	if (cpu >= CPUS_MOST || places->node_of[cpu] == NO_NODE)
		return;
	place->ran[places->node_of[cpu]] += total->numerator;
	if (place->time <= 0 || total->begin < held->begin)
		held->begin = total->begin;
	if (total->end > held->end)
		held->end = total->end;
	place->time += total->numerator;
}

/* By thread where they were recorded; of other processes it is known where the leader thread ran. */
static void read_times(struct sonde_instance *self, struct places *places)
{
	bool *threads = calloc(PLACES_MOST, sizeof *threads);
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, RAN_THREADS, &count);
	struct place *place;
	uint64_t key[3];

	for (uint32_t i = 0; threads && i < count; i++) {
		if (numa_numbers(series[i].key, key, 2) != 2)
			continue;
		place = place_of(places, key[0], 0);
		if (!place)
			continue;
		threads[place - places->place] = true;
		add_time(places, &series[i], place, key[1]);
	}
	series = sonde_series(self, RAN_PROCESS, &count);
	for (uint32_t i = 0; threads && i < count; i++) {
		if (numa_numbers(series[i].key, key, 3) != 3)
			continue;
		place = place_of(places, key[0], key[1]);
		if (place && !threads[place - places->place])
			add_time(places, &series[i], place, key[2]);
	}
	free(threads);
}

/* "4711 1889 bind:1": whether somebody chose where the memory lies. */
static bool is_explicit(const char *key)
{
	static const char *const own[] = { "default", "local", "other" };
	const char *policy = strchr(key, ' ');

	policy = policy ? strchr(policy + 1, ' ') : NULL;
	for (size_t i = 0; policy && i < sizeof own / sizeof own[0]; i++)
		if (strncmp(policy + 1, own[i], strlen(own[i])) == 0)
			return false;
	return policy != NULL;
}

static void read_policies(struct sonde_instance *self, struct places *places)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, POLICIES, &count);
	uint64_t key[2];

	for (uint32_t i = 0; i < count; i++) {
		struct place *place = numa_numbers(series[i].key, key, 2) == 2
					      ? place_of(places, key[0], key[1])
					      : NULL;

		if (place && is_explicit(series[i].key))
			place->explicit_bytes += series[i].total.last;
	}
}

/* ---- judging ---- */

/* Shares instead of amounts, and what follows from them. False: too little of either. */
static bool compare(const struct conf *conf, const struct nodes *nodes, struct place *place,
		    const struct sonde_slice *window)
{
	double more = 0, less = 0;

	if (!window->observed || place->bytes < conf->misplaced_memory ||
	    place->time < conf->misplaced_cpu * (double)window->observed)
		return false;
	for (uint32_t i = 0; i < nodes->count; i++) {
		place->memory[i] /= place->bytes;
		place->ran[i] /= place->time;
		if (place->ran[i] > place->memory[i])
			more += place->ran[i] - place->memory[i];
		else
			less += place->memory[i] - place->ran[i];
	}
	/* The two are the same but for rounding: 1 - 0.7 is a hair more than 0.3. */
	place->mismatch = more < less ? more : less;
	for (uint32_t i = 0; i < nodes->count; i++) {
		for (uint32_t j = 0; j < nodes->count; j++) {
			double share = place->ran[i] * place->memory[j];

			place->distance += share * nodes->distance[i][j];
			place->remote += i == j ? 0 : share;
		}
	}
	place->held.time = place->held.end - place->held.begin;
	if (place->held.time > window->observed)
		place->held.time = window->observed;
	return true;
}

static uint32_t largest(const double *shares, uint32_t count)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < count; i++)
		if (shares[i] > shares[most])
			most = i;
	return most;
}

static double gibibytes(double bytes)
{
	return bytes / (1 << 30);
}

/* What fits: its memory moves to its threads where there is room; else its threads to its memory, unless that node is full; else
 * the report says why neither does. */
static void advise(const struct conf *conf, const struct nodes *nodes, const struct place *place,
		   struct sonde_advice *advice, struct sonde_words *action,
		   struct sonde_words *undo)
{
	uint32_t there = largest(place->memory, nodes->count);
	uint32_t here = largest(place->ran, nodes->count);
	double amount = (1 - place->memory[here]) * place->bytes, room = nodes->free[here];
	uint32_t n = nodes->number[here], from = nodes->number[there];
	unsigned long long pid = place->pid;

	*action = *undo = (struct sonde_words) { "" };
	if (place->ran[here] < 1 - conf->misplaced) {
		sonde_say(
			action,
			"Its threads run on several nodes: run one instance on each (numactl --cpunodebind=N "
			"--preferred=N), or let the kernel bring memory to its users (sysctl kernel.numa_balancing=1).");
	} else if (room < 0) {
		sonde_say(
			action,
			"Move %.1f GiB to node %u, if it has as much free (numastat -m): migratepages %llu %u %u.",
			gibibytes(amount), n, pid, from, n);
		sonde_say(undo, "migratepages %llu %u %u", pid, n, from);
	} else if (room > amount) {
		sonde_say(
			action,
			"Move its memory to where it runs: migratepages %llu %u %u (%.1f GiB to move, %.1f GiB free on "
			"node %u); start it with numactl --cpunodebind=%u --preferred=%u.",
			pid, from, n, gibibytes(amount), gibibytes(room), n, n, n);
		sonde_say(undo, "migratepages %llu %u %u", pid, n, from);
	} else if (nodes->free[there] < amount / 20) {
		sonde_say(
			action,
			"Neither move fits: %.1f GiB are to move, node %u has %.1f GiB free, and node %u is full. Make room on "
			"one of them first (numastat -m).",
			gibibytes(amount), n, gibibytes(room), from);
	} else {
		sonde_say(
			action,
			"Its memory can't follow it: %.1f GiB are to move, and node %u has %.1f GiB free. Make room there "
			"first, or let its threads run where the memory is, if CPUs are idle there: taskset -acp %.200s %llu.",
			gibibytes(amount), n, gibibytes(room), nodes->cpus[there], pid);
		sonde_say(undo, "taskset -acp %.200s %llu", nodes->cpus[here], pid);
	}
	advice->action = action->text;
	advice->undo = undo->text;
}

static void prove(const struct nodes *nodes, const struct place *place, struct sonde_proof *proof,
		  struct sonde_words *names)
{
	sonde_prove(proof, "numa.mismatch", place->mismatch, SONDE_BASE_RATIO, NULL,
		    "half the sum of the differences by node");
	if (place->distance > 0)
		sonde_prove(proof, "numa.expected_distance", place->distance, SONDE_BASE_NONE, NULL,
			    "nodeN/distance, 10 is local");
	sonde_prove(proof, "numa.remote_share", place->remote, SONDE_BASE_RATIO, NULL,
		    "accesses, if spread evenly over its memory");
	sonde_prove(proof, "numa.memory", place->bytes, SONDE_BASE_BYTES, NULL,
		    "/proc/PID/numa_maps N=");
	for (uint32_t i = 0; i < nodes->count && i < 4; i++) {
		sonde_say(&names[2 * i], "ran on node %u", nodes->number[i]);
		sonde_prove(proof, names[2 * i].text, place->ran[i], SONDE_BASE_RATIO, NULL,
			    "/proc/PID/stat fields 14 15 39");
		sonde_say(&names[2 * i + 1], "memory on node %u", nodes->number[i]);
		sonde_prove(proof, names[2 * i + 1].text, place->memory[i], SONDE_BASE_RATIO, NULL,
			    "/proc/PID/numa_maps N=");
	}
}

static void report(struct sonde_instance *self, const struct nodes *nodes,
		   const struct place *place, const char *about)
{
	const struct conf *conf = self->conf;
	struct sonde_advice advice = {
		.id = "numa.process_misplaced",
		.why = "Its accesses go to another node's memory: each one takes longer by the ratio of the distances, and the "
		       "interconnect is shared with all others.",
		.need = "numactl's tools; root for others' processes",
		.risk = "while pages move, accesses to them wait",
	};
	bool chosen = place->explicit_bytes > place->bytes / 2;
	uint32_t here = largest(place->ran, nodes->count), there = here ? 0 : 1;
	struct sonde_words title, action, undo, names[8], mappings[MAPPINGS_TOLD];
	struct sonde_proof proof = { 0 };

	for (uint32_t i = 0; i < nodes->count; i++)
		if (i != here && place->memory[i] > place->memory[there])
			there = i;
	advise(conf, nodes, place, &advice, &action, &undo);
	if (chosen) {
		advice.action =
			"Nothing, if the policy is meant: this is its cost. Else start it without it.";
		advice.undo = "";
	}
	sonde_say(&title,
		  "P%s ran %.0f %% on node %u, and %.0f %% of its %.1f GiB lie on node %u%s",
		  about + 1, place->ran[here] * 100, nodes->number[here],
		  place->memory[there] * 100, gibibytes(place->bytes), nodes->number[there],
		  chosen ? ", by a policy that was chosen" : "");
	prove(nodes, place, &proof, names);
	numa_prove_mappings(self, nodes, place, &proof, mappings);
	sonde_found(self, &advice,
		    chosen ? SONDE_SEVERITY_INFO
			   : sonde_severity_from(place->mismatch, conf->misplaced_critical),
		    about, title.text, &place->held,
		    (double)place->held.time / 1e9 * place->mismatch, &proof);
}

static void tell_metrics(struct sonde_instance *self, const struct place *place, const char *about)
{
	const struct sonde_metric metrics[] = {
		{ "numa.mismatch", about, place->mismatch, SONDE_BASE_RATIO, SONDE_DOWN_IS_BETTER,
		  NULL, "/proc/PID/numa_maps, /proc/PID/stat" },
		{ "numa.remote_share", about, place->remote, SONDE_BASE_RATIO, SONDE_DOWN_IS_BETTER,
		  NULL, "/proc/PID/numa_maps, /proc/PID/stat" },
		{ "numa.expected_distance", about, place->distance, SONDE_BASE_NONE,
		  SONDE_DOWN_IS_BETTER, NULL, "nodeN/distance" },
	};

	for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
		if (metrics[i].value > 0 || i < 2)
			sonde_metric(self, &metrics[i]);
}

bool numa_misplaced(struct sonde_instance *self, const struct nodes *nodes)
{
	const struct conf *conf = self->conf;
	struct places *places = calloc(1, sizeof *places);
	uint32_t told = 0, found = 0;

	if (!places || nodes->count < 2) {
		if (!places)
			sonde_not_judged(self, "numa.process_misplaced", "out of memory");
		free(places);
		return false;
	}
	map_cpus(nodes, places->node_of);
	read_memory(self, nodes, places);
	read_times(self, places);
	read_policies(self, places);
	for (uint32_t i = 0; i < places->count && told < conf->limit; i++) {
		struct place *place = &places->place[i];
		struct sonde_words about;

		if (!compare(conf, nodes, place, sonde_window(self)))
			continue;
		told++;
		sonde_say(&about, "process %llu (%s)", (unsigned long long)place->pid,
			  place->label);
		tell_metrics(self, place, about.text);
		if (place->mismatch <= conf->misplaced || place->held.time < conf->hold)
			continue;
		report(self, nodes, place, about.text);
		found++;
	}
	free(places);
	return found != 0;
}
