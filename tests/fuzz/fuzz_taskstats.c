/* Any bytes as a message of generic netlink, in memory of just their length, its records into rows of both tables; and as
 * perf's task records, into lives. */
#define SONDE_USE_MINOR 2
#include <stdlib.h>

#include "plugins/taskstats/genl.c"
#include "plugins/taskstats/link.c"
#include "plugins/taskstats/lives.c"
#include "plugins/taskstats/perf.c"
#include "plugins/taskstats/stats.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 64 };

/* Ends are not told here: their rows would need a host. */
static void live(const char *text, size_t size)
{
	static struct life task[TASKS], ended[ENDED_MOST];
	static struct lives lives;
	struct life_event event;
	uint64_t at = 0;

	lives = (struct lives) { .task = task, .ended = ended, .capacity = TASKS, .unused = NONE };
	for (int i = 0; i < LIVES_BUCKETS; i++)
		lives.bucket[i] = NONE;
	lives_seed(&lives, 10);
	while (perf_next(text, size, &at, &event))
		lives_take(&lives, &event);
	if (at != size || lives.used > TASKS || lives.nended > ENDED_MOST)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t slots[EXIT_COLUMNS], have[1] = { 0 };
	char bytes[64];
	struct sonde_strings strings = { .bytes = bytes, .size = sizeof bytes };
	struct sonde_row row = { slots, have, &strings };
	struct stats stats[LINK_RECORDS];
	char *text = malloc(size ? size : 1);
	int n;

	if (!text)
		return 0;
	memcpy(text, data, size);
	n = link_parse(text, size, 0x1c, stats, LINK_RECORDS);
	for (int i = 0; i < n; i++) {
		for (int layout = 0; layout < STATS_UNKNOWN; layout++)
			stats_set(&stats[i], (enum stats_layout)layout, true, &row);
		stats_set_exit(&stats[i], stats_layout(&stats[i]), true, &row);
	}
	if (strings.used > strings.size || n > LINK_RECORDS)
		abort();
	live(text, size);
	free(text);
	return 0;
}
