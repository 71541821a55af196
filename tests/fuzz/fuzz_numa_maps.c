/* Any bytes as /proc/PID/numa_maps and /proc/PID/stat. The first byte says which; the others are the text, in memory of just
 * their length. */
#include <stdlib.h>

#include <sonde/targets.h>

#include "plugins/numa_maps/pages.c"
#include "plugins/numa_maps/stretches.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void sums_agree(const struct pages *pages)
{
	uint64_t by_node = 0, by_policy = 0, mappings = 0;

	check(pages->nnodes <= NODES_MOST && pages->npolicies <= POLICIES_MOST);
	for (uint32_t n = 0; n < pages->nnodes; n++)
		for (uint32_t i = 0; i < BACKINGS; i++)
			by_node += pages->bytes[n][i];
	for (uint32_t i = 0; i < POLICIES_MOST; i++) {
		check(pages->policy[i].length <= POLICY_LENGTH);
		by_policy += pages->policy[i].bytes;
		mappings += pages->policy[i].mappings;
	}
	check(by_node == pages->total && by_policy == pages->total && mappings == pages->mappings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pages pages;
	struct target target = { .pid = 1 };
	char *text;

	if (!size)
		return 0;
	text = malloc(size > 1 ? size - 1 : 1);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	if (data[0] % 2) {
		if (target_parse(text, size - 1, 4096, &target))
			check(target.comm_length <= sizeof target.comm);
	} else {
		memset(&pages, 0, sizeof pages);
		pages_parse(text, size - 1, 4096, &pages);
		sums_agree(&pages);
	}
	free(text);
	return 0;
}
