/* Which mappings of a misplaced process have what lies elsewhere: evidence of numa.process_misplaced (/proc/PID/numa_maps, numa(7)). */
#include "numa.h"

/* A part of the process's memory that one mapping has on one node. */
struct part {
	const char *mapping; /* path, heap, stack, or an address; as the kernel writes it */
	uint32_t node;       /* index */
	double bytes, far;   /* of them as many as the process ran elsewhere */
};

/* What follows so many words of a key; NULL: nothing does. */
static const char *behind_numbers(const char *key, int words)
{
	while (key && words-- > 0) {
		key = strchr(key, ' ');
		key = key ? key + 1 : NULL;
	}
	return key;
}

/* Whether the series is of this process. */
static bool is_of(const struct sonde_series *series, const struct place *place)
{
	uint64_t key[3];

	return numa_numbers(series->key, key, 3) == 3 && key[0] == place->pid &&
	       key[1] == place->start;
}

/* When mappings of the process were seen last: those that were not seen then are gone. */
static uint64_t newest(const struct sonde_series *series, uint32_t count, const struct place *place)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < count; i++)
		if (is_of(&series[i], place) && series[i].total.end > end)
			end = series[i].total.end;
	return end;
}

/* The mappings that have most of what lies where the process does not run, the worst first; how many. */
static uint32_t worst_mappings(struct sonde_instance *self, const struct nodes *nodes,
			       const struct place *place, struct part worst[MAPPINGS_TOLD])
{
	uint32_t count, told = 0;
	const struct sonde_series *series = sonde_series(self, MAPPINGS, &count);
	uint64_t last = newest(series, count, place);

	for (uint32_t i = 0; i < count; i++) {
		struct part part = { .bytes = series[i].total.last };
		uint64_t key[3];
		uint32_t at;

		if (!is_of(&series[i], place) || series[i].total.end < last)
			continue;
		numa_numbers(series[i].key, key, 3);
		part.node = numa_node(nodes, key[2]);
		part.mapping = behind_numbers(series[i].key, 3);
		if (!part.mapping || part.node == NODES_MOST || !*nodes->cpus[part.node])
			continue;
		part.far = part.bytes * (1 - place->ran[part.node]);
		for (at = told; at > 0 && worst[at - 1].far < part.far; at--)
			if (at < MAPPINGS_TOLD)
				worst[at] = worst[at - 1];
		if (at < MAPPINGS_TOLD && part.far > 0)
			worst[at] = part;
		told += told < MAPPINGS_TOLD && part.far > 0;
	}
	return told;
}

void numa_prove_mappings(struct sonde_instance *self, const struct nodes *nodes,
			 const struct place *place, struct sonde_proof *proof,
			 struct sonde_words names[MAPPINGS_TOLD])
{
	struct part worst[MAPPINGS_TOLD] = { 0 };
	uint32_t count = worst_mappings(self, nodes, place, worst);

	for (uint32_t i = 0; i < count && worst[i].mapping; i++) {
		bool address =
			strspn(worst[i].mapping, "0123456789abcdef") == strlen(worst[i].mapping);

		sonde_say(&names[i], "%s%s on node %u", address ? "anonymous memory at " : "",
			  worst[i].mapping, nodes->number[worst[i].node]);
		sonde_prove(proof, names[i].text, worst[i].bytes / place->bytes, SONDE_BASE_RATIO,
			    NULL, "/proc/PID/numa_maps, of its memory");
	}
}
